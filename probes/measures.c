#include "measures.h"

#include "numbers/kernel.h"

#include <math.h>

double logits_p(const float *logits, int n, int token)
{
    double p = exp((double)logits[token] - row_log_sum_exp(logits, n));
    return isfinite(p) ? p : NAN;
}

int logits_rank(const float *logits, int n, int token)
{
    int rank = 1;
    for (int i = 0; i < n; i++) rank += logits[i] > logits[token] || (logits[i] == logits[token] && i < token);
    return rank;
}

double logits_entropy(const float *logits, int n)
{
    double z = row_log_sum_exp(logits, n), entropy = 0;
    for (int i = 0; i < n; i++) {
        double log_p = (double)logits[i] - z;
        if (log_p > -700) entropy -= exp(log_p) * log_p;
    }
    return entropy;
}

double vector_norm(const float *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

double vector_cosine(const float *x, const float *y, int n)
{
    double xy = 0, norms = vector_norm(x, n) * vector_norm(y, n);
    if (!(norms > 0)) return NAN;
    for (int i = 0; i < n; i++) xy += (double)x[i] * (double)y[i];
    return fmax(-1, fmin(1, xy / norms));
}

double vector_distance(const float *x, const float *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    return sqrt(sum);
}

double token_cosine(struct run *run, const float *state, int token)
{
    const struct weight *table = run->model->table;
    size_t d = (size_t)table->cols;
    if (table->cols != run->model->width) return NAN; /* states and embeddings live in different spaces */
    struct arena_mark mark = arena_mark(run->tape->arena);
    float *row = arena_new(run->tape->arena, sizeof(float) * d);
    dtype_widen(table->dtype, (const char *)table->data + (size_t)token * d * dtype_size(table->dtype), row, d);
    double cosine = vector_cosine(state, row, (int)d);
    arena_release(run->tape->arena, mark);
    return cosine;
}
