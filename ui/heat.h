/* A table of numbers as shaded cells, with the numbers in them where there is room.
 *
 *     struct heat heat = {.rows = 3, .cols = 3, .values = values, .row_names = names, .col_names = names, .low = 0, .high = 1, .at_row = -1};
 *     taken = heat_draw(&heat, cells, area);
 *
 * A shade says where a value stands between low and high; NaN is a blank. With signs, values below 0 are shaded by their size and in another tint,
 * so that a change can be read.
 */
#ifndef HEAT_H
#define HEAT_H

#include "layout.h"

struct heat {
    int rows, cols;
    const double *values;          /* rows x cols */
    const char *const *row_names;  /* NULL: none */
    const char *const *col_names;
    double low, high;
    bool signs;
    enum tint tint;                /* of shades */
    int at_row, at_col;            /* the marked cell; at_row -1: none */
    int first_row, first_col;      /* what is shown, where there is not room for all */
};

int heat_draw(const struct heat *heat, struct cells *cells, struct area area);  /* the rows it took */
int heat_width(const struct heat *heat, int cols);                              /* columns of one cell in an area of so many columns, names aside */

enum { HEAT_NUMBERED = 6 };

/* One cell of a heat: `width` columns, with its number if they are at least HEAT_NUMBERED. */
void heat_cell(struct cells *cells, int row, int col, int width, double value, double low, double high, enum tint tint);

#endif
