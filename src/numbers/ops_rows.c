#include "numbers/op.h"

#include <assert.h>
#include <string.h>

struct rows_node {
    struct node node;
    struct tensor *x, *y;
    const struct weight *table;
    const int *rows;
};

static void add_row(float *to, const float *from, int n)
{
    for (int i = 0; i < n; i++) to[i] += from[i];
}

static void embed_back(struct tape *tape, struct node *node)
{
    struct rows_node *me = (struct rows_node *)node;
    if (!me->y->grad) return;
    int d = me->y->cols;
    float *grad = tape->grads + me->table->offset;
    for (int i = 0; i < me->y->rows; i++) add_row(grad + (size_t)me->rows[i] * (size_t)d, me->y->grad + (size_t)i * (size_t)d, d);
}

struct tensor *op_embed(struct tape *tape, const struct weight *table, const int *tokens, int n)
{
    struct tensor *y = tape_tensor(tape, n, table->cols);
    size_t size = dtype_size(table->dtype), d = (size_t)table->cols;
    for (int i = 0; i < n; i++) {
        assert(tokens[i] >= 0 && tokens[i] < table->rows);
        dtype_widen(table->dtype, (const char *)table->data + (size_t)tokens[i] * d * size, y->data + (size_t)i * d, d);
    }
    struct rows_node *node = tape_node(tape, sizeof *node, embed_back);
    if (node) node->y = y, node->table = table, node->rows = tokens;
    return y;
}

static void select_back(struct tape *tape, struct node *node)
{
    struct rows_node *me = (struct rows_node *)node;
    if (!me->y->grad) return;
    int d = me->y->cols;
    float *grad = tensor_grad(tape, me->x);
    for (int i = 0; i < me->y->rows; i++) add_row(grad + (size_t)me->rows[i] * (size_t)d, me->y->grad + (size_t)i * (size_t)d, d);
}

struct tensor *op_select(struct tape *tape, struct tensor *x, const int *rows, int n)
{
    struct tensor *y = tape_tensor(tape, n, x->cols);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < n; i++) {
        assert(rows[i] >= 0 && rows[i] < x->rows);
        memcpy(y->data + (size_t)i * d, x->data + (size_t)rows[i] * d, d * sizeof(float));
    }
    struct rows_node *node = tape_node(tape, sizeof *node, select_back);
    if (node) node->x = x, node->y = y, node->rows = rows;
    return y;
}

struct choose_node {
    struct node node;
    struct tensor *const *from, *y;
    const int *which;
};

static void choose_back(struct tape *tape, struct node *node)
{
    struct choose_node *me = (struct choose_node *)node;
    if (!me->y->grad) return;
    int d = me->y->cols;
    for (int i = 0; i < me->y->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        add_row(tensor_grad(tape, me->from[me->which[i]]) + at, me->y->grad + at, d);
    }
}

struct tensor *op_choose(struct tape *tape, struct tensor *const *from, const int *which, int n)
{
    struct tensor *y = tape_tensor(tape, n, from[0]->cols);
    size_t d = (size_t)y->cols;
    y->places = from[0]->places;
    for (int i = 0; i < n; i++) {
        assert(from[which[i]]->rows == n && from[which[i]]->cols == y->cols);
        memcpy(y->data + (size_t)i * d, from[which[i]]->data + (size_t)i * d, d * sizeof(float));
    }
    struct choose_node *node = tape_node(tape, sizeof *node, choose_back);
    if (node) node->from = from, node->y = y, node->which = which;
    return y;
}

struct mix_node {
    struct node node;
    struct tensor *x, *y, *weight, *out;
};

static void mix_back(struct tape *tape, struct node *node)
{
    struct mix_node *me = (struct mix_node *)node;
    if (!me->out->grad) return;
    int n = me->out->rows, d = me->out->cols;
    float *gx = tensor_grad(tape, me->x), *gy = tensor_grad(tape, me->y), *gw = me->weight ? tensor_grad(tape, me->weight) : NULL;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * (size_t)d;
        const float *g = me->out->grad + at;
        float w = me->weight ? me->weight->data[i] : 1;
        for (int j = 0; j < d; j++) gx[at + (size_t)j] += g[j];
        for (int j = 0; j < d; j++) gy[at + (size_t)j] += w * g[j];
        if (gw) gw[i] += row_dot(g, me->y->data + at, d);
    }
}

struct tensor *op_constant(struct tape *tape, int n, float value)
{
    struct tensor *y = tape_tensor(tape, n, 1);
    for (int i = 0; i < n; i++) y->data[i] = value;
    return y;
}

struct tensor *op_mix(struct tape *tape, struct tensor *x, struct tensor *y, struct tensor *weight)
{
    assert(x->rows == y->rows && x->cols == y->cols && (!weight || weight->rows == x->rows));
    struct tensor *out = tape_tensor(tape, x->rows, x->cols);
    out->places = x->places;
    for (int i = 0; i < x->rows; i++) {
        size_t at = (size_t)i * (size_t)x->cols;
        float w = weight ? weight->data[i] : 1;
        for (int j = 0; j < x->cols; j++) out->data[at + (size_t)j] = x->data[at + (size_t)j] + w * y->data[at + (size_t)j];
    }
    struct mix_node *node = tape_node(tape, sizeof *node, mix_back);
    if (node) node->x = x, node->y = y, node->weight = weight, node->out = out;
    return out;
}
