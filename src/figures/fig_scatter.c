/* P(bridge) against the cosine with W[bridge], a dot for each row: decodable is up, aligned is right. */
#include "figures/figure.h"
#include "figures/group.h"
#include "ground/mem.h"

#include <string.h>

static bool has_axis(const struct table *table)
{
    bool has = false;
    for (size_t c = 0; c < table->column_count; c++) has = has || table->columns[c].role == ROLE_AXIS;
    return has;
}

/* In a table of lenses `cosine` is that with each place's own token. */
static bool fits(const struct table *table, const struct figure_options *options)
{
    bool bridge = table_find(table, "p_bridge") >= 0 && table_find(table, "cosine") >= 0 && table_find(table, "cosine_bridge") < 0;
    return options->x || options->y ? !has_axis(table) && (bridge || (options->x && options->y)) : bridge;
}

/* A column with a value of its own for nearly every row (the question's number) says which dot it is, not which series. */
static void drop_names(struct groups *groups, const struct table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < groups->column_count; i++) {
        struct groups alone = {.columns = &groups->columns[i], .column_count = 1, .split = -1};
        for (size_t r = 0; r < table->row_count && alone.count <= SERIES_MOST; r++) groups_find(&alone, table, r, NULL);
        if (alone.count <= SERIES_MOST) groups->columns[kept++] = groups->columns[i];
        alone.columns = NULL; /* borrowed */
        groups_clear(&alone);
    }
    groups->column_count = kept;
}

static void add_points(struct figure *figure, const struct table *table, const size_t *series_of, size_t series, const char *x, const char *y)
{
    size_t count = 0;
    struct mark *mark = figure_mark(figure, MARK_POINTS, (int)series, table->row_count);
    for (size_t r = 0; r < table->row_count; r++) {
        if (series_of[r] != series) continue;
        mark->x[count] = table_number(table, r, x);
        mark->y[count++] = table_number(table, r, y);
    }
    mark->count = count;
}

static char *make_caption(const struct figure *figure, const struct table *table)
{
    struct text out = {0};
    const char *model = table_fact_get(table, "model"), *data = table_fact_get(table, "data");
    size_t missing = 0;
    text_add(&out, "%s against %s, one mark for each row", figure->y.name, figure->x.name);
    for (size_t i = 0; i < figure->series_count; i++)
        text_add(&out, "%s%s (%s)", i ? ", " : ": ", figure->series[i].name, figure->series[i].style.open ? "open" : "filled");
    text_add(&out, "; %zu rows.", table->row_count);
    for (size_t i = 0; i < figure->mark_count; i++)
        for (size_t j = 0; j < figure->marks[i].count; j++) missing += !isfinite(figure->marks[i].x[j]) || !isfinite(figure->marks[i].y[j]);
    if (missing) text_add(&out, " %zu rows have no value and no mark.", missing);
    if (model) text_add(&out, " Model: %s.", model);
    if (data) text_add(&out, " Data: %s.", data);
    return out.data;
}

static bool build(struct figure *figure, const struct table *table, const struct figure_options *options, struct err *err)
{
    const char *x = options->x ? options->x : "cosine", *y = options->y ? options->y : "p_bridge";
    struct groups groups;
    if (figure_numbers(table, x, err) < 0 || figure_numbers(table, y, err) < 0) return false;
    axis_name(&figure->x, x);
    axis_name(&figure->y, y);
    groups_use(&groups, table, table_find(table, x));
    drop_names(&groups, table);
    size_t *series_of = mem_new(table->row_count * sizeof *series_of);
    for (size_t r = 0; r < table->row_count; r++) series_of[r] = groups_find(&groups, table, r, NULL);
    bool ok = groups_add(&groups, figure, err);
    for (size_t s = 0; ok && s < groups.count; s++) add_points(figure, table, series_of, s, x, y);
    if (ok) figure->caption = make_caption(figure, table);
    groups_clear(&groups);
    mem_free(series_of);
    return ok;
}

static struct table *example(void)
{
    struct table *table = table_new("bridge");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "question", ROLE_LABEL, NULL);
    table_column(table, "p_bridge", ROLE_VALUE, "%.3f");
    table_column(table, "cosine", ROLE_VALUE, "%.3f");
    for (int i = 0; i < 60; i++) { /* two clouds without a generator: multiples of an irrational number spread evenly */
        double p = 1 - 0.3 * fmod(i * 0.618034, 1) * fmod(i * 0.41, 1), cosine = (i % 2 ? 0.3 : 0.55) + 0.2 * fmod(i * 0.754878, 1);
        table_row(table, (struct cell[]){cell_text(i % 2 ? "test_ood" : "test_id"), cell_number(i), cell_number(p), cell_number(cosine)});
    }
    return table;
}

const struct figure_kind figure_scatter = {
    .name = "scatter",
    .help = "P(bridge) against the cosine with W[bridge], a mark for each row",
    .columns = "the columns p_bridge and cosine",
    .fits = fits,
    .build = build,
    .example = example,
};
