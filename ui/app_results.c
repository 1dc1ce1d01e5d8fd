/* Results by their lines: what the views want, what is asked of the workers for it, what is kept and what is let go. */
#include "app.h"
#include "opened.h"

#include "ground/clock.h"
#include "ground/mem.h"
#include "registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RESULTS_KEPT = 512 };

/* Work that has run so long goes on when its view is left. */
static const double long_seconds = 0.25;

struct pane *app_pane(const struct app *app, const struct view *view) { return (struct pane *)&app->panes[view_place(view)]; }

struct result *app_find(const struct app *app, const char *line)
{
    for (size_t i = 0; i < app->result_count; i++)
        if (!app->results[i]->unwanted && !strcmp(app->results[i]->line, line)) return app->results[i];
    return NULL;
}

static void forget_pointers(struct pane *pane, const struct result *result)
{
    for (int i = 0; i < WANTS; i++) {
        if (pane->wants[i].result == result) pane->wants[i].result = NULL;
        if (pane->wants[i].shown == result) pane->wants[i].shown = NULL;
    }
}

static void forget_result(struct app *app, struct result *result)
{
    for (int i = 0; i < VIEWS_MOST; i++) forget_pointers(&app->panes[i], result);
    forget_pointers(&app->head, result);
    for (size_t i = 0; i < app->result_count; i++)
        if (app->results[i] == result) app->results[i] = app->results[--app->result_count];
    result_free(result);
}

/* A running one cannot be freed: it is asked to end, and forgotten then. */
void app_let_go(struct app *app, struct result *result)
{
    if (result_ended(result) || (app->crew && crew_drop(app->crew, result))) {
        forget_result(app, result);
        return;
    }
    result->unwanted = true;
    if (app->crew) crew_stop(app->crew, result);
}

static bool in_pane(const struct pane *pane, const struct result *result)
{
    for (int i = 0; i < pane->count; i++)
        if (pane->wants[i].result == result || pane->wants[i].shown == result) return true;
    return false;
}

static bool in_any(const struct app *app, const struct result *result)
{
    bool any = in_pane(&app->head, result);
    for (int v = 0; v < VIEWS_MOST && !any; v++) any = in_pane(&app->panes[v], result);
    return any;
}

static bool is_wanted(const struct app *app, const struct result *result)
{
    return in_pane(&app->head, result) || in_pane(app_pane(app, app->view), result);
}

static void forget_oldest(struct app *app)
{
    struct result *oldest = NULL;
    for (size_t i = 0; i < app->result_count; i++) {
        struct result *r = app->results[i];
        if (result_ended(r) && !in_any(app, r) && (!oldest || r->used < oldest->used)) oldest = r;
    }
    if (oldest) forget_result(app, oldest);
}

static bool is_long(const struct result *result)
{
    return result && result->state == RESULT_RUNNING && clock_seconds() - result->started >= long_seconds;
}

static struct result *result_ask(struct app *app, const char *line)
{
    if (app->result_count >= RESULTS_KEPT) forget_oldest(app);
    struct result *result = result_new(line);
    struct text scene = {0};
    settings_add(app, SETTING_OPEN, &scene);
    result->scene = scene.data;
    for (size_t i = 0; i < app->result_count; i++) result->again |= app->results[i]->unwanted && !strcmp(app->results[i]->line, line);
    mem_grow(&app->results, &app->result_room, app->result_count + 1, sizeof *app->results);
    app->results[app->result_count++] = result;
    if (!app->crew) return result;
    if (is_long(crew_running(app->crew))) crew_step_back(app->crew); /* a key is answered now, and not behind a sweep */
    crew_ask(app->crew, result);
    return result;
}

static void look_up(struct app *app, struct pane *pane)
{
    for (int i = 0; i < pane->count; i++) {
        struct want *want = &pane->wants[i];
        want->result = app_find(app, want->line);
        if (!want->result) want->result = result_ask(app, want->line);
        want->result->used = app->clock;
        const struct table *first = result_table(want->result, 0);
        if ((first && first->row_count) || result_ended(want->result)) want->shown = want->result;
    }
}

static int add_want(struct pane *pane, const char *format, va_list args)
{
    if (pane->count == WANTS) return WANTS - 1;
    struct want *want = &pane->wants[pane->count];
    char line[2048];
    vsnprintf(line, sizeof line, format, args);
    if (!want->line || strcmp(want->line, line) != 0) {
        mem_free(want->line);
        want->line = mem_text(line);
        want->result = NULL;
    }
    return pane->count++;
}

int app_want(struct app *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int place = add_want(app_pane(app, app->view), format, args);
    va_end(args);
    return place;
}

static void want_head(struct app *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_want(&app->head, format, args);
    va_end(args);
}

/* Which waiting requests nobody needs any more. One that runs goes on while its view is on the screen: a held key would else never show anything. */
static void drop_unwanted(struct app *app)
{
    for (size_t i = 0; i < app->result_count; i++) {
        struct result *r = app->results[i];
        if (r->unwanted && result_ended(r) && !in_any(app, r)) {
            forget_result(app, r);
            i--;
            continue;
        }
        if (r->unwanted || result_ended(r) || is_wanted(app, r)) continue;
        if (r->state == RESULT_WAITING && app->crew && crew_drop(app->crew, r)) {
            forget_result(app, r);
            i--;
        }
    }
}

bool app_defaults(const struct table *info, struct text *out)
{
    struct text names = {0};
    int count = 0;
    for (size_t r = 0; info && r < info->row_count; r++) {
        const char *source = table_text(info, r, "source");
        if (source && !strcmp(source, "default"))
            text_add(&names, "%s%s %s", count++ ? ", " : "", table_text(info, r, "property"), table_text(info, r, "value"));
    }
    if (count) text_add(out, "%d default%s, not in its config: %s", count, count > 1 ? "s" : "", names.data);
    text_clear(&names);
    return count;
}

static void say_defaults(struct app *app)
{
    const struct result *result = app->head.count ? app->head.wants[0].result : NULL;
    struct text line = {0};
    if (!app->opening || !result || !result_ended(result)) return;
    app->opening = false;
    if (app_defaults(result_table(result, 0), &line) && !app->message[0] && app->view != view_find("models")) app_say(app, "%s", line.data);
    text_clear(&line);
}

void app_update(struct app *app)
{
    app->clock++;
    struct pane *pane = app_pane(app, app->view);
    pane->count = app->head.count = app->line_shown = 0;
    if (app->model) want_head(app, "info %s", app_model(app));
    const char *typed = app->prompt.line.data;
    bool tokens = app->prompting && (app->asking == ASK_TOKENS || app->asking == ASK_WATCH || strstr(typed, "--tokens") ||
                                     strstr(typed, "--watch")); /* they are to be completed */
    if (app->model && tokens) want_head(app, "vocab %s", app_subject(app));
    if (app->view->lines) app->view->lines(app);
    look_up(app, &app->head);
    look_up(app, pane);
    drop_unwanted(app);
    say_defaults(app);
}

static void give_now(void *to, struct post *post) { result_take(to, post); }

static bool compute_here(struct app *app, struct pane *pane)
{
    bool any = false;
    for (int i = 0; i < pane->count; i++) {
        struct result *result = pane->wants[i].result;
        if (!result || result->state != RESULT_WAITING) continue;
        struct err err = {0};
        struct feed feed;
        feed_start(&feed, give_now, NULL, result);
        feed_end(&feed, app->run(app->session, result->line, &feed.sink, &err), &err);
        journal_add(&app->journal, result);
        any = true;
    }
    return any;
}

/* A table may make a view want more; views that never stop wanting are a mistake, so the rounds are few. */
void app_settle(struct app *app)
{
    app_update(app);
    for (int round = 0; round < 8 && (compute_here(app, &app->head) | compute_here(app, app_pane(app, app->view))); round++) app_update(app);
}

bool app_work(struct app *app, struct err *err)
{
    app->crew = crew_new(app->session, app->run, err);
    if (app->crew) app_update(app);
    return app->crew;
}

void app_take_posts(struct app *app)
{
    struct post *post;
    while ((post = crew_take(app->crew))) {
        struct result *result = post->result;
        bool ends = post->kind == POST_END;
        result_take(result, post);
        if (!ends) continue;
        journal_add(&app->journal, result);
        if (result->unwanted) forget_result(app, result);
    }
    app_update(app);
}

/* ---- again */

static const double tick_seconds = 1, look_seconds = 5;

/* A view that watches something looks every second; without one the files of the model are looked at now and then. */
static double next_tick(const struct app *app)
{
    double look = app->looked + look_seconds, tick = app->ticked + tick_seconds;
    return app->view->tick && tick < look ? tick : look;
}

int app_tick_ms(const struct app *app)
{
    if (!app->crew || (!app->view->tick && !app->model)) return -1;
    double left = next_tick(app) - clock_seconds();
    return left > 0 ? (int)(1000 * left) + 1 : 0;
}

static bool look(struct app *app)
{
    if (app->looked + tick_seconds > clock_seconds()) return false;
    app->looked = clock_seconds();
    return opened_look(app);
}

bool app_tick(struct app *app)
{
    if (app_tick_ms(app)) return false;
    bool tick = app->view->tick && app->ticked + tick_seconds <= clock_seconds(), changed = look(app);
    if (tick) app->ticked = clock_seconds(), app->view->tick(app);
    if (tick || changed) app_update(app);
    return tick || changed;
}

void app_look(struct app *app)
{
    if (app->crew) look(app);
}

void app_refresh(struct app *app, int want)
{
    struct result *old = (struct result *)app_result(app, want);
    if (!old || !result_ended(old)) return;
    old->unwanted = true; /* the same line makes a new one */
    app_pane(app, app->view)->wants[want].result = NULL;
}

/* ---- stop, and go on behind */

bool app_busy(const struct app *app)
{
    for (size_t i = 0; i < app->result_count; i++)
        if (!result_ended(app->results[i]) && !app->results[i]->unwanted && !app->results[i]->paused) return true;
    return false;
}

const struct result *app_behind(const struct app *app)
{
    for (size_t i = 0; i < app->result_count; i++) {
        const struct result *r = app->results[i];
        if (r->state == RESULT_RUNNING && !r->unwanted && !is_wanted(app, r)) return r;
    }
    return NULL;
}

void app_leave(struct app *app)
{
    struct pane *pane = app_pane(app, app->view);
    struct result *going = NULL;
    for (int i = 0; i < pane->count; i++) {
        struct result *result = pane->wants[i].result;
        if (!result || result_ended(result) || in_pane(&app->head, result)) continue;
        if (app->crew && is_long(result)) going = result;
        else app_let_go(app, result);
    }
    if (going && crew_running(app->crew) == going && !crew_step_back(app->crew)) app_let_go(app, going);
}

bool app_stop(struct app *app, int want)
{
    struct result *result = (struct result *)app_result(app, want);
    if (!result || result_ended(result) || !app->crew) return false;
    if (crew_drop(app->crew, result)) result->state = RESULT_STOPPED;
    else crew_stop(app->crew, result);
    return true;
}

bool app_pause(struct app *app, int want)
{
    struct result *result = (struct result *)app_result(app, want);
    if (!result || result->state != RESULT_RUNNING || !app->crew || !crew_pause(app->crew, result, !result->paused)) return false;
    result->paused = !result->paused;
    return true;
}

bool app_stop_shown(struct app *app, bool only_long)
{
    bool stopped = false;
    for (int i = 0; i < WANTS; i++) {
        const struct result *result = app_result(app, i);
        if (result && !result->again && (!only_long || is_long(result))) stopped |= app_stop(app, i);
    }
    return stopped;
}

bool app_stop_behind(struct app *app)
{
    struct result *result = (struct result *)app_behind(app);
    if (!result || !app->crew) return false;
    crew_stop(app->crew, result);
    return true;
}
