#include "tui.h"

#include "app.h"
#include "history.h"
#include "home.h"
#include "saved.h"
#include "signals.h"
#include "svg.h"
#include "term.h"

#include "doing/command.h"
#include "figures/cells_picture.h"
#include "ground/clock.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Progress may come hundreds of times a second; a terminal far away should not have to draw that often. */
static const double redraw_seconds = 0.02;

static void (*failed_before)(size_t size);

static void out_of_memory(size_t size)
{
    term_give_back();
    failed_before(size);
}

/* ---- the loop */

struct show {
    struct app *app;
    struct cells *cells;
    bool dirty;       /* the screen shows something older */
    double drawn;     /* when it was drawn last */
    int deadly;       /* the signal that ends the program; 0: none */
};

static void obey_prefs(struct app *app)
{
    app->ascii = term_ascii() || (app->prefs.ascii < 0 ? term_poor() : app->prefs.ascii);
    term_theme(app->prefs.theme);
    term_mouse(app->prefs.mouse);
}

static void draw(struct show *show)
{
    int rows, cols, cursor_row, cursor_col;
    obey_prefs(show->app);
    term_size(&rows, &cols);
    if (!show->cells || show->cells->rows != rows || show->cells->cols != cols) {
        cells_free(show->cells);
        show->cells = cells_new(rows, cols);
        show->app->rows = rows, show->app->cols = cols;
        app_update(show->app);
    }
    app_draw(show->app, show->cells, &cursor_row, &cursor_col);
    term_show(show->cells, cursor_row, cursor_col);
    show->dirty = false;
    show->drawn = clock_seconds();
}

static void take_signal(struct show *show, int number)
{
    if (number == SIGWINCH || number == SIGCONT) term_resized();
    else if (number == SIGTSTP) term_suspend();
    else if (number == SIGINT) {
        app_interrupt(show->app);
        app_update(show->app);
    } else show->deadly = number;
    show->dirty = true;
}

static void take_keys(struct show *show)
{
    int key;
    if (term_gone()) show->deadly = SIGHUP;
    while (!show->app->quit && (key = term_key())) {
        if (key == PRESS_CONTROL('l')) term_repaint();
        else if (key >= PRESS_CLICK && key <= PRESS_WHEEL_DOWN) {
            int row, col;
            term_mouse_at(&row, &col);
            app_mouse(show->app, key, row, col);
        } else app_key(show->app, key);
        show->dirty = true;
    }
}

static void run(struct show *show, int signals)
{
    struct pollfd ends[] = {{term_fd(), POLLIN, 0}, {signals, POLLIN, 0}, {crew_fd(show->app->crew), POLLIN, 0}};
    enum { KEYS, SIGNALS, POSTS, BUSY_MS = 500 };
    while (!show->app->quit && !show->deadly) {
        double early = show->drawn + redraw_seconds - clock_seconds();
        if (show->dirty && early <= 0) draw(show);
        int wait = show->dirty ? (int)(early * 1000) + 1 : app_busy(show->app) ? BUSY_MS : app_tick_ms(show->app);
        int heard = poll(ends, 3, wait);
        if (heard < 0 && errno != EINTR) break;
        if (heard == 0) show->dirty = true; /* the time that a command has taken is shown */
        app_tick(show->app);
        int number;
        if (ends[SIGNALS].revents) while ((number = signals_take())) take_signal(show, number);
        if (ends[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL)) show->deadly = SIGHUP;
        else if (ends[KEYS].revents) {
            take_keys(show);
            if (show->dirty) draw(show); /* a key is answered at once */
        }
        if (ends[POSTS].revents) {
            app_take_posts(show->app);
            show->dirty = true;
        }
        for (int i = 0; i < 3; i++) ends[i].revents = 0;
    }
}

/* ---- without a terminal */

static bool press_all(struct app *app, const char *keys, struct err *err)
{
    while (keys && *keys) {
        int key = key_read(&keys);
        if (!key) return err_set(err, "--press: '%s': give letters, or <Up>, <Enter>, <Tab> ...", text_show(keys)), err_usage(err);
        app_key(app, key);
        app_settle(app);
    }
    return true;
}

static bool add_png(const struct cells *cells, enum theme theme, struct text *out, struct err *err)
{
    struct cells_look look = {.ground = theme_ground(theme)};
    for (int t = 0; t < TINT_COUNT; t++) look.colour[t] = theme_picture(theme, t).colour, look.bold[t] = theme_picture(theme, t).bold;
    return cells_png(cells, &look, out, err);
}

bool view_plain(struct session *session, const struct page *page, struct text *out, struct err *err)
{
    const struct view *view = view_find(page->view);
    if (!view) {
        err_set(err, "view '%s': there is none of that name; there are", text_show(page->view));
        for (size_t i = 0; views[i]; i++)
            if (!views[i]->hidden) err_add(err, " %s", views[i]->name);
        return err_usage(err);
    }
    struct app *app = app_new(session, command_line, page->model);
    struct cells *cells = cells_new(page->rows, page->cols);
    int cursor_row, cursor_col;
    app->rows = page->rows, app->cols = page->cols;
    app->ascii = page->form == PAGE_TEXT && strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    app_go(app, view);
    bool good = !page->set || page->set(app, page->args, err);
    if (good) app_settle(app);
    good = good && press_all(app, page->press ? page->press : page->example ? view->example : NULL, err);
    if (good) {
        app_draw(app, cells, &cursor_row, &cursor_col);
        const char *wrong = app_wrong(app);
        good = !wrong || err_set(err, "%s", wrong);
        if (page->form == PAGE_TEXT) cells_page(cells, out);
        else if (page->form == PAGE_SVG) svg_add(cells, (enum theme)page->theme, out);
        else good = add_png(cells, (enum theme)page->theme, out, err) && good;
    }
    cells_free(cells);
    app_free(app);
    return good;
}

static int print_summary(struct session *session, const char *model)
{
    struct text out = {0};
    struct err err = {0};
    struct page page = {.view = model ? "loops" : "models", .model = model, .rows = 24, .cols = 80};
    bool good = view_plain(session, &page, &out, &err);
    fputs(out.data ? out.data : "", stdout);
    puts("This is no terminal that a screen can be shown on. The same as text, on any size of paper:\n"
         "  loopscope view NAME [MODEL] [--rows N] [--cols N]       (loopscope view lists the names)\n"
         "and every number alone: loopscope help");
    text_clear(&out);
    return good ? 0 : 1;
}

/* ---- with one */

/* What computes gets a moment to save itself, and no more: the terminal may be gone. */
static int die(struct app *app, int number)
{
    crew_end(app->crew, 2);
    signals_end();
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}

/* What is kept from one session to the next. */
static void begin_session(struct app *app)
{
    struct err err = {0};
    char *logs = home_path(HOME_STATE, "log");
    if (logs && !file_is_folder(logs)) app_say(app, "Your first start: ? explains everything, t there is a tour of five minutes.");
    app->prefs_path = home_path(HOME_CONFIG, "settings");
    app->history_path = home_path(HOME_STATE, "history");
    if (!prefs_read(&app->prefs, app->prefs_path, &err)) app_say(app, "%s", err.text);
    history_read(&app->prompt, app->history_path);
    prompt_set(&app->prompt, "");
    journal_open(&app->journal, logs);
    app->copy = term_copy;
}

static int show_app(struct app *app, int signals, struct err *err)
{
    struct show show = {.app = app, .dirty = true};
    bool works = app_work(app, err);
    if (works) run(&show, signals);
    term_close();
    cells_free(show.cells);
    if (show.deadly) return die(app, show.deadly);
    app_free(app);
    signals_end();
    mem_failed = failed_before;
    return works ? 0 : 1;
}

/* The signals' end of a pipe, or -1 with a message. */
static int open_terminal(struct err *err)
{
    int signals = signals_start();
    failed_before = mem_failed;
    mem_failed = out_of_memory;
    if (term_kind() != TERM_UNKNOWN && term_open(err)) return signals;
    if (!*err->text) err_set(err, "TERM: no entry in the terminal database: set TERM=xterm-256color");
    mem_failed = failed_before;
    signals_end();
    return -1;
}

int tui_main(struct session *session, const char *model)
{
    struct err err = {0};
    if (term_kind() == TERM_TEXT) return print_summary(session, model);
    int signals = open_terminal(&err), code = 2;
    if (signals >= 0) {
        struct app *app = app_new(session, command_line, model);
        begin_session(app);
        code = show_app(app, signals, &err);
    }
    if (*err.text) fprintf(stderr, "loopscope: %s\n", err.text);
    return code;
}

bool tui_open_saved(struct session *session, const char *path, struct err *err)
{
    struct app *app = app_new(session, command_line, NULL);
    bool good = saved_read(app, path, err);
    if (good && term_kind() == TERM_TEXT) good = err_set(err, "this is no terminal that a screen can be shown on");
    int signals = good ? open_terminal(err) : -1;
    if (signals < 0) {
        app_free(app);
        return false;
    }
    begin_session(app);
    return show_app(app, signals, err) == 0;
}
