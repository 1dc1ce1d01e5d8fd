#include "pca.h"

#include "ground/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TURNS = 300 };

static const double close_enough = 1e-9;

static double *numbers(int n) { return mem_new(sizeof(double) * (size_t)(n + 1)); }

static double length(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Takes out of x what lies along the directions that are known. */
static void deflate(const struct pca *me, double *x, int known)
{
    for (int a = 0; a < known; a++) {
        double along = 0;
        for (int i = 0; i < me->width; i++) along += me->axis[a][i] * x[i];
        for (int i = 0; i < me->width; i++) x[i] -= along * me->axis[a][i];
    }
}

/* A row from the mean, without the known directions. */
static void centred(const struct pca *me, const float *row, int known, double *out)
{
    for (int i = 0; i < me->width; i++) out[i] = (double)row[i] - me->mean[i];
    deflate(me, out, known);
}

/* The direction farthest out, to begin with; false: nothing spreads any more. */
static bool begin(const struct pca *me, const float *rows, size_t count, int known, double *axis, double *row)
{
    double farthest = 0;
    for (size_t r = 0; r < count; r++) {
        centred(me, rows + r * (size_t)me->width, known, row);
        double size = length(row, me->width);
        if (!(size > farthest)) continue;
        farthest = size;
        memcpy(axis, row, sizeof *axis * (size_t)me->width);
    }
    if (farthest < 1e-12 * (1 + length(me->mean, me->width))) return false;
    for (int i = 0; i < me->width; i++) axis[i] /= farthest;
    return true;
}

/* One turn: axis <- sum of rows times their part along it; gives that sum's length, which tends to the variance times count. */
static double turn(const struct pca *me, const float *rows, size_t count, int known, double *axis, double *next, double *row)
{
    memset(next, 0, sizeof *next * (size_t)me->width);
    for (size_t r = 0; r < count; r++) {
        double along = 0;
        centred(me, rows + r * (size_t)me->width, 0, row);
        for (int i = 0; i < me->width; i++) along += row[i] * axis[i];
        for (int i = 0; i < me->width; i++) next[i] += along * row[i];
    }
    deflate(me, next, known);
    double size = length(next, me->width);
    for (int i = 0; i < me->width && size > 0; i++) next[i] /= size;
    return size;
}

static void fix_sign(double *axis, int width)
{
    int largest = 0;
    for (int i = 1; i < width; i++)
        if (fabs(axis[i]) > fabs(axis[largest])) largest = i;
    double sign = axis[largest] < 0 ? -1 : 1;
    for (int i = 0; i < width; i++) axis[i] *= sign;
}

static double spread(const struct pca *me, const float *rows, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count * (size_t)me->width; i++) {
        double off = (double)rows[i] - me->mean[i % (size_t)me->width];
        sum += off * off;
    }
    return sum;
}

static void fit(struct pca *me, const float *rows, size_t count)
{
    int width = me->width;
    for (size_t i = 0; i < count * (size_t)width; i++) me->mean[i % (size_t)width] += (double)rows[i] / (double)count;
    double *next = numbers(width), *row = numbers(width), all = spread(me, rows, count);
    for (int a = 0; a < PCA_AXES; a++) {
        double *axis = me->axis[a] = numbers(width), size = 0;
        bool spreads = begin(me, rows, count, a, axis, row);
        for (int i = 0; spreads && i < TURNS; i++) {
            double same = 0;
            size = turn(me, rows, count, a, axis, next, row);
            for (int j = 0; j < width; j++) same += axis[j] * next[j];
            memcpy(axis, next, sizeof *axis * (size_t)width);
            if (1 - fabs(same) < close_enough) break;
        }
        if (spreads) fix_sign(axis, width);
        me->share[a] = all > 0 ? size / all : NAN;
    }
    mem_free(next), mem_free(row);
}

static bool is_finite(const float *row, int width)
{
    for (int i = 0; i < width; i++)
        if (!isfinite(row[i])) return false;
    return true;
}

void pca_fit(struct pca *me, const float *rows, size_t count, int width)
{
    size_t size = (size_t)width, kept = 0;
    *me = (struct pca){.width = width, .mean = numbers(width)};
    for (size_t r = 0; r < count; r++) me->left_out += !is_finite(rows + r * size, width);
    float *finite = me->left_out ? mem_new(sizeof *finite * (count * size + 1)) : NULL;
    for (size_t r = 0; finite && r < count; r++)
        if (is_finite(rows + r * size, width)) memcpy(finite + kept++ * size, rows + r * size, sizeof *finite * size);
    fit(me, finite ? finite : rows, finite ? kept : count);
    mem_free(finite);
}

void pca_place(const struct pca *me, const float *row, double out[PCA_AXES])
{
    for (int a = 0; a < PCA_AXES; a++) {
        out[a] = is_finite(row, me->width) ? 0 : NAN;
        for (int i = 0; i < me->width; i++) out[a] += ((double)row[i] - me->mean[i]) * me->axis[a][i];
    }
}

void pca_release(struct pca *me)
{
    mem_free(me->mean);
    for (int a = 0; a < PCA_AXES; a++) mem_free(me->axis[a]);
    *me = (struct pca){0};
}
