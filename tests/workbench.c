/* The workbench around the views: settings, undo, saved sessions, preferences, the log and its replay, completion, the mouse, and long work that goes
 * on behind the view. */
#include "app.h"
#include "complete.h"
#include "history.h"
#include "home.h"
#include "opened.h"
#include "question.h"
#include "saved.h"
#include "search.h"

#include "doing/command.h"
#include "doing/completion.h"
#include "doing/manual.h"
#include "doing/runs.h"
#include "figures/cells_picture.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/loopscope-workbench-XXXXXX";

static char *in_folder(const char *name) { return path_join(folder, name); }

/* Every command gives the same small table; "slow" takes until it is stopped or released. */
static atomic_int released, slow_runs, slow_lists;

static bool plant_info(struct sink *sink)
{
    struct table *table = table_new("info");
    table_column(table, "property", ROLE_LABEL, NULL);
    table_column(table, "value", ROLE_LABEL, NULL);
    table_column(table, "source", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
    sink_row(sink, (struct cell[]){cell_text("hidden_size"), cell_text("64"), cell_text("config")});
    sink_row(sink, (struct cell[]){cell_text("rope_theta"), cell_text("10000"), cell_text("default")});
    return true;
}

static bool planted(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    bool slow = text_starts(line, "sweep") || (slow_lists && !strcmp(line, "runs"));
    if (text_starts(line, "info models/discoloop")) return plant_info(sink);
    struct table *table = table_new("planted");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "n", ROLE_COUNT, NULL);
    if (text_starts(line, "wrong")) return table_free(table), err_set(err, "there is no such thing");
    sink_table(sink, table);
    table_free(table);
    for (int i = 0; i < 3; i++) sink_row(sink, (struct cell[]){cell_text(i == 1 ? "test_ood" : i ? "train" : "test_id"), cell_number(1000)});
    if (slow) slow_runs++;
    for (int i = 0; slow && !released && i < 20000; i++) {
        usleep(1000);
        struct progress progress = {.what = "sweep", .done = 45, .total = 100, .unit = "cells", .rate = 12, .left = 4};
        if (!sink_progress(sink, &progress) || session_stopped(session)) return err_stop(err, "stopped");
    }
    return true;
}

static struct session *session;

static struct app *open_app(void)
{
    session = session_new(1);
    return app_new(session, planted, "models/vanilla");
}

static void close_app(struct app *app)
{
    app_free(app);
    session_free(session);
}

static void press(struct app *app, const char *keys)
{
    app_settle(app);
    while (*keys) app_key(app, key_read(&keys)), app_settle(app);
}

static char *screen(struct app *app, int rows, int cols)
{
    struct cells *cells = cells_new(rows, cols);
    struct text out = {0};
    int row, col;
    app_draw(app, cells, &row, &col);
    cells_page(cells, &out);
    cells_free(cells);
    return out.data;
}

static void assert_shows(struct app *app, const char *text)
{
    char *got = screen(app, 24, 100);
    if (!strstr(got, text)) fail_msg("'%s' is not on the screen\n%s", text, got);
    mem_free(got);
}

/* ---- settings */

static char *settings_now(struct app *app)
{
    struct text out = {0};
    settings_add(app, SETTING_OPEN, &out);
    return out.data;
}

static void test_settings(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    struct err err = {0};
    assert_true(settings_set(app, "grid.metric", "cosine", &err));
    assert_true(settings_set(app, "intervene.edit", "mix@h.0:position=2,alpha=0.25,norm=match", &err));
    assert_true(settings_set(app, "position", "2", &err));
    assert_false(settings_set(app, "grid.metric", "colour", &err));
    assert_non_null(strstr(err.text, "cosine"));
    assert_false(settings_set(app, "grid.metrik", "cosine", &err));
    assert_non_null(strstr(err.text, "grid.metric"));
    assert_false(settings_set(app, "intervene.edit", "mix@h.0:alpha=7", &err));
    assert_false(settings_set(app, "boundary", "-1", &err));
    char *before = settings_now(app);
    assert_non_null(strstr(before, "set intervene.edit mix@h.0:position=2,"));
    assert_non_null(strstr(before, "alpha=0.25"));
    settings_restore(app, before);
    char *after = settings_now(app);
    assert_string_equal(before, after);
    mem_free(before), mem_free(after);
    close_app(app);
}

/* As --set has it. */
static void test_set_with_equals(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":set grid.metric=rank<Enter>:set intervene.edit=mix@h.0:position=2,alpha=0.25<Enter>");
    char *now = settings_now(app);
    assert_non_null(strstr(now, "set grid.metric rank"));
    assert_non_null(strstr(now, "set intervene.edit mix@h.0:position=2,"));
    mem_free(now);
    close_app(app);
}

/* A command behind typed tokens once freed them twice. */
static void test_tokens_outlive_a_command(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    question_set_tokens(app, "e1 r1 r2");
    press(app, ":orbit x<Enter>");
    assert_string_equal(app->view->name, "output");
    assert_string_equal(question_tokens(app), "e1 r1 r2");
    close_app(app);
}

/* The other model is never the open one. */
static void test_compare_turns_past_the_open_model(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    app_go(app, view_find("compare"));
    for (size_t i = 0; i < 2 * app->model_count; i++) {
        char **words;
        size_t count;
        struct err err = {0};
        press(app, i < app->model_count ? "<Right>" : "<Left>");
        assert_true(words_split(app_result(app, 0)->line, &words, &count, &err));
        if (!strcmp(words[1], words[2]) || !strcmp(path_base(words[1]), path_base(words[2]))) fail_msg("%s", app_result(app, 0)->line);
        words_free(words, count);
    }
    close_app(app);
}

static void test_every_setting_takes_what_it_gives(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    const struct setting *setting;
    const char *name;
    for (size_t i = 0; (name = settings_name(i, &setting)); i++) {
        assert_non_null(setting->help);
        for (const char *const *c = setting->choices; c && *c; c++) {
            struct err err = {0};
            struct text line = {0};
            text_add(&line, "set %s ", name);
            text_add_quoted(&line, *c);
            if (!settings_set(app, name, *c, &err)) fail_msg("%s", err.text);
            char *now = settings_now(app);
            if (!strstr(now, line.data)) fail_msg("'%s' is not in\n%s", line.data, now);
            mem_free(now);
            text_clear(&line);
            name = settings_name(i, &setting);
        }
    }
    close_app(app);
}

static void test_undo(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":view grid<Enter>");
    char *first = settings_now(app);
    press(app, "mm");
    press(app, ":set split test_id<Enter>");
    char *last = settings_now(app);
    press(app, "uuu");
    char *back = settings_now(app);
    assert_string_equal(back, first);
    press(app, "u");
    assert_shows(app, "nothing was changed before");
    press(app, "<^R><^R><^R>");
    char *again = settings_now(app);
    assert_string_equal(again, last);
    mem_free(first), mem_free(last), mem_free(back), mem_free(again);
    press(app, "u<Left>m<^R>"); /* a change ends what could be done again */
    assert_shows(app, "nothing was undone");
    close_app(app);
}

/* The question and the marked line come back, too; moves behind each other are one step. */
static void test_undo_of_places(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":view grid<Enter>:set row 7<Enter>m<Down><Down><PgDn>");
    press(app, "u");
    assert_int_equal(app->row, 7);
    press(app, "u<Down>:view questions<Enter><Down><Down>w");
    char *text = settings_now(app);
    assert_non_null(strstr(text, "set questions.marked 0\n"));
    press(app, "uu");
    mem_free(text), text = settings_now(app);
    assert_non_null(strstr(text, "set questions.marked 0\n"));
    assert_int_equal(app->row, 8);
    press(app, "u");
    assert_int_equal(app->row, 7);
    assert_string_equal(app->view->name, "grid");
    press(app, "u");
    assert_int_equal(app->row, 0);
    mem_free(text);
    close_app(app);
}

static void test_session_file(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    char *path = in_folder("a.session"), *other = in_folder("b.session");
    struct err err = {0};
    press(app, ":view grid<Enter>mmm:set row 17<Enter>");
    char *before = settings_now(app);
    assert_true(saved_write(app, path, &err));
    close_app(app);
    app = open_app();
    assert_true(saved_read(app, path, &err));
    char *after = settings_now(app);
    assert_string_equal(before, after);
    mem_free(before), mem_free(after);
    static const char wrong[] = "# mine\nset split test_id\n\nset rows 3\n";
    assert_true(file_write(other, wrong, sizeof wrong - 1, &err));
    assert_false(saved_read(app, other, &err));
    assert_non_null(strstr(err.text, "b.session:4"));
    assert_non_null(strstr(err.text, "did you mean row"));
    mem_free(path), mem_free(other);
    close_app(app);
}

/* Two models beside each other: the question stays while one is turned from to the other, and a session holds both. */
static void test_several_models(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    char *path = in_folder("c.session");
    struct err err = {0};
    press(app, ":open models/discoloop<Enter>:set row 17<Enter>d");
    press(app, "two-hop-tiny<Enter>O");
    assert_string_equal(app->model, "models/vanilla");
    assert_null(app->data);
    assert_shows(app, "vanilla 1/2");
    press(app, ":set row 17<Enter>O");
    assert_string_equal(app->model, "models/discoloop");
    assert_string_equal(app->data, "two-hop-tiny");
    assert_int_equal(app->row, 17);
    char *before = settings_now(app);
    assert_non_null(strstr(before, "set open 'models/vanilla models/discoloop --data two-hop-tiny'"));
    assert_true(saved_write(app, path, &err));
    close_app(app);
    session = session_new(1);
    app = app_new(session, planted, "runs/another");
    if (!saved_read(app, path, &err)) fail_msg("%s", err.text);
    char *after = settings_now(app);
    assert_string_equal(before, after);
    press(app, "O");
    assert_string_equal(app->model, "models/vanilla");
    press(app, ":view models<Enter>"), app->model_at = 0;
    while (strcmp(app->models[app->model_at], "models/discoloop") != 0) app->model_at++;
    press(app, "x"); /* closed */
    assert_int_equal(app->open_count, 1);
    press(app, "O");
    assert_string_equal(app->model, "models/vanilla");
    assert_shows(app, "one model is open");
    mem_free(before), mem_free(after), mem_free(path);
    close_app(app);
}

/* A log that no file keeps says so where its file would stand. */
static void test_log_without_a_file(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    journal_open(&app->journal, mem_text("/proc/nosuch/log"));
    press(app, ":info x<Enter>:view log<Enter>");
    assert_shows(app, "in no file (w writes one): /proc/nosuch: the folder cannot be made");
    close_app(app);
}

/* The open model and its data stay where a name stands for nothing; what is odd about a model is said when it is opened. */
static void test_names_of_nothing(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    struct err err = {0};
    app_settle(app);
    press(app, ":open /nonexist<Enter>");
    assert_string_equal(app->model, "models/vanilla");
    assert_int_equal(app->open_count, 1);
    assert_shows(app, "/nonexist: no such model");
    assert_false(settings_set(app, "model", "datasets", &err)); /* a folder without a config.json */
    assert_non_null(strstr(err.text, "datasets/config.json: no such file"));
    press(app, "dtwo-hop-tinny<Enter>");
    assert_null(app->data);
    assert_shows(app, "did you mean two-hop-tiny?");
    press(app, ":open models/discoloop<Enter>");
    assert_string_equal(app->models[app->model_at], "models/discoloop");
    assert_shows(app, "1 default, not in its config: rope_theta 10000");
    close_app(app);
}

/* A bundled model keeps the name that the user gave it, and is one model by whatever path it is opened again. */
static void test_one_model_by_many_names(void **unused)
{
    (void)unused;
    session = session_new(1);
    struct app *app = app_new(session, planted, "vanilla");
    press(app, ":open models/vanilla<Enter>");
    assert_string_equal(app->model, "vanilla");
    press(app, ":open ./models/vanilla/<Enter>");
    assert_string_equal(app->model, "vanilla");
    assert_int_equal(app->open_count, 1);
    size_t count = app->model_count;
    press(app, ":open models/discoloop/<Enter>");
    assert_string_equal(app->model, "models/discoloop");
    assert_int_equal(app->open_count, 2);
    assert_int_equal(app->model_count, count);
    close_app(app);
}

static void write_model(const char *folder_name, const char *config)
{
    char *made = in_folder(folder_name), *file = path_join(made, "config.json");
    struct err err = {0};
    assert_true(folder_make(made, &err) && file_write(file, config, strlen(config), &err));
    mem_free(made), mem_free(file);
}

/* A training that goes on writing is noticed, and read again when that is wished. */
static void test_files_that_change(void **unused)
{
    (void)unused;
    write_model("run", "{}");
    session = session_new(1);
    char *run = in_folder("run");
    struct app *app = app_new(session, planted, run);
    app_settle(app);
    assert_false(opened_look(app));
    const struct result *first = app_find(app, app->head.wants[0].line);
    write_model("run", "{ }");
    assert_true(opened_look(app));
    assert_shows(app, "the model's files have changed: R reads them again");
    press(app, "R");
    assert_false(app->changed || opened_look(app));
    assert_ptr_not_equal(first, app_find(app, app->head.wants[0].line));
    first = app_find(app, app->head.wants[0].line);
    press(app, "F");
    write_model("run", "{  }");
    assert_true(opened_look(app));
    app_settle(app);
    assert_shows(app, "run was written again, and is read again");
    assert_false(app->changed);
    assert_ptr_not_equal(first, app_find(app, app->head.wants[0].line));
    mem_free(run);
    close_app(app);
}

static void test_preferences(void **unused)
{
    (void)unused;
    char *path = in_folder("config/settings");
    struct prefs prefs;
    struct err err = {0};
    assert_true(prefs_read(&prefs, path, &err)); /* not there yet */
    assert_true(prefs_set(&prefs, "theme", "light", &err) && prefs_set(&prefs, "mouse", "off", &err));
    assert_false(prefs_set(&prefs, "theme", "green", &err));
    assert_non_null(strstr(err.text, "dark|light|none"));
    assert_true(prefs_write(&prefs, path, &err));
    char *text = file_read(path, 1 << 16, NULL, &err);
    struct text more = {0};
    text_add(&more, "# of a later version\nsound loud\n%srows 99999\n", text);
    assert_true(file_write(path, more.data, more.size, &err));
    prefs_release(&prefs);
    assert_false(prefs_read(&prefs, path, &err)); /* rows is wrong, the rest counts */
    assert_int_equal(prefs.theme, THEME_LIGHT);
    assert_false(prefs.mouse);
    assert_true(prefs_set(&prefs, "rows", "30", &err) && prefs_write(&prefs, path, &err));
    mem_free(text);
    text = file_read(path, 1 << 16, NULL, &err);
    assert_non_null(strstr(text, "# of a later version\nsound loud\n"));
    assert_non_null(strstr(text, "rows 99999\n"));
    assert_non_null(strstr(text, "rows 30\n"));
    prefs_release(&prefs);
    text_clear(&more);
    mem_free(text), mem_free(path);
}

/* ---- the log */

static void test_log(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    char *path = in_folder("a.log");
    struct err err = {0};
    journal_open(&app->journal, in_folder("state/log"));
    press(app, ":view splits<Enter>:wrong one<Enter>:view log<Enter>");
    assert_shows(app, "failed");
    press(app, ":save-log ");
    for (const char *c = path; *c; c++) app_key(app, *c);
    press(app, "<Enter>");
    char *text = file_read(path, 1 << 20, NULL, &err), *kept = file_read(app->journal.path, 1 << 20, NULL, &err);
    assert_non_null(strstr(text, "\neval models/vanilla\n"));
    assert_non_null(strstr(text, "\n# wrong one\n"));
    assert_string_equal(text, kept);
    press(app, "/eval<Enter><Enter>"); /* found, and run again: it is on the screen */
    assert_string_equal(app->view->name, "splits");
    mem_free(text), mem_free(kept), mem_free(path);
    close_app(app);
}

static bool replay(const char *script, struct text *said, struct err *err)
{
    char *path = in_folder("script"), *line = NULL;
    struct session *own = session_new(1);
    struct collector collector;
    collector_init(&collector);
    assert_true(file_write(path, script, strlen(script), err));
    struct text text = {0};
    text_add(&text, "replay %s", path);
    line = text.data;
    bool ok = command_line(own, line, &collector.sink, err);
    text_add(said, "%s", collector.said.data ? collector.said.data : "");
    collector_release(&collector);
    session_free(own);
    mem_free(path), mem_free(line);
    return ok;
}

static void test_replay(void **unused)
{
    (void)unused;
    struct text said = {0};
    struct err err = {0};
    assert_true(replay("# a comment\n\n$ loopscope help data\r\n  loopscope help info\n", &said, &err));
    assert_non_null(strstr(said.data, "$ loopscope help data"));
    assert_non_null(strstr(said.data, "usage: loopscope info"));
    said.size = 0;
    assert_false(replay("help\n# x\nhepl\nhelp data\n", &said, &err));
    assert_non_null(strstr(err.text, "script:3: unknown command 'hepl'"));
    assert_null(strstr(said.data, "help data"));
    assert_false(replay("replay /dev/null\n", &said, &err));
    assert_non_null(strstr(err.text, "part of another"));
    text_clear(&said);
}

static void test_history(void **unused)
{
    (void)unused;
    char *path = in_folder("state/history");
    struct prompt prompt = {0};
    history_add(path, "help data"), history_add(path, "eval 'a b'");
    history_read(&prompt, path);
    assert_int_equal(prompt.entered_count, 2);
    assert_string_equal(prompt.entered[1], "eval 'a b'");
    prompt_release(&prompt);
    mem_free(path);
}

/* ---- completion */

static void assert_completes(struct app *app, const char *typed, const char *line, const char *choices)
{
    press(app, ":");
    for (const char *c = typed; *c;) {
        unsigned code = 0;
        c += text_utf8(c, &code);
        app_key(app, (int)code);
    }
    app_key(app, PRESS_TAB);
    assert_string_equal(app->prompt.line.data, line);
    const char *shown = app->choices.size ? app->choices.data : "";
    if (choices && !strstr(shown, choices)) fail_msg("%s: '%s' is not in '%s'", typed, choices, shown);
    app_key(app, PRESS_ESCAPE);
}

/* What does not fit is on another page, to which another Tab turns. */
static void test_completion_in_pages(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":set <Tab>");
    char *first = screen(app, 16, 60);
    assert_non_null(strstr(first, "page 1 of "));
    assert_non_null(strstr(first, " model "));
    press(app, "<Tab>");
    char *second = screen(app, 16, 60);
    assert_non_null(strstr(second, "page 2 of "));
    assert_null(strstr(second, " model "));
    assert_string_equal(app->prompt.line.data, "set ");
    mem_free(first), mem_free(second);
    close_app(app);
}

/* A name that is offered gives way to one that is typed, and can be changed as well. */
static void test_offered_names(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, "Sa");
    assert_string_equal(app->prompt.line.data, "a");
    press(app, "<Esc>S<BS>x");
    assert_string_equal(app->prompt.line.data, "loopscope.sessiox");
    press(app, "<Esc>o<End>-5");
    assert_string_equal(app->prompt.line.data, "models/vanilla-5");
    close_app(app);
}

static void test_completion(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":view splits<Enter>"); /* its table names the splits */
    assert_completes(app, "swe", "sweep ", NULL);
    assert_completes(app, "data kh", "data khop ", NULL);
    assert_completes(app, "sweep x --nor", "sweep x --norm ", NULL);
    assert_completes(app, "sweep x --norm m", "sweep x --norm match ", NULL);
    assert_completes(app, "sweep x --norm ", "sweep x --norm ", "rms\nmatch");
    assert_completes(app, "eval x --split test_", "eval x --split test_", "test_id\ntest_ood");
    assert_completes(app, "eval x --split test_id,tr", "eval x --split test_id,train ", NULL);
    assert_completes(app, "lens x --row test_o", "lens x --row test_ood:", NULL);
    assert_completes(app, "lens x --do m", "lens x --do mix@", NULL);
    assert_completes(app, "lens x --do mix@h.1:al", "lens x --do mix@h.1:alpha=", NULL);
    assert_completes(app, "lens x --do mix@h.1:norm=r", "lens x --do mix@h.1:norm=rms ", NULL);
    assert_completes(app, "info models/rec", "info models/recipes/", NULL);
    assert_completes(app, "set grid.me", "set grid.metric ", NULL);
    assert_completes(app, "set grid.metric co", "set grid.metric cosine ", NULL);
    assert_completes(app, "set theme l", "set theme light ", NULL);
    assert_completes(app, "view gri", "view grid ", NULL);
    assert_completes(app, "tou", "tour ", NULL);
    assert_completes(app, "plot Makef", "plot Makefile ", NULL);
    assert_completes(app, "nonsen", "nonsen", "nothing known");
    close_app(app);
}

/* ---- the way back, the tour, the key line */

static void test_back(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, "346");
    press(app, "?<Esc>");
    assert_string_equal(app->view->name, "questions");
    press(app, "<Esc>");
    assert_string_equal(app->view->name, "grid");
    press(app, "??:nothing<Enter><Esc>");
    assert_string_equal(app->view->name, "grid");
    press(app, "<Esc><Esc><Esc><Esc>");
    assert_string_equal(app->view->name, "loops");
    press(app, "3?3<Esc>"); /* not to where one is */
    assert_string_equal(app->view->name, "loops");
    for (int i = 0; i < 40; i++) press(app, i % 2 ? "3" : "4");
    close_app(app);
}

static void test_tour_goes_on_with_enter(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":tour<Enter><Enter>");
    assert_string_equal(app->view->name, "splits");
    assert_int_equal(app->tour, 1);
    press(app, "6"), app_key(app, PRESS_ENTER); /* another view has its keys; the tour waits */
    assert_int_equal(app->tour, 1);
    assert_shows(app, "< back to it");
    press(app, "6"), app_key(app, '<');
    assert_string_equal(app->view->name, "splits");
    press(app, "<Enter><Enter><Enter><Enter><Enter><Enter>");
    assert_int_equal(app->tour, 7);
    press(app, "<Enter>");
    assert_int_equal(app->tour, -1);
    close_app(app);
}

/* Splits begin where the question is. */
static void test_splits_begin_at_the_split(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, "3<Enter>");
    assert_string_equal(app->split, "test_ood");
    press(app, "3<Up><Enter>");
    assert_string_equal(app->split, "test_id");
    close_app(app);
}

/* Of keys that do not all fit the first are named, without a gap, and then that there are more. */
static void test_key_line(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, "5");
    for (int cols = 60; cols <= 220; cols++) {
        char *got = screen(app, 24, cols), *line = got;
        while (strchr(line, '\n')[1]) line = strchr(line, '\n') + 1;
        bool gap = false;
        for (const struct binding *b = app->view->keys; b->keys[0]; b++) {
            struct text name = {0};
            if (!b->name) continue;
            text_add(&name, " %s ", b->name);
            bool there = strstr(line, name.data);
            if (there && gap) fail_msg("at %d columns '%s' stands behind a gap: %s", cols, b->name, line);
            gap = gap || !there;
            text_clear(&name);
        }
        assert_true(!strstr(line, "? more") == !gap);
        assert_true(!strstr(line, "? help") == gap);
        assert_non_null(strstr(line, "q quit"));
        mem_free(got);
    }
    close_app(app);
}

/* All views by name where there is room for them. */
static void test_names_of_views(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    for (int cols = 120; cols <= 200; cols += 20) {
        char *got = screen(app, 24, cols);
        for (size_t n = 0; n < 10; n++)
            if (!strstr(got, view_numbered(n)->name) || strchr(got, '\n') < strstr(got, view_numbered(n)->name)) fail_msg("%s", got);
        mem_free(got);
    }
    close_app(app);
}

/* ---- training runs */

static void write_at(const char *name, const char *text, double ago)
{
    char *path = in_folder(name);
    struct err err = {0};
    struct timespec times[2] = {{.tv_sec = time(NULL) - (time_t)ago}, {.tv_sec = time(NULL) - (time_t)ago}};
    assert_true(file_write(path, text, strlen(text), &err));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    mem_free(path);
}

/* Began at step 40, 160 steps and 80 seconds before the last line of the log, which is 20 seconds old; 40 steps are an epoch. */
static void test_rate_of_a_run(void **unused)
{
    (void)unused;
    write_at("recipe", "epochs = 100\n", 100);
    write_at("log.tsv", "# table: log\n# roles: axis\tn\tvalue\n# formats: %.0f\t%.0f\t%.4f\nstep\tepoch\tloss\n200\t5\t1.5\n", 20);
    write_at(".lock", "77\n40\n", 100);
    char *path = in_folder(".lock");
    int lock = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    struct run_state state;
    runs_look(&state, folder);
    assert_true(state.training);
    assert_int_equal(state.pid, 77);
    assert_float_equal(state.rate, 2, 0.05);
    assert_float_equal(state.left, 1880, 60);
    runs_release(&state);
    close(lock);
    runs_look(&state, folder);
    assert_true(!state.training && isnan(state.rate) && isnan(state.left));
    runs_release(&state);
    static const char *const names[] = {"recipe", "log.tsv", ".lock"};
    for (int i = 0; i < 3; i++) mem_free(path), path = in_folder(names[i]), unlink(path);
    mem_free(path);
}

/* ---- the mouse, parts */

static void click(struct app *app, int row, int col)
{
    mem_free(screen(app, 24, 100)); /* places are those of the last drawing */
    app_mouse(app, PRESS_CLICK, row, col);
    app_settle(app);
}

static void test_mouse(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":view log<Enter>");
    mem_free(screen(app, 24, 100));
    for (int i = 0; i < app->tab_count; i++)
        if (!strcmp(app->tabs[i].view->name, "splits")) click(app, 0, app->tabs[i].from + 1);
    assert_string_equal(app->view->name, "splits");
    press(app, ":view log<Enter>");
    app_mouse(app, PRESS_WHEEL_UP, 5, 5);
    press(app, "g");
    click(app, 6, 50); /* one of the first lines of the list of views, which is in the middle */
    assert_string_not_equal(app->view->name, "log");
    assert_int_equal(app->menu, -1);
    press(app, "g");
    click(app, 23, 1); /* beside it */
    assert_int_equal(app->menu, -1);
    close_app(app);
}

static void test_parts(void **unused)
{
    (void)unused;
    for (size_t v = 0; views[v]; v++) {
        struct app *app = open_app();
        app_go(app, views[v]);
        int count = 0;
        while (views[v]->parts && views[v]->parts[count]) count++;
        for (int i = 0; count > 1 && i < count; i++) {
            press(app, "z"), mem_free(screen(app, 24, 80));
            press(app, "z\\"), mem_free(screen(app, 16, 60));
            press(app, "\\<Tab>");
        }
        if (count > 1) assert_ptr_equal(app->view, views[v]); /* Tab went around its parts */
        close_app(app);
    }
}

/* The tour and the list of views lie over every view at every size. */
static void test_every_size(void **unused)
{
    (void)unused;
    static const int sizes[][2] = {{1, 1}, {15, 60}, {16, 59}, {16, 60}, {17, 61}, {24, 80}, {200, 500}};
    for (size_t v = 0; views[v]; v++) {
        struct app *app = open_app();
        app_go(app, views[v]);
        app_settle(app);
        for (int over = 0; over < 6; over++) {
            app->tour = over / 2 * 3, app->menu = over % 2 ? 5 : -1;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                char *got = screen(app, sizes[i][0], sizes[i][1]);
                for (const char *c = got; *c; c++) assert_true((unsigned char)*c >= ' ' || *c == '\n');
                mem_free(got);
            }
        }
        close_app(app);
    }
}

/* No golden screen: it would have to be written anew for every new view. */
static void test_list_of_views(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    for (size_t n = 0; view_numbered(n); n++) {
        press(app, "g");
        for (size_t i = 0; view_numbered(i); i++) assert_shows(app, view_numbered(i)->title);
        while (app->menu != (int)n) press(app, "<Down>");
        press(app, "<Enter>");
        assert_ptr_equal(app->view, view_numbered(n));
    }
    close_app(app);
}

static void test_tour(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, "?t");
    assert_shows(app, "tour 1 of");
    for (int i = 0; i < 50 && app->tour >= 0; i++) press(app, ">");
    assert_int_equal(app->tour, -1);
    press(app, ":tour<Enter>"), app_key(app, (int)60);
    assert_shows(app, "tour 1 of");
    press(app, "<Esc>");
    assert_int_equal(app->tour, -1);
    close_app(app);
}

/* A training in the background is looked at where trainings are; others show what they say. */
static void test_begun_training(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    press(app, ":train x --out runs/new/ --background<Enter>");
    assert_string_equal(app->view->name, "train");
    assert_shows(app, "runs/new");
    assert_shows(app, "begins");
    press(app, ":train x --out runs/new<Enter>");
    assert_string_equal(app->view->name, "output");
    close_app(app);
}

/* Each export of an export names its size once; only PNG has a resolution. */
static void test_figure_names(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    char *none = in_folder("none");
    app->gallery.folder = none;
    gallery_add(&app->gallery, "a/curve-6.9x3.2-600dpi.png");
    app_go(app, view_find("figures"));
    press(app, "srf");
    assert_shows(app, "/curve-6.9x3.2.svg: 6.9x3.2 in, two columns");
    press(app, "ff");
    assert_shows(app, "/curve-6.9x3.2-600dpi.png: 6.9x3.2 in, two columns, 600 dpi");
    close_app(app);
    mem_free(none);
}

/* ---- long work */

static void take_until(struct app *app, bool (*done)(struct app *app))
{
    for (int i = 0; i < 5000 && !done(app); i++) usleep(1000), app_take_posts(app);
    assert_true(done(app));
}

static bool is_running(struct app *app)
{
    const struct result *r = app_find(app, "sweep x");
    return r && r->state == RESULT_RUNNING && r->moving && clock_seconds() - r->started > 0.4;
}
static bool is_done(struct app *app) { return app_find(app, "sweep x") && app_find(app, "sweep x")->state == RESULT_DONE; }
static bool is_stopped(struct app *app) { return app_find(app, "sweep x") && app_find(app, "sweep x")->state == RESULT_STOPPED; }
static bool here_is_done(struct app *app) { return app_current(app, 0); }

static void test_work_goes_on_behind(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    released = 0;
    slow_runs = 0;
    assert_true(app_work(app, NULL));
    app_enter(app, "sweep x");
    app_update(app);
    take_until(app, is_running);
    assert_shows(app, "sweep 45 %  12 cells/s  4 s left");
    app_go(app, view_find("splits"));
    app_update(app);
    take_until(app, here_is_done); /* not behind the sweep */
    assert_true(is_running(app));
    assert_shows(app, "sweep 45 %");
    released = 1;
    take_until(app, is_done);
    assert_int_equal(slow_runs, 1);
    assert_null(app_behind(app));
    close_app(app);
}

static bool is_idle(struct app *app) { return !app_busy(app); }
static bool seconds_passed(struct app *app) { (void)app; static int calls; return ++calls > 150; }

/* A paused work does nothing and hinders nothing; it goes on, and it can be stopped while it waits. */
static void test_pauses(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    released = 0;
    assert_true(app_work(app, NULL));
    app_enter(app, "sweep x");
    app_update(app);
    take_until(app, is_running);
    assert_true(app_pause(app, 0));
    assert_shows(app, "sweep paused at 45 %");
    released = 1; /* it would end now */
    take_until(app, seconds_passed);
    assert_false(is_done(app));
    app_go(app, view_find("splits"));
    app_update(app);
    take_until(app, here_is_done);
    assert_shows(app, "sweep paused");
    take_until(app, is_idle);
    app_go(app, view_find("output"));
    app_update(app);
    assert_true(app_pause(app, 0));
    take_until(app, is_done);
    close_app(app);
}

static bool list_is_done(struct app *app) { return app_current(app, 0); }
static bool list_is_read(struct app *app) { return app_result(app, 0) && app_result(app, 0)->state == RESULT_RUNNING; }

/* Ctrl-C means the work that was asked for, not what the view looks at again every second. */
static void test_interrupt_means_the_work(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    released = 0;
    assert_true(app_work(app, NULL));
    app_enter(app, "sweep x");
    app_update(app);
    take_until(app, is_running);
    app_go(app, view_find("train"));
    app_update(app);
    take_until(app, list_is_done);
    slow_lists = 1;
    app_refresh(app, 0);
    app_update(app);
    take_until(app, list_is_read);
    app_interrupt(app);
    take_until(app, is_stopped);
    assert_false(app->quit);
    assert_true(list_is_read(app));
    slow_lists = 0;
    released = 1;
    close_app(app);
}

/* x in the views that show it. */
static void test_stop_key(void **unused)
{
    (void)unused;
    static const char *const places[] = {"output", "train"};
    for (int i = 0; i < 2; i++) {
        struct app *app = open_app();
        released = 0;
        assert_true(app_work(app, NULL));
        app_enter(app, "sweep x");
        app_update(app);
        take_until(app, is_running);
        app_go(app, view_find(places[i]));
        app_update(app);
        app_key(app, 'x');
        take_until(app, is_stopped);
        close_app(app);
    }
}

static void test_stops_soon(void **unused)
{
    (void)unused;
    struct app *app = open_app();
    released = 0;
    assert_true(app_work(app, NULL));
    app_enter(app, "sweep x");
    app_update(app);
    take_until(app, is_running);
    app_go(app, view_find("splits"));
    app_update(app);
    take_until(app, here_is_done);
    double began = clock_seconds();
    crew_pause(app->crew, app_find(app, "sweep x"), true);
    app_interrupt(app); /* nothing runs for the view: it is the work behind that stops */
    take_until(app, is_stopped);
    assert_true(clock_seconds() - began < 0.5);
    assert_false(app->quit);
    assert_int_equal(app_find(app, "sweep x")->tables[0]->row_count, 3); /* it keeps what it had */
    close_app(app);
}

/* ---- from the rows */

static void test_manual(void **unused)
{
    (void)unused;
    struct text page = {0}, bash = {0}, zsh = {0};
    manual_page(&page);
    assert_true(completion_script("bash", &bash) && completion_script("zsh", &zsh));
    assert_false(completion_script("fish", &bash));
    const char *name;
    for (size_t i = 0; (name = command_name(NULL, i)); i++) {
        struct text heading = {0};
        text_add(&heading, "\n.SS loopscope ");
        manual_add(&heading, name);
        assert_non_null(strstr(page.data, heading.data));
        assert_non_null(strstr(bash.data, name));
        assert_non_null(strstr(zsh.data, name));
        text_clear(&heading);
    }
    for (size_t v = 0; views[v]; v++) assert_non_null(strstr(page.data, views[v]->title));
    text_clear(&page), text_clear(&bash), text_clear(&zsh);
}

static void test_picture(void **unused)
{
    (void)unused;
    struct cells *cells = cells_new(3, 20);
    struct cells_look look = {.ground = 0};
    struct text one = {0}, two = {0};
    struct err err = {0};
    for (int t = 0; t < TINT_COUNT; t++) look.colour[t] = 0xffffff;
    cells_text(cells, 0, 0, TINT_PLAIN, "漢字 ⠿█▌─ é ▸");
    assert_true(cells_png(cells, &look, &one, &err) && cells_png(cells, &look, &two, &err));
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    assert_memory_equal(one.data, "\x89PNG", 4);
    text_clear(&one), text_clear(&two);
    cells_free(cells);
}

static void test_search(void **unused)
{
    (void)unused;
    static const char lines[] = "one\ntwo\none more\nthree\n";
    assert_int_equal(search_lines(lines, "one", 0, 1), 2);
    assert_int_equal(search_lines(lines, "one", 2, 1), 0);
    assert_int_equal(search_lines(lines, "one", 0, -1), 2);
    assert_int_equal(search_lines(lines, "four", 0, 1), -1);
    assert_int_equal(search_table(NULL, "x", 0, 1), -1);
}

static int set_up(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **unused)
{
    char line[128];
    (void)unused;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings), cmocka_unit_test(test_every_setting_takes_what_it_gives), cmocka_unit_test(test_undo),
        cmocka_unit_test(test_undo_of_places), cmocka_unit_test(test_session_file), cmocka_unit_test(test_several_models),
        cmocka_unit_test(test_files_that_change), cmocka_unit_test(test_one_model_by_many_names), cmocka_unit_test(test_names_of_nothing),
        cmocka_unit_test(test_log_without_a_file),
        cmocka_unit_test(test_preferences), cmocka_unit_test(test_log), cmocka_unit_test(test_replay),
        cmocka_unit_test(test_history), cmocka_unit_test(test_completion), cmocka_unit_test(test_completion_in_pages),
        cmocka_unit_test(test_offered_names),
        cmocka_unit_test(test_back), cmocka_unit_test(test_tour_goes_on_with_enter), cmocka_unit_test(test_splits_begin_at_the_split),
        cmocka_unit_test(test_key_line), cmocka_unit_test(test_names_of_views), cmocka_unit_test(test_rate_of_a_run),
        cmocka_unit_test(test_mouse), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_size), cmocka_unit_test(test_tour), cmocka_unit_test(test_list_of_views),
        cmocka_unit_test(test_work_goes_on_behind), cmocka_unit_test(test_stops_soon), cmocka_unit_test(test_interrupt_means_the_work),
        cmocka_unit_test(test_stop_key), cmocka_unit_test(test_begun_training), cmocka_unit_test(test_figure_names),
        cmocka_unit_test(test_set_with_equals),
        cmocka_unit_test(test_tokens_outlive_a_command), cmocka_unit_test(test_compare_turns_past_the_open_model),
        cmocka_unit_test(test_pauses), cmocka_unit_test(test_manual),
        cmocka_unit_test(test_picture), cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests_name("workbench", tests, set_up, tear_down);
}
