#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>

struct norm_node {
    struct node node;
    struct tensor *x;
    const struct weight *gain;
    float *inverse; /* 1 / root mean square, for each row */
};

KERNEL static void norm_row(const float *x, const float *gain, float *y, float *inverse, int d, float eps)
{
    float r = 1.0f / sqrtf(dot(x, x, d) / (float)d + eps);
    *inverse = r;
    if (gain) for (int j = 0; j < d; j++) y[j] = x[j] * r * gain[j];
    else for (int j = 0; j < d; j++) y[j] = x[j] * r;
}

/* y = x r g:  dx += r (g dy - x r^2 mean(g dy x)),  dg += dy x r */
KERNEL static void norm_row_back(const float *x, const float *gain, const float *gy, float r, int d, float *gx, float *ggain, float *scratch)
{
    const float *g = gy;
    if (gain) {
        for (int j = 0; j < d; j++) scratch[j] = gain[j] * gy[j];
        for (int j = 0; j < d; j++) ggain[j] += gy[j] * x[j] * r;
        g = scratch;
    }
    float pull = dot(g, x, d) / (float)d * r * r;
    for (int j = 0; j < d; j++) gx[j] += r * (g[j] - x[j] * pull);
}

static void norm_back(struct tape *tape, struct node *node)
{
    struct norm_node *me = (struct norm_node *)node;
    int d = me->x->cols;
    float *gx = tensor_grad(tape, me->x), *ggain = me->gain ? tape->grads + me->gain->offset : NULL;
    const float *gain = me->gain ? weight_f32(tape, me->gain) : NULL;
    float *scratch = arena_new(tape->arena, sizeof(float) * (size_t)d);
    for (int i = 0; i < me->x->rows; i++) {
        size_t at = (size_t)i * (size_t)d;
        norm_row_back(me->x->data + at, gain, node->y->grad + at, me->inverse[i], d, gx + at, ggain, scratch);
    }
}

struct tensor *op_rms_norm(struct tape *tape, struct tensor *x, const struct weight *gain, float eps)
{
    assert(!gain || gain->cols == x->cols);
    struct tensor *y = tape_like(tape, x, x->cols);
    const float *g = gain ? weight_f32(tape, gain) : NULL;
    float *inverse = arena_new(tape->arena, sizeof(float) * (size_t)x->rows);
    for (int i = 0; i < x->rows; i++) {
        size_t at = (size_t)i * (size_t)x->cols;
        norm_row(x->data + at, g, y->data + at, inverse + i, x->cols, eps);
    }
    struct norm_node *node = tape_node(tape, sizeof *node, norm_back, y);
    if (node) node->x = x, node->gain = gain, node->inverse = inverse;
    return y;
}
