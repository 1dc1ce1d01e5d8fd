#include "app.h"
#include "parity.h"
#include "search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SITES, STATS };

struct state {
    int at;     /* the picked site */
    bool open;  /* its statistics are shown */
    int parity; /* its want; -1: none */
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static const char *picked(struct app *app)
{
    const struct table *sites = app_table(app, SITES, 0);
    return sites && state_of(app)->at < (int)sites->row_count ? table_text(sites, (size_t)state_of(app)->at, "site") : NULL;
}

static void lines(struct app *app)
{
    if (!app->model) return;
    app_want(app, "sites %s", app_model(app));
    if (state_of(app)->open && picked(app)) app_show(app, app_want(app, "stats %s --site %s --split %s", app_subject(app), picked(app), app->split));
    else state_of(app)->parity = parity_want(app, app->model);
}

/* Or, where the state is handed from token to token, the token: s.t stands for what is after the t-th. */
static int loop_of(const struct table *sites, int row)
{
    double loop = table_number(sites, (size_t)row, table_find(sites, "token") >= 0 ? "token" : "loop");
    return isnan(loop) ? 0 : (int)loop;
}

/* The loop that the picture shows: that of the picked site, the first before any, the last behind all. */
static int shown_loop(const struct table *sites, int at, int loops)
{
    int loop = 0;
    for (int i = 0; sites && i <= at && i < (int)sites->row_count; i++)
        if (loop_of(sites, i) > loop) loop = loop_of(sites, i);
    return loop < 1 ? 1 : loop > loops ? loops : loop;
}

static void press_site(struct app *app, int key)
{
    const struct table *sites = app_table(app, SITES, 0);
    struct state *s = state_of(app);
    int count = sites ? (int)sites->row_count : 0;
    s->at += key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : key == PRESS_PAGE_UP ? -10 : 10;
    if (s->at >= count) s->at = count - 1;
    if (s->at < 0) s->at = 0;
}

static void press_loop(struct app *app, int key)
{
    const struct table *sites = app_table(app, SITES, 0);
    struct state *s = state_of(app);
    if (!sites) return;
    int want = shown_loop(sites, s->at, 1 << 20) + (key == PRESS_LEFT ? -1 : 1);
    for (int i = 0; i < (int)sites->row_count; i++)
        if (loop_of(sites, i) == want && want > 0) {
            s->at = i;
            return;
        }
}

static bool search(struct app *app, const char *text, int step)
{
    int at = search_table(app_table(app, SITES, 0), text, state_of(app)->at, step);
    if (at >= 0) state_of(app)->at = at;
    return at >= 0;
}

static void click(struct app *app, int code) { state_of(app)->at = code; }

static void press_enter(struct app *app, int key)
{
    const char *site = picked(app);
    (void)key;
    if (site && text_ends(site, ".pattern")) app_go(app, view_find("attention"));
    else state_of(app)->open = !state_of(app)->open;
}

static void press_accuracy(struct app *app, int key)
{
    (void)key;
    app_go(app, view_find("splits"));
}

static const char *const flags[] = {"on", "off", NULL};
static void get_open(struct app *app, struct text *out) { text_add(out, state_of(app)->open ? "on" : "off"); }

static bool set_open(struct app *app, const char *value)
{
    state_of(app)->open = !strcmp(value, "on");
    return state_of(app)->open || !strcmp(value, "off");
}

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->at); }
static bool set_marked(struct app *app, const char *value) { return setting_number(value, &state_of(app)->at); }

static const struct setting settings[] = {
    {"marked", "the site that keys act on", get_marked, set_marked, .kind = SETTING_PLACE},
    {"statistics", "are those of the marked site shown?", get_open, set_open, flags}, {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT}, "loop", "the loop (or, by token, the token) before or behind", press_loop},
    {{PRESS_UP, PRESS_DOWN, PRESS_PAGE_UP, PRESS_PAGE_DOWN}, NULL, "picks a site: an address at which a value can be seen or edited", press_site},
    {{PRESS_ENTER}, "statistics", "what stands at the picked site: length, spread, cosines; of attention weights: their view", press_enter},
    {{'a'}, "accuracy", "on to the accuracy by split", press_accuracy},
    {{0}},
};

/* ---- the picture */

enum { PICTURE = 38, TALL = 18 }; /* columns of the picture; rows that all of it needs */

struct picture {
    struct app *app;
    struct cells *cells;
    int row, col;
    int k, loops;
    bool brief;        /* not enough rows for the lines that only look good */
    bool tokens;       /* the state is handed from token to token, not from loop to loop */
    const struct table *sites;
};

/* What enters loop k + 1. */
static void add_rule(struct text *out, const char *interface, int k)
{
    if (!strcmp(interface, "none")) text_add(out, "x.%d = h.%d", k + 1, k);
    else if (!strcmp(interface, "discoloop")) text_add(out, "x.%d = h.%d + a rms(Phi)", k + 1, k);
    else if (!strcmp(interface, "ponder")) text_add(out, "x.%d = Phi(h.%d)", k + 1, k);
    else if (!strcmp(interface, "ponder_sum")) text_add(out, "x.%d = x.%d + Phi", k + 1, k);
    else text_add(out, "%s", interface);
}

static void pipe_row(struct picture *p, const char *mark, const char *label, const char *more)
{
    cells_text(p->cells, p->row, p->col + 4, TINT_PLAIN, "%s", mark);
    int col = cells_text(p->cells, p->row, p->col + 6, TINT_KEY, "%s", label);
    cells_put(p->cells, p->row++, col + 1, TINT_DIM, more, p->col + PICTURE - 2 - col);
}

/* How many blocks of a part ("prelude") the list of sites names: "prelude.0.out", "prelude.1.out" ... */
static int count_blocks(const struct table *sites, const char *part)
{
    int count = 0, number;
    size_t size = strlen(part);
    for (size_t r = 0; sites && r < sites->row_count; r++) {
        const char *site = table_text(sites, r, "site");
        bool of_part = site && !strncmp(site, part, size) && sscanf(site + size, ".%d", &number) == 1;
        if (of_part && number >= count) count = number + 1;
    }
    return count;
}

/* Blocks that run once, before the loops or behind them. */
static void draw_once(struct picture *p, const char *part)
{
    int count = count_blocks(p->sites, part);
    if (!count) return;
    pipe_row(p, "│", "", "");
    int col = cells_text(p->cells, p->row - 1, p->col + 2, TINT_TITLE, "%s", part);
    cells_text(p->cells, p->row - 1, col + 1, TINT_DIM, count == 1 ? "1 block, once" : "%d blocks, once", count);
}

static void draw_entry(struct picture *p)
{
    const char *vocab = app_fact(p->app, "vocab"), *width = app_fact(p->app, "width");
    cells_text(p->cells, p->row++, p->col + 2, TINT_PLAIN, "tokens");
    bool once = count_blocks(p->sites, "prelude") + count_blocks(p->sites, "encoder") > 0;
    if (!p->brief && !once) pipe_row(p, "│", "", "");
    int col = cells_text(p->cells, p->row, p->col + 2, TINT_TITLE, "embedding W");
    cells_text(p->cells, p->row++, col + 1, TINT_DIM, "%s × %s", vocab ? vocab : "?", width ? width : "?");
    draw_once(p, "prelude"), draw_once(p, "encoder");
    struct text label = {0};
    text_add(&label, "%c.0", app_boundary(p->app));
    pipe_row(p, "│", label.data, p->tokens ? "before the first token" : "boundary 0");
    if (!p->brief) pipe_row(p, "▼", "", p->tokens || p->k > 1 ? "" : "enters loop 1");
    text_clear(&label);
}

static void draw_box_row(struct picture *p, const char *left, const char *fill, const char *right)
{
    enum { WIDTH = 27 };
    cells_text(p->cells, p->row, p->col, TINT_PLAIN, "%s", left);
    for (int i = 1; i < WIDTH - 1; i++) cells_text(p->cells, p->row, p->col + i, TINT_PLAIN, "%s", fill);
    cells_text(p->cells, p->row++, p->col + WIDTH - 1, TINT_PLAIN, "%s", right);
}

static void draw_stack(struct picture *p)
{
    int blocks = app_fact_int(p->app, "blocks", 1);
    draw_box_row(p, "┌", "─", "┐");
    draw_box_row(p, "│", " ", "│");
    int col = p->tokens ? cells_text(p->cells, p->row - 1, p->col + 2, TINT_TITLE, "every token")
                        : cells_text(p->cells, p->row - 1, p->col + 2, TINT_TITLE, "loop %d of %d", p->k, p->loops);
    cells_text(p->cells, p->row - 1, col + 1, TINT_DIM, "shared");
    draw_box_row(p, "│", " ", "│");
    if (blocks == 1) cells_text(p->cells, p->row - 1, p->col + 2, TINT_PLAIN, "block 0");
    else cells_text(p->cells, p->row - 1, p->col + 2, TINT_PLAIN, "blocks 0 ... %d, each", blocks - 1);
    draw_box_row(p, "│", " ", "│");
    cells_text(p->cells, p->row - 1, p->col + 4, TINT_PLAIN, "norm, attention, add");
    draw_box_row(p, "│", " ", "│");
    cells_text(p->cells, p->row - 1, p->col + 4, TINT_PLAIN, "norm, MLP, add");
    draw_box_row(p, "└", "─", "┘");
    cells_text(p->cells, p->row - 1, p->col + 4, TINT_PLAIN, "┬");
}

/* The way back: from below the box up its right side and in again. */
static void draw_return(struct picture *p, int top, int bottom)
{
    enum { RIGHT = 32 };
    bool last = p->k == p->loops && !p->tokens;
    enum tint tint = last ? TINT_DIM : TINT_KEY;
    for (int c = 28; c < RIGHT; c++) cells_text(p->cells, top, p->col + c, tint, c == 28 ? "◀" : "─");
    cells_text(p->cells, top, p->col + RIGHT, tint, "┐");
    for (int r = top + 1; r < bottom; r++) cells_text(p->cells, r, p->col + RIGHT, tint, "│");
    for (int c = 5; c < RIGHT; c++) cells_text(p->cells, bottom, p->col + c, tint, "─");
    cells_text(p->cells, bottom, p->col + RIGHT, tint, "┘");
    if (p->tokens) cells_text(p->cells, top + 2, p->col + RIGHT + 2, TINT_KEY, "s.t");
    else if (!last) cells_text(p->cells, top + 2, p->col + RIGHT + 2, TINT_KEY, "x.%d", p->k + 1);
}

static void draw_handing_on(struct picture *p)
{
    const char *interface = app_fact(p->app, "interface");
    struct text more = {0};
    cells_text(p->cells, p->row++, p->col + 4, TINT_PLAIN, "├");
    if (p->tokens) text_add(&more, "to the next token: %s", interface ? interface : "as it is");
    else if (p->k < p->loops) add_rule(&more, interface ? interface : "none", p->k);
    else text_add(&more, "the last one: decoded");
    pipe_row(p, "│", "", more.data);
    text_clear(&more);
    text_add(&more, "after loop %d", p->loops);
    if (!p->brief) pipe_row(p, "▼", "", p->k < p->loops ? more.data : "");
    text_clear(&more);
}

static void draw_exit(struct picture *p)
{
    const char *head = app_fact(p->app, "head"), *each = app_fact(p->app, "norm_each_loop");
    struct text label = {0}, more = {0};
    text_add(&label, p->tokens ? "s.t" : "h.%d", p->k);
    text_add(&more, p->tokens ? "after token t" : "boundary %d", p->k);
    pipe_row(p, "│", label.data, more.data);
    text_clear(&label), text_clear(&more);
    draw_handing_on(p);
    draw_once(p, "coda");
    int col = cells_text(p->cells, p->row, p->col + 2, TINT_TITLE, each && !strcmp(each, "true") ? "head" : "norm, head");
    cells_text(p->cells, p->row++, col + 1, TINT_DIM, "%s", head && text_starts(head, "tied") ? "W again (tied)" : "a table of its own");
    if (!p->brief) pipe_row(p, "│", "", "");
    cells_text(p->cells, p->row++, p->col + 2, TINT_PLAIN, "logits");
}

static const char *site_of(const char *line) /* of a line that was asked for */
{
    static _Thread_local char site[128];
    const char *at = line ? strstr(line, " --site ") : NULL;
    snprintf(site, sizeof site, "%.*s", at ? (int)strcspn(at + 8, " ") : 0, at ? at + 8 : "");
    return site;
}

enum { STATS_ROWS = 9, STATS_LABEL = 12, STATS_CELL = 8 };

/* A column for each position, as many as have room. The table may still be that of the site before. */
static void draw_stats(struct app *app, struct cells *cells, struct area area)
{
    static const char *const names[][2] = {{"position", "position"}, {"length", "length"}, {"mean", "mean"}, {"sd", "sd"}, {"least", "least"},
                                           {"most", "most"}, {"cosine_input", "cos input"}, {"cosine_bridge", "cos bridge"}};
    const struct table *stats = app_table(app, STATS, 0);
    const struct want *want = &app_pane(app, app->view)->wants[STATS];
    struct text title = {0};
    text_add(&title, "%s, %s", stats && want->shown ? site_of(want->shown->line) : picked(app) ? picked(app) : "", app->split);
    draw_heading(cells, area.row, area.col, area.cols, title.data);
    text_clear(&title);
    area.row++, area.rows--;
    if (app_draw_waiting(app, cells, area, STATS) || !stats) return;
    for (int i = 0; i < 8 && i < area.rows; i++) {
        cells_put(cells, area.row + i, area.col + 1, TINT_DIM, names[i][1], STATS_LABEL - 2);
        for (int r = 0; r < (int)stats->row_count; r++) {
            double x = table_number(stats, (size_t)r, names[i][0]);
            int right = area.col + STATS_LABEL + (r + 1) * STATS_CELL;
            if (isnan(x) || right > area.col + area.cols) continue;
            if (i == 0) draw_right(cells, area.row, right, TINT_KEY, "%.0f", x);
            else draw_right(cells, area.row + i, right, TINT_PLAIN, "%s", i >= 6 ? unit_show(x) : number_show(x));
        }
    }
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    static const char *const columns[] = {"site", "shape", NULL};
    const struct table *sites = app_table(app, SITES, 0);
    struct state *s = state_of(app);
    int loops = app_fact_int(app, "loops", 1);
    struct picture p = {app, cells, area.row + (area.rows > TALL + 1), area.col + 1, .loops = loops, .brief = area.rows < TALL, .sites = sites};
    p.tokens = app_by_token(app);
    p.k = shown_loop(sites, s->at, loops);
    bool picture = app_part(app, 0) && (!s->open || area.cols >= PICTURE + 36); /* statistics need the room more */
    if (app_fact(app, "loops") && picture) {
        draw_entry(&p);
        int top = p.row + 1;
        draw_stack(&p);
        draw_return(&p, top, p.row + 1);
        draw_exit(&p);
    }
    if (picture && !s->open && p.row < area.row + area.rows) {
        area.rows--;
        parity_draw(app, cells, (struct area){area.row + area.rows, area.col + 1, 1, area.cols - 2}, s->parity);
        parity_draw_all(app, cells, (struct area){p.row + 1, area.col + 1, area.row + area.rows - p.row - 2, PICTURE - 3}, s->parity);
    }
    int left = picture ? PICTURE : 1;
    struct area right = {area.row + 1, area.col + left, area.rows - 1, area.cols - left - 1};
    if (!app_part(app, 1) || app_draw_waiting(app, cells, right, SITES)) return;
    if (s->open) {
        int taken = right.rows - 3 < STATS_ROWS ? right.rows - 3 : STATS_ROWS;
        draw_stats(app, cells, (struct area){right.row + right.rows - taken, right.col, taken, right.cols});
        right.rows -= taken;
    }
    draw_table(cells, right, sites, columns, s->at);
    app_spot_rows(app, right, s->at, (int)sites->row_count);
}

static const char *const parts[] = {"the picture", "the sites", NULL};

const struct view view_loops = {
    .name = "loops", .title = "the loop of the model", .help = "what runs in a loop, where states are handed on, and every site with its shape",
    .keys = keys, .settings = settings, .lines = lines, .draw = draw, .parts = parts, .search = search, .click = click,
};
