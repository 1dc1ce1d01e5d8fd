#include "fade_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int draw_heads(struct cells *cells, struct area area, int bar)
{
    cells_text(cells, area.row, area.col + 1, TINT_DIM, "state  position     n");
    cells_put(cells, area.row, area.col + 24, TINT_DIM, "what is left of it", bar + 6);
    cells_put(cells, area.row, area.col + 24 + bar + 8, TINT_DIM, "length", bar + 6);
    return 1;
}

static void draw_line(struct cells *cells, struct area area, const struct table *table, size_t r, int bar, char letter)
{
    double survives = table_number(table, r, "survives"), ratio = table_number(table, r, "ratio"), boundary = table_number(table, r, "boundary");
    bool written = survives == 1 && ratio == 1;
    enum tint tint = written ? TINT_DIM : TINT_SERIES_1;
    cells_text(cells, area.row, area.col + 1, TINT_KEY, "%c.%.0f", letter, boundary);
    draw_right(cells, area.row, area.col + 16, TINT_PLAIN, "%.0f", table_number(table, r, "position"));
    draw_right(cells, area.row, area.col + 22, TINT_DIM, "%.0f", table_number(table, r, "n"));
    draw_right(cells, area.row, area.col + 28, TINT_TITLE, "%s", unit_show(survives));
    draw_bar(cells, area.row, area.col + 29, bar, fabs(survives), survives < 0 ? TINT_SERIES_2 : tint);
    draw_right(cells, area.row, area.col + 29 + bar + 7, TINT_PLAIN, "%s", unit_show(ratio));
    draw_bar(cells, area.row, area.col + 29 + bar + 8, bar, ratio, tint);
    if (written && bar >= 19) cells_put(cells, area.row, area.col + 29, TINT_DIM, " as it was written ", bar);
}

/* The last boundary of the edited position, in words. */
static void draw_verdict(struct cells *cells, struct area area, const struct table *table, const char *split, char letter)
{
    double position = NAN, left = NAN, boundary = NAN, ratio = NAN;
    for (size_t r = 0; r < table->row_count; r++) {
        const char *name = table_text(table, r, "split");
        if (!name || strcmp(name, split) != 0) continue;
        if (isnan(position)) position = table_number(table, r, "position");
        if (letter == 's') position = table_number(table, r, "position"); /* by token every boundary is of another position */
        else if (table_number(table, r, "position") != position) continue;
        left = table_number(table, r, "survives"), ratio = table_number(table, r, "ratio"), boundary = table_number(table, r, "boundary");
    }
    if (isnan(left) || area.rows < 1) return;
    struct text text = {0};
    text_add(&text, "At %c.%.0f, position %.0f, %.0f %% of what was written is left along its direction; ", letter, boundary, position, 100 * left);
    text_add(&text, "the whole difference has %.0f %% of its length.", 100 * ratio);
    draw_wrapped(cells, area, TINT_PLAIN, text.data);
    text_clear(&text);
}

void fade_panel_draw(const struct fade_panel *p, struct cells *cells, struct area area)
{
    const struct table *table = result_table(p->fade, 0);
    int row = area.row, bar = (area.cols - 46) / 2, shown = 0;
    if (!table || !p->fade || p->fade->state != RESULT_DONE) {
        draw_wrapped(cells, (struct area){area.row, area.col + 2, area.rows, area.cols - 4}, TINT_DIM,
                     p->fade && p->fade->state == RESULT_FAILED && p->fade->wrong ? p->fade->wrong : "computing ...");
        return;
    }
    if (bar > 40) bar = 40;
    if (bar < 3) bar = 3;
    row += draw_heads(cells, area, bar);
    for (size_t r = 0; r < table->row_count && row < area.row + area.rows; r++) {
        const char *split = table_text(table, r, "split");
        bool reached = !(table_number(table, r, "ratio") == 0); /* where nothing arrived there is nothing to see */
        if (!split || strcmp(split, p->split) != 0 || !reached) continue;
        draw_line(cells, (struct area){row++, area.col, 1, area.cols}, table, r, bar, p->boundary);
        shown++;
    }
    if (!shown) cells_text(cells, row++, area.col + 2, TINT_WARN, "the edit changed nothing");
    int rest = area.row + area.rows - row - 1;
    if (rest > 0) draw_verdict(cells, (struct area){row + 1, area.col + 1, rest, area.cols - 2}, table, p->split, p->boundary);
}
