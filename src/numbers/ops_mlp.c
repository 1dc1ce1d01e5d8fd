#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>

struct swiglu_node {
    struct node node;
    struct tensor *g, *u;
};

KERNEL static void swiglu(const float *restrict g, const float *restrict u, float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = g[i] * fast_sigmoid(g[i]) * u[i];
}

/* silu'(g) = s (1 + g (1 - s)) with s = sigmoid(g). The gradients take the places of g and u: nothing reads those again. */
KERNEL static void swiglu_grad(float *restrict g, float *restrict u, const float *restrict gy, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float s = fast_sigmoid(g[i]), silu = g[i] * s;
        g[i] = gy[i] * u[i] * (s + silu * (1.0f - s));
        u[i] = gy[i] * silu;
    }
}

static void swiglu_back(struct tape *tape, struct node *node)
{
    struct swiglu_node *me = (struct swiglu_node *)node;
    (void)tape;
    assert(!me->g->grad && !me->u->grad);
    swiglu_grad(me->g->data, me->u->data, node->y->grad, tensor_size(node->y));
    me->g->grad = me->g->data, me->u->grad = me->u->data;
}

struct tensor *op_swiglu(struct tape *tape, struct tensor *g, struct tensor *u)
{
    assert(g->rows == u->rows && g->cols == u->cols);
    struct tensor *y = tape_like(tape, g, g->cols);
    swiglu(g->data, u->data, y->data, tensor_size(g));
    struct swiglu_node *node = tape_node(tape, sizeof *node, swiglu_back, y);
    if (node) node->g = g, node->u = u;
    return y;
}
