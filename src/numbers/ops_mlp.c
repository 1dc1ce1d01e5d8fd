#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>

struct swiglu_node {
    struct node node;
    struct tensor *g, *u, *y;
};

KERNEL static void swiglu(const float *restrict g, const float *restrict u, float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = g[i] * fast_sigmoid(g[i]) * u[i];
}

/* silu'(g) = s (1 + g (1 - s)) with s = sigmoid(g) */
KERNEL static void swiglu_grad(const float *restrict g, const float *restrict u, const float *restrict gy, float *restrict gg, float *restrict gu,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float s = fast_sigmoid(g[i]), silu = g[i] * s;
        gg[i] = gy[i] * u[i] * (s + silu * (1.0f - s));
        gu[i] = gy[i] * silu;
    }
}

static void swiglu_back(struct tape *tape, struct node *node)
{
    struct swiglu_node *me = (struct swiglu_node *)node;
    if (!me->y->grad) return;
    float beta, *gg, *gu;
    gg = tensor_grad_beta(tape, me->g, &beta);
    assert(beta == 0); /* both sides are fresh products of the block: nobody else reads them */
    gu = tensor_grad_beta(tape, me->u, &beta);
    assert(beta == 0);
    swiglu_grad(me->g->data, me->u->data, me->y->grad, gg, gu, (size_t)me->y->rows * (size_t)me->y->cols);
}

struct tensor *op_swiglu(struct tape *tape, struct tensor *g, struct tensor *u)
{
    assert(g->rows == u->rows && g->cols == u->cols);
    struct tensor *y = tape_tensor(tape, g->rows, g->cols);
    y->places = g->places;
    swiglu(g->data, u->data, y->data, (size_t)g->rows * (size_t)g->cols);
    struct swiglu_node *node = tape_node(tape, sizeof *node, swiglu_back);
    if (node) node->g = g, node->u = u, node->y = y;
    return y;
}
