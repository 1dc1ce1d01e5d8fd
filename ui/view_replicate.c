#include "app.h"
#include "markdown.h"
#include "search.h"

#include "figures/figure.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

enum { LIST };
enum part { REPLICATIONS, RESULT };
enum page { CARD, NUMBERS, FIGURE, PAGES };
enum { PAGE_ROWS = 600 };
static const char *const page_names[] = {"card", "numbers", "figure", NULL};

struct state {
    char id[64];      /* the marked one */
    char line[256];   /* the measuring that was asked for; "": none */
    enum page page;
    int figure;       /* which of its figures */
    int first;        /* the row of the card at the top */
    int card;         /* wants; -1: none */
    int measuring;
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static long row_of(const struct table *list, const char *id)
{
    for (size_t r = 0; list && r < list->row_count; r++)
        if (table_text(list, r, "id") && !strcmp(table_text(list, r, "id"), id)) return (long)r;
    return -1;
}

static const char *text_of(const struct table *list, long row, const char *column)
{
    const char *text = list && row >= 0 ? table_text(list, (size_t)row, column) : NULL;
    return text ? text : "";
}

static void choose(struct state *s, const struct table *list, long row)
{
    if (!list || row < 0 || row >= (long)list->row_count) return;
    snprintf(s->id, sizeof s->id, "%s", text_of(list, row, "id"));
    s->figure = s->first = 0;
}

/* Of the marked one; NULL: there is none (yet), and what still stands there is another's. */
static const struct result *result_of(struct app *app)
{
    const struct state *s = state_of(app);
    const struct want *want = s->card >= 0 ? &app_pane(app, app->view)->wants[s->card] : NULL;
    return want && want->shown && !strcmp(want->shown->line, want->line) ? want->shown : NULL;
}

static int figure_count(const struct result *result) { return result && result->table_count > 1 ? (int)result->table_count - 1 : 0; }

/* What was asked for has ended, well or not. */
static bool finish(struct app *app, struct state *s)
{
    const struct result *done = app_find(app, s->line);
    if (!*s->line || !done || !result_ended(done)) return false;
    if (done->state == RESULT_FAILED && done->wrong) app_say(app, "%.*s", (int)strcspn(done->wrong, "\n"), done->wrong);
    if (done->state == RESULT_DONE) app_say(app, "%s: measured; card, tables and figures are written anew", s->id);
    *s->line = 0;
    return true;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    bool ended = finish(app, s);
    s->card = s->measuring = -1;
    app_want(app, "replicate --list");
    if (ended) app_refresh(app, LIST);
    const struct table *list = app_kept(app, "replicate --list");
    if (!list) list = app_table(app, LIST, 0); /* it is being read anew */
    if (list && row_of(list, s->id) < 0) choose(s, list, 0);
    if (*text_of(list, row_of(list, s->id), "card")) s->card = app_want(app, "replicate %s --show", s->id);
    if (ended && s->card >= 0) app_refresh(app, s->card);
    if (*s->line) s->measuring = app_want(app, "%s", s->line);
    app_show(app, s->measuring >= 0 ? s->measuring : s->card >= 0 ? s->card : LIST);
}

static void tick(struct app *app) { app_refresh(app, LIST); } /* trainings go on elsewhere */

/* ---- keys */

static bool is_zoomed(const struct app *app)
{
    const struct pane *pane = app_pane(app, app->view);
    return pane->zoomed && pane->part == RESULT;
}

static void scroll(struct state *s, int step)
{
    s->first += step;
    if (s->first < 0) s->first = 0;
}

static void press_move(struct app *app, int key)
{
    struct state *s = state_of(app);
    const struct table *list = app_table(app, LIST, 0);
    int step = key == PRESS_UP ? -1 : 1;
    if (is_zoomed(app)) scroll(s, step);
    else choose(s, list, row_of(list, s->id) + step);
}

static void press_scroll(struct app *app, int key)
{
    struct state *s = state_of(app);
    if (key == PRESS_HOME) s->first = 0;
    else scroll(s, key == PRESS_PAGE_UP ? -10 : 10);
}

/* The card on all of the screen, and back. */
static void press_card(struct app *app, int key)
{
    struct pane *pane = app_pane(app, app->view);
    struct state *s = state_of(app);
    (void)key;
    if (s->card < 0) {
        app_say(app, "%s has no card yet: nothing of it was measured", s->id);
        return;
    }
    pane->zoomed = !(is_zoomed(app) && s->page == CARD);
    pane->part = pane->zoomed ? RESULT : REPLICATIONS;
    pane->hidden = 0;
    s->page = CARD;
}

static void turn(struct state *s, enum page page)
{
    s->page = page;
    s->first = 0;
}

static void press_page(struct app *app, int key)
{
    struct state *s = state_of(app);
    turn(s, (s->page + (key == 't' ? 1 : PAGES - 1)) % PAGES);
}

static void press_figure(struct app *app, int key)
{
    struct state *s = state_of(app);
    int count = figure_count(result_of(app));
    (void)key;
    if (s->page == FIGURE && count) s->figure = (s->figure + 1) % count;
    turn(s, FIGURE);
}

static void press_measure(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    if (*s->line || !*s->id) return;
    snprintf(s->line, sizeof s->line, "replicate %s --measure-only", s->id);
    struct result *old = app_find(app, s->line);
    if (old) app_let_go(app, old); /* asked again means: measured again */
    app_say(app, "measuring the finished trainings of %s; x stops it", s->id);
}

/* Training takes long: it is a line to be read, changed and entered. */
static void press_train(struct app *app, int key)
{
    struct text line = {0};
    (void)key;
    text_add(&line, "replicate %s --seeds 3 --background", state_of(app)->id);
    app_ask(app, ASK_COMMAND, line.data);
    text_clear(&line);
}

static void press_stop(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    if (!app_stop(app, s->measuring)) app_say(app, "nothing is being measured; p in the view train pauses a training");
}

static void click(struct app *app, int code) { choose(state_of(app), app_table(app, LIST, 0), code); }

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "replication", "another replication; in the card on all of the screen: scrolls", press_move},
    {{PRESS_ENTER}, "card", "the card on all of the screen, and back", press_card},
    {{'t', 'T'}, "numbers", "below the list: the card, its numbers beside the paper's, its figures", press_page},
    {{'f'}, "figure", "its figure; again: the next one", press_figure},
    {{'m'}, "measure", "measures the finished trainings anew: replicate ID --measure-only", press_measure},
    {{'a'}, "train", "the line that trains what is missing and measures, in a process of its own: to be changed and entered", press_train},
    {{'x'}, NULL, "stops the measuring", press_stop},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME}, NULL, "through the card or the numbers", press_scroll},
    {{0}},
};

/* ---- settings */

static void get_id(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->id); }

static bool set_id(struct app *app, const char *value)
{
    snprintf(state_of(app)->id, sizeof state_of(app)->id, "%s", value);
    return strlen(value) < sizeof state_of(app)->id;
}

static void get_page(struct app *app, struct text *out) { text_add(out, "%s", page_names[state_of(app)->page]); }

static bool set_page(struct app *app, const char *value)
{
    for (int i = 0; page_names[i]; i++)
        if (!strcmp(page_names[i], value)) return turn(state_of(app), (enum page)i), true;
    return false;
}

static const struct setting settings[] = {
    {"id", "the replication that is looked at", get_id, set_id, .kind = SETTING_PLACE},
    {"result", "what is shown of it", get_page, set_page, page_names},
    {0},
};

/* ---- the list */

/* "running 41 %, 12 min left", "done, 3 seeds", "2 of 6 trainings done", "not run": the state without the names of the training. */
static void add_state(struct text *out, const char *state, double seeds)
{
    long step, steps;
    const char *at = strstr(state, ", step "), *left = strstr(state, " min left");
    if (text_starts(state, "running") && at && sscanf(at, ", step %ld of %ld", &step, &steps) == 2 && steps > 0) {
        text_add(out, "running %ld %%", 100 * step / steps);
        while (left && left > state && *left != ',') left--;
        if (left) text_add(out, "%s", left);
    } else if (!strcmp(state, "done")) text_add(out, "done, %.0f seed%s", seeds, seeds == 1 ? "" : "s");
    else text_add(out, "%s", state);
}

static void draw_row(struct cells *cells, struct area line, const struct table *list, long r, bool marked)
{
    const char *state = text_of(list, r, "state"), *id = text_of(list, r, "id");
    bool running = text_starts(state, "running"), done = !strcmp(state, "done"), none = !strcmp(state, "not run");
    enum tint tint = running ? TINT_GOOD : done ? TINT_PLAIN : none ? TINT_DIM : TINT_WARN;
    const char *const marks[] = {running ? ">" : done ? "." : none ? "-" : "=", running ? "▶" : done ? "■" : none ? "·" : "‖"};
    struct text brief = {0};
    add_state(&brief, state, table_number(list, (size_t)r, "seeds"));
    cells_text(cells, line.row, line.col + 1, tint, "%s", marks[!cells->ascii]);
    cells_put(cells, line.row, line.col + 3, marked ? TINT_TITLE : TINT_PLAIN, id, 10);
    cells_put(cells, line.row, line.col + 14, tint, brief.data, line.cols - 16);
    enum { HEADLINE = 41 };
    cells_put(cells, line.row, line.col + HEADLINE, none ? TINT_DIM : TINT_PLAIN, text_of(list, r, none ? "help" : "headline"),
              line.cols - HEADLINE - 2);
    if (marked) draw_mark(cells, line.row, line.col, line.cols - 1);
    text_clear(&brief);
}

static void draw_list(struct app *app, struct cells *cells, struct area area, const struct table *list)
{
    int count = (int)list->row_count, at = (int)row_of(list, state_of(app)->id), first = scroll_first(at, count, area.rows);
    for (int i = 0; i < area.rows && first + i < count; i++) {
        struct area line = {area.row + i, area.col, 1, area.cols};
        draw_row(cells, line, list, first + i, first + i == at);
        app_spot(app, line, first + i);
    }
    draw_scroll(cells, area, first, count);
}

/* ---- card, numbers, figure */

static struct cells *card_page(struct app *app, const struct result *result, int cols, int *rows)
{
    struct cells *page = cells_new(PAGE_ROWS, cols);
    page->ascii = app->ascii;
    *rows = markdown_draw(page, (struct area){0, 0, PAGE_ROWS, cols}, result->said.data ? result->said.data : "");
    return page;
}

static void draw_card(struct app *app, struct cells *cells, struct area area, const struct result *result)
{
    struct state *s = state_of(app);
    int rows;
    struct cells *page = card_page(app, result, area.cols - 3, &rows);
    if (s->first > rows - area.rows) s->first = rows > area.rows ? rows - area.rows : 0;
    draw_window(cells, (struct area){area.row, area.col + 1, area.rows, area.cols - 3}, page, s->first);
    draw_scroll(cells, area, s->first, rows);
    cells_free(page);
}

/* Accuracies in per cent, as in the card; what is not there as nothing. */
static void draw_value(struct cells *cells, int row, int right, enum tint tint, double value, bool rate)
{
    if (isnan(value)) return;
    if (rate) draw_right(cells, row, right, tint, "%.1f %%", 100 * value);
    else draw_right(cells, row, right, tint, "%s", number_show(value));
}

static void draw_number_row(struct cells *cells, struct area line, const struct table *numbers, size_t r)
{
    const char *column = table_text(numbers, r, "column"), *kind = table_text(numbers, r, "kind"), *verdict = table_text(numbers, r, "verdict");
    bool rate = column && !strcmp(column, "accuracy"), claim = kind && !strcmp(kind, "claim"), wide = line.cols >= 100;
    int end = line.col + line.cols - 2, ours = end - 16, paper = ours - 9, low = paper - (wide ? 25 : 9);
    cells_put(cells, line.row, line.col + 1, TINT_PLAIN, text_of(numbers, (long)r, "what"), low - line.col - 1);
    if (wide) draw_value(cells, line.row, paper - 17, TINT_DIM, table_number(numbers, r, "low"), rate);
    if (wide) draw_value(cells, line.row, paper - 9, TINT_DIM, table_number(numbers, r, "high"), rate);
    draw_value(cells, line.row, paper, TINT_DIM, table_number(numbers, r, claim ? "than" : "paper"), rate);
    draw_value(cells, line.row, ours, TINT_PLAIN, table_number(numbers, r, "ours"), rate);
    bool good = verdict && !strcmp(verdict, "agrees");
    if (claim) draw_right(cells, line.row, end, good ? TINT_GOOD : TINT_BAD, "%s", verdict ? verdict : "");
    else draw_right(cells, line.row, end, TINT_DIM, "n %.0f", table_number(numbers, r, "n"));
}

static void draw_numbers(struct app *app, struct cells *cells, struct area area, const struct table *numbers)
{
    struct state *s = state_of(app);
    int count = (int)numbers->row_count, rows = area.rows - 1, end = area.col + area.cols - 2;
    if (s->first > count - rows) s->first = count > rows ? count - rows : 0;
    if (area.cols >= 100) draw_right(cells, area.row, end - 34, TINT_DIM, "95 %% interval");
    draw_right(cells, area.row, end - 25, TINT_DIM, "paper");
    draw_right(cells, area.row, end - 16, TINT_DIM, "ours");
    for (int i = 0; i < rows && s->first + i < count; i++)
        draw_number_row(cells, (struct area){area.row + 1 + i, area.col, 1, area.cols}, numbers, (size_t)(s->first + i));
    draw_scroll(cells, (struct area){area.row + 1, area.col, rows, area.cols}, s->first, count);
}

static void draw_figure(struct app *app, struct cells *cells, struct area area, const struct result *result)
{
    struct state *s = state_of(app);
    int count = figure_count(result);
    if (s->figure >= count) s->figure = 0;
    const struct table *table = count ? result->tables[1 + s->figure] : NULL;
    if (!table) {
        cells_put(cells, area.row + 1, area.col + 2, TINT_DIM, "it has no figure: t shows its numbers", area.cols - 4);
        return;
    }
    struct figure_options options = {.kind = table_fact_get(table, "figure_kind"), .x = table_fact_get(table, "figure_x"),
                                     .y = table_fact_get(table, "figure_y")};
    struct err err = {0};
    struct figure *figure = figure_from(table, &options, &err);
    struct text caption = {0};
    const char *shows = table_fact_get(table, "shows");
    text_add(&caption, "%d of %d: %s", s->figure + 1, count, shows ? shows : "");
    int rows = area.rows > 12 ? 2 : 1;
    draw_wrapped(cells, (struct area){area.row + area.rows - rows, area.col + 1, rows, area.cols - 3}, TINT_DIM, caption.data);
    if (figure) figure_draw_cells(figure, cells, area.row, area.col + 1, area.rows - rows, area.cols - 3);
    else draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - rows - 1, area.cols - 4}, TINT_WARN, err.text);
    figure_free(figure);
    text_clear(&caption);
}

static void draw_missing(struct cells *cells, struct area area, const struct table *list, long r)
{
    struct text text = {0};
    text_add(&text, "%s\n\n%s: nothing of it was measured. a shows the line that trains what is missing and then measures, to be changed and "
                    "entered; trainings are kept, and a stopped one goes on where it was.", text_of(list, r, "help"), text_of(list, r, "state"));
    draw_wrapped(cells, (struct area){area.row, area.col + 1, area.rows, area.cols - 3}, TINT_PLAIN, text.data);
    text_clear(&text);
}

static void draw_result(struct app *app, struct cells *cells, struct area area, const struct table *list)
{
    struct state *s = state_of(app);
    const struct result *result = result_of(app);
    long r = row_of(list, s->id);
    struct text heading = {0};
    text_add(&heading, "%s: %s", s->id, s->card >= 0 ? page_names[s->page] : "no card");
    if (s->card >= 0 && strcmp(text_of(list, r, "state"), "done")) text_add(&heading, "; %s", text_of(list, r, "state"));
    app_heading(app, cells, (struct area){area.row, area.col, 1, area.cols - 1}, RESULT, heading.data);
    text_clear(&heading);
    area.row++, area.rows--;
    if (s->card < 0) draw_missing(cells, area, list, r);
    else if (!result || !result->table_count) {
        bool ended = app_result(app, s->card) && result_ended(app_result(app, s->card));
        if (ended) app_draw_waiting(app, cells, area, s->card);
        else cells_put(cells, area.row + 1, area.col + 2, TINT_DIM, "reading ...", area.cols - 4);
    } else if (s->page == CARD) draw_card(app, cells, area, result);
    else if (s->page == NUMBERS) draw_numbers(app, cells, area, result->tables[0]);
    else draw_figure(app, cells, area, result);
}

/* In the card, when it has the screen; else in the list. */
static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    const struct table *list = app_table(app, LIST, 0);
    const struct result *result = result_of(app);
    if (!is_zoomed(app) || s->page != CARD || !result) {
        int at = search_table(list, text, (int)row_of(list, s->id), step);
        choose(s, list, at);
        return at >= 0;
    }
    int rows;
    struct text words = {0};
    struct cells *page = card_page(app, result, app->cols - 3, &rows);
    cells_page(page, &words);
    int at = search_lines(words.data, text, s->first, step);
    text_clear(&words);
    cells_free(page);
    if (at >= 0) s->first = at;
    return at >= 0;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    const struct table *list = app_table(app, LIST, 0);
    if (app_draw_waiting(app, cells, area, LIST)) return;
    int count = (int)list->row_count, rows = app_part(app, RESULT) ? area.rows * 2 / 5 : area.rows;
    if (rows > count) rows = count;
    if (app_part(app, REPLICATIONS)) {
        draw_list(app, cells, (struct area){area.row, area.col, rows, area.cols}, list);
        area.row += rows, area.rows -= rows;
    }
    if (app_part(app, RESULT) && area.rows > 2) draw_result(app, cells, area, list);
}

static const char *const parts[] = {"the list", "the result", NULL};

const struct view view_replicate = {
    .name = "replicate",
    .title = "the paper's results, measured again",
    .help = "every replication: how far it is, its card, its numbers beside the paper's, its figures; measures and trains",
    .keys = keys,
    .lines = lines,
    .draw = draw,
    .tick = tick,
    .settings = settings,
    .parts = parts,
    .search = search,
    .click = click,
    .example = "<Down><Down>f",
};
