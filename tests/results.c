/* Tables, statistics, sinks: closed forms, and round trips through the files. */
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/width.h"
#include "results/sink.h"
#include "results/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "near.h"

static void wilson_closed_forms(void **state)
{
    static const struct { double correct, n, low, high; } known[] = {
        {0, 10, 0, .2775}, {10, 10, .7225, 1}, {0, 50, 0, .0713}, {166, 2000, .0717, .0959}, {0, 0, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct interval band = wilson(known[i].correct, known[i].n);
        assert_near(band.low, known[i].low, 5e-5);
        assert_near(band.high, known[i].high, 5e-5);
    }
    for (int n = 1; n < 300; n++)
        for (int correct = 0; correct <= n; correct++) {
            struct interval band = wilson(correct, n);
            assert_true(band.low >= 0 && band.high <= 1 && band.low <= (double)correct / n && (double)correct / n <= band.high);
        }
}

static void means_and_medians(void **state)
{
    struct mean mean = {0};
    (void)state;
    for (int i = 0; i < 5; i++) mean_add(&mean, 1e9 + i);
    mean_add(&mean, NAN);
    assert_near(mean.mean, 1e9 + 2, 1e-6);
    assert_true(mean.n == 5 && mean.skipped == 1);
    assert_near(median((double[]){3, 1, 2}, 3), 2, 0);
    assert_near(median((double[]){4, 1, 3, 2}, 4), 2.5, 0);
    assert_true(isnan(median(NULL, 0)));
}

/* Everything that could get lost on the way. */
static struct table *hard_table(void)
{
    static const char *const texts[] = {"plain", "", "17", "nan", "tab\there", "line\nend", "\"quoted\" \\ back", "#remark", "日本 é", "1e5"};
    static const double numbers[] = {0.1, 1.0 / 3, 1e-300, -0.05, 5e-324, 1.7976931348623157e308, 9007199254740993.0, 123456789, 0, NAN};
    struct table *table = table_new("hard table");
    table_fact(table, "command", "sweep x --over 'a=0:1:0.05' \\ \"q\"");
    table_fact(table, "note", "two\nlines: and a colon");
    table_fact(table, "empty", "%s", "");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "alpha", ROLE_AXIS, "%.2f");
    table_column(table, "n", ROLE_COUNT, NULL);
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, NULL);
    table_column(table, "high", ROLE_HIGH, NULL);
    for (size_t i = 0; i < 10; i++)
        table_row(table, (struct cell[]){cell_text(texts[i]), cell_number((double)i / 10), cell_number(1000 + (double)i), cell_number(numbers[i]),
                                         cell_number(-numbers[i]), cell_number(NAN)});
    return table;
}

static void assert_same(const struct table *a, const struct table *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->fact_count, b->fact_count);
    for (size_t i = 0; i < a->fact_count; i++) {
        assert_string_equal(a->facts[i].key, b->facts[i].key);
        assert_string_equal(a->facts[i].value, b->facts[i].value);
    }
    assert_int_equal(a->column_count, b->column_count);
    assert_int_equal(a->row_count, b->row_count);
    for (size_t i = 0; i < a->column_count; i++) {
        assert_string_equal(a->columns[i].name, b->columns[i].name);
        assert_int_equal(a->columns[i].role, b->columns[i].role);
        assert_int_equal(!a->columns[i].format, !b->columns[i].format);
    }
    for (size_t i = 0; i < a->column_count * a->row_count; i++) {
        assert_int_equal(!a->cells[i].text, !b->cells[i].text);
        if (a->cells[i].text) assert_string_equal(a->cells[i].text, b->cells[i].text);
        else if (isnan(a->cells[i].number)) assert_true(isnan(b->cells[i].number));
        else assert_true(a->cells[i].number == b->cells[i].number);
    }
}

static void round_trip(void (*print)(const struct table *, struct text *))
{
    char path[] = "/tmp/loopscope-table-XXXXXX";
    struct err err = {0};
    struct table *table = hard_table();
    struct text first = {0}, second = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    print(table, &first);
    assert_true(file_write(path, first.data, first.size, &err));
    struct table *again = table_read(path, &err);
    if (!again) fail_msg("%s", err.text);
    assert_same(table, again);
    print(again, &second);
    assert_string_equal(first.data, second.data);
    unlink(path);
    table_free(table);
    table_free(again);
    text_clear(&first);
    text_clear(&second);
}

static void tsv_comes_back(void **state) { (void)state, round_trip(table_tsv); }
static void json_comes_back(void **state) { (void)state, round_trip(table_json); }

static struct table *read_text(const char *content, struct err *err)
{
    char path[] = "/tmp/loopscope-table-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_true(file_write(path, content, strlen(content), err));
    struct table *table = table_read(path, err);
    unlink(path);
    return table;
}

static void tables_of_others(void **state)
{
    struct err err = {0};
    (void)state;
    struct table *table = read_text("# my notes\nstep\tloss\tsplit\r\n0\t1.5\ttrain\r\n10\tNaN\ttrain\r\n", &err);
    assert_non_null(table);
    assert_int_equal(table->columns[0].role, ROLE_AXIS);
    assert_int_equal(table->columns[1].role, ROLE_VALUE);
    assert_int_equal(table->columns[2].role, ROLE_LABEL);
    assert_true(isnan(table_number(table, 1, "loss")));
    assert_string_equal(table_text(table, 1, "split"), "train");
    table_free(table);
}

static void bad_tables_are_refused(void **state)
{
    static const char *const bad[][2] = {
        {"", "no table"},
        {"a\tb\n1\n", "line 2"},
        {"a\ta\n1\t2\n", "twice"},
        {"# roles: axis\na\tb\n", "roles"},
        {"# roles: axes\na\n", "none of axis"},
        {"{\"rows\":[]}", "no table"},
        {"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1,2]]}", "row 1"},
        {"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[true]]}", "row 1"},
        {"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]", "column"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        struct table *table = read_text(bad[i][0], &err);
        assert_null(table);
        if (!strstr(err.text, bad[i][1])) fail_msg("'%s' does not say '%s'", err.text, bad[i][1]);
    }
}

/* A format out of a file must never reach printf unread. */
static void strange_formats_are_dropped(void **state)
{
    struct err err = {0};
    struct text page = {0};
    (void)state;
    assert_true(table_format_good("%.3f") && table_format_good("%6.2e") && table_format_good("%g"));
    static const char *const strange[] = {"%s", "%n", "%f%f", "%*f", "%%", "%", "none", "", "%lf"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) assert_false(table_format_good(strange[i]));
    struct table *table = read_text("# roles: axis\n# formats: %s%n\na\n1\n", &err);
    assert_non_null(table);
    table_print(table, &page);
    assert_string_equal(page.data, "a\n-\n1\n");
    table_free(table);
    text_clear(&page);
}

static void people_read_aligned_columns(void **state)
{
    struct table *table = table_new("t");
    struct text page = {0};
    (void)state;
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "n", ROLE_COUNT, NULL);
    table_row(table, (struct cell[]){cell_text("日本"), cell_number(0.25), cell_number(1000)});
    table_row(table, (struct cell[]){cell_text("test_ood"), cell_number(NAN), cell_number(7)});
    table_print(table, &page);
    assert_string_equal(page.data, "split     accuracy     n\n"
                                   "--------  --------  ----\n"
                                   "日本         0.250  1000\n"
                                   "test_ood       n/a     7\n");
    text_clear(&page);
    table_free(table);
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("日本"), 4);
    assert_int_equal(text_width("e\xcc\x81"), 1);
    assert_int_equal(text_width("─⠿█"), 3);
    assert_int_equal(text_width("\n\x1b"), 6);
    assert_int_equal(text_width("\xff"), 4);
    assert_int_equal(text_width("한글"), 4);
    assert_int_equal(text_width("🙂"), 2);
}

static void some_rows(void **state)
{
    static const char *const splits[] = {"test_id", "test_ood", "train"};
    struct table *table = table_new("sweep"), *some;
    struct err err = {0};
    (void)state;
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "alpha", ROLE_AXIS, NULL);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 4; i++) table_row(table, (struct cell[]){cell_text(splits[s]), cell_number(i == 3 ? NAN : i / 10.0)});
    some = table_where(table, "split=test_id|train,alpha=0.1", &err);
    assert_non_null(some);
    assert_int_equal(some->row_count, 2);
    assert_string_equal(table_text(some, 1, "split"), "train");
    table_free(some);
    some = table_where(table, "alpha=nan", &err);
    assert_int_equal(some->row_count, 3);
    table_free(some);
    assert_null(table_where(table, "split=test", &err));
    assert_non_null(strstr(err.text, "it holds test_id, test_ood, train"));
    assert_null(table_where(table, "splt=test_id", &err));
    assert_non_null(strstr(err.text, "did you mean split?"));
    assert_false(err.usage);
    assert_null(table_where(table, "split", &err));
    assert_true(err.usage);
    table_free(table);
}

static void sinks_collect(void **state)
{
    struct collector collector;
    struct table *table = hard_table();
    (void)state;
    collector_init(&collector);
    struct table *shape = table_shape(table);
    sink_table(&collector.sink, shape);
    for (size_t i = 0; i < table->row_count; i++) sink_row(&collector.sink, table_cell(table, i, 0));
    sink_note(&collector.sink, "%d of %d", 3, 10);
    sink_say(&collector.sink, "done");
    assert_true(sink_progress(&collector.sink, &(struct progress){.what = "x"}));
    assert_int_equal(collector.table_count, 1);
    assert_same(table, collector.tables[0]);
    assert_string_equal(collector.notes.data, "3 of 10\n");
    assert_string_equal(collector.said.data, "done\n");
    sink_row(&(struct sink){0}, table_cell(table, 0, 0)); /* members may be absent */
    collector_release(&collector);
    table_free(shape);
    table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_closed_forms),      cmocka_unit_test(means_and_medians),           cmocka_unit_test(tsv_comes_back),
        cmocka_unit_test(json_comes_back),          cmocka_unit_test(tables_of_others),            cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(strange_formats_are_dropped), cmocka_unit_test(people_read_aligned_columns), cmocka_unit_test(widths),
        cmocka_unit_test(some_rows), cmocka_unit_test(sinks_collect),
    };
    return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
