/* One safetensors file, mapped and checked: the frame, the header, and that the data are covered exactly once.
 *
 *     struct tensor_file file;
 *     if (!tensor_file_open(&file, path, sink, err)) return false;
 *     ... file.entries, file.count ...
 *     tensor_file_close(&file);
 *
 * Nothing in the header is believed before it is compared with the file. Messages start with the file's name; odd things (metadata that are no
 * text, unknown keys of an entry) become notes.
 */
#ifndef MODELS_TENSOR_FILE_H
#define MODELS_TENSOR_FILE_H

#include "ground/file.h"
#include "models/safetensors.h"

struct tensor_file {
    struct file_map map;
    char *name;                   /* last part of the path, as it stands */
    char *shown;                  /* the same, fit to print */
    struct tensor_entry *entries; /* in the order of the header; names are owned */
    size_t count;
    size_t data_size;             /* bytes behind the header */
    void **blocks;                /* memory behind entries that the mapping cannot serve (PyTorch files) */
    size_t block_count;
};

bool tensor_file_open(struct tensor_file *file, const char *path, struct sink *sink, struct err *err);
void tensor_file_close(struct tensor_file *file);

#endif
