#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

/* ------------------------------------------------------------------ the same memory */

struct reshape_node {
    struct node node;
    struct tensor *x;
};

static void reshape_back(struct tape *tape, struct node *node)
{
    struct reshape_node *me = (struct reshape_node *)node;
    (void)tape;
    tensor_pass_grad(me->x, node->y);
}

struct tensor *op_reshape(struct tape *tape, struct tensor *x, int rows, int cols)
{
    struct tensor *y = tape_view(tape, x, rows, cols);
    struct reshape_node *node = tape_node(tape, sizeof *node, reshape_back, y);
    if (node) node->x = x;
    return y;
}

struct tensor *op_detach(struct tape *tape, const struct tensor *x) { return tape_view(tape, x, x->rows, x->cols); }

/* ------------------------------------------------------------------ columns */

/* Spans of columns are moved: of each head, `n` columns of the narrow tensor are columns from ... from+n-1 of the wide one. */
struct span { int heads, from, n; };

/* A narrow tensor of one head is shared by all heads of the wide one. */
static size_t narrow_at(const struct tensor *narrow, struct span s, int row, int head)
{
    return (size_t)row * (size_t)narrow->cols + (narrow->cols == s.n ? 0 : (size_t)(head * s.n));
}

static size_t wide_at(const struct tensor *wide, struct span s, int row, int head)
{
    return (size_t)row * (size_t)wide->cols + (size_t)(head * (wide->cols / s.heads) + s.from);
}

static void fill(struct tensor *wide, const struct tensor *narrow, struct span s)
{
    for (int i = 0; i < wide->rows; i++)
        for (int h = 0; h < s.heads; h++)
            memcpy(wide->data + wide_at(wide, s, i, h), narrow->data + narrow_at(narrow, s, i, h), sizeof(float) * (size_t)s.n);
}

struct cut_node {
    struct node node;
    struct tensor *x;
    struct span span;
};

static void cut_back(struct tape *tape, struct node *node)
{
    struct cut_node *me = (struct cut_node *)node;
    float *gx = tensor_grad(tape, me->x);
    for (int i = 0; i < me->x->rows; i++)
        for (int h = 0; h < me->span.heads; h++)
            row_add(gx + wide_at(me->x, me->span, i, h), node->y->grad + narrow_at(node->y, me->span, i, h), (size_t)me->span.n);
}

struct tensor *op_cut_heads(struct tape *tape, struct tensor *x, int heads, int from, int n)
{
    assert(x->cols % heads == 0 && from >= 0 && n > 0 && from + n <= x->cols / heads);
    struct span span = {heads, from, n};
    struct tensor *y = tape_like(tape, x, heads * n);
    for (int i = 0; i < x->rows; i++)
        for (int h = 0; h < heads; h++) memcpy(y->data + narrow_at(y, span, i, h), x->data + wide_at(x, span, i, h), sizeof(float) * (size_t)n);
    struct cut_node *node = tape_node(tape, sizeof *node, cut_back, y);
    if (node) node->x = x, node->span = span;
    return y;
}

struct tensor *op_columns(struct tape *tape, struct tensor *x, int from, int n) { return op_cut_heads(tape, x, 1, from, n); }

struct join_node {
    struct node node;
    struct tensor *a, *b;
    struct span left, right;
};

static void give(struct tape *tape, const struct tensor *y, struct tensor *x, struct span s)
{
    float *gx = tensor_grad(tape, x);
    for (int i = 0; i < y->rows; i++)
        for (int h = 0; h < s.heads; h++) row_add(gx + narrow_at(x, s, i, h), y->grad + wide_at(y, s, i, h), (size_t)s.n);
}

static void join_back(struct tape *tape, struct node *node)
{
    struct join_node *me = (struct join_node *)node;
    give(tape, node->y, me->a, me->left);
    give(tape, node->y, me->b, me->right);
}

struct tensor *op_join_heads(struct tape *tape, struct tensor *a, struct tensor *b, int heads, int right)
{
    assert(a->rows == b->rows && a->cols % heads == 0 && (b->cols == right || b->cols == heads * right));
    struct span left = {heads, 0, a->cols / heads}, rest = {heads, a->cols / heads, right};
    struct tensor *y = tape_like(tape, a, heads * (left.n + right));
    fill(y, a, left);
    fill(y, b, rest);
    struct join_node *node = tape_node(tape, sizeof *node, join_back, y);
    if (node) node->a = a, node->b = b, node->left = left, node->right = rest;
    return y;
}

struct tensor *op_join(struct tape *tape, struct tensor *a, struct tensor *b) { return op_join_heads(tape, a, b, 1, b->cols); }
