#include "numbers/op.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct rope rope_new(struct arena *arena, int positions, int head_dim, double theta)
{
    int half = head_dim / 2;
    float *cosines = arena_new(arena, sizeof(float) * (size_t)(positions * half + 1));
    float *sines = arena_new(arena, sizeof(float) * (size_t)(positions * half + 1));
    for (int t = 0; t < positions; t++)
        for (int i = 0; i < half; i++) {
            double angle = t * pow(theta, -2.0 * i / head_dim);
            cosines[t * half + i] = (float)cos(angle);
            sines[t * half + i] = (float)sin(angle);
        }
    return (struct rope){half, cosines, sines, false};
}

struct rope_node {
    struct node node;
    struct rope rope;
    const int *positions;
};

KERNEL static void turn_row(float *restrict x, const float *restrict cosines, const float *restrict sines, int heads, int half, float sign)
{
    for (int h = 0; h < heads; h++) {
        float *restrict a = x + 2 * h * half, *restrict b = a + half;
        for (int i = 0; i < half; i++) {
            float c = cosines[i], s = sign * sines[i], p = a[i], q = b[i];
            a[i] = p * c - q * s;
            b[i] = q * c + p * s;
        }
    }
}

KERNEL static void turn_pairs(float *restrict x, const float *restrict cosines, const float *restrict sines, int heads, int half, float sign)
{
    for (int h = 0; h < heads; h++) {
        float *restrict a = x + 2 * h * half;
        for (int i = 0; i < half; i++) {
            float c = cosines[i], s = sign * sines[i], p = a[2 * i], q = a[2 * i + 1];
            a[2 * i] = p * c - q * s;
            a[2 * i + 1] = q * c + p * s;
        }
    }
}

static void turn(float *x, int rows, int cols, const struct rope *rope, const int *positions, float sign)
{
    for (int i = 0; i < rows; i++)
        (rope->pairs ? turn_pairs : turn_row)(x + (size_t)i * (size_t)cols, rope->cos + positions[i] * rope->half,
                                              rope->sin + positions[i] * rope->half, cols / (2 * rope->half), rope->half, sign);
}

static void rope_back(struct tape *tape, struct node *node)
{
    struct rope_node *me = (struct rope_node *)node;
    (void)tape;
    turn(node->y->grad, node->y->rows, node->y->cols, &me->rope, me->positions, -1);
}

struct tensor *op_rope(struct tape *tape, struct tensor *x, const struct rope *rope, const int *positions)
{
    assert(x->cols % (2 * rope->half) == 0);
    turn(x->data, x->rows, x->cols, rope, positions, 1);
    struct rope_node *node = tape_node(tape, sizeof *node, rope_back, x);
    if (node) node->rope = *rope, node->positions = positions;
    return x;
}

struct attention_node {
    struct node node;
    struct tensor *q, *k, *v;
    struct reach reach;
    struct heads heads;
    float *p; /* [first[i] * H + h * n + j] */
};

/* One query head over n keys, whose rows stand at k[j], v[j]. */
KERNEL static void head_forward(const float *q, const float *const *k, const float *const *v, float *restrict p, float *restrict y, int n, int size,
                                int value, float scale)
{
    float top = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) {
        p[j] = dot(q, k[j], size) * scale;
        top = p[j] > top ? p[j] : top;
    }
    for (int j = 0; j < n; j++) p[j] = fast_exp(p[j] - top), sum += p[j];
    for (int e = 0; e < value; e++) y[e] = 0;
    for (int j = 0; j < n; j++) {
        float w = p[j] = p[j] / sum;
        const float *restrict from = v[j];
        for (int e = 0; e < value; e++) y[e] += w * from[e];
    }
}

/* gk[j], gv[j] may be NULL: a stored row without gradient. */
KERNEL static void head_backward(const float *q, const float *const *k, const float *const *v, const float *p, const float *gy, float *restrict gq,
                                 float *const *gk, float *const *gv, float *restrict gp, int n, int size, int value,
                                 float scale)
{
    float mean = 0;
    for (int j = 0; j < n; j++) gp[j] = dot(gy, v[j], value), mean += gp[j] * p[j];
    for (int j = 0; j < n; j++) {
        float w = p[j] * (gp[j] - mean) * scale;
        for (int e = 0; e < size; e++) gq[e] += w * k[j][e];
        if (!gk[j]) continue;
        float *restrict tok = gk[j], *restrict tov = gv[j];
        for (int e = 0; e < size; e++) tok[e] += w * q[e];
        for (int e = 0; e < value; e++) tov[e] += p[j] * gy[e];
    }
}

/* Where entry j of the reach list stands, at this key/value head. */
static const float *kv_row(const float *fresh, const float *old, int entry, int cols, int head, int size)
{
    return (entry >= 0 ? fresh + (size_t)entry * (size_t)cols : old + (size_t)~entry * (size_t)cols) + head * size;
}

static int value_size(struct heads heads) { return heads.value ? heads.value : heads.size; }

static int longest(const struct reach *reach, int rows)
{
    int most = 1;
    for (int i = 0; i < rows; i++)
        if (reach->first[i + 1] - reach->first[i] > most) most = reach->first[i + 1] - reach->first[i];
    return most;
}

static void attention_back(struct tape *tape, struct node *node)
{
    struct attention_node *me = (struct attention_node *)node;
    int size = me->heads.size, value = value_size(me->heads), kc = me->k->cols, vc = me->v->cols, group = me->heads.count / me->heads.kv_count;
    size_t most = (size_t)longest(&me->reach, me->q->rows);
    float *gq = tensor_grad(tape, me->q), *gk = tensor_grad(tape, me->k), *gv = tensor_grad(tape, me->v),
          *gp = arena_new(tape->arena, sizeof *gp * most);
    const float **k = arena_new(tape->arena, sizeof *k * most), **v = arena_new(tape->arena, sizeof *v * most);
    float **pk = arena_new(tape->arena, sizeof *pk * most), **pv = arena_new(tape->arena, sizeof *pv * most);
    for (int i = 0; i < me->q->rows; i++)
        for (int h = 0; h < me->heads.count; h++) {
            int first = me->reach.first[i], n = me->reach.first[i + 1] - first;
            size_t at = (size_t)i * (size_t)me->q->cols + (size_t)(h * size), out = (size_t)i * (size_t)node->y->cols + (size_t)(h * value);
            for (int j = 0; j < n; j++) {
                int entry = me->reach.kv[first + j];
                k[j] = kv_row(me->k->data, me->reach.old_k, entry, kc, h / group, size);
                v[j] = kv_row(me->v->data, me->reach.old_v, entry, vc, h / group, value);
                pk[j] = entry >= 0 ? gk + (size_t)entry * (size_t)kc + h / group * size : NULL;
                pv[j] = entry >= 0 ? gv + (size_t)entry * (size_t)vc + h / group * value : NULL;
            }
            head_backward(me->q->data + at, k, v, me->p + (size_t)first * (size_t)me->heads.count + (size_t)(h * n), node->y->grad + out, gq + at, pk,
                          pv, gp, n, size, value, 1.0f / sqrtf((float)size));
        }
}

struct tensor *op_attention(struct tape *tape, struct tensor *q, struct tensor *k, struct tensor *v, const struct reach *reach, struct heads heads,
                            struct tensor **pattern)
{
    int size = heads.size, value = value_size(heads), group = heads.count / heads.kv_count;
    assert(q->cols == heads.count * size && k->cols == heads.kv_count * size && v->cols == heads.kv_count * value);
    struct tensor *y = tape_like(tape, q, heads.count * value), *p = tape_tensor(tape, heads.count, reach->first[q->rows]);
    size_t most = (size_t)longest(reach, q->rows);
    p->places = q->places;
    struct arena_mark mark = arena_mark(tape->arena);
    const float **ks = arena_new(tape->arena, sizeof *ks * most), **vs = arena_new(tape->arena, sizeof *vs * most);
    for (int i = 0; i < q->rows; i++)
        for (int h = 0; h < heads.count; h++) {
            int first = reach->first[i], n = reach->first[i + 1] - first;
            size_t at = (size_t)i * (size_t)q->cols + (size_t)(h * size), out = (size_t)i * (size_t)y->cols + (size_t)(h * value);
            for (int j = 0; j < n; j++) {
                ks[j] = kv_row(k->data, reach->old_k, reach->kv[first + j], k->cols, h / group, size);
                vs[j] = kv_row(v->data, reach->old_v, reach->kv[first + j], v->cols, h / group, value);
            }
            head_forward(q->data + at, ks, vs, p->data + (size_t)first * (size_t)heads.count + (size_t)(h * n), y->data + out, n, size, value,
                         1.0f / sqrtf((float)size));
        }
    arena_release(tape->arena, mark);
    struct attention_node *node = tape_node(tape, sizeof *node, attention_back, y);
    if (node) node->q = q, node->k = k, node->v = v, node->reach = *reach, node->heads = heads, node->p = p->data;
    if (pattern) *pattern = p;
    return y;
}
