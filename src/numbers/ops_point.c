#include "numbers/op.h"

#include "numbers/kernel.h"

#include <math.h>

typedef void point_value(const float *restrict x, float *restrict y, size_t n, float by);
typedef void point_back(const float *restrict x, const float *restrict y, const float *restrict gy, float *restrict gx, size_t n, float by);

struct point_node {
    struct node node;
    struct tensor *x;
    point_back *back;
    float by;
};

static void back_of_points(struct tape *tape, struct node *node)
{
    struct point_node *me = (struct point_node *)node;
    me->back(me->x->data, node->y->data, node->y->grad, tensor_grad(tape, me->x), tensor_size(me->x), me->by);
}

static struct tensor *apply(struct tape *tape, struct tensor *x, point_value *value, point_back *back, float by)
{
    struct tensor *y = tape_like(tape, x, x->cols);
    value(x->data, y->data, tensor_size(x), by);
    struct point_node *node = tape_node(tape, sizeof *node, back_of_points, y);
    if (node) node->x = x, node->back = back, node->by = by;
    return y;
}

/* op_NAME(tape, x, by) as two expressions: the new number, from x and by; and what x's gradient gains, from these, the new number y and its
 * gradient g. */
#define POINT(name, value, gain)                                                                                              \
    KERNEL static void name##_value(const float *restrict xs, float *restrict ys, size_t n, float by)                         \
    {                                                                                                                         \
        (void)by;                                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                                      \
            float x = xs[i];                                                                                                  \
            ys[i] = (value);                                                                                                  \
        }                                                                                                                     \
    }                                                                                                                         \
    KERNEL static void name##_back(const float *restrict xs, const float *restrict ys, const float *restrict gs,              \
                                   float *restrict gx, size_t n, float by)                                                    \
    {                                                                                                                         \
        (void)by;                                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                                      \
            float x = xs[i], y = ys[i], g = gs[i];                                                                            \
            (void)x, (void)y;                                                                                                 \
            gx[i] += (gain);                                                                                                  \
        }                                                                                                                     \
    }

/* Phi(x), the normal distribution */
static float phi(float x) { return 0.5f * (1.0f + erff(x * 0.70710678f)); }

static inline float silu_slope(float x)
{
    float s = fast_sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
}

POINT(sigmoid, fast_sigmoid(x), g * y * (1.0f - y))
POINT(silu, x * fast_sigmoid(x), g * silu_slope(x))
POINT(gelu, x * phi(x), g * (phi(x) + x * 0.39894228f * expf(-0.5f * x * x)))
POINT(relu2, x < 0 ? 0 : 0.5f * x * x, x > 0 ? x * g : 0) /* NaN stays NaN */
POINT(scale, by * x, by * g)
POINT(softcap, by * tanhf(x / by), (1 - y / by * (y / by)) * g)

struct tensor *op_sigmoid(struct tape *tape, struct tensor *x) { return apply(tape, x, sigmoid_value, sigmoid_back, 0); }
struct tensor *op_silu(struct tape *tape, struct tensor *x) { return apply(tape, x, silu_value, silu_back, 0); }
struct tensor *op_gelu(struct tape *tape, struct tensor *x) { return apply(tape, x, gelu_value, gelu_back, 0); }
struct tensor *op_relu2(struct tape *tape, struct tensor *x) { return apply(tape, x, relu2_value, relu2_back, 0); }
struct tensor *op_scale(struct tape *tape, struct tensor *x, float by) { return apply(tape, x, scale_value, scale_back, by); }
struct tensor *op_softcap(struct tape *tape, struct tensor *x, float cap) { return apply(tape, x, softcap_value, softcap_back, cap); }
