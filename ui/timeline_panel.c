#include "timeline_panel.h"

#include "curves.h"

#include "figures/group.h"
#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CURVES_MOST = 12 };

struct sheet { /* columns of a table as curves */
    struct curve curves[CURVES_MOST];
    char names[CURVES_MOST][32];
    double *numbers[2 * CURVES_MOST];
    int count;
};

static double *new_numbers(struct sheet *sheet, size_t n, int which)
{
    return sheet->numbers[2 * sheet->count + which] = mem_new((n + 1) * sizeof(double));
}

static void end_sheet(struct sheet *sheet)
{
    for (int i = 0; i < 2 * sheet->count; i++) mem_free(sheet->numbers[i]);
}

/* Do two rows belong to one curve: are they alike in all but the first column, and in what was measured? */
static bool is_alike(const struct table *table, size_t a, size_t b)
{
    for (size_t c = 1; c < table->column_count; c++) {
        enum role role = table->columns[c].role;
        const struct cell *x = table_cell(table, a, c), *y = table_cell(table, b, c);
        if (role != ROLE_AXIS && role != ROLE_LABEL) continue;
        if (x->text && y->text ? strcmp(x->text, y->text) != 0 : x->number != y->number && !(isnan(x->number) && isnan(y->number))) return false;
    }
    return true;
}

/* A column over x; the rows that are like one of them, all for -1. */
static void add_curve(struct sheet *sheet, const struct table *table, const char *x, const char *y, long like, const char *name, enum tint tint,
                      bool dashed)
{
    if (sheet->count == CURVES_MOST) return;
    double *xs = new_numbers(sheet, table->row_count, 0), *ys = new_numbers(sheet, table->row_count, 1);
    size_t n = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        if (like >= 0 && !is_alike(table, r, (size_t)like)) continue;
        xs[n] = table_number(table, r, x), ys[n++] = table_number(table, r, y);
    }
    snprintf(sheet->names[sheet->count], sizeof *sheet->names, "%s", name);
    sheet->curves[sheet->count] = (struct curve){sheet->names[sheet->count], xs, ys, n, tint, dashed};
    sheet->count++;
}

static enum tint curve_tint(const char *split, int i)
{
    enum tint tint = split_tint(split);
    return tint == TINT_PLAIN ? (enum tint)(TINT_SERIES_3 + i % 4) : tint;
}

/* The last stage of every split of a log: first those whose colour is known, as a legend may have to be cut. */
static void add_splits(struct sheet *sheet, const struct table *log, bool known)
{
    for (size_t c = 0; c < log->column_count; c++) {
        const char *stage = strstr(log->columns[c].name, ".stage_"), *next = c + 1 < log->column_count ? log->columns[c + 1].name : "";
        if (!stage) continue;
        struct text split = {0};
        text_add_bytes(&split, log->columns[c].name, (size_t)(stage - log->columns[c].name));
        bool last = !text_starts(next, split.data) || next[split.size] != '.';
        const char *name = split_name(split.data), *part = text_starts(name, "train_") ? name + strlen("train_") : name; /* the room is scarce */
        if (last && (split_tint(split.data) != TINT_PLAIN) == known)
            add_curve(sheet, log, "epoch", log->columns[c].name, -1, part, curve_tint(split.data, sheet->count), false);
        text_clear(&split);
    }
}

void timeline_panel_log(struct cells *cells, struct area area, const struct table *log)
{
    struct sheet loss = {.count = 0}, splits = {.count = 0};
    add_curve(&loss, log, "epoch", "loss", -1, "loss", TINT_SERIES_5, false);
    loss.curves[0].name = "";
    add_splits(&splits, log, true), add_splits(&splits, log, false);
    bool beside = area.cols >= 70, low = !beside && area.rows < 12; /* accuracy alone, where there is no room for two */
    struct area left = area, right = area;
    if (low) left.rows = 0;
    else if (beside) left.cols = area.cols * 2 / 5, right.col += left.cols + 2, right.cols -= left.cols + 2;
    else left.rows = area.rows / 2, right.row += left.rows, right.rows -= left.rows;
    struct curves of_loss = {.name = "loss", .x_name = "epoch", .log = true, .curves = loss.curves, .count = loss.count};
    if (!low) curves_draw(cells, left, &of_loss);
    curves_draw(cells, right, &(struct curves){.name = "accuracy", .x_name = "epoch", .low = 0, .high = 1, .curves = splits.curves,
                                               .count = splits.count});
    end_sheet(&loss), end_sheet(&splits);
}

/* ---- any column of any measurement */

/* A number, and not an axis. */
static bool is_number(const struct table *table, const char *column)
{
    int c = table_find(table, column);
    return c > 0 && table->columns[c].role != ROLE_LABEL && table->columns[c].role != ROLE_AXIS;
}

const char *timeline_panel_next(const struct table *table, const char *column, int step)
{
    int count = table ? (int)table->column_count : 0, at = table ? table_find(table, column) : -1;
    if (at < 0) at = step > 0 ? 0 : count;
    for (at += step; at > 0 && at < count; at += step)
        if (table->columns[at].role == ROLE_VALUE) return table->columns[at].name;
    return "";
}

/* What is drawn while nothing was chosen: P and cosine of the bridge, accuracies, or the first number there is. */
static int usual_columns(const struct table *table, const char *names[2])
{
    static const char *const usual[] = {"p_bridge", "cosine", "accuracy"};
    int count = 0;
    for (int i = 0; i < 3 && count < 2; i++)
        if (is_number(table, usual[i])) names[count++] = usual[i];
    names[count] = timeline_panel_next(table, "", 1);
    return count ? count : *names[0] ? 1 : 0;
}

static bool varies(const struct table *table, size_t column)
{
    for (size_t r = 1; r < table->row_count; r++) {
        const struct cell *a = table_cell(table, 0, column), *b = table_cell(table, r, column);
        if (a->text && b->text ? strcmp(a->text, b->text) != 0 : a->number != b->number) return true;
    }
    return false;
}

/* "P OOD stage 2": what of the row differs from other rows. */
static void add_name(const struct table *table, size_t r, const char *value, struct text *out)
{
    text_add(out, "%s", value);
    for (size_t c = 1; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        const struct cell *cell = table_cell(table, r, c);
        if ((column->role != ROLE_AXIS && column->role != ROLE_LABEL) || !varies(table, c)) continue;
        text_add(out, out->size ? " " : "");
        if (cell->text) text_add(out, "%s", split_name(cell->text));
        else text_add(out, "%s %g", column->name, cell->number);
    }
}

static bool is_first_alike(const struct table *table, size_t r)
{
    for (size_t before = 0; before < r; before++)
        if (is_alike(table, before, r)) return false;
    return true;
}

static bool has_number(const struct table *table, size_t like, const char *column)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (!isnan(table_number(table, r, column)) && is_alike(table, r, like)) return true;
    return false;
}

static bool is_unit(const struct table *table, const char *column)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (table_number(table, r, column) < -1 || table_number(table, r, column) > 1) return false;
    return true;
}

/* How many curves there are; as many as there is room for are added. */
static int add_column(struct sheet *sheet, const struct table *table, const char *column, const char *brief, bool dashed)
{
    const char *x = table->columns[0].name;
    int all = 0, rows = 0, splits = 0;
    for (size_t r = 0; r < table->row_count && table_number(table, r, x) == table_number(table, 0, x); r++) {
        const char *split = table_text(table, r, "split"), *before = r ? table_text(table, r - 1, "split") : NULL;
        rows++, splits += split && (!before || strcmp(split, before) != 0);
    }
    for (int r = 0; r < rows; r++) {
        const char *split = table_text(table, (size_t)r, "split");
        struct text name = {0};
        if (!is_first_alike(table, (size_t)r) || !has_number(table, (size_t)r, column)) continue;
        enum tint own = (enum tint)(TINT_SERIES_1 + all % 6);
        bool by_split = split && splits == rows, ood = split_tint(split ? split : "") == TINT_SERIES_2;
        add_name(table, (size_t)r, brief, &name);
        add_curve(sheet, table, x, column, r, name.data, by_split ? curve_tint(split, sheet->count) : own, by_split ? dashed : ood);
        text_clear(&name);
        all++;
    }
    return all;
}

void timeline_panel_draw(struct cells *cells, struct area area, const struct table *table, const char *column)
{
    struct sheet sheet = {.count = 0};
    const char *names[3] = {column};
    int count = *column && is_number(table, column) ? 1 : usual_columns(table, names), all = 0;
    bool unit = true;
    for (int i = 0; i < count; i++) {
        const char *brief = !strcmp(names[i], "p_bridge") ? "P" : !strcmp(names[i], "cosine") ? "cos" : names[i];
        all += add_column(&sheet, table, names[i], count > 1 ? brief : "", i > 0);
        unit = unit && is_unit(table, names[i]);
    }
    struct text title = {0};
    text_add(&title, "%s", count == 1 ? names[0] : "checkpoints");
    if (all > sheet.count) text_add(&title, ", the first %d of %d curves", sheet.count, all);
    struct curves curves = {.name = title.data, .x_name = table->columns[0].name, .curves = sheet.curves, .count = sheet.count};
    for (int i = 0; unit && i < sheet.count; i++)
        for (size_t n = 0; n < sheet.curves[i].n; n++) /* a cosine that is a little below 0 needs no axis of its own */
            if (sheet.curves[i].y[n] < curves.low - 0.1) curves.low = floor(4 * sheet.curves[i].y[n]) / 4;
    if (unit) curves.high = 1;
    if (count) curves_draw(cells, area, &curves);
    else cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "this measurement gives no number that could be drawn");
    text_clear(&title);
    end_sheet(&sheet);
}
