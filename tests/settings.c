/* What the screen is set to and keeps: settings, undo, saved sessions, preferences, the log and its replay, the lines of the prompt. */
#include "history.h"
#include "question.h"
#include "saved.h"
#include "workbench.h"

#include "doing/command.h"

static void test_settings(void **state)
{
    struct app *app = *state;
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
}

/* As --set has it. */
static void test_set_with_equals(void **state)
{
    struct app *app = *state;
    press(app, ":set grid.metric=rank<Enter>:set intervene.edit=mix@h.0:position=2,alpha=0.25<Enter>");
    char *now = settings_now(app);
    assert_non_null(strstr(now, "set grid.metric rank"));
    assert_non_null(strstr(now, "set intervene.edit mix@h.0:position=2,"));
    mem_free(now);
}

static void test_every_setting_takes_what_it_gives(void **state)
{
    struct app *app = *state;
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
}

static void test_undo(void **state)
{
    struct app *app = *state;
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
}

/* The question and the marked line come back, too; moves behind each other are one step. */
static void test_undo_of_places(void **state)
{
    struct app *app = *state;
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
}

static void test_session_file(void **state)
{
    struct app *app = *state;
    char *path = in_folder("a.session"), *other = in_folder("b.session");
    struct err err = {0};
    press(app, ":view grid<Enter>mmm:set row 17<Enter>");
    char *before = settings_now(app);
    assert_true(saved_write(app, path, &err));
    finish(app);
    app = *state = start(planted, "models/vanilla");
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

static void test_log(void **state)
{
    struct app *app = *state;
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
}

/* A log that no file keeps says so where its file would stand. */
static void test_log_without_a_file(void **state)
{
    struct app *app = *state;
    journal_open(&app->journal, mem_text("/proc/nosuch/log"));
    press(app, ":info x<Enter>:view log<Enter>");
    assert_shows(app, "in no file (w writes one): /proc/nosuch: the folder cannot be made");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        app_test(test_settings), app_test(test_set_with_equals), app_test(test_every_setting_takes_what_it_gives), app_test(test_undo),
        app_test(test_undo_of_places), app_test(test_session_file), cmocka_unit_test(test_preferences), app_test(test_log),
        app_test(test_log_without_a_file), cmocka_unit_test(test_replay), cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests_name("settings", tests, folder_begin, folder_end);
}
