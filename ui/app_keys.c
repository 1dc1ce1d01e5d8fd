/* What the keys of every view do, and how a key finds its meaning: prompt first, then the view, then these. */
#include "app.h"

#include "doing/command.h"
#include "ground/mem.h"
#include "registry.h"

#include <string.h>

static const struct view *numbered(size_t n)
{
    for (size_t i = 0; views[i]; i++)
        if (!views[i]->hidden && !n--) return views[i];
    return NULL;
}

static void press_digit(struct app *app, int key)
{
    const struct view *view = numbered((size_t)(key - '1'));
    if (view) app_go(app, view);
}

static void press_tab(struct app *app, int key)
{
    size_t at = 0, count = 0;
    for (; numbered(count); count++)
        if (numbered(count) == (app->view->hidden ? app->back : app->view)) at = count;
    if (count) app_go(app, numbered((at + (key == PRESS_TAB ? 1 : count - 1)) % count));
}

static void ask(struct app *app, int what, const char *answer)
{
    app->asking = what;
    app->prompting = true;
    prompt_set(&app->prompt, answer);
}

static void press_model(struct app *app, int key)
{
    (void)key;
    ask(app, ASK_MODEL, app->model ? app->model : "");
}

static void press_data(struct app *app, int key)
{
    (void)key;
    ask(app, ASK_DATA, app->data ? app->data : "");
}

static void press_prompt(struct app *app, int key)
{
    (void)key;
    const struct result *shown = app_result(app, app->line_shown);
    if (shown) prompt_remember(&app->prompt, shown->line); /* one press of the arrow key, and it can be edited */
    ask(app, ASK_COMMAND, "");
}

static void press_help(struct app *app, int key)
{
    (void)key;
    app_go(app, !strcmp(app->view->name, "help") ? app->back : view_find("help"));
}

static void press_back(struct app *app, int key)
{
    (void)key;
    if (app->back) app_go(app, app->back);
}

static void press_reload(struct app *app, int key)
{
    (void)key;
    app_reload(app);
    app_say(app, "reading the files again");
}

static void press_quit(struct app *app, int key)
{
    (void)key;
    app->quit = true;
}

const struct binding app_keys[] = {
    {{'1', '2', '3', '4', '5', '6'}, NULL, "a view, by its number", press_digit},
    {{PRESS_TAB, PRESS_BACK_TAB}, NULL, "the next view, the one before", press_tab},
    {{':'}, "run", "a prompt for any command line; the up arrow brings the one of this screen", press_prompt},
    {{'?'}, "help", "keys and words; again: back", press_help},
    {{PRESS_ESCAPE}, NULL, "back", press_back},
    {{'o'}, NULL, "opens another model: the path of its folder, or its name", press_model},
    {{'d'}, NULL, "measures on another dataset: its folder or name; empty: the model's own", press_data},
    {{'R'}, NULL, "reads the model's files again and recomputes", press_reload},
    {{'q'}, "quit", "ends; so does Ctrl-C when nothing runs, and otherwise it stops what runs", press_quit},
    {{0}},
};

static void press_in_prompt(struct app *app, int key)
{
    enum prompt_answer answer = prompt_key(&app->prompt, key);
    if (answer == PROMPT_GOES_ON) return;
    app->prompting = false;
    char *line = mem_text(app->prompt.line.data);
    bool empty = !line[strspn(line, " ")];
    if (answer == PROMPT_DONE && app->asking == ASK_DATA) app_use_data(app, empty ? "" : line);
    else if (answer == PROMPT_DONE && !empty && app->asking == ASK_MODEL) app_open(app, line);
    else if (answer == PROMPT_DONE && !empty) {
        prompt_remember(&app->prompt, line);
        app_type(app, line);
    }
    mem_free(line);
}

void app_key(struct app *app, int key)
{
    app->message[0] = '\0';
    if (app->prompting) {
        press_in_prompt(app, key);
    } else {
        const struct binding *binding = binding_find(app->view->keys, key);
        if (!binding) binding = binding_find(app_keys, key);
        if (binding) binding->act(app, key);
    }
    app_update(app);
}

void app_interrupt(struct app *app)
{
    bool stopped = false;
    if (app->prompting) {
        app->prompting = false;
        return;
    }
    for (int i = 0; i < WANTS; i++) stopped |= app_stop(app, i);
    if (stopped) app_say(app, "stopped; R computes it again, Ctrl-C once more ends the program");
    else app->quit = true;
}
