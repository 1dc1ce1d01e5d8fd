#include "figures/cells.h"

#include "ground/mem.h"
#include "ground/text.h"
#include "ground/width.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct cells *cells_new(int rows, int cols)
{
    struct cells *cells = mem_new(sizeof *cells);
    cells->rows = rows > 0 ? rows : 0;
    cells->cols = cols > 0 ? cols : 0;
    cells->at = mem_new((size_t)cells->rows * (size_t)cells->cols * sizeof *cells->at);
    cells_clear(cells);
    return cells;
}

void cells_free(struct cells *cells)
{
    if (!cells) return;
    mem_free(cells->at);
    mem_free(cells);
}

void cells_clear(struct cells *cells)
{
    for (int i = 0; i < cells->rows * cells->cols; i++) cells->at[i] = (struct glyph){.text = " "};
}

struct glyph *cells_glyph(struct cells *cells, int row, int col)
{
    return row < 0 || col < 0 || row >= cells->rows || col >= cells->cols ? NULL : &cells->at[row * cells->cols + col];
}

/* What a reader of ASCII sees instead; as wide as the original. */
static void fall_back(char piece[PIECE_SIZE], int width)
{
    unsigned code = 0;
    char c = '?';
    if (!text_utf8(piece, &code) || code < 0x80) return;
    if (code >= 0x2500 && code < 0x2580) { /* lines; what is neither flat nor upright is a corner */
        c = code <= 0x2501 || code == 0x2504 || code == 0x2505 || code == 0x2508 || code == 0x254c || code == 0x2550 || code == 0x2574 ? '-'
            : code <= 0x2503 || code == 0x2506 || code == 0x250a || code == 0x2551 ? '|' : '+';
    } else if (code >= 0x2800 && code < 0x2900) c = code == 0x2800 ? ' ' : '.';
    else if (code >= 0x2580 && code < 0x25a0) c = code == 0x2591 ? '.' : code == 0x2592 ? ':' : '#';
    else if (code == 0x2190 || code == 0x25c0 || code == 0x25c2 || code == 0x2039) c = '<';
    else if (code == 0x2192 || code == 0x25b6 || code == 0x25b8 || code == 0x203a) c = '>';
    else if (code == 0x2191 || code == 0x25b2 || code == 0x25b4) c = '^';
    else if (code == 0x2193 || code == 0x25bc || code == 0x25be) c = 'v';
    else if (code == 0x25cf || code == 0x25cb || code == 0x2022) c = 'o';
    else if (code == 0xb7 || code == 0x2026) c = '.';
    else if (code == 0xd7) c = 'x';
    else if (code == 0x2212 || code == 0x2013 || code == 0x2014) c = '-';
    else if (code == 0x2713 || code == 0x2714) c = '+';
    else if (code == 0xa0) c = ' ';
    memset(piece, c, (size_t)width);
    piece[width] = 0;
}

/* What is overwritten may be half of a wide character: the other half becomes a blank. */
static void cut_wide(struct cells *cells, int row, int col)
{
    struct glyph *here = cells_glyph(cells, row, col), *before = cells_glyph(cells, row, col - 1), *after = cells_glyph(cells, row, col + 1);
    if (here && !*here->text && before) strcpy(before->text, " ");
    if (here && *here->text && after && !*after->text) strcpy(after->text, " ");
}

static void put_glyph(struct cells *cells, int row, int col, enum tint tint, const char *text)
{
    struct glyph *glyph = cells_glyph(cells, row, col);
    if (!glyph) return;
    cut_wide(cells, row, col);
    *glyph = (struct glyph){.tint = (unsigned char)tint};
    memcpy(glyph->text, text, strlen(text) < sizeof glyph->text ? strlen(text) : 0);
}

static void put_mark(struct cells *cells, int row, int col, const char *mark)
{
    struct glyph *glyph = cells_glyph(cells, row, col);
    if (glyph && !*glyph->text) glyph = cells_glyph(cells, row, col - 1);
    if (glyph && !cells->ascii && strlen(glyph->text) + strlen(mark) < sizeof glyph->text) strcat(glyph->text, mark);
}

/* One piece at col: a character of one or two columns, or an escape of several plain ones. */
static void put_piece(struct cells *cells, int row, int col, enum tint tint, const char *piece, int width)
{
    unsigned code = 0;
    bool one = text_utf8(piece, &code) == (int)strlen(piece);
    if (one && width == 2 && cells_glyph(cells, row, col) && cells_glyph(cells, row, col + 1)) {
        put_glyph(cells, row, col + 1, tint, "");
        put_glyph(cells, row, col, tint, piece);
        strcpy(cells_glyph(cells, row, col + 1)->text, "");
    } else if (one && width == 2) {
        put_glyph(cells, row, col, tint, " "); /* only half of it would be seen */
        put_glyph(cells, row, col + 1, tint, " ");
    } else if (one) put_glyph(cells, row, col, tint, piece);
    else
        for (int i = 0; i < width; i++) put_glyph(cells, row, col + i, tint, (char[]){piece[i], 0});
}

int cells_put(struct cells *cells, int row, int col, enum tint tint, const char *text, int width)
{
    char piece[PIECE_SIZE];
    int size, columns, end = col + width;
    bool cut = text_width(text) > width;
    if (width <= 0) return col;
    if (cut) end--;
    for (; (size = text_piece(text, piece, &columns)); text += size) {
        if (!columns) {
            put_mark(cells, row, col - 1, piece);
            continue;
        }
        if (columns > end - col) break;
        if (cells->ascii) fall_back(piece, columns);
        put_piece(cells, row, col, tint, piece, columns);
        col += columns;
    }
    if (cut) put_glyph(cells, row, col++, tint, "~");
    return col;
}

int cells_text(struct cells *cells, int row, int col, enum tint tint, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_new((size_t)(size > 0 ? size : 0) + 1);
    if (size > 0) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    int end = cells_put(cells, row, col, tint, text, text_width(text));
    mem_free(text);
    return end;
}

void cells_look(struct cells *cells, int row, int col, int width, int look)
{
    for (int i = 0; i < width; i++) {
        struct glyph *glyph = cells_glyph(cells, row, col + i);
        if (glyph) glyph->look |= (unsigned char)look;
    }
}

void cells_page(const struct cells *cells, struct text *out)
{
    for (int row = 0; row < cells->rows; row++) {
        size_t end = out->size;
        for (int col = 0; col < cells->cols; col++) {
            const char *text = cells->at[row * cells->cols + col].text;
            text_add(out, "%s", text);
            if (*text && strcmp(text, " ")) end = out->size;
        }
        out->size = end;
        text_add(out, "\n");
    }
}
