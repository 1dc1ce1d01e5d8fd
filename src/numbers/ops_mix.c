#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>

struct tensor *op_constant(struct tape *tape, const struct tensor *x, float value)
{
    struct tensor *y = tape_like(tape, x, 1);
    for (int i = 0; i < y->rows; i++) y->data[i] = value;
    return y;
}

struct shift_node {
    struct node node;
    struct tensor *x;
};

static void shift_back(struct tape *tape, struct node *node)
{
    struct shift_node *me = (struct shift_node *)node;
    (void)tape;
    tensor_pass_grad(me->x, node->y);
}

struct tensor *op_shift(struct tape *tape, struct tensor *x, const float *row)
{
    struct tensor *y = tape_copy(tape, x);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < x->rows; i++) row_add(y->data + (size_t)i * d, row, d);
    struct shift_node *node = tape_node(tape, sizeof *node, shift_back, y);
    if (node) node->x = x;
    return y;
}

/* out = x + w y, where w is a number for each row, a row for all, a number for each number, or a number for each head of each row. The base's y is
 * out. */
struct mix_node {
    struct node node;
    struct tensor *x, *y, *w;
    float scale; /* of w, by op_gated */
};

static struct tensor *remember(struct tape *tape, struct mix_node mix, void (*back)(struct tape *, struct node *), struct tensor *out)
{
    struct mix_node *node = tape_node(tape, sizeof *node, back, out);
    if (node) mix.node = node->node, *node = mix;
    return out;
}

/* to += by a b */
KERNEL static void add_product(float *restrict to, float by, const float *restrict a, const float *restrict b, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += by * a[i] * b[i];
}

/* ------------------------------------------------------------------ a weight for each row */

static void mix_back(struct tape *tape, struct node *node)
{
    struct mix_node *me = (struct mix_node *)node;
    struct tensor *out = node->y;
    int d = out->cols;
    float *gy = tensor_grad(tape, me->y), *gw = me->w ? tensor_grad(tape, me->w) : NULL;
    for (int i = 0; i < out->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        row_add_times(gy + at, me->w ? me->w->data[i] : 1, out->grad + at, (size_t)d);
        if (gw) gw[i] += row_dot(out->grad + at, me->y->data + at, d);
    }
    tensor_pass_grad(me->x, out);
}

struct tensor *op_mix(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *weight)
{
    assert(x->rows == y->rows && x->cols == y->cols && (!weight || weight->rows == x->rows));
    struct tensor *out = tape_copy(tape, x);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < x->rows; i++) row_add_times(out->data + (size_t)i * d, weight ? weight->data[i] : 1, y->data + (size_t)i * d, d);
    return remember(tape, (struct mix_node){.x = x, .y = y, .w = weight}, mix_back, out);
}

/* ------------------------------------------------------------------ a row of weights for all rows */

/* y may be x */
static void add_gated_back(struct tape *tape, struct node *node)
{
    struct mix_node *me = (struct mix_node *)node;
    struct tensor *out = node->y;
    size_t d = (size_t)me->x->cols;
    float *gx = tensor_grad(tape, me->x), *gy = tensor_grad(tape, me->y), *gw = tensor_grad(tape, me->w);
    row_add(gx, out->grad, tensor_size(me->x));
    for (size_t at = 0; at < tensor_size(me->x); at += d) {
        add_product(gy + at, 1, out->grad + at, me->w->data, d);
        add_product(gw, 1, out->grad + at, me->y->data + at, d);
    }
}

struct tensor *op_add_gated(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *gate)
{
    assert(x->rows == y->rows && x->cols == y->cols && gate->rows == 1 && gate->cols == x->cols);
    struct tensor *out = tape_copy(tape, x);
    size_t d = (size_t)x->cols;
    for (size_t at = 0; at < tensor_size(x); at += d) add_product(out->data + at, 1, gate->data, y->data + at, d);
    return remember(tape, (struct mix_node){.x = x, .y = y, .w = gate}, add_gated_back, out);
}

struct tensor *op_modulate(struct tape *tape, struct tensor *x, struct tensor *scale) { return op_add_gated(tape, x, x, scale); }

/* ------------------------------------------------------------------ a weight for each number */

static void gated_back(struct tape *tape, struct node *node)
{
    struct mix_node *me = (struct mix_node *)node;
    struct tensor *out = node->y;
    add_product(tensor_grad(tape, me->w), me->scale, out->grad, me->y->data, tensor_size(me->x));
    add_product(tensor_grad(tape, me->y), me->scale, out->grad, me->w->data, tensor_size(me->x));
    tensor_pass_grad(me->x, out);
}

struct tensor *op_gated(struct tape *tape, struct tensor *x, struct tensor *gate, struct tensor *y, float scale)
{
    assert(tensor_size(x) == tensor_size(gate) && tensor_size(x) == tensor_size(y) && x->cols == y->cols);
    struct tensor *out = tape_copy(tape, x);
    add_product(out->data, scale, gate->data, y->data, tensor_size(x));
    return remember(tape, (struct mix_node){.x = x, .y = y, .w = gate, .scale = scale}, gated_back, out);
}

/* ------------------------------------------------------------------ a weight for each head of each row */

static void gate_heads_back(struct tape *tape, struct node *node)
{
    struct mix_node *me = (struct mix_node *)node;
    struct tensor *out = node->y;
    int heads = me->w->cols, size = me->x->cols / heads;
    float *gw = tensor_grad(tape, me->w), *gy = tensor_grad(tape, me->y);
    for (int i = 0; i < me->x->rows * heads; i++) { /* head by head */
        size_t at = (size_t)i * (size_t)size;
        float open = fast_sigmoid(me->w->data[i]);
        row_add_times(gy + at, 2 * open, out->grad + at, (size_t)size);
        gw[i] += 2 * open * (1 - open) * row_dot(out->grad + at, me->y->data + at, size);
    }
    tensor_pass_grad(me->x, out);
}

struct tensor *op_gate_heads(struct tape *tape, struct tensor *x, struct tensor *gate, struct tensor *y)
{
    assert(x->cols % gate->cols == 0 && y->cols == x->cols && y->rows == x->rows && gate->rows == x->rows);
    struct tensor *out = tape_copy(tape, x);
    size_t size = (size_t)(x->cols / gate->cols);
    for (size_t i = 0; i < tensor_size(gate); i++) row_add_times(out->data + i * size, 2 * fast_sigmoid(gate->data[i]), y->data + i * size, size);
    return remember(tape, (struct mix_node){.x = x, .y = y, .w = gate}, gate_heads_back, out);
}
