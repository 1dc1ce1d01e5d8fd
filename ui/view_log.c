#include "app.h"

#include "ground/mem.h"

#include <string.h>

struct state { long at; bool moved; }; /* moved: the newest is not followed any more */

static struct state *state_of(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    long last = (long)app->journal.count - 1;
    if (!s->moved || s->at > last) s->at = last;
    if (s->at < 0) s->at = 0;
    return s;
}

static const struct entry *picked(struct app *app)
{
    struct state *s = state_of(app);
    return s->at < (long)app->journal.count ? &app->journal.entries[s->at] : NULL;
}

static void go_to(struct app *app, long at)
{
    struct state *s = state_of(app);
    long last = (long)app->journal.count - 1;
    s->at = at > last ? last : at < 0 ? 0 : at;
    s->moved = s->at < last;
}

/* ---- keys */

static void press_move(struct app *app, int key)
{
    static const long far = 1L << 40;
    long page = key == PRESS_PAGE_UP ? -10 : key == PRESS_PAGE_DOWN ? 10 : key == PRESS_HOME ? -far : far;
    go_to(app, state_of(app)->at + (key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : page));
}

static void press_rerun(struct app *app, int key)
{
    const struct entry *entry = picked(app);
    (void)key;
    if (!entry) return;
    char *line = mem_text(entry->line), *scene = mem_text(entry->scene); /* running adds to the log */
    app_rerun(app, line, scene);
    mem_free(line), mem_free(scene);
}

static void press_output(struct app *app, int key)
{
    const struct entry *entry = picked(app);
    (void)key;
    char *line = entry ? mem_text(entry->line) : NULL;
    if (line) app_type(app, line);
    mem_free(line);
}

static void press_copy(struct app *app, int key)
{
    const struct entry *entry = picked(app);
    (void)key;
    if (entry && app->copy && app->copy(entry->line)) app_say(app, "copied: %s", entry->line);
    else if (entry) app_say(app, "%s", entry->line);
}

static void press_edit(struct app *app, int key)
{
    const struct entry *entry = picked(app);
    (void)key;
    if (entry) app_ask(app, ASK_COMMAND, entry->line);
}

static void press_write(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_LOG, "loopscope.log");
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "line", "picks a line", press_move},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END}, NULL, "ten lines back, ten on, the first, the newest", press_move},
    {{PRESS_ENTER}, "rerun", "runs it again and goes where it was asked for", press_rerun},
    {{'t'}, "text", "runs it again and shows its output as text", press_output},
    {{'e'}, "edit", "brings it to the prompt", press_edit},
    {{'y'}, "copy", "copies the line, where the terminal allows it; shows it whole otherwise", press_copy},
    {{'w'}, "write", "saves the log: loopscope replay FILE runs all of it again", press_write},
    {{0}},
};

static bool search(struct app *app, const char *text, int step)
{
    long count = (long)app->journal.count, at = state_of(app)->at;
    for (long i = 1; i <= count; i++) {
        long r = ((at + step * i) % count + count) % count;
        if (!strstr(app->journal.entries[r].line, text)) continue;
        go_to(app, r);
        return true;
    }
    return false;
}

static void click(struct app *app, int code) { go_to(app, code); }

/* ---- the list */

static void draw_entry(struct cells *cells, struct area line, const struct entry *entry)
{
    char when[16];
    entry_time(entry, when);
    int end = line.col + line.cols - 2;
    bool good = entry->state == RESULT_DONE;
    cells_text(cells, line.row, line.col + 1, TINT_DIM, "%s", when);
    if (good) draw_right(cells, line.row, end - 9, TINT_PLAIN, "%ld", entry->rows);
    else draw_right(cells, line.row, end - 9, TINT_BAD, "%s", entry->state == RESULT_FAILED ? "failed" : "stopped");
    draw_right(cells, line.row, end, TINT_PLAIN, "%.2f", entry->seconds);
    cells_put(cells, line.row, line.col + 11, good ? TINT_PLAIN : TINT_DIM, entry->line, line.cols - 31);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    int count = (int)app->journal.count, at = (int)state_of(app)->at, end = area.col + area.cols - 2;
    cells_text(cells, area.row, area.col + 1, TINT_DIM, "when      command");
    draw_right(cells, area.row, end - 9, TINT_DIM, "rows");
    draw_right(cells, area.row, end, TINT_DIM, "seconds");
    struct area body = {area.row + 1, area.col, area.rows - 2, area.cols};
    int first = scroll_first(at, count, body.rows);
    for (int i = 0; i < body.rows && first + i < count; i++) {
        struct area line = {body.row + i, body.col, 1, body.cols};
        draw_entry(cells, line, &app->journal.entries[first + i]);
        if (first + i == at) draw_mark(cells, line.row, line.col, line.cols - 1);
        app_spot(app, line, first + i);
    }
    draw_scroll(cells, body, first, count);
    if (!count) cells_text(cells, body.row, body.col + 1, TINT_DIM, "nothing has been run yet");
    const char *path = app->journal.path, *wrong = app->journal.wrong;
    struct text line = {0};
    if (wrong) text_add(&line, "in no file (w writes one): %s", wrong);
    else if (path) text_add(&line, "%s", path);
    if (line.size) cells_put(cells, area.row + area.rows - 1, area.col + 1, wrong ? TINT_WARN : TINT_DIM, line.data, area.cols - 2);
    text_clear(&line);
}

const struct view view_log = {
    .name = "log", .title = "every command so far", .help = "what this session has run: when, how many rows it gave, how long it took",
    .keys = keys, .draw = draw, .search = search, .click = click,
    .example = ":view splits<Enter>:view grid<Enter>n:view intervene<Enter>se:view attention<Enter>:view bridge<Enter>:view orbit<Enter>"
               ":view compare<Enter>:view log<Enter>",
};
