#include "app.h"
#include "search.h"

#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

enum { EVAL, BRIDGE };

struct state { int at; bool moved; }; /* the picked row of the accuracies; until it is moved, the last of the split that is looked at */

/* -1: that row is not there yet. */
static int picked(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    const struct table *eval = app_table(app, EVAL, 0);
    for (size_t r = eval && !s->moved ? eval->row_count : 0; r-- > 0;)
        if (table_text(eval, r, "split") && !strcmp(table_text(eval, r, "split"), app->split)) return (int)r;
    return s->moved || app_current(app, EVAL) ? s->at : -1;
}

static void pick(struct app *app, int row)
{
    struct state *s = app_state(app, sizeof *s);
    s->at = row, s->moved = true;
}

static void lines(struct app *app)
{
    if (!app->model) return;
    app_want(app, "eval %s", app_subject(app));
    app_want(app, "bridge %s --boundary -1", app_subject(app));
}

static void press_row(struct app *app, int key)
{
    const struct table *eval = app_table(app, EVAL, 0);
    int count = eval ? (int)eval->row_count : 0, at = picked(app) + (key == PRESS_UP ? -1 : 1);
    pick(app, at < 0 || !count ? 0 : at < count ? at : count - 1);
}

static void press_questions(struct app *app, int key)
{
    (void)key;
    const struct table *eval = app_table(app, EVAL, 0);
    int at = picked(app);
    const char *split = eval && at >= 0 && at < (int)eval->row_count ? table_text(eval, (size_t)at, "split") : NULL;
    if (split && strcmp(split, app->split) != 0) snprintf(app->split, sizeof app->split, "%s", split), app->row = 0;
    app_go(app, view_find("questions"));
}

static bool search(struct app *app, const char *text, int step)
{
    int at = search_table(app_table(app, EVAL, 0), text, picked(app), step);
    if (at >= 0) pick(app, at);
    return at >= 0;
}

static void click(struct app *app, int code) { pick(app, code); }

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d", picked(app) < 0 ? 0 : picked(app)); }

static bool set_marked(struct app *app, const char *value)
{
    int at;
    return setting_number(value, &at) && (pick(app, at), true);
}

static const struct setting settings[] = {
    {"marked", "the line that keys act on", get_marked, set_marked, .kind = SETTING_PLACE}, {0},
};

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "split", "picks a split", press_row},
    {{PRESS_ENTER}, "questions", "the questions behind the picked number", press_questions},
    {{0}},
};

/* ---- accuracy */

static int draw_accuracy(struct cells *cells, struct area area, const struct table *eval, int loops, int at)
{
    int row = area.row, bar = area.col + 61, width = area.cols - 62;
    if (width > 60) width = 60;
    cells_text(cells, row, area.col + 1, TINT_DIM, "split");
    cells_text(cells, row, area.col + 18, TINT_DIM, "stage");
    draw_right(cells, row, area.col + 32, TINT_DIM, "n");
    draw_right(cells, row, area.col + 42, TINT_DIM, "accuracy");
    cells_text(cells, row, area.col + 44, TINT_DIM, "[ low,  high]");
    if (width > 8) cells_text(cells, row, bar, TINT_DIM, "0"), draw_right(cells, row, bar + width, TINT_DIM, "1");
    const char *before = "";
    for (size_t r = 0; r < eval->row_count; r++) {
        const char *split = table_text(eval, r, "split");
        double accuracy = table_number(eval, r, "accuracy"), low = table_number(eval, r, "low"), high = table_number(eval, r, "high");
        double stage = table_number(eval, r, "stage");
        enum tint tint = split_tint(split);
        row++;
        if (strcmp(split, before) != 0) cells_put(cells, row, area.col + 1, tint, split, 16);
        before = split;
        int col = cells_text(cells, row, area.col + 18, TINT_PLAIN, "%.0f", stage);
        if (stage == loops) cells_text(cells, row, col, TINT_DIM, " last");
        draw_right(cells, row, area.col + 32, TINT_PLAIN, "%.0f", table_number(eval, r, "n"));
        draw_right(cells, row, area.col + 42, TINT_TITLE, "%.3f", accuracy);
        cells_text(cells, row, area.col + 44, TINT_PLAIN, "[%.3f, %.3f]", low, high);
        if (width > 1) draw_interval(cells, row, bar, width, low, accuracy, high, tint);
        if ((int)r == at) draw_mark(cells, row, area.col, 59);
    }
    return row + 1 - area.row;
}

static int draw_excluded(struct cells *cells, struct area area, const struct table *eval)
{
    double excluded = 0;
    for (size_t r = 0; r < eval->row_count; r++)
        if (table_number(eval, r, "excluded") > 0) excluded += table_number(eval, r, "excluded");
    if (!(excluded > 0)) return 0;
    cells_text(cells, area.row, area.col + 1, TINT_WARN, "%.0f answers are excluded: not finite", excluded);
    return 1;
}

/* ---- bridge */

static int draw_bridge(struct cells *cells, struct area area, const struct table *bridge, bool embeddings, char letter)
{
    int row = area.row, p = area.col + 36, width = (area.cols - 36) / 2 - 10, cosine = p + width + 10;
    if (width > 30) width = 30, cosine = p + width + 10;
    bool bars = width >= 4;
    cells_text(cells, row, area.col + 1, TINT_DIM, "split");
    cells_text(cells, row, area.col + 18, TINT_DIM, "state");
    cells_text(cells, row, area.col + 25, TINT_DIM, "position");
    cells_put(cells, row, p, TINT_DIM, bars ? "P(bridge)" : "P", width + 6);
    cells_put(cells, row, cosine, TINT_DIM, bars ? "cos W[bridge]" : "cos", width + 6);
    const char *before = "";
    for (size_t r = 0; r < bridge->row_count; r++) {
        const char *split = table_text(bridge, r, "split");
        if (!embeddings && table_number(bridge, r, "boundary") == 0) continue;
        enum tint tint = split_tint(split);
        double likely = table_number(bridge, r, "p_bridge"), direction = table_number(bridge, r, "cosine");
        row++;
        if (strcmp(split, before) != 0) cells_put(cells, row, area.col + 1, tint, split, 16);
        before = split;
        cells_text(cells, row, area.col + 18, TINT_KEY, "%c.%.0f", letter, table_number(bridge, r, "boundary"));
        draw_right(cells, row, area.col + 33, TINT_PLAIN, "%.0f", table_number(bridge, r, "position"));
        cells_text(cells, row, p, TINT_TITLE, isnan(likely) ? "n/a" : "%.3f", likely);
        if (bars) draw_bar(cells, row, p + 7, width, likely, tint);
        cells_text(cells, row, cosine, TINT_TITLE, isnan(direction) ? "n/a" : "%.3f", direction);
        if (bars) draw_bar(cells, row, cosine + 7, width, direction, tint);
    }
    return row + 1 - area.row;
}

/* What the two numbers say together, for the boundary behind the first loop. */
static int draw_verdict(struct cells *cells, struct area area, const struct table *bridge)
{
    for (size_t r = bridge->row_count; r-- > 0;) {
        if (table_number(bridge, r, "boundary") != 1) continue;
        double p = table_number(bridge, r, "p_bridge"), cosine = table_number(bridge, r, "cosine");
        if (isnan(p) || isnan(cosine)) continue;
        struct text words = {0};
        text_add(&words, "%s after loop 1: bridge %s (P %s), %s (cosine %s)", table_text(bridge, r, "split"),
                 p >= 0.5 ? "decodable" : "not decodable", unit_show(p), cosine >= 0.8 ? "aligned" : "not aligned", unit_show(cosine));
        int rows = draw_wrapped(cells, (struct area){area.row, area.col + 1, area.rows, area.cols - 2}, TINT_PLAIN, words.data);
        text_clear(&words);
        return rows;
    }
    return 0;
}

static int table_rows(const struct table *table, bool embeddings)
{
    int rows = table ? 1 : 2;
    for (size_t r = 0; table && r < table->row_count; r++) rows += embeddings || table_number(table, r, "boundary") != 0;
    return rows;
}

struct page {
    struct app *app;
    struct cells *tall; /* all of it, of which a window is shown */
    struct area at;
    bool roomy, embeddings;
};

static void draw_first(struct page *p, const struct table *eval, int picked)
{
    p->at.row += p->roomy;
    app_heading(p->app, p->tall, (struct area){p->at.row++, p->at.col, 1, p->at.cols}, 0, "accuracy by split and stage, with Wilson 95 % intervals");
    if (app_draw_waiting(p->app, p->tall, (struct area){p->at.row - 1, p->at.col, 4, p->at.cols}, EVAL)) p->at.row += 2;
    else {
        p->at.row += draw_accuracy(p->tall, p->at, eval, app_fact_int(p->app, "loops", 0), picked);
        p->at.row += draw_excluded(p->tall, p->at, eval);
    }
}

static void draw_second(struct page *p, const struct table *bridge)
{
    p->at.row += p->roomy;
    app_heading(p->app, p->tall, (struct area){p->at.row++, p->at.col, 1, p->at.cols}, 1, "the bridge: decodable? aligned?");
    if (app_draw_waiting(p->app, p->tall, (struct area){p->at.row - 1, p->at.col, 4, p->at.cols}, BRIDGE)) return;
    p->at.row += draw_bridge(p->tall, p->at, bridge, p->embeddings, app_boundary(p->app));
    draw_verdict(p->tall, p->at, bridge);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    int at = picked(app);
    const struct table *eval = app_table(app, EVAL, 0), *bridge = app_table(app, BRIDGE, 0);
    enum { OTHER = 3 }; /* two headings and a verdict */
    int above = app_part(app, 0) ? table_rows(eval, true) : 0;
    bool embeddings = above + table_rows(bridge, true) + OTHER <= area.rows; /* h.0 is the dullest row */
    int need = above + (app_part(app, 1) ? table_rows(bridge, embeddings) : 0) + OTHER;
    bool still = !((struct state *)app_state(app, sizeof(struct state)))->moved && at + 2 < area.rows; /* headings are seen until one moves */
    int first = app_part(app, 0) && !still ? scroll_first(at + 2, need, area.rows) : 0;
    struct page page = {.app = app, .roomy = need + 2 <= area.rows, .embeddings = embeddings};
    if (need < area.rows) need = area.rows;
    page.tall = cells_new(need, area.cols);
    page.tall->ascii = cells->ascii;
    page.at = (struct area){0, 1, need, area.cols - 3};
    int top = 2 + page.roomy;
    if (app_part(app, 0)) draw_first(&page, eval, at);
    if (app_part(app, 1)) draw_second(&page, bridge);
    draw_window(cells, area, page.tall, first);
    draw_scroll(cells, area, first, need);
    cells_free(page.tall);
    for (int r = 0; app_part(app, 0) && eval && r < (int)eval->row_count; r++)
        if (top + r >= first && top + r - first < area.rows) app_spot(app, (struct area){area.row + top + r - first, area.col, 1, area.cols}, r);
}

static const char *const parts[] = {"accuracy", "the bridge", NULL};

const struct view view_splits = {
    .name = "splits", .title = "accuracy by split", .help = "how often the model is right, by split and stage, and what its bridge states are like",
    .keys = keys, .settings = settings, .lines = lines, .draw = draw, .parts = parts, .search = search, .click = click,
};
