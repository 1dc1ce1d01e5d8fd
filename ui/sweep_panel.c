#include "sweep_panel.h"

#include "dots.h"

#include "figures/figure.h"
#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The same edit with a deliberately wrong target; the true bridge, which is the most that mixing can give, stands beside them. */
static const struct { const char *target, *name; } controls[] = {
    {"second", "second-best token"}, {"random", "random token"}, {"noise", "random direction"}, {"oracle", "the true bridge"},
};
enum { CONTROLS = sizeof controls / sizeof *controls };

void sweep_panel_targets(struct text *out)
{
    for (size_t i = 0; i < CONTROLS; i++) text_add(out, "%s%s", i ? "," : "", controls[i].target);
}

static size_t row_near(const struct table *sweep, const char *split, double alpha)
{
    size_t best = sweep->row_count;
    for (size_t r = 0; r < sweep->row_count; r++)
        if (!strcmp(table_text(sweep, r, "split"), split) &&
            (best == sweep->row_count || fabs(table_number(sweep, r, "alpha") - alpha) < fabs(table_number(sweep, best, "alpha") - alpha))) best = r;
    return best;
}

/* Two rows: the name with accuracy before and after, then the interval. */
static int draw_split(struct cells *cells, struct area area, const struct table *sweep, const char *split, double alpha)
{
    size_t zero = row_near(sweep, split, 0), here = row_near(sweep, split, alpha);
    enum tint tint = split_tint(split);
    double off = fabs(table_number(sweep, here, "alpha") - alpha);
    if (area.rows < 2) return 0;
    cells_put(cells, area.row, area.col, tint, split, 8);
    int col = cells_text(cells, area.row, area.col + 9, TINT_PLAIN, "%.3f ", table_number(sweep, zero, "accuracy"));
    col = cells_text(cells, area.row, col, TINT_DIM, cells->ascii ? "-> " : "→ ");
    if (off > 0.03) cells_text(cells, area.row, col, TINT_DIM, "...");
    else {
        cells_text(cells, area.row, col, TINT_TITLE, "%.3f", table_number(sweep, here, "accuracy"));
        col = cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "[%.3f, ", table_number(sweep, here, "low"));
        cells_text(cells, area.row + 1, col, TINT_DIM, "%.3f] n %.0f", table_number(sweep, here, "high"), table_number(sweep, here, "n"));
    }
    return 2;
}

/* "No effect" must never look like a finding. */
static int draw_effect(struct cells *cells, struct area area, const struct table *sweep, double alpha)
{
    double fired = 0, n = 0, moved = 0;
    for (size_t r = 0; r < sweep->row_count; r++) {
        if (fabs(table_number(sweep, r, "alpha") - alpha) > 0.03) continue;
        fired += table_number(sweep, r, "fired"), n += table_number(sweep, r, "n");
        moved = fmax(moved, table_number(sweep, r, "moved"));
    }
    if (area.rows < 2 || n == 0) return 0;
    if (fired > n) cells_text(cells, area.row, area.col, TINT_PLAIN, "wrote %.0f rows, n %.0f", fired, n); /* at several places of each */
    else cells_text(cells, area.row, area.col, TINT_PLAIN, "wrote %.0f of %.0f rows", fired, n);
    if (moved > 0) cells_text(cells, area.row + 1, area.col, TINT_PLAIN, "largest change %s", number_show(moved));
    else cells_text(cells, area.row + 1, area.col, TINT_WARN, alpha == 0 ? "no effect, as alpha is 0" : "no effect");
    return 2;
}

/* The target of a row that is a control of the shown split; NULL: it is none. */
static const char *control_of(const struct sweep_panel *p, const struct table *table, size_t r)
{
    const char *split = table_text(table, r, "split");
    return split && !strcmp(split, p->split) ? table_text(table, r, "target") : NULL;
}

/* The same sample as its curve has; none where it is not drawn. */
static void draw_sample(struct cells *cells, int row, int col, const struct figure *figure, const char *target)
{
    for (size_t i = 0; figure && i < figure->series_count; i++) {
        enum tint tint = (enum tint)(TINT_SERIES_1 + figure->series[i].style.colour);
        if (strcmp(figure->series[i].name, target) != 0 || figure->series[i].style.colour < 0) continue;
        if (cells->ascii) cells_text(cells, row, col, tint, "%c", dots_letter(tint));
        else cells_text(cells, row, col, tint, "⠤");
    }
}

static void draw_controls(const struct sweep_panel *p, struct cells *cells, struct area area, const struct figure *figure)
{
    const struct table *table = result_table(p->controls, 0);
    if (area.rows < 2) return;
    cells_text(cells, area.row, area.col, TINT_TITLE, "controls, %s", p->split);
    for (size_t i = 0; i < CONTROLS && (int)i + 1 < area.rows; i++) {
        int row = area.row + 1 + (int)i;
        cells_text(cells, row, area.col + 1, TINT_DIM, "%s", controls[i].name);
        draw_sample(cells, row, area.col - 1, figure, controls[i].target);
        const char *shown = "...";
        char number[16];
        for (size_t r = 0; table && r < table->row_count; r++) {
            const char *target = control_of(p, table, r);
            if (!target || strcmp(target, controls[i].target) != 0 || fabs(table_number(table, r, "alpha") - p->alpha) > 0.051) continue;
            snprintf(number, sizeof number, "%.3f", table_number(table, r, "accuracy"));
            shown = number;
        }
        draw_right(cells, row, area.col + area.cols - 1, TINT_PLAIN, "%s", shown);
    }
}

static void draw_numbers(const struct sweep_panel *p, struct cells *cells, struct area area, const struct table *sweep,
                         const struct figure *figure)
{
    double alpha = p->alpha;
    const char *before = "";
    cells_text(cells, area.row, area.col, TINT_TITLE, "alpha 0 %s %.2f", cells->ascii ? "->" : "→", alpha);
    area.row++, area.rows--;
    for (size_t r = 0; r < sweep->row_count; r++) {
        const char *split = table_text(sweep, r, "split");
        if (!strcmp(split, before)) continue;
        bool seen = false;
        for (size_t i = 0; i < r; i++) seen |= !strcmp(table_text(sweep, i, "split"), split);
        before = split;
        if (seen) continue;
        int taken = draw_split(cells, area, sweep, split, alpha);
        area.row += taken, area.rows -= taken;
    }
    bool roomy = area.rows >= 9;
    area.row += roomy, area.rows -= roomy;
    int taken = draw_effect(cells, area, sweep, alpha) + roomy;
    area.row += taken, area.rows -= taken;
    if (p->controls) draw_controls(p, cells, area, figure);
}

/* The sweep, and controls as if they were splits of their own: without bands, which would hide one another, and without the true bridge, which is
 * no wrong target. NULL: there are none, or no room. */
static struct table *with_controls(const struct sweep_panel *p, const struct table *sweep, struct area area)
{
    static const struct { const char *name; enum role role; } columns[] = {
        {"split", ROLE_LABEL}, {"alpha", ROLE_AXIS}, {"accuracy", ROLE_VALUE}, {"low", ROLE_LOW}, {"high", ROLE_HIGH},
    };
    enum { ROWS = 10, COLUMNS = 5 };
    const struct table *table = result_table(p->controls, 0);
    if (!table || !table->row_count || area.rows < ROWS || !control_of(p, table, table->row_count - 1)) return NULL;
    struct table *both = table_new("sweep");
    for (int c = 0; c < COLUMNS; c++) table_column(both, columns[c].name, columns[c].role, NULL);
    for (size_t r = 0; r < sweep->row_count + table->row_count; r++) {
        bool control = r >= sweep->row_count;
        const struct table *from = control ? table : sweep;
        size_t at = control ? r - sweep->row_count : r;
        const char *name = control ? control_of(p, from, at) : table_text(from, at, "split");
        if (!name || !strcmp(name, "oracle")) continue;
        table_row(both, (struct cell[]){cell_text(name), cell_number(table_number(from, at, "alpha")),
                                        cell_number(table_number(from, at, "accuracy")), cell_number(control ? NAN : table_number(from, at, "low")),
                                        cell_number(control ? NAN : table_number(from, at, "high"))});
    }
    return both;
}

void sweep_panel_draw(const struct sweep_panel *p, struct cells *cells, struct area area)
{
    enum { NUMBERS = 26 };
    const struct table *sweep = result_table(p->sweep, 0);
    struct figure_options options = {.x_low = 0, .x_high = 1};
    struct err err = {0};
    bool running = p->sweep && !result_ended(p->sweep), paused = running && p->sweep->paused;
    bool stopped = p->sweep && p->sweep->state == RESULT_STOPPED;
    draw_heading(cells, area.row, area.col, area.cols - 1,
                 paused ? "accuracy at alpha, paused" : running ? "accuracy at alpha, being computed" :
                 stopped ? "accuracy at alpha, stopped: s goes on" : "accuracy at alpha");
    area.row++, area.rows--;
    if (!sweep) {
        draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - 1, area.cols - 4}, TINT_DIM,
                     running ? "computing ..." : "s computes the accuracy of whole splits at every alpha from 0 to 1.");
        return;
    }
    struct table *both = with_controls(p, sweep, area);
    struct figure *figure = figure_from(both ? both : sweep, &options, &err);
    table_free(both);
    if (figure) {
        for (size_t i = 0; i < CONTROLS; i++) figure_legend_drop(figure, controls[i].target); /* their names stand beside it, with their numbers */
        figure_rule(figure, p->alpha, NAN);
        figure_draw_cells(figure, cells, area.row, area.col + 1, area.rows, area.cols - NUMBERS - 2);
    } else draw_wrapped(cells, area, TINT_BAD, err.text);
    draw_numbers(p, cells, (struct area){area.row, area.col + area.cols - NUMBERS, area.rows, NUMBERS - 1}, sweep, figure);
    figure_free(figure);
}
