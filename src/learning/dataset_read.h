/* Reading one split: a file of JSON lines into questions.
 *
 *     struct split split;
 *     if (!split_read(&split, data, "train_two_hop.jsonl", sha256, sink, err)) return false;      (uses data->folder, vocab_size and arena)
 */
#ifndef LEARNING_DATASET_READ_H
#define LEARNING_DATASET_READ_H

#include "learning/dataset.h"

/* sha256: what the file's hash should be, or NULL. */
bool split_read(struct split *split, struct dataset *data, const char *file, const char *sha256, struct sink *sink, struct err *err);

#endif
