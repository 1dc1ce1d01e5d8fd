/* Golden screens: key scripts against grids of cells, with planted tables in place of the engine, so that only drawing can change them.
 * SCREENS_WRITE=1 build/tests/screens writes the golden files anew; read the difference before keeping it. */
#include "stage.h"

#include "registry.h"

#include <unistd.h>

#include "golden_file.h"

/* ---- planted results */

static struct table *make(const char *name, const char *const *columns)
{
    struct table *table = table_new(name);
    for (; *columns; columns++) table_column(table, *columns, ROLE_VALUE, NULL);
    return table;
}

static void give(struct sink *sink, struct table *table)
{
    struct table *shape = table_copy(table);
    for (size_t i = 0; i < shape->row_count * shape->column_count; i++) mem_free(shape->cells[i].text);
    shape->row_count = 0;
    sink_table(sink, shape);
    for (size_t r = 0; r < table->row_count; r++) sink_row(sink, table->cells + r * table->column_count);
    table_free(shape);
    table_free(table);
}

#define N cell_number
#define T cell_text
#define ROW(table, ...) table_row(table, (struct cell[]){__VA_ARGS__})

static void plant_models(struct sink *sink)
{
    struct table *t = make("models", (const char *const[]){"name", "interface", "loops", "width", "dtype", "data", NULL});
    ROW(t, T("discoloop"), T("discoloop"), N(2), N(256), T("F32"), T("two-hop-small"));
    ROW(t, T("vanilla"), T("none"), N(2), N(256), T("F32"), T("two-hop-small"));
    give(sink, t);
}

static void plant_info(struct sink *sink)
{
    struct table *t = make("info", (const char *const[]){"property", "value", "source", NULL});
    static const char *const facts[][2] = {
        {"family", "looped"}, {"loops", "2"},   {"blocks", "1"},      {"width", "256"},           {"vocab", "250"},   {"interface", "none"},
        {"dtype", "F32"},     {"bytes", "4e6"}, {"rope_theta", "4"},  {"norm_each_loop", "true"}, {"head", "tied to the embedding table"},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) ROW(t, T(facts[i][0]), T(facts[i][1]), T("config"));
    give(sink, t);
}

static void plant_sites(struct sink *sink)
{
    struct table *t = make("sites", (const char *const[]){"site", "shape", "loop", "block", NULL});
    ROW(t, T("h.0"), T("[N, 256]"), N(0), N(NAN));
    for (int k = 1; k <= 2; k++) {
        static const char *const names[] = {"x.%d", "loop.%d.block.0.mid", "loop.%d.block.0.out", "h.%d"};
        for (int i = 0; i < 4; i++) {
            struct text name = {0};
            const char *place = strstr(names[i], "%d");
            text_add(&name, "%.*s%d%s", (int)(place - names[i]), names[i], k, place + 2);
            ROW(t, T(name.data), T("[N, 256]"), N(k), N(i == 1 || i == 2 ? 0 : NAN));
            text_clear(&name);
        }
    }
    ROW(t, T("logits"), T("[N, 250]"), N(NAN), N(NAN));
    give(sink, t);
}

static void plant_eval(struct sink *sink)
{
    struct table *t = make("eval", (const char *const[]){"split", "stage", "n", "correct", "accuracy", "low", "high", "excluded", NULL});
    ROW(t, T("train_atomic"), N(1), N(2000), N(1992), N(0.996), N(0.992), N(0.998), N(0));
    ROW(t, T("train_atomic"), N(2), N(2000), N(2000), N(1), N(0.998), N(1), N(0));
    ROW(t, T("test_id"), N(1), N(1000), N(34), N(0.034), N(0.0244), N(0.0471), N(0));
    ROW(t, T("test_id"), N(2), N(1000), N(957), N(0.957), N(0.9426), N(0.9679), N(0));
    ROW(t, T("test_ood"), N(1), N(1000), N(2), N(0.002), N(0.0005), N(0.0073), N(0));
    ROW(t, T("test_ood"), N(2), N(1000), N(48), N(0.048), N(0.0364), N(0.0631), N(3));
    give(sink, t);
}

static void plant_bridge(struct sink *sink)
{
    struct table *t = make("bridge", (const char *const[]){"split", "boundary", "position", "n", "p_bridge", "cosine", "undefined", NULL});
    static const double p[] = {0.002, 0.995, 0.981}, c[] = {0.011, 0.344, 0.402};
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++) ROW(t, T(s ? "test_ood" : "test_id"), N(k), N(1), N(1000), N(p[k] - 0.01 * s), N(c[k] - 0.03 * s), N(0));
    give(sink, t);
}

/* An edit by alpha moves the answer in: right from 0.5 on. */
static void plant_lens(struct sink *sink, const char *line)
{
    static const char *const plain_inputs[] = {"e137", "r20", "r11"}, *const wide_inputs[] = {"漢字", "の母", "が住むところ"};
    static const char *const plain_tokens[3][3] = {{"e137", "e044", "e044"}, {"r20", "e192", "e192"}, {"r11", "e061", "e044"}};
    static const char *const wide_tokens[3][3] = {{"漢字", "東京都", "大阪"}, {"の母", "太郎左衛門", "e192"}, {"が住むところ", "山", "é́日"}};
    bool wide = strstr(line, "漢字"); /* names of two columns a letter, and of letters with marks */
    const char *const *inputs = wide ? wide_inputs : plain_inputs, *const(*tokens)[3] = wide ? wide_tokens : plain_tokens;
    const char *at = strstr(line, "alpha="), *colon = strrchr(strstr(line, "--row"), ':');
    double alpha = at ? strtod(at + 6, NULL) : 0;
    bool right = alpha >= 0.5 || (colon && strtol(colon + 1, NULL, 10) % 3 == 1);
    static const char *const columns[] = {"position", "input", "boundary", "token", "p", "cosine", "norm", "entropy", "distance", "p_answer",
                                          "rank_answer", "cosine_answer", "p_bridge", "rank_bridge", "cosine_bridge", NULL};
    struct table *t = make("lens", columns);
    table_fact(t, "question", "%s %s %s", inputs[0], inputs[1], inputs[2]);
    table_fact(t, "answer", "e188"), table_fact(t, "answer_position", "2");
    table_fact(t, "bridge", "e192"), table_fact(t, "bridge_position", "1");
    table_fact(t, "predicted", "%s", right ? "e188" : "e044"), table_fact(t, "correct", "%s", right ? "yes" : "no");
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 3; k++) {
            bool bridge = p == 1 && k > 0, last = p == 2 && k == 2;
            double chance = last ? (right ? 0.93 : 0.05) : 0.001, rank = last ? (right ? 1 : 4) : 80;
            ROW(t, N(p), T(inputs[p]), N(k), T(last && right ? "e188" : tokens[p][k]), N(k ? 0.99 - 0.1 * p : 1), N(k ? 0.32 : 1), N(16.2 + k),
                N(0.04 * k), N(k ? 12.5 : NAN), N(chance), N(rank), N(0.1 * p), N(bridge ? 0.99 : 0.001), N(bridge ? 1 : 90),
                N(bridge ? 0.32 : 0.02));
        }
    give(sink, t);
}

static void plant_questions(struct sink *sink, bool edited)
{
    struct table *t = make("questions", (const char *const[]){"split", "row", "correct", NULL});
    for (int i = 0; i < 9; i++) ROW(t, T("test_ood"), N(i), N(i % 3 == 1 || (edited && i % 3 == 2)));
    give(sink, t);
}

static void plant_sweep(struct sink *sink)
{
    static const char *const columns[] = {"split", "alpha", "n", "correct", "accuracy", "low", "high", "excluded", "fired", "moved", NULL};
    struct table *t = make("sweep", columns);
    t->columns[0].role = ROLE_LABEL, t->columns[1].role = ROLE_AXIS, t->columns[2].role = ROLE_COUNT;
    t->columns[5].role = ROLE_LOW, t->columns[6].role = ROLE_HIGH;
    for (int i = 0; i <= 20; i++)
        for (int s = 0; s < 2; s++) {
            double a = i / 20.0, y = s ? 0.05 + 0.3 * a * a : 0.9 - 0.1 * a;
            ROW(t, T(s ? "test_ood" : "test_id"), N(a), N(1000), N(1000 * y), N(y), N(y - 0.02), N(y + 0.02), N(0), N(1000), N(2.4 * a));
        }
    give(sink, t);
}

static void plant_selftest(struct sink *sink)
{
    struct table *t = make("selftest", (const char *const[]){"tensor", "worst", "result", NULL});
    ROW(t, T("h.1"), N(2e-7), T("ok"));
    ROW(t, T("logits"), N(3.1e-7), T("ok"));
    give(sink, t);
}

static bool planted(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    (void)session;
    if (text_starts(line, "models")) plant_models(sink);
    else if (text_starts(line, "info")) plant_info(sink);
    else if (text_starts(line, "sites")) plant_sites(sink);
    else if (text_starts(line, "eval")) plant_eval(sink);
    else if (text_starts(line, "bridge")) plant_bridge(sink);
    else if (text_starts(line, "lens")) plant_lens(sink, line);
    else if (text_starts(line, "questions")) plant_questions(sink, strstr(line, "--do"));
    else if (text_starts(line, "sweep")) plant_sweep(sink);
    else if (text_starts(line, "selftest")) plant_selftest(sink);
    else if (text_starts(line, "say")) sink_say(sink, "%s", line + 4);
    else return err_set(err, "unknown command '%s'", line);
    return true;
}

/* ---- an app on planted results */

static struct app *open_app(command_runner *run)
{
    struct app *app = start(run, "models/vanilla");
    mem_free(app->session->share);
    app->session->share = mem_text("tests/planted"); /* what is opened besides has to be somewhere */
    for (size_t i = 0; i < app->model_count; i++) mem_free(app->models[i]);
    mem_free(app->models);
    app->models = mem_new(2 * sizeof *app->models);
    app->models[0] = mem_text("models/discoloop"), app->models[1] = mem_text("models/vanilla");
    app->model_count = 2, app->model_at = 1;
    return app;
}

/* Whatever the clock says. */
static char *still(struct app *app, int rows, int cols)
{
    for (size_t i = 0; i < app->journal.count; i++) app->journal.entries[i].when = 43200, app->journal.entries[i].seconds = 0.25;
    return screen(app, rows, cols);
}

/* ---- golden files */

static void compare(const char *name, const char *got) { golden_compare("tests/screens", "SCREENS_WRITE", name, got); }

static const struct shot { const char *name, *keys; int rows, cols; bool ascii; } shots[] = {
    {"models", "1", 24, 80, false},          {"models-up", "1<Up>", 24, 80, true},      {"loops", "2", 24, 80, false},
    {"loops-2", "2<Right><Right>", 16, 60, false}, {"loops-ascii", "2", 24, 80, true},  {"splits", "3", 24, 80, false},
    {"splits-first", "3", 16, 60, false},
    {"splits-small", "3<Down><Down>", 16, 60, true}, {"splits-wide", "3", 40, 140, false}, {"grid", "4", 24, 80, false},
    {"grid-cosine", "4mmm", 24, 80, false},  {"grid-ascii", "4<Down><Left>", 16, 60, true}, {"grid-wrong", "4<Down>n", 24, 80, false},
    {"grid-split", "4]", 24, 120, false},    {"intervene", "4i", 24, 80, false},        {"intervene-alpha", "5<Right><Right>", 24, 80, true},
    {"sweep", "5s", 24, 80, false},          {"sweep-small", "5s<Left>", 16, 60, true}, {"sweep-field", "5s<Tab><Right>", 24, 80, false},
    {"ask-data", "3d", 24, 80, false},
    {"help", "4?", 24, 80, false},           {"help-end", "3?<PgDn><PgDn><PgDn><PgDn>", 24, 80, true}, {"output", ":say hello<Enter>", 24, 80, false},
    {"log", "45s:view log<Enter>", 24, 80, false}, {"log-rerun", "4m:view log<Enter><Up><Enter>", 24, 80, false},
    {"tour", "2:tour<Enter>>>", 24, 80, false}, {"tour-small", ":tour<Enter>>>>>", 16, 60, true}, {"undo", "5<Right><Right>u", 24, 80, false},
    {"zoom", "3<Tab>z", 24, 80, false}, {"hide", "2\\", 24, 80, false}, {"search", "2/block<Enter>n", 24, 80, false},
    {"choices", ":lens --t<Tab>", 24, 80, false},
    {"symptoms", "4?s", 24, 80, false}, {"wide-names", "4d漢字<Enter>", 24, 80, false}, {"wide-names-small", "4d漢字<Enter>", 16, 60, false},
    {"figures", ":view figures<Enter>", 24, 80, false},
    {"output-wrong", ":what is it<Enter>", 24, 80, false}, {"prompt", ":ev<Tab>", 24, 80, false}, {"too-small", "", 5, 20, false},
};

static void test_golden(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++) {
        struct app *app = open_app(planted);
        app->ascii = shots[i].ascii;
        app->gallery.folder = "tests/screens/figures";
        press(app, shots[i].keys);
        char *got = still(app, shots[i].rows, shots[i].cols);
        compare(shots[i].name, got);
        mem_free(got);
        finish(app);
    }
}

/* ---- what holds for every view */

static void test_every_size(void **unused)
{
    (void)unused;
    static const int sizes[][2] = {{1, 1}, {2, 2}, {5, 20}, {15, 60}, {16, 59}, {16, 60}, {17, 61}, {24, 80}, {60, 61}, {16, 300}, {200, 500}};
    for (size_t v = 0; views[v]; v++) {
        struct app *app = open_app(planted);
        app->ascii = true;
        app_go(app, views[v]);
        press(app, "s");
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *got = still(app, sizes[i][0], sizes[i][1]), *again = still(app, sizes[i][0], sizes[i][1]);
            assert_string_equal(got, again);
            for (const char *c = got; *c; c++) assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
            mem_free(got), mem_free(again);
        }
        finish(app);
    }
}

/* Numbers that are not the recorded ones must not look like those that are. */
static bool is_off(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    if (!text_starts(line, "selftest")) return planted(session, line, sink, err);
    struct table *t = make("selftest", (const char *const[]){"tensor", "worst", "result", NULL});
    ROW(t, T("h.1"), N(2e-7), T("ok"));
    ROW(t, T("logits"), N(0.25), T("FAILED"));
    give(sink, t);
    return err_set(err, "1 of 2 tensors are outside the tolerance");
}

static void test_parity(void **unused)
{
    (void)unused;
    static const struct { command_runner *run; const char *keys, *says; } cases[] = {
        {planted, "1", "parity: logits match the stored reference, worst difference 3e-07 (selftest)"},
        {planted, "2", "parity: logits match the stored reference, worst difference 3e-07 (selftest)"},
        {is_off, "2", "parity: 1 of 2 tensors are NOT as the stored reference has them"},
        {planted, ":open rlt<Enter>1", "parity: no stored reference"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct app *app = open_app(cases[i].run);
        press(app, cases[i].keys);
        char *got = still(app, 24, 80);
        if (!strstr(got, cases[i].says)) fail_msg("no '%s' in\n%s", cases[i].says, got);
        mem_free(got);
        finish(app);
    }
}

/* A view must have something to say while nothing is there yet, and when its commands fail. */
static bool refuses(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    (void)session, (void)sink;
    return err_set(err, "%s: there is no such thing", line);
}

static void test_failures_are_shown(void **unused)
{
    (void)unused;
    static const char *const names[] = {"loops", "splits", "grid", "intervene", "models"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct app *app = open_app(refuses);
        app_go(app, view_find(names[i]));
        app_settle(app);
        char *got = still(app, 24, 160);
        if (!strstr(got, "there is no such thing")) fail_msg("%s shows\n%s", names[i], got);
        mem_free(got);
        finish(app);
    }
}

static void test_keys_are_unique(void **unused)
{
    (void)unused;
    for (size_t v = 0; views[v]; v++) {
        assert_true(views[v]->name && views[v]->title && views[v]->help && views[v]->draw);
        for (const struct binding *b = views[v]->keys; b && b->keys[0]; b++) {
            assert_non_null(b->help);
            for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++) assert_ptr_equal(binding_find(views[v]->keys, b->keys[i]), b);
        }
    }
}

/* ---- the worker */

static int started;

static bool slow(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    if (!text_starts(line, "lens")) return planted(session, line, sink, err);
    __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        if (!sink_progress(sink, &(struct progress){.what = "lens", .done = i, .total = 100, .left = -1})) return err_stop(err, "stopped");
    }
    return planted(session, line, sink, err);
}

static const struct result *wait_for(struct app *app, enum result_state state)
{
    for (int i = 0; i < 5000; i++) {
        app_take_posts(app);
        const struct result *result = app_result(app, 0);
        if (result && result->state == state) return result;
        usleep(1000);
    }
    fail_msg("the result never came");
    return NULL;
}

static void test_newest_wins(void **unused)
{
    (void)unused;
    struct app *app = open_app(slow);
    assert_true(app_work(app, NULL));
    app_key(app, '4');
    wait_for(app, RESULT_RUNNING);
    for (int i = 0; i < 20; i++) app_key(app, PRESS_DOWN);
    const struct result *result = wait_for(app, RESULT_DONE);
    assert_string_equal(result->line, "lens models/vanilla --row test_ood:20");
    assert_true(__atomic_load_n(&started, __ATOMIC_SEQ_CST) <= 2); /* the first, which ran already, and the newest */
    finish(app);
}

static void test_interrupt_stops_and_keeps(void **unused)
{
    (void)unused;
    struct app *app = open_app(slow);
    assert_true(app_work(app, NULL));
    app_key(app, '4');
    wait_for(app, RESULT_RUNNING);
    app_interrupt(app);
    assert_false(app->quit);
    wait_for(app, RESULT_STOPPED);
    app_interrupt(app);
    assert_true(app->quit);
    finish(app);
}

static void test_same_with_and_without_worker(void **unused)
{
    (void)unused;
    struct app *here = open_app(planted), *there = open_app(planted);
    assert_true(app_work(there, NULL));
    press(here, "3");
    app_key(there, '3');
    for (int i = 0; i < 2000 && !(app_current(there, 0) && app_current(there, 1)); i++) usleep(1000), app_take_posts(there);
    char *a = still(here, 24, 80), *b = still(there, 24, 80);
    assert_string_equal(a, b);
    mem_free(a), mem_free(b);
    finish(here), finish(there);
}

/* ---- the prompt */

static void test_prompt(void **unused)
{
    (void)unused;
    struct prompt prompt = {0};
    prompt_set(&prompt, "");
    for (const char *c = "lens x"; *c; c++) assert_int_equal(prompt_key(&prompt, *c), PROMPT_GOES_ON);
    prompt_key(&prompt, 0x2192); /* three bytes, one letter */
    prompt_key(&prompt, PRESS_BACKSPACE);
    assert_string_equal(prompt.line.data, "lens x");
    prompt_key(&prompt, PRESS_HOME), prompt_key(&prompt, '>'), prompt_key(&prompt, PRESS_DELETE);
    assert_string_equal(prompt.line.data, ">ens x");
    prompt_key(&prompt, PRESS_END), prompt_key(&prompt, PRESS_CONTROL('w'));
    assert_string_equal(prompt.line.data, ">ens ");
    assert_int_equal(prompt_key(&prompt, PRESS_ENTER), PROMPT_DONE);
    prompt_remember(&prompt, prompt.line.data);
    prompt_set(&prompt, "");
    prompt_key(&prompt, PRESS_UP), prompt_key(&prompt, PRESS_UP);
    assert_string_equal(prompt.line.data, ">ens ");
    prompt_key(&prompt, PRESS_DOWN);
    assert_string_equal(prompt.line.data, "");
    assert_int_equal(prompt_key(&prompt, PRESS_BACKSPACE), PROMPT_LEFT);
    prompt_release(&prompt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden), cmocka_unit_test(test_every_size), cmocka_unit_test(test_parity), cmocka_unit_test(test_failures_are_shown),
        cmocka_unit_test(test_keys_are_unique),
        cmocka_unit_test(test_newest_wins), cmocka_unit_test(test_interrupt_stops_and_keeps), cmocka_unit_test(test_same_with_and_without_worker),
        cmocka_unit_test(test_prompt),
    };
    return cmocka_run_group_tests_name("screens", tests, NULL, NULL);
}
