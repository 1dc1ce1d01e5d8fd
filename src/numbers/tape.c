#include "numbers/tape.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

struct tensor *tape_tensor(struct tape *tape, int rows, int cols)
{
    struct tensor *t = arena_new(tape->arena, sizeof *t);
    *t = (struct tensor){.rows = rows, .cols = cols};
    t->data = arena_new(tape->arena, sizeof(float) * tensor_size(t));
    return t;
}

struct tensor *tape_like(struct tape *tape, const struct tensor *x, int cols)
{
    struct tensor *t = tape_tensor(tape, x->rows, cols);
    t->places = x->places;
    return t;
}

struct tensor *tape_copy(struct tape *tape, const struct tensor *x)
{
    struct tensor *t = tape_like(tape, x, x->cols);
    memcpy(t->data, x->data, sizeof(float) * tensor_size(x));
    return t;
}

struct tensor *tape_view(struct tape *tape, const struct tensor *x, int rows, int cols)
{
    struct tensor *t = arena_new(tape->arena, sizeof *t);
    *t = (struct tensor){.data = x->data, .rows = rows, .cols = cols, .places = rows == x->rows ? x->places : NULL};
    assert(tensor_size(t) == tensor_size(x));
    return t;
}

void *tape_node(struct tape *tape, size_t size, void (*back)(struct tape *, struct node *), struct tensor *y)
{
    if (!tape->records) return NULL;
    struct node *node = arena_zero(tape->arena, size);
    *node = (struct node){back, y, tape->last};
    tape->last = node;
    return node;
}

void tape_backward(struct tape *tape)
{
    assert(tape->records && tape->grads);
    for (struct node *node = tape->last; node; node = node->before)
        if (!node->y || node->y->grad) node->back(tape, node);
    tape->last = NULL;
}

float *tensor_grad(struct tape *tape, struct tensor *t)
{
    if (!t->grad) t->grad = arena_zero(tape->arena, sizeof(float) * tensor_size(t));
    return t->grad;
}

float *tensor_grad_beta(struct tape *tape, struct tensor *t, float *beta)
{
    *beta = t->grad ? 1 : 0;
    if (!t->grad) t->grad = arena_new(tape->arena, sizeof(float) * tensor_size(t));
    return t->grad;
}

void tensor_pass_grad(struct tensor *x, struct tensor *y)
{
    if (x->grad) row_add(x->grad, y->grad, tensor_size(x));
    else x->grad = y->grad;
}

struct tensor *tape_keep(struct tape *tape, struct arena_mark mark, struct tensor *t)
{
    if (tape->records) return t;
    struct tensor copy = *t;
    size_t size = sizeof(float) * tensor_size(t);
    arena_release(tape->arena, mark);
    struct tensor *kept = arena_new(tape->arena, sizeof *kept);
    float *data = arena_new(tape->arena, size); /* at or below where the data lie: blocks are filled upwards */
    memmove(data, copy.data, size);
    *kept = copy;
    kept->data = data;
    return kept;
}

void tape_keep_all(struct tape *tape, struct arena_mark mark, struct tensor **const *all, int n)
{
    if (tape->records) return;
    struct tensor *aside = mem_new(sizeof *aside * (size_t)n); /* they may lie in any order, and over each other's new places */
    for (int i = 0; i < n; i++) {
        aside[i] = **all[i];
        aside[i].data = mem_copy((*all[i])->data, sizeof(float) * tensor_size(&aside[i]));
    }
    arena_release(tape->arena, mark);
    for (int i = 0; i < n; i++) {
        *all[i] = tape_like(tape, &aside[i], aside[i].cols);
        memcpy((*all[i])->data, aside[i].data, sizeof(float) * tensor_size(&aside[i]));
        mem_free(aside[i].data);
    }
    mem_free(aside);
}

const float *weight_f32(struct tape *tape, const struct weight *w)
{
    if (w->dtype == F32 && w->aligned) return w->data;
    size_t n = (size_t)w->rows * (size_t)w->cols;
    float *wide = arena_new(tape->arena, sizeof(float) * n);
    dtype_widen(w->dtype, w->data, wide, n);
    return wide;
}

const float *weight_panel(const struct weight *w, int first, int n, float *wide)
{
    size_t at = (size_t)first * (size_t)w->cols;
    if (w->dtype == F32 && w->aligned) return (const float *)w->data + at;
    dtype_widen(w->dtype, (const char *)w->data + at * dtype_size(w->dtype), wide, (size_t)n * (size_t)w->cols);
    return wide;
}

const struct weight *weight_rows(struct tape *tape, const struct weight *w, int first, int n)
{
    assert(first >= 0 && n > 0 && first + n <= w->rows);
    struct weight *part = arena_new(tape->arena, sizeof *part);
    size_t skipped = (size_t)first * (size_t)w->cols;
    *part = *w;
    part->rows = n;
    part->offset += skipped;
    part->data = (const char *)w->data + skipped * dtype_size(w->dtype);
    return part;
}
