/* The tape: ops compute at once; when the tape records, each leaves a node that knows how to carry gradients back.
 *
 *     struct tape tape = {.arena = &arena, .records = true, .grads = block};
 *     struct tensor *h = op_embed(&tape, table, tokens, n);
 *     struct tensor *y = op_linear(&tape, h, w, NULL);
 *     op_cross_entropy(&tape, y, targets, weights, &loss);
 *     tape_backward(&tape);                    (parameter gradients are added into tape.grads at weight->offset)
 *
 * Tensors and nodes live in the arena and die with its reset. A weight used K times collects its gradient K times. Not recording is inference: a
 * block's temporaries are given back with arena_mark and tape_keep, so memory does not grow with loops.
 */
#ifndef NUMBERS_TAPE_H
#define NUMBERS_TAPE_H

#include "ground/mem.h"
#include "numbers/weight.h"

#include <stdatomic.h>

struct places;
struct pool;

struct tensor {
    float *data;                  /* [rows, cols], row-major */
    float *grad;                  /* same shape, or NULL: no gradient has arrived yet */
    int rows, cols;
    const struct places *places;  /* which (sequence, position) each row belongs to; kept by run.c, NULL elsewhere */
};

/* Base of every op's node: the op's own struct begins with it. */
struct tape;
struct node {
    void (*back)(struct tape *tape, struct node *node);
    struct tensor *y; /* what the op made: `back` runs only when a gradient has come to it. NULL: it always runs, and looks itself */
    struct node *before;
};

struct tape {
    struct arena *arena;
    bool records;
    float *grads; /* parameter gradients, the layout of weight->offset; needed when recording */
    struct node *last;
    struct pool *pool; /* threads that large products may share; NULL: the caller's alone. The numbers are the same either way */
    const atomic_bool *stop; /* once it is true products give zeros, so that a run ends soon: who set it throws its results away. NULL: never */
};

static inline bool tape_stopped(const struct tape *tape) { return tape->stop && *tape->stop; }

static inline size_t tensor_size(const struct tensor *t) { return (size_t)t->rows * (size_t)t->cols; } /* in numbers */

struct tensor *tape_tensor(struct tape *tape, int rows, int cols);             /* data not set */
struct tensor *tape_like(struct tape *tape, const struct tensor *x, int cols); /* as many rows as x has, at its places; data not set */
struct tensor *tape_copy(struct tape *tape, const struct tensor *x);           /* x's numbers, at its places, in memory of their own */
struct tensor *tape_view(struct tape *tape, const struct tensor *x, int rows, int cols); /* the same data, arranged so; places kept when rows are */

/* A node of `size` bytes, the op's struct, put on the tape; NULL when the tape does not record. y: see node */
void *tape_node(struct tape *tape, size_t size, void (*back)(struct tape *, struct node *), struct tensor *y);

void tape_backward(struct tape *tape);

/* Gradient of t to add into, zeroed at first use. */
float *tensor_grad(struct tape *tape, struct tensor *t);

/* The same for an op that can store as well as add: *beta is 0 (nothing there yet, store) or 1 (add). */
float *tensor_grad_beta(struct tape *tape, struct tensor *t, float *beta);

/* Adds y's gradient to x's, or, when none has arrived there, makes it x's: for the end of a `back`, when nobody reads y's gradient after it. */
void tensor_pass_grad(struct tensor *x, struct tensor *y);

/* Inference only: frees everything since mark but t, which moves down to it. A recording tape keeps all and returns t. */
struct tensor *tape_keep(struct tape *tape, struct arena_mark mark, struct tensor *t);
void tape_keep_all(struct tape *tape, struct arena_mark mark, struct tensor **const *all, int n); /* several, all made since; *all[i] moves */

/* The weight as f32: in place when it is stored so, else widened into the arena. */
const float *weight_f32(struct tape *tape, const struct weight *weight);

/* Rows first ... first+n-1 as f32: in place when they are stored so, else widened into `wide`, [n, cols]. */
const float *weight_panel(const struct weight *weight, int first, int n, float *wide);

/* Rows first ... first+n-1 of a matrix that holds several (q, k and v in one), as a weight of its own; lives in the tape's arena. */
const struct weight *weight_rows(struct tape *tape, const struct weight *weight, int first, int n);

#endif
