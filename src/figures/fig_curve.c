/* A value against an axis, one line for each series, with a band where the table has low and high. */
#include "figures/figure.h"
#include "figures/group.h"
#include "ground/mem.h"
#include "results/stats.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MOST = SERIES_MOST, GROUPS_MANY = 1000 }; /* beyond that nobody counts */

struct curve {
    const struct table *table;
    int x;
    int values[VALUES_MOST], low[VALUES_MOST], high[VALUES_MOST];
    size_t value_count;
};

static int first_of(const struct table *table, enum role role)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].role == role) return (int)c;
    return -1;
}

static bool fits(const struct table *table, const struct figure_options *options)
{
    return (options->x || first_of(table, ROLE_AXIS) >= 0) && (options->y || first_of(table, ROLE_VALUE) >= 0);
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
        int column = figure_numbers(curve->table, name, err);
        if (column < 0) ok = false;
        else if (curve->value_count == VALUES_MOST) ok = err_set(err, "--y: more than %d columns cannot be told apart", VALUES_MOST);
        else add_value(curve, column);
    }
    mem_free(copy);
    return ok;
}

/* Labels that say what a point is (the token a state decodes to), not which series it belongs to: the last ones, when with them most series would be
 * single points of a table with several axes. */
static void drop_details(struct groups *groups, const struct table *table)
{
    size_t kept = groups->column_count, axes = 0;
    for (size_t i = 0; i < kept; i++) axes += table->columns[groups->columns[i]].role == ROLE_AXIS;
    if (!axes) return;
    for (size_t most = table->row_count / 2;; kept--) {
        struct groups some = {.columns = groups->columns, .column_count = kept, .split = groups->split};
        for (size_t r = 0; r < table->row_count && some.count <= most; r++) groups_find(&some, table, r, NULL);
        bool enough = some.count <= most;
        some.columns = NULL; /* borrowed */
        groups_clear(&some);
        if (enough) break;
        if (!kept || table->columns[groups->columns[kept - 1]].role != ROLE_LABEL) return;
    }
    groups->column_count = kept;
}

/* Boundaries, steps and strengths run; positions, heads and blocks stand beside each other: they are an axis only when nothing else is. */
static bool is_place(const char *column)
{
    static const char *const places[] = {"position", "query", "key", "head", "block"};
    bool is = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) is = is || !strcmp(places[i], column);
    return is;
}

static bool varies(const struct table *table, size_t column)
{
    bool same = true;
    for (size_t r = 1; same && r < table->row_count; r++)
        same = table_cell(table, r, column)->number == table_cell(table, 0, column)->number;
    return !same;
}

/* How many series the rows make along an axis. */
static size_t series_along(const struct table *table, size_t x)
{
    struct groups groups;
    groups_use(&groups, table, (int)x);
    drop_details(&groups, table);
    for (size_t r = 0; r < table->row_count && groups.count < GROUPS_MANY; r++) groups_find(&groups, table, r, NULL);
    size_t count = groups.count;
    groups_clear(&groups);
    return count;
}

/* Without a word from the user: the first axis that runs and along which the rows make few enough series; else the one that makes least. -1: none. */
static int choose_axis(const struct table *table)
{
    enum { RUNNING, PLACES, ANY, PASSES };
    size_t least = SIZE_MAX;
    int best = -1;
    for (int pass = RUNNING; pass < PASSES && least > SERIES_MOST; pass++)
        for (size_t c = 0; c < table->column_count && least > SERIES_MOST; c++) {
            bool wanted = pass == ANY ? best < 0 : varies(table, c) && (pass == PLACES || !is_place(table->columns[c].name));
            if (table->columns[c].role != ROLE_AXIS || !wanted) continue;
            size_t count = series_along(table, c);
            if (count < least) least = count, best = (int)c;
        }
    return best;
}

static bool choose(struct curve *curve, const struct figure_options *options, struct err *err)
{
    const struct table *table = curve->table;
    if (options->y && !take_values(curve, options->y, err)) return false;
    if (!options->y) choose_values(curve);
    if (!curve->value_count) return err_set(err, "%s: no column is a value: name one with --y", text_show(table->name));
    for (size_t i = 0; i < curve->value_count; i++)
        if (figure_numbers(table, table->columns[curve->values[i]].name, err) < 0) return false;
    int axis = choose_axis(table);
    if (!options->x && axis < 0) return err_set(err, "%s: no column is an axis: name one with --x", text_show(table->name));
    curve->x = figure_numbers(table, options->x ? options->x : table->columns[axis].name, err);
    if (curve->x < 0) return false;
    if (!options->y && series_along(table, (size_t)curve->x) * curve->value_count > SERIES_MOST) curve->value_count = 1;
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
    bool probabilities = true, accuracies = true;
    const char *x = table->columns[curve->x].name;
    axis_name(&figure->x, strcmp(x, "step") ? x : "step (updates)"); /* along an axis; as a value it is the length of one */
    figure->x.fixed = false; /* an axis shows what was measured along it */
    figure->x.low = figure->x.high = NAN;
    for (size_t i = 0; i < curve->value_count; i++) {
        const char *name = table->columns[curve->values[i]].name;
        probabilities = probabilities && column_is_probability(name);
        accuracies = accuracies && probabilities && !text_starts(name, "p_");
    }
    if (curve->value_count == 1 || probabilities) axis_name(&figure->y, table->columns[curve->values[0]].name);
    if (curve->value_count == 1) return;
    mem_free(figure->y.name);
    figure->y.name = mem_text(accuracies ? "accuracy" : probabilities ? "probability" : "value");
}

static bool build(struct figure *figure, const struct table *table, const struct figure_options *options, struct err *err)
{
    struct curve curve = {.table = table};
    struct groups groups;
    if (!choose(&curve, options, err)) return false;
    name_axes(figure, &curve);
    groups_use(&groups, table, curve.x);
    groups.values = curve.value_count;
    drop_details(&groups, table);
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
    .columns = "an axis (alpha, boundary, step ...) and a value (accuracy, loss ...)",
    .fits = fits,
    .build = build,
    .example = example,
};
