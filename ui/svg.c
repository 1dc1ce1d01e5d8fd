#include "svg.h"

#include <string.h>

enum { WIDE = 9, HIGH = 18, EDGE = 12 };

static unsigned colour_of(enum theme theme, const struct glyph *glyph) { return theme_picture(theme, glyph->tint).colour; }

static bool is_bold(enum theme theme, const struct glyph *glyph) { return theme_picture(theme, glyph->tint).bold || glyph->look & LOOK_BOLD; }

static bool same_look(const struct glyph *a, const struct glyph *b) { return a->tint == b->tint && a->look == b->look; }

static void add_letter(struct text *out, const char *letter)
{
    if (!strcmp(letter, "<")) text_add(out, "&lt;");
    else if (!strcmp(letter, "&")) text_add(out, "&amp;");
    else text_add(out, "%s", letter);
}

/* A run of cells that look alike. Its length is given, so that the columns stand in any font. */
static void add_run(enum theme theme, const struct glyph *run, int count, int row, int col, struct text *out)
{
    bool reverse = run->look & LOOK_REVERSE;
    int blank = 0, x = EDGE + col * WIDE, y = EDGE + row * HIGH;
    while (blank < count && !strcmp(run[blank].text, " ")) blank++;
    if (reverse)
        text_add(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x, y, count * WIDE, HIGH, colour_of(theme, run));
    if (blank == count) return;
    text_add(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s>", x, y + 14, count * WIDE,
             reverse ? theme_ground(theme) : colour_of(theme, run), is_bold(theme, run) ? " font-weight=\"bold\"" : "");
    for (int i = 0; i < count; i++) add_letter(out, run[i].text);
    text_add(out, "</text>\n");
}

void svg_add(const struct cells *cells, enum theme theme, struct text *out)
{
    int width = cells->cols * WIDE + 2 * EDGE, height = cells->rows * HIGH + 2 * EDGE;
    text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"\n", width, height, width, height);
    text_add(out, " xml:space=\"preserve\" font-size=\"15\" font-family=\"'DejaVu Sans Mono','Menlo','Consolas',monospace\">\n");
    text_add(out, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#%06x\"/>\n", theme_ground(theme));
    for (int r = 0; r < cells->rows; r++) {
        const struct glyph *line = cells->at + (size_t)r * (size_t)cells->cols;
        for (int c = 0, end; c < cells->cols; c = end) {
            for (end = c + 1; end < cells->cols && same_look(&line[c], &line[end]);) end++;
            add_run(theme, line + c, end - c, r, c, out);
        }
    }
    text_add(out, "</svg>\n");
}
