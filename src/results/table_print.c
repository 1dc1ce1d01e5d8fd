/* The three printed forms of a table. */
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "ground/width.h"
#include "results/table.h"

#include <string.h>

static void show_number(const struct column *column, double number, struct text *out)
{
    if (isnan(number)) text_add(out, "n/a");
    else if (isinf(number)) text_add(out, number < 0 ? "-inf" : "inf");
    else if (column->format) text_add(out, column->format, number); /* checked when the column was made: one double and nothing else */
    else if (number == floor(number) && fabs(number) < 1e15) text_add(out, "%.0f", number + 0.0);
    else text_add(out, "%.6g", number);
}

void table_show(const struct table *table, size_t row, size_t column, struct text *out)
{
    const struct cell *cell = table_cell(table, row, column);
    char piece[PIECE_SIZE];
    int width, size;
    if (!cell->text) {
        show_number(&table->columns[column], cell->number, out);
        return;
    }
    for (const char *s = cell->text; (size = text_piece(s, piece, &width)); s += size) text_add(out, "%s", piece);
}

/* A column of text stands left, a column of numbers right. */
static bool is_left(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (table_cell(table, row, column)->text) return true;
    return !table->row_count && table->columns[column].role == ROLE_LABEL;
}

static void pad(struct text *line, int count)
{
    for (int i = 0; i < count; i++) text_add_bytes(line, " ", 1);
}

static void add_field(struct text *line, const char *field, int width, bool left, int gap)
{
    int rest = width - text_width(field);
    if (line->size) pad(line, gap);
    if (!left) pad(line, rest);
    text_add(line, "%s", field);
    if (left) pad(line, rest);
}

static void end_line(struct text *line, struct text *out)
{
    while (line->size && line->data[line->size - 1] == ' ') line->data[--line->size] = 0;
    text_add(out, "%s\n", line->size ? line->data : "");
    line->size = 0;
}

static void print_head(const struct table *table, const int *widths, const bool *left, int gap, struct text *out)
{
    struct text line = {0}, rule = {0};
    for (size_t c = 0; c < table->column_count; c++) {
        struct text dashes = {0};
        for (int i = 0; i < widths[c]; i++) text_add_bytes(&dashes, "-", 1);
        add_field(&line, table->columns[c].name, widths[c], left[c], gap);
        add_field(&rule, dashes.data ? dashes.data : "", widths[c], true, gap);
        text_clear(&dashes);
    }
    end_line(&line, out);
    end_line(&rule, out);
    text_clear(&line);
    text_clear(&rule);
}

void table_print(const struct table *table, struct text *out)
{
    enum { PAGE = 80 };
    size_t columns = table->column_count;
    int *widths = mem_new(columns * sizeof *widths), total = -2, gap = 2;
    bool *left = mem_new(columns * sizeof *left);
    struct text field = {0}, line = {0};
    for (size_t c = 0; c < columns; c++) {
        widths[c] = text_width(table->columns[c].name);
        left[c] = is_left(table, c);
        for (size_t r = 0; r < table->row_count; r++) {
            field.size = 0;
            table_show(table, r, c, &field);
            int width = field.size ? text_width(field.data) : 0;
            if (width > widths[c]) widths[c] = width;
        }
        total += widths[c] + gap;
    }
    if (total > PAGE) gap = 1;
    print_head(table, widths, left, gap, out);
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < columns; c++) {
            field.size = 0;
            text_add(&field, "%s", "");
            table_show(table, r, c, &field);
            add_field(&line, field.data, widths[c], left[c], gap);
        }
        end_line(&line, out);
    }
    text_clear(&field);
    text_clear(&line);
    mem_free(widths);
    mem_free(left);
}

static void add_escaped(struct text *out, const char *s, bool quoted)
{
    for (; *s; s++) {
        if (*s == '\\') text_add(out, "\\\\");
        else if (*s == '\n') text_add(out, "\\n");
        else if (*s == '\r') text_add(out, "\\r");
        else if (*s == '\t') text_add(out, "\\t");
        else if (*s == '"' && quoted) text_add(out, "\"\"");
        else text_add_bytes(out, s, 1);
    }
}

/* A text that would be read back as a number, a comment or a quote stands in quotes. */
static void add_tsv_text(struct text *out, const char *s)
{
    double number;
    bool quoted = !*s || *s == '"' || *s == '#' || *s == ' ' || parse_number(s, &number) || table_word_number(s, &number);
    if (quoted) text_add(out, "\"");
    add_escaped(out, s, quoted);
    if (quoted) text_add(out, "\"");
}

static void add_tsv_cell(struct text *out, const struct cell *cell)
{
    if (cell->text) add_tsv_text(out, cell->text);
    else if (isinf(cell->number)) text_add(out, cell->number < 0 ? "-inf" : "inf");
    else if (!isnan(cell->number)) json_add_number(out, cell->number);
}

static void add_tsv_head(const struct table *table, struct text *out)
{
    bool formats = false;
    text_add(out, "# table: ");
    add_escaped(out, table->name, false);
    text_add(out, "\n");
    for (size_t i = 0; i < table->fact_count; i++) {
        text_add(out, "# %s: ", table->facts[i].key);
        add_escaped(out, table->facts[i].value, false);
        text_add(out, "\n");
    }
    for (size_t i = 0; i < table->column_count; i++) {
        text_add(out, "%s%s", i ? "\t" : "# roles: ", role_name(table->columns[i].role));
        formats = formats || table->columns[i].format;
    }
    if (table->column_count) text_add(out, "\n");
    for (size_t i = 0; formats && i < table->column_count; i++)
        text_add(out, "%s%s", i ? "\t" : "# formats: ", table->columns[i].format ? table->columns[i].format : "-");
    if (formats) text_add(out, "\n");
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) text_add(out, "\t");
        add_escaped(out, table->columns[i].name, false);
    }
    text_add(out, "\n");
}

static void add_tsv_row(const struct table *table, const struct cell *cells, struct text *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) text_add(out, "\t");
        add_tsv_cell(out, &cells[i]);
    }
    text_add(out, "\n");
}

void table_tsv(const struct table *table, struct text *out)
{
    add_tsv_head(table, out);
    for (size_t r = 0; r < table->row_count; r++) add_tsv_row(table, table->cells + r * table->column_count, out);
}

static void add_pair(struct text *out, const char *key, const char *value)
{
    json_add_string(out, key);
    text_add(out, ":");
    json_add_string(out, value);
}

void table_json(const struct table *table, struct text *out)
{
    text_add(out, "{\"provenance\":{");
    add_pair(out, "table", table->name);
    for (size_t i = 0; i < table->fact_count; i++) {
        text_add(out, ",");
        add_pair(out, table->facts[i].key, table->facts[i].value);
    }
    text_add(out, "},\n\"columns\":[");
    for (size_t i = 0; i < table->column_count; i++) {
        text_add(out, i ? ",{" : "{");
        add_pair(out, "name", table->columns[i].name);
        text_add(out, ",");
        add_pair(out, "role", role_name(table->columns[i].role));
        if (table->columns[i].format) {
            text_add(out, ",");
            add_pair(out, "format", table->columns[i].format);
        }
        text_add(out, "}");
    }
    text_add(out, "],\n\"rows\":[");
    for (size_t r = 0; r < table->row_count; r++) {
        text_add(out, r ? ",\n[" : "\n[");
        for (size_t c = 0; c < table->column_count; c++) {
            const struct cell *cell = table_cell(table, r, c);
            if (c) text_add(out, ",");
            if (cell->text) json_add_string(out, cell->text);
            else json_add_number(out, cell->number);
        }
        text_add(out, "]");
    }
    text_add(out, "]}\n");
}
