/* A grid of character cells: what a screen shows and a plain-text page prints. Drawing clips at the edges; nothing here knows a terminal.
 *
 *     struct cells *cells = cells_new(24, 80);
 *     cells_text(cells, 0, 2, TINT_TITLE, "loopscope");       (row, column)
 *     cells_free(cells);
 *
 * A glyph is one UTF-8 character (with combining marks as far as they fit) and takes one or two columns; the second column of a wide one holds an
 * empty text. Tints are meanings, not colours: the theme of the screen decides how they look, and text alone always says the same.
 */
#ifndef FIGURES_CELLS_H
#define FIGURES_CELLS_H

#include "ground/width.h" /* text_width */

#include <stdbool.h>
#include <stddef.h>

enum tint {
    TINT_PLAIN, TINT_DIM, TINT_TITLE, TINT_KEY, TINT_GOOD, TINT_BAD, TINT_WARN, TINT_CHANGED,
    TINT_SERIES_1, TINT_SERIES_2, TINT_SERIES_3, TINT_SERIES_4, TINT_SERIES_5, TINT_SERIES_6, TINT_SERIES_7, /* as in figures: 1 is ID, 2 is OOD */
    TINT_COUNT
};
enum { LOOK_BOLD = 1, LOOK_REVERSE = 2, LOOK_UNDERLINE = 4 };

struct text;

struct glyph {
    char text[8];
    unsigned char tint, look;
};

struct cells {
    int rows, cols;
    bool ascii; /* the reader can show only ASCII: drawing falls back ("-" for "─", "#" for blocks, "." for braille) */
    struct glyph *at; /* rows x cols */
};

struct cells *cells_new(int rows, int cols);
void cells_free(struct cells *cells);
void cells_clear(struct cells *cells);

/* Draws from (row, col) rightwards and returns the column behind the last glyph; what lies outside is clipped. */
int cells_text(struct cells *cells, int row, int col, enum tint tint, const char *format, ...) __attribute__((format(printf, 5, 6)));
int cells_put(struct cells *cells, int row, int col, enum tint tint, const char *text, int width); /* at most width columns; "~" marks a cut */
void cells_look(struct cells *cells, int row, int col, int width, int look);                       /* adds LOOK_ bits */
void cells_page(const struct cells *cells, struct text *out);                                      /* lines without blanks at their ends: appended */
struct glyph *cells_glyph(struct cells *cells, int row, int col);                                  /* NULL outside */

#endif
