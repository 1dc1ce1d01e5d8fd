/* The benchmark's history: what is compared with what, what is noted, and that nothing in the file is ever lost. No time is asserted. */
#include "bench_history.h"

#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/loopscope-bench-test-XXXXXX";

static int no_file(void **state)
{
    (void)state;
    memcpy(strrchr(path, '-') + 1, "XXXXXX", 6);
    int fd = mkstemp(path);
    return fd < 0 || close(fd) || unlink(path);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

#define history_test(test) cmocka_unit_test_setup_teardown(test, no_file, remove_file)

/* A row of work with this ratio, or without a limit; what was, and what was noted. */
static double add(struct bench_figure figure, char **note)
{
    struct collector collector;
    struct err err = {0};
    double was;
    collector_init(&collector);
    if (!bench_history_add(path, &figure, &was, &collector.sink, &err)) fail_msg("%s", err.text);
    assert_true(note || !collector.notes.size);
    if (note) *note = mem_text(collector.notes.data);
    collector_release(&collector);
    return was;
}

static struct bench_figure ratio(double x) { return (struct bench_figure){"some work", "BLAS 1", 2, 10, 10 * x, x, x - 0.01, x + 0.01}; }
static struct bench_figure alone(double ms) { return (struct bench_figure){"no limit", "BLAS 1", 2, ms, NAN, NAN, ms - 0.1, ms + 0.1}; }

static void what_was_is_the_median_of_the_last_five_alike(void **state)
{
    struct bench_figure other = ratio(0.1);
    (void)state;
    assert_true(isnan(add(ratio(7), NULL)));
    assert_true(add(ratio(8), NULL) == 7);
    assert_true(add(ratio(9), NULL) == 7.5);
    assert_true(add(ratio(3), NULL) == 8);
    assert_true(add(ratio(1), NULL) == 7.5);
    assert_true(add(ratio(2), NULL) == 7); /* of 7 8 9 3 1 */
    assert_true(add(ratio(2), NULL) == 3); /* of 8 9 3 1 2 */
    other.threads = 1;
    assert_true(isnan(add(other, NULL)));
    other.threads = 2, other.blas = "BLAS 2";
    assert_true(isnan(add(other, NULL)));
    assert_true(isnan(add(alone(5), NULL)));
    assert_true(add(alone(6), NULL) == 5);
    assert_true(add(ratio(2), NULL) == 2); /* of 9 3 1 2 2 */
}

static void a_figure_below_all_five_and_the_spread_is_noted(void **state)
{
    char *note;
    (void)state;
    for (int i = 0; i < 4; i++) add(ratio(1 + 0.01 * i), NULL);
    add(ratio(0.5), NULL); /* four are no five */
    for (int i = 0; i < 5; i++) add(ratio(1 + 0.01 * i), NULL);
    add(ratio(0.99), NULL); /* within the spread */
    add(ratio(1.5), NULL);  /* better */
    add(ratio(0.96), &note);
    if (!note || !strstr(note, "some work: ratio is 0.96 (0.95 to 0.97)") || !strstr(note, "(0.99 to 1.5, median 1.03)")) fail_msg("%s", note);
    mem_free(note);
    for (int i = 0; i < 5; i++) add(alone(5), NULL);
    add(alone(4), NULL);
    add(alone(5.3), &note);
    if (!note || !strstr(note, "no limit: ours_ms is 5.3") || !strstr(note, "median 5)")) fail_msg("%s", note);
    mem_free(note);
}

static void what_is_no_history_is_refused_and_stays(void **state)
{
    static const struct { const char *text, *says; } bad[] = {
        {"version\twork\tours_ms\tlimit_ms\tratio\n0.1\ttrain-d64\t1\t1\t1\n", "not a history of this benchmark"},
        {"date\tversion\tblas\tthreads\twork\tours_ms\tlimit_ms\tratio\tlow\thigh\nday\t\"0.1\"\tBLAS\t2\ttrain-d64\t1", "line 2: 6 fields"},
        {"date\tversion\tblas\tthreads\twork\tours_ms\tlimit_ms\tratio\tlow\thigh\nday\t\"0.1\"\tBLAS\t2\t7\t1\t1\t1\t1\t1\n",
         "row 1: work: a text would be right"},
        {"date\tversion\tblas\tthreads\twork\tours_ms\tlimit_ms\tratio\tlow\thigh\nday\t\"0.1\"\tBLAS\t2\tx\tfast\t1\t1\t1\t1\n",
         "row 1: ours_ms: a number would be right"},
        {"", "no table"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bench_figure figure = ratio(1);
        struct err err = {0};
        double was;
        assert_true(file_write(path, bad[i].text, strlen(bad[i].text), &err));
        if (bench_history_check(path, &err) || !strstr(err.text, bad[i].says) || !strstr(err.text, path)) fail_msg("%s", err.text);
        assert_false(bench_history_add(path, &figure, &was, &(struct sink){0}, &err));
        char *now = file_read(path, 1 << 20, NULL, &err);
        assert_string_equal(now, bad[i].text);
        mem_free(now);
    }
}

static void what_stands_there_stays_byte_for_byte(void **state)
{
    struct err err = {0};
    (void)state;
    add(ratio(1), NULL);
    char *one = file_read(path, 1 << 20, NULL, &err);
    struct text commented = {0};
    text_add(&commented, "%s# a new machine from here on", one); /* and no line end */
    assert_true(file_write(path, commented.data, commented.size, &err));
    assert_true(add(ratio(2), NULL) == 1);
    char *two = file_read(path, 1 << 20, NULL, &err);
    assert_true(text_starts(two, commented.data));
    assert_true(add(ratio(2), NULL) == 1.5);
    mem_free(one), mem_free(two);
    text_clear(&commented);
}

/* Through the command: each row of the table is a line of the history, and the second time there is something that was. */
static void rows_go_into_the_history(void **state)
{
    struct session *session = session_new(1);
    struct text line = {0};
    (void)state;
    text_add(&line, "bench load --rounds 1 --history %s", path);
    for (size_t i = 0; i < 2; i++) {
        struct collector collector;
        struct err err = {0};
        collector_init(&collector);
        if (!command_line(session, line.data, &collector.sink, &err)) fail_msg("%s", err.text);
        struct table *history = table_read(path, &err), *table = collector.tables[0];
        assert_true(history && history->row_count == i + 1 && table->row_count == 1);
        assert_string_equal(table_text(history, i, "work"), "load");
        assert_true(table_number(history, i, "threads") == 1 && table_number(history, i, "ours_ms") == table_number(table, 0, "ours_ms"));
        assert_true(isnan(table_number(table, 0, "was")) == !i);
        if (i) assert_true(table_number(table, 0, "was") == table_number(history, 0, "ours_ms"));
        table_free(history);
        collector_release(&collector);
    }
    text_clear(&line);
    session_free(session);
}

static void wrong_lines_are_refused(void **state)
{
    static const struct { const char *line, *says; } bad[] = {
        {"bench nosuch", "train-d64, "},
        {"bench nosuch", ", key-while-sweeping"},
        {"bench train --growth", "leave out NAME"},
        {"bench --growth --history /tmp/loopscope-nosuch.tsv", "leave out NAME"},
    };
    struct session *session = session_new(1);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        if (command_line(session, bad[i].line, &(struct sink){0}, &err) || !err.usage || !strstr(err.text, bad[i].says)) fail_msg("%s", err.text);
        assert_null(strchr(err.text, '\n'));
    }
    assert_false(file_exists("/tmp/loopscope-nosuch.tsv"));
    session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        history_test(what_was_is_the_median_of_the_last_five_alike),
        history_test(a_figure_below_all_five_and_the_spread_is_noted),
        history_test(what_is_no_history_is_refused_and_stays),
        history_test(what_stands_there_stays_byte_for_byte),
        history_test(rows_go_into_the_history),
        cmocka_unit_test(wrong_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
