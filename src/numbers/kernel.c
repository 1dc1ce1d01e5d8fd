#include "numbers/kernel.h"

#include <math.h>

static inline float most(const float *row, int n)
{
    float top[16];
    int i = 0;
    for (int j = 0; j < 16; j++) top[j] = -INFINITY;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++) top[j] = row[i + j] > top[j] ? row[i + j] : top[j];
    for (; i < n; i++) top[0] = row[i] > top[0] ? row[i] : top[0];
    for (int j = 1; j < 16; j++) top[0] = top[j] > top[0] ? top[j] : top[0];
    return top[0];
}

/* How many numbers are NaN or +inf. */
static inline int count_bad(const float *row, int n)
{
    int bad[16] = {0}, i = 0, sum = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++) bad[j] += !(row[i + j] < INFINITY);
    for (; i < n; i++) bad[0] += !(row[i] < INFINITY);
    for (int j = 0; j < 16; j++) sum += bad[j];
    return sum;
}

KERNEL static float finite_top(const float *row, int n) { return count_bad(row, n) ? NAN : most(row, n); }

/* NaN or +inf anywhere: no arg max. */
int row_argmax(const float *row, int n)
{
    float top = finite_top(row, n);
    if (!(top > -INFINITY)) return -1;
    for (int i = 0; i < n; i++)
        if (row[i] == top) return i;
    return -1;
}

KERNEL void row_softmax(const float *logits, float *p, int n, float scale)
{
    float inverse = 1.0f / exp_sum(logits, p, n, scale, most(logits, n) * scale);
    for (int i = 0; i < n; i++) p[i] *= inverse;
}

double row_log_sum_exp(const float *row, int n)
{
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) top = row[i] > top ? row[i] : top;
    for (int i = 0; i < n; i++) sum += exp(row[i] - top);
    return top + log(sum);
}

KERNEL float row_dot(const float *a, const float *b, int n) { return dot(a, b, n); }

KERNEL void row_add(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

KERNEL void row_add_times(float *restrict to, float by, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] += by * from[i];
}
