#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

struct rows_node {
    struct node node;
    struct tensor *x;
    const struct weight *table;
    const int *rows;
};

/* to[rows[i]] += from[i] */
static void scatter(float *to, const float *from, const int *rows, int n, int cols)
{
    for (int i = 0; i < n; i++) row_add(to + (size_t)rows[i] * (size_t)cols, from + (size_t)i * (size_t)cols, (size_t)cols);
}

static void embed_back(struct tape *tape, struct node *node)
{
    struct rows_node *me = (struct rows_node *)node;
    scatter(tape->grads + me->table->offset, node->y->grad, me->rows, node->y->rows, node->y->cols);
}

struct tensor *op_embed(struct tape *tape, const struct weight *table, const int *tokens, int n)
{
    struct tensor *y = tape_tensor(tape, n, table->cols);
    size_t size = dtype_size(table->dtype), d = (size_t)table->cols;
    for (int i = 0; i < n; i++) {
        assert(tokens[i] >= 0 && tokens[i] < table->rows);
        dtype_widen(table->dtype, (const char *)table->data + (size_t)tokens[i] * d * size, y->data + (size_t)i * d, d);
    }
    struct rows_node *node = tape_node(tape, sizeof *node, embed_back, y);
    if (node) node->table = table, node->rows = tokens;
    return y;
}

static void select_back(struct tape *tape, struct node *node)
{
    struct rows_node *me = (struct rows_node *)node;
    scatter(tensor_grad(tape, me->x), node->y->grad, me->rows, node->y->rows, node->y->cols);
}

struct tensor *op_select(struct tape *tape, struct tensor *x, const int *rows, int n)
{
    struct tensor *y = tape_tensor(tape, n, x->cols);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < n; i++) {
        assert(rows[i] >= 0 && rows[i] < x->rows);
        memcpy(y->data + (size_t)i * d, x->data + (size_t)rows[i] * d, d * sizeof(float));
    }
    struct rows_node *node = tape_node(tape, sizeof *node, select_back, y);
    if (node) node->x = x, node->rows = rows;
    return y;
}

static void put_back(struct tape *tape, struct node *node)
{
    struct rows_node *me = (struct rows_node *)node; /* y: what is put into */
    size_t d = (size_t)me->x->cols;
    float *grad = tensor_grad(tape, me->x);
    for (int i = 0; i < me->x->rows; i++) row_add(grad + (size_t)i * d, node->y->grad + (size_t)me->rows[i] * d, d);
}

void op_put(struct tape *tape, struct tensor *into, struct tensor *x, const int *rows)
{
    assert(into->cols == x->cols);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < x->rows; i++) {
        assert(rows[i] >= 0 && rows[i] < into->rows);
        memcpy(into->data + (size_t)rows[i] * d, x->data + (size_t)i * d, d * sizeof(float));
    }
    struct rows_node *node = tape_node(tape, sizeof *node, put_back, into);
    if (node) node->x = x, node->rows = rows;
}

struct choose_node {
    struct node node;
    struct tensor *const *from;
    const int *which;
};

static void choose_back(struct tape *tape, struct node *node)
{
    struct choose_node *me = (struct choose_node *)node;
    size_t d = (size_t)node->y->cols;
    for (int i = 0; i < node->y->rows; i++) row_add(tensor_grad(tape, me->from[me->which[i]]) + (size_t)i * d, node->y->grad + (size_t)i * d, d);
}

struct tensor *op_choose(struct tape *tape, struct tensor *const *from, const int *which, int n)
{
    struct tensor *y = tape_like(tape, from[0], from[0]->cols);
    size_t d = (size_t)y->cols;
    for (int i = 0; i < n; i++) {
        assert(from[which[i]]->rows == n && from[which[i]]->cols == y->cols);
        memcpy(y->data + (size_t)i * d, from[which[i]]->data + (size_t)i * d, d * sizeof(float));
    }
    struct choose_node *node = tape_node(tape, sizeof *node, choose_back, y);
    if (node) node->from = from, node->which = which;
    return y;
}
