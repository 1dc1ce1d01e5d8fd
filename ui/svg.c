#include "svg.h"

#include "theme.h"

#include <string.h>

enum { WIDE = 9, HIGH = 18, EDGE = 12 };

static const char ground[] = "#16181d", letters[] = "#d6d9df", faint[] = "#7f8694";

/* The sixteen colours of a terminal, close to Okabe and Ito's where they have one. */
static const char *const palette[16] = {
    "#16181d", "#e06c52", "#35b08a", "#e0a030", "#4a8fd0", "#cc79a7", "#56b4c9", "#d6d9df",
    "#7f8694", "#ff8f73", "#5fd0a8", "#f0e442", "#6fb2f0", "#e7a3c8", "#7fd4e6", "#ffffff",
};

static const char *colour_of(const struct glyph *glyph)
{
    struct paint paint = theme_paint(glyph->tint, 16);
    return paint.dim ? faint : paint.colour < 0 ? letters : palette[paint.colour];
}

static bool is_bold(const struct glyph *glyph) { return theme_paint(glyph->tint, 16).bold || glyph->look & LOOK_BOLD; }

static bool same_look(const struct glyph *a, const struct glyph *b) { return a->tint == b->tint && a->look == b->look; }

static void add_letter(struct text *out, const char *letter)
{
    if (!strcmp(letter, "<")) text_add(out, "&lt;");
    else if (!strcmp(letter, "&")) text_add(out, "&amp;");
    else text_add(out, "%s", letter);
}

/* A run of cells that look alike. Its length is given, so that the columns stand in any font. */
static void add_run(const struct glyph *run, int count, int row, int col, struct text *out)
{
    bool reverse = run->look & LOOK_REVERSE;
    int blank = 0, x = EDGE + col * WIDE, y = EDGE + row * HIGH;
    while (blank < count && !strcmp(run[blank].text, " ")) blank++;
    if (reverse) text_add(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y, count * WIDE, HIGH, colour_of(run));
    if (blank == count) return;
    text_add(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"%s\"%s>", x, y + 14, count * WIDE, reverse ? ground : colour_of(run),
             is_bold(run) ? " font-weight=\"bold\"" : "");
    for (int i = 0; i < count; i++) add_letter(out, run[i].text);
    text_add(out, "</text>\n");
}

void svg_add(const struct cells *cells, struct text *out)
{
    int width = cells->cols * WIDE + 2 * EDGE, height = cells->rows * HIGH + 2 * EDGE;
    text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"\n", width, height, width, height);
    text_add(out, " xml:space=\"preserve\" font-size=\"15\" font-family=\"'DejaVu Sans Mono','Menlo','Consolas',monospace\">\n");
    text_add(out, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", ground);
    for (int r = 0; r < cells->rows; r++) {
        const struct glyph *line = cells->at + (size_t)r * (size_t)cells->cols;
        for (int c = 0, end; c < cells->cols; c = end) {
            for (end = c + 1; end < cells->cols && same_look(&line[c], &line[end]);) end++;
            add_run(line + c, end - c, r, c, out);
        }
    }
    text_add(out, "</svg>\n");
}
