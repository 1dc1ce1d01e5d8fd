/* A plot of dots in an area of cells: two by four dots of braille in each, or letters where only ASCII can be shown.
 *
 *     struct dots *dots = dots_new(area);
 *     dots_set(dots, 0.25, 0.9, TINT_SERIES_1, 1);        (a quarter from the left, near the top)
 *     dots_line(dots, 0, 0, 1, 1, TINT_DIM);
 *     dots_draw(dots, cells);                             (cells without dots stay as they are)
 *     dots_free(dots);
 *
 * A cell has one colour: that of most of its dots.
 */
#ifndef DOTS_H
#define DOTS_H

#include "layout.h"

struct dots;

struct dots *dots_new(struct area area);
void dots_free(struct dots *dots);

/* x runs right and y up, both from 0 to 1; what lies outside is left out. size 2 is a wider mark, so that two series differ without colours. */
void dots_set(struct dots *dots, double x, double y, enum tint tint, int size);
void dots_line(struct dots *dots, double x0, double y0, double x1, double y1, enum tint tint);
/* The same, with gaps by x when dashed. */
void dots_dashes(struct dots *dots, double x0, double y0, double x1, double y1, enum tint tint, bool dashed);
void dots_draw(const struct dots *dots, struct cells *cells);

char dots_letter(enum tint tint); /* of a series, where only ASCII can be shown; "." for others */

/* The cell of a point, clipped to the area. */
int dots_row(struct area area, double y);
int dots_col(struct area area, double x);

#endif
