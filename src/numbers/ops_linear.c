#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"
#include "numbers/pool.h"

#include <assert.h>
#include <string.h>

struct linear_node {
    struct node node;
    struct tensor *x, *add;
    const struct weight *w;
};

static void linear_back(struct tape *tape, struct node *node)
{
    struct linear_node *me = (struct linear_node *)node;
    struct tensor *x = me->x, *y = node->y;
    float beta, *gx = tensor_grad_beta(tape, x, &beta);
    blas_nn(y->rows, x->cols, y->cols, y->grad, weight_f32(tape, me->w), beta, gx);
    blas_tn(y->cols, x->cols, y->rows, y->grad, x->data, 1, tape->grads + me->w->offset);
    if (me->add) tensor_pass_grad(me->add, y);
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
    float *mine = me->scratch ? me->scratch + (size_t)thread * (size_t)me->rows * (size_t)w->cols : NULL;
    blas_nt_into(me->x->rows, n, w->cols, me->x->data, weight_panel(w, first, n, mine), me->beta, me->y->data + first, w->rows);
}

static void multiply(struct tape *tape, const struct tensor *x, const struct weight *w, float beta, struct tensor *y)
{
    struct arena_mark mark = arena_mark(tape->arena);
    if (tape_stopped(tape)) {
        if (beta == 0) memset(y->data, 0, sizeof(float) * tensor_size(y));
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
    struct tensor *y = tape_like(tape, x, w->rows);
    if (add) memcpy(y->data, add->data, sizeof(float) * tensor_size(y));
    multiply(tape, x, w, add ? 1 : 0, y);
    struct linear_node *node = tape_node(tape, sizeof *node, linear_back, y);
    if (node) node->x = x, node->add = add, node->w = w;
    return y;
}

struct bias_node {
    struct node node;
    struct tensor *x;
    const struct weight *bias;
};

static void bias_back(struct tape *tape, struct node *node)
{
    struct bias_node *me = (struct bias_node *)node;
    struct tensor *y = node->y;
    size_t d = (size_t)y->cols;
    for (int i = 0; i < y->rows; i++) row_add(tape->grads + me->bias->offset, y->grad + (size_t)i * d, d);
    tensor_pass_grad(me->x, y);
}

struct tensor *op_bias(struct tape *tape, struct tensor *x, const struct weight *bias)
{
    assert(bias->cols == x->cols);
    struct tensor *y = tape_copy(tape, x);
    const float *b = weight_f32(tape, bias);
    size_t d = (size_t)x->cols;
    for (int i = 0; i < x->rows; i++) row_add(y->data + (size_t)i * d, b, d);
    struct bias_node *node = tape_node(tape, sizeof *node, bias_back, y);
    if (node) node->x = x, node->bias = bias;
    return y;
}

struct gate_node {
    struct node node;
    struct tensor *x;
    const struct weight *w, *bias;
};

static void gate_back(struct tape *tape, struct node *node)
{
    struct gate_node *me = (struct gate_node *)node;
    size_t d = (size_t)me->x->cols;
    const float *w = weight_f32(tape, me->w);
    float *gx = tensor_grad(tape, me->x), *gw = tape->grads + me->w->offset, *gb = tape->grads + me->bias->offset;
    for (int i = 0; i < me->x->rows; i++) {
        float a = node->y->data[i], g = node->y->grad[i] * a * (1 - a);
        row_add_times(gx + (size_t)i * d, g, w, d);
        row_add_times(gw, g, me->x->data + (size_t)i * d, d);
        *gb += g;
    }
}

struct tensor *op_gate(struct tape *tape, struct tensor *x, const struct weight *w, const struct weight *bias)
{
    assert(w->rows == 1 && w->cols == x->cols && bias->cols == 1);
    struct tensor *y = tape_like(tape, x, 1);
    const float *weights = weight_f32(tape, w), shift = *weight_f32(tape, bias);
    for (int i = 0; i < x->rows; i++) y->data[i] = fast_sigmoid(row_dot(weights, x->data + (size_t)i * (size_t)x->cols, x->cols) + shift);
    struct gate_node *node = tape_node(tape, sizeof *node, gate_back, y);
    if (node) node->x = x, node->w = w, node->bias = bias;
    return y;
}

struct lora_node {
    struct node node;
    struct tensor *x;
    struct lora lora;
    int row;
    float *down;   /* [N, r] x down^T */
    float *scaled; /* [N, r] the same times scale */
};

KERNEL static void scale_rows(const float *x, const float *scale, float *y, int rows, int r)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < r; j++) y[i * r + j] = x[i * r + j] * scale[j];
}

/* y = x + ((x down^T) s) up */
static void lora_back(struct tape *tape, struct node *node)
{
    struct lora_node *me = (struct lora_node *)node;
    int n = me->x->rows, d = me->x->cols, r = me->lora.down->rows;
    size_t row = (size_t)me->row * (size_t)r;
    const float *scale = weight_f32(tape, me->lora.scale) + row, *gy = node->y->grad;
    float *gx = tensor_grad(tape, me->x), *gs = tape->grads + me->lora.scale->offset + row;
    float *g = arena_new(tape->arena, sizeof(float) * (size_t)n * (size_t)r);
    row_add(gx, gy, tensor_size(me->x));
    blas_tn(r, d, n, me->scaled, gy, 1, tape->grads + me->lora.up->offset);
    blas_nt(n, r, d, gy, weight_f32(tape, me->lora.up), 0, g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < r; j++) gs[j] += g[i * r + j] * me->down[i * r + j];
    scale_rows(g, scale, g, n, r);
    blas_tn(r, d, n, g, me->x->data, 1, tape->grads + me->lora.down->offset);
    blas_nn(n, d, r, g, weight_f32(tape, me->lora.down), 1, gx);
}

struct tensor *op_lora(struct tape *tape, struct tensor *x, const struct lora *lora, int row)
{
    int n = x->rows, d = x->cols, r = lora->down->rows;
    assert(lora->down->cols == d && lora->up->rows == r && lora->up->cols == d && lora->scale->cols == r && row >= 0 && row < lora->scale->rows);
    struct tensor *y = tape_copy(tape, x);
    struct arena_mark mark = arena_mark(tape->arena);
    size_t size = sizeof(float) * (size_t)n * (size_t)r;
    float *down = arena_new(tape->arena, size), *scaled = arena_new(tape->arena, size);
    blas_nt(n, r, d, x->data, weight_f32(tape, lora->down), 0, down);
    scale_rows(down, weight_f32(tape, lora->scale) + (size_t)row * (size_t)r, scaled, n, r);
    blas_nn(n, d, r, scaled, weight_f32(tape, lora->up), 1, y->data);
    if (!tape->records) arena_release(tape->arena, mark);
    struct lora_node *node = tape_node(tape, sizeof *node, lora_back, y);
    if (node) node->x = x, node->lora = *lora, node->row = row, node->down = down, node->scaled = scaled;
    return y;
}
