/* Weights files: safetensors, read strictly and mapped, nothing copied; written atomically. PyTorch checkpoints open alike (models/torchfile.h).
 *
 *     struct tensor_set *set = tensor_set_open("models/x", sink, err);     (a folder with model.safetensors or an index and shards, else with
 *                                                                          pytorch_model.bin or one *.pt; or one file)
 *     const struct tensor_entry *e = tensor_set_find(set, "model.norm.weight");
 *     dtype_widen(e->dtype, e->data, out, e->count);
 *     tensor_set_close(set);
 *
 * Format: 8 bytes little-endian header length, a JSON object, the data. Everything is checked against the file before anything is allocated: length,
 * names (no duplicates), types, shapes (no overflow), ranges (inside, no overlap, no gap). Data may stand at any address: read them with
 * dtype_widen or memcpy, never through a cast, unless e->aligned. Messages name file, tensor and what would be right.
 */
#ifndef MODELS_SAFETENSORS_H
#define MODELS_SAFETENSORS_H

#include "ground/err.h"
#include "ground/hash.h"
#include "numbers/dtype.h"
#include "results/sink.h"

#include <stdint.h>

enum { TENSOR_DIMS = 8 };

struct tensor_entry {
    char *name;
    const char *file; /* the file it stands in, last part of the path */
    enum dtype dtype;
    int dims;
    int64_t shape[TENSOR_DIMS];
    size_t count; /* numbers; 1 for a scalar */
    const void *data;
    bool aligned; /* data is aligned for its dtype */
};

struct tensor_file;

struct tensor_set {
    char *path;
    struct tensor_entry *entries; /* sorted by name */
    size_t count;
    struct tensor_file *files;    /* the mappings, sorted by name (models/tensor_file.h) */
    size_t file_count;
    const char *index;            /* name of the index file, NULL: one file without an index */
    char hash[HASH_HEX]; /* SHA-256 over the bytes of all files in the order of their names; empty until tensor_set_hash */
};

struct tensor_set *tensor_set_open(const char *path, struct sink *sink, struct err *err);
void tensor_set_close(struct tensor_set *set);
const struct tensor_entry *tensor_set_find(const struct tensor_set *set, const char *name); /* NULL: absent */
const char *tensor_set_hash(struct tensor_set *set);

/* "[250, 256]" appended to nothing: one of eight rotating buffers. */
const char *shape_show(int dims, const int64_t *shape);

/* Writing: tensors lie in order of falling element size, then by name, without gaps; metadata {"format":"pt"}. A tensor's numbers stand in memory, or
 * are made piece by piece while they are written: make is called for rising ranges without gaps, one tensor after the other, and false ends the
 * writing with the err it set. Nothing is left behind then. */
struct tensor_out {
    const char *name;
    enum dtype dtype;
    int dims;
    int64_t shape[TENSOR_DIMS];
    const void *data;
    bool (*make)(void *self, const struct tensor_out *tensor, size_t from, size_t count, void *out, struct err *err); /* when data is NULL */
    void *self;
};
bool tensors_write(const char *path, const struct tensor_out *tensors, size_t count, struct err *err);

#endif
