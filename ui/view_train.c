#include "app.h"
#include "opened.h"
#include "search.h"
#include "timeline_panel.h"

#include "doing/probe.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS, LOG, PROBE, SEEDS = PROBE }; /* one or the other */

struct state {
    char run[512];   /* the marked one */
    char line[1024]; /* what was asked to be done: pause, resume; "": nothing */
    char probe[512]; /* what is measured at the checkpoints that stayed; "": nothing, the log is shown */
    char column[64]; /* the number that is drawn; "": the usual ones */
    char seeds[128]; /* options of `seeds`, whose table is shown then; "": the curves are */
    bool begun;      /* the marked one was begun here and has no log yet */
};

extern const struct view view_train;

static const char usual_seeds[] = "--split test_id --level 0.99";

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static long row_of(const struct table *runs, const char *run)
{
    for (size_t r = 0; runs && r < runs->row_count; r++)
        if (table_text(runs, r, "run") && !strcmp(table_text(runs, r, "run"), run)) return (long)r;
    return -1;
}

static const char *standing_of(const struct table *runs, const char *run)
{
    long r = row_of(runs, run);
    const char *state = r >= 0 ? table_text(runs, (size_t)r, "state") : NULL;
    return state ? state : "";
}

/* The first one to be looked at: one that trains now. */
static void choose(struct state *s, const struct table *runs)
{
    if (row_of(runs, s->run) >= 0) s->begun = false;
    if (s->begun || !runs || !runs->row_count || row_of(runs, s->run) >= 0) return;
    size_t first = 0;
    for (size_t r = runs->row_count; r-- > 0;)
        if (table_text(runs, r, "state") && !strcmp(table_text(runs, r, "state"), "training")) first = r;
    snprintf(s->run, sizeof s->run, "%s", table_text(runs, first, "run") ? table_text(runs, first, "run") : "");
}

static const char *quoted(const char *word)
{
    static _Thread_local char out[1100];
    struct text text = {0};
    text_add_quoted(&text, word);
    snprintf(out, sizeof out, "%s", text.data);
    text_clear(&text);
    return out;
}

/* The answer of what was asked, once: then the list is read anew. */
static void finish(struct app *app, struct state *s)
{
    const struct result *done = app_find(app, s->line);
    if (!*s->line || !done || !result_ended(done)) return;
    const char *text = done->state == RESULT_DONE ? done->said.data : done->wrong;
    if (text) app_say(app, "%.*s", (int)strcspn(text, "\n"), text);
    if (s->begun && done->state != RESULT_DONE) s->begun = false, *s->run = 0;
    *s->line = 0;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    bool asked = *s->line;
    finish(app, s);
    int runs = app_want(app, "runs");
    if (asked && !*s->line) app_refresh(app, runs);
    choose(s, app_kept(app, "runs"));
    if (s->begun && *s->line) app_show(app, app_want(app, "%s", s->line));
    if (s->begun || !*s->run) return;
    int log = app_want(app, "timeline %s", quoted(s->run));
    if (*s->seeds) app_show(app, app_want(app, "seeds %s", s->seeds));
    else if (*s->probe) {
        struct text line = {0};
        text_add(&line, "timeline %s --probe ", quoted(s->run));
        text_add_quoted(&line, s->probe);
        app_show(app, app_want(app, "%s", line.data));
        text_clear(&line);
    } else app_show(app, log);
    if (*s->line) app_want(app, "%s", s->line);
}

static void tick(struct app *app)
{
    struct state *s = state_of(app);
    bool training = !strcmp(standing_of(app_table(app, RUNS, 0), s->run), "training");
    app_refresh(app, RUNS);
    if (training) app_refresh(app, LOG);
    if (*s->seeds) app_refresh(app, SEEDS);
}

/* ---- keys */

static void press_run(struct app *app, int key)
{
    struct state *s = state_of(app);
    const struct table *runs = app_table(app, RUNS, 0);
    long r = row_of(runs, s->run) + (key == PRESS_UP ? -1 : 1);
    if (!runs || r < 0 || r >= (long)runs->row_count) return;
    snprintf(s->run, sizeof s->run, "%s", table_text(runs, (size_t)r, "run"));
}

static void ask_for(struct app *app, const char *line)
{
    struct state *s = state_of(app);
    struct result *old = app_find(app, line);
    if (old) app_let_go(app, old); /* asked again means: done again */
    snprintf(s->line, sizeof s->line, "%s", line);
}

static bool trains_here(const struct app *app, const char *run)
{
    const struct table *runs = app_table(app, RUNS, 0);
    long r = row_of(runs, run);
    return r >= 0 && table_number(runs, (size_t)r, "pid") == (double)getpid();
}

/* What trains or measures within this program. */
static void press_stop(struct app *app, int key)
{
    (void)key;
    bool stopped = ((*state_of(app)->probe || *state_of(app)->seeds) && app_stop(app, PROBE)) || app_stop_behind(app);
    app_say(app, stopped ? "stopped; a training saves first, and can go on" : "nothing runs in this program; p pauses a training elsewhere");
}

static void press_pause(struct app *app, int key)
{
    struct state *s = state_of(app);
    const char *standing = standing_of(app_table(app, RUNS, 0), s->run);
    struct text line = {0};
    if (trains_here(app, s->run)) press_stop(app, key);
    else if (!strcmp(standing, "training")) text_add(&line, "pause %s", quoted(s->run));
    else if (!strcmp(standing, "paused")) {
        text_add(&line, "train %s/recipe", quoted(s->run));
        text_add(&line, " --out %s --resume --background", quoted(s->run));
    } else app_say(app, !strcmp(standing, "done") ? "it has come to its end: a begins another one" : "there is no run: a begins one");
    if (line.size) ask_for(app, line.data);
    text_clear(&line);
}

/* A training in the background is looked at here, from its first line on. */
static bool enter(struct app *app, const char *line, char *const *words, size_t count)
{
    const char *out = NULL;
    bool background = false;
    for (size_t i = 1; i < count; i++) {
        background = background || !strcmp(words[i], "--background");
        if (text_starts(words[i], "--out=")) out = words[i] + strlen("--out=");
        else if (!strcmp(words[i], "--out") && i + 1 < count) out = words[++i];
    }
    size_t length = out ? strlen(out) : 0;
    while (length && out[length - 1] == '/') length--;
    if (strcmp(words[0], "train") != 0 || !background || length < 6 || !text_starts(out, "runs/")) return false; /* others are not in the list */
    app_go(app, &view_train);
    struct state *s = state_of(app);
    if (length >= sizeof s->run || strlen(line) >= sizeof s->line) return false;
    snprintf(s->run, sizeof s->run, "%.*s", (int)length, out);
    s->begun = true;
    ask_for(app, line);
    return true;
}

/* A line to be changed and entered: a name for the run, other settings. */
static void press_new(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_COMMAND, "train models/recipes/small/vanilla --out runs/NAME --set seed=0 --set keep_every=20 --background");
}

/* The i-th measurement, as a line without its model; false: there are no more. The two that are asked for most come first; orbit is no probe by its
 * row, but measures as they do. Edits have no place in a timeline. */
static bool probe_line(int i, struct text *out)
{
    static const char *const first[] = {"bridge", "eval", "orbit"};
    enum { FIRST = sizeof first / sizeof *first };
    const char *name = i < FIRST ? first[i] : NULL;
    int n = FIRST;
    for (size_t p = 0; probes[p] && !name; p++) {
        bool again = strstr(probes[p]->command.example, "--do");
        for (int f = 0; f < FIRST; f++) again = again || !strcmp(first[f], probes[p]->command.name);
        if (!again && n++ == i) name = probes[p]->command.name;
    }
    out->size = 0;
    if (name) text_add(out, "%s --split test_id,test_ood", name);
    return name;
}

static void press_probe(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct text line = {0};
    int at = -1, count = 0;
    for (; probe_line(count, &line); count++)
        if (!strcmp(line.data, s->probe)) at = count;
    at += key == 't' ? 1 : -1;
    if (at == -2) at = count - 1;
    *s->probe = *s->column = *s->seeds = 0;
    if (at >= 0 && probe_line(at, &line)) {
        snprintf(s->probe, sizeof s->probe, "%s", line.data);
        app_say(app, "%s, at every checkpoint; c: another of its numbers, l: any measurement", s->probe);
    }
    text_clear(&line);
}

static void press_column(struct app *app, int key)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, *s->probe ? PROBE : LOG, 0);
    char column[64];
    snprintf(column, sizeof column, "%s", timeline_panel_next(table, s->column, key == 'c' ? 1 : -1));
    memcpy(s->column, column, sizeof column);
    *s->seeds = 0;
    app_say(app, "%s", *column ? column : "the usual numbers");
}

/* A line to be changed: any measurement, with any options. */
static void press_measure(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct text line = {0};
    (void)key;
    text_add(&line, "set train.curves ");
    text_add_quoted(&line, *s->probe ? s->probe : "lens --row test_ood:0 --position 1");
    app_ask(app, ASK_COMMAND, line.data);
    text_clear(&line);
}

static void press_open(struct app *app, int key)
{
    struct state *s = state_of(app);
    bool training = !strcmp(standing_of(app_table(app, RUNS, 0), s->run), "training");
    (void)key;
    if (!*s->run) return;
    app_open(app, s->run);
    if (training) opened_keep(app)->follow = true;
    if (training) app_say(app, "it is read again whenever the training writes it; F: it is not");
}

static void click(struct app *app, int code)
{
    const struct table *runs = app_table(app, RUNS, 0);
    if (runs && code < (int)runs->row_count) snprintf(state_of(app)->run, sizeof state_of(app)->run, "%s", table_text(runs, (size_t)code, "run"));
}

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    const struct table *runs = app_table(app, RUNS, 0);
    int at = search_table(runs, text, (int)row_of(runs, s->run), step);
    if (at >= 0) snprintf(s->run, sizeof s->run, "%s", table_text(runs, (size_t)at, "run"));
    return at >= 0;
}

static void press_seeds(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    snprintf(s->seeds, sizeof s->seeds, "%s", *s->seeds ? "" : usual_seeds);
}

static void get_run(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->run); }

static bool set_run(struct app *app, const char *value)
{
    snprintf(state_of(app)->run, sizeof state_of(app)->run, "%s", value);
    return strlen(value) < sizeof state_of(app)->run;
}

static void get_probe(struct app *app, struct text *out) { text_add(out, "%s", *state_of(app)->probe ? state_of(app)->probe : "log"); }

/* A line, or the name of a measurement alone. */
static bool set_probe(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    struct text line = {0}, name = {0};
    bool log = !strcmp(value, "log");
    text_add_bytes(&name, value, strcspn(value, " "));
    text_add(&name, "%s", "");
    bool good = log || (strlen(value) < sizeof s->probe && command_find(name.data));
    text_add(&line, "%s", log ? "" : value);
    for (int i = 0; good && !log && !strchr(value, ' ') && probe_line(i, &line); i++)
        if (text_starts(line.data, value) && line.data[strlen(value)] == ' ') break;
    if (good && !line.size) text_add(&line, "%s", log ? "" : value);
    if (good && strcmp(s->probe, line.data) != 0) *s->column = 0;
    if (good) snprintf(s->probe, sizeof s->probe, "%s", line.data);
    text_clear(&line), text_clear(&name);
    return good;
}

static void get_column(struct app *app, struct text *out) { text_add(out, "%s", *state_of(app)->column ? state_of(app)->column : "usual"); }

static bool set_column(struct app *app, const char *value)
{
    snprintf(state_of(app)->column, sizeof state_of(app)->column, "%s", strcmp(value, "usual") ? value : "");
    return strlen(value) < sizeof state_of(app)->column;
}

static void get_seeds(struct app *app, struct text *out) { text_add(out, "%s", *state_of(app)->seeds ? state_of(app)->seeds : "off"); }

static bool set_seeds(struct app *app, const char *value)
{
    bool off = !strcmp(value, "off");
    snprintf(state_of(app)->seeds, sizeof state_of(app)->seeds, "%s", off ? "" : value);
    return (off || text_starts(value, "--")) && strlen(value) < sizeof state_of(app)->seeds;
}

static const struct setting settings[] = {
    {"run", "the run that is looked at", get_run, set_run, .kind = SETTING_PLACE},
    {"curves", "log, or a measurement at its checkpoints: 'bridge --split test_ood'", get_probe, set_probe},
    {"column", "the number that is drawn; usual: what is drawn at first", get_column, set_column},
    {"seeds", "off, or from when on a training counts as done, for its seeds: '--split test_ood --level 0.9'", get_seeds, set_seeds},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "run", "another training run", press_run},
    {{'p'}, "pause", "saves and stops the training of this run; goes on with it", press_pause},
    {{'x'}, NULL, "stops what trains or measures within this program", press_stop},
    {{'a'}, "new", "begins a training: a line with a recipe, to be changed and entered", press_new},
    {{'t', 'T'}, "timeline", "a measurement at every checkpoint that stayed, instead of the log; another one", press_probe},
    {{'s'}, "seeds", "when the seeds of each recipe had learned: median and range; the curves again", press_seeds},
    {{'c', 'C'}, NULL, "another column of the measurement, or of the log", press_column},
    {{'l'}, NULL, "any measurement at every checkpoint: a line to be changed and entered", press_measure},
    {{PRESS_ENTER}, "open", "opens the run as a model", press_open},
    {{0}},
};

/* ---- the list */

/* Where the columns of the list end; on narrow screens the name needs the room of the words. */
struct lanes { int name, epoch, bar, loss, id, ood, left; bool words; };

static struct lanes lanes_of(struct area area)
{
    int end = area.col + area.cols - 2;
    bool wide = area.cols >= 76;
    struct lanes l = {.left = end, .ood = end - 8, .id = end - 14, .loss = end - 20, .words = wide};
    l.bar = wide ? l.loss - 16 : 0;
    l.epoch = wide ? l.bar - 1 : l.loss - 9;
    l.name = l.epoch - (wide ? 19 : 8);
    return l;
}

static const char *time_show(double seconds)
{
    static _Thread_local char out[2][16];
    static _Thread_local int next;
    char *to = out[next++ % 2];
    if (seconds < 100) snprintf(to, sizeof *out, "%.0f s", seconds);
    else if (seconds < 6000) snprintf(to, sizeof *out, "%.0f min", seconds / 60);
    else snprintf(to, sizeof *out, "%.1f h", seconds / 3600);
    return to;
}

static void draw_run(struct cells *cells, struct area area, const struct lanes *l, const struct table *runs, size_t r, bool marked)
{
    const char *name = table_text(runs, r, "run"), *standing = table_text(runs, r, "state");
    bool training = standing && !strcmp(standing, "training"), done = standing && !strcmp(standing, "done");
    double epoch = table_number(runs, r, "epoch"), epochs = table_number(runs, r, "epochs"), left = table_number(runs, r, "left");
    enum tint tint = training ? TINT_GOOD : done ? TINT_PLAIN : TINT_WARN;
    const char *mark = cells->ascii ? (training ? ">" : done ? "." : "=") : training ? "▶" : done ? "■" : "‖";
    cells_text(cells, area.row, area.col + 1, tint, "%s", mark);
    cells_put(cells, area.row, area.col + 3, marked ? TINT_TITLE : TINT_PLAIN, name ? name : "", l->name - area.col - 4);
    if (l->words) cells_put(cells, area.row, l->name, tint, standing ? standing : "", 9);
    draw_right(cells, area.row, l->epoch, TINT_PLAIN, "%.0f/%.0f", epoch, epochs);
    if (l->bar) draw_bar(cells, area.row, l->bar, 8, epochs > 0 ? epoch / epochs : NAN, tint);
    draw_right(cells, area.row, l->loss, TINT_PLAIN, "%s", number_show(table_number(runs, r, "loss")));
    draw_right(cells, area.row, l->id, TINT_SERIES_1, "%s", unit_show(table_number(runs, r, "id")));
    draw_right(cells, area.row, l->ood, TINT_SERIES_2, "%s", unit_show(table_number(runs, r, "ood")));
    if (training && !isnan(left)) draw_right(cells, area.row, l->left, TINT_PLAIN, "%s", time_show(left));
    if (marked) draw_mark(cells, area.row, area.col, area.cols - 1);
}

static int draw_runs(struct app *app, struct cells *cells, struct area area, const struct table *runs)
{
    struct state *s = state_of(app);
    struct lanes l = lanes_of(area);
    long at = s->begun ? -1 : row_of(runs, s->run);
    int rows = (int)runs->row_count < area.rows - 1 ? (int)runs->row_count : area.rows - 1;
    int first = scroll_first((int)at, (int)runs->row_count, rows);
    cells_text(cells, area.row, area.col + 3, TINT_DIM, "run");
    draw_right(cells, area.row, l.epoch, TINT_DIM, "epoch");
    draw_right(cells, area.row, l.loss, TINT_DIM, "loss");
    draw_right(cells, area.row, l.id, TINT_DIM, "ID");
    draw_right(cells, area.row, l.ood, TINT_DIM, "OOD");
    draw_right(cells, area.row, l.left, TINT_DIM, "left");
    for (int i = 0; i < rows; i++) {
        struct area line = {area.row + 1 + i, area.col, 1, area.cols};
        draw_run(cells, line, &l, runs, (size_t)(first + i), first + i == at);
        app_spot(app, line, first + i);
    }
    draw_scroll(cells, (struct area){area.row + 1, area.col, rows, area.cols}, first, (int)runs->row_count);
    return rows + 1;
}

/* ---- what is below it */

/* "  12.3 steps/s, 4 min left, log 5 s old", of a training. */
static void add_standing(const struct table *runs, const char *run, struct text *out)
{
    long r = row_of(runs, run);
    if (strcmp(standing_of(runs, run), "training")) return;
    double rate = table_number(runs, (size_t)r, "rate"), left = table_number(runs, (size_t)r, "left"), age = table_number(runs, (size_t)r, "age");
    text_add(out, "  ");
    if (!isnan(rate)) text_add(out, "%.1f steps/s, %s left, ", rate, time_show(left));
    text_add(out, "log %s old", time_show(age));
}

static void draw_lower(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct text title = {0};
    const struct table *log = app_table(app, LOG, 0);
    text_add(&title, "%s", *s->seeds && !s->begun ? "epoch at which each seed had learned: " : s->run);
    if (*s->seeds && !s->begun) text_add(&title, "%s", s->seeds);
    else if (s->begun) text_add(&title, " begins");
    else if (*s->probe) text_add(&title, ": %s", s->probe);
    if (!s->begun && !*s->seeds) add_standing(app_table(app, RUNS, 0), s->run, &title);
    draw_heading(cells, area.row, area.col, area.cols - 1, title.data);
    text_clear(&title);
    area.row++, area.rows--, area.col++, area.cols -= 3;
    if (s->begun) cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "no line of its log is there yet");
    else if (*s->seeds) {
        if (!app_draw_waiting(app, cells, area, SEEDS) && app_table(app, SEEDS, 0))
            draw_table(cells, area, app_table(app, SEEDS, 0), NULL, -1);
    } else if (*s->probe) {
        if (!app_draw_waiting(app, cells, area, PROBE) && app_table(app, PROBE, 0))
            timeline_panel_draw(cells, area, app_table(app, PROBE, 0), s->column);
    } else if (!app_draw_waiting(app, cells, area, LOG) && log) {
        if (log->row_count && *s->column) timeline_panel_draw(cells, area, log, s->column);
        else if (log->row_count) timeline_panel_log(cells, area, log);
        else cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "no line of its log is there yet");
    }
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    const struct table *runs = app_table(app, RUNS, 0);
    if (app_draw_waiting(app, cells, area, RUNS)) return;
    area.row += area.rows >= 20, area.rows -= area.rows >= 20;
    if ((!runs || !runs->row_count) && !state_of(app)->begun) {
        draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - 1, area.cols - 4}, TINT_PLAIN,
                     "No training run is here (in runs/). a begins one: it shows the line, which can be changed and entered.");
        return;
    }
    int taken = !runs ? 0 : draw_runs(app, cells, (struct area){area.row, area.col, area.rows / 3 + 1, area.cols}, runs);
    taken += area.rows >= 20;
    draw_lower(app, cells, (struct area){area.row + taken, area.col, area.rows - taken, area.cols});
}

const struct view view_train = {
    .name = "train", .title = "training runs, as they go",
    .help = "runs that train here or elsewhere: loss and accuracies as they grow; pause, resume, begin another",
    .keys = keys, .lines = lines, .draw = draw, .tick = tick, .settings = settings, .search = search, .click = click, .enter = enter,
    .example = ":train models/recipes/small/discoloop --out runs/discoloop-tiny --set data=two-hop-tiny --set model.hidden_size=64 "
               "--set model.intermediate_size=256 --set model.num_attention_heads=1 --set model.num_key_value_heads=1 --set batch=64 --set warmup=20 "
               "--set epochs=240 --set keep_every=40 --set embedding_sd=1<Enter>:view train<Enter>R<Down>",
};
