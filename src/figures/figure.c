#include "figures/figure.h"

#include "figures/ticks.h"
#include "ground/mem.h"
#include "registry.h"

#include <math.h>
#include <string.h>

int figure_series(struct figure *figure, const char *name, struct style style)
{
    mem_grow(&figure->series, &figure->series_room, figure->series_count + 1, sizeof *figure->series);
    figure->series[figure->series_count] = (struct series){mem_text(name), style};
    return (int)figure->series_count++;
}

void figure_legend(struct figure *figure, const char *name, struct style style)
{
    mem_grow(&figure->legend, &figure->legend_room, figure->legend_count + 1, sizeof *figure->legend);
    figure->legend[figure->legend_count++] = (struct series){mem_text(name), style};
}

void figure_legend_drop(struct figure *figure, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < figure->legend_count; i++) {
        if (!strcmp(figure->legend[i].name, name)) mem_free(figure->legend[i].name);
        else figure->legend[kept++] = figure->legend[i];
    }
    figure->legend_count = kept;
}

struct mark *figure_mark(struct figure *figure, enum mark_kind kind, int series, size_t count)
{
    mem_grow(&figure->marks, &figure->mark_room, figure->mark_count + 1, sizeof *figure->marks);
    struct mark *mark = &figure->marks[figure->mark_count++];
    *mark = (struct mark){.kind = kind, .series = series, .count = count};
    mark->x = mem_new(count * sizeof *mark->x);
    mark->y = mem_new(count * sizeof *mark->y);
    if (kind == MARK_BAND) mark->high = mem_new(count * sizeof *mark->high);
    return mark;
}

void figure_rule(struct figure *figure, double x, double y)
{
    struct mark *mark = figure_mark(figure, MARK_RULE, -1, 1);
    mark->x[0] = x;
    mark->y[0] = y;
}

void figure_free(struct figure *figure)
{
    if (!figure) return;
    for (size_t i = 0; i < figure->mark_count; i++) {
        mem_free(figure->marks[i].x);
        mem_free(figure->marks[i].y);
        mem_free(figure->marks[i].high);
    }
    for (size_t i = 0; i < figure->series_count; i++) mem_free(figure->series[i].name);
    for (size_t i = 0; i < figure->legend_count; i++) mem_free(figure->legend[i].name);
    mem_free(figure->legend);
    mem_free(figure->marks);
    mem_free(figure->series);
    mem_free(figure->x.name);
    mem_free(figure->y.name);
    mem_free(figure->caption);
    mem_free(figure);
}

bool figure_empty(const struct figure *figure)
{
    for (size_t i = 0; i < figure->mark_count; i++) {
        const struct mark *mark = &figure->marks[i];
        for (size_t j = 0; mark->kind != MARK_RULE && j < mark->count; j++)
            if (isfinite(mark->x[j]) && isfinite(mark->y[j])) return false;
    }
    return true;
}

int figure_numbers(const struct table *table, const char *name, struct err *err)
{
    int column = table_column_find(table, name, err);
    for (size_t r = 0; column >= 0 && r < table->row_count; r++) {
        const char *text = table_cell(table, r, (size_t)column)->text;
        if (!text) continue;
        err_set(err, "%s: the column '%s' holds text (row %zu: '%s'): a column of numbers would be right", text_show(table->name), text_show(name),
                r + 1, text_show(text));
        return -1;
    }
    return column;
}

bool column_is_probability(const char *column)
{
    if (text_ends(column, "_change")) return false; /* a difference of two */
    return strstr(column, "accuracy") || strstr(column, ".stage_") || !strcmp(column, "acc") || text_starts(column, "acc_") ||
           text_starts(column, "p_");
}

void axis_name(struct axis *axis, const char *column)
{
    static const struct { const char *column, *name; } names[] = {
        {"p_bridge", "P(bridge)"}, {"cosine", "cosine with W[bridge]"}, {"loss", "loss (nats)"}, {"boundary", "boundary k"},
    };
    const char *name = column;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].column, column)) name = names[i].name;
    mem_free(axis->name);
    axis->name = mem_text(name);
    if (!column_is_probability(column)) return;
    axis->low = 0;
    axis->high = 1;
    axis->fixed = true;
}

static void widen(struct axis *axis, double value)
{
    const double most = 1e100; /* a point beyond it is drawn outside: no axis could show it and anything else */
    if (axis->fixed || !(fabs(value) < most)) return;
    if (!(axis->low <= value)) axis->low = value; /* also when it is NaN: nothing seen yet */
    if (!(axis->high >= value)) axis->high = value;
}

/* To round ends, so that the first and the last tick stand at the ends of the axis. */
static void round_ends(struct axis *axis)
{
    double step = step_round((axis->high - axis->low) / 10);
    if (axis->fixed) return;
    axis->low = floor(axis->low / step + 1e-6) * step;
    axis->high = ceil(axis->high / step - 1e-6) * step;
}

/* An axis that no mark has set, or that has no length, still needs two ends. */
static void settle(struct axis *axis)
{
    if (isnan(axis->low)) axis->low = 0, axis->high = 1;
    double size = fmax(fabs(axis->low), fabs(axis->high));
    if (axis->high - axis->low <= 1e-12 * size || size < 1e-100) {
        double half = size < 1e-100 ? 1 : size * 0.1;
        axis->low -= half;
        axis->high += half;
    }
}

/* Whole numbers, and more than one of them. */
static bool counts(const struct figure *figure)
{
    bool whole = figure->x.high - figure->x.low >= 1;
    for (size_t i = 0; i < figure->mark_count; i++)
        for (size_t j = 0; whole && j < figure->marks[i].count; j++) {
            double x = figure->marks[i].x[j];
            whole = !isfinite(x) || x == floor(x);
        }
    return whole && figure->mark_count;
}

static void find_ranges(struct figure *figure, const struct figure_options *options)
{
    bool lines = !figure->mark_count;
    if (options->x_low != options->x_high) {
        figure->x.low = options->x_low;
        figure->x.high = options->x_high;
        figure->x.fixed = true;
    }
    for (size_t i = 0; i < figure->mark_count; i++) {
        const struct mark *mark = &figure->marks[i];
        lines = lines || mark->kind == MARK_LINE;
        for (size_t j = 0; j < mark->count; j++) {
            widen(&figure->x, mark->x[j]);
            widen(&figure->y, mark->y[j]);
            if (mark->high) widen(&figure->y, mark->high[j]);
        }
    }
    figure->x.whole = counts(figure);
    settle(&figure->x);
    settle(&figure->y);
    round_ends(&figure->y);
    if (!lines) round_ends(&figure->x); /* a curve shows exactly what was measured */
}

static const char *kind_name(const void *list, size_t i)
{
    const struct figure_kind *kind = ((const struct figure_kind *const *)list)[i];
    return kind ? kind->name : NULL;
}

/* What can be drawn of a table that no kind fits: two columns of numbers against each other, if it has them. */
static void advise(const struct table *table, struct err *err)
{
    const char *numbers[2];
    size_t count = 0, values = 0;
    for (size_t c = 0; c < table->column_count && count < 2; c++)
        if ((table->columns[c].role == ROLE_VALUE || table->columns[c].role == ROLE_AXIS) && figure_numbers(table, table->columns[c].name, NULL) >= 0)
            numbers[count++] = table->columns[c].name, values += table->columns[c].role == ROLE_VALUE;
    err_set(err, "%s: this table has no figure: it needs", text_show(table->name));
    for (size_t i = 0; figure_kinds[i]; i++) err_add(err, "%s %s", i ? ", or" : "", figure_kinds[i]->columns);
    if (count < 2 || !values) return;
    err_add(err, "\ntwo of its columns can be drawn against each other, for instance --x %s --y %s", numbers[0], numbers[1]);
}

static const struct figure_kind *find_kind(const struct table *table, const struct figure_options *options, struct err *err)
{
    const char *name = options->kind;
    for (size_t i = 0; figure_kinds[i]; i++)
        if (name ? !strcmp(figure_kinds[i]->name, name) : figure_kinds[i]->fits(table, options)) return figure_kinds[i];
    if (!name) return advise(table, err), NULL;
    const char *nearest = text_nearest(name, kind_name, figure_kinds);
    err_set(err, "there is no kind of figure '%s'", text_show(name));
    if (nearest) err_add(err, ": did you mean %s?", nearest);
    for (size_t i = 0; figure_kinds[i]; i++) err_add(err, "\n  %s: %s", figure_kinds[i]->name, figure_kinds[i]->help);
    err_usage(err);
    return NULL;
}

struct figure *figure_from(const struct table *table, const struct figure_options *options, struct err *err)
{
    static const struct figure_options none = {0};
    if (!options) options = &none;
    const struct figure_kind *kind = find_kind(table, options, err);
    if (!kind) return NULL;
    struct figure *figure = mem_new(sizeof *figure);
    figure->kind = kind;
    figure->x.low = figure->x.high = figure->y.low = figure->y.high = NAN;
    if (!kind->build(figure, table, options, err)) {
        figure_free(figure);
        return NULL;
    }
    find_ranges(figure, options);
    return figure;
}
