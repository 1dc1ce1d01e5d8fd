#include "opened.h"

#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_folder(const char *a, const char *b)
{
    char *one = realpath(a, NULL), *other = realpath(b, NULL);
    bool same = !strcmp(a, b) || (one && other && !strcmp(one, other));
    free(one), free(other); /* realpath's own */
    return same;
}

static char *path_of(const struct app *app, const char *model)
{
    char *found = share_find(app->session->share, "models", model);
    return found ? found : mem_text(model);
}

char *opened_name(const struct app *app, const char *model)
{
    struct text given = {0};
    size_t size = strlen(model);
    while (size > 1 && model[size - 1] == '/') size--;
    text_add_bytes(&given, model, size);
    text_add(&given, "%s", "");
    char *path = path_of(app, given.data), *name = NULL;
    for (size_t i = 0; i < app->open_count && !name; i++)
        if (same_folder(app->open[i].path, path)) name = mem_text(app->open[i].model);
    mem_free(path);
    if (!name) return given.data;
    text_clear(&given);
    return name;
}

struct opened *opened_find(const struct app *app, const char *model)
{
    for (size_t i = 0; model && i < app->open_count; i++)
        if (!strcmp(app->open[i].model, model) || !strcmp(app->open[i].path, model)) return &app->open[i];
    return NULL;
}

size_t opened_place(const struct app *app)
{
    const struct opened *one = opened_find(app, app->model);
    return one ? (size_t)(one - app->open) : 0;
}

static void replace_text(char **text, const char *with)
{
    char *copy = mem_text(with);
    mem_free(*text);
    *text = copy;
}

/* A model from elsewhere is picked from the list like the others. */
void opened_list(struct app *app, const struct opened *one)
{
    for (size_t i = 0; i < app->model_count; i++)
        if (!strcmp(app->models[i], one->path) || !strcmp(app->models[i], one->model)) return;
    app->models = mem_resize(app->models, (app->model_count + 1) * sizeof *app->models);
    app->models[app->model_count++] = mem_text(one->model);
}

void opened_pick(struct app *app)
{
    const struct opened *one = opened_find(app, app->model);
    for (size_t i = 0; one && i < app->model_count; i++)
        if (!strcmp(app->models[i], one->path) || !strcmp(app->models[i], one->model)) app->model_at = i;
}

static struct opened *keep(struct app *app, const char *model, const char *data)
{
    struct opened *one = opened_find(app, model);
    if (!one) {
        mem_grow(&app->open, &app->open_room, app->open_count + 1, sizeof *app->open);
        one = &app->open[app->open_count++];
        *one = (struct opened){.model = mem_text(model), .path = path_of(app, model)};
        opened_list(app, one);
    }
    replace_text(&one->data, data);
    return one;
}

struct opened *opened_keep(struct app *app)
{
    return app->model ? keep(app, app->model, app->data) : NULL;
}

void opened_turn(struct app *app, int step)
{
    struct opened *now = opened_keep(app);
    size_t count = app->open_count;
    if (count < 2) app_say(app, count ? "one model is open: o opens another beside it" : "no model is open");
    else if (now) app_look_at(app, app->open[((size_t)(now - app->open) + (step > 0 ? 1 : count - 1)) % count].model);
    else app_look_at(app, app->open[0].model);
}

static void drop(struct app *app, struct opened *one)
{
    if (app->crew) crew_forget(app->crew, one->model);
    else session_forget(app->session, one->model);
    mem_free(one->model), mem_free(one->path), mem_free(one->data);
    memmove(one, one + 1, (size_t)(app->open + app->open_count - one - 1) * sizeof *one);
    app->open_count--;
}

void opened_close(struct app *app, const char *model)
{
    struct opened *one = opened_find(app, model);
    if (!one) return;
    if (app->model && !strcmp(app->model, one->model)) {
        if (app->open_count > 1) opened_turn(app, 1);
        else app_look_at(app, NULL);
    }
    drop(app, one);
}

void opened_clear(struct app *app)
{
    while (app->open_count) drop(app, &app->open[app->open_count - 1]);
}

void opened_release(struct app *app)
{
    for (size_t i = 0; i < app->open_count; i++) mem_free(app->open[i].model), mem_free(app->open[i].path), mem_free(app->open[i].data);
    mem_free(app->open);
}

/* ---- as text */

void opened_add(struct app *app, struct text *out)
{
    opened_keep(app);
    for (size_t i = 0; i < app->open_count; i++) {
        text_add(out, i ? " " : "");
        text_add_quoted(out, app->open[i].model);
        if (app->open[i].data) text_add(out, " --data "), text_add_quoted(out, app->open[i].data);
    }
}

bool opened_read(struct app *app, const char *value)
{
    char **words;
    size_t count;
    struct err err = {0};
    if (!words_split(value, &words, &count, &err)) return false;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        bool option = i + 2 < count && !strcmp(words[i + 1], "--data");
        good = strcmp(words[i], "--data") != 0;
        char *model = opened_name(app, words[i]);
        if (good) keep(app, model, option ? words[i + 2] : NULL);
        mem_free(model);
        i += option ? 2 : 0;
    }
    words_free(words, count);
    return good;
}

/* ---- files that change */

static bool is_read(const char *name)
{
    static const char *const endings[] = {".safetensors", ".json", ".bin", ".pt", ".pth"};
    if (!strcmp(name, "state.safetensors")) return false; /* of a training: written more often, and for its own use */
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (text_ends(name, endings[i])) return true;
    return false;
}

static void add_number(unsigned long long *hash, unsigned long long number) { *hash = (*hash ^ number) * 1099511628211ULL; }

static void add_file(unsigned long long *hash, const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0) return;
    add_number(hash, (unsigned long long)is.st_ino);
    add_number(hash, (unsigned long long)is.st_size);
    add_number(hash, (unsigned long long)is.st_mtim.tv_sec);
    add_number(hash, (unsigned long long)is.st_mtim.tv_nsec);
}

static unsigned long long hash_files(const struct opened *one)
{
    unsigned long long hash = 14695981039346656037ULL;
    char **names;
    size_t count = 0;
    if (!folder_list(one->path, &names, &count, NULL)) {
        add_file(&hash, one->path);
        return hash;
    }
    for (size_t i = 0; i < count; i++) {
        char *file = path_join(one->path, names[i]);
        if (is_read(names[i])) add_file(&hash, file);
        mem_free(file), mem_free(names[i]);
    }
    mem_free(names);
    return hash;
}

void opened_seen(struct app *app)
{
    struct opened *one = opened_keep(app);
    app->changed = false;
    if (one) one->files = hash_files(one);
}

bool opened_look(struct app *app)
{
    struct opened *one = opened_keep(app);
    if (!one || !one->files) return false;
    bool was = app->changed;
    app->changed = hash_files(one) != one->files;
    if (!app->changed || !one->follow) return app->changed != was;
    app_reread(app);
    app_say(app, "%s was written again, and is read again", path_base(one->model));
    return true;
}
