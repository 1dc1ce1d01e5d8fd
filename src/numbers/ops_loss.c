#include "numbers/op.h"

#include "numbers/kernel.h"

#include <math.h>

struct entropy_node {
    struct node node;
    struct tensor *logits;
    const int *targets;
    const float *weights;
};

/* (softmax(logits) - onehot(target)) * weight, added */
static void entropy_row_back(const float *logits, float *p, float *g, int v, int target, float weight)
{
    row_softmax(logits, p, v, 1);
    p[target] -= 1;
    row_add_times(g, weight, p, (size_t)v);
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

void op_cross_entropy(struct tape *tape, struct tensor *logits, const int *targets, const float *weights, double *loss)
{
    int v = logits->cols;
    for (int i = 0; i < logits->rows; i++) {
        const float *row = logits->data + (size_t)i * (size_t)v;
        if (weights[i] == 0) continue;
        int best = row_argmax(row, v);
        if (best < 0) *loss = NAN;
        else *loss += (double)weights[i] * (log(sum_exp(row, v, row[best])) + (double)row[best] - (double)row[targets[i]]);
    }
    struct entropy_node *node = tape_node(tape, sizeof *node, entropy_back, NULL);
    if (node) node->logits = logits, node->targets = targets, node->weights = weights;
}
