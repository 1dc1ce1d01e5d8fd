/* Places and small pictures in a grid of cells. Everything clips; nothing here knows what it shows.
 *
 *     draw_right(cells, row, area.col + area.cols, TINT_PLAIN, "%.3f", accuracy);
 *     draw_bar(cells, row, col, 20, accuracy, TINT_SERIES_1);
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "figures/cells.h"
#include "results/table.h"

struct area { int row, col, rows, cols; };

/* Ends just before column `right`; returns where it starts. */
int draw_right(struct cells *cells, int row, int right, enum tint tint, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A bar of `width` columns for a value in [0, 1], in halves of a column; the rest is a faint rail. NaN draws the rail alone. */
void draw_bar(struct cells *cells, int row, int col, int width, double value, enum tint tint);

/* The place that keys act on: reversed, and without colours of its own. */
void draw_mark(struct cells *cells, int row, int col, int width);

/* An interval in [0, 1] with its value, on a rail of `width` columns: ──├─●─┤── */
void draw_interval(struct cells *cells, int row, int col, int width, double low, double value, double high, enum tint tint);

/* A name, cut in its middle where it is too long: what tells names apart often stands at their end. Returns the column
 * behind it. */
int draw_name(struct cells *cells, int row, int col, int width, enum tint tint, const char *name);

/* Names with blanks between them: where `width` is too small the long ones are cut, so that all of them are still told apart. */
int draw_tokens(struct cells *cells, int row, int col, int width, enum tint tint, const char *tokens);

/* Words wrapped to the area, line ends kept; returns the rows it took. */
int draw_wrapped(struct cells *cells, struct area area, enum tint tint, const char *text);

/* A line across, with a heading in it. */
void draw_heading(struct cells *cells, int row, int col, int width, const char *heading);

/* A mark down the right edge where there is more than can be shown. */
void draw_scroll(struct cells *cells, struct area area, int first, int count);

/* Rows of another grid, from `first` on, copied into the area. */
void draw_window(struct cells *cells, struct area area, const struct cells *from, int first);

/* Splits keep their colours everywhere: those named for "id" the first, for "ood" the second, as in figures. */
enum tint split_tint(const char *split);

/* The first of `count` lines to show in `rows`, so that `at` is seen in the middle where possible. */
int scroll_first(int at, int count, int rows);

/* A number in [-1, 1] in four columns: ".99", "1.00", "-.12", "n/a"; the text lives in one of eight buffers. */
const char *unit_show(double value);

/* A number in six columns or so: "0.0123", "12.3", "1.2e+05", "n/a". */
const char *number_show(double value);

/* A table as people read it: numbers to the right, the row `at` marked and always in sight (-1: none). columns: names, ended by NULL; NULL: all. */
void draw_table(struct cells *cells, struct area area, const struct table *table, const char *const *columns, int at);

/* A table of keys and values, in as many columns as fit. */
void draw_facts(struct cells *cells, struct area area, const struct table *table);

#endif
