#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"
#include "numbers/pool.h"

#include <assert.h>
#include <string.h>

struct linear_node {
    struct node node;
    struct tensor *x, *y, *add;
    const struct weight *w;
};

static void linear_back(struct tape *tape, struct node *node)
{
    struct linear_node *me = (struct linear_node *)node;
    struct tensor *x = me->x, *y = me->y;
    if (!y->grad) return;
    float beta, *gx = tensor_grad_beta(tape, x, &beta);
    blas_nn(y->rows, x->cols, y->cols, y->grad, weight_f32(tape, me->w), beta, gx);
    blas_tn(y->cols, x->cols, y->rows, y->grad, x->data, 1, tape->grads + me->w->offset);
    if (!me->add) return;
    if (!me->add->grad) { /* nobody reads y's gradient after this: hand the memory on */
        me->add->grad = y->grad;
        return;
    }
    size_t n = (size_t)y->rows * (size_t)y->cols;
    for (size_t i = 0; i < n; i++) me->add->grad[i] += y->grad[i];
}

/* A large matrix goes through in panels of rows, each widened where it is used: memory stays at the size of the file, a panel fits into the cache,
 * and threads may share the panels. Where it is cut depends on its size alone, so the numbers do not depend on the threads. */
enum { LARGE = 1 << 20, PANEL = 1 << 18 };

struct panels {
    const struct tensor *x;
    const struct weight *w;
    struct tensor *y;
    float beta;
    int rows;       /* of a panel */
    float *scratch; /* a widened panel for each thread; NULL: the weight is read in place */
};

static void multiply_panel(void *job, int i, int thread)
{
    struct panels *me = job;
    const struct weight *w = me->w;
    int first = i * me->rows, n = w->rows - first < me->rows ? w->rows - first : me->rows;
    size_t at = (size_t)first * (size_t)w->cols;
    float *mine = me->scratch ? me->scratch + (size_t)thread * (size_t)me->rows * (size_t)w->cols : NULL;
    const float *panel = mine ? mine : (const float *)w->data + at;
    if (mine)
        dtype_widen(w->dtype, (const char *)w->data + at * dtype_size(w->dtype), mine, (size_t)n * (size_t)w->cols);
    blas_nt_into(me->x->rows, n, w->cols, me->x->data, panel, me->beta, me->y->data + first, w->rows);
}

static void multiply(struct tape *tape, const struct tensor *x, const struct weight *w, float beta, struct tensor *y)
{
    struct arena_mark mark = arena_mark(tape->arena);
    if (tape_stopped(tape)) {
        if (beta == 0) memset(y->data, 0, sizeof(float) * (size_t)y->rows * (size_t)y->cols);
        return;
    }
    if ((size_t)w->rows * (size_t)w->cols < LARGE) {
        blas_nt(x->rows, w->rows, x->cols, x->data, weight_f32(tape, w), beta, y->data);
    } else {
        struct panels job = {x, w, y, beta, PANEL / w->cols > 0 ? PANEL / w->cols : 1, NULL};
        int threads = tape->pool ? pool_threads(tape->pool) : 1, tasks = (w->rows + job.rows - 1) / job.rows;
        bool in_place = w->dtype == F32 && w->aligned;
        if (!in_place) job.scratch = arena_new(tape->arena, sizeof(float) * (size_t)threads * (size_t)job.rows * (size_t)w->cols);
        if (tape->pool) pool_run(tape->pool, tasks, multiply_panel, &job);
        else for (int i = 0; i < tasks; i++) multiply_panel(&job, i, 0);
    }
    arena_release(tape->arena, mark);
}

struct tensor *op_linear(struct tape *tape, struct tensor *x, const struct weight *w, struct tensor *add)
{
    assert(x->cols == w->cols && (!add || (add->rows == x->rows && add->cols == w->rows)));
    struct tensor *y = tape_tensor(tape, x->rows, w->rows);
    y->places = x->places;
    if (add) memcpy(y->data, add->data, sizeof(float) * (size_t)y->rows * (size_t)y->cols);
    multiply(tape, x, w, add ? 1 : 0, y);
    struct linear_node *node = tape_node(tape, sizeof *node, linear_back);
    if (node) node->x = x, node->y = y, node->add = add, node->w = w;
    return y;
}

struct gate_node {
    struct node node;
    struct tensor *x, *y;
    const struct weight *w, *bias;
};

static void gate_back(struct tape *tape, struct node *node)
{
    struct gate_node *me = (struct gate_node *)node;
    if (!me->y->grad) return;
    int d = me->x->cols;
    const float *w = weight_f32(tape, me->w);
    float *gx = tensor_grad(tape, me->x), *gw = tape->grads + me->w->offset, *gb = tape->grads + me->bias->offset;
    for (int i = 0; i < me->x->rows; i++) {
        float a = me->y->data[i], g = me->y->grad[i] * a * (1 - a);
        const float *x = me->x->data + (size_t)i * (size_t)d;
        float *to = gx + (size_t)i * (size_t)d;
        for (int j = 0; j < d; j++) to[j] += g * w[j];
        for (int j = 0; j < d; j++) gw[j] += g * x[j];
        *gb += g;
    }
}

struct tensor *op_gate(struct tape *tape, struct tensor *x, const struct weight *w, const struct weight *bias)
{
    assert(w->rows == 1 && w->cols == x->cols && bias->cols == 1);
    struct tensor *y = tape_tensor(tape, x->rows, 1);
    const float *weights = weight_f32(tape, w), shift = *weight_f32(tape, bias);
    for (int i = 0; i < x->rows; i++) y->data[i] = fast_sigmoid(row_dot(weights, x->data + (size_t)i * (size_t)x->cols, x->cols) + shift);
    struct gate_node *node = tape_node(tape, sizeof *node, gate_back);
    if (node) node->x = x, node->y = y, node->w = w, node->bias = bias;
    return y;
}
