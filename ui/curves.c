#include "curves.h"

#include "dots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABELS = 7, LETTERS = 26 };

struct span { double low, high; };

static double up(const struct curves *c, double y) { return c->log ? (y > 0 ? log10(y) : NAN) : y; }

static struct span span_of(const struct curves *c, bool x)
{
    struct span s = {INFINITY, -INFINITY};
    if (!x && (c->low != 0 || c->high != 0)) return (struct span){up(c, c->low), up(c, c->high)};
    for (int i = 0; i < c->count; i++)
        for (size_t n = 0; n < c->curves[i].n; n++) {
            double at = x ? c->curves[i].x[n] : up(c, c->curves[i].y[n]);
            if (!isfinite(at)) continue;
            s.low = fmin(s.low, at), s.high = fmax(s.high, at);
        }
    if (!(s.high >= s.low)) return (struct span){0, 1};
    if (c->log && !x) s.low = floor(s.low), s.high = ceil(s.high); /* whole powers of ten */
    if (s.high == s.low) s.high = s.low + 1;
    return s;
}

static void draw_tick(struct cells *cells, struct area plot, struct span y, double value, const char *text)
{
    int row = dots_row(plot, (value - y.low) / (y.high - y.low));
    draw_right(cells, row, plot.col - 1, TINT_DIM, "%s", text);
    cells_text(cells, row, plot.col - 1, TINT_DIM, "┤");
}

/* Powers of ten, as many as have room; or quarters. */
static void draw_ticks(const struct curves *c, struct cells *cells, struct area plot, struct span y)
{
    char text[24];
    int decades = (int)lround(y.high - y.low), step = 1, parts = plot.rows >= 9 ? 4 : plot.rows >= 5 ? 2 : 1;
    while (decades / step > (plot.rows - 1) / 2 && step < decades) step++;
    for (int d = 0; c->log && d <= decades; d += step) {
        snprintf(text, sizeof text, y.low + d < -3 || y.low + d > 5 ? "%.0e" : "%.6g", pow(10, y.low + d));
        draw_tick(cells, plot, y, y.low + d, text);
    }
    for (int i = 0; !c->log && i <= parts; i++) {
        double value = y.low + (y.high - y.low) * i / parts;
        snprintf(text, sizeof text, "%.3g", value);
        if (strlen(text) >= LABELS) snprintf(text, sizeof text, "%.0e", value);
        draw_tick(cells, plot, y, value, text);
    }
}

static void draw_axes(const struct curves *c, struct cells *cells, struct area plot, struct span x, struct span y)
{
    for (int r = 0; r < plot.rows; r++) cells_text(cells, plot.row + r, plot.col - 1, TINT_DIM, "│");
    for (int i = -1; i < plot.cols; i++) cells_text(cells, plot.row + plot.rows, plot.col + i, TINT_DIM, i < 0 ? "└" : "─");
    draw_ticks(c, cells, plot, y);
    int end = draw_right(cells, plot.row + plot.rows + 1, plot.col + plot.cols, TINT_DIM, "%.6g", x.high);
    int col = cells_text(cells, plot.row + plot.rows + 1, plot.col, TINT_DIM, "%.6g", x.low);
    int middle = (col + end - text_width(c->x_name)) / 2;
    if (middle > col && middle + text_width(c->x_name) < end) cells_text(cells, plot.row + plot.rows + 1, middle, TINT_PLAIN, "%s", c->x_name);
}

static void draw_curve(const struct curves *c, const struct curve *curve, struct dots *dots, struct span x, struct span y)
{
    double from_x = NAN, from_y = NAN;
    for (size_t n = 0; n < curve->n; n++) {
        double at_x = (curve->x[n] - x.low) / (x.high - x.low), at_y = (up(c, curve->y[n]) - y.low) / (y.high - y.low);
        if (!isnan(at_y) && isnan(from_y)) dots_set(dots, at_x, at_y, curve->tint, 1);
        if (!isnan(at_y) && !isnan(from_y)) dots_dashes(dots, from_x, from_y, at_x, at_y, curve->tint, curve->dashed);
        from_x = at_x, from_y = at_y;
    }
}

/* Colour alone does not tell curves apart: each has a letter, at its end and in the legend. */
static char letter_of(const struct curves *c, int i) { return c->count > 1 ? (char)('a' + i % LETTERS) : '\0'; }

/* Where another curve ends in the same place, a little before it. */
static void draw_letters(const struct curves *c, struct cells *cells, struct area plot, struct span x, struct span y)
{
    int rows[LETTERS], cols[LETTERS], count = 0;
    for (int i = 0; c->count > 1 && i < c->count && count < LETTERS; i++) {
        const struct curve *curve = &c->curves[i];
        size_t last = curve->n;
        while (last > 0 && isnan(up(c, curve->y[last - 1]))) last--;
        double at = last ? (up(c, curve->y[last - 1]) - y.low) / (y.high - y.low) : NAN;
        if (!(at >= 0 && at <= 1)) continue;
        rows[count] = dots_row(plot, at), cols[count] = dots_col(plot, (curve->x[last - 1] - x.low) / (x.high - x.low));
        for (int other = 0; other < count; other++)
            if (rows[other] == rows[count] && cols[other] == cols[count]) cols[count]--, other = -1;
        cells_text(cells, rows[count], cols[count], curve->tint, "%c", letter_of(c, i));
        cells_look(cells, rows[count], cols[count], 1, LOOK_BOLD);
        count++;
    }
}

/* Name and legend in one line; of curves that have no room, the letters. */
static void draw_title(const struct curves *c, struct cells *cells, struct area area)
{
    int col = cells_put(cells, area.row, area.col, TINT_TITLE, c->name, area.cols), end = area.col + area.cols;
    bool brief = false;
    for (int i = 0; i < c->count; i++) {
        const struct curve *curve = &c->curves[i];
        if (!*curve->name) continue;
        char letter[2] = {letter_of(c, i)};
        const char *line = cells->ascii ? (curve->dashed ? "--" : "==") : curve->dashed ? "╌╌" : "━━";
        int rest = 0;
        for (int after = i + 1; after < c->count; after++) rest += *c->curves[after].name ? 3 : 0;
        if (brief || col + 6 + text_width(curve->name) + rest > end) {
            brief = true;
            if (col + 3 <= end) col = cells_text(cells, area.row, col + 1, curve->tint, "%s~", letter);
            continue;
        }
        col = cells_text(cells, area.row, col + 2, curve->tint, "%s%s ", line, letter);
        col = cells_text(cells, area.row, col, TINT_PLAIN, "%s", curve->name);
    }
}

void curves_draw(struct cells *cells, struct area area, const struct curves *c)
{
    struct area plot = {area.row + 1, area.col + LABELS, area.rows - 3, area.cols - LABELS};
    struct span x = span_of(c, true), y = span_of(c, false);
    draw_title(c, cells, area);
    if (plot.rows < 2 || plot.cols < 8) return;
    draw_axes(c, cells, plot, x, y);
    struct dots *dots = dots_new(plot);
    for (int i = 0; i < c->count; i++) draw_curve(c, &c->curves[i], dots, x, y);
    dots_draw(dots, cells);
    dots_free(dots);
    draw_letters(c, cells, plot, x, y);
}
