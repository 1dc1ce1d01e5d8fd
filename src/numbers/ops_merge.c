#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

static size_t numbers(const struct tensor *t) { return (size_t)t->rows * (size_t)t->cols; }

KERNEL static void add_to(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

struct tensor *op_detach(struct tape *tape, struct tensor *x)
{
    struct tensor *y = arena_new(tape->arena, sizeof *y);
    *y = (struct tensor){.data = x->data, .rows = x->rows, .cols = x->cols, .places = x->places};
    return y;
}

struct put_node {
    struct node node;
    struct tensor *into, *x;
    const int *rows;
};

static void put_back(struct tape *tape, struct node *node)
{
    struct put_node *me = (struct put_node *)node;
    if (!me->into->grad) return;
    size_t d = (size_t)me->x->cols;
    float *grad = tensor_grad(tape, me->x);
    for (int i = 0; i < me->x->rows; i++) add_to(grad + (size_t)i * d, me->into->grad + (size_t)me->rows[i] * d, d);
}

void op_put(struct tape *tape, struct tensor *into, struct tensor *x, const int *rows)
{
    assert(into->cols == x->cols);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < x->rows; i++) {
        assert(rows[i] >= 0 && rows[i] < into->rows);
        memcpy(into->data + (size_t)rows[i] * d, x->data + (size_t)i * d, d * sizeof(float));
    }
    struct put_node *node = tape_node(tape, sizeof *node, put_back);
    if (node) node->into = into, node->x = x, node->rows = rows;
}

struct join_node {
    struct node node;
    struct tensor *a, *b, *y;
};

static void join_back(struct tape *tape, struct node *node)
{
    struct join_node *me = (struct join_node *)node;
    if (!me->y->grad) return;
    size_t p = (size_t)me->a->cols, q = (size_t)me->b->cols;
    float *ga = tensor_grad(tape, me->a), *gb = tensor_grad(tape, me->b);
    for (size_t i = 0; i < (size_t)me->y->rows; i++) {
        add_to(ga + i * p, me->y->grad + i * (p + q), p);
        add_to(gb + i * q, me->y->grad + i * (p + q) + p, q);
    }
}

struct tensor *op_join(struct tape *tape, struct tensor *a, struct tensor *b)
{
    assert(a->rows == b->rows);
    struct tensor *y = tape_tensor(tape, a->rows, a->cols + b->cols);
    size_t p = (size_t)a->cols, q = (size_t)b->cols;
    y->places = a->places;
    for (size_t i = 0; i < (size_t)y->rows; i++) {
        memcpy(y->data + i * (p + q), a->data + i * p, p * sizeof(float));
        memcpy(y->data + i * (p + q) + p, b->data + i * q, q * sizeof(float));
    }
    struct join_node *node = tape_node(tape, sizeof *node, join_back);
    if (node) node->a = a, node->b = b, node->y = y;
    return y;
}

struct sigmoid_node {
    struct node node;
    struct tensor *x, *y;
    const struct weight *bias;
};

KERNEL static void sigmoid_row(const float *restrict x, const float *restrict bias, float *restrict y, int d)
{
    for (int j = 0; j < d; j++) y[j] = fast_sigmoid(x[j] + bias[j]);
}

KERNEL static void sigmoid_row_back(const float *restrict y, const float *restrict gy, float *restrict gx, float *restrict gb, int d)
{
    for (int j = 0; j < d; j++) {
        float g = gy[j] * y[j] * (1.0f - y[j]);
        gx[j] += g;
        gb[j] += g;
    }
}

static void sigmoid_back(struct tape *tape, struct node *node)
{
    struct sigmoid_node *me = (struct sigmoid_node *)node;
    if (!me->y->grad) return;
    int d = me->x->cols;
    float *gx = tensor_grad(tape, me->x), *gb = tape->grads + me->bias->offset;
    for (int i = 0; i < me->x->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        sigmoid_row_back(me->y->data + at, me->y->grad + at, gx + at, gb, d);
    }
}

struct tensor *op_sigmoid(struct tape *tape, struct tensor *x, const struct weight *bias)
{
    assert(bias->cols == x->cols);
    struct tensor *y = tape_tensor(tape, x->rows, x->cols);
    const float *shift = weight_f32(tape, bias);
    y->places = x->places;
    for (int i = 0; i < x->rows; i++) sigmoid_row(x->data + (size_t)i * (size_t)x->cols, shift, y->data + (size_t)i * (size_t)x->cols, x->cols);
    struct sigmoid_node *node = tape_node(tape, sizeof *node, sigmoid_back);
    if (node) node->x = x, node->y = y, node->bias = bias;
    return y;
}

struct gated_node {
    struct node node;
    struct tensor *x, *gate, *y, *out;
    float scale;
};

KERNEL static void gated(const float *restrict x, const float *restrict gate, const float *restrict y, float scale, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = x[i] + scale * gate[i] * y[i];
}

KERNEL static void gated_grad(const float *restrict gate, const float *restrict y, float scale, const float *restrict g, float *restrict ggate,
                              float *restrict gy, size_t n)
{
    for (size_t i = 0; i < n; i++) ggate[i] += scale * g[i] * y[i];
    for (size_t i = 0; i < n; i++) gy[i] += scale * g[i] * gate[i];
}

static void gated_back(struct tape *tape, struct node *node)
{
    struct gated_node *me = (struct gated_node *)node;
    if (!me->out->grad) return;
    add_to(tensor_grad(tape, me->x), me->out->grad, numbers(me->x));
    gated_grad(me->gate->data, me->y->data, me->scale, me->out->grad, tensor_grad(tape, me->gate), tensor_grad(tape, me->y), numbers(me->x));
}

struct tensor *op_gated(struct tape *tape, struct tensor *x, struct tensor *gate, struct tensor *y, float scale)
{
    assert(numbers(x) == numbers(gate) && numbers(x) == numbers(y) && x->cols == y->cols);
    struct tensor *out = tape_tensor(tape, x->rows, x->cols);
    out->places = x->places;
    gated(x->data, gate->data, y->data, scale, out->data, numbers(x));
    struct gated_node *node = tape_node(tape, sizeof *node, gated_back);
    if (node) node->x = x, node->gate = gate, node->y = y, node->out = out, node->scale = scale;
    return out;
}
