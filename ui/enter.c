#include "enter.h"

#include "app.h"
#include "saved.h"
#include "tour.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "registry.h"

#include <string.h>

static bool enter_set(struct app *app, char *const *words, struct err *err)
{
    if (!prefs_known(words[0])) return settings_set(app, words[0], words[1], err);
    if (!prefs_set(&app->prefs, words[0], words[1], err)) return false;
    return !app->prefs_path || prefs_write(&app->prefs, app->prefs_path, err);
}

static bool enter_save(struct app *app, char *const *words, struct err *err)
{
    if (!saved_write(app, words[0], err)) return false;
    app_say(app, "wrote %s; loopscope session %s opens it again", words[0], words[0]);
    return true;
}

static bool enter_session(struct app *app, char *const *words, struct err *err) { return saved_read(app, words[0], err); }

static bool enter_log(struct app *app, char *const *words, struct err *err)
{
    if (!journal_save(&app->journal, words[0], err)) return false;
    app_say(app, "wrote %s; loopscope replay %s runs it again", words[0], words[0]);
    return true;
}

static bool enter_open(struct app *app, char *const *words, struct err *err)
{
    (void)err;
    app_open(app, words[0]);
    return true;
}

static bool enter_view(struct app *app, char *const *words, struct err *err) { return settings_set(app, "view", words[0], err); }

static bool enter_tour(struct app *app, char *const *words, struct err *err)
{
    (void)words, (void)err;
    tour_begin(app);
    return true;
}

static bool enter_quit(struct app *app, char *const *words, struct err *err)
{
    (void)words, (void)err;
    return app->quit = true;
}

static const struct verb {
    const char *name, *words;
    size_t count;          /* of words behind the name, exactly: with more or fewer it is a command, if there is one of that name */
    const char *help;
    bool (*act)(struct app *app, char *const *words, struct err *err);
} verbs[] = {
    {"set", "NAME VALUE", 2, "changes a setting of this session, or how the screen looks: theme, ascii, mouse, rows, cols", enter_set},
    {"view", "NAME", 1, "goes to a view", enter_view},
    {"open", "MODEL", 1, "opens another model", enter_open},
    {"save", "FILE", 1, "saves this session: what is open, looked at and set", enter_save},
    {"session", "FILE", 1, "opens a saved session", enter_session},
    {"save-log", "FILE", 1, "saves the log of this session, for loopscope replay", enter_log},
    {"tour", "", 0, "a tour of five minutes on the bundled models", enter_tour},
    {"q", "", 0, "ends", enter_quit},
    {"quit", "", 0, "ends", enter_quit},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

const char *screen_verb(size_t i) { return i < VERBS ? verbs[i].name : NULL; }

const char *screen_verb_help(size_t i, const char **words)
{
    *words = i < VERBS ? verbs[i].words : NULL;
    return i < VERBS ? verbs[i].help : NULL;
}

/* "set grid.metric=rank", as --set has it: the same with a blank. */
static bool enter_assignment(struct app *app, const char *line, char *const *words, size_t count)
{
    if (count != 2 || strcmp(words[0], "set") != 0 || !strchr(words[1], '=')) return false;
    char *copy = mem_text(line);
    *strchr(copy, '=') = ' ';
    app_enter(app, copy);
    mem_free(copy);
    return true;
}

void app_enter(struct app *app, const char *line)
{
    char **words;
    size_t count = 0;
    struct err err = {0};
    line += strspn(line, " ");
    if (words_split(line, &words, &count, &err)) {
        if (enter_assignment(app, line, words, count)) {
            words_free(words, count);
            return;
        }
        for (size_t i = 0; count && i < VERBS; i++) {
            if (strcmp(verbs[i].name, words[0]) != 0 || count - 1 != verbs[i].count) continue;
            if (!verbs[i].act(app, words + 1, &err)) app_say(app, "%s", err.text);
            words_free(words, count);
            return;
        }
        for (size_t v = 0; count && views[v]; v++) {
            if (!views[v]->enter || !views[v]->enter(app, line, words, count)) continue;
            words_free(words, count);
            return;
        }
        words_free(words, count);
    }
    app_type(app, text_starts(line, "loopscope ") ? line + strlen("loopscope ") : line);
}

void app_rerun(struct app *app, const char *line, const char *scene)
{
    struct result *old = app_find(app, line);
    if (old && result_ended(old)) app_let_go(app, old);
    if (scene) settings_restore(app, scene);
    if (!scene || app->view->hidden || !strcmp(app->view->name, "log")) app_type(app, line);
}
