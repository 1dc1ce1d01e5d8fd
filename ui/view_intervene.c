#include "app.h"
#include "fade_panel.h"
#include "flips_panel.h"
#include "form.h"
#include "lens.h"
#include "map_panel.h"
#include "pair_panel.h"
#include "question.h"
#include "sweep_panel.h"

#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What stands below the form. */
enum panel { CURVE, FLIPS, FADE, PAIR, PANELS };
static const char *const panel_names[] = {"curve", "flips", "fade", "places", NULL};

/* What a sweep may run over besides alpha. */
enum second { ALONE, POSITION, BOUNDARY, TARGET, LOOPS, AXES };
static const char *const axis_names[] = {"alone", "position", "boundary", "target", "loops", NULL};

struct state {
    struct form form;
    bool begun, sweeping;  /* sweeping: the sweep of these fields was asked for */
    bool placed;           /* by token the first edit is where the bridge is, once that is known */
    bool controlled;       /* with a sweep, its controls are wanted */
    bool listing;          /* keys are those of the list of flips */
    enum panel panel;
    enum second second;
    int at;                /* the marked flip */
    int rail;              /* columns of the slider as it was drawn, less one */
    int before, after, sweep, controls, flips, fade; /* wants; -1: none */
};

static struct state *state_of(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    if (!s->begun) form_start(&s->form);
    s->begun = true;
    s->form.by_token = app_by_token(app);
    if (app->edit_here) {
        struct lens lens = lens_of(app_kept(app, "lens %s %s", app_subject(app), question_option(app)));
        /* An edit behind the last loop, or the last token, would change the answer and not what follows. */
        int last = s->form.by_token ? lens.boundaries - 2 : app_fact_int(app, "loops", 2) - 1;
        s->placed = true;
        form_place(&s->form, app->boundary < last ? app->boundary : last, app->position);
        s->sweeping = app->edit_here = false;
    }
    return s;
}

static int want_controls(struct app *app, const char *edit)
{
    struct text targets = {0};
    sweep_panel_targets(&targets);
    int want = app_want(app, "sweep %s --do %s --over alpha=0:1:0.1 --over target=%s", app_subject(app), edit, targets.data);
    text_clear(&targets);
    return want;
}

static void add_numbers(struct text *out, const char *name, int from, int to)
{
    text_add(out, " --over %s=", name);
    for (int i = from; i <= to; i++) text_add(out, "%s%d", i > from ? "," : "", i);
}

/* Alpha, and the other axis: coarser then, as the cells multiply. */
static void add_axes(struct app *app, const struct state *s, struct text *out)
{
    enum { POSITIONS_MOST = 12, LOOPS_MORE = 2 };
    struct lens lens = lens_of(app_kept(app, "lens %s %s", app_subject(app), question_option(app)));
    int loops = app_fact_int(app, "loops", 2), positions = lens.positions < POSITIONS_MOST ? lens.positions : POSITIONS_MOST;
    text_add(out, s->second == ALONE ? " --over alpha=0:1:0.05" : " --over alpha=0:1:0.1");
    if (s->second == POSITION) add_numbers(out, "position", 0, positions ? positions - 1 : 0);
    else if (s->second == BOUNDARY && s->form.by_token) add_numbers(out, "boundary", 1, positions > 1 ? positions - 1 : 1);
    else if (s->second == BOUNDARY) add_numbers(out, "boundary", 0, loops - 1);
    else if (s->second == LOOPS) add_numbers(out, "loops", s->form.boundary > 0 ? s->form.boundary : 1, loops + LOOPS_MORE);
    else if (s->second == TARGET) text_add(out, " --over target=decoded,second,oracle,input,random,noise,soft");
}

static void want_panel(struct app *app, struct state *s, const char *now, const char *all)
{
    struct text axes = {0};
    add_axes(app, s, &axes);
    bool known = app_kept(app, "sweep %s --do %s%s", app_subject(app), all, axes.data);
    if (s->sweeping || known) s->sweep = app_want(app, "sweep %s --do %s%s", app_subject(app), all, axes.data);
    if (s->sweep >= 0 && s->controlled && s->second == ALONE) s->controls = want_controls(app, all);
    if (s->panel == FLIPS) s->flips = app_want(app, "flips %s --split %s --do %s --over alpha=0:1:0.05", app_subject(app), app->split, all);
    if (s->panel == FADE) s->fade = app_want(app, "fade %s --split %s --do %s", app_subject(app), app->split, now);
    text_clear(&axes);
}

/* By token s.1 knows one token only: the bridge can be in none before its own. */
static void place_first(struct app *app, struct state *s)
{
    struct lens lens = lens_of(app_kept(app, "lens %s %s", app_subject(app), question_option(app)));
    if (s->placed || !s->form.by_token || !lens.table) return;
    if (lens.bridge_position >= 0 && lens.bridge_position + 1 < lens.boundaries - 1) s->form.boundary = s->form.last = lens.bridge_position + 1;
    s->placed = true;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    s->before = s->after = s->sweep = s->controls = s->flips = s->fade = -1;
    if (!app->model) return;
    struct text now = {0}, all = {0};
    s->before = question_want(app);
    place_first(app, s);
    form_add(&s->form, true, &now);
    form_add(&s->form, false, &all);
    s->after = app_want(app, "lens %s %s --do %s", app_subject(app), question_option(app), now.data);
    want_panel(app, s, now.data, all.data);
    int shown[PANELS] = {s->sweep, s->flips, s->fade, s->after};
    app_show(app, shown[s->panel] >= 0 ? shown[s->panel] : s->after);
    text_clear(&now), text_clear(&all);
}

static struct flips_panel flips_of(struct app *app)
{
    struct state *s = state_of(app);
    return (struct flips_panel){app_result(app, s->flips), app->split, form_alpha(&s->form), s->at, s->listing};
}

/* ---- keys */

static void press_value(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct lens lens = lens_of(app_table(app, s->before, 0));
    if (form_change(&s->form, key == PRESS_LEFT ? -1 : 1, lens.positions, lens.boundaries)) s->sweeping = false;
}

static void press_extend(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct lens lens = lens_of(app_table(app, s->before, 0));
    if (form_extend(&s->form, key == '-' ? -1 : 1, lens.positions, lens.boundaries)) s->sweeping = false;
    else app_say(app, "only a boundary or a position can be several: mark it first");
}

static void press_field(struct app *app, int key)
{
    struct state *s = state_of(app);
    if (!s->listing) {
        form_move(&s->form, key == PRESS_DOWN ? 1 : -1);
        return;
    }
    struct flips_panel flips = flips_of(app);
    int count = flips_panel_count(&flips);
    s->at += key == PRESS_DOWN ? 1 : -1;
    if (s->at >= count) s->at = count - 1;
    if (s->at < 0) s->at = 0;
}

/* From the form to the list of flips and back. */
static void press_pane(struct app *app, int key)
{
    struct state *s = state_of(app);
    if (s->panel == FLIPS) s->listing = !s->listing;
    else form_move(&s->form, key == PRESS_TAB ? 1 : -1);
}

static void show_panel(struct state *s, enum panel panel)
{
    s->panel = panel;
    s->listing = panel == FLIPS;
}

static void press_sweep(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    int wants[] = {s->sweep, s->controls}; /* x stopped both */
    for (int i = 0; i < 2; i++) {
        const struct result *result = app_result(app, wants[i]);
        if (result && result_ended(result) && result->state != RESULT_DONE) app_again(app, wants[i]);
    }
    show_panel(s, CURVE);
    s->sweeping = s->controlled = true; /* a curve without its controls proves little */
}

static void press_axis(struct app *app, int key)
{
    struct state *s = state_of(app);
    do s->second = (s->second + (key == 'a' ? 1 : AXES - 1)) % AXES;
    while (s->form.by_token && (s->second == POSITION || s->second == LOOPS)); /* neither is there */
    show_panel(s, CURVE);
    app_say(app, s->second == ALONE ? "the sweep runs over alpha alone" : "the sweep runs over alpha and %s: s computes it", axis_names[s->second]);
}

static void press_controls(struct app *app, int key)
{
    (void)key;
    struct state *s = state_of(app);
    s->controlled = s->panel != CURVE || !s->controlled;
    s->sweeping = s->sweeping || s->controlled;
    show_panel(s, CURVE);
}

static void press_panel(struct app *app, int key)
{
    struct state *s = state_of(app);
    enum panel panel = key == 'f' ? FLIPS : key == 'r' ? FADE : PAIR;
    show_panel(s, s->panel == panel ? CURVE : panel);
}

/* On a flip: its question at its alpha, before and after. On anything else: the grid of the question. */
static void press_enter(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct flips_panel flips = flips_of(app);
    long r = s->panel == FLIPS ? flips_panel_row(&flips) : -1;
    (void)key;
    if (r < 0) {
        app_go(app, view_find("grid"));
        return;
    }
    const struct table *table = result_table(flips.flips, 0);
    app->row = (long)table_number(table, (size_t)r, "row");
    form_set_alpha(&s->form, table_number(table, (size_t)r, "alpha"));
    show_panel(s, PAIR);
}

static void press_cancel(struct app *app, int key)
{
    (void)key;
    app_stop(app, state_of(app)->controls);
    app_stop(app, state_of(app)->flips);
    if (app_stop(app, state_of(app)->sweep)) app_say(app, "the sweep is stopped; s goes on with it");
}

static void press_pause(struct app *app, int key)
{
    struct state *s = state_of(app);
    int wants[] = {s->sweep, s->flips, s->controls, s->fade};
    (void)key;
    for (int i = 0; i < 4; i++) {
        if (!app_pause(app, wants[i])) continue;
        app_say(app, app_result(app, wants[i])->paused ? "paused; the same key lets it go on" : "it goes on");
        return;
    }
    app_say(app, "nothing runs that could be paused");
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

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    struct flips_panel flips = flips_of(app);
    if (s->panel != FLIPS) return question_search(app, text, step);
    bool found = flips_panel_search(&flips, text, step);
    s->at = flips.at;
    return found;
}

enum { SPOT_SLIDER = -1 }; /* others: lines of the list of flips */

static void click(struct app *app, int code)
{
    struct state *s = state_of(app);
    if (code == SPOT_SLIDER) form_set_alpha(&s->form, round(100.0 * app->click_col / s->rail) / 100);
    else s->at = code, s->listing = true;
}

/* ---- settings: the edit, as the command line has it */

static void get_edit(struct app *app, struct text *out) { form_add(&state_of(app)->form, true, out); }

static bool set_edit(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    s->sweeping = false;
    s->placed = true;
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

static bool set_choice(const char *const *names, const char *value, int *place)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], value)) return *place = i, true;
    return false;
}

static void get_panel(struct app *app, struct text *out) { text_add(out, "%s", panel_names[state_of(app)->panel]); }

static bool set_panel(struct app *app, const char *value)
{
    int place;
    if (!set_choice(panel_names, value, &place)) return false;
    show_panel(state_of(app), (enum panel)place);
    return true;
}

static void get_axis(struct app *app, struct text *out) { text_add(out, "%s", axis_names[state_of(app)->second]); }

static bool set_axis(struct app *app, const char *value)
{
    int place;
    if (!set_choice(axis_names, value, &place)) return false;
    state_of(app)->second = (enum second)place;
    return true;
}

static const char *const flags[] = {"on", "off", NULL};
static const struct setting settings[] = {
    {"edit", "as --do takes it: mix@h.1:position=1,alpha=0.5", get_edit, set_edit},
    {"sweep", "is the whole curve wanted?", get_sweep, set_sweep, flags, .kind = SETTING_OPEN},
    {"controls", "are edits with wrong targets wanted?", get_controls, set_controls, flags},
    {"panel", "what stands below the form", get_panel, set_panel, panel_names},
    {"axis", "what the sweep runs over besides alpha", get_axis, set_axis, axis_names},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT}, "alpha", "changes the marked field, alpha at first", press_value},
    {{'s'}, "sweep", "computes accuracy at every alpha, on whole splits, and of controls", press_sweep},
    {{PRESS_DOWN, PRESS_UP}, "field", "marks another field; in the list of flips: another flip", press_field},
    {{'e'}, "export", "writes the curve as a PNG into figures/, with its table and caption", press_export},
    {{'f'}, "flips", "which questions turn right or wrong, and at which alpha; the curve again", press_panel},
    {{'c'}, "controls", "with the sweep, curves of the same edit with wrong targets; none again", press_controls},
    {{'x'}, "stop", "stops what is computed; what it has stays", press_cancel},
    {{'a', 'A'}, "axis", "a sweep over alpha and position, boundary, target or loops: a map", press_axis},
    {{'r'}, "remains", "how much of the edit is left at each later boundary; the curve again", press_panel},
    {{'p'}, "places", "the question before and after, place by place; the curve again", press_panel},
    {{PRESS_SPACE}, "pause", "what is computed waits, and goes on", press_pause},
    {{'+', '-', '='}, NULL, "the marked boundary or position: one more beside it, one less", press_extend},
    {{PRESS_ENTER}, NULL, "on a flip: its question at that alpha, before and after; else the grid", press_enter},
    {{PRESS_TAB, PRESS_BACK_TAB}, NULL, "another field; between the form and the list of flips", press_pane},
    {{'n', 'N'}, NULL, "the next question that is answered wrong, the one before", question_press_wrong},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN}, NULL, "ten questions back, ten on", question_press_row},
    {{'[', ']'}, NULL, "questions of the split before, of the next", question_press_split},
    {{0}},
};

/* ---- the question before and after */

/* brief: without its P, where that of the right answer would have no room. Where no answer is known, nothing is right or wrong. */
static int draw_answer(struct cells *cells, int row, int col, const char *when, const struct lens *lens, bool brief)
{
    bool correct = lens_correct(lens), known = lens_knows(lens, "answer");
    col = cells_text(cells, row, col, TINT_DIM, "%s ", when);
    col = draw_name(cells, row, col, cells->cols < 76 ? 6 : cells->cols < 100 ? 8 : 12, TINT_TITLE, lens_fact(lens, "predicted"));
    double p = lens_number(lens, lens->answer_position, lens->boundaries - 1, "p");
    col = brief && known ? col + 1 : cells_text(cells, row, col, TINT_PLAIN, " P %s ", unit_show(p));
    if (!known) return col + 2;
    return cells_text(cells, row, col, correct ? TINT_GOOD : TINT_BAD, "%s", correct ? "correct" : "wrong") + (brief ? 2 : 3);
}

/* P and rank of the right answer. */
static void draw_chance(struct cells *cells, struct area area, const struct lens *before, const struct lens *after, bool brief)
{
    int k = before->boundaries - 1, p = before->answer_position, row = area.row;
    const char *arrow = cells->ascii ? "->" : "→";
    struct text change = {0};
    text_add(&change, "P(answer) %s%s%s%s%s", unit_show(lens_number(before, p, k, "p_answer")), brief ? "" : " ", arrow, brief ? "" : " ",
             unit_show(lens_number(after, p, k, "p_answer")));
    int col = cells_put(cells, row, area.col, TINT_PLAIN, change.data, area.cols - 1);
    text_clear(&change);
    double rank = lens_number(before, p, k, "rank_answer"), rank_after = lens_number(after, p, k, "rank_answer");
    if (cells->cols >= 100) cells_text(cells, row, col + 3, TINT_PLAIN, "rank %.0f %s %.0f", rank, arrow, rank_after);
}

static int draw_change(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct lens before = lens_of(app_table(app, s->before, 0)), after = lens_of(app_table(app, s->after, 0));
    if (app_draw_waiting(app, cells, area, s->before)) return 3;
    int row = area.row + question_draw(app, cells, area, &before);
    if (app_draw_waiting(app, cells, (struct area){row - 1, area.col, 3, area.cols}, s->after)) return 3;
    bool brief = area.cols < 76;
    int col = draw_answer(cells, row, area.col + 1, "before", &before, brief);
    col = draw_answer(cells, row, col, "after", &after, brief);
    if (lens_knows(&before, "answer")) draw_chance(cells, (struct area){row, col, 1, area.col + area.cols - col}, &before, &after, brief);
    int taken = 2;
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

static void draw_map(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct text heading = {0};
    char value[32];
    form_value(&s->form, axis_names[s->second], value);
    if (s->second == LOOPS) snprintf(value, sizeof value, "%d", app_fact_int(app, "loops", 0));
    text_add(&heading, "accuracy at alpha and %s", axis_names[s->second]);
    draw_heading(cells, area.row, area.col, area.cols - 1, heading.data);
    text_clear(&heading);
    area.row++, area.rows--;
    struct map_panel panel = {app_result(app, s->sweep), axis_names[s->second], value, form_alpha(&s->form), app->split};
    if (panel.sweep) map_panel_draw(&panel, cells, area);
    else draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - 1, area.cols - 4}, TINT_DIM,
                      "s computes it; a chooses another axis.");
}

static void draw_pair(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct pair_panel panel = {lens_of(app_table(app, s->before, 0)), lens_of(app_table(app, s->after, 0)), s->form.boundary,
                               form_position(&s->form, &panel.before), s->form.by_token, "before", "after"};
    draw_heading(cells, area.row, area.col, area.cols - 1, "every place before and after the edit: decoded token and its P");
    pair_panel_draw(&panel, cells, (struct area){area.row + 1, area.col, area.rows - 1, area.cols});
}

static void draw_panel(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct area inner = {area.row + 1, area.col, area.rows - 1, area.cols};
    if (s->panel == CURVE && s->second != ALONE) draw_map(app, cells, area);
    else if (s->panel == CURVE) draw_sweep(app, cells, area);
    else if (s->panel == PAIR) draw_pair(app, cells, area);
    else if (s->panel == FLIPS) {
        struct flips_panel panel = flips_of(app);
        draw_heading(cells, area.row, area.col, area.cols - 1, "answers that turn right or wrong while alpha grows");
        flips_panel_draw(&panel, cells, inner);
        int first, count = flips_panel_count(&panel);
        struct area list = flips_panel_list(&panel, inner, &first);
        for (int i = 0; i < list.rows && first + i < count; i++) app_spot(app, (struct area){list.row + i, list.col, 1, list.cols}, first + i);
    } else {
        struct fade_panel panel = {app_result(app, s->fade), app->split, app_boundary(app)};
        struct text heading = {0};
        text_add(&heading, "what is left of the edit, %s", app->split);
        draw_heading(cells, area.row, area.col, area.cols - 1, heading.data);
        text_clear(&heading);
        fade_panel_draw(&panel, cells, inner);
    }
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    bool roomy = area.rows >= 20, tall = area.rows >= 26;
    area.row += tall, area.rows -= tall;
    int taken = form_draw(&s->form, cells, area);
    struct area slider = form_slider(&s->form, area, taken);
    s->rail = slider.cols - 1;
    if (s->rail > 0) app_spot(app, slider, SPOT_SLIDER);
    area.row += taken, area.rows -= taken;
    area.row += roomy, area.rows -= roomy;
    taken = draw_change(app, cells, area) + roomy;
    area.row += taken, area.rows -= taken;
    if (area.rows > 3) draw_panel(app, cells, area);
}

const struct view view_intervene = {
    .name = "intervene", .title = "edit a state, see what follows",
    .help = "mixes an embedding into a state and shows the answer, and the accuracy at every alpha",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = search, .click = click, .example = "s",
};
