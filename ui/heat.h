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
};

int heat_draw(const struct heat *heat, struct cells *cells, struct area area);  /* the rows it took */

enum { HEAT_NUMBERED = 6 }; /* so many columns a cell needs to have its number in it */

#endif
