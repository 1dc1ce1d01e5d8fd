#include "map_panel.h"

#include "figures/group.h"
#include "heat.h"

#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 32, COLS_MOST = 64, SPLITS_MOST = 4 };

struct map {
    char rows[ROWS_MOST][16], cols[COLS_MOST][8];
    const char *row_names[ROWS_MOST], *col_names[COLS_MOST], *splits[SPLITS_MOST];
    int row_count, col_count, split_count;
    double values[SPLITS_MOST][ROWS_MOST * COLS_MOST];
};

/* Place of a text in a list of fixed width, added where it is new; -1: there is no room. */
static int place_of(char *list, int width, int *count, int most, const char *text)
{
    for (int i = 0; i < *count; i++)
        if (!strncmp(list + i * width, text, (size_t)width - 1)) return i;
    if (*count == most) return -1;
    snprintf(list + *count * width, (size_t)width, "%s", text);
    return (*count)++;
}

static int split_place(struct map *map, const char *split)
{
    for (int i = 0; i < map->split_count; i++)
        if (!strcmp(map->splits[i], split)) return i;
    if (map->split_count == SPLITS_MOST) return -1;
    map->splits[map->split_count] = split;
    return map->split_count++;
}

/* Rows and columns first: only then is it known where a value stands. */
static void read_map(struct map *map, const struct table *table, const char *axis)
{
    int column = table_find(table, axis);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; pass && i < SPLITS_MOST; i++)
            for (int j = 0; j < map->row_count * map->col_count; j++) map->values[i][j] = NAN;
        for (size_t r = 0; column >= 0 && r < table->row_count; r++) {
            const struct cell *value = table_cell(table, r, (size_t)column);
            const char *split = table_text(table, r, "split");
            char name[16], alpha[8];
            if (value->text) snprintf(name, sizeof name, "%s", value->text);
            else snprintf(name, sizeof name, "%.4g", value->number);
            snprintf(alpha, sizeof alpha, "%s", unit_show(table_number(table, r, "alpha")));
            int row = place_of(map->rows[0], sizeof *map->rows, &map->row_count, ROWS_MOST, name);
            int col = place_of(map->cols[0], sizeof *map->cols, &map->col_count, COLS_MOST, alpha), at = split ? split_place(map, split) : -1;
            if (pass && row >= 0 && col >= 0 && at >= 0) map->values[at][row * map->col_count + col] = table_number(table, r, "accuracy");
        }
    }
    for (int i = 0; i < map->row_count; i++) map->row_names[i] = map->rows[i];
    for (int i = 0; i < map->col_count; i++) map->col_names[i] = map->cols[i];
}

static int marked_row(const struct map *map, const char *value)
{
    for (int i = 0; i < map->row_count; i++)
        if (!strcmp(map->rows[i], value)) return i;
    return -1;
}

/* Columns are alphas from 0 to 1, evenly. */
static int marked_col(const struct map *map, double alpha)
{
    int best = 0;
    for (int i = 1; i < map->col_count; i++)
        if (fabs(i / (map->col_count - 1.0) - alpha) < fabs(best / (map->col_count - 1.0) - alpha)) best = i;
    return best;
}

/* "position 1, alpha .50: 0.412   best 0.431 at position 1, alpha .70", in fewer words where there is little room. */
static void draw_values(const struct map_panel *p, const struct map *map, const struct heat *heat, struct cells *cells, struct area line, int best)
{
    struct text text = {0};
    double here = heat->at_row >= 0 ? heat->values[heat->at_row * map->col_count + heat->at_col] : NAN;
    if (!isnan(here)) text_add(&text, "%s %s, alpha %s: %.3f", p->axis, map->rows[heat->at_row], map->cols[heat->at_col], here);
    int col = cells_put(cells, line.row, line.col, TINT_KEY, text.size ? text.data : "", line.cols);
    text.size = 0;
    const char *row = map->rows[best / map->col_count], *alpha = map->cols[best % map->col_count];
    int room = line.col + line.cols - col;
    struct text words = {0};
    text_add(&text, "%sbest %.3f at ", col > line.col ? "   " : "", heat->values[best]);
    text_add(&words, "%s %s, alpha %s", p->axis, row, alpha);
    if (text_width(text.data) + text_width(words.data) <= room) text_add(&text, "%s", words.data);
    else text_add(&text, "%s, %s", row, alpha);
    text_clear(&words);
    cells_put(cells, line.row, col, TINT_DIM, text.data, line.col + line.cols - col);
    text_clear(&text);
}

static int draw_map(const struct map_panel *p, const struct map *map, int split, struct cells *cells, struct area area)
{
    struct heat heat = {.rows = map->row_count, .cols = map->col_count, .values = map->values[split], .row_names = map->row_names,
                        .col_names = map->col_names, .low = 0, .high = 1, .tint = split_tint(map->splits[split]),
                        .at_row = marked_row(map, p->value), .at_col = marked_col(map, p->alpha)};
    if (heat.tint == TINT_PLAIN) heat.tint = TINT_SERIES_3;
    int best = -1, worst = -1, count = map->row_count * map->col_count;
    for (int i = 0; i < count; i++) {
        if (isnan(heat.values[i])) continue;
        if (best < 0 || heat.values[i] > heat.values[best]) best = i;
        if (worst < 0 || heat.values[i] < heat.values[worst]) worst = i;
    }
    if (best >= 0 && heat.values[best] > heat.values[worst]) heat.low = heat.values[worst], heat.high = heat.values[best];
    int col = cells_text(cells, area.row, area.col, heat.tint, "%s", split_name(map->splits[split]));
    if (best >= 0) draw_values(p, map, &heat, cells, (struct area){area.row, col + 2, 1, area.col + area.cols - col - 2}, best);
    return 1 + heat_draw(&heat, cells, (struct area){area.row + 1, area.col, area.rows - 1, area.cols});
}

/* The numbers with their intervals, those of the marked cell in the middle. */
static void draw_numbers(const struct map_panel *p, const struct map *map, const struct table *table, struct cells *cells, struct area area)
{
    const char *const columns[] = {"split", "alpha", p->axis, "n", "accuracy", "low", "high", NULL};
    const char *alpha = map->cols[marked_col(map, p->alpha)];
    int column = table_find(table, p->axis), at = -1;
    for (size_t r = 0; column >= 0 && r < table->row_count && at < 0; r++) {
        const char *split = table_text(table, r, "split");
        struct text value = {0};
        table_show(table, r, (size_t)column, &value);
        if (split && !strcmp(split, p->split) && !strcmp(unit_show(table_number(table, r, "alpha")), alpha) && value.data &&
            !strcmp(value.data, p->value)) at = (int)r;
        text_clear(&value);
    }
    draw_heading(cells, area.row, area.col, area.cols, "numbers, intervals of 95 %");
    draw_table(cells, (struct area){area.row + 1, area.col, area.rows - 1, area.cols}, table, columns, at);
}

void map_panel_draw(const struct map_panel *p, struct cells *cells, struct area area)
{
    enum { ROWS = 6 }; /* fewer numbers are not worth a table */
    const struct table *table = result_table(p->sweep, 0);
    if (!table) {
        draw_wrapped(cells, (struct area){area.row, area.col + 2, area.rows, area.cols - 4}, TINT_DIM,
                     p->sweep && p->sweep->state == RESULT_FAILED && p->sweep->wrong ? p->sweep->wrong : "computing ...");
        return;
    }
    struct map *map = mem_new(sizeof *map);
    read_map(map, table, p->axis);
    int first = 0, shown = map->split_count;
    for (int i = 0; i < map->split_count; i++)
        if (!strcmp(map->splits[i], p->split)) first = i;
    bool beside = area.cols >= shown * (map->col_count * 4 + 12), below = area.rows >= shown * (map->row_count + 3) - 1;
    bool numbers = area.cols >= shown * (map->col_count * HEAT_NUMBERED + 12);
    if (below && !numbers) beside = false; /* where cells are wider their numbers can be read */
    if (!beside && !below) shown = 1;
    int width = beside && shown > 1 ? area.cols / shown : area.cols;
    area.col++;
    for (int i = 0; i < shown; i++) {
        int split = shown == 1 ? first : i, taken = draw_map(p, map, split, cells, (struct area){area.row, area.col, area.rows, width - 2});
        if (beside) area.col += width;
        else area.row += taken + 1, area.rows -= taken + 1;
    }
    if (!beside && area.rows >= ROWS) draw_numbers(p, map, table, cells, (struct area){area.row, area.col, area.rows, area.cols - 2});
    mem_free(map);
}
