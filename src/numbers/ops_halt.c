#include "numbers/op.h"

#include "numbers/kernel.h"

#include <string.h>

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
    struct tensor *halted = op_constant(tape, p[0], 0);
    float *sum = arena_zero(tape->arena, sizeof(float) * (size_t)n);
    bool *open = arena_zero(tape->arena, sizeof(bool) * (size_t)n);
    for (int k = 0; k < loops; k++) {
        w[k] = op_constant(tape, p[k], 0);
        for (int i = 0; i < n; i++) {
            if (halted->data[i] > 0) continue;
            float share = p[k]->data[i], rest = 1 - sum[i];
            bool over = sum[i] + share >= threshold;
            w[k]->data[i] = !over ? share : rest < 0 ? 0 : rest;
            sum[i] += share;
            if (over) halted->data[i] = (float)(k + 1), open[i] = rest >= 0;
        }
    }
    struct halt_node *node = tape_node(tape, sizeof *node, halt_back, NULL);
    if (node) node->p = p, node->w = w, node->loops = loops, node->halted = halted, node->open = open;
    return halted;
}

struct weigh_node {
    struct node node;
    struct tensor *const *h, *const *w;
    int count;
};

static void weigh_back(struct tape *tape, struct node *node)
{
    struct weigh_node *me = (struct weigh_node *)node;
    const struct tensor *y = node->y;
    int d = y->cols;
    for (int k = 0; k < me->count; k++) {
        float *gh = tensor_grad(tape, me->h[k]), *gw = tensor_grad(tape, me->w[k]);
        for (int i = 0; i < y->rows; i++) {
            size_t at = (size_t)i * (size_t)d;
            row_add_times(gh + at, me->w[k]->data[i], y->grad + at, (size_t)d);
            gw[i] += row_dot(y->grad + at, me->h[k]->data + at, d);
        }
    }
}

struct tensor *op_weigh(struct tape *tape, struct tensor *const *h, struct tensor *const *w, int count)
{
    struct tensor *y = tape_like(tape, h[0], h[0]->cols);
    size_t d = (size_t)y->cols;
    memset(y->data, 0, sizeof(float) * tensor_size(y));
    for (int k = 0; k < count; k++)
        for (int i = 0; i < y->rows; i++)
            if (w[k]->data[i] != 0) row_add_times(y->data + (size_t)i * d, w[k]->data[i], h[k]->data + (size_t)i * d, d);
    struct weigh_node *node = tape_node(tape, sizeof *node, weigh_back, y);
    if (node) node->h = h, node->w = w, node->count = count;
    return y;
}
