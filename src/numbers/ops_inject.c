#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static size_t numbers(const struct tensor *t) { return (size_t)t->rows * (size_t)t->cols; }

/* ------------------------------------------------------------------ reshape */

struct pair_node {
    struct node node;
    struct tensor *x, *y;
    float by;
};

static void reshape_back(struct tape *tape, struct node *node)
{
    struct pair_node *me = (struct pair_node *)node;
    (void)tape;
    if (!me->y->grad) return;
    if (!me->x->grad) me->x->grad = me->y->grad; /* nobody reads y's gradient after this: hand the memory on */
    else for (size_t i = 0; i < numbers(me->x); i++) me->x->grad[i] += me->y->grad[i];
}

struct tensor *op_reshape(struct tape *tape, struct tensor *x, int rows, int cols)
{
    assert((size_t)rows * (size_t)cols == numbers(x));
    struct tensor *y = arena_new(tape->arena, sizeof *y);
    *y = (struct tensor){.data = x->data, .rows = rows, .cols = cols, .places = rows == x->rows ? x->places : NULL};
    struct pair_node *node = tape_node(tape, sizeof *node, reshape_back);
    if (node) node->x = x, node->y = y;
    return y;
}

/* ------------------------------------------------------------------ number by number */

static struct tensor *like(struct tape *tape, struct tensor *x)
{
    struct tensor *y = tape_tensor(tape, x->rows, x->cols);
    y->places = x->places;
    return y;
}

static struct tensor *paired(struct tape *tape, struct tensor *x, struct tensor *y, float by, void (*back)(struct tape *, struct node *))
{
    struct pair_node *node = tape_node(tape, sizeof *node, back);
    if (node) node->x = x, node->y = y, node->by = by;
    return y;
}

static void scale_back(struct tape *tape, struct node *node)
{
    struct pair_node *me = (struct pair_node *)node;
    if (!me->y->grad) return;
    float *gx = tensor_grad(tape, me->x);
    for (size_t i = 0; i < numbers(me->x); i++) gx[i] += me->by * me->y->grad[i];
}

struct tensor *op_scale(struct tape *tape, struct tensor *x, float by)
{
    struct tensor *y = like(tape, x);
    for (size_t i = 0; i < numbers(x); i++) y->data[i] = by * x->data[i];
    return paired(tape, x, y, by, scale_back);
}

static void relu2_back(struct tape *tape, struct node *node)
{
    struct pair_node *me = (struct pair_node *)node;
    if (!me->y->grad) return;
    float *gx = tensor_grad(tape, me->x);
    for (size_t i = 0; i < numbers(me->x); i++) gx[i] += me->x->data[i] > 0 ? me->x->data[i] * me->y->grad[i] : 0;
}

/* NaN stays NaN */
struct tensor *op_relu2(struct tape *tape, struct tensor *x)
{
    struct tensor *y = like(tape, x);
    for (size_t i = 0; i < numbers(x); i++) y->data[i] = x->data[i] < 0 ? 0 : 0.5f * x->data[i] * x->data[i];
    return paired(tape, x, y, 0, relu2_back);
}

static void softcap_back(struct tape *tape, struct node *node)
{
    struct pair_node *me = (struct pair_node *)node;
    if (!me->y->grad) return;
    float *gx = tensor_grad(tape, me->x);
    for (size_t i = 0; i < numbers(me->x); i++) {
        float t = me->y->data[i] / me->by;
        gx[i] += (1 - t * t) * me->y->grad[i];
    }
}

struct tensor *op_softcap(struct tape *tape, struct tensor *x, float cap)
{
    struct tensor *y = like(tape, x);
    for (size_t i = 0; i < numbers(x); i++) y->data[i] = cap * tanhf(x->data[i] / cap);
    return paired(tape, x, y, cap, softcap_back);
}

/* ------------------------------------------------------------------ a state that decays */

struct decay_node {
    struct node node;
    struct tensor *h, *u, *y;
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
    if (!me->y->grad) return;
    const float *a_log = weight_f32(tape, me->a_log), *dt_bias = weight_f32(tape, me->dt_bias);
    float *gh = tensor_grad(tape, me->h), *gu = tensor_grad(tape, me->u);
    float *ga = tape->grads + me->a_log->offset, *gdt = tape->grads + me->dt_bias->offset;
    int d = me->h->cols;
    for (int j = 0; j < d; j++) {
        struct decay of = decay_of(a_log[j], dt_bias[j]);
        double by_keep = 0, by_dt = 0;
        for (int i = 0; i < me->h->rows; i++) {
            size_t at = (size_t)i * (size_t)d + (size_t)j;
            double g = me->y->grad[at];
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
    struct tensor *y = like(tape, h);
    const float *a = weight_f32(tape, a_log), *bias = weight_f32(tape, dt_bias);
    int d = h->cols;
    for (int j = 0; j < d; j++) {
        struct decay of = decay_of(a[j], bias[j]);
        float keep = (float)of.keep, dt = (float)of.dt;
        for (size_t at = (size_t)j; at < numbers(h); at += (size_t)d) y->data[at] = h->data[at] * keep + dt * u->data[at];
    }
    struct decay_node *node = tape_node(tape, sizeof *node, decay_back);
    if (node) node->h = h, node->u = u, node->y = y, node->a_log = a_log, node->dt_bias = dt_bias;
    return y;
}

/* ------------------------------------------------------------------ a second value for each head */

struct value_node {
    struct node node;
    struct tensor *v, *gate, *extra, *y;
};

static void value_back(struct tape *tape, struct node *node)
{
    struct value_node *me = (struct value_node *)node;
    if (!me->y->grad) return;
    int heads = me->gate->cols, size = me->v->cols / heads;
    float *gv = tensor_grad(tape, me->v), *gg = tensor_grad(tape, me->gate), *ge = tensor_grad(tape, me->extra);
    for (int i = 0; i < me->v->rows * heads; i++) { /* head by head */
        size_t at = (size_t)i * (size_t)size;
        const float *g = me->y->grad + at, *e = me->extra->data + at;
        float open = fast_sigmoid(me->gate->data[i]), pull = dot(g, e, size);
        for (int j = 0; j < size; j++) gv[at + (size_t)j] += g[j];
        for (int j = 0; j < size; j++) ge[at + (size_t)j] += 2 * open * g[j];
        gg[i] += 2 * open * (1 - open) * pull;
    }
}

struct tensor *op_gate_heads(struct tape *tape, struct tensor *v, struct tensor *gate, struct tensor *extra)
{
    assert(v->cols % gate->cols == 0 && extra->cols == v->cols && extra->rows == v->rows && gate->rows == v->rows);
    struct tensor *y = like(tape, v);
    int heads = gate->cols, size = v->cols / heads;
    for (int i = 0; i < v->rows * heads; i++) {
        size_t at = (size_t)i * (size_t)size;
        float open = 2 * fast_sigmoid(gate->data[i]);
        for (int j = 0; j < size; j++) y->data[at + (size_t)j] = v->data[at + (size_t)j] + open * extra->data[at + (size_t)j];
    }
    struct value_node *node = tape_node(tape, sizeof *node, value_back);
    if (node) node->v = v, node->gate = gate, node->extra = extra, node->y = y;
    return y;
}
