#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ one row for all positions */

struct shift_node {
    struct node node;
    struct tensor *x, *y;
};

static void shift_back(struct tape *tape, struct node *node)
{
    struct shift_node *me = (struct shift_node *)node;
    if (!me->y->grad) return;
    float *gx = tensor_grad(tape, me->x);
    for (size_t i = 0, n = (size_t)me->y->rows * (size_t)me->y->cols; i < n; i++) gx[i] += me->y->grad[i];
}

struct tensor *op_shift(struct tape *tape, struct tensor *x, const float *row)
{
    struct tensor *y = tape_tensor(tape, x->rows, x->cols);
    y->places = x->places;
    for (int i = 0; i < x->rows; i++) {
        size_t at = (size_t)i * (size_t)x->cols;
        for (int j = 0; j < x->cols; j++) y->data[at + (size_t)j] = x->data[at + (size_t)j] + row[j];
    }
    struct shift_node *node = tape_node(tape, sizeof *node, shift_back);
    if (node) node->x = x, node->y = y;
    return y;
}

/* ------------------------------------------------------------------ LoRA with a scale for each loop */

struct lora_node {
    struct node node;
    struct tensor *x, *y;
    struct lora lora;
    int row;
    float *down;   /* [N, r] x down^T */
    float *scaled; /* [N, r] the same times scale */
};

KERNEL static void scale_rows(const float *x, const float *scale, float *y, int rows, int r)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < r; j++) y[i * r + j] = x[i * r + j] * scale[j];
}

/* y = x + ((x down^T) s) up */
static void lora_back(struct tape *tape, struct node *node)
{
    struct lora_node *me = (struct lora_node *)node;
    if (!me->y->grad) return;
    int n = me->x->rows, d = me->x->cols, r = me->lora.down->rows;
    size_t row = (size_t)me->row * (size_t)r;
    const float *scale = weight_f32(tape, me->lora.scale) + row;
    float *gx = tensor_grad(tape, me->x), *gs = tape->grads + me->lora.scale->offset + row;
    float *g = arena_new(tape->arena, sizeof(float) * (size_t)n * (size_t)r);
    for (size_t i = 0, all = (size_t)n * (size_t)d; i < all; i++) gx[i] += me->y->grad[i];
    blas_tn(r, d, n, me->scaled, me->y->grad, 1, tape->grads + me->lora.up->offset);
    blas_nt(n, r, d, me->y->grad, weight_f32(tape, me->lora.up), 0, g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < r; j++) gs[j] += g[i * r + j] * me->down[i * r + j];
    scale_rows(g, scale, g, n, r);
    blas_tn(r, d, n, g, me->x->data, 1, tape->grads + me->lora.down->offset);
    blas_nn(n, d, r, g, weight_f32(tape, me->lora.down), 1, gx);
}

struct tensor *op_lora(struct tape *tape, struct tensor *x, const struct lora *lora, int row)
{
    int n = x->rows, d = x->cols, r = lora->down->rows;
    assert(lora->down->cols == d && lora->up->rows == r && lora->up->cols == d && lora->scale->cols == r && row >= 0 && row < lora->scale->rows);
    struct tensor *y = tape_tensor(tape, n, d);
    y->places = x->places;
    memcpy(y->data, x->data, sizeof(float) * (size_t)n * (size_t)d);
    struct arena_mark mark = arena_mark(tape->arena);
    size_t size = sizeof(float) * (size_t)n * (size_t)r;
    float *down = arena_new(tape->arena, size), *scaled = arena_new(tape->arena, size);
    blas_nt(n, r, d, x->data, weight_f32(tape, lora->down), 0, down);
    scale_rows(down, weight_f32(tape, lora->scale) + (size_t)row * (size_t)r, scaled, n, r);
    blas_nn(n, d, r, scaled, weight_f32(tape, lora->up), 1, y->data);
    if (!tape->records) arena_release(tape->arena, mark);
    struct lora_node *node = tape_node(tape, sizeof *node, lora_back);
    if (node) node->x = x, node->y = y, node->lora = *lora, node->row = row, node->down = down, node->scaled = scaled;
    return y;
}

/* ------------------------------------------------------------------ injection with a diagonal that decays */

struct inject_node {
    struct node node;
    struct tensor *h, *e, *y, *out;
    struct inject inject;
    float *keep; /* [D] A */
};

enum { STEEPEST = 20 /* log_dt + log_A is clamped to -20 ... 20 */ };

static void inject_back(struct tape *tape, struct node *node)
{
    struct inject_node *me = (struct inject_node *)node;
    if (!me->out->grad) return;
    int d = me->out->cols;
    const float *b = weight_f32(tape, me->inject.b), *log_a = weight_f32(tape, me->inject.log_a), log_dt = *weight_f32(tape, me->inject.log_dt);
    float *gh = tensor_grad(tape, me->h), *ge = tensor_grad(tape, me->e), *gy = tensor_grad(tape, me->y), *gb = tape->grads + me->inject.b->offset;
    float *ga = arena_zero(tape->arena, sizeof(float) * (size_t)d);
    for (int i = 0; i < me->out->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        const float *g = me->out->grad + at, *h = me->h->data + at, *e = me->e->data + at;
        for (int j = 0; j < d; j++) {
            gh[at + (size_t)j] += g[j] * me->keep[j];
            ge[at + (size_t)j] += g[j] * b[j];
            gy[at + (size_t)j] += g[j];
            ga[j] += g[j] * h[j];
            gb[j] += g[j] * e[j];
        }
    }
    for (int j = 0; j < d; j++) { /* A = exp(-exp(s)): dA/ds = -exp(s) A */
        float s = log_dt + log_a[j], steep = s < -STEEPEST || s > STEEPEST ? 0 : -expf(s) * me->keep[j] * ga[j];
        tape->grads[me->inject.log_a->offset + (size_t)j] += steep;
        tape->grads[me->inject.log_dt->offset] += steep;
    }
}

struct tensor *op_inject(struct tape *tape, struct tensor *h, struct tensor *e, struct tensor *y, const struct inject *inject)
{
    int d = h->cols;
    assert(e->rows == h->rows && y->rows == h->rows && e->cols == d && y->cols == d && inject->log_a->cols == d && inject->b->cols == d);
    struct tensor *out = tape_tensor(tape, h->rows, d);
    out->places = h->places;
    const float *b = weight_f32(tape, inject->b), *log_a = weight_f32(tape, inject->log_a), log_dt = *weight_f32(tape, inject->log_dt);
    float *keep = arena_new(tape->arena, sizeof(float) * (size_t)d);
    for (int j = 0; j < d; j++) keep[j] = expf(-expf(fminf(fmaxf(log_dt + log_a[j], -STEEPEST), STEEPEST)));
    for (int i = 0; i < h->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        for (int j = 0; j < d; j++) {
            size_t here = at + (size_t)j;
            out->data[here] = keep[j] * h->data[here] + b[j] * e->data[here] + y->data[here];
        }
    }
    struct inject_node *node = tape_node(tape, sizeof *node, inject_back);
    if (node) node->h = h, node->e = e, node->y = y, node->out = out, node->inject = *inject, node->keep = keep;
    return out;
}

/* ------------------------------------------------------------------ halting */

struct halt_node {
    struct node node;
    struct tensor *const *p, **w;
    int loops;
    const struct tensor *halted;
    bool *open; /* [N] the remainder was not clamped */
};

/* Before the halting loop w_k = p_k; in it w_k = 1 - sum of the p before; behind it 0. */
static void halt_back(struct tape *tape, struct node *node)
{
    struct halt_node *me = (struct halt_node *)node;
    for (int k = 0; k < me->loops; k++) {
        const float *g = me->w[k]->grad;
        for (int i = 0; g && i < me->w[k]->rows; i++) {
            int halted = (int)me->halted->data[i] - 1; /* -1: never */
            if (halted < 0 || k < halted) tensor_grad(tape, me->p[k])[i] += g[i];
            else if (k == halted && me->open[i])
                for (int j = 0; j < k; j++) tensor_grad(tape, me->p[j])[i] -= g[i];
        }
    }
}

struct tensor *op_halt(struct tape *tape, struct tensor *const *p, int loops, float threshold, struct tensor **w)
{
    int n = p[0]->rows;
    struct tensor *halted = op_constant(tape, n, 0);
    float *sum = arena_zero(tape->arena, sizeof(float) * (size_t)n);
    bool *open = arena_zero(tape->arena, sizeof(bool) * (size_t)n);
    halted->places = p[0]->places;
    for (int k = 0; k < loops; k++) {
        w[k] = op_constant(tape, n, 0);
        w[k]->places = p[k]->places;
        for (int i = 0; i < n; i++) {
            if (halted->data[i] > 0) continue;
            float share = p[k]->data[i], rest = 1 - sum[i];
            bool over = sum[i] + share >= threshold;
            w[k]->data[i] = !over ? share : rest < 0 ? 0 : rest;
            sum[i] += share;
            if (over) halted->data[i] = (float)(k + 1), open[i] = rest >= 0;
        }
    }
    struct halt_node *node = tape_node(tape, sizeof *node, halt_back);
    if (node) node->p = p, node->w = w, node->loops = loops, node->halted = halted, node->open = open;
    return halted;
}

struct weigh_node {
    struct node node;
    struct tensor *const *h, *const *w, *y;
    int count;
};

static void weigh_back(struct tape *tape, struct node *node)
{
    struct weigh_node *me = (struct weigh_node *)node;
    if (!me->y->grad) return;
    int d = me->y->cols;
    for (int k = 0; k < me->count; k++) {
        float *gh = tensor_grad(tape, me->h[k]), *gw = tensor_grad(tape, me->w[k]);
        for (int i = 0; i < me->y->rows; i++) {
            size_t at = (size_t)i * (size_t)d;
            float w = me->w[k]->data[i];
            for (int j = 0; j < d; j++) gh[at + (size_t)j] += w * me->y->grad[at + (size_t)j];
            gw[i] += row_dot(me->y->grad + at, me->h[k]->data + at, d);
        }
    }
}

struct tensor *op_weigh(struct tape *tape, struct tensor *const *h, struct tensor *const *w, int count)
{
    int d = h[0]->cols;
    struct tensor *y = tape_tensor(tape, h[0]->rows, d);
    y->places = h[0]->places;
    memset(y->data, 0, sizeof(float) * (size_t)y->rows * (size_t)d);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < y->rows; i++) {
            float weight = w[k]->data[i], *to = y->data + (size_t)i * (size_t)d;
            const float *from = h[k]->data + (size_t)i * (size_t)d;
            for (int j = 0; j < d && weight != 0; j++) to[j] += weight * from[j];
        }
    struct weigh_node *node = tape_node(tape, sizeof *node, weigh_back);
    if (node) node->h = h, node->w = w, node->y = y, node->count = count;
    return y;
}
