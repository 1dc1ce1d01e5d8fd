/* What tests of the workbench share besides stage.h: a command that gives the same small table whatever the line is, an app that stands open for a
 * test, and a folder for its files.
 *
 *     app_test(test_undo)                                       (a row of the tests: *state is the app, which is closed behind the test)
 *     cmocka_run_group_tests_name("settings", tests, folder_begin, folder_end);
 */
#ifndef TESTS_WORKBENCH_H
#define TESTS_WORKBENCH_H

#include "stage.h"

#include "ground/file.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/loopscope-workbench-XXXXXX";

static inline char *in_folder(const char *name) { return path_join(folder, name); }

static inline int folder_begin(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_end(void **unused)
{
    char line[128];
    (void)unused;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

/* A sweep takes until it is stopped or released, and so do lists of runs while they are slow. */
static atomic_int released, slow_runs, slow_lists;

static inline bool plant_info(struct sink *sink)
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

static inline bool planted(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    bool slow = text_starts(line, "sweep") || (slow_lists && !strcmp(line, "runs"));
    if (text_starts(line, "info models/discoloop")) return plant_info(sink);
    if (text_starts(line, "wrong")) return err_set(err, "there is no such thing");
    struct table *table = table_new("planted");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "n", ROLE_COUNT, NULL);
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

static inline int open_app(void **state)
{
    *state = start(planted, "models/vanilla");
    return 0;
}

static inline int close_app(void **state)
{
    finish(*state);
    return 0;
}

static inline char *settings_now(struct app *app)
{
    struct text out = {0};
    settings_add(app, SETTING_OPEN, &out);
    return out.data;
}

#define app_test(test) cmocka_unit_test_setup_teardown(test, open_app, close_app)

#endif
