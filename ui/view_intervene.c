#include "app.h"
#include "form.h"
#include "lens.h"
#include "question.h"
#include "sweep_panel.h"

#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

struct state {
    struct form form;
    bool begun, sweeping;  /* sweeping: the sweep of these fields was asked for */
    bool controlled;       /* controls at the alpha of the form are wanted */
    bool flipping;         /* which answers change is wanted */
    int before, after, sweep, controls, plain, edited; /* wants; -1: none. The last two: all questions of the split, without the edit and with it */
};

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
    sweep_panel_targets(&targets);
    int want = app_want(app, "sweep %s --do %s --over target=%s", app_subject(app), edit, targets.data);
    text_clear(&targets);
    return want;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    s->before = s->after = s->sweep = s->controls = s->plain = s->edited = -1;
    if (!app->model) return;
    struct text now = {0}, all = {0};
    form_add(&s->form, true, &now);
    form_add(&s->form, false, &all);
    s->before = question_want(app);
    s->after = app_want(app, "lens %s --row %s:%ld --do %s", app_subject(app), app->split, app->row, now.data);
    bool known = app_kept(app, "sweep %s --do %s --over alpha=0:1:0.05", app_subject(app), all.data);
    if (s->sweeping || known) s->sweep = app_want(app, "sweep %s --do %s --over alpha=0:1:0.05", app_subject(app), all.data);
    if (s->controlled) s->controls = want_controls(app, now.data);
    if (s->flipping) {
        s->plain = app_want(app, "questions %s --split %s", app_subject(app), app->split);
        s->edited = app_want(app, "questions %s --split %s --do %s", app_subject(app), app->split, now.data);
    }
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

/* Is question r right only without the edit (-1), only with it (1), or the same (0)? Rows of both tables are the same questions in the same order. */
static int flip_of(const struct table *plain, const struct table *edited, size_t r)
{
    return r < edited->row_count ? (int)table_number(edited, r, "correct") - (int)table_number(plain, r, "correct") : 0;
}

/* The first press counts the answers that change; the next ones go through them. */
static void press_flips(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    const struct table *plain = app_table(app, s->plain, 0), *edited = app_table(app, s->edited, 0);
    bool known = s->flipping && app_current(app, s->plain) && app_current(app, s->edited);
    s->flipping = true;
    if (!known) return;
    for (size_t i = 1; i <= plain->row_count; i++) {
        size_t r = ((size_t)app->row + i) % plain->row_count;
        if (!flip_of(plain, edited, r)) continue;
        app->row = (long)r;
        return;
    }
    app_say(app, "no answer changes at this alpha");
}

static void press_cancel(struct app *app, int key)
{
    (void)key;
    app_stop(app, state_of(app)->controls);
    state_of(app)->flipping = false;
    if (app_stop(app, state_of(app)->sweep)) app_say(app, "the sweep is stopped; s computes it again");
}

static void press_export(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    const struct table *sweep = app_table(app, s->sweep, 0);
    const char *base = strrchr(app->model ? app->model : "", '/');
    struct text name = {0};
    if (!app_current(app, s->sweep)) {
        app_say(app, sweep ? "the sweep is not done yet" : "there is no sweep yet: s computes it");
        return;
    }
    text_add(&name, "%s-", base && base[1] ? base + 1 : app->model);
    form_add(&s->form, false, &name);
    app_export(app, s->sweep, name.data, NULL);
    text_clear(&name);
}

/* ---- settings: the edit, as the command line has it */

static void get_edit(struct app *app, struct text *out) { form_add(&state_of(app)->form, true, out); }

static bool set_edit(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    s->sweeping = false;
    return form_read(&s->form, value);
}

static void get_flag(bool on, struct text *out) { text_add(out, on ? "on" : "off"); }

static bool set_flag(bool *flag, const char *value)
{
    *flag = !strcmp(value, "on");
    return *flag || !strcmp(value, "off");
}

static void get_sweep(struct app *app, struct text *out) { get_flag(state_of(app)->sweeping, out); }
static bool set_sweep(struct app *app, const char *value) { return set_flag(&state_of(app)->sweeping, value); }
static void get_controls(struct app *app, struct text *out) { get_flag(state_of(app)->controlled, out); }
static bool set_controls(struct app *app, const char *value) { return set_flag(&state_of(app)->controlled, value); }
static void get_flips(struct app *app, struct text *out) { get_flag(state_of(app)->flipping, out); }
static bool set_flips(struct app *app, const char *value) { return set_flag(&state_of(app)->flipping, value); }

static const char *const flags[] = {"on", "off", NULL};
static const struct setting settings[] = {
    {"edit", "as --do takes it: mix@h.1:position=1,alpha=0.5", get_edit, set_edit},
    {"sweep", "is the whole curve wanted?", get_sweep, set_sweep, flags, .place = true},
    {"controls", "are edits with wrong targets wanted?", get_controls, set_controls, flags},
    {"flips", "are the answers that change counted?", get_flips, set_flips, flags},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT}, "alpha", "changes the marked field, alpha at first", press_value},
    {{PRESS_TAB, PRESS_BACK_TAB, PRESS_DOWN, PRESS_UP}, "field", "marks another field", press_field},
    {{'s'}, "sweep", "computes accuracy at every alpha, on whole splits", press_sweep},
    {{'e'}, "export", "writes the curve as a PNG into figures/, with its table and caption", press_export},
    {{'c'}, "controls", "the same edit with a wrong target, at this alpha; and with the true bridge", press_controls},
    {{'f'}, "flips", "counts the answers that change at this alpha; again: the next question that flips", press_flips},
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

static int draw_flips(struct app *app, struct cells *cells, int row, int col)
{
    struct state *s = state_of(app);
    const struct table *plain = app_table(app, s->plain, 0), *edited = app_table(app, s->edited, 0);
    int better = 0, worse = 0;
    if (!s->flipping) return 0;
    if (!app_current(app, s->plain) || !app_current(app, s->edited)) {
        cells_text(cells, row, col, TINT_DIM, "flips: computing ...");
        return 1;
    }
    for (size_t r = 0; r < plain->row_count; r++) {
        int flip = flip_of(plain, edited, r);
        better += flip > 0, worse += flip < 0;
    }
    const char *arrow = cells->ascii ? "->" : "→";
    col = cells_text(cells, row, col, TINT_PLAIN, "flips at %.2f in %s: ", form_alpha(&s->form), app->split);
    cells_text(cells, row, col, TINT_PLAIN, "%d wrong %s right, %d right %s wrong", better, arrow, worse, arrow);
    return 1;
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
    double rank = lens_number(&before, p, k, "rank_answer"), rank_after = lens_number(&after, p, k, "rank_answer");
    if (area.cols >= 100) cells_text(cells, row, col + 3, TINT_PLAIN, "rank %.0f %s %.0f", rank, arrow, rank_after);
    int taken = 2 + draw_flips(app, cells, row + 1, area.col + 1);
    const struct result *result = app_result(app, s->after);
    if (!result || !result->notes.size || form_alpha(&s->form) == 0) return taken;
    draw_wrapped(cells, (struct area){area.row + taken, area.col + 1, 1, area.cols - 2}, TINT_WARN, result->notes.data); /* such as: no effect */
    return taken + 1;
}

/* ---- all of it */

static void draw_sweep(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct sweep_panel panel = {app_result(app, s->sweep), app_result(app, s->controls), form_alpha(&s->form), app->split};
    if (panel.sweep && result_ended(panel.sweep) && app_draw_waiting(app, cells, area, s->sweep)) return; /* it failed */
    sweep_panel_draw(&panel, cells, area);
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
    .name = "intervene", .title = "edit a state, see what follows",
    .help = "mixes an embedding into a state and shows the answer, and the accuracy at every alpha",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .example = "sc",
};
