/* What a figure is drawn on. One struct of functions; canvas_cairo.c makes files of it, canvas_cells.c a part of a screen.
 *
 *     canvas->line(canvas, &style, x, y, count);
 *     canvas->text(canvas, &place, "accuracy");
 *
 * Coordinates run right and down from the top left corner, in the canvas's own unit: typographic points (1/72 in) on a page, character cells on a
 * screen. The layout asks the canvas for all sizes, so one layout serves both.
 */
#ifndef FIGURES_CANVAS_H
#define FIGURES_CANVAS_H

#include "figures/figure.h"

struct rect { double left, top, right, bottom; };
struct size { double width, height; };

enum text_use { TEXT_TICK = 1, TEXT_NAME, TEXT_LEGEND }; /* numbers at ticks, names of axes, names of series */

/* Where a text stands: the point and the side of the text that touches it. across and down: -1 left or top, 0 middle, 1 right or bottom. */
struct place {
    enum text_use use;
    double x, y;
    int across, down;
    bool turned;   /* a quarter turn to the left: reads upwards; across and down are meant after the turn */
    int colour;    /* of a series, or -1 */
};

struct canvas {
    double width, height;
    struct size inset;     /* between the frame of the plot and the first data point */
    struct size frame;     /* room that the frame itself takes */
    struct size tick;      /* length of ticks: width on the y axis, height on the x axis */
    struct size gap;       /* between ticks and their numbers, and numbers and names */
    struct size legend;    /* width of a sample, height of a line */
    struct size apart;     /* least distance between neighbouring numbers */
    struct size edge;      /* kept free around everything */
    double least_step;     /* least distance of ticks on y */
    bool turns;            /* can write upwards; else the name of the y axis stands above it */

    struct size (*measure)(struct canvas *canvas, enum text_use use, const char *text);
    void (*text)(struct canvas *canvas, const struct place *place, const char *text);
    void (*line)(struct canvas *canvas, const struct style *style, const double *x, const double *y, size_t count);
    void (*band)(struct canvas *canvas, const struct style *style, const double *x, const double *low, const double *high, size_t count);
    /* light: one of very many; alone: has no line, so that it must be seen by itself */
    void (*marker)(struct canvas *canvas, const struct style *style, double x, double y, bool light, bool alone);
    void (*rule)(struct canvas *canvas, double x0, double y0, double x1, double y1);
    /* The left (upright) or bottom frame line, `from` to `to`, with ticks. */
    void (*spine)(struct canvas *canvas, bool upright, double at, double from, double to, const double *ticks, size_t count);
    void (*clip)(struct canvas *canvas, const struct rect *rect); /* NULL: everything again */
};

/* figures/layout.c: draws all of it; false when the texts leave no room for the plot. boxes, NULL or from boxes_new(), collects the box of every text
 * in the canvas's unit: rows of what, text, left, top, right, bottom. */
bool figure_draw(const struct figure *figure, struct canvas *canvas, struct table *boxes);
struct table *boxes_new(void);

#endif
