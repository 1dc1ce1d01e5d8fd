/* Models and runs that are opened, turned between, written by others meanwhile, and trained. */
#include "near.h"
#include "opened.h"
#include "question.h"
#include "saved.h"
#include "workbench.h"

#include "doing/runs.h"
#include "ground/option.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Two models beside each other: the question stays while one is turned from to the other, and a session holds both. */
static void test_several_models(void **state)
{
    struct app *app = *state;
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
    finish(app);
    app = *state = start(planted, "runs/another");
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
}

/* The open model and its data stay where a name stands for nothing; what is odd about a model is said when it is opened. */
static void test_names_of_nothing(void **state)
{
    struct app *app = *state;
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
}

/* A bundled model keeps the name that the user gave it, and is one model by whatever path it is opened again. */
static void test_one_model_by_many_names(void **unused)
{
    (void)unused;
    struct app *app = start(planted, "vanilla");
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
    finish(app);
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
    char *run = in_folder("run");
    struct app *app = start(planted, run);
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
    finish(app);
}

/* The other model is never the open one. */
static void test_compare_turns_past_the_open_model(void **state)
{
    struct app *app = *state;
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
}

/* A command behind typed tokens once freed them twice. */
static void test_tokens_outlive_a_command(void **state)
{
    struct app *app = *state;
    question_set_tokens(app, "e1 r1 r2");
    press(app, ":orbit x<Enter>");
    assert_string_equal(app->view->name, "output");
    assert_string_equal(question_tokens(app), "e1 r1 r2");
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
    assert_near(state.rate, 2, 0.05);
    assert_near(state.left, 1880, 60);
    runs_release(&state);
    close(lock);
    runs_look(&state, folder);
    assert_true(!state.training && isnan(state.rate) && isnan(state.left));
    runs_release(&state);
    static const char *const names[] = {"recipe", "log.tsv", ".lock"};
    for (int i = 0; i < 3; i++) mem_free(path), path = in_folder(names[i]), unlink(path);
    mem_free(path);
}

/* A training in the background is looked at where trainings are; others show what they say. */
static void test_begun_training(void **state)
{
    struct app *app = *state;
    press(app, ":train x --out runs/new/ --background<Enter>");
    assert_string_equal(app->view->name, "train");
    assert_shows(app, "runs/new");
    assert_shows(app, "begins");
    press(app, ":train x --out runs/new<Enter>");
    assert_string_equal(app->view->name, "output");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        app_test(test_several_models), app_test(test_names_of_nothing), cmocka_unit_test(test_one_model_by_many_names),
        cmocka_unit_test(test_files_that_change), app_test(test_compare_turns_past_the_open_model), app_test(test_tokens_outlive_a_command),
        cmocka_unit_test(test_rate_of_a_run), app_test(test_begun_training),
    };
    return cmocka_run_group_tests_name("opened", tests, folder_begin, folder_end);
}
