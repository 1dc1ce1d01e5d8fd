/* AdamW over blocks of parameters, and the schedule of its learning rate. Source: Loshchilov and Hutter 2019, arXiv 1711.05101.
 *
 *     struct optim optim;
 *     optim_init(&optim, model, shards);
 *     ... each shard adds its gradient into optim.grads[shard] ...
 *     double norm = optim_step(&optim, pool, &settings, lr);      (NaN or inf: nothing was changed)
 *     optim_release(&optim);
 *
 * Shard gradients are summed in the order of the shards, and every sum over parameters in a fixed order, so a step gives the same bytes
 * with any number of threads.
 */
#ifndef LEARNING_OPTIM_H
#define LEARNING_OPTIM_H

#include "models/model.h"
#include "numbers/pool.h"

struct optim_settings { double beta1, beta2, eps, decay, decay_table, clip; };

struct optim {
    const struct model *model; /* trainable: its block is updated in place */
    int shards;
    float **grads;             /* [shards] blocks of parameter_count; zeroed by optim_step */
    float *m, *v;              /* first and second moment, blocks of parameter_count */
    long step;                 /* updates so far */
    struct chunk { const struct weight *weight; size_t from, to; double squares; } *chunks;
    int chunk_count;
};

void optim_init(struct optim *optim, const struct model *model, int shards);
void optim_release(struct optim *optim);

/* Sums the shards, clips, updates; returns the norm of the gradient before clipping. */
double optim_step(struct optim *optim, struct pool *pool, const struct optim_settings *settings, double lr);

/* The learning rate of update `step` (1 is the first), a pure function. */
struct schedule { double lr, final, decay_from; long warmup, steps; enum { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE } kind; };
double schedule_lr(const struct schedule *schedule, long step);

/* Draws the first weights: N(0, init_sd) matrices, outputs divided by sqrt(2 L K), N(0, table_sd) tables, gains 1, biases 0. Each weight has a stream
 * of its own, named after it, so that adding a parameter does not change the others. */
void weights_draw(const struct model *model, uint64_t seed, double init_sd, double table_sd);

#endif
