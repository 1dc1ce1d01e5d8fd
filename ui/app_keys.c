/* What the keys of every view do, and how a key finds its meaning: prompt first, then what lies over the view, then the view, then these. */
#include "app.h"
#include "history.h"
#include "menu.h"
#include "opened.h"
#include "saved.h"
#include "complete.h"
#include "question.h"
#include "tour.h"

#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

static void press_digit(struct app *app, int key)
{
    for (size_t n = 0; view_numbered(n); n++)
        if (view_digit(n) == key) {
            app_go(app, view_numbered(n));
            return;
        }
}

static void press_menu(struct app *app, int key)
{
    (void)key;
    app->menu = 0;
    for (size_t n = 0; view_numbered(n); n++)
        if (view_numbered(n) == app->view) app->menu = (int)n;
}

/* ---- parts of a view */

static int part_count(const struct app *app)
{
    int count = 0;
    while (app->view->parts && app->view->parts[count]) count++;
    return count;
}

static void next_view(struct app *app, int step)
{
    size_t at = 0, count = 0;
    for (; view_numbered(count); count++)
        if (view_numbered(count) == (app->view->hidden ? app_before(app) : app->view)) at = count;
    if (count) app_go(app, view_numbered((at + (step > 0 ? 1 : count - 1)) % count));
}

static void press_tab(struct app *app, int key)
{
    struct pane *pane = app_pane(app, app->view);
    int count = part_count(app), step = key == PRESS_TAB ? 1 : -1;
    if (count < 2) next_view(app, step);
    else pane->part = (pane->part + step + count) % count;
}

static void press_zoom(struct app *app, int key)
{
    struct pane *pane = app_pane(app, app->view);
    (void)key;
    if (part_count(app) < 2) app_say(app, "this view has one part only");
    else pane->zoomed = !pane->zoomed;
}

static void press_hide(struct app *app, int key)
{
    struct pane *pane = app_pane(app, app->view);
    int count = part_count(app);
    unsigned all = (1u << count) - 1, hidden = pane->hidden ^ 1u << pane->part;
    (void)key;
    if (count < 2) app_say(app, "this view has one part only");
    else if ((hidden & all) == all) app_say(app, "the last part stays");
    else {
        pane->hidden = hidden;
        pane->zoomed = false;
        app_say(app, hidden & 1u << pane->part ? "%s is hidden; the same key brings it back" : "%s is back", app->view->parts[pane->part]);
    }
}

/* ---- prompts */

void app_ask(struct app *app, enum asking what, const char *answer)
{
    app->asking = what;
    app->prompting = true;
    complete_forget(app);
    if (what == ASK_COMMAND || what == ASK_TOKENS) prompt_set(&app->prompt, answer); /* to be changed here and there */
    else prompt_offer(&app->prompt, answer);
}

static void press_model(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_MODEL, app->model ? app->model : "");
}

static void press_data(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_DATA, app->data ? app->data : "");
}

static void press_prompt(struct app *app, int key)
{
    (void)key;
    const struct result *shown = app_result(app, app->line_shown);
    if (shown) prompt_remember(&app->prompt, shown->line); /* one press of the arrow key, and it can be edited */
    app_ask(app, ASK_COMMAND, "");
}

static void press_save(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_SAVE, "loopscope.session");
}

static void press_search(struct app *app, int key)
{
    (void)key;
    if (app->view->search) app_ask(app, ASK_SEARCH, "");
    else app_say(app, "there is no list to search in this view");
}

static void search(struct app *app, int step)
{
    if (!app->found) app_say(app, "nothing was searched for yet: / asks for it");
    else if (!app->view->search) app_say(app, "there is no list to search in this view");
    else if (!app->view->search(app, app->found, step)) app_say(app, "no other line holds '%s'", app->found);
}

static void press_next(struct app *app, int key) { search(app, key == 'n' ? 1 : -1); }

/* ---- back */

static void press_help(struct app *app, int key)
{
    (void)key;
    if (strcmp(app->view->name, "help")) app_go(app, view_find("help"));
    else app_back(app);
}

static void press_back(struct app *app, int key)
{
    struct pane *pane = app_pane(app, app->view);
    (void)key;
    if (pane->zoomed) pane->zoomed = false;
    else app_back(app);
}

static void press_undo(struct app *app, int key)
{
    struct text now = {0};
    settings_add(app, SETTING_PLACE, &now);
    const struct moment *moment = key == 'u' ? undo_back(&app->undo, now.data, app->view->name) : undo_on(&app->undo, now.data, app->view->name);
    if (moment) {
        settings_restore(app, moment->settings);
        app_go(app, view_find(moment->view));
        app_say(app, key == 'u' ? "undone; ^R does it again" : "done again");
    } else app_say(app, key == 'u' ? "nothing was changed before" : "nothing was undone");
    text_clear(&now);
}

static void press_reload(struct app *app, int key)
{
    (void)key;
    app_reload(app);
    app_say(app, "reading the files again");
}

static void press_turn(struct app *app, int key)
{
    (void)key;
    opened_turn(app, 1);
    if (app->open_count > 1) app_say(app, "%s: one of %zu open models", app->model, app->open_count);
}

static void press_follow(struct app *app, int key)
{
    struct opened *one = opened_keep(app);
    (void)key;
    if (!one) app_say(app, "no model is open");
    else if ((one->follow = !one->follow)) app_say(app, "whenever %s is written it is read again", path_base(one->model));
    else app_say(app, "%s is read again when R is pressed", path_base(one->model));
}

static void press_copy(struct app *app, int key)
{
    const struct result *shown = app_result(app, app->line_shown);
    (void)key;
    if (!shown) app_say(app, "no command line is on this screen");
    else if (app->copy && app->copy(shown->line)) app_say(app, "copied: %s", shown->line);
    else app_say(app, "%s", shown->line);
}

static void press_quit(struct app *app, int key)
{
    (void)key;
    app->quit = true;
}

const struct binding app_keys[] = {
    {{'1', '2', '3', '4', '5', '6', '7', '8', '9', '0'}, NULL, "a view, by its number", press_digit},
    {{'g'}, "views", "the list of all views", press_menu},
    {{PRESS_TAB, PRESS_BACK_TAB}, NULL, "the next part of this view, or the next view", press_tab},
    {{'z'}, NULL, "gives the part that has the focus all of the screen, and takes it back", press_zoom},
    {{'\\'}, NULL, "hides the part that has the focus, and brings it back", press_hide},
    {{':'}, "run", "a prompt for any command line; the up arrow brings the one of this screen, Tab completes", press_prompt},
    {{'/'}, NULL, "searches in the list of this view", press_search},
    {{'n', 'N'}, NULL, "the next line that holds what was searched for, the one before", press_next},
    {{'u', PRESS_CONTROL('r')}, NULL, "takes back the last change of a setting, or moves; does it again", press_undo},
    {{'y'}, NULL, "copies the command line of this screen", press_copy},
    {{'S'}, NULL, "saves this session in a file, for: loopscope session FILE", press_save},
    {{'?'}, "help", "keys and words; again: back", press_help},
    {{PRESS_ESCAPE}, NULL, "back", press_back},
    {{'o'}, NULL, "opens another model: the path of its folder, or its name", press_model},
    {{'O'}, NULL, "turns to the next of the models that are open; the question stays", press_turn},
    {{'d'}, NULL, "measures on another dataset: its folder or name; empty: the model's own", press_data},
    {{'R'}, NULL, "reads the model's files again and recomputes", press_reload},
    {{'F'}, NULL, "reads the model again whenever its files change, as those of a training run do; or not", press_follow},
    {{'q'}, "quit", "ends; so does Ctrl-C when nothing runs, and otherwise it stops what runs", press_quit},
    {{0}},
};

/* ---- from key to meaning */

static void write_file(struct app *app, const char *path, bool log)
{
    struct err err = {0};
    if (log ? journal_save(&app->journal, path, &err) : saved_write(app, path, &err))
        app_say(app, log ? "wrote %s; loopscope replay %s runs it again" : "wrote %s; loopscope session %s opens it again", path, path);
    else app_say(app, "%s", err.text);
}

static void answer_prompt(struct app *app, const char *line)
{
    bool empty = !line[strspn(line, " ")];
    if (app->asking == ASK_DATA) app_use_data(app, empty ? "" : line);
    else if (app->asking == ASK_TOKENS) question_set_tokens(app, empty ? "" : line);
    else if (empty) return;
    else if (app->asking == ASK_WATCH || app->asking == ASK_OTHER) {
        struct err err = {0};
        if (!settings_set(app, app->asking == ASK_WATCH ? "grid.watch" : "compare.with", line, &err)) app_say(app, "%s", err.text);
    } else if (app->asking == ASK_MODEL) app_open(app, line);
    else if (app->asking == ASK_SAVE || app->asking == ASK_LOG) write_file(app, line, app->asking == ASK_LOG);
    else if (app->asking == ASK_SEARCH) {
        mem_free(app->found);
        app->found = mem_text(line);
        search(app, 1);
    } else {
        prompt_remember(&app->prompt, line);
        history_add(app->history_path, line);
        app_enter(app, line);
    }
}

static void press_in_prompt(struct app *app, int key)
{
    if (key == PRESS_TAB) {
        complete_prompt(app);
        return;
    }
    enum prompt_answer answer = prompt_key(&app->prompt, key);
    complete_forget(app);
    if (answer == PROMPT_GOES_ON) return;
    app->prompting = false;
    char *line = mem_text(app->prompt.line.data);
    if (answer == PROMPT_DONE) answer_prompt(app, line);
    mem_free(line);
}

static void press(struct app *app, int key)
{
    if (app->prompting) press_in_prompt(app, key);
    else if (app->menu >= 0) menu_key(app, key);
    else if (app->tour < 0 || !tour_key(app, key)) {
        const struct binding *binding = binding_find(app->view->keys, key);
        if (!binding) binding = binding_find(app_keys, key);
        if (binding) binding->act(app, key);
    }
}

static char *settings_upto(struct app *app, enum setting_kind kind)
{
    struct text out = {0};
    settings_add(app, kind, &out);
    return out.data;
}

/* What changed any setting can be undone, whichever key it was; moves behind each other are one step. */
static void act_and_note(struct app *app, void (*act)(struct app *app, int key), int key)
{
    const char *view = app->view->name;
    char *model = mem_text(app->model ? app->model : ""), *before = settings_upto(app, SETTING_PLACE), *values = settings_upto(app, SETTING_VALUE);
    int past = app->undo.past_count;
    act(app, key);
    char *after = settings_upto(app, SETTING_PLACE), *now = settings_upto(app, SETTING_VALUE);
    bool same_model = !strcmp(model, app->model ? app->model : ""), moved = !strcmp(values, now);
    if (same_model && past == app->undo.past_count && strcmp(before, after) != 0) undo_note(&app->undo, before, view, moved);
    mem_free(before), mem_free(values), mem_free(after), mem_free(now);
    mem_free(model);
}

void app_key(struct app *app, int key)
{
    app->message[0] = '\0';
    app_look(app);
    act_and_note(app, press, key);
    app_update(app);
}

/* ---- mouse */

static void click_spot(struct app *app, int key)
{
    int row = app->click_row, col = app->click_col;
    (void)key;
    for (int i = app->spot_count; i-- > 0;) {
        const struct area *a = &app->spots[i].area;
        if (row < a->row || row >= a->row + a->rows || col < a->col || col >= a->col + a->cols) continue;
        app->click_row = row - a->row, app->click_col = col - a->col;
        if (app->menu >= 0) app->menu = app->spots[i].code, menu_key(app, PRESS_ENTER);
        else if (app->view->click) app->view->click(app, app->spots[i].code);
        return;
    }
    app->menu = -1;
}

void app_mouse(struct app *app, int key, int row, int col)
{
    enum { WHEEL_STEP = 3 };
    if (key != PRESS_CLICK) {
        for (int i = 0; i < WHEEL_STEP && !app->prompting; i++) app_key(app, key == PRESS_WHEEL_UP ? PRESS_UP : PRESS_DOWN);
        return;
    }
    app->message[0] = '\0';
    bool tab = false;
    for (int i = 0; row == 0 && i < app->tab_count; i++)
        if (col >= app->tabs[i].from && col < app->tabs[i].to) tab = true, app->menu = -1, app_go(app, app->tabs[i].view);
    app->click_row = row, app->click_col = col;
    if (!tab && !app->prompting) act_and_note(app, click_spot, key);
    app_update(app);
}

void app_interrupt(struct app *app)
{
    if (app->prompting) {
        app->prompting = false;
        return;
    }
    /* First what somebody waits for. */
    bool stopped = app_stop_shown(app, true) || app_stop_behind(app) || app_stop_shown(app, false);
    if (stopped) app_say(app, "stopped; R computes it again, Ctrl-C once more ends the program");
    else app->quit = true;
}
