/* The settings of every view, and the walk over all of them. */
#include "app.h"
#include "opened.h"
#include "question.h"

#include "ground/mem.h"
#include "ground/option.h"
#include "registry.h"

#include <stdio.h>
#include <string.h>

static void get_open(struct app *app, struct text *out) { opened_add(app, out); }
static bool set_open(struct app *app, const char *value) { return opened_read(app, value); }

static void get_model(struct app *app, struct text *out) { text_add(out, "%s", app->model ? app->model : ""); }

static bool set_model(struct app *app, const char *value)
{
    const struct view *view = app->view;
    if (!*value || (app->model && !strcmp(app->model, value))) return true;
    bool good = app_open(app, value);
    app->view = view; /* opening goes to a view of its own */
    return good;
}

static const char *const flags[] = {"on", "off", NULL};

static void get_follow(struct app *app, struct text *out)
{
    const struct opened *one = opened_keep(app);
    text_add(out, one && one->follow ? "on" : "off");
}

static bool set_follow(struct app *app, const char *value)
{
    struct opened *one = opened_keep(app);
    bool on = !strcmp(value, "on");
    if (one) one->follow = on;
    return on || !strcmp(value, "off");
}

static void get_data(struct app *app, struct text *out) { text_add(out, "%s", app->data ? app->data : ""); }

static bool set_data(struct app *app, const char *value)
{
    return !strcmp(app->data ? app->data : "", value) || app_use_data(app, value);
}

static void get_split(struct app *app, struct text *out) { text_add(out, "%s", app->split); }

static bool set_split(struct app *app, const char *value)
{
    if (!*value || strlen(value) >= sizeof app->split) return false;
    if (strcmp(app->split, value) != 0) app->row = 0;
    snprintf(app->split, sizeof app->split, "%s", value);
    return true;
}

static bool whole_number(const char *value, long low, long high, long *number)
{
    return parse_int(value, number) && *number >= low && *number <= high;
}

static void get_row(struct app *app, struct text *out) { text_add(out, "%ld", app->row); }
static bool set_row(struct app *app, const char *value) { return whole_number(value, 0, 1L << 40, &app->row); }

static void get_tokens(struct app *app, struct text *out) { text_add(out, "%s", question_tokens(app)); }

static bool set_tokens(struct app *app, const char *value)
{
    question_set_tokens(app, value);
    return true;
}

static void get_boundary(struct app *app, struct text *out) { text_add(out, "%d", app->boundary); }

static bool set_boundary(struct app *app, const char *value)
{
    long number;
    if (!whole_number(value, 0, 1 << 20, &number)) return false;
    app->boundary = (int)number;
    return true;
}

static void get_position(struct app *app, struct text *out)
{
    if (app->position < 0) text_add(out, "bridge");
    else text_add(out, "%d", app->position);
}

static bool set_position(struct app *app, const char *value)
{
    long number = -1;
    if (strcmp(value, "bridge") != 0 && !whole_number(value, 0, 1 << 20, &number)) return false;
    app->position = (int)number;
    return true;
}

static void get_view(struct app *app, struct text *out) { text_add(out, "%s", app->view->name); }

static bool set_view(struct app *app, const char *value)
{
    const struct view *view = view_find(value);
    if (view) app_go(app, view);
    return view;
}

const struct setting shared_settings[] = {
    {"open", "the models that are open, each with --data DATA where that is not its own", get_open, set_open, .kind = SETTING_OPEN},
    {"model", "the open model that is looked at: a folder or a name", get_model, set_model, .kind = SETTING_OPEN},
    {"follow", "is the model read again whenever its files change?", get_follow, set_follow, flags, .kind = SETTING_OPEN},
    {"data", "the dataset that is measured on; empty: the model's own", get_data, set_data},
    {"split", "of the question that is looked at", get_split, set_split},
    {"row", "number of the question in its split", get_row, set_row, .kind = SETTING_PLACE},
    {"tokens", "typed in place of the question's own; empty: its own", get_tokens, set_tokens},
    {"boundary", "under the cursor", get_boundary, set_boundary},
    {"position", "under the cursor; bridge: where the bridge is", get_position, set_position},
    {"view", "what is on the screen", get_view, set_view, .kind = SETTING_OPEN},
    {0},
};

/* ---- all of them */

static void add_one(struct app *app, const struct setting *setting, const struct view *view, struct text *out)
{
    struct text value = {0};
    const struct view *here = app->view;
    text_add(&value, "%s", "");
    if (view) app->view = view;
    setting->get(app, &value);
    app->view = here;
    if (value.size || !view) {
        text_add(out, "set %s%s%s ", view ? view->name : "", view ? "." : "", setting->name);
        text_add_quoted(out, value.data);
        text_add(out, "\n");
    }
    text_clear(&value);
}

void settings_add(struct app *app, enum setting_kind most, struct text *out)
{
    text_add(out, "%s", "");
    for (const struct setting *s = shared_settings; s->name; s++)
        if (s->kind <= most) add_one(app, s, NULL, out);
    for (size_t v = 0; views[v]; v++)
        for (const struct setting *s = views[v]->settings; s && s->name; s++)
            if (s->kind <= most) add_one(app, s, views[v], out);
}

bool setting_number(const char *value, int *number)
{
    long whole;
    if (!parse_int(value, &whole) || whole < 0 || whole > 1 << 30) return false;
    *number = (int)whole;
    return true;
}

const char *settings_name(size_t i, const struct setting **setting)
{
    static _Thread_local char name[128];
    for (const struct setting *s = shared_settings; s->name; s++)
        if (!i--) return *setting = s, s->name;
    for (size_t v = 0; views[v]; v++)
        for (const struct setting *s = views[v]->settings; s && s->name; s++)
            if (!i--) {
                snprintf(name, sizeof name, "%s.%s", views[v]->name, s->name);
                return *setting = s, name;
            }
    return NULL;
}

/* The message for a name that is not known. */
static bool unknown(const char *name, struct err *err)
{
    char *names[256];
    const struct setting *setting;
    const char *one;
    size_t count = 0;
    while (count < 255 && (one = settings_name(count, &setting))) names[count++] = mem_text(one);
    names[count] = NULL;
    const char *near = text_nearest(name, text_name, names);
    err_set(err, "set %s: no such setting", text_show(name));
    if (near) err_add(err, ": did you mean %s?", near);
    else err_add(err, ": Tab behind ':set ' lists them");
    while (count) mem_free(names[--count]);
    return false;
}

static const struct setting *find(const char *name, const struct view **view)
{
    const char *dot = strchr(name, '.');
    char owner[64];
    *view = NULL;
    if (dot) {
        snprintf(owner, sizeof owner, "%.*s", (int)(dot - name), name);
        *view = view_find(owner);
        if (!*view) return NULL;
    }
    const struct setting *s = dot ? (*view)->settings : shared_settings;
    while (s && s->name && strcmp(s->name, dot ? dot + 1 : name) != 0) s++;
    return s && s->name ? s : NULL;
}

bool settings_set(struct app *app, const char *name, const char *value, struct err *err)
{
    const struct view *view, *here = app->view;
    const struct setting *setting = find(name, &view);
    if (!setting) return unknown(name, err);
    if (view) app->view = view;
    app->message[0] = '\0';
    bool good = setting->set(app, value);
    if (view) app->view = here;
    if (good) return true;
    if (app->message[0]) return err_set(err, "%s", app->message); /* it has said why itself */
    err_set(err, "set %s: '%s' is no value of it", name, text_show(value));
    for (const char *const *c = setting->choices; c && *c; c++) err_add(err, "%s %s", c == setting->choices ? ": there are" : ",", *c);
    return false;
}

void settings_restore(struct app *app, const char *lines)
{
    while (*lines) {
        size_t size = strcspn(lines, "\n"), count;
        struct text line = {0};
        struct err err = {0};
        char **words;
        text_add_bytes(&line, lines, size);
        text_add(&line, "%s", "");
        if (words_split(line.data, &words, &count, &err)) {
            if (count == 3 && !strcmp(words[0], "set")) settings_set(app, words[1], words[2], &err);
            words_free(words, count);
        }
        text_clear(&line);
        lines += size + (lines[size] != 0);
    }
}
