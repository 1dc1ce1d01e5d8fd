/* Golden screens of the views that show measurements: tables that real commands gave (tests/planted/NAME.tsv) stand in for the engine.
 * VIEWS_WRITE=1 build/tests/views writes the golden files anew; read the difference before keeping it. The header line, which names all views, is
 * left out: another view must not change the pictures of these. */
#include "question.h"
#include "stage.h"

#include "golden_file.h"

/* Which tables a line gets: those of the first row whose words the line holds. */
static const struct { const char *start, *word, *file; } plants[] = {
    {"info", "rlt", "token_info"}, {"sites", "rlt", "token_sites"}, {"sites", "", "sites"}, {"stats", "", "stats"},
    {"lens", "rlt --row test_ood:0 --do", "token_lens_edit"},
    {"lens", "rlt", "token_lens"}, {"fade", "rlt", "token_fade"}, {"lens", "--watch e18", "lens_watch"},
    {"lens", "' --do", "lens_typed"}, {"lens", "train_atomic", "lens_atomic"}, {"lens", "--top", "lens_top"}, {"lens", "--watch", "lens_typed_watch"},
    {"questions", "--split test_ood", "questions_ood"}, {"questions", "", "questions"}, {"info", "", "info"}, {"eval", "", "eval"},
    {"lens", "--do", "lens_edit"}, {"lens", "--tokens", "lens_typed"}, {"lens", "", "lens"}, {"vocab", "", "vocab"}, {"flips", "", "flips"},
    {"fade", "", "fade"}, {"sweep", "position=0,1,2", "sweep_position"}, {"sweep", "target=second", "sweep_controls"},
    {"sweep", "alpha=0:1:0.05", "sweep_alpha"}, {"attention", "--split", "attention_split"},
    {"attention", "", "attention"}, {"compare", "--questions", "disagreements"}, {"compare", "", "compare"}, {"runs", "", "runs"},
    {"seeds", "", "seeds"},
    {"timeline", "--probe", "timeline_bridge"}, {"timeline", "", "timeline"}, {"orbit", "--row", "orbit"}, {"orbit", "--split", "orbit_split"},
    {"replicate", "--list", "replications"},
    {"replicate", "--show", "replicate_card.md replicate_numbers replicate_figure replicate_figure2"},
    {"replicate", "--measure-only", "replicate_numbers"},
};

static bool give(const char *name, size_t size, struct sink *sink, struct err *err)
{
    char path[256];
    snprintf(path, sizeof path, "tests/planted/%.*s.tsv", (int)size, name);
    struct table *table = table_read(path, err);
    if (!table) return false;
    struct table *shape = table_shape(table);
    sink_table(sink, shape);
    for (size_t r = 0; r < table->row_count; r++) sink_row(sink, table_cell(table, r, 0));
    table_free(shape), table_free(table);
    return true;
}

/* What a command says, from a text file; else a table. */
static bool give_any(const char *name, size_t size, struct sink *sink, struct err *err)
{
    static const char ending[] = ".md";
    char path[256];
    if (size < 3 || strncmp(name + size - 3, ending, 3) != 0) return give(name, size, sink, err);
    snprintf(path, sizeof path, "tests/planted/%.*s", (int)size, name);
    char *text = file_read(path, 1 << 20, NULL, err);
    if (text) sink_say(sink, "%s", text);
    mem_free(text);
    return text != NULL;
}

static bool planted(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    (void)session;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        if (!text_starts(line, plants[i].start) || !strstr(line, plants[i].word)) continue;
        for (const char *name = plants[i].file; *name; name += strspn(name, " ")) {
            size_t size = strcspn(name, " ");
            if (!give_any(name, size, sink, err)) return false;
            name += size;
        }
        return true;
    }
    return err_set(err, "no table is planted for '%s'", line);
}

static const struct shot { const char *name, *view, *keys; int rows, cols; bool ascii; } shots[] = {
    {"loops-site", "loops", "<Right><Down><Down><Down><Down><Down><Down><Enter>", 24, 80, false},
    {"loops-site-small", "loops", "<Enter>", 16, 60, true},
    {"questions", "questions", "<Down>", 24, 80, false},
    {"questions-wrong", "questions", "wssr<Down>", 30, 120, false},
    {"questions-limit", "questions", "<<", 16, 60, true},
    {"bridge", "bridge", "", 24, 80, false},
    {"bridge-odds", "bridge", "ll<Right><Up>-", 40, 120, false},
    {"bridge-list", "bridge", "cccw<Enter><Down>", 24, 80, false},
    {"bridge-ascii", "bridge", "lv", 16, 60, true},
    {"flips", "intervene", "f<Down>", 24, 80, false},
    {"flips-places", "intervene", "f<Down><Enter>", 40, 120, false},
    {"fade", "intervene", "r", 24, 80, false},
    {"places", "intervene", "p", 16, 60, true},
    {"map", "intervene", "as<Right>", 24, 120, false},
    {"map-numbers", "intervene", "as<Right>", 40, 100, false},
    {"map-small", "intervene", "as", 16, 60, true},
    {"attention", "attention", "<Down><Right>", 24, 80, false},
    {"attention-change", "attention", "<Down><Right>c", 40, 120, false},
    {"attention-mean", "attention", "a", 16, 60, true},
    {"orbit", "orbit", "", 24, 80, false},
    {"orbit-wide", "orbit", "<Down>", 40, 120, false},
    {"orbit-ascii", "orbit", "b", 16, 60, true},
    {"compare", "compare", "<Down>", 24, 80, false},
    {"compare-edit", "compare", "me", 40, 120, false},
    {"compare-ascii", "compare", "", 16, 60, true},
    {"grid-token", "grid", "PP><Right>", 24, 80, false},
    {"grid-type", "grid", "t", 24, 80, false},
    {"grid-typed-rank", "grid", "mm>", 16, 60, true},
    {"grid-atomic", "grid", ":set split train_atomic<Enter>m", 24, 80, false},
    {"grid-atomic-answer", "grid", ":set split train_atomic<Enter>mw", 16, 60, true},
    {"typed-edit", "intervene", ":view grid<Enter>>:view intervene<Enter>", 24, 80, false},
    {"grid-entropy", "grid", "MM", 24, 80, false},
    {"grid-watch", "grid", "We18<Enter>mm<Right>", 30, 100, false},
    {"grid-choose", "grid", "We12<Tab>", 16, 60, true},
    {"grid-top", "grid", "<Right>", 34, 80, false},
    {"controls", "intervene", "s", 34, 100, false},
    {"controls-small", "intervene", "s", 24, 80, false},
    {"controls-ascii", "intervene", "s", 24, 80, true},
    {"token-grid", "grid", ":open rlt<Enter>:view grid<Enter><Right>", 24, 80, false},
    {"token-loops", "loops", ":open rlt<Enter><Right>", 24, 80, false},
    {"token-places", "intervene", ":open rlt<Enter>:view intervene<Enter>p<Up>", 24, 80, false},
    {"token-fade", "intervene", ":open rlt<Enter>:view intervene<Enter>r", 16, 60, true},
    {"train", "train", "", 24, 80, false},
    {"train-seeds", "train", "s", 24, 80, false},
    {"train-timeline", "train", "<Down>t", 40, 120, false},
    {"train-column", "train", "<Down>tcc", 24, 80, false},
    {"train-log-column", "train", ":set train.column grad_norm<Enter>", 16, 60, true},
    {"train-ascii", "train", "<Up>", 16, 60, true},
    {"replicate", "replicate", "", 24, 80, false},
    {"replicate-card", "replicate", "<Down><Down><Enter><Down><PgDn>", 30, 100, false},
    {"replicate-numbers", "replicate", "<Down><Down>t", 40, 120, false},
    {"replicate-figure", "replicate", "<Down><Down>ff", 30, 100, false},
    {"replicate-none", "replicate", "<Up>/depth<Enter>", 24, 80, false},
    {"replicate-train", "replicate", "a", 24, 80, false},
    {"replicate-ascii", "replicate", "<Down><Down>t", 16, 60, true},
};

static struct app *open_app(const struct shot *shot)
{
    struct app *app = start(planted, "models/vanilla");
    mem_free(app->session->share);
    app->session->share = mem_text("tests/planted"); /* what is opened besides has to be somewhere */
    app->ascii = shot->ascii;
    if (shot->rows) app->rows = shot->rows;
    app_go(app, view_find(shot->view));
    press(app, shot->keys);
    return app;
}

/* All but the header line. */
static char *body(struct app *app, int rows, int cols)
{
    char *all = screen(app, rows, cols), *text = mem_text(strchr(all, '\n') + 1);
    mem_free(all);
    return text;
}

static void compare(const char *name, const char *got) { golden_compare("tests/views", "VIEWS_WRITE", name, got); }

static void test_golden(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++) {
            struct app *app = open_app(&shots[i]);
        char *got = body(app, shots[i].rows, shots[i].cols);
        compare(shots[i].name, got);
        mem_free(got);
        finish(app);
    }
}

/* Questions of another split are not shown under the name of this one, not even until its own are there. */
static void test_questions_are_of_their_split(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "questions", .keys = ""});
    assert_string_equal(table_text(app_table(app, 0, 0), 0, "split"), "test_ood");
    struct err err = {0};
    assert_true(settings_set(app, "split", "train_two_hop", &err));
    app_update(app);
    assert_null(app_table(app, 0, 0));
    app_settle(app);
    assert_non_null(app_table(app, 0, 0));
    finish(app);
}

/* What was computed can be taken along, whatever stands below the form now. */
static void test_export_behind_another_panel(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "intervene", .keys = "asf"});
    assert_true(text_starts(app_result(app, app->line_shown)->line, "flips "));
    const struct table *sweep = NULL;
    for (int i = 0; i < WANTS && !sweep; i++)
        if (app_result(app, i) && text_starts(app_result(app, i)->line, "sweep ")) sweep = app_table(app, i, 0);
    assert_non_null(sweep);
    finish(app);
}

/* Where Enter leads: the grid of the question that was marked. */
static void test_enter_opens_the_grid(void **unused)
{
    (void)unused;
    static const struct { struct shot shot; const char *split; long row; } cases[] = {
        {{.view = "questions", .keys = "<Down><Down><Enter>"}, "test_ood", 2},
        {{.view = "bridge", .keys = "ccc<Enter><Down><Enter>"}, "test_ood", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct app *app = open_app(&cases[i].shot);
        assert_string_equal(app->view->name, "grid");
        assert_string_equal(app->split, cases[i].split);
        assert_int_equal(app->row, cases[i].row);
        finish(app);
    }
}

/* Another token under the cursor and back again: the question is its own. Another question forgets what was typed over this one. */
static void test_tokens_typed_over_a_question(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "grid", .keys = "PP>"});
    assert_string_equal(question_tokens(app), "e124 r49 r6");
    press(app, "i");
    assert_string_equal(app_result(app, 1)->line, "lens models/vanilla --row test_ood:0"); /* its own, to see what changes */
    question_set_tokens(app, "");
    assert_string_equal(question_option(app), "--row test_ood:0");
    question_set_tokens(app, "e1 r2 r3");
    assert_string_equal(question_option(app), "--tokens 'e1 r2 r3'");
    app->row = 3;
    assert_string_equal(question_option(app), "--row test_ood:3");
    finish(app);
}

/* By token an edit says no position, begins where the bridge is, and goes where the grid's cursor was. */
static void test_edits_by_token(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "intervene", .keys = ":open rlt<Enter>:view intervene<Enter>"});
    assert_string_equal(app_result(app, 1)->line, "lens rlt --row test_ood:0 --do mix@s.2:alpha=0.5,norm=rms");
    press(app, "<Up><Left>");
    assert_string_equal(app_result(app, 1)->line, "lens rlt --row test_ood:0 --do mix@s.1:alpha=0.5,norm=rms");
    press(app, ":view grid<Enter>pi"); /* behind the last token nothing follows */
    assert_string_equal(app_result(app, 1)->line, "lens rlt --row test_ood:0 --do mix@s.2:alpha=0.5,norm=rms");
    finish(app);
}

/* w goes to the chosen token only when there is one; the setting takes any token and gives it back. */
static void test_watch_any_token(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "grid", .keys = "www"});
    struct text settings = {0};
    assert_string_equal(app->message, "watching the bridge");
    press(app, "We18<Enter>");
    assert_string_equal(app_result(app, app->line_shown)->line, "lens models/vanilla --row test_ood:0 --watch e18");
    settings_add(app, SETTING_OPEN, &settings);
    assert_non_null(strstr(settings.data, "set grid.watch e18\n"));
    press(app, "w");
    assert_string_equal(app_result(app, app->line_shown)->line, "lens models/vanilla --row test_ood:0");
    press(app, "www");
    assert_string_equal(app->message, "watching e18");
    text_clear(&settings);
    finish(app);
}

/* Measuring is asked for once and read anew when it has ended; training is only a line to be entered. */
static void test_replicate_runs_only_what_was_asked(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "replicate", .keys = "<Down>"});
    assert_null(app_find(app, "replicate table-1b --measure-only"));
    press(app, "m");
    const struct result *done = app_find(app, "replicate table-1b --measure-only");
    assert_non_null(done);
    assert_int_equal(done->state, RESULT_DONE);
    assert_string_equal(app->message, "table-1b: measured; card, tables and figures are written anew");
    press(app, "a");
    assert_true(app->prompting);
    assert_string_equal(app->prompt.line.data, "replicate table-1b --seeds 3 --background");
    press(app, "<Esc>");
    assert_null(app_find(app, "replicate table-1b --seeds 3 --background"));
    finish(app);
}

/* Any model by its path, any measurement; what they disagree on is a key away in both. */
static void test_compare_with_any(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "compare", .keys = "b<^U>models/dis<Tab>/<Enter>"});
    assert_string_equal(app_result(app, 0)->line, "compare models/vanilla models/discoloop eval");
    press(app, ":set compare.probe 'lens --position 1'<Enter>:set compare.edit-a mix@h.1:alpha=0.3,norm=rms,position=1<Enter>");
    assert_string_equal(app_result(app, 0)->line,
                        "compare models/vanilla models/discoloop 'lens --position 1' --do-a mix@h.1:alpha=0.3,norm=rms,position=1");
    press(app, "<Down><Enter>");
    assert_string_equal(app->view->name, "grid");
    long row = app->row;
    press(app, "O");
    assert_string_equal(app->model, "models/discoloop");
    assert_int_equal(app->row, row);
    finish(app);
}

/* Any measurement at the checkpoints, with its options; its name alone is enough. */
static void test_timeline_of_any_measurement(void **unused)
{
    (void)unused;
    struct app *app = open_app(&(struct shot){.view = "train", .keys = ":set train.curves drift<Enter>"});
    struct err err = {0};
    assert_non_null(strstr(app_result(app, 2)->line, " --probe 'drift --split test_id,test_ood'"));
    press(app, ":set train.curves 'lens --row test_ood:0'<Enter>");
    assert_non_null(strstr(app_result(app, 2)->line, " --probe 'lens --row test_ood:0'"));
    assert_false(settings_set(app, "train.curves", "nonsense", &err));
    press(app, "l");
    assert_string_equal(app->prompt.line.data, "set train.curves 'lens --row test_ood:0'");
    press(app, "<Esc>:set train.curves log<Enter>T");
    assert_non_null(strstr(app_result(app, 2)->line, " --probe 'stats "));
    finish(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_questions_are_of_their_split),
                                       cmocka_unit_test(test_export_behind_another_panel), cmocka_unit_test(test_enter_opens_the_grid),
                                       cmocka_unit_test(test_tokens_typed_over_a_question),
                                       cmocka_unit_test(test_edits_by_token), cmocka_unit_test(test_watch_any_token),
                                       cmocka_unit_test(test_replicate_runs_only_what_was_asked),
                                       cmocka_unit_test(test_timeline_of_any_measurement), cmocka_unit_test(test_compare_with_any)};
    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
