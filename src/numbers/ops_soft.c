#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

struct soft_node {
    struct node node;
    struct tensor *x;
    const struct weight *head, *table;
    struct soft soft;
    float *p;    /* [N, V] mixing weights, 0 where cut */
    float *full; /* [N, V] full-softmax probabilities; the same as p unless top_k cuts */
};

static bool below(const float *p, int a, int b) { return p[a] < p[b] || (p[a] == p[b] && a > b); }

static void sink_top(const float *p, int *heap, int k, int at)
{
    for (;;) {
        int least = at, left = 2 * at + 1, right = left + 1;
        if (left < k && below(p, heap[left], heap[least])) least = left;
        if (right < k && below(p, heap[right], heap[least])) least = right;
        if (least == at) return;
        int swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* p = the k largest of full[0..v) (ties: the lower index stays), 0 elsewhere. heap: k indices of scratch, the smallest kept one on top. */
static void keep_top(const float *full, float *p, int v, int k, int *heap)
{
    for (int i = 0; i < k; i++) heap[i] = i;
    for (int i = k / 2; i-- > 0;) sink_top(full, heap, k, i);
    for (int i = k; i < v; i++)
        if (below(full, heap[0], i)) heap[0] = i, sink_top(full, heap, k, 0);
    memset(p, 0, sizeof(float) * (size_t)v);
    for (int i = 0; i < k; i++) p[heap[i]] = full[heap[i]];
}

/* Turns a row of logits p into mixing weights p and full probabilities; full is p when nothing is cut. */
static void mixing_row(float *p, float *full, int v, struct soft soft, int *heap)
{
    row_softmax(p, full, v, 1.0f / soft.tau);
    if (full == p) return;
    keep_top(full, p, v, soft.top_k, heap);
    if (!soft.renormalize) return;
    float sum = 0;
    for (int i = 0; i < v; i++) sum += p[i];
    for (int i = 0; i < v; i++) p[i] /= sum;
}

/* In one row g comes as d loss / d p and leaves as d loss / d logits: p_v = full_v on the kept tokens (or all), or renormalised over them. */
KERNEL static void soft_row_back(const float *p, const float *full, float *g, int v, float inverse_tau, bool renormalized)
{
    float mean = dot(p, g, v);
    if (renormalized || full == p) for (int i = 0; i < v; i++) g[i] = p[i] * (g[i] - mean) * inverse_tau;
    else for (int i = 0; i < v; i++) g[i] = (p[i] * g[i] - full[i] * mean) * inverse_tau;
}

static void soft_back(struct tape *tape, struct node *node)
{
    struct soft_node *me = (struct soft_node *)node;
    const struct tensor *y = node->y;
    int n = me->x->rows, v = me->head->rows, d = y->cols, w = me->x->cols;
    float beta, *gx, *g = arena_new(tape->arena, sizeof(float) * (size_t)n * (size_t)v);
    blas_nt(n, v, d, y->grad, weight_f32(tape, me->table), 0, g);
    blas_tn(v, d, n, me->p, y->grad, 1, tape->grads + me->table->offset);
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * (size_t)v;
        soft_row_back(me->p + at, me->full + at, g + at, v, 1.0f / me->soft.tau, me->soft.renormalize);
    }
    gx = tensor_grad_beta(tape, me->x, &beta);
    blas_nn(n, w, v, g, weight_f32(tape, me->head), beta, gx);
    blas_tn(v, w, n, g, me->x->data, 1, tape->grads + me->head->offset);
}

/* Without a gradient no [N, V] matrix is kept: rows go through in tiles. */
enum { TILE = 128 };

struct tensor *op_soft_embed(struct tape *tape, struct tensor *x, const struct weight *head, const struct weight *table, struct soft soft)
{
    int n = x->rows, v = head->rows, d = table->cols;
    assert(head->cols == x->cols && table->rows == v);
    struct tensor *y = tape_like(tape, x, d);
    struct arena_mark mark = arena_mark(tape->arena);
    const float *h = weight_f32(tape, head), *e = table == head ? h : weight_f32(tape, table);
    int tile = tape->records ? n : n < TILE ? n : TILE;
    float *p = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v), *full = p;
    if (soft.top_k && soft.top_k < v) full = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v);
    int *heap = arena_new(tape->arena, sizeof *heap * (size_t)(soft.top_k + 1));
    for (int from = 0; from < n; from += tile) {
        int rows = n - from < tile ? n - from : tile;
        if (tape_stopped(tape)) {
            memset(y->data + (size_t)from * (size_t)d, 0, sizeof(float) * (size_t)rows * (size_t)d);
            continue;
        }
        blas_nt(rows, v, x->cols, x->data + (size_t)from * (size_t)x->cols, h, 0, p);
        for (int i = 0; i < rows; i++) mixing_row(p + (size_t)i * (size_t)v, full + (size_t)i * (size_t)v, v, soft, heap);
        blas_nn(rows, d, v, p, e, 0, y->data + (size_t)from * (size_t)d);
    }
    if (!tape->records) arena_release(tape->arena, mark);
    struct soft_node *node = tape_node(tape, sizeof *node, soft_back, y);
    if (node) *node = (struct soft_node){node->node, x, head, table, soft, p, full};
    return y;
}
