#include "app.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RESULTS_KEPT = 512 };

static size_t view_place(const struct view *view)
{
    size_t i = 0;
    while (views[i] && views[i] != view) i++;
    return i;
}

const struct view *view_find(const char *name)
{
    for (size_t i = 0; views[i]; i++)
        if (!strcmp(views[i]->name, name)) return views[i];
    return NULL;
}

static struct pane *pane_of(const struct app *app, const struct view *view)
{
    return (struct pane *)&app->panes[view_place(view)];
}

void *app_state(struct app *app, size_t size)
{
    struct pane *pane = pane_of(app, app->view);
    if (!pane->state) pane->state = mem_new(size);
    return pane->state;
}

/* ---- open and close */

/* A path or a name; without a wish, the vanilla loop: its puzzle is what the tour shows first. */
static bool is_meant(const char *path, const char *wish)
{
    return wish ? !strcmp(path, wish) || !strcmp(path_base(path), wish) : strstr(path, "vanilla") != NULL;
}

static void find_models(struct app *app, const char *model)
{
    struct err err = {0};
    if (!session_models(app->session, &app->models, &app->model_count, &err)) app_say(app, "%s", err.text);
    size_t first = app->model_count;
    for (size_t i = app->model_count; i-- > 0;)
        if (is_meant(app->models[i], model)) first = i;
    if (first < app->model_count) app->model_at = first;
    if (!model && app->model_count) model = app->models[app->model_at];
    app->model = mem_text(model);
}

struct app *app_new(struct session *session, command_runner *run, const char *model)
{
    struct app *app = mem_new(sizeof *app);
    app->session = session;
    app->run = run;
    app->position = -1;
    app->boundary = 1;
    snprintf(app->split, sizeof app->split, "test_ood");
    find_models(app, model);
    app->view = view_find(app->model ? "loops" : "models");
    app->back = app->view;
    prompt_set(&app->prompt, "");
    return app;
}

static void release_pane(struct pane *pane)
{
    for (int i = 0; i < WANTS; i++) mem_free(pane->wants[i].line);
    mem_free(pane->state);
}

void app_free(struct app *app)
{
    worker_free(app->worker);
    for (size_t i = 0; i < app->result_count; i++) result_free(app->results[i]);
    mem_free(app->results);
    for (int i = 0; i < VIEWS_MOST; i++) release_pane(&app->panes[i]);
    release_pane(&app->head);
    for (size_t i = 0; i < app->model_count; i++) mem_free(app->models[i]);
    mem_free(app->models);
    mem_free(app->model);
    mem_free(app->data);
    mem_free(app->typed);
    prompt_release(&app->prompt);
    mem_free(app);
}

/* ---- results and what is wanted */

static struct result *result_find(const struct app *app, const char *line)
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
static void let_go(struct app *app, struct result *result)
{
    if (result_ended(result) || (app->worker && worker_drop(app->worker, result))) {
        forget_result(app, result);
        return;
    }
    result->unwanted = true;
    if (app->worker) worker_stop(app->worker, result);
}

static bool in_pane(const struct pane *pane, const struct result *result)
{
    for (int i = 0; i < pane->count; i++)
        if (pane->wants[i].result == result || pane->wants[i].shown == result) return true;
    return false;
}

static bool is_wanted(const struct app *app, const struct result *result)
{
    return in_pane(&app->head, result) || in_pane(pane_of(app, app->view), result);
}

static void forget_oldest(struct app *app)
{
    struct result *oldest = NULL;
    for (size_t i = 0; i < app->result_count; i++) {
        struct result *r = app->results[i];
        bool held = in_pane(&app->head, r) || !result_ended(r);
        for (int v = 0; v < VIEWS_MOST && !held; v++) held = in_pane(&app->panes[v], r);
        if (!held && (!oldest || r->used < oldest->used)) oldest = r;
    }
    if (oldest) forget_result(app, oldest);
}

static struct result *result_ask(struct app *app, const char *line)
{
    if (app->result_count >= RESULTS_KEPT) forget_oldest(app);
    struct result *result = result_new(line);
    mem_grow(&app->results, &app->result_room, app->result_count + 1, sizeof *app->results);
    app->results[app->result_count++] = result;
    if (app->worker) worker_ask(app->worker, result);
    return result;
}

static void look_up(struct app *app, struct pane *pane)
{
    for (int i = 0; i < pane->count; i++) {
        struct want *want = &pane->wants[i];
        want->result = result_find(app, want->line);
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
    int place = add_want(pane_of(app, app->view), format, args);
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
        if (r->unwanted || result_ended(r) || is_wanted(app, r)) continue;
        if (r->state == RESULT_WAITING && app->worker && worker_drop(app->worker, r)) {
            forget_result(app, r);
            i--;
        }
    }
}

void app_update(struct app *app)
{
    app->clock++;
    struct pane *pane = pane_of(app, app->view);
    pane->count = app->head.count = app->line_shown = 0;
    if (app->model) want_head(app, "info %s", app_model(app));
    if (app->view->lines) app->view->lines(app);
    look_up(app, &app->head);
    look_up(app, pane);
    drop_unwanted(app);
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
        any = true;
    }
    return any;
}

/* A table may make a view want more; views that never stop wanting are a mistake, so the rounds are few. */
void app_settle(struct app *app)
{
    app_update(app);
    for (int round = 0; round < 8 && (compute_here(app, &app->head) | compute_here(app, pane_of(app, app->view))); round++) app_update(app);
}

void app_work(struct app *app)
{
    app->worker = worker_new(app->session, app->run);
    app_update(app);
}

void app_take_posts(struct app *app)
{
    struct post *post;
    while ((post = worker_take(app->worker))) {
        struct result *result = post->result;
        bool ends = post->kind == POST_END;
        result_take(result, post);
        if (ends && result->unwanted) forget_result(app, result);
    }
    app_update(app);
}

/* ---- for views */

void app_show(struct app *app, int want) { app->line_shown = want; }

const struct result *app_result(const struct app *app, int want)
{
    const struct pane *pane = pane_of(app, app->view);
    return want >= 0 && want < pane->count ? pane->wants[want].result : NULL;
}

const struct table *app_table(const struct app *app, int want, size_t i)
{
    const struct pane *pane = pane_of(app, app->view);
    return want >= 0 && want < pane->count ? result_table(pane->wants[want].shown, i) : NULL;
}

const char *app_fact(const struct app *app, const char *property)
{
    const struct table *info = app->head.count ? result_table(app->head.wants[0].shown, 0) : NULL;
    for (size_t r = 0; info && r < info->row_count; r++) {
        const char *name = table_text(info, r, "property");
        if (name && !strcmp(name, property)) return table_text(info, r, "value");
    }
    return NULL;
}

int app_fact_int(const struct app *app, const char *property, int otherwise)
{
    const char *text = app_fact(app, property);
    long value;
    return text && parse_int(text, &value) ? (int)value : otherwise;
}

static const struct result *find_line(const struct app *app, const char *format, va_list args)
{
    char line[2048];
    vsnprintf(line, sizeof line, format, args);
    return result_find(app, line);
}

const struct table *app_kept(const struct app *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct result *result = find_line(app, format, args);
    va_end(args);
    return result && result->state == RESULT_DONE ? result_table(result, 0) : NULL;
}

bool app_failed(const struct app *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct result *result = find_line(app, format, args);
    va_end(args);
    return result && result->state == RESULT_FAILED;
}

bool app_current(const struct app *app, int want)
{
    const struct result *result = app_result(app, want);
    return result && result->state == RESULT_DONE;
}

bool app_busy(const struct app *app)
{
    const struct pane *pane = pane_of(app, app->view);
    for (int i = 0; i < pane->count; i++)
        if (pane->wants[i].result && !result_ended(pane->wants[i].result)) return true;
    return false;
}

const char *app_wrong(const struct app *app)
{
    const struct pane *panes[] = {&app->head, pane_of(app, app->view)};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < panes[p]->count; i++) {
            const struct result *result = panes[p]->wants[i].result;
            if (result && result->state == RESULT_FAILED) return result->wrong ? result->wrong : "";
        }
    return NULL;
}

const char *app_model(const struct app *app)
{
    static _Thread_local char quoted[2048];
    struct text text = {0};
    text_add_quoted(&text, app->model ? app->model : "");
    snprintf(quoted, sizeof quoted, "%s", text.data);
    text_clear(&text);
    return quoted;
}

const char *app_subject(const struct app *app)
{
    static _Thread_local char quoted[4096];
    struct text text = {0};
    text_add(&text, "%s", app_model(app));
    if (app->data) text_add(&text, " --data "), text_add_quoted(&text, app->data);
    snprintf(quoted, sizeof quoted, "%s", text.data);
    text_clear(&text);
    return quoted;
}

void app_say(struct app *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(app->message, sizeof app->message, format, args);
    va_end(args);
}

/* What one view left running for itself would keep the next one waiting. */
static void leave_view(struct app *app)
{
    struct pane *pane = pane_of(app, app->view);
    for (int i = 0; i < pane->count; i++) {
        struct result *result = pane->wants[i].result;
        if (result && !result_ended(result) && !in_pane(&app->head, result)) let_go(app, result);
    }
}

void app_go(struct app *app, const struct view *view)
{
    if (view == app->view) return;
    leave_view(app);
    if (!app->view->hidden) app->back = app->view;
    app->view = view;
}

/* Everything that was shown was about something else. */
static void begin_anew(struct app *app)
{
    for (int v = 0; v < VIEWS_MOST; v++)
        for (int i = 0; i < WANTS; i++) app->panes[v].wants[i].shown = NULL;
    app->row = 0;
    app->position = -1;
    app->seek = app->turn = 0;
    app->turned = false;
}

void app_open(struct app *app, const char *model)
{
    if (!app->model || strcmp(app->model, model) != 0) {
        begin_anew(app);
        app->head.wants[0].shown = NULL;
        mem_free(app->model);
        mem_free(app->data);
        app->model = mem_text(model);
        app->data = NULL;
    }
    app_go(app, view_find("loops"));
}

void app_use_data(struct app *app, const char *data)
{
    begin_anew(app);
    mem_free(app->data);
    app->data = *data ? mem_text(data) : NULL;
}

void app_type(struct app *app, const char *line)
{
    mem_free(app->typed);
    app->typed = mem_text(line);
    struct result *old = result_find(app, line);
    if (old) let_go(app, old); /* entered again means: run again */
    app_go(app, view_find("output"));
}

bool app_stop(struct app *app, int want)
{
    struct result *result = (struct result *)app_result(app, want);
    if (!result || result_ended(result) || !app->worker) return false;
    if (worker_drop(app->worker, result)) result->state = RESULT_STOPPED;
    else worker_stop(app->worker, result);
    return true;
}

void app_again(struct app *app, int want)
{
    struct result *result = (struct result *)app_result(app, want);
    if (result) let_go(app, result);
}

void app_reload(struct app *app)
{
    for (size_t i = app->result_count; i-- > 0;)
        if (i < app->result_count) let_go(app, app->results[i]);
    if (!app->model) return;
    if (app->worker) worker_forget(app->worker, app->model);
    else session_forget(app->session, app->model);
}
