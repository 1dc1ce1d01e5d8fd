#include "histogram.h"

#include "ground/mem.h"

#include <math.h>

static int *count(const double *values, size_t n, double low, double high, int bins, int *most)
{
    int *counts = mem_new((size_t)bins * sizeof *counts);
    *most = 1;
    for (size_t i = 0; i < n; i++) {
        double at = (values[i] - low) / (high - low);
        if (!(at >= 0 && at <= 1)) continue;
        int bin = at >= 1 ? bins - 1 : (int)(at * bins);
        if (++counts[bin] > *most) *most = counts[bin];
    }
    return counts;
}

/* Eighths of `full` cells for a bin; a bin that is not empty has at least one. */
static int eighths(int number, int most, int full)
{
    int e = (int)lround(8.0 * full * number / most);
    return number && !e ? 1 : e;
}

void histogram_row(struct cells *cells, int row, int col, int width, const double *values, size_t n, double low, double high, enum tint tint)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char letters[] = " ..::=+##";
    int most;
    if (width < 1) return;
    int *counts = count(values, n, low, high, width, &most);
    for (int i = 0; i < width; i++) {
        int e = eighths(counts[i], most, 1);
        if (cells->ascii) cells_text(cells, row, col + i, tint, "%c", letters[e]);
        else cells_text(cells, row, col + i, tint, "%s", blocks[e]);
    }
    mem_free(counts);
}

void histogram_column(struct cells *cells, struct area area, const double *values, size_t n, double low, double high, enum tint tint)
{
    static const char *const blocks[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    int most;
    if (area.rows < 1 || area.cols < 1) return;
    int *counts = count(values, n, low, high, area.rows, &most);
    for (int r = 0; r < area.rows; r++)
        for (int c = 0; c < area.cols; c++) {
            int e = eighths(counts[area.rows - 1 - r], most, area.cols) - 8 * c;
            e = e < 0 ? 0 : e > 8 ? 8 : e;
            if (cells->ascii) cells_text(cells, area.row + r, area.col + c, tint, "%c", e >= 4 ? '#' : e ? '-' : ' ');
            else cells_text(cells, area.row + r, area.col + c, tint, "%s", blocks[e]);
        }
    mem_free(counts);
}
