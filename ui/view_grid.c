#include "app.h"
#include "lens.h"
#include "question.h"
#include "top_panel.h"

#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

enum metric { TOKEN, PROBABILITY, RANK, COSINE, NORM, ENTROPY, DISTANCE, METRICS };
enum watch { BRIDGE, ANSWER, DECODED, CHOSEN, WATCHES };

static const char *const metric_names[METRICS] = {"token, P, cosine", "P", "rank", "cosine", "norm", "entropy", "distance"};
static const char *const metric_help[METRICS] = {
    "the decoded token, its probability, cosine with its embedding", "probability of the watched token", "rank of the watched token, 1 is best",
    "cosine with the watched token's embedding", "length of the state", "entropy of the decoded probabilities, in nats",
    "distance from the boundary before",
};
static const char *const watch_names[WATCHES] = {"bridge", "answer", "decoded token", "chosen token"};

struct state {
    enum metric metric;
    enum watch watch;
    char chosen[64];       /* the token that the user typed; "": none yet */
    int top;               /* the want of the most probable tokens; -1: there is no room for them */
    int watching;          /* the want of its lens; -1: none */
    int own[DECODED];      /* where tokens were typed: wants of the bridge and the answer that the question's own have; -1: none */
};

enum { LENS };

static bool is_watching(const struct state *s) { return s->watch == CHOSEN && *s->chosen; }

/* What was typed is mostly in no dataset: then the tokens of the question that it was typed over stay watched. */
static void want_own(struct app *app, struct state *s)
{
    struct lens own = lens_of(question_untouched(app)), typed = lens_of(app_kept(app, "lens %s %s", app_subject(app), question_option(app)));
    for (int w = BRIDGE; w <= ANSWER; w++) {
        const char *token = lens_fact(&own, watch_names[w]);
        s->own[w] = -1;
        if (!typed.table || lens_knows(&typed, "answer") || !lens_knows(&own, watch_names[w])) continue;
        struct text quoted = {0};
        text_add_quoted(&quoted, token);
        s->own[w] = app_want(app, "lens %s %s --watch %s", app_subject(app), question_option(app), quoted.data);
        text_clear(&quoted);
    }
}

static void lines(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    question_want(app);
    s->watching = s->top = -1;
    if (!app->model) return;
    want_own(app, s);
    if (top_panel_fits(app)) s->top = app_want(app, "lens %s %s --top %d", app_subject(app), question_option(app), TOP_TOKENS);
    if (!is_watching(s)) return;
    struct text token = {0};
    text_add_quoted(&token, s->chosen);
    s->watching = app_want(app, "lens %s %s --watch %s", app_subject(app), question_option(app), token.data);
    app_show(app, s->watching);
    text_clear(&token);
}

/* Where the cursor is. By token a position has one state: one number says both. */
struct cursor { int boundary, position; };

static struct cursor cursor_of(const struct app *app, const struct lens *lens)
{
    struct cursor at = {app->boundary < lens->boundaries ? app->boundary : lens->boundaries - 1, question_position(app, lens)};
    if (app_by_token(app)) at.boundary = at.position + 1;
    return at;
}

/* ---- keys */

static void press_boundary(struct app *app, int key)
{
    struct lens lens = lens_of(app_table(app, LENS, 0));
    int step = key == PRESS_LEFT ? -1 : 1;
    if (app_by_token(app)) {
        int to = question_position(app, &lens) + step;
        if (to >= 0 && to < lens.positions) app->position = to;
        app->boundary = question_position(app, &lens) + 1;
        return;
    }
    app->boundary += step;
    if (app->boundary >= lens.boundaries) app->boundary = lens.boundaries - 1;
    if (app->boundary < 0) app->boundary = 0;
}

static void press_position(struct app *app, int key)
{
    struct lens lens = lens_of(app_table(app, LENS, 0));
    int at = question_position(app, &lens) + (key == 'p' ? 1 : lens.positions - 1);
    if (lens.positions) app->position = at % lens.positions;
    if (app_by_token(app)) app->boundary = app->position + 1;
}

enum { SPOT_ROW = 1000 }; /* a cell's spot: its position times this, and its boundary */

static void click(struct app *app, int code)
{
    app->position = code / SPOT_ROW;
    app->boundary = code % SPOT_ROW;
}

static void press_metric(struct app *app, int key)
{
    struct state *s = app_state(app, sizeof *s);
    s->metric = (s->metric + (key == 'm' ? 1 : METRICS - 1)) % METRICS;
    app_say(app, "cells show %s: %s", metric_names[s->metric], metric_help[s->metric]);
}

static void show_watched(struct state *s)
{
    if (s->metric == TOKEN || s->metric >= NORM) s->metric = PROBABILITY; /* a watched token is seen in these */
}

static void press_watch(struct app *app, int key)
{
    (void)key;
    struct state *s = app_state(app, sizeof *s);
    struct lens lens = lens_of(app_table(app, LENS, 0));
    s->watch = (s->watch + 1) % (*s->chosen ? WATCHES : CHOSEN);
    if (s->watch == BRIDGE && s->own[BRIDGE] < 0 && !lens_knows(&lens, "bridge")) s->watch = ANSWER; /* there is none to watch */
    show_watched(s);
    if (is_watching(s)) app_say(app, "watching %s", s->chosen);
    else app_say(app, "watching the %s", watch_names[s->watch]);
}

static void press_choose(struct app *app, int key)
{
    (void)key;
    struct state *s = app_state(app, sizeof *s);
    app_ask(app, ASK_WATCH, s->chosen);
}

static void press_intervene(struct app *app, int key)
{
    (void)key;
    struct lens lens = lens_of(app_table(app, LENS, 0));
    app->edit_here = true;
    struct cursor at = cursor_of(app, &lens);
    app->position = at.position, app->boundary = at.boundary;
    app_go(app, view_find("intervene"));
}

/* ---- settings */

static const char *const metrics[] = {"token", "P", "rank", "cosine", "norm", "entropy", "distance", NULL};
static const char *const watches[] = {"bridge", "answer", "decoded", NULL};

static bool choose(const char *const *names, const char *value, int *at)
{
    for (*at = 0; names[*at]; ++*at)
        if (!strcmp(names[*at], value)) return true;
    return false;
}

static void get_metric(struct app *app, struct text *out)
{
    const struct state *s = app_state(app, sizeof *s);
    text_add(out, "%s", metrics[s->metric]);
}

static void get_watch(struct app *app, struct text *out)
{
    const struct state *s = app_state(app, sizeof *s);
    text_add(out, "%s", is_watching(s) ? s->chosen : watches[s->watch == CHOSEN ? BRIDGE : s->watch]);
}

static bool set_metric(struct app *app, const char *value)
{
    struct state *s = app_state(app, sizeof *s);
    int at;
    if (!choose(metrics, value, &at)) return false;
    s->metric = (enum metric)at;
    return true;
}

static bool set_watch(struct app *app, const char *value)
{
    struct state *s = app_state(app, sizeof *s);
    int at;
    if (choose(watches, value, &at)) s->watch = (enum watch)at;
    else if (!*value || strlen(value) >= sizeof s->chosen || strchr(value, ' ')) return false;
    else {
        snprintf(s->chosen, sizeof s->chosen, "%s", value);
        s->watch = CHOSEN;
        show_watched(s);
    }
    return true;
}

static const struct setting settings[] = {
    {"metric", "the number in the cells", get_metric, set_metric, metrics},
    {"watch", "the token that is watched: one of these, or any by its name", get_watch, set_watch, watches},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "question", "the question before, the next one", question_press_row},
    {{PRESS_LEFT, PRESS_RIGHT}, "loop", "moves the cursor one boundary", press_boundary},
    {{'p', 'P'}, NULL, "moves the cursor one position", press_position},
    {{'i', PRESS_ENTER}, "intervene", "edits the state under the cursor", press_intervene},
    {{'m', 'M'}, "metric", "shows another number in the cells", press_metric},
    {{'n', 'N'}, "wrong", "the next question that is answered wrong, the one before", question_press_wrong},
    {{'w'}, "watch", "watches another token: bridge, answer, the decoded one, the chosen one", press_watch},
    {{'W'}, "choose", "any token to watch, by its name; Tab completes", press_choose},
    {{'<', '>'}, "token", "another token under the cursor, its neighbour in the vocabulary: what changes is marked", question_press_token},
    {{'t'}, "type", "tokens in place of these; Tab completes their names, and none brings the question's own back", question_press_tokens},
    {{'[', ']'}, "split", "questions of the split before, of the next", question_press_split},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN}, NULL, "ten questions back, ten on", question_press_row},
    {{0}},
};

/* ---- cells of the grid */

struct grid {
    struct app *app;
    struct cells *cells;
    struct lens lens, before; /* before: of the question's own tokens, when others were typed */
    struct lens watched;   /* the same with the numbers of the chosen token; no table: none, or not there yet */
    struct lens own[DECODED]; /* and with those of the bridge and the answer that the question's own tokens have */
    bool by_token;
    struct state *state;
    int label, width;      /* columns of the left labels and of one boundary */
    int first, shown;      /* boundaries on the screen */
    int boundary, position; /* the cursor */
};

static int left_of(const struct grid *g, struct area area, int boundary) { return area.col + g->label + (boundary - g->first) * g->width; }

/* By token there is one state for a position. */
static bool is_there(const struct grid *g, int position, int boundary) { return !g->by_token || boundary == position + 1; }

/* Where the numbers of a watched token stand: p_bridge, rank_bridge, cosine_bridge of this lens; "": those of the decoded token. */
struct source { const struct lens *lens; const char *ending, *token; };

static struct source source_of(const struct grid *g, enum watch watch)
{
    if (watch == DECODED) return (struct source){&g->lens, "", ""};
    const char *chosen = lens_fact(&g->watched, "watch");
    if (watch == CHOSEN) return (struct source){&g->watched, "watch", *chosen ? chosen : g->state->chosen};
    if (g->own[watch].table) return (struct source){&g->own[watch], "watch", lens_fact(&g->own[watch], "watch")};
    return (struct source){&g->lens, watch_names[watch], lens_fact(&g->lens, watch_names[watch])};
}

/* What the cells are about: where the question has no bridge the answer, and where that is not known either the decoded token. */
static enum watch seen_watch(const struct grid *g)
{
    enum watch watch = g->state->watch == CHOSEN && !is_watching(g->state) ? BRIDGE : g->state->watch;
    if (watch == BRIDGE && !g->own[BRIDGE].table && !lens_knows(&g->lens, "bridge")) watch = ANSWER;
    if (watch == ANSWER && !g->own[ANSWER].table && !lens_knows(&g->lens, "answer")) watch = DECODED;
    return watch;
}

static double source_number(const struct source *source, int position, int boundary, const char *kind)
{
    char column[32];
    if (!*source->ending && !strcmp(kind, "rank")) return 1; /* what is decoded is the best */
    snprintf(column, sizeof column, "%s%s%s", kind, *source->ending ? "_" : "", source->ending);
    return lens_number(source->lens, position, boundary, column);
}

/* Does a place say something else than it did for the question's own tokens? */
static bool is_changed(const struct grid *g, int position, int boundary)
{
    if (!g->before.table || position >= g->before.positions) return false;
    double was = lens_number(&g->before, position, boundary, "p"), is = lens_number(&g->lens, position, boundary, "p");
    return strcmp(lens_text(&g->before, position, boundary, "token"), lens_text(&g->lens, position, boundary, "token")) != 0 ||
        fabs(was - is) >= 0.05;
}

static void draw_token(struct grid *g, int row, int col, int position, int boundary)
{
    const char *token = lens_text(&g->lens, position, boundary, "token");
    bool bridge = !strcmp(token, lens_fact(&g->lens, "bridge")), answer = !strcmp(token, lens_fact(&g->lens, "answer"));
    enum tint tint = answer ? TINT_GOOD : bridge ? TINT_CHANGED : TINT_PLAIN;
    int wide = g->width >= 24 ? 9 : 7;
    draw_name(g->cells, row, col, wide - 2, tint, token);
    if (answer || bridge) cells_text(g->cells, row, col + wide - 2, tint, answer ? "a" : "b");
    draw_right(g->cells, row, col + wide + 4, tint, "%s", unit_show(lens_number(&g->lens, position, boundary, "p")));
    if (g->width >= 22) cells_text(g->cells, row, col + wide + 5, TINT_DIM, "cos %s", unit_show(lens_number(&g->lens, position, boundary, "cosine")));
}

static enum tint watch_tint(enum watch watch) { return watch == ANSWER ? TINT_GOOD : watch == CHOSEN ? TINT_SERIES_3 : TINT_CHANGED; }

/* In five columns or less: the cursor stands before it. */
static const char *cell_show(enum metric metric, double value, char out[16])
{
    if (metric == PROBABILITY || metric == COSINE) return unit_show(value);
    snprintf(out, 16, "%s", number_show(value));
    if (metric == ENTROPY && !isnan(value)) snprintf(out, 16, value < 99.9995 ? "%.3f" : "%.1f", value);
    if (metric == ENTROPY && out[0] == '0') memmove(out, out + 1, strlen(out));
    if (strlen(out) > 5) snprintf(out, 16, "%.0e", value);
    return out;
}

static void draw_number(struct grid *g, int row, int col, int position, int boundary)
{
    enum metric metric = g->state->metric;
    enum watch watch = seen_watch(g);
    struct source source = source_of(g, watch);
    const char *kind = metric == PROBABILITY ? "p" : metric_names[metric];
    double value = metric < NORM ? source_number(&source, position, boundary, kind) : lens_number(&g->lens, position, boundary, kind);
    bool unit = metric == PROBABILITY || metric == COSINE;
    char text[16];
    draw_right(g->cells, row, col + 6, TINT_PLAIN, "%s", cell_show(metric, value, text));
    int bar = g->width - 9;
    if (unit && bar >= 3) draw_bar(g->cells, row, col + 7, bar < 20 ? bar : 20, value, watch_tint(watch));
}

static void draw_cell(struct grid *g, int row, int col, int position, int boundary)
{
    if (g->state->metric == TOKEN) draw_token(g, row, col, position, boundary);
    else draw_number(g, row, col, position, boundary);
    if (is_changed(g, position, boundary)) {
        cells_text(g->cells, row, col - 1, TINT_CHANGED, "*");
        cells_look(g->cells, row, col - 1, g->width - 1, LOOK_BOLD);
    }
    if (position == g->position && boundary == g->boundary) {
        cells_text(g->cells, row, col - 1, TINT_KEY, g->cells->ascii ? ">" : "▸");
        draw_mark(g->cells, row, col - 1, g->width - 1);
    }
}

/* Which number the cells show, and of which token. */
static void draw_corner(struct grid *g, struct area area)
{
    if (g->state->metric == TOKEN) return;
    enum watch watch = seen_watch(g);
    struct source source = source_of(g, watch);
    cells_put(g->cells, area.row, area.col + 1, TINT_KEY, metric_names[g->state->metric], g->label - 2);
    if (g->state->metric < NORM)
        draw_name(g->cells, area.row + 1, area.col + 1, g->label - 2, watch_tint(watch), *source.token ? source.token : "decoded");
}

static int draw_heads(struct grid *g, struct area area)
{
    draw_corner(g, area);
    for (int b = g->first; b < g->first + g->shown; b++) {
        int col = left_of(g, area, b);
        enum tint tint = b == g->boundary ? TINT_KEY : TINT_PLAIN;
        int end = cells_text(g->cells, area.row, col, tint, "%c.%d", g->by_token ? 's' : 'h', b);
        const char *name = b == 0 ? "embedding" : b == g->lens.boundaries - 1 ? "= logits" : "";
        cells_put(g->cells, area.row, end + 1, TINT_DIM, g->by_token ? lens_text(&g->lens, b - 1, b, "input") : name, g->width - 5);
        if (g->by_token) cells_text(g->cells, area.row + 1, col, TINT_DIM, "after token %d", b);
        else if (b) cells_text(g->cells, area.row + 1, col, TINT_DIM, "after loop %d", b);
        else cells_text(g->cells, area.row + 1, col, TINT_DIM, "before loop 1");
    }
    return 2;
}

static int draw_positions(struct grid *g, struct area area, int rows)
{
    int first = scroll_first(g->position, g->lens.positions, rows), shown = g->lens.positions < rows ? g->lens.positions : rows;
    for (int i = 0; i < shown; i++) {
        int position = first + i, row = area.row + i;
        draw_right(g->cells, row, area.col + 4, TINT_DIM, "%d", position);
        const char *input = lens_text(&g->lens, position, g->by_token ? position + 1 : 0, "input");
        draw_name(g->cells, row, area.col + 5, g->label - 6, position == g->position ? TINT_KEY : TINT_PLAIN, input);
        for (int b = g->first; b < g->first + g->shown; b++) {
            if (!is_there(g, position, b)) continue;
            draw_cell(g, row, left_of(g, area, b), position, b);
            app_spot(g->app, (struct area){row, left_of(g, area, b) - 1, 1, g->width}, position * SPOT_ROW + b);
        }
    }
    return shown;
}

/* ---- the watched tokens through the loops */

struct track {             /* a token followed at a position, or, by token, through all positions */
    struct source source;
    const char *name;
    int position;
    enum tint tint;
};

static void draw_track(struct grid *g, struct area area, const struct track *track, int i)
{
    static const char *const names[] = {"P", "cosine", "rank"}, *const kinds[] = {"p", "cosine", "rank"};
    bool bar = i < 2;
    cells_put(g->cells, area.row, area.col + 2, TINT_DIM, names[i], g->label - 3);
    for (int b = g->first; b < g->first + g->shown; b++) {
        double value = source_number(&track->source, g->by_token ? b - 1 : track->position, b, kinds[i]);
        int col = left_of(g, area, b), width = g->width - 9;
        draw_right(g->cells, area.row, col + 6, TINT_PLAIN, "%s", bar ? unit_show(value) : number_show(value));
        if (bar && width >= 3) draw_bar(g->cells, area.row, col + 7, width < 30 ? width : 30, value, track->tint);
    }
}

static int draw_tracks(struct grid *g, struct area area, const struct track *track)
{
    int row = area.row;
    struct text title = {0};
    if (track->position < 0 || area.rows < 2) return 0;
    text_add(&title, "%s %s %s %d", track->name, track->source.token, g->by_token ? "after each token; looked for after token" : "at position",
             track->position + (g->by_token ? 1 : 0));
    draw_heading(g->cells, row++, area.col, area.cols - 1, title.data);
    text_clear(&title);
    for (int i = 0; i < 3 && row < area.row + area.rows; i++) draw_track(g, (struct area){row++, area.col, 1, area.cols}, track, i);
    return row - area.row;
}

static int draw_bridge(struct grid *g, struct area area)
{
    bool own = g->own[BRIDGE].table;
    int position = own ? g->before.bridge_position : g->lens.bridge_position;
    return draw_tracks(g, area, &(struct track){source_of(g, BRIDGE), own ? "bridge before the change," : "bridge", position, TINT_CHANGED});
}

static int draw_answer(struct grid *g, struct area area)
{
    bool own = g->own[ANSWER].table;
    if (!own && !lens_knows(&g->lens, "answer")) return 0;
    return draw_tracks(g, area, &(struct track){source_of(g, ANSWER), own ? "answer before the change," : "answer", g->lens.answer_position,
                                                TINT_GOOD});
}

/* What the user chose, under the cursor; or why it cannot be watched. */
static int draw_chosen(struct grid *g, struct area area)
{
    const struct result *result = app_result(g->app, g->state->watching);
    if (!is_watching(g->state) || area.rows < 1) return 0;
    if (result && result->state == RESULT_FAILED)
        return draw_wrapped(g->cells, (struct area){area.row, area.col + 1, area.rows, area.cols - 2}, TINT_BAD,
                            result->wrong ? result->wrong : "");
    return draw_tracks(g, area, &(struct track){source_of(g, CHOSEN), "watched", g->position, watch_tint(CHOSEN)});
}

/* One sentence about the boundary under the cursor, where the bridge stands. */
static void draw_verdict(struct grid *g, struct area area)
{
    struct source source = source_of(g, BRIDGE);
    int position = g->by_token ? g->boundary - 1 : g->own[BRIDGE].table ? g->before.bridge_position : g->lens.bridge_position;
    double p = source_number(&source, position, g->boundary, "p"), cosine = source_number(&source, position, g->boundary, "cosine");
    if (area.rows < 1 || isnan(p) || isnan(cosine)) return;
    int col = cells_text(g->cells, area.row, area.col + 1, TINT_PLAIN, "At %c.%d %s is ", g->by_token ? 's' : 'h', g->boundary,
                         g->own[BRIDGE].table ? source.token : "the bridge");
    col = cells_text(g->cells, area.row, col, p >= 0.5 ? TINT_GOOD : TINT_BAD, "%s", p >= 0.5 ? "decodable" : "not decodable");
    col = cells_text(g->cells, area.row, col, TINT_PLAIN, " (P %s), ", unit_show(p));
    col = cells_text(g->cells, area.row, col, cosine >= 0.8 ? TINT_GOOD : TINT_BAD, "%s", cosine >= 0.8 ? "aligned" : "not aligned");
    cells_text(g->cells, area.row, col, TINT_PLAIN, " (cosine %s).", unit_show(cosine));
}

/* What the cells show. */
static void draw_legend(struct grid *g, int row, int col)
{
    static const char *const of[] = {[PROBABILITY] = "P of", [RANK] = "rank, 1 is best, of", [COSINE] = "cosine with the embedding of"};
    enum metric metric = g->state->metric;
    enum watch watch = seen_watch(g);
    struct source source = source_of(g, watch);
    struct text text = {0};
    if (metric == TOKEN) text_add(&text, "a: the answer, b: the bridge, P and cosine of the decoded token");
    else if (metric >= NORM) text_add(&text, "cells: %s", metric_help[metric]);
    else text_add(&text, "cells: %s the %s%s%s", of[metric], watch_names[watch], *source.token ? " " : "", source.token);
    if (metric < NORM && metric != TOKEN && g->state->watch == BRIDGE && watch != BRIDGE) text_add(&text, ", as there is no bridge");
    if (g->before.table) text_add(&text, "; *: changed");
    cells_put(g->cells, row, col, TINT_DIM, text.data, g->cells->cols - col - 1);
    text_clear(&text);
}

/* At the cursor, and at the other positions as far as there is room. */
static void draw_top(struct grid *g, struct area area)
{
    for (int i = 0; i < (g->by_token ? 1 : g->lens.positions); i++) {
        struct top_panel panel = {.top = lens_of(app_table(g->app, g->state->top, 0)), .lens = &g->lens, .by_token = g->by_token,
                                  .position = (g->position + i) % g->lens.positions, .boundary = i ? -1 : g->boundary, .first = g->first,
                                  .shown = g->shown, .left = left_of(g, area, g->first), .width = g->width};
        int taken = top_panel_draw(&panel, g->cells, area);
        area.row += taken, area.rows -= taken;
    }
}

/* ---- all of it */

static void lay_out(struct grid *g, const struct app *app, struct area area)
{
    int longest = 4;
    for (int p = 0; p < g->lens.positions; p++) {
        int width = text_width(lens_text(&g->lens, p, g->by_token ? p + 1 : 0, "input"));
        if (width > longest) longest = width;
    }
    int most = area.cols < 76 ? 14 : 22;
    g->label = longest + 8 < most ? longest + 8 : most;
    struct cursor at = cursor_of(app, &g->lens);
    g->boundary = at.boundary, g->position = at.position;
    int room = area.cols - g->label - 1, fit = room / 15;
    int least = g->by_token ? 1 : 0, count = g->lens.boundaries - least; /* s.0 is before the first token: it decodes to nothing */
    g->shown = count < fit ? count : fit > 0 ? fit : 1;
    g->width = g->shown ? room / g->shown : room;
    if (g->width > 34) g->width = 34;
    g->first = least + scroll_first(g->boundary - least, count, g->shown);
}

/* Of the token as it is now: numbers of another would stand under its name. */
static const struct table *watched_table(struct app *app, const struct state *s)
{
    const struct want *want = s->watching >= 0 ? &app_pane(app, app->view)->wants[s->watching] : NULL;
    const char *now = want ? strstr(want->line, " --watch ") : NULL, *then = want && want->shown ? strstr(want->shown->line, " --watch ") : NULL;
    return now && then && !strcmp(now, then) ? result_table(want->shown, 0) : NULL;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    if (app_draw_waiting(app, cells, area, LENS)) return;
    struct grid g = {.app = app, .cells = cells, .lens = lens_of(app_table(app, LENS, 0)), .before = lens_of(question_untouched(app)),
                     .by_token = app_by_token(app), .state = app_state(app, sizeof *g.state)};
    g.watched = lens_of(watched_table(app, g.state));
    for (int w = BRIDGE; w <= ANSWER; w++)
        if (app_current(app, g.state->own[w])) g.own[w] = lens_of(app_table(app, g.state->own[w], 0));
    struct area at = area;
    lay_out(&g, app, area);
    bool roomy = area.rows >= 13 + g.lens.positions;
#define TAKE(n) do { int taken = (n); at.row += taken, at.rows -= taken; } while (0)
    TAKE(roomy);
    TAKE(question_draw(app, cells, at, &g.lens));
    TAKE(roomy);
    TAKE(draw_heads(&g, at));
    TAKE(draw_positions(&g, at, at.rows > 12 ? at.rows - 10 : at.rows > 4 ? at.rows - 4 : 1));
    TAKE(roomy);
    TAKE(draw_chosen(&g, at));
    TAKE(draw_bridge(&g, at));
    TAKE(draw_answer(&g, at));
    if (at.rows > 1) at.row++, at.rows--;
    draw_verdict(&g, at);
    if (at.rows > 1) draw_legend(&g, at.row + 1, at.col + 1);
    TAKE(3);
    draw_top(&g, at);
#undef TAKE
}

const struct view view_grid = {
    .name = "grid", .title = "one question through the loops", .help = "positions x boundaries: what each state decodes to, how surely, how aligned",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = question_search, .click = click, .example = "n",
};
