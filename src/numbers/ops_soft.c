#include "numbers/op.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct soft_node {
    struct node node;
    struct tensor *x;
    const struct weight *head, *table;
    struct soft soft;
    float *p;    /* [N, V] mixing weights, 0 where cut */
    float *full; /* [N, V] full-softmax probabilities; the same as p unless top_k cuts */
};

/* The k largest of what is offered (ties: the lower token stays), as a heap with the smallest of them on top. */
struct kept { float value; int token; };

static bool below(struct kept a, struct kept b) { return a.value < b.value || (a.value == b.value && a.token > b.token); }

static void sink_top(struct kept *heap, int k, int at)
{
    for (;;) {
        int least = at, left = 2 * at + 1, right = left + 1;
        if (left < k && below(heap[left], heap[least])) least = left;
        if (right < k && below(heap[right], heap[least])) least = right;
        if (least == at) return;
        struct kept swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* values[0..n) are those of the tokens from `first` on; the heap holds min(first, k) of the tokens before. */
static void offer(struct kept *heap, int k, const float *values, int n, int first)
{
    for (int i = 0; i < n; i++) {
        struct kept one = {values[i], first + i};
        if (one.token < k) {
            heap[one.token] = one;
            if (one.token == k - 1)
                for (int at = k / 2; at-- > 0;) sink_top(heap, k, at);
        } else if (below(heap[0], one)) {
            heap[0] = one;
            sink_top(heap, k, 0);
        }
    }
}

/* Turns a row of logits p into mixing weights p and full probabilities; full is p when nothing is cut. */
static void mixing_row(float *p, float *full, int v, struct soft soft, struct kept *heap)
{
    row_softmax(p, full, v, 1.0f / soft.tau);
    if (full == p) return;
    offer(heap, soft.top_k, full, v, 0);
    memset(p, 0, sizeof(float) * (size_t)v);
    for (int i = 0; i < soft.top_k; i++) p[heap[i].token] = heap[i].value;
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

/* Without a gradient a large vocabulary goes through in panels that fit the cache: of logits [N, V] there is never more than a tile, and a panel of
 * a table that is head, too, is read once. The softmax is carried along, its sum scaled anew where a larger logit turns up (Milakov and Gimelshein
 * 2018, arXiv 1805.02867); a cut one remembers its k tokens and reads their rows at the end. */
enum { TILE = 128, LARGE = 4096, PANEL = 1 << 18 };

struct stream {
    const struct weight *head, *table;
    struct soft soft;
    int panel;                        /* tokens of one */
    float *logits, *wide, *wide_table; /* [TILE, panel], [panel, D] twice; wide ones where weights are not read in place */
    float *top, *sum;                 /* [TILE] the largest logit so far, and the sum of exp(logit - top) */
    struct kept *heap;                /* [TILE, k] logits, when the softmax is cut */
};

/* l leaves as exp(l / tau - top): one row's logits of one panel; its mixture so far is y. */
KERNEL static void stream_row(float *l, int n, float inverse_tau, float *top, float *sum, float *restrict y, int d)
{
    float now = *top;
    for (int i = 0; i < n; i++) now = l[i] * inverse_tau > now ? l[i] * inverse_tau : now;
    float shrink = *top > -INFINITY ? fast_exp(*top - now) : 0;
    if (now != *top) for (int j = 0; j < d; j++) y[j] *= shrink;
    *sum = *sum * shrink + exp_sum(l, l, n, inverse_tau, now);
    *top = now;
}

static void stream_panel(struct stream *me, int first, int n, const float *x, float *y, int rows)
{
    int w = me->head->cols, d = me->table->cols, k = me->soft.top_k;
    const float *head = weight_panel(me->head, first, n, me->wide);
    const float *table = me->table == me->head || k ? head : weight_panel(me->table, first, n, me->wide_table);
    blas_nt(rows, n, w, x, head, 0, me->logits);
    for (int i = 0; i < rows; i++) {
        float *l = me->logits + (size_t)i * (size_t)n;
        if (k) offer(me->heap + (size_t)i * (size_t)k, k, l, n, first);
        stream_row(l, n, 1.0f / me->soft.tau, &me->top[i], &me->sum[i], y + (size_t)i * (size_t)d, k ? 0 : d);
    }
    if (!k) blas_nn(rows, d, n, me->logits, table, 1, y);
}

/* What is left once all panels have gone through: the rows of the k tokens, and the division by the sum. */
static void stream_end(struct stream *me, int i, float *y)
{
    int d = me->table->cols, k = me->soft.top_k;
    const struct kept *heap = me->heap + (size_t)i * (size_t)k;
    float sum = 0;
    for (int j = 0; j < k; j++) {
        float p = fast_exp(heap[j].value / me->soft.tau - me->top[i]);
        row_add_times(y, p, weight_panel(me->table, heap[j].token, 1, me->wide_table), (size_t)d);
        sum += p;
    }
    if (!k || !me->soft.renormalize || !isfinite(me->sum[i])) sum = me->sum[i];
    for (int j = 0; j < d; j++) y[j] /= sum;
}

static void stream(struct tape *tape, struct tensor *x, const struct weight *head, const struct weight *table, struct soft soft,
                   struct tensor *y)
{
    struct arena *arena = tape->arena;
    struct arena_mark mark = arena_mark(arena);
    struct stream me = {head, table, soft, .panel = PANEL / head->cols > 64 ? PANEL / head->cols : 64};
    size_t panel = (size_t)me.panel;
    if (me.soft.top_k >= head->rows) me.soft.top_k = 0;
    me.logits = arena_new(arena, sizeof(float) * TILE * panel);
    me.wide = arena_new(arena, sizeof(float) * panel * (size_t)head->cols);
    me.wide_table = arena_new(arena, sizeof(float) * panel * (size_t)table->cols);
    me.top = arena_new(arena, sizeof(float) * TILE), me.sum = arena_new(arena, sizeof(float) * TILE);
    me.heap = arena_new(arena, sizeof *me.heap * TILE * (size_t)(me.soft.top_k + 1));
    memset(y->data, 0, sizeof(float) * tensor_size(y));
    for (int from = 0; from < x->rows; from += TILE) {
        int rows = x->rows - from < TILE ? x->rows - from : TILE, v = head->rows;
        const float *row = x->data + (size_t)from * (size_t)x->cols;
        float *to = y->data + (size_t)from * (size_t)y->cols;
        for (int i = 0; i < TILE; i++) me.top[i] = -INFINITY, me.sum[i] = 0;
        for (int first = 0; first < v && !tape_stopped(tape); first += me.panel)
            stream_panel(&me, first, v - first < me.panel ? v - first : me.panel, row, to, rows);
        for (int i = 0; i < rows && !tape_stopped(tape); i++) stream_end(&me, i, to + (size_t)i * (size_t)y->cols);
    }
    arena_release(arena, mark);
}

/* All at once: what a gradient needs is kept, and a small vocabulary fits the cache as it is. */
static void whole(struct tape *tape, struct tensor *x, const struct weight *head, const struct weight *table, struct soft soft, struct tensor *y)
{
    int n = x->rows, v = head->rows, d = table->cols, tile = tape->records || n < TILE ? n : TILE;
    struct arena_mark mark = arena_mark(tape->arena);
    const float *h = weight_f32(tape, head), *e = table == head ? h : weight_f32(tape, table);
    float *p = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v), *full = p;
    if (soft.top_k && soft.top_k < v) full = arena_new(tape->arena, sizeof(float) * (size_t)tile * (size_t)v);
    struct kept *heap = arena_new(tape->arena, sizeof *heap * (size_t)(soft.top_k + 1));
    for (int from = 0; from < n; from += tile) {
        int rows = n - from < tile ? n - from : tile;
        blas_nt(rows, v, x->cols, x->data + (size_t)from * (size_t)x->cols, h, 0, p);
        for (int i = 0; i < rows; i++) mixing_row(p + (size_t)i * (size_t)v, full + (size_t)i * (size_t)v, v, soft, heap);
        blas_nn(rows, d, v, p, e, 0, y->data + (size_t)from * (size_t)d);
    }
    if (!tape->records) arena_release(tape->arena, mark);
    struct soft_node *node = tape_node(tape, sizeof *node, soft_back, y);
    if (node) *node = (struct soft_node){node->node, x, head, table, soft, p, full};
}

struct tensor *op_soft_embed(struct tape *tape, struct tensor *x, const struct weight *head, const struct weight *table, struct soft soft)
{
    struct tensor *y = tape_like(tape, x, table->cols);
    assert(head->cols == x->cols && table->rows == head->rows);
    if (tape->records || head->rows < LARGE) whole(tape, x, head, table, soft, y);
    else stream(tape, x, head, table, soft, y);
    return y;
}
