/* Keys and the mouse: ways between views and back, what lies over them, completion at the prompt, searching. */
#include "search.h"
#include "workbench.h"

#include "ground/width.h"
#include "registry.h"

static void test_back(void **state)
{
    struct app *app = *state;
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
}

/* Splits begin where the question is. */
static void test_splits_begin_at_the_split(void **state)
{
    struct app *app = *state;
    press(app, "3<Enter>");
    assert_string_equal(app->split, "test_ood");
    press(app, "3<Up><Enter>");
    assert_string_equal(app->split, "test_id");
}

/* Of keys that do not all fit the first are named, without a gap, and then that there are more. */
static void test_key_line(void **state)
{
    struct app *app = *state;
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
}

/* All views by name where there is room for them. */
static void test_names_of_views(void **state)
{
    struct app *app = *state;
    for (int cols = 120; cols <= 200; cols += 20) {
        char *got = screen(app, 24, cols);
        for (size_t n = 0; n < 10; n++)
            if (!strstr(got, view_numbered(n)->name) || strchr(got, '\n') < strstr(got, view_numbered(n)->name)) fail_msg("%s", got);
        mem_free(got);
    }
}

/* No golden screen: it would have to be written anew for every new view. */
static void test_list_of_views(void **state)
{
    struct app *app = *state;
    for (size_t n = 0; view_numbered(n); n++) {
        press(app, "g");
        for (size_t i = 0; view_numbered(i); i++) assert_shows(app, view_numbered(i)->title);
        while (app->menu != (int)n) press(app, "<Down>");
        press(app, "<Enter>");
        assert_ptr_equal(app->view, view_numbered(n));
    }
}

static void test_tour(void **state)
{
    struct app *app = *state;
    press(app, "?t");
    assert_shows(app, "tour 1 of");
    for (int i = 0; i < 50 && app->tour >= 0; i++) press(app, ">");
    assert_int_equal(app->tour, -1);
    press(app, ":tour<Enter>"), app_key(app, (int)60);
    assert_shows(app, "tour 1 of");
    press(app, "<Esc>");
    assert_int_equal(app->tour, -1);
}

static void test_tour_goes_on_with_enter(void **state)
{
    struct app *app = *state;
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
}

static void click(struct app *app, int row, int col)
{
    mem_free(screen(app, 24, 100)); /* places are those of the last drawing */
    app_mouse(app, PRESS_CLICK, row, col);
    app_settle(app);
}

static void test_mouse(void **state)
{
    struct app *app = *state;
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
}

static void test_parts(void **unused)
{
    (void)unused;
    for (size_t v = 0; views[v]; v++) {
        struct app *app = start(planted, "models/vanilla");
        app_go(app, views[v]);
        int count = 0;
        while (views[v]->parts && views[v]->parts[count]) count++;
        for (int i = 0; count > 1 && i < count; i++) {
            press(app, "z"), mem_free(screen(app, 24, 80));
            press(app, "z\\"), mem_free(screen(app, 16, 60));
            press(app, "\\<Tab>");
        }
        if (count > 1) assert_ptr_equal(app->view, views[v]); /* Tab went around its parts */
        finish(app);
    }
}

/* The tour and the list of views lie over every view at every size. */
static void test_every_size(void **unused)
{
    (void)unused;
    static const int sizes[][2] = {{1, 1}, {15, 60}, {16, 59}, {16, 60}, {17, 61}, {24, 80}, {200, 500}};
    for (size_t v = 0; views[v]; v++) {
        struct app *app = start(planted, "models/vanilla");
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
        finish(app);
    }
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

/* Each export of an export names its size once; only PNG has a resolution. */
static void test_figure_names(void **state)
{
    struct app *app = *state;
    app->gallery.folder = "/nonexist";
    gallery_add(&app->gallery, "a/curve-6.9x3.2-600dpi.png");
    app_go(app, view_find("figures"));
    press(app, "srf");
    assert_shows(app, "/curve-6.9x3.2.svg: 6.9x3.2 in, two columns");
    press(app, "ff");
    assert_shows(app, "/curve-6.9x3.2-600dpi.png: 6.9x3.2 in, two columns, 600 dpi");
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

static void test_completion(void **state)
{
    struct app *app = *state;
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
}

/* What does not fit is on another page, to which another Tab turns. */
static void test_completion_in_pages(void **state)
{
    struct app *app = *state;
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
}

/* A name that is offered gives way to one that is typed, and can be changed as well. */
static void test_offered_names(void **state)
{
    struct app *app = *state;
    press(app, "Sa");
    assert_string_equal(app->prompt.line.data, "a");
    press(app, "<Esc>S<BS>x");
    assert_string_equal(app->prompt.line.data, "loopscope.sessiox");
    press(app, "<Esc>o<End>-5");
    assert_string_equal(app->prompt.line.data, "models/vanilla-5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        app_test(test_back), app_test(test_splits_begin_at_the_split), app_test(test_key_line), app_test(test_names_of_views),
        app_test(test_list_of_views), app_test(test_tour), app_test(test_tour_goes_on_with_enter), app_test(test_mouse), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_size), cmocka_unit_test(test_search), app_test(test_figure_names), app_test(test_completion),
        app_test(test_completion_in_pages), app_test(test_offered_names),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
