/* Work of seconds and hours: it goes on behind the view, waits, stops soon, and keeps what it had. */
#include "workbench.h"

#include "ground/clock.h"

#include <sys/resource.h>

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

static int open_sweep(void **state)
{
    struct app *app = *state = start(planted, "models/vanilla");
    struct err err = {0};
    released = slow_runs = 0;
    assert_true(app_work(app, &err));
    app_enter(app, "sweep x");
    app_update(app);
    take_until(app, is_running);
    return 0;
}

#define sweep_test(test) cmocka_unit_test_setup_teardown(test, open_sweep, close_app)

static bool is_done(struct app *app) { return app_find(app, "sweep x") && app_find(app, "sweep x")->state == RESULT_DONE; }
static bool is_stopped(struct app *app) { return app_find(app, "sweep x") && app_find(app, "sweep x")->state == RESULT_STOPPED; }
static bool here_is_done(struct app *app) { return app_current(app, 0); }

static void test_work_goes_on_behind(void **state)
{
    struct app *app = *state;
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
}

static bool is_idle(struct app *app) { return !app_busy(app); }
static bool seconds_passed(struct app *app) { (void)app; static int calls; return ++calls > 150; }

/* A paused work does nothing and hinders nothing; it goes on, and it can be stopped while it waits. */
static void test_pauses(void **state)
{
    struct app *app = *state;
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
}

static bool list_is_read(struct app *app) { return app_result(app, 0) && app_result(app, 0)->state == RESULT_RUNNING; }

/* Ctrl-C means the work that was asked for, not what the view looks at again every second. */
static void test_interrupt_means_the_work(void **state)
{
    struct app *app = *state;
    app_go(app, view_find("train"));
    app_update(app);
    take_until(app, here_is_done);
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
}

/* x in the views that show it. */
static void stop_by_key(struct app *app, const char *view)
{
    app_go(app, view_find(view));
    app_update(app);
    app_key(app, 'x');
    take_until(app, is_stopped);
}

static void test_stop_key_of_output(void **state) { stop_by_key(*state, "output"); }
static void test_stop_key_of_train(void **state) { stop_by_key(*state, "train"); }

static void test_stops_soon(void **state)
{
    struct app *app = *state;
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
}

/* Without a descriptor left for the first worker there is none, and a message; without one for another, the first one stays in front. */
static void test_no_descriptor_left(void **state)
{
    struct app *app = *state;
    struct err err = {0};
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before, limit.rlim_cur = 0;
    for (bool works = false; !works; limit.rlim_cur++) {
        setrlimit(RLIMIT_NOFILE, &limit);
        works = app_work(app, &err);
        bool another = works && crew_step_back(app->crew);
        setrlimit(RLIMIT_NOFILE, &before);
        if (!works && !strstr(err.text, "Too many open files")) fail_msg("%s", err.text);
        assert_true(!works == !app->crew);
        assert_false(another);
    }
    assert_true(crew_step_back(app->crew));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sweep_test(test_work_goes_on_behind), sweep_test(test_pauses), sweep_test(test_interrupt_means_the_work),
        sweep_test(test_stop_key_of_output), sweep_test(test_stop_key_of_train), sweep_test(test_stops_soon),
        app_test(test_no_descriptor_left),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
