#include "app.h"
#include "form.h"
#include "lens.h"
#include "question.h"

#include "figures/export.h"
#include "figures/figure.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

struct state {
    struct form form;
    bool begun, sweeping;  /* sweeping: the sweep of these fields was asked for */
    bool controlled;       /* controls at the alpha of the form are wanted */
    int before, after, sweep, controls; /* wants; -1: none */
};

/* The same edit with a deliberately wrong target; the true bridge, which is the most that mixing can give, stands beside them. */
static const struct { const char *target, *name; } controls[] = {
    {"second", "second-best token"}, {"random", "random token"}, {"noise", "random direction"}, {"oracle", "the true bridge"},
};
enum { CONTROLS = sizeof controls / sizeof *controls };

static struct state *state_of(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    if (!s->begun) form_start(&s->form);
    s->begun = true;
    if (app->edit_here) {
        int last = app_fact_int(app, "loops", 2) - 1; /* an edit behind the last loop would change the answer and not the next loop */
        form_place(&s->form, app->boundary < last ? app->boundary : last, app->position);
        s->sweeping = app->edit_here = false;
    }
    return s;
}

static int want_controls(struct app *app, const char *edit)
{
    struct text targets = {0};
    for (size_t i = 0; i < CONTROLS; i++) text_add(&targets, "%s%s", i ? "," : "", controls[i].target);
    int want = app_want(app, "sweep %s --do %s --over target=%s", app_subject(app), edit, targets.data);
    text_clear(&targets);
    return want;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    s->before = s->after = s->sweep = s->controls = -1;
    if (!app->model) return;
    struct text now = {0}, all = {0};
    form_add(&s->form, true, &now);
    form_add(&s->form, false, &all);
    s->before = question_want(app);
    s->after = app_want(app, "lens %s --row %s:%ld --do %s", app_subject(app), app->split, app->row, now.data);
    bool known = app_kept(app, "sweep %s --do %s --over alpha=0:1:0.05", app_subject(app), all.data);
    if (s->sweeping || known) s->sweep = app_want(app, "sweep %s --do %s --over alpha=0:1:0.05", app_subject(app), all.data);
    if (s->controlled) s->controls = want_controls(app, now.data);
    app_show(app, s->sweep >= 0 ? s->sweep : s->after);
    text_clear(&now), text_clear(&all);
}

/* ---- keys */

static void press_value(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct lens lens = lens_of(app_table(app, s->before, 0));
    if (form_change(&s->form, key == PRESS_LEFT ? -1 : 1, lens.positions, lens.boundaries)) s->sweeping = false;
}

static void press_field(struct app *app, int key)
{
    form_move(&state_of(app)->form, key == PRESS_TAB || key == PRESS_DOWN ? 1 : -1);
}

static void press_sweep(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    const struct result *sweep = app_result(app, s->sweep);
    if (sweep && result_ended(sweep) && sweep->state != RESULT_DONE) app_again(app, s->sweep);
    s->sweeping = true;
}

static void press_controls(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    s->controlled = !s->controlled;
}

static void press_cancel(struct app *app, int key)
{
    (void)key;
    app_stop(app, state_of(app)->controls);
    if (app_stop(app, state_of(app)->sweep)) app_say(app, "the sweep is stopped; s goes on with it");
}

static void press_export(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    const struct table *sweep = app_table(app, s->sweep, 0);
    const char *base = strrchr(app->model ? app->model : "", '/');
    struct text path = {0};
    struct err err = {0};
    struct figure_options options = {.x_low = 0, .x_high = 1};
    if (!app_current(app, s->sweep)) {
        app_say(app, sweep ? "the sweep is not done yet" : "there is no sweep yet: s computes it");
        return;
    }
    text_add(&path, "figures/%s-", base && base[1] ? base + 1 : app->model);
    size_t name = path.size;
    form_add(&s->form, false, &path);
    for (char *c = path.data + name; *c; c++)
        if (strchr("@:=,", *c)) *c = '-';
    text_add(&path, ".png");
    if (folder_make("figures", &err) && figure_export(sweep, &options, path.data, &err))
        app_say(app, "wrote %s, and .tsv, .txt beside it", path.data);
    else app_say(app, "%s", err.text);
    text_clear(&path);
}

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT}, "alpha", "changes the marked field, alpha at first", press_value},
    {{PRESS_TAB, PRESS_BACK_TAB, PRESS_DOWN, PRESS_UP}, "field", "marks another field", press_field},
    {{'s'}, "sweep", "computes accuracy at every alpha, on whole splits", press_sweep},
    {{'e'}, "export", "writes the curve as a PNG into figures/, with its table and caption", press_export},
    {{'c'}, "controls", "the same edit done wrongly on purpose, at this alpha: a second-best or random token, noise, the true bridge", press_controls},
    {{'x', PRESS_SPACE}, "stop", "stops the sweep; what it has stays", press_cancel},
    {{'n', 'N'}, NULL, "the next question that is answered wrong, the one before", question_press_wrong},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN}, NULL, "ten questions back, ten on", question_press_row},
    {{'[', ']'}, NULL, "questions of the split before, of the next", question_press_split},
    {{0}},
};

/* ---- the question before and after */

static int draw_answer(struct cells *cells, int row, int col, const char *when, const struct lens *lens)
{
    bool correct = lens_correct(lens);
    col = cells_text(cells, row, col, TINT_DIM, "%s ", when);
    col = cells_put(cells, row, col, TINT_TITLE, lens_fact(lens, "predicted"), 12);
    double p = lens_number(lens, lens->answer_position, lens->boundaries - 1, "p");
    col = cells_text(cells, row, col, TINT_PLAIN, " P %s ", unit_show(p));
    return cells_text(cells, row, col, correct ? TINT_GOOD : TINT_BAD, "%s", correct ? "correct" : "wrong") + 3;
}

static int draw_change(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct lens before = lens_of(app_table(app, s->before, 0)), after = lens_of(app_table(app, s->after, 0));
    if (app_draw_waiting(app, cells, area, s->before)) return 3;
    int row = area.row + question_draw(app, cells, area, &before);
    if (app_draw_waiting(app, cells, (struct area){row - 1, area.col, 3, area.cols}, s->after)) return 3;
    int col = draw_answer(cells, row, area.col + 1, "before", &before);
    col = draw_answer(cells, row, col, "after", &after);
    int k = before.boundaries - 1, p = before.answer_position;
    const char *arrow = cells->ascii ? "->" : "→";
    col = cells_text(cells, row, col, TINT_PLAIN, "P(answer) %s %s %s", unit_show(lens_number(&before, p, k, "p_answer")), arrow,
                     unit_show(lens_number(&after, p, k, "p_answer")));
    if (area.cols >= 100)
        cells_text(cells, row, col + 3, TINT_PLAIN, "rank %.0f %s %.0f", lens_number(&before, p, k, "rank_answer"), arrow, lens_number(&after, p, k, "rank_answer"));
    const struct result *result = app_result(app, s->after);
    if (!result || !result->notes.size || form_alpha(&s->form) == 0) return 2;
    draw_wrapped(cells, (struct area){row + 1, area.col + 1, 1, area.cols - 2}, TINT_WARN, result->notes.data); /* such as: no effect */
    return 3;
}

/* ---- the sweep */

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
        cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "[%.3f, %.3f] n %.0f", table_number(sweep, here, "low"), table_number(sweep, here, "high"),
                   table_number(sweep, here, "n"));
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
    cells_text(cells, area.row, area.col, TINT_PLAIN, "wrote %.0f of %.0f rows", fired, n);
    if (moved > 0) cells_text(cells, area.row + 1, area.col, TINT_PLAIN, "largest change %s", number_show(moved));
    else cells_text(cells, area.row + 1, area.col, TINT_WARN, alpha == 0 ? "no effect, as alpha is 0" : "no effect");
    return 2;
}

static void draw_controls(struct app *app, struct cells *cells, struct area area)
{
    const struct table *table = result_table(app_result(app, state_of(app)->controls), 0);
    if (area.rows < 2) return;
    cells_text(cells, area.row, area.col, TINT_TITLE, "controls, %s", app->split);
    for (size_t i = 0; i < CONTROLS && (int)i + 1 < area.rows; i++) {
        int row = area.row + 1 + (int)i;
        cells_text(cells, row, area.col + 1, TINT_DIM, "%s", controls[i].name);
        const char *shown = "...";
        char number[16];
        for (size_t r = 0; table && r < table->row_count; r++) {
            const char *split = table_text(table, r, "split"), *target = table_text(table, r, "target");
            if (!split || !target || strcmp(split, app->split) != 0 || strcmp(target, controls[i].target) != 0) continue;
            snprintf(number, sizeof number, "%.3f", table_number(table, r, "accuracy"));
            shown = number;
        }
        draw_right(cells, row, area.col + area.cols - 1, TINT_PLAIN, "%s", shown);
    }
}

static void draw_numbers(struct app *app, struct cells *cells, struct area area, const struct table *sweep, double alpha)
{
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
    if (state_of(app)->controls >= 0) draw_controls(app, cells, area);
}

static void draw_sweep(struct app *app, struct cells *cells, struct area area)
{
    enum { NUMBERS = 26 };
    struct state *s = state_of(app);
    const struct result *result = app_result(app, s->sweep);
    const struct table *sweep = result_table(result, 0);
    struct figure_options options = {.x_low = 0, .x_high = 1};
    struct err err = {0};
    draw_heading(cells, area.row, area.col, area.cols - 1, result && !result_ended(result) ? "accuracy at alpha, being computed" : "accuracy at alpha");
    area.row++, area.rows--;
    if (!sweep && result && result_ended(result)) {
        app_draw_waiting(app, cells, area, s->sweep);
        return;
    }
    if (!sweep) {
        draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - 1, area.cols - 4}, TINT_DIM,
                     result ? "computing ..." : "s computes the accuracy of whole splits at every alpha from 0 to 1.");
        return;
    }
    struct figure *figure = figure_from(sweep, &options, &err);
    if (figure) {
        figure_rule(figure, form_alpha(&s->form), NAN);
        figure_draw_cells(figure, cells, area.row, area.col + 1, area.rows, area.cols - NUMBERS - 2);
        figure_free(figure);
    } else draw_wrapped(cells, area, TINT_BAD, err.text);
    draw_numbers(app, cells, (struct area){area.row, area.col + area.cols - NUMBERS, area.rows, NUMBERS - 1}, sweep, form_alpha(&s->form));
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    bool roomy = area.rows >= 20, tall = area.rows >= 26;
    area.row += tall, area.rows -= tall;
    int taken = form_draw(&s->form, cells, area);
    area.row += taken, area.rows -= taken;
    area.row += roomy, area.rows -= roomy;
    taken = draw_change(app, cells, area) + roomy;
    area.row += taken, area.rows -= taken;
    if (area.rows > 3) draw_sweep(app, cells, area);
}

const struct view view_intervene = {
    .name = "intervene", .title = "edit a state, see what follows", .help = "mixes an embedding into a state and shows the answer, and the accuracy at every alpha",
    .keys = keys, .lines = lines, .draw = draw,
};
