#include "markdown.h"

#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 12, FIRST_MOST = 44 }; /* of a table; the width that its first column may have */

struct page {
    struct cells *cells;
    struct area area;
    int row;
};

static const char *line_end(const char *line) { return line + strcspn(line, "\n"); }
static const char *next_line(const char *line) { return line_end(line) + (*line_end(line) == '\n'); }

/* The marks of bold text and of code are for those who cannot see them. */
static void add_plain(struct text *out, const char *from, const char *to)
{
    text_add(out, "%s", "");
    for (; from < to; from++) {
        if (from + 1 < to && from[0] == '*' && from[1] == '*') from++;
        else if (*from != '`') text_add_bytes(out, from, 1);
    }
    text_add(out, "%s", "");
}

static struct area rest(const struct page *p, int indent)
{
    return (struct area){p->area.row + p->row, p->area.col + indent, p->area.rows - p->row, p->area.cols - indent};
}

static void add_wrapped(struct page *p, enum tint tint, int indent, const char *from, const char *to)
{
    struct text plain = {0};
    add_plain(&plain, from, to);
    p->row += draw_wrapped(p->cells, rest(p, indent), tint, plain.data);
    text_clear(&plain);
}

/* ---- tables */

struct field { const char *at; int size; };

/* "| a | b |": the fields without the blanks around them. */
static int split_fields(const char *line, struct field fields[COLUMNS])
{
    const char *end = line_end(line), *at = line + 1;
    int count = 0;
    while (at < end && count < COLUMNS) {
        size_t size = strcspn(at, "|\n");
        const char *from = at + strspn(at, " "), *to = at + size;
        while (to > from && to[-1] == ' ') to--;
        fields[count++] = (struct field){from, from < to ? (int)(to - from) : 0};
        at += size + 1;
    }
    return count;
}

static bool is_rule(const char *line) { return (size_t)(line_end(line) - line) == strspn(line, "|-: "); }

static int field_width(const struct field *field)
{
    char word[256];
    snprintf(word, sizeof word, "%.*s", field->size, field->at);
    return text_width(word);
}

static void draw_row(struct page *p, const char *line, const int widths[COLUMNS], enum tint tint)
{
    struct field fields[COLUMNS];
    int count = split_fields(line, fields), col = p->area.col + 1, end = p->area.col + p->area.cols;
    for (int i = 0; i < count && col + widths[i] <= end; i++) { /* whole columns only */
        char word[256];
        snprintf(word, sizeof word, "%.*s", fields[i].size, fields[i].at);
        int blank = i ? widths[i] - text_width(word) : 0;
        cells_put(p->cells, p->area.row + p->row, col + (blank > 0 ? blank : 0), tint, word, widths[i]);
        col += widths[i] + 2;
    }
    p->row++;
}

static const char *add_table(struct page *p, const char *line)
{
    struct field fields[COLUMNS];
    int widths[COLUMNS] = {0};
    bool head = true;
    for (const char *at = line; *at == '|'; at = next_line(at)) {
        int count = is_rule(at) ? 0 : split_fields(at, fields);
        for (int i = 0; i < count; i++) {
            int width = field_width(&fields[i]);
            if (width > widths[i]) widths[i] = width;
        }
    }
    int most = p->area.cols / 2 < FIRST_MOST ? p->area.cols / 2 : FIRST_MOST;
    if (widths[0] > most) widths[0] = most;
    for (; *line == '|'; line = next_line(line)) {
        if (!is_rule(line)) draw_row(p, line, widths, head ? TINT_DIM : TINT_PLAIN);
        head = false;
    }
    return line;
}

/* ---- lines */

/* "![caption](path)": the caption follows as a paragraph, so here stands the file. */
static void add_picture(struct page *p, const char *line)
{
    const char *end = line_end(line), *from = memmem(line, (size_t)(end - line), "](", 2);
    if (!from) return;
    for (const char *c = from += 2; c < end; c++)
        if (*c == '/') from = c + 1;
    int col = cells_text(p->cells, p->area.row + p->row, p->area.col, TINT_DIM, "figure ");
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(from, ")\n"), from);
    cells_put(p->cells, p->area.row + p->row++, col, TINT_KEY, name, p->area.col + p->area.cols - col);
}

static void add_line(struct page *p, const char *line)
{
    const char *end = line_end(line);
    size_t marks = strspn(line, "#");
    if (line == end) p->row++;
    else if (marks == 1) add_wrapped(p, TINT_TITLE, 0, line + marks + strspn(line + marks, " "), end);
    else if (marks) {
        char heading[256];
        snprintf(heading, sizeof heading, "%.*s", (int)(end - line - (long)marks - 1), line + marks + 1);
        draw_heading(p->cells, p->area.row + p->row++, p->area.col, p->area.cols, heading);
    } else if (text_starts(line, "![")) add_picture(p, line);
    else if (text_starts(line, "- ")) {
        cells_text(p->cells, p->area.row + p->row, p->area.col, TINT_PLAIN, "-");
        add_wrapped(p, text_starts(line, "- **does not") ? TINT_BAD : TINT_PLAIN, 2, line + 2, end);
    } else if (text_starts(line, "    ")) add_wrapped(p, TINT_KEY, 2, line + 4, end);
    else add_wrapped(p, TINT_PLAIN, 0, line, end);
}

int markdown_draw(struct cells *cells, struct area area, const char *text)
{
    struct page p = {cells, area, 0};
    while (*text && p.row < area.rows) {
        if (*text == '|') text = add_table(&p, text);
        else add_line(&p, text), text = next_line(text);
    }
    return p.row;
}
