/* Writing a dataset: what generators use.
 *
 *     struct dataset_writer out;
 *     writer_begin(&out, folder, "khop", vocab_size);
 *     writer_name(&out, "e0");                                   (ids in order, from 0)
 *     writer_split(&out, "train_atomic");                        (the rows from here on)
 *     writer_row(&out, &question);
 *     return writer_end(&out, command, seed, sizes, err);        (writes the rest and releases)
 *
 * sizes: names and numbers for dataset.json, ended by a row without a name. The first thing that cannot be written is kept for writer_end.
 */
#ifndef LEARNING_DATASET_WRITE_H
#define LEARNING_DATASET_WRITE_H

#include "ground/text.h"
#include "learning/dataset.h"

struct dataset_writer {
    const char *folder, *kind;
    int vocab_size, names;
    struct text vocab, files; /* the inside of vocab.json and of "files" */
    char *split;
    struct text rows;         /* of the open split */
    size_t row_count;
    bool failed;
    struct err err;
};

struct dataset_size { const char *name; long value; };

void writer_begin(struct dataset_writer *out, const char *folder, const char *kind, int vocab_size);
void writer_name(struct dataset_writer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void writer_split(struct dataset_writer *out, const char *name);
void writer_row(struct dataset_writer *out, const struct question *question);
bool writer_end(struct dataset_writer *out, const char *command, long seed, const struct dataset_size *sizes, struct err *err);

#endif
