/* How values are spread, in block characters along an axis of a plot.
 *
 *     histogram_row(cells, row, col, 40, values, n, 0, 1, TINT_SERIES_1);         (one row: ▁▂▅█▂; low is left)
 *     histogram_column(cells, (struct area){row, col, 12, 4}, values, n, 0, 1, TINT_SERIES_1);     (bars to the right; low is below)
 *
 * The fullest bin fills its place; one that holds anything shows something. Values that are not finite, or outside, are left out.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "layout.h"

void histogram_row(struct cells *cells, int row, int col, int width, const double *values, size_t n, double low, double high, enum tint tint);
void histogram_column(struct cells *cells, struct area area, const double *values, size_t n, double low, double high, enum tint tint);

#endif
