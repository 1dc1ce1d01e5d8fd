#include "flips_panel.h"
#include "search.h"

#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_here(const struct flips_panel *p, const struct table *table, size_t r)
{
    const char *split = table_text(table, r, "split");
    return split && !strcmp(split, p->split);
}

static bool turns_right(const struct table *table, size_t r)
{
    const char *turns = table_text(table, r, "turns");
    return turns && !strcmp(turns, "right");
}

int flips_panel_count(const struct flips_panel *p)
{
    const struct table *table = result_table(p->flips, 0);
    int count = 0;
    for (size_t r = 0; table && r < table->row_count; r++) count += is_here(p, table, r);
    return count;
}

long flips_panel_row(const struct flips_panel *p)
{
    const struct table *table = result_table(p->flips, 0);
    int seen = 0;
    for (size_t r = 0; table && r < table->row_count; r++)
        if (is_here(p, table, r) && seen++ == p->at) return (long)r;
    return -1;
}

/* Between the untouched run and alpha: a question that turned back counts for neither. */
static void count_to(const struct flips_panel *p, const struct table *table, double alpha, int *better, int *worse)
{
    long last = -1;
    *better = *worse = 0;
    for (size_t r = 0; r < table->row_count; r++)
        if (table_number(table, r, "row") > (double)last) last = (long)table_number(table, r, "row");
    int *turned = mem_new((size_t)(last + 1) * sizeof *turned); /* of each question of the split */
    for (size_t r = 0; r < table->row_count; r++) {
        if (!is_here(p, table, r) || table_number(table, r, "alpha") > alpha + 1e-9) continue;
        turned[(long)table_number(table, r, "row")] += turns_right(table, r) ? 1 : -1;
    }
    for (long i = 0; i <= last; i++) *better += turned[i] > 0, *worse += turned[i] < 0;
    mem_free(turned);
}

/* Upwards (-1) or downwards (1) from a row, in halves of a cell; anything shows at least one. */
static void draw_bar_from(struct cells *cells, int row, int col, int way, double halves, enum tint tint)
{
    int count = halves > 0 && halves < 1 ? 1 : (int)lround(halves);
    for (int i = 0; i < count; i += 2) {
        bool whole = i + 1 < count;
        cells_text(cells, row + way * (1 + i / 2), col, tint, "%s", cells->ascii ? (way < 0 ? "#" : "o") : whole ? "█" : way < 0 ? "▄" : "▀");
    }
}

/* How many turn at each alpha: right upwards, wrong downwards. */
static void draw_bars(const struct flips_panel *p, struct cells *cells, struct area area, const struct table *table)
{
    enum { STEPS = 21 };
    int right[STEPS] = {0}, wrong[STEPS] = {0}, most = 1, half = (area.rows - 1) / 2, width = area.cols / STEPS > 2 ? 2 : 1;
    for (size_t r = 0; r < table->row_count; r++) {
        int at = (int)lround(table_number(table, r, "alpha") * (STEPS - 1));
        if (!is_here(p, table, r) || at < 0 || at >= STEPS) continue;
        int *n = turns_right(table, r) ? &right[at] : &wrong[at];
        if (++*n > most) most = *n;
    }
    int middle = area.row + half, marked = (int)lround(p->alpha * (STEPS - 1));
    for (int i = 0; i < STEPS; i++) {
        int col = area.col + i * width;
        draw_bar_from(cells, middle, col, -1, 2.0 * half * right[i] / most, TINT_GOOD);
        draw_bar_from(cells, middle, col, 1, 2.0 * half * wrong[i] / most, TINT_BAD);
        for (int w = 0; w < width; w++) cells_text(cells, middle, col + w, i == marked ? TINT_KEY : TINT_DIM, i == marked && !w ? "┼" : "─");
    }
    cells_text(cells, area.row, area.col + STEPS * width + 1, TINT_GOOD, "turn right");
    cells_text(cells, area.row + 1, area.col + STEPS * width + 1, TINT_DIM, "most %d", most);
    cells_text(cells, middle + half, area.col + STEPS * width + 1, TINT_BAD, "turn wrong");
    cells_text(cells, middle, area.col + STEPS * width + 1, TINT_DIM, "alpha 0 to 1");
}

static void draw_flip(struct cells *cells, struct area area, const struct table *table, size_t r, bool marked)
{
    bool right = turns_right(table, r);
    const char *question = table_text(table, r, "question"), *from = table_text(table, r, "from"), *to = table_text(table, r, "to");
    int end = area.col + area.cols;
    cells_text(cells, area.row, area.col + 1, TINT_PLAIN, "%.2f", table_number(table, r, "alpha"));
    cells_text(cells, area.row, area.col + 7, right ? TINT_GOOD : TINT_BAD, right ? "right" : "wrong");
    draw_right(cells, area.row, area.col + 18, TINT_DIM, "%.0f", table_number(table, r, "row"));
    int change = end - 18;
    draw_tokens(cells, area.row, area.col + 20, change - area.col - 21, TINT_PLAIN, question ? question : "");
    int col = draw_name(cells, area.row, change, 7, right ? TINT_DIM : TINT_GOOD, from ? from : "");
    col = cells_text(cells, area.row, col, TINT_DIM, cells->ascii ? " -> " : " → ");
    draw_name(cells, area.row, col, 7, right ? TINT_GOOD : TINT_BAD, to ? to : "");
    if (marked) draw_mark(cells, area.row, area.col, area.cols);
}

static int bar_rows(struct area area) { return area.rows >= 14 ? 7 : area.rows >= 10 ? 5 : 0; }

struct area flips_panel_list(const struct flips_panel *p, struct area area, int *first)
{
    int above = 2 + bar_rows(area);
    struct area list = {area.row + above, area.col, area.rows - above, area.cols};
    *first = scroll_first(p->at, flips_panel_count(p), list.rows);
    return list;
}

bool flips_panel_search(struct flips_panel *p, const char *text, int step)
{
    const struct table *table = result_table(p->flips, 0);
    int count = flips_panel_count(p), from = p->at;
    for (int i = 1; i <= count; i++) {
        p->at = ((from + step * i) % count + count) % count;
        if (search_row(table, (size_t)flips_panel_row(p), text)) return true;
    }
    p->at = from;
    return false;
}

static void draw_list(const struct flips_panel *p, struct cells *cells, struct area all, const struct table *table)
{
    int count = flips_panel_count(p), seen = 0, first;
    struct area area = flips_panel_list(p, all, &first);
    cells_text(cells, area.row - 1, area.col + 1, TINT_DIM, "alpha turns  row  question");
    for (size_t r = 0; r < table->row_count && seen < first + area.rows; r++) {
        if (!is_here(p, table, r)) continue;
        if (seen >= first) draw_flip(cells, (struct area){area.row + seen - first, area.col, 1, area.cols - 1}, table, r, p->focus && seen == p->at);
        seen++;
    }
    draw_scroll(cells, area, first, count);
}

void flips_panel_draw(const struct flips_panel *p, struct cells *cells, struct area area)
{
    const struct table *table = result_table(p->flips, 0);
    if (!table) {
        draw_wrapped(cells, (struct area){area.row, area.col + 2, area.rows, area.cols - 4}, TINT_DIM,
                     p->flips && p->flips->state == RESULT_FAILED && p->flips->wrong ? p->flips->wrong : "computing ...");
        return;
    }
    int better, worse, bars = bar_rows(area);
    const char *arrow = cells->ascii ? "->" : "→";
    count_to(p, table, p->alpha, &better, &worse);
    int col = cells_text(cells, area.row, area.col + 1, TINT_PLAIN, "at %.2f in %s: ", p->alpha, p->split);
    col = cells_text(cells, area.row, col, TINT_GOOD, "%d wrong %s right", better, arrow);
    cells_text(cells, area.row, col, TINT_BAD, ", %d right %s wrong", worse, arrow);
    if (bars) draw_bars(p, cells, (struct area){area.row + 1, area.col + 1, bars, area.cols - 16}, table);
    if (!flips_panel_count(p) && p->flips->state == RESULT_DONE)
        cells_text(cells, area.row + 1 + bars, area.col + 1, TINT_WARN, "no answer turns at any alpha");
    else draw_list(p, cells, area, table);
}
