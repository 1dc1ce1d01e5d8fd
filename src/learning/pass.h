/* A pass: questions run through a model in fixed shards, on several threads.
 *
 *     struct pass pass = {.model = model, .questions = split->questions, .count = split->count, .visit = visit, .self = &mine};
 *     if (!pass_run(&pass, err)) ...
 *
 * `setup` prepares the run of one shard (handlers, wanted places, loops) and `visit` reads what it left behind (run.states, run.logits). Both are
 * called on worker threads, for different shards at the same time: what they write belongs to the shard. A shard holds PASS_ROWS
 * questions whatever the number of threads, so results do not depend on it.
 */
#ifndef LEARNING_PASS_H
#define LEARNING_PASS_H

#include "learning/dataset.h"
#include "models/run.h"
#include "numbers/pool.h"

#include <stdatomic.h>

enum { PASS_ROWS = 128 };

struct shard {
    int index;                        /* 0 ... pass_shards() - 1 */
    size_t first;                     /* of the pass's questions */
    int count;
    const struct question *questions; /* the shard's own */
    struct run *run;
    struct arena *arena;              /* the thread's, reset before each shard */
    const int *answers;               /* [count] place of each answer position */
    struct err *err;                  /* set by setup or visit to end the pass */
};

struct pass {
    const struct model *model;
    const struct question *questions;
    size_t count;
    struct pool *pool;                /* NULL: the caller's thread alone */
    struct pool *inner;               /* without a pool: threads that the large products of one shard may share; NULL: none */
    int loops;                        /* 0: the model's */
    bool shares;                      /* what begins alike is run once: for setup and visit that edit nothing and read at the answers alone */
    bool (*setup)(struct pass *pass, struct shard *shard); /* NULL: nothing to prepare; false with shard->err: the pass fails */
    bool (*visit)(struct pass *pass, struct shard *shard);
    void *self;
    bool (*go_on)(void *self, size_t done); /* between rounds of shards, on the caller's thread; false: stop. NULL: always */
    const atomic_bool *stop;                /* once it is true no further shard begins, and the pass fails as stopped; NULL: never */
};

/* Questions as a batch; answers, [count], receives the places of their answer positions. shares: what begins alike has the same places (see
 * batch_shared). */
struct batch *pass_batch(struct arena *arena, const struct question *questions, int count, bool shares, int *answers);

/* Refuses questions that have more tokens than the model has positions. */
bool pass_fits(const struct model *model, const struct question *questions, size_t count, struct err *err);

int pass_shards(const struct pass *pass);
bool pass_run(struct pass *pass, struct err *err);

/* Correct answers by stage of a split: correct[k] for the decode of h.k at the answer position, k = 1 ... loops. Logits that are not finite count as
 * wrong. */
struct accuracy { long n, correct[65]; };
bool pass_accuracy(const struct model *model, struct pool *pool, const struct question *questions, size_t count, struct accuracy *accuracy,
                   struct err *err);

#endif
