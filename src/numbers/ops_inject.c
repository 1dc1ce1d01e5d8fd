#include "numbers/op.h"

#include <assert.h>
#include <math.h>

struct inject_node {
    struct node node;
    struct tensor *h, *e, *y; /* the base's y is out */
    struct inject inject;
    float *keep; /* [D] A */
};

enum { STEEPEST = 20 /* log_dt + log_A is clamped to -20 ... 20 */ };

static void inject_back(struct tape *tape, struct node *node)
{
    struct inject_node *me = (struct inject_node *)node;
    struct tensor *out = node->y;
    int d = out->cols;
    const float *b = weight_f32(tape, me->inject.b), *log_a = weight_f32(tape, me->inject.log_a), log_dt = *weight_f32(tape, me->inject.log_dt);
    float *gh = tensor_grad(tape, me->h), *ge = tensor_grad(tape, me->e), *gb = tape->grads + me->inject.b->offset;
    float *ga = arena_zero(tape->arena, sizeof(float) * (size_t)d);
    for (int i = 0; i < out->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        const float *g = out->grad + at, *h = me->h->data + at, *e = me->e->data + at;
        for (int j = 0; j < d; j++) {
            gh[at + (size_t)j] += g[j] * me->keep[j];
            ge[at + (size_t)j] += g[j] * b[j];
            ga[j] += g[j] * h[j];
            gb[j] += g[j] * e[j];
        }
    }
    for (int j = 0; j < d; j++) { /* A = exp(-exp(s)): dA/ds = -exp(s) A */
        float s = log_dt + log_a[j], steep = s < -STEEPEST || s > STEEPEST ? 0 : -expf(s) * me->keep[j] * ga[j];
        tape->grads[me->inject.log_a->offset + (size_t)j] += steep;
        tape->grads[me->inject.log_dt->offset] += steep;
    }
    tensor_pass_grad(me->y, out);
}

struct tensor *op_inject(struct tape *tape, struct tensor *h, struct tensor *e, struct tensor *y, const struct inject *inject)
{
    int d = h->cols;
    assert(e->rows == h->rows && y->rows == h->rows && e->cols == d && y->cols == d && inject->log_a->cols == d && inject->b->cols == d);
    struct tensor *out = tape_like(tape, h, d);
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
    struct inject_node *node = tape_node(tape, sizeof *node, inject_back, out);
    if (node) node->h = h, node->e = e, node->y = y, node->inject = *inject, node->keep = keep;
    return out;
}

struct decay_node {
    struct node node;
    struct tensor *h, *u;
    const struct weight *a_log, *dt_bias;
};

/* The factors of one dimension, and how they move with its two parameters. */
struct decay { double dt, slope, a, keep; };

static struct decay decay_of(float a_log, float dt_bias)
{
    double dt = dt_bias > 20 ? dt_bias : log1p(exp(dt_bias)), a = exp(a_log);
    return (struct decay){dt, 1 / (1 + exp(-(double)dt_bias)), a, exp(-dt * a)};
}

static void decay_back(struct tape *tape, struct node *node)
{
    struct decay_node *me = (struct decay_node *)node;
    const float *a_log = weight_f32(tape, me->a_log), *dt_bias = weight_f32(tape, me->dt_bias);
    float *gh = tensor_grad(tape, me->h), *gu = tensor_grad(tape, me->u);
    float *ga = tape->grads + me->a_log->offset, *gdt = tape->grads + me->dt_bias->offset;
    int d = me->h->cols;
    for (int j = 0; j < d; j++) {
        struct decay of = decay_of(a_log[j], dt_bias[j]);
        double by_keep = 0, by_dt = 0;
        for (int i = 0; i < me->h->rows; i++) {
            size_t at = (size_t)i * (size_t)d + (size_t)j;
            double g = node->y->grad[at];
            gh[at] += (float)(g * of.keep);
            gu[at] += (float)(g * of.dt);
            by_keep += g * me->h->data[at];
            by_dt += g * me->u->data[at];
        }
        ga[j] += (float)(by_keep * of.keep * -of.dt * of.a);
        gdt[j] += (float)((by_dt - by_keep * of.keep * of.a) * of.slope);
    }
}

struct tensor *op_decay(struct tape *tape, struct tensor *h, struct tensor *u, const struct weight *a_log, const struct weight *dt_bias)
{
    assert(u->rows == h->rows && u->cols == h->cols && a_log->cols == h->cols && dt_bias->cols == h->cols);
    struct tensor *y = tape_like(tape, h, h->cols);
    const float *a = weight_f32(tape, a_log), *bias = weight_f32(tape, dt_bias);
    int d = h->cols;
    for (int j = 0; j < d; j++) {
        struct decay of = decay_of(a[j], bias[j]);
        float keep = (float)of.keep, dt = (float)of.dt;
        for (size_t at = (size_t)j; at < tensor_size(h); at += (size_t)d) y->data[at] = h->data[at] * keep + dt * u->data[at];
    }
    struct decay_node *node = tape_node(tape, sizeof *node, decay_back, y);
    if (node) node->h = h, node->u = u, node->a_log = a_log, node->dt_bias = dt_bias;
    return y;
}
