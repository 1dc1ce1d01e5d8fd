#include "layout.h"

#include "ground/mem.h"
#include "ground/width.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int draw_right(struct cells *cells, int row, int right, enum tint tint, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int col = right - text_width(text);
    cells_text(cells, row, col, tint, "%s", text);
    return col;
}

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

void draw_bar(struct cells *cells, int row, int col, int width, double value, enum tint tint)
{
    int halves = isnan(value) ? 0 : (int)lround(clamp(value) * 2 * width);
    if (cells->ascii) halves = (halves + 1) / 2 * 2;
    for (int i = 0; i < width; i++) {
        const char *full = cells->ascii ? "=" : "━", *rail = cells->ascii ? "." : "·";
        if (halves >= 2 * i + 2) cells_text(cells, row, col + i, tint, "%s", full);
        else if (halves == 2 * i + 1) cells_text(cells, row, col + i, tint, "╸");
        else cells_text(cells, row, col + i, TINT_DIM, "%s", rail);
    }
}

void draw_mark(struct cells *cells, int row, int col, int width)
{
    for (int i = 0; i < width; i++) {
        struct glyph *glyph = cells_glyph(cells, row, col + i);
        if (glyph) glyph->tint = TINT_PLAIN, glyph->look = LOOK_REVERSE;
    }
}

void draw_interval(struct cells *cells, int row, int col, int width, double low, double value, double high, enum tint tint)
{
    if (width < 2) return;
    for (int i = 0; i < width; i++) cells_text(cells, row, col + i, TINT_DIM, cells->ascii ? "." : "·");
    if (isnan(value)) return;
    int at = (int)lround(clamp(value) * (width - 1));
    int from = isnan(low) ? at : (int)lround(clamp(low) * (width - 1)), to = isnan(high) ? at : (int)lround(clamp(high) * (width - 1));
    for (int i = from; i <= to; i++) cells_text(cells, row, col + i, tint, i == from ? "├" : i == to ? "┤" : "─");
    cells_text(cells, row, col + at, tint, "●"); /* it may lie outside: an interval of others */
}

int draw_name(struct cells *cells, int row, int col, int width, enum tint tint, const char *name)
{
    char piece[PIECE_SIZE];
    int over = text_width(name) - width, head = (width - 1) / 2, columns, size;
    struct text cut = {0};
    if (over <= 0 || width < 3) return cells_put(cells, row, col, tint, name, width);
    for (; (size = text_piece(name, piece, &columns)) && columns <= head; name += size, head -= columns) text_add_bytes(&cut, name, (size_t)size);
    text_add(&cut, "~");
    for (; text_width(cut.data) + text_width(name) > width && (size = text_piece(name, piece, &columns)); name += size) continue;
    text_add(&cut, "%s", name);
    int end = cells_put(cells, row, col, tint, cut.data, width);
    text_clear(&cut);
    return end;
}

/* Tokens one behind the other, each in at most `most` columns; returns the columns they take. Without cells it only measures. */
static int lay_tokens(struct cells *cells, int row, int col, int most, enum tint tint, const char *tokens)
{
    int taken = 0;
    while (*tokens) {
        size_t size = strcspn(tokens, " ");
        struct text token = {0};
        text_add(&token, "%.*s", (int)size, tokens);
        int width = text_width(token.data);
        taken = cells ? draw_name(cells, row, col + taken, most, tint, token.data) - col : taken + (width < most ? width : most);
        text_clear(&token);
        tokens += size;
        if (*tokens == ' ') tokens++, taken++;
    }
    return taken;
}

int draw_tokens(struct cells *cells, int row, int col, int width, enum tint tint, const char *tokens)
{
    enum { SHORTEST = 3 };
    int most = width;
    while (most > SHORTEST && lay_tokens(NULL, 0, 0, most, tint, tokens) > width) most--;
    if (lay_tokens(NULL, 0, 0, most, tint, tokens) > width || text_width(tokens) <= width) return cells_put(cells, row, col, tint, tokens, width);
    return col + lay_tokens(cells, row, col, most, tint, tokens);
}

int draw_wrapped(struct cells *cells, struct area area, enum tint tint, const char *text)
{
    int row = 0, col = 0;
    while (*text && row < area.rows) {
        if (*text == '\n') {
            row++, col = 0, text++;
            continue;
        }
        size_t blanks = strspn(text, " "), size = blanks + strcspn(text + blanks, " \n");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)size, text);
        bool wraps = col && col + text_width(word) > area.cols;
        if (wraps) row++, col = 0;
        const char *shown = wraps ? word + blanks : word;
        if (row < area.rows) cells_put(cells, area.row + row, area.col + col, tint, shown, area.cols - col);
        col += text_width(shown);
        text += size;
    }
    return row + (col > 0);
}

void draw_heading(struct cells *cells, int row, int col, int width, const char *heading)
{
    for (int i = 0; i < width; i++) cells_text(cells, row, col + i, TINT_DIM, "─");
    cells_text(cells, row, col + 1, TINT_PLAIN, " ");
    int end = cells_put(cells, row, col + 2, TINT_TITLE, heading, width - 4);
    cells_text(cells, row, end, TINT_PLAIN, " ");
}

void draw_scroll(struct cells *cells, struct area area, int first, int count)
{
    if (count <= area.rows || area.rows < 1) return;
    int size = area.rows * area.rows / count, from = first * area.rows / count;
    if (size < 1) size = 1;
    if (from + size > area.rows) from = area.rows - size;
    for (int i = 0; i < area.rows; i++)
        cells_text(cells, area.row + i, area.col + area.cols - 1, TINT_DIM, i >= from && i < from + size ? "█" : cells->ascii ? "." : "│");
}

void draw_window(struct cells *cells, struct area area, const struct cells *from, int first)
{
    for (int r = 0; r < area.rows && first + r < from->rows; r++)
        for (int c = 0; c < area.cols && c < from->cols; c++) {
            struct glyph *to = cells_glyph(cells, area.row + r, area.col + c);
            if (to) *to = from->at[(size_t)(first + r) * (size_t)from->cols + (size_t)c];
        }
}

enum tint split_tint(const char *split)
{
    return text_ends(split, "ood") ? TINT_SERIES_2 : text_ends(split, "id") ? TINT_SERIES_1 : TINT_PLAIN;
}

int scroll_first(int at, int count, int rows)
{
    int first = at - rows / 2;
    if (first > count - rows) first = count - rows;
    return first < 0 ? 0 : first;
}

static char *buffer(void)
{
    static _Thread_local char buffers[8][32];
    static _Thread_local unsigned next;
    return buffers[next++ % 8];
}

const char *unit_show(double value)
{
    char *out = buffer();
    if (isnan(value)) return strcpy(out, "n/a");
    if (fabs(value) > 9.99) snprintf(out, 32, "%.3g", value);
    else if (fabs(value) >= 0.995) snprintf(out, 32, "%.2f", value);
    else {
        char digits[16];
        snprintf(digits, sizeof digits, "%.2f", fabs(value));
        bool minus = value < 0 && strcmp(digits, "0.00") != 0;
        snprintf(out, 32, "%s%s", minus ? "-" : "", digits + 1);
    }
    return out;
}

const char *number_show(double value)
{
    char *out = buffer();
    if (isnan(value)) return strcpy(out, "n/a");
    double size = fabs(value);
    if (value == floor(value) && size < 1e6) snprintf(out, 32, "%.0f", value);
    else if (size >= 1e5 || size < 1e-3) snprintf(out, 32, "%.1e", value);
    else snprintf(out, 32, "%.*f", size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
    return out;
}
