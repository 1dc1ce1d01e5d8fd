/* A figure in character cells: lines in dots of braille (two by four in a cell), or in letters where only ASCII can be shown. A band is
 * drawn where it is well wider than its line, and never in cells that a line crosses: dots of it between dashes would look like more of them. */
#include "figures/canvas.h"
#include "figures/cells.h"
#include "ground/mem.h"

#include <stdlib.h>
#include <string.h>

enum { DOTS_X = 2, DOTS_Y = 4 };

struct field {
    unsigned char dots;   /* braille, bit by bit */
    signed char first, colour; /* of the first series that drew here, and of the last */
    bool crossed;         /* a line goes through, be it in a gap between its dashes */
    unsigned char band;   /* dots of bands, likewise */
};

struct screen {
    struct canvas canvas; /* first, so that a pointer to it is a pointer to the screen */
    struct cells *cells;
    int row, col, rows, cols; /* the part that belongs to the figure */
    struct field *fields;     /* rows x cols */
    struct rect clip;         /* in cells */
};

static struct screen *of(struct canvas *canvas) { return (struct screen *)canvas; }

static struct size measure(struct canvas *canvas, enum text_use use, const char *text)
{
    (void)canvas, (void)use;
    return (struct size){text_width(text), 1};
}

static void draw_text(struct canvas *canvas, const struct place *place, const char *text)
{
    struct screen *s = of(canvas);
    int width = text_width(text), col = (int)floor(place->x - width * (place->across + 1) / 2.0 + (place->across < 0 ? 0.5 : 0.01));
    int row = (int)floor(place->down ? place->y - (place->down + 1) / 2.0 + 0.51 : place->y);
    enum tint tint = place->use == TEXT_NAME ? TINT_PLAIN : place->colour >= 0 ? (enum tint)(TINT_SERIES_1 + place->colour) : TINT_DIM;
    if (place->use == TEXT_TICK && !place->across && col + width > s->cols) col = s->cols - width;
    if (row < 0 || row >= s->rows || col >= s->cols || col < 0) return;
    cells_put(s->cells, s->row + row, s->col + col, tint, text, s->cols - col);
}

static bool is_clipped(const struct screen *s, int col, int row)
{
    return col < (int)s->clip.left || row < (int)s->clip.top || col >= (int)s->clip.right || row >= (int)s->clip.bottom;
}

static struct field *field_at(const struct screen *s, int x, int y) /* NULL: outside */
{
    int col = x / DOTS_X, row = y / DOTS_Y;
    return x < 0 || y < 0 || is_clipped(s, col, row) ? NULL : &s->fields[row * s->cols + col];
}

static const unsigned char bits[DOTS_Y][DOTS_X] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static void set_dot(struct screen *s, int x, int y, int colour)
{
    struct field *field = field_at(s, x, y);
    if (!field) return;
    if (!field->dots) field->first = (signed char)colour;
    field->dots |= bits[y % DOTS_Y][x % DOTS_X];
    field->colour = (signed char)colour;
}

static int dot(double position, int dots) { return (int)floor(position * dots + 1e-9); }

/* Dot by dot along a segment; `phase` counts the dots of the whole line, so that dashes go on over its corners. */
static void draw_segment(struct screen *s, const struct style *style, double x0, double y0, double x1, double y1, int *phase)
{
    enum { DASH = 6, ON = 4 };
    int ax = dot(x0, DOTS_X), ay = dot(y0, DOTS_Y), bx = dot(x1, DOTS_X), by = dot(y1, DOTS_Y);
    int steps = abs(bx - ax) > abs(by - ay) ? abs(bx - ax) : abs(by - ay);
    if (steps > 1 << 16) return;
    for (int i = 0; i <= steps; i++) {
        int x = steps ? ax + (int)lround((double)(bx - ax) * i / steps) : ax, y = steps ? ay + (int)lround((double)(by - ay) * i / steps) : ay;
        bool on = !style->dashed || (s->cells->ascii ? x / DOTS_X % 2 == 0 : *phase % DASH < ON);
        struct field *field = field_at(s, x, y);
        if (field) field->crossed = true;
        if (on) set_dot(s, x, y, style->colour);
        if (i < steps) ++*phase;
    }
}

static void draw_line(struct canvas *canvas, const struct style *style, const double *x, const double *y, size_t count)
{
    int phase = 0;
    for (size_t i = 0; i + 1 < count; i++) draw_segment(of(canvas), style, x[i], y[i], x[i + 1], y[i + 1], &phase);
}

/* The line's own cells, and one on either side. */
static bool is_wide(const double *low, const double *high, size_t count)
{
    size_t wide = 0;
    for (size_t i = 0; i < count; i++) wide += fabs(high[i] - low[i]) >= 3;
    return 2 * wide > count;
}

/* Every fourth dot of the band. */
static void draw_band(struct canvas *canvas, const struct style *style, const double *x, const double *low, const double *high, size_t count)
{
    struct screen *s = of(canvas);
    (void)style;
    if (s->cells->ascii || !is_wide(low, high, count)) return; /* letters are too coarse for it */
    for (size_t i = 0; i + 1 < count; i++) {
        int from = dot(x[i], DOTS_X), to = dot(x[i + 1], DOTS_X);
        for (int at = from; at < to; at++) {
            double t = (double)(at - from) / (to - from);
            int top = dot(high[i] + t * (high[i + 1] - high[i]), DOTS_Y), bottom = dot(low[i] + t * (low[i + 1] - low[i]), DOTS_Y);
            for (int y = top; y <= bottom && at % 2 == 0; y++) {
                struct field *field = y % 2 == (at / 2) % 2 ? field_at(s, at, y) : NULL;
                if (field) field->band |= bits[y % DOTS_Y][at % DOTS_X];
            }
        }
    }
}

static void draw_marker(struct canvas *canvas, const struct style *style, double x, double y, bool light, bool alone)
{
    struct screen *s = of(canvas);
    int at_x = dot(x, DOTS_X), at_y = dot(y, DOTS_Y);
    if (!alone) return; /* the line shows where the points are */
    set_dot(s, at_x, at_y, style->colour);
    if (light || s->cells->ascii) return;
    set_dot(s, at_x ^ 1, at_y, style->colour); /* the other dots of the same cell */
    set_dot(s, at_x, at_y ^ 1, style->colour);
    if (!style->open) set_dot(s, at_x ^ 1, at_y ^ 1, style->colour);
}

static void draw_rule(struct canvas *canvas, double x0, double y0, double x1, double y1)
{
    struct screen *s = of(canvas);
    bool upright = x0 == x1;
    int from = (int)floor(upright ? y0 : x0), to = (int)floor(upright ? y1 : x1), at = (int)floor(upright ? x0 : y0);
    for (int i = from; i <= to; i++) {
        int col = upright ? at : i, row = upright ? i : at;
        if (!is_clipped(s, col, row)) cells_put(s->cells, s->row + row, s->col + col, TINT_DIM, upright ? "┊" : "┄", 1);
    }
}

static void draw_spine(struct canvas *canvas, bool upright, double at, double from, double to, const double *ticks, size_t count)
{
    struct screen *s = of(canvas);
    int first = (int)floor(fmin(from, to)), last = (int)floor(fmax(from, to)), fixed = (int)floor(at - (upright ? 0.99 : -0.01));
    const char *line = upright ? "│" : "─", *mark = upright ? "┤" : "┬";
    for (int i = first; i <= last; i++) cells_put(s->cells, s->row + (upright ? i : fixed), s->col + (upright ? fixed : i), TINT_DIM, line, 1);
    for (size_t i = 0; i < count; i++) {
        int tick = (int)floor(ticks[i]);
        cells_put(s->cells, s->row + (upright ? tick : fixed), s->col + (upright ? fixed : tick), TINT_DIM, mark, 1);
    }
    if (upright) cells_put(s->cells, s->row + last + 1, s->col + fixed, TINT_DIM, "└", 1);
}

static void set_clip(struct canvas *canvas, const struct rect *rect)
{
    struct screen *s = of(canvas);
    s->clip = rect ? *rect : (struct rect){0, 0, s->cols, s->rows};
}

static void blit_field(struct screen *s, int row, int col)
{
    static const char letters[COLOURS] = {'*', 'o', '+', 'x', '#', '%', '@'};
    const struct field *field = &s->fields[row * s->cols + col];
    unsigned char dots = field->dots || field->crossed ? field->dots : field->band;
    int colour = col / 2 % 2 ? field->first : field->colour; /* lines on top of each other are seen in turn */
    enum tint tint = !field->dots ? TINT_DIM : colour < 0 ? TINT_PLAIN : (enum tint)(TINT_SERIES_1 + colour);
    char text[4] = {colour < 0 ? '-' : letters[colour]};
    if (!dots) return;
    if (!s->cells->ascii) {
        text[0] = (char)0xe2; /* U+2800 and the dots, in UTF-8 */
        text[1] = (char)(0xa0 | dots >> 6);
        text[2] = (char)(0x80 | (dots & 0x3f));
    }
    cells_put(s->cells, s->row + row, s->col + col, tint, text, 1);
}

void figure_draw_cells(const struct figure *figure, struct cells *cells, int row, int col, int rows, int cols)
{
    struct screen screen = {
        .canvas = {
            .width = cols, .height = rows, .inset = {0.25, 0.125}, .frame = {1, 1}, .tick = {0, 0}, .gap = {0.5, 0},
            .legend = {2.5, 1}, .apart = {3, 1}, .edge = {0, 0}, .least_step = 3, .turns = false,
            .measure = measure, .text = draw_text, .line = draw_line, .band = draw_band,
            .marker = draw_marker, .rule = draw_rule, .spine = draw_spine, .clip = set_clip,
        },
        .cells = cells, .row = row, .col = col, .rows = rows, .cols = cols, .clip = {0, 0, cols, rows},
    };
    if (rows < 1 || cols < 1) return;
    screen.fields = mem_new((size_t)rows * (size_t)cols * sizeof *screen.fields);
    figure_draw(figure, &screen.canvas, NULL);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) blit_field(&screen, r, c);
    mem_free(screen.fields);
}
