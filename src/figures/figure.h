/* A figure: marks in the units of its axes, made from a table, drawn on any canvas. What the terminal shows and what a file holds are the same marks.
 *
 *     struct figure *figure = figure_from(table, &options, err);          (the kind is chosen by the table's columns)
 *     figure_draw_cells(figure, cells, row, col, rows, cols);             (a part of a screen)
 *     figure_free(figure);
 *     figure_export(table, &options, "curve.png", err);                   (figures/export.h: files)
 *
 * NaN is a gap. Axes of probabilities are fixed to [0, 1], so that two figures can be compared.
 */
#ifndef FIGURES_FIGURE_H
#define FIGURES_FIGURE_H

#include "ground/err.h"
#include "ground/text.h"
#include "results/table.h"

#include <stddef.h>

struct cells;

enum mark_kind { MARK_LINE = 1, MARK_BAND, MARK_POINTS, MARK_RULE };
enum marker { MARKER_DISC, MARKER_SQUARE, MARKER_TRIANGLE, MARKER_DIAMOND, MARKER_DOWN, MARKER_PLUS, MARKER_CROSS, MARKER_KINDS };
enum { COLOURS = 7, SERIES_MOST = 14 };

/* How a series looks: colour and marker tell which, solid or dashed tells ID or OOD; each alone is enough. */
struct style {
    int colour; /* 0 ... COLOURS-1: Okabe-Ito; on a screen TINT_SERIES_1 + colour; -1: that of text */
    enum marker marker;
    bool open, dashed;
};

struct series {
    char *name;
    struct style style;
};

struct mark {
    enum mark_kind kind;
    int series;          /* -1: none (rules) */
    size_t count;
    double *x, *y;       /* a rule: x or y of one entry, the other NaN */
    double *high;        /* bands: y is the low edge */
};

struct axis {
    char *name;          /* with unit */
    double low, high;    /* what is shown; NaN until there are marks */
    bool fixed;          /* not to be widened by marks */
    bool whole;          /* it counts (loops, boundaries): no ticks between whole numbers */
};

struct figure {
    const struct figure_kind *kind;
    struct axis x, y;
    struct series *series;
    size_t series_count, series_room;
    struct series *legend; /* what the legend says; need not be the series one by one */
    size_t legend_count, legend_room;
    struct mark *marks;
    size_t mark_count, mark_room;
    char *caption;       /* a sentence or three, from the table */
};

struct figure_options {
    const char *kind, *x, *y;   /* NULL: by the table's columns; y may be several columns "a,b" */
    double x_low, x_high;       /* both 0: from the data; a curve that still grows fixes them */
    double width, height;       /* inches; 0: one column, 3.4 x 2.55 */
    double dpi;                 /* 0: 300 */
    const char *source;         /* the file that holds the table already, or NULL: it is never overwritten */
};

/* A kind of figure: one file fig_NAME.c and one row of FIGURES in registry.c. */
struct figure_kind {
    const char *name, *help;
    const char *columns;                             /* what it needs, in words, for messages */
    /* May it draw this when nobody says which kind? The first row that fits wins. */
    bool (*fits)(const struct table *table, const struct figure_options *options);
    bool (*build)(struct figure *figure, const struct table *table, const struct figure_options *options, struct err *err);
    struct table *(*example)(void);                  /* a small table, the caller's to free */
};

/* NULL on failure: unknown kind, no such column. A table without rows makes empty axes. options may be NULL. */
struct figure *figure_from(const struct table *table, const struct figure_options *options, struct err *err);
void figure_free(struct figure *figure);
bool figure_empty(const struct figure *figure); /* nothing to be seen: no mark has a finite point */

void figure_legend_drop(struct figure *figure, const char *name); /* it is named elsewhere */
void figure_rule(struct figure *figure, double x, double y); /* a thin line at x or at y; the other is NaN */

void figure_draw_cells(const struct figure *figure, struct cells *cells, int row, int col, int rows, int cols);

/* For builders. */
int figure_series(struct figure *figure, const char *name, struct style style);
void figure_legend(struct figure *figure, const char *name, struct style style);
struct mark *figure_mark(struct figure *figure, enum mark_kind kind, int series, size_t count); /* arrays are there, zeroed */
void axis_name(struct axis *axis, const char *column);      /* the name that readers see; fixes [0, 1] for probabilities */
bool column_is_probability(const char *column);
int figure_numbers(const struct table *table, const char *column, struct err *err); /* its index; -1: no such column, or one of text */

#endif
