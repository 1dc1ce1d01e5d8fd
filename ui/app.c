#include "app.h"
#include "opened.h"

#include "doing/command.h"
#include "doing/share.h"
#include "figures/export.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t view_place(const struct view *view)
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

const struct view *view_numbered(size_t n)
{
    for (size_t i = 0; views[i]; i++)
        if (!views[i]->hidden && !n--) return views[i];
    return NULL;
}

void *app_state(struct app *app, size_t size)
{
    struct pane *pane = app_pane(app, app->view);
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
    struct share_list list = session_models(app->session);
    app->models = list.names, app->model_count = list.count;
    size_t first = app->model_count;
    for (size_t i = app->model_count; i-- > 0;)
        if (is_meant(app->models[i], model)) first = i;
    if (first < app->model_count) app->model_at = first;
    if (!model && app->model_count) model = app->models[app->model_at];
    if (model) app->model = opened_name(app, model);
    opened_seen(app);
    opened_pick(app);
    app->opening = app->model;
}

/* The list as it is now; what is open and stands elsewhere stays in it. */
static void find_again(struct app *app)
{
    struct share_list list = session_models(app->session);
    char *at = app->model_at < app->model_count ? mem_text(app->models[app->model_at]) : NULL;
    for (size_t i = 0; i < app->model_count; i++) mem_free(app->models[i]);
    mem_free(app->models);
    app->models = list.names, app->model_count = list.count;
    for (size_t i = 0; i < app->open_count; i++) opened_list(app, &app->open[i]);
    app->model_at = 0;
    for (size_t i = 0; at && i < app->model_count; i++)
        if (!strcmp(app->models[i], at)) app->model_at = i;
    mem_free(at);
}

struct app *app_new(struct session *session, command_runner *run, const char *model)
{
    struct app *app = mem_new(sizeof *app);
    app->session = session;
    app->run = run;
    app->position = -1;
    app->boundary = 1;
    app->menu = app->tour = -1;
    app->rows = 24, app->cols = 80;
    prefs_init(&app->prefs);
    snprintf(app->split, sizeof app->split, "test_ood");
    find_models(app, model);
    app->view = view_find(app->model ? "loops" : "models");
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
    crew_free(app->crew);
    for (size_t i = 0; i < app->result_count; i++) result_free(app->results[i]);
    mem_free(app->results);
    for (int i = 0; i < VIEWS_MOST; i++) release_pane(&app->panes[i]);
    release_pane(&app->head);
    for (size_t i = 0; i < app->model_count; i++) mem_free(app->models[i]);
    mem_free(app->models);
    opened_release(app);
    mem_free(app->model);
    mem_free(app->data);
    mem_free(app->typed);
    mem_free(app->tokens);
    mem_free(app->found);
    mem_free(app->prefs_path);
    mem_free(app->history_path);
    text_clear(&app->choices);
    prompt_release(&app->prompt);
    prefs_release(&app->prefs);
    journal_release(&app->journal);
    undo_clear(&app->undo);
    gallery_release(&app->gallery);
    mem_free(app);
}

/* ---- for views */

void app_show(struct app *app, int want) { app->line_shown = want; }

const struct result *app_result(const struct app *app, int want)
{
    const struct pane *pane = app_pane(app, app->view);
    return want >= 0 && want < pane->count ? pane->wants[want].result : NULL;
}

const struct table *app_table(const struct app *app, int want, size_t i)
{
    const struct pane *pane = app_pane(app, app->view);
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

bool app_by_token(const struct app *app)
{
    const char *boundary = app_fact(app, "boundary");
    return boundary && !strcmp(boundary, "token");
}

char app_boundary(const struct app *app) { return app_by_token(app) ? 's' : 'h'; }

static const struct result *find_line(const struct app *app, const char *format, va_list args)
{
    char line[2048];
    vsnprintf(line, sizeof line, format, args);
    return app_find(app, line);
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

const char *app_wrong(const struct app *app)
{
    const struct pane *panes[] = {&app->head, app_pane(app, app->view)};
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

/* Help and outputs are looked at and left: nobody wants to be led back into them. */
static bool is_passed(const struct view *view) { return view->hidden || !strcmp(view->name, "help"); }

const struct view *app_before(const struct app *app) { return app->trail_count ? app->trail[app->trail_count - 1] : NULL; }

static void remember_view(struct app *app)
{
    if (is_passed(app->view)) return;
    if (app->trail_count == TRAIL) memmove(app->trail, app->trail + 1, (size_t)--app->trail_count * sizeof *app->trail);
    app->trail[app->trail_count++] = app->view;
}

void app_go(struct app *app, const struct view *view)
{
    if (view == app->view) return;
    app_leave(app);
    if (is_passed(app->view) && app_before(app) == view) app->trail_count--; /* that was the way back */
    remember_view(app);
    app->view = view;
}

void app_back(struct app *app)
{
    if (!app->trail_count) return;
    app_leave(app);
    app->view = app->trail[--app->trail_count];
}

/* Everything that was shown was about something else. */
static void forget_shown(struct app *app)
{
    for (int v = 0; v < VIEWS_MOST; v++)
        for (int i = 0; i < WANTS; i++) app->panes[v].wants[i].shown = NULL;
    app->seek = app->turn = app->shift = app->find = 0;
    app->turned = false;
}

static void begin_anew(struct app *app)
{
    forget_shown(app);
    app->row = 0;
    app->position = -1;
    mem_free(app->tokens);
    app->tokens = NULL;
}

void app_look_at(struct app *app, const char *model)
{
    struct opened *was = opened_find(app, app->model), *now = opened_find(app, model);
    char *name = mem_text(now ? now->model : model), *data = now ? mem_text(now->data) : NULL;
    forget_shown(app);
    app->head.wants[0].shown = NULL;
    if (was) mem_free(was->data), was->data = mem_text(app->data);
    mem_free(app->model);
    mem_free(app->data);
    app->model = name, app->data = data;
    undo_clear(&app->undo);
    if (!now || !now->files) opened_seen(app); /* it is read now */
    else opened_look(app);
    opened_pick(app);
}

bool app_open(struct app *app, const char *model)
{
    struct err err = {0};
    char *name = opened_name(app, model);
    bool open = opened_find(app, name), here = open || session_has_model(app->session, name, &err);
    if (here) {
        if (!app->model || strcmp(app->model, name) != 0) app_look_at(app, name);
        if (!open) begin_anew(app), app->opening = true;
        app_go(app, view_find("loops"));
    } else app_say(app, "%s", err.text);
    mem_free(name);
    return here;
}

bool app_use_data(struct app *app, const char *data)
{
    struct err err = {0};
    if (*data && !session_has_data(app->session, data, &err)) {
        app_say(app, "%s", err.text);
        return false;
    }
    begin_anew(app);
    mem_free(app->data);
    app->data = *data ? mem_text(data) : NULL;
    opened_keep(app);
    return true;
}

/* The command line that makes the same file: the table's own, if it can write figures, else a plot of the table beside it. */
static void note_figure(struct app *app, const char *line, const char *path)
{
    struct text text = {0}, name = {0};
    text_add_bytes(&name, line, strcspn(line, " "));
    text_add(&name, "%s", "");
    const struct command *command = command_find(name.data);
    if (command && command->options && option_find(command->options, "output")) text_add(&text, "%s -o ", line);
    else text_add(&text, "plot %.*s.tsv -o ", (int)strlen(path) - 4, path);
    text_add_quoted(&text, path);
    journal_note(&app->journal, text.data);
    text_clear(&text), text_clear(&name);
}

void app_export(struct app *app, int want, const char *name, const struct figure_options *options)
{
    const struct result *result = app_result(app, want);
    struct text path = {0};
    struct err err = {0};
    text_add(&path, "figures/%s.png", name);
    for (char *c = path.data + strlen("figures/"); *c; c++)
        if (strchr("@:=,/ '\"", *c)) *c = '-';
    if (folder_make("figures", &err) && figure_export(app_table(app, want, 0), options, path.data, &err)) {
        note_figure(app, result->line, path.data);
        gallery_add(&app->gallery, path.data);
        app_say(app, "wrote %s, and .tsv, .txt beside it", path.data);
    } else app_say(app, "%s", err.text);
    text_clear(&path);
}

void app_type(struct app *app, const char *line)
{
    mem_free(app->typed);
    app->typed = mem_text(line);
    struct result *old = app_find(app, line);
    if (old) app_let_go(app, old); /* entered again means: run again */
    app_go(app, view_find("output"));
}

void app_again(struct app *app, int want)
{
    struct result *result = (struct result *)app_result(app, want);
    if (result) app_let_go(app, result);
}

/* What is shown stays until the new is there. */
static void forget_results(struct app *app, const char *about)
{
    for (size_t i = app->result_count; i-- > 0;) {
        if (i >= app->result_count || (about && !strstr(app->results[i]->line, about))) continue;
        if (result_ended(app->results[i])) app->results[i]->unwanted = true;
        else app_let_go(app, app->results[i]);
    }
}

static void read_again(struct app *app)
{
    if (!app->model) return;
    if (app->crew) crew_forget(app->crew, app->model);
    else session_forget(app->session, app->model);
    opened_seen(app);
}

void app_reread(struct app *app)
{
    forget_results(app, app_model(app));
    read_again(app);
}

void app_reload(struct app *app)
{
    forget_results(app, NULL);
    find_again(app);
    read_again(app);
}
