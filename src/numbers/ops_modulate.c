#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>

/* ------------------------------------------------------------------ bias */

struct bias_node {
    struct node node;
    struct tensor *x, *y;
    const struct weight *bias;
};

static void add_row(float *to, const float *from, int n)
{
    for (int i = 0; i < n; i++) to[i] += from[i];
}

static void bias_back(struct tape *tape, struct node *node)
{
    struct bias_node *me = (struct bias_node *)node;
    if (!me->y->grad) return;
    int d = me->y->cols;
    float *gx = tensor_grad(tape, me->x), *gb = tape->grads + me->bias->offset;
    for (int i = 0; i < me->y->rows; i++) {
        const float *g = me->y->grad + (size_t)i * (size_t)d;
        add_row(gx + (size_t)i * (size_t)d, g, d);
        add_row(gb, g, d);
    }
}

struct tensor *op_bias(struct tape *tape, struct tensor *x, const struct weight *bias)
{
    assert(bias->cols == x->cols);
    struct tensor *y = tape_tensor(tape, x->rows, x->cols);
    y->places = x->places;
    const float *b = weight_f32(tape, bias);
    for (int i = 0; i < x->rows; i++)
        for (int j = 0; j < x->cols; j++) y->data[(size_t)i * (size_t)x->cols + (size_t)j] = x->data[(size_t)i * (size_t)x->cols + (size_t)j] + b[j];
    struct bias_node *node = tape_node(tape, sizeof *node, bias_back);
    if (node) node->x = x, node->y = y, node->bias = bias;
    return y;
}

/* ------------------------------------------------------------------ activations */

struct point_node {
    struct node node;
    struct tensor *x, *y;
    void (*slope)(const float *x, float *slope, size_t n);
};

enum { PIECE = 256 };

static void point_back(struct tape *tape, struct node *node)
{
    struct point_node *me = (struct point_node *)node;
    if (!me->y->grad) return;
    size_t n = (size_t)me->x->rows * (size_t)me->x->cols;
    float *gx = tensor_grad(tape, me->x), slope[PIECE];
    for (size_t at = 0; at < n; at += PIECE) {
        size_t piece = n - at < PIECE ? n - at : PIECE;
        me->slope(me->x->data + at, slope, piece);
        for (size_t i = 0; i < piece; i++) gx[at + i] += me->y->grad[at + i] * slope[i];
    }
}

static struct tensor *point(struct tape *tape, struct tensor *x, void (*value)(const float *x, float *y, size_t n),
                            void (*slope)(const float *x, float *slope, size_t n))
{
    struct tensor *y = tape_tensor(tape, x->rows, x->cols);
    y->places = x->places;
    value(x->data, y->data, (size_t)x->rows * (size_t)x->cols);
    struct point_node *node = tape_node(tape, sizeof *node, point_back);
    if (node) node->x = x, node->y = y, node->slope = slope;
    return y;
}

KERNEL static void silu(const float *restrict x, float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] * fast_sigmoid(x[i]);
}

KERNEL static void silu_slope(const float *restrict x, float *restrict slope, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float s = fast_sigmoid(x[i]);
        slope[i] = s * (1.0f + x[i] * (1.0f - s));
    }
}

struct tensor *op_silu(struct tape *tape, struct tensor *x) { return point(tape, x, silu, silu_slope); }

/* Phi(x), the normal distribution */
static float phi(float x) { return 0.5f * (1.0f + erff(x * 0.70710678f)); }

static void gelu(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] * phi(x[i]);
}

static void gelu_slope(const float *x, float *slope, size_t n)
{
    for (size_t i = 0; i < n; i++) slope[i] = phi(x[i]) + x[i] * 0.39894228f * expf(-0.5f * x[i] * x[i]);
}

struct tensor *op_gelu(struct tape *tape, struct tensor *x) { return point(tape, x, gelu, gelu_slope); }

/* ------------------------------------------------------------------ columns */

struct columns_node {
    struct node node;
    struct tensor *x, *y;
    int from;
};

static void columns_back(struct tape *tape, struct node *node)
{
    struct columns_node *me = (struct columns_node *)node;
    if (!me->y->grad) return;
    float *gx = tensor_grad(tape, me->x);
    for (int i = 0; i < me->y->rows; i++)
        add_row(gx + (size_t)i * (size_t)me->x->cols + me->from, me->y->grad + (size_t)i * (size_t)me->y->cols, me->y->cols);
}

struct tensor *op_columns(struct tape *tape, struct tensor *x, int from, int n)
{
    assert(from >= 0 && n > 0 && from + n <= x->cols);
    struct tensor *y = tape_tensor(tape, x->rows, n);
    y->places = x->places;
    for (int i = 0; i < x->rows; i++)
        memcpy(y->data + (size_t)i * (size_t)n, x->data + (size_t)i * (size_t)x->cols + from, sizeof(float) * (size_t)n);
    struct columns_node *node = tape_node(tape, sizeof *node, columns_back);
    if (node) node->x = x, node->y = y, node->from = from;
    return y;
}

/* ------------------------------------------------------------------ scaling by a shared row */

struct modulate_node {
    struct node node;
    struct tensor *x, *y, *row, *out; /* modulate: out = x + x row; add_gated: out = x + y row */
};

static void modulate_back(struct tape *tape, struct node *node)
{
    struct modulate_node *me = (struct modulate_node *)node;
    if (!me->out->grad) return;
    int d = me->x->cols;
    float *gx = tensor_grad(tape, me->x), *gy = tensor_grad(tape, me->y), *grow = tensor_grad(tape, me->row);
    for (int i = 0; i < me->x->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        const float *g = me->out->grad + at, *y = me->y->data + at;
        add_row(gx + at, g, d);
        for (int j = 0; j < d; j++) gy[at + (size_t)j] += g[j] * me->row->data[j];
        for (int j = 0; j < d; j++) grow[j] += g[j] * y[j];
    }
}

KERNEL static void add_scaled(const float *x, const float *y, const float *restrict row, float *restrict out, int n)
{
    for (int j = 0; j < n; j++) out[j] = x[j] + row[j] * y[j];
}

struct tensor *op_add_gated(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *gate)
{
    assert(x->rows == y->rows && x->cols == y->cols && gate->rows == 1 && gate->cols == x->cols);
    struct tensor *out = tape_tensor(tape, x->rows, x->cols);
    out->places = x->places;
    for (int i = 0; i < x->rows; i++) {
        size_t at = (size_t)i * (size_t)x->cols;
        add_scaled(x->data + at, y->data + at, gate->data, out->data + at, x->cols);
    }
    struct modulate_node *node = tape_node(tape, sizeof *node, modulate_back);
    if (node) node->x = x, node->y = y, node->row = gate, node->out = out;
    return out;
}

struct tensor *op_modulate(struct tape *tape, struct tensor *x, struct tensor *scale) { return op_add_gated(tape, x, x, scale); }
