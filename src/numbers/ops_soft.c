#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct soft_node {
    struct node node;
    struct tensor *x, *y;
    const struct weight *head, *table;
    struct soft soft;
    float *p;    /* [N, V] mixing weights, 0 where cut */
    float *full; /* [N, V] full-softmax probabilities; the same as p unless top_k cuts without renormalising */
};

/* Zeroes all but the k largest of p[0..v) (ties: the lower index stays). heap: k indices of scratch, the smallest kept one on top. */
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

static void keep_top(const float *full, float *p, int v, int k, int *heap)
{
    for (int i = 0; i < k; i++) heap[i] = i;
    for (int i = k / 2; i-- > 0;) sink_top(full, heap, k, i);
    for (int i = k; i < v; i++)
        if (below(full, heap[0], i)) heap[0] = i, sink_top(full, heap, k, 0);
    float *kept = (float *)(void *)(heap + k);
    for (int i = 0; i < k; i++) kept[i] = full[heap[i]];
    memset(p, 0, sizeof(float) * (size_t)v);
    for (int i = 0; i < k; i++) p[heap[i]] = kept[i];
}

/* Turns a row of logits into mixing weights p and full probabilities (full may be p when nothing is cut). */
static void mixing_row(float *p, float *full, int v, struct soft soft, int *heap)
{
    row_softmax(p, full, v, 1.0f / soft.tau);
    if (!soft.top_k || soft.top_k >= v) {
        if (full != p) memcpy(p, full, sizeof(float) * (size_t)v);
        return;
    }
    keep_top(full, p, v, soft.top_k, heap);
    if (!soft.renormalize) return;
    float sum = 0;
    for (int i = 0; i < v; i++) sum += p[i];
    for (int i = 0; i < v; i++) p[i] /= sum;
}

/* gl = d loss / d logits of one row from gp = d loss / d p: p_v = full_v on the kept tokens (or all), or renormalised over them. */
KERNEL static void soft_row_back(const float *p, const float *full, float *g, int v, float inverse_tau, bool renormalized)
{
    float mean = dot(p, g, v);
    if (renormalized || full == p) for (int i = 0; i < v; i++) g[i] = p[i] * (g[i] - mean) * inverse_tau;
    else for (int i = 0; i < v; i++) g[i] = (p[i] * g[i] - full[i] * mean) * inverse_tau;
}

static void soft_back(struct tape *tape, struct node *node)
{
    struct soft_node *me = (struct soft_node *)node;
    if (!me->y->grad) return;
    int n = me->x->rows, v = me->head->rows, d = me->y->cols, w = me->x->cols;
    float beta, *gx, *g = arena_new(tape->arena, sizeof(float) * (size_t)n * (size_t)v);
    blas_nt(n, v, d, me->y->grad, weight_f32(tape, me->table), 0, g);
    blas_tn(v, d, n, me->p, me->y->grad, 1, tape->grads + me->table->offset);
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
    bool cuts = soft.top_k && soft.top_k < v;
    struct tensor *y = tape_tensor(tape, n, d);
    y->places = x->places;
    struct arena_mark mark = arena_mark(tape->arena);
    const float *h = weight_f32(tape, head), *e = table == head ? h : weight_f32(tape, table);
    int tile = tape->records ? n : n < TILE ? n : TILE;
    float *p = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v), *full = p;
    if (cuts) full = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v);
    int *heap = arena_new(tape->arena, (sizeof(int) + sizeof(float)) * (size_t)(soft.top_k + 1));
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
    struct soft_node *node = tape_node(tape, sizeof *node, soft_back);
    if (node) *node = (struct soft_node){node->node, x, y, head, table, soft, p, full};
    return y;
}

struct entropy_node {
    struct node node;
    struct tensor *logits;
    const int *targets;
    const float *weights;
};

/* (softmax(logits) - onehot(target)) * weight, added */
KERNEL static void entropy_row_back(const float *logits, float *p, float *g, int v, int target, float weight)
{
    row_softmax(logits, p, v, 1);
    p[target] -= 1;
    for (int i = 0; i < v; i++) g[i] += weight * p[i];
}

static void entropy_back(struct tape *tape, struct node *node)
{
    struct entropy_node *me = (struct entropy_node *)node;
    int v = me->logits->cols;
    float *g = tensor_grad(tape, me->logits), *p = arena_new(tape->arena, sizeof(float) * (size_t)v);
    for (int i = 0; i < me->logits->rows; i++) {
        size_t at = (size_t)i * (size_t)v;
        if (me->weights[i] != 0) entropy_row_back(me->logits->data + at, p, g + at, v, me->targets[i], me->weights[i]);
    }
}

KERNEL static double sum_exp(const float *row, int n, float top)
{
    double total = 0;
    for (int from = 0; from < n; from += 256) { /* short float sums, long double ones */
        float s[16] = {0};
        int end = from + 256 < n ? from + 256 : n, i = from;
        for (; i + 16 <= end; i += 16)
            for (int j = 0; j < 16; j++) s[j] += fast_exp(row[i + j] - top);
        for (; i < end; i++) s[0] += fast_exp(row[i] - top);
        total += sum16(s);
    }
    return total;
}

void op_cross_entropy(struct tape *tape, struct tensor *logits, const int *targets, const float *weights, double *loss, unsigned char *hits)
{
    int v = logits->cols;
    for (int i = 0; i < logits->rows; i++) {
        const float *row = logits->data + (size_t)i * (size_t)v;
        int best = row_argmax(row, v);
        if (hits) hits[i] = best == targets[i];
        if (weights[i] == 0) continue;
        if (best < 0) *loss = NAN;
        else *loss += (double)weights[i] * (log(sum_exp(row, v, row[best])) + (double)row[best] - (double)row[targets[i]]);
    }
    struct entropy_node *node = tape_node(tape, sizeof *node, entropy_back);
    if (node) node->logits = logits, node->targets = targets, node->weights = weights;
}
