#include "app.h"
#include "search.h"

#include "ground/mem.h"

#include <string.h>

struct state { int first; }; /* the line at the top */

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static void lines(struct app *app)
{
    if (app->typed) app_want(app, "%s", app->typed);
}

static void press_scroll(struct app *app, int key)
{
    struct state *s = state_of(app);
    s->first += key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : key == PRESS_PAGE_UP ? -15 : key == PRESS_HOME ? -s->first : 15;
    if (s->first < 0) s->first = 0;
}

static void press_stop(struct app *app, int key)
{
    (void)key;
    app_say(app, app_stop(app, 0) || app_stop_behind(app) ? "stopped; : and the up arrow bring the line back" : "nothing runs");
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN, PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME}, "scroll", "moves through the text", press_scroll},
    {{'x'}, "stop", "stops the command, or what runs behind this view", press_stop},
    {{0}},
};

/* What the command line prints in a shell, in the same order. */
static void add_output(const struct result *result, struct text *out)
{
    text_add(out, "%s", "");
    for (size_t i = 0; i < result->table_count; i++) {
        table_print(result->tables[i], out);
        text_add(out, "\n");
    }
    if (result->said.size) text_add(out, "%s", result->said.data);
    if (result->notes.size) text_add(out, "\n%s", result->notes.data);
    if (result->wrong) text_add(out, "%s\n", result->wrong);
    if (!result_ended(result)) text_add(out, "...\n");
    else if (!out->size) text_add(out, "(done, without a word)\n");
}

static bool search(struct app *app, const char *text, int step)
{
    const struct result *result = app_result(app, 0);
    struct text out = {0};
    if (!result) return false;
    add_output(result, &out);
    int at = search_lines(out.data, text, state_of(app)->first, step);
    text_clear(&out);
    if (at >= 0) state_of(app)->first = at;
    return at >= 0;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    const struct result *result = app_result(app, 0);
    struct state *s = state_of(app);
    struct text out = {0};
    if (result) add_output(result, &out);
    else text_add(&out, ": asks for a command line and shows here what it gives.\n");
    enum tint tint = result && result->wrong ? TINT_WARN : TINT_PLAIN;
    int count = 0, row = 0;
    for (const char *c = out.data; *c; c++) count += *c == '\n';
    if (s->first > count - area.rows) s->first = count > area.rows ? count - area.rows : 0;
    for (char *line = out.data, *end; *line && row < s->first + area.rows; line = end + 1, row++) {
        end = line + strcspn(line, "\n");
        bool more = *end;
        *end = '\0';
        if (row >= s->first) cells_put(cells, area.row + row - s->first, area.col + 1, tint, line, area.cols - 3);
        if (!more) break;
    }
    draw_scroll(cells, area, s->first, count);
    text_clear(&out);
}

const struct view view_output = {
    .name = "output", .title = "what a command line gave", .help = "the text of any command, as a shell would show it",
    .keys = keys, .lines = lines, .draw = draw, .hidden = true, .search = search,
};
