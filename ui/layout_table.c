/* Tables on the screen. */
#include "layout.h"

#include "ground/mem.h"

#include <string.h>

static bool is_number(const struct table *table, int column)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (table_cell(table, r, (size_t)column)->text) return false;
    return table->row_count > 0;
}

/* What its cells need, its name included. */
static int column_width(const struct table *table, int column, int most)
{
    int widest = text_width(table->columns[column].name);
    for (size_t r = 0; r < table->row_count && widest < most; r++) {
        struct text cell = {0};
        table_show(table, r, (size_t)column, &cell);
        int width = cell.data ? text_width(cell.data) : 0;
        if (width > widest) widest = width;
        text_clear(&cell);
    }
    return widest < most ? widest : most;
}

static void draw_column(struct cells *cells, struct area area, const struct table *table, int column, int width, int first)
{
    bool right = is_number(table, column);
    const char *name = table->columns[column].name;
    int shift = right ? width - text_width(name) : 0;
    cells_put(cells, area.row, area.col + (shift > 0 ? shift : 0), TINT_DIM, name, width);
    for (int i = 0; i + 1 < area.rows && first + i < (int)table->row_count; i++) {
        struct text cell = {0};
        text_add(&cell, "%s", "");
        table_show(table, (size_t)(first + i), (size_t)column, &cell);
        shift = right ? width - text_width(cell.data) : 0;
        cells_put(cells, area.row + 1 + i, area.col + (shift > 0 ? shift : 0), TINT_PLAIN, cell.data, width);
        text_clear(&cell);
    }
}

static bool is_named(const char *const *names, const char *name)
{
    if (!names) return true;
    while (*names && strcmp(*names, name) != 0) names++;
    return *names;
}

void draw_table(struct cells *cells, struct area area, const struct table *table, const char *const *columns, int at)
{
    struct area body = {area.row + 1, area.col, area.rows - 1, area.cols};
    int end = area.col + area.cols, first = scroll_first(at, (int)table->row_count, body.rows), col = area.col + 1;
    for (int c = 0; c < (int)table->column_count && col < end - 1; c++) {
        if (!is_named(columns, table->columns[c].name)) continue;
        int width = column_width(table, c, 40);
        if (width > end - 1 - col) width = end - 1 - col;
        draw_column(cells, (struct area){area.row, col, area.rows, width}, table, c, width, first);
        col += width + 2;
    }
    if (at >= first && at - first < body.rows) draw_mark(cells, body.row + at - first, area.col, area.cols);
    draw_scroll(cells, body, first, (int)table->row_count);
}

void draw_facts(struct cells *cells, struct area area, const struct table *table)
{
    if (table->column_count < 2 || area.rows < 1) return;
    int across = area.cols >= 150 ? 3 : 2, width = area.cols / across - 1, name = column_width(table, 0, width * 11 / 20);
    int down = ((int)table->row_count + across - 1) / across;
    if (down > area.rows) {
        int more = (int)table->row_count - (area.rows - 1) * across;
        cells_text(cells, area.row + area.rows - 1, area.col + 1, TINT_DIM, "... %d more, see loopscope info", more);
        down = area.rows - 1;
    }
    for (int i = 0; down > 0 && i < (int)table->row_count && i / down < across; i++) {
        int row = area.row + i % down, col = area.col + 1 + i / down * (width + 1);
        struct text key = {0}, text = {0};
        text_add(&key, "%s", ""), text_add(&text, "%s", "");
        table_show(table, (size_t)i, 0, &key), table_show(table, (size_t)i, 1, &text);
        cells_put(cells, row, col, TINT_DIM, key.data, name);
        const char *source = table_text(table, (size_t)i, "source");
        bool fallback = source && !strcmp(source, "default"); /* nobody said so: that must be seen */
        if (fallback) text_add(&text, " (default)");
        cells_put(cells, row, col + name + 1, fallback ? TINT_WARN : TINT_PLAIN, text.data, width - name - 2);
        text_clear(&key), text_clear(&text);
    }
}
