/* Statistics that the tables state: intervals and running means. Accumulated in double. */
#ifndef RESULTS_STATS_H
#define RESULTS_STATS_H

#include <stddef.h>

struct interval { double low, high; };

/* Wilson score interval, 95 %, of `correct` out of n; n = 0 gives [0, 1]. Source: Wilson, JASA 22 (1927). */
struct interval wilson(double correct, double n);

/* The mean of what was added; NaN is counted apart and takes no part. */
struct mean {
    double n, mean, skipped;
};
void mean_add(struct mean *mean, double value);

double median(double *values, size_t n); /* sorts the values; NaN for n = 0 */

#endif
