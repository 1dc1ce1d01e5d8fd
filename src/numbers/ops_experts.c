#include "numbers/kernel.h"
#include "numbers/op.h"

#include <assert.h>
#include <string.h>

struct route_node {
    struct node node;
    struct tensor *logits;
    const int *chosen;
};

/* The gates are the softmax over the chosen logits: g_j (dg_j - sum g dg) goes back to each of them. */
static void route_back(struct tape *tape, struct node *node)
{
    struct route_node *me = (struct route_node *)node;
    const struct tensor *gates = node->y;
    int k = gates->cols, e = me->logits->cols;
    float *gl = tensor_grad(tape, me->logits);
    for (int i = 0; i < gates->rows; i++) {
        const float *g = gates->data + (size_t)i * (size_t)k, *d = gates->grad + (size_t)i * (size_t)k;
        float mean = 0;
        for (int j = 0; j < k; j++) mean += g[j] * d[j];
        for (int j = 0; j < k; j++) gl[(size_t)i * (size_t)e + (size_t)me->chosen[i * k + j]] += g[j] * (d[j] - mean);
    }
}

/* The k experts with the largest score + bias, in rising order of their numbers; ties: the lower number. */
static void choose(const float *scores, const float *bias, int experts, int k, bool *taken, int *chosen)
{
    memset(taken, 0, sizeof *taken * (size_t)experts);
    for (int j = 0; j < k; j++) {
        int best = -1;
        for (int e = 0; e < experts; e++)
            if (!taken[e] && (best < 0 || scores[e] + bias[e] > scores[best] + bias[best])) best = e;
        taken[best] = true;
    }
    for (int e = 0, j = 0; e < experts; e++)
        if (taken[e]) chosen[j++] = e;
}

struct tensor *op_route(struct tape *tape, struct tensor *logits, const struct weight *bias, int k, const int **chosen)
{
    int experts = logits->cols;
    assert(bias->cols == experts && k >= 1 && k <= experts);
    struct tensor *gates = tape_like(tape, logits, k);
    int *picks = arena_new(tape->arena, sizeof *picks * (size_t)(logits->rows * k + 1));
    bool *taken = arena_new(tape->arena, sizeof *taken * (size_t)experts);
    const float *shift = weight_f32(tape, bias);
    for (int i = 0; i < logits->rows; i++) {
        const float *row = logits->data + (size_t)i * (size_t)experts;
        float *to = gates->data + (size_t)i * (size_t)k;
        choose(row, shift, experts, k, taken, picks + i * k);
        for (int j = 0; j < k; j++) to[j] = row[picks[i * k + j]];
        row_softmax(to, to, k, 1);
    }
    struct route_node *node = tape_node(tape, sizeof *node, route_back, gates);
    if (node) node->logits = logits, node->chosen = picks;
    *chosen = picks;
    return gates;
}

struct combine_node {
    struct node node;
    struct tensor *x, *gates;
    const struct part *parts;
    int count;
};

static void combine_back(struct tape *tape, struct node *node)
{
    struct combine_node *me = (struct combine_node *)node;
    struct tensor *out = node->y;
    int d = out->cols;
    float *gg = tensor_grad(tape, me->gates);
    for (int p = 0; p < me->count; p++) {
        const struct part *part = &me->parts[p];
        float *gy = tensor_grad(tape, part->y);
        for (int i = 0; i < part->y->rows; i++) {
            const float *g = out->grad + (size_t)part->rows[i] * (size_t)d, *y = part->y->data + (size_t)i * (size_t)d;
            row_add_times(gy + (size_t)i * (size_t)d, me->gates->data[part->gates[i]], g, (size_t)d);
            gg[part->gates[i]] += row_dot(g, y, d);
        }
    }
    tensor_pass_grad(me->x, out);
}

struct tensor *op_combine(struct tape *tape, struct tensor *x, struct tensor *gates, const struct part *parts, int count)
{
    size_t d = (size_t)x->cols;
    struct tensor *out = tape_copy(tape, x);
    for (int p = 0; p < count; p++) {
        assert(parts[p].y->cols == x->cols);
        for (int i = 0; i < parts[p].y->rows; i++)
            row_add_times(out->data + (size_t)parts[p].rows[i] * d, gates->data[parts[p].gates[i]], parts[p].y->data + (size_t)i * d, d);
    }
    struct combine_node *node = tape_node(tape, sizeof *node, combine_back, out);
    if (node) node->x = x, node->gates = gates, node->parts = parts, node->count = count;
    return out;
}
