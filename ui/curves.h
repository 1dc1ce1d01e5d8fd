/* Curves over a common axis, in dots: what grows while it is watched.
 *
 *     struct curve curves[] = {{.name = "OOD", .x = epochs, .y = accuracy, .n = n, .tint = TINT_SERIES_2, .dashed = true}};
 *     curves_draw(cells, area, &(struct curves){.name = "accuracy", .x_name = "epoch", .low = 0, .high = 1, .curves = curves, .count = 1});
 *
 * The name stands above, the legend beside it; where low and high are both 0 the axis is that of the values. With log, values are drawn by their
 * logarithm. NaN is a gap.
 */
#ifndef CURVES_H
#define CURVES_H

#include "layout.h"

struct curve {
    const char *name;
    const double *x, *y;
    size_t n;
    enum tint tint;
    bool dashed;
};

struct curves {
    const char *name, *x_name;
    double low, high;
    bool log;
    const struct curve *curves;
    int count;
};

void curves_draw(struct cells *cells, struct area area, const struct curves *curves);

#endif
