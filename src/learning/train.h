/* Training: a recipe and a dataset become a run folder with a model in it.
 *
 *     struct trainer *trainer = trainer_new(&recipe, data, pool, "runs/x", sink, err);
 *     if (resume && !trainer_resume(trainer, err)) ...
 *     ok = trainer_run(trainer, sink, stop, 0, err);    (until the last step, a stop, or a loss that is not finite)
 *     trainer_free(trainer);
 *
 * The run folder: recipe, config.json, model.safetensors (the last saved weights, ready to open), state.safetensors (weights, moments, step and sums
 * since the last log line: what a bit-exact continuation needs; the order of rows depends on seed and epoch alone), log.tsv, time (wall time so far,
 * for people), and with keep_every in the recipe checkpoints/step-NNNNNN/{config.json, model.safetensors}. Every file is replaced atomically.
 *
 * One step: rows of the batch in fixed shards, each with a tape of its own; loss = mean over the batch of the cross entropy of the answer at the last
 * loop, plus stage1_atomic times that of stage 1 for rows without a bridge.
 */
#ifndef LEARNING_TRAIN_H
#define LEARNING_TRAIN_H

#include "learning/dataset.h"
#include "learning/recipe.h"
#include "numbers/pool.h"

#include <stdatomic.h>
#include <stdbool.h>

struct trainer;

struct trainer *trainer_new(const struct recipe *recipe, const struct dataset *data, struct pool *pool, const char *folder, struct sink *sink,
                            struct err *err);
void trainer_free(struct trainer *trainer);

bool trainer_resume(struct trainer *trainer, struct err *err);
bool trainer_has_state(const char *folder);

/* stop is looked at between steps; stop_after 0: run to the end, otherwise save and return after that step. */
bool trainer_run(struct trainer *trainer, struct sink *sink, const atomic_bool *stop, long stop_after, struct err *err);

/* One update without a log line: what the benchmark times. */
bool trainer_step(struct trainer *trainer, struct err *err);

#endif
