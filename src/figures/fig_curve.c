/* A value against an axis, one line for each series, with a band where the table has low and high. */
#include "figures/figure.h"
#include "figures/group.h"
#include "ground/mem.h"
#include "results/stats.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_MOST = SERIES_MOST };

struct curve {
    const struct table *table;
    int x;
    int values[VALUES_MOST], low[VALUES_MOST], high[VALUES_MOST];
    size_t value_count;
    bool all_probabilities;
};

static int first_of(const struct table *table, enum role role)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].role == role) return (int)c;
    return -1;
}

static bool fits(const struct table *table) { return first_of(table, ROLE_AXIS) >= 0 && first_of(table, ROLE_VALUE) >= 0; }

static const char *column_name(const void *table, size_t i)
{
    const struct table *t = table;
    return i < t->column_count ? t->columns[i].name : NULL;
}

static int find_numbers(const struct table *table, const char *name, struct err *err)
{
    int column = table_find(table, name);
    if (column < 0) {
        const char *nearest = text_nearest(name, column_name, table);
        err_set(err, "%s: there is no column '%s'%s%s%s; the columns are", text_show(table->name), text_show(name), nearest ? ": did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
        for (size_t i = 0; i < table->column_count; i++) err_add(err, " %s", text_show(table->columns[i].name));
        return -1;
    }
    for (size_t r = 0; r < table->row_count; r++)
        if (table_cell(table, r, (size_t)column)->text) {
            err_set(err, "%s: the column '%s' holds text (row %zu: '%s'): a column of numbers would be right", text_show(table->name),
                    text_show(name), r + 1, text_show(table_cell(table, r, (size_t)column)->text));
            return -1;
        }
    return column;
}

/* low and high belong to the value they follow. */
static void add_value(struct curve *curve, int column)
{
    size_t i = curve->value_count++;
    curve->values[i] = column;
    curve->low[i] = curve->high[i] = -1;
    for (size_t c = (size_t)column + 1; c < curve->table->column_count && curve->table->columns[c].role != ROLE_VALUE; c++) {
        if (curve->table->columns[c].role == ROLE_LOW) curve->low[i] = (int)c;
        if (curve->table->columns[c].role == ROLE_HIGH) curve->high[i] = (int)c;
    }
}

/* Without a word from the user: the value that has a band; else the probabilities; else everything. */
static void choose_values(struct curve *curve)
{
    const struct table *table = curve->table;
    for (int pass = 0; pass < 3 && !curve->value_count; pass++)
        for (size_t c = 0; c < table->column_count && curve->value_count < VALUES_MOST; c++) {
            if (table->columns[c].role != ROLE_VALUE) continue;
            bool band = c + 1 < table->column_count && (table->columns[c + 1].role == ROLE_LOW || table->columns[c + 1].role == ROLE_HIGH);
            if (pass == 0 ? band : pass == 1 ? column_is_probability(table->columns[c].name) : true) add_value(curve, (int)c);
            if (pass == 0 && curve->value_count) return;
        }
}

static bool take_values(struct curve *curve, const char *names, struct err *err)
{
    char *copy = mem_text(names), *save = NULL;
    bool ok = true;
    for (char *name = strtok_r(copy, ",", &save); ok && name; name = strtok_r(NULL, ",", &save)) {
        int column = find_numbers(curve->table, name, err);
        if (column < 0) ok = false;
        else if (curve->value_count == VALUES_MOST) ok = err_set(err, "--y: more than %d columns cannot be told apart", VALUES_MOST);
        else add_value(curve, column);
    }
    mem_free(copy);
    return ok;
}

static bool choose(struct curve *curve, const struct figure_options *options, struct err *err)
{
    const struct table *table = curve->table;
    int axis = first_of(table, ROLE_AXIS);
    if (!options->x && axis < 0) return err_set(err, "%s: no column is an axis: name one with --x", text_show(table->name));
    curve->x = find_numbers(table, options->x ? options->x : table->columns[axis].name, err);
    if (curve->x < 0) return false;
    if (options->y && !take_values(curve, options->y, err)) return false;
    if (!options->y) choose_values(curve);
    if (!curve->value_count) return err_set(err, "%s: no column is a value: name one with --y", text_show(table->name));
    for (size_t i = 0; i < curve->value_count; i++)
        if (find_numbers(table, table->columns[curve->values[i]].name, err) < 0) return false;
    return true;
}

struct point { double x, y, low, high; size_t row; };

static int by_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->row > q->row) - (p->row < q->row);
}

static double number_at(const struct table *table, size_t row, int column)
{
    const struct cell *cell = column < 0 ? NULL : table_cell(table, row, (size_t)column);
    return cell && !cell->text ? cell->number : NAN;
}

static void add_marks(struct figure *figure, const struct curve *curve, size_t value, const size_t *series_of, size_t series)
{
    const struct table *table = curve->table;
    struct point *points = mem_new(table->row_count * sizeof *points);
    size_t count = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        struct point p = {number_at(table, r, curve->x), number_at(table, r, curve->values[value]), number_at(table, r, curve->low[value]),
                          number_at(table, r, curve->high[value]), r};
        if (series_of[r] == series && isfinite(p.x)) points[count++] = p;
    }
    if (count) qsort(points, count, sizeof *points, by_x);
    if (count && curve->low[value] >= 0 && curve->high[value] >= 0) {
        struct mark *band = figure_mark(figure, MARK_BAND, (int)series, count);
        for (size_t i = 0; i < count; i++) {
            bool whole = isfinite(points[i].y) && isfinite(points[i].low) && isfinite(points[i].high);
            band->x[i] = points[i].x;
            band->y[i] = whole ? points[i].low : NAN; /* no band where there is no value */
            band->high[i] = whole ? points[i].high : NAN;
        }
    }
    struct mark *line = count ? figure_mark(figure, MARK_LINE, (int)series, count) : NULL;
    for (size_t i = 0; i < count; i++) {
        line->x[i] = points[i].x;
        line->y[i] = isfinite(points[i].y) ? points[i].y : NAN;
    }
    mem_free(points);
}

/* "n = 1000 at each point" or "n from 998 to 1000". */
static void add_counts(struct text *out, const struct table *table)
{
    double least = INFINITY, most = -INFINITY, excluded = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        double n = table_number(table, r, "n"), without = table_number(table, r, "excluded");
        if (n < least) least = n;
        if (n > most) most = n;
        if (without > 0) excluded += without;
    }
    if (least == most) text_add(out, " n = %.0f at each point.", least);
    else if (least < most) text_add(out, " n is %.0f to %.0f.", least, most);
    if (excluded > 0) text_add(out, " %.0f results are excluded because they are not finite.", excluded);
}

static char *make_caption(const struct figure *figure, const struct curve *curve)
{
    const struct table *table = curve->table;
    struct text out = {0};
    const char *model = table_fact_get(table, "model"), *data = table_fact_get(table, "data");
    text_add(&out, "%s against %s", figure->y.name, table->columns[curve->x].name);
    if (figure->legend_count < figure->series_count)
        text_add(&out, ": %zu series, by colour and marker, and by dash and filling", figure->series_count);
    for (size_t i = 0; figure->legend_count == figure->series_count && i < figure->series_count; i++) {
        const struct series *series = &figure->series[i];
        if (!*series->name) continue;
        text_add(&out, "%s%s (%s, %s markers)", !i ? ": " : i + 1 == figure->series_count ? " and " : ", ", series->name,
                 series->style.dashed ? "dashed" : "solid", series->style.open ? "open" : "filled");
    }
    text_add(&out, ".");
    if (model) text_add(&out, " Model: %s.", model);
    if (data) text_add(&out, " Data: %s.", data);
    if (curve->low[0] >= 0 && curve->high[0] >= 0)
        text_add(&out, table_find(table, "correct") >= 0 && table_find(table, "n") >= 0 ? " Bands: Wilson 95 %% intervals." : " Bands: %s to %s.",
                 table->columns[curve->low[0]].name, table->columns[curve->high[0]].name);
    add_counts(&out, table);
    return out.data;
}

static void name_axes(struct figure *figure, const struct curve *curve)
{
    const struct table *table = curve->table;
    bool probabilities = true;
    axis_name(&figure->x, table->columns[curve->x].name);
    figure->x.fixed = false; /* an axis shows what was measured along it */
    figure->x.low = figure->x.high = NAN;
    for (size_t i = 0; i < curve->value_count; i++) probabilities = probabilities && column_is_probability(table->columns[curve->values[i]].name);
    if (curve->value_count == 1 || probabilities) axis_name(&figure->y, table->columns[curve->values[0]].name);
    if (curve->value_count == 1) return;
    mem_free(figure->y.name);
    figure->y.name = mem_text(probabilities ? "accuracy" : "value");
}

static bool build(struct figure *figure, const struct table *table, const struct figure_options *options, struct err *err)
{
    struct curve curve = {.table = table};
    struct groups groups;
    if (!choose(&curve, options, err)) return false;
    name_axes(figure, &curve);
    groups_use(&groups, table, curve.x);
    size_t *series_of = mem_new(table->row_count * curve.value_count * sizeof *series_of);
    for (size_t v = 0; v < curve.value_count; v++)
        for (size_t r = 0; r < table->row_count; r++)
            series_of[v * table->row_count + r] = groups_find(&groups, table, r, curve.value_count > 1 ? table->columns[curve.values[v]].name : NULL);
    bool ok = groups_add(&groups, figure, err);
    for (size_t s = 0; ok && s < groups.count; s++)
        for (size_t v = 0; v < curve.value_count; v++) add_marks(figure, &curve, v, series_of + v * table->row_count, s);
    if (ok) figure->caption = make_caption(figure, &curve);
    groups_clear(&groups);
    mem_free(series_of);
    return ok;
}

static struct table *example(void)
{
    static const char *const splits[] = {"test_id", "test_ood"};
    struct table *table = table_new("sweep");
    table_fact(table, "command", "sweep models/vanilla --over alpha=0:1:0.1");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "alpha", ROLE_AXIS, "%.2f");
    table_column(table, "n", ROLE_COUNT, NULL);
    table_column(table, "correct", ROLE_COUNT, NULL);
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    for (int s = 0; s < 2; s++)
        for (int i = 0; i <= 10; i++) {
            double correct = s ? 10 + 5 * i : 180 + i;
            struct interval band = wilson(correct, 200);
            table_row(table, (struct cell[]){cell_text(splits[s]), cell_number(i / 10.0), cell_number(200), cell_number(correct),
                                             cell_number(correct / 200), cell_number(band.low), cell_number(band.high)});
        }
    return table;
}

const struct figure_kind figure_curve = {
    .name = "curve",
    .help = "values against an axis, a line for each series, bands where there are intervals",
    .columns = "an axis (alpha, step ...) and one or more values (accuracy, loss ...), with low and high behind a value for its band",
    .fits = fits,
    .build = build,
    .example = example,
};
