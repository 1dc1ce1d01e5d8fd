/* The state of a training run in one file, so that it is there whole or not at all.
 *
 *     struct checkpoint point = {.recipe = text, .step = 1200, .block = {p, m, v}, .size = n, .sums = sums};
 *     checkpoint_write("runs/x/state.safetensors", &point, err);
 *     checkpoint_read("runs/x/state.safetensors", &point, err);    (fills the numbers; recipe must be the same text)
 */
#ifndef LEARNING_CHECKPOINT_H
#define LEARNING_CHECKPOINT_H

#include "ground/err.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint {
    const char *recipe;
    int64_t step;
    float *block[3];   /* parameters, first and second moments */
    size_t size;       /* numbers in each */
    double *sums;      /* [2] loss and steps since the last log line */
};

bool checkpoint_write(const char *path, const struct checkpoint *point, struct err *err);
bool checkpoint_read(const char *path, struct checkpoint *point, struct err *err);

#endif
