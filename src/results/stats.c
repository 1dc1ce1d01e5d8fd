#include "results/stats.h"

#include <math.h>
#include <stdlib.h>

struct interval wilson(double correct, double n)
{
    const double z = 1.959963984540054; /* the normal quantile of 0.975 */
    if (!(n > 0)) return (struct interval){0, 1};
    double p = correct / n, spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double centre = p + z * z / (2 * n), scale = 1 + z * z / n;
    struct interval band = {(centre - spread) / scale, (centre + spread) / scale};
    if (band.low < 0 || correct <= 0) band.low = 0; /* exact at the ends, where rounding would leave 1e-17 */
    if (band.high > 1 || correct >= n) band.high = 1;
    return band;
}

void mean_add(struct mean *mean, double value)
{
    if (isnan(value)) {
        mean->skipped++;
        return;
    }
    mean->n++;
    mean->mean += (value - mean->mean) / mean->n;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t n)
{
    if (!n) return NAN;
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i])) return NAN; /* has no place in an order */
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}
