/* One parameter of a model: where it lies and how it is stored. Borrowed by every op that uses it. */
#ifndef NUMBERS_WEIGHT_H
#define NUMBERS_WEIGHT_H

#include "numbers/dtype.h"

/* What a parameter is for: decides how it is drawn and whether it decays. WEIGHT_OUTPUT matrices write into the residual stream. */
enum weight_use { WEIGHT_MATRIX = 1, WEIGHT_OUTPUT, WEIGHT_TABLE, WEIGHT_GAIN, WEIGHT_BIAS };

struct weight {
    const char *name;
    enum weight_use use;
    int dims;            /* as stored */
    int shape[4];        /* as stored: its dims sizes */
    int rows, cols;      /* (out, in); a vector is 1 x cols */
    enum dtype dtype;
    const void *data;    /* as stored; f32 data of a trainable model lie in model->block */
    bool aligned;        /* data may be read in place when dtype is F32 */
    size_t offset;       /* in numbers, into blocks of parameter_count */
    const char *other;   /* a second name under which files may hold this weight, or NULL (tied tables) */
};

#endif
