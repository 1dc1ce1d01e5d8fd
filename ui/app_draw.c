/* The frame of every view: what is open, the body, the command line that made it, the keys. */
#include "app.h"
#include "complete.h"
#include "menu.h"
#include "opened.h"
#include "tour.h"

#include "ground/clock.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 16, COLS_LEAST = 60 };

/* Commands quicker than this show no progress: it would only flicker. */
static const double patience_seconds = 0.25;

/* ---- header */

/* All views by name where there is room; else only the one that is shown, and digits. Views without a digit are shown while they are open; g lists
 * them all. */
enum names { DIGITS, NAMES, ROOMY };

/* " 3 splits", " 3splits" or " 3"; draw says whether it is only measured. */
static int draw_tab(struct cells *cells, int col, const struct view *view, int digit, enum names names, bool here, bool draw)
{
    bool named = here || names >= NAMES, blank = here || names >= ROOMY;
    struct text text = {0};
    if (!here && !digit) return col;
    text_add(&text, " ");
    if (digit) text_add(&text, "%c%s", digit, named && blank ? " " : "");
    if (named) text_add(&text, "%s", view->name);
    if (here) text_add(&text, " ");
    int from = col + here, end = from + text_width(text.data);
    if (draw) cells_text(cells, 0, from, here ? TINT_TITLE : TINT_PLAIN, "%s", text.data);
    if (draw && here) cells_look(cells, 0, from, end - from, LOOK_REVERSE); /* twice reversed below: it stands out of the bar */
    else if (draw && named) cells_look(cells, 0, from + 1, 1, LOOK_BOLD);
    text_clear(&text);
    return end;
}

static int tabs_width(const struct app *app, struct cells *cells, enum names names)
{
    const struct view *view;
    int width = 0;
    for (size_t n = 0; (view = view_numbered(n)); n++) width = draw_tab(cells, width, view, view_digit(n), names, view == app->view, false);
    return width;
}

/* With names, where that leaves so many columns. */
static int draw_tabs(struct app *app, struct cells *cells, int others)
{
    const struct view *view;
    enum names names = ROOMY;
    while (names > DIGITS && others + tabs_width(app, cells, names) + 2 > cells->cols) names--;
    int col = cells->cols - tabs_width(app, cells, names) - 1, start = col;
    app->tab_count = 0;
    for (size_t n = 0; (view = view_numbered(n)); n++) {
        int from = col;
        col = draw_tab(cells, col, view, view_digit(n), names, view == app->view, true);
        if (col > from && app->tab_count < VIEWS_MOST) app->tabs[app->tab_count++] = (struct tab){from, col, view};
    }
    return start;
}

/* Work that goes on behind the view: "sweep 45 %". */
static void add_behind(const struct app *app, struct text *out)
{
    const struct result *result = app_behind(app);
    text_add(out, "%s", "");
    if (!result || clock_seconds() - result->started < patience_seconds) return;
    const struct standing *s = &result->standing;
    int name = (int)strcspn(result->line, " ");
    if (result->paused) text_add(out, "%.*s paused", name, result->line);
    else if (!result->moving) text_add(out, "%.*s %.0f s", name, result->line, clock_seconds() - result->started);
    else if (s->total > 0) text_add(out, "%s %.0f %%", s->what, 100 * s->done / s->total);
    else text_add(out, "%s %.0f %s", s->what, s->done, s->unit);
}

/* "vanilla  looped K=2  tied  F32 4.4 MB" */
static void add_about(const struct app *app, struct text *out)
{
    const char *family = app_fact(app, "family"), *loops = app_fact(app, "loops"), *interface = app_fact(app, "interface");
    const char *head = app_fact(app, "head"), *dtype = app_fact(app, "dtype"), *bytes = app_fact(app, "bytes");
    text_add(out, "%s", "");
    if (family) text_add(out, "  %s", family);
    if (loops) text_add(out, " K=%s", loops);
    if (interface && strcmp(interface, "none") != 0) text_add(out, "  %s", interface);
    if (head) text_add(out, text_starts(head, "tied") ? "  tied" : "  untied");
    if (dtype) text_add(out, "  %s", dtype);
    if (bytes) text_add(out, " %.1f MB", strtod(bytes, NULL) / 1e6);
}

static void add_name(const struct app *app, struct text *out)
{
    text_add(out, "%s", app->model ? path_base(app->model) : "");
    if (app->open_count > 1) text_add(out, " %zu/%zu", opened_place(app) + 1, app->open_count);
}

/* Whole facts only: half a number is a wrong one. */
static void cut_about(struct text *about, int width)
{
    while (text_width(about->data) > width) {
        char *last = about->data;
        for (char *at = last; (at = strstr(at, "  ")); at++) last = at;
        bool first = last == about->data;
        *last = '\0';
        if (first) return;
    }
}

/* What the model is and what runs come before the names of views, which have digits as well. */
static void draw_header(struct app *app, struct cells *cells)
{
    struct text behind = {0}, name = {0}, about = {0};
    int col = cells_text(cells, 0, 1, TINT_TITLE, "loopscope");
    add_behind(app, &behind), add_name(app, &name), add_about(app, &about);
    int family = (int)strcspn(about.data + strspn(about.data, " "), "=") + 5, job = *behind.data ? text_width(behind.data) + 2 : 0;
    int end = draw_tabs(app, cells, col + 2 + text_width(name.data) + family + job);
    if (job) end = draw_right(cells, 0, end - 1, TINT_TITLE, "%s", behind.data) - 1;
    if (app->model) {
        col = cells_put(cells, 0, col + 2, TINT_TITLE, name.data, end - col - 3);
        cut_about(&about, end - col - 1);
        cells_put(cells, 0, col, TINT_PLAIN, about.data, end - col - 1);
    }
    text_clear(&behind), text_clear(&name), text_clear(&about);
    for (int c = 0; c < cells->cols; c++) cells_glyph(cells, 0, c)->look ^= LOOK_REVERSE;
}

/* ---- command line and keys */

/* "sweep 45 %  3,900 rows/s  4 s left" */
static void add_standing(const struct result *result, struct text *out)
{
    const struct standing *s = &result->standing;
    if (result->paused) {
        text_add(out, " %.*s paused", (int)strcspn(result->line, " "), result->line);
        if (result->moving && s->total > 0) text_add(out, " at %.0f %%", 100 * s->done / s->total);
        return;
    }
    if (!result->moving) {
        text_add(out, " %.*s %.0f s", (int)strcspn(result->line, " "), result->line, clock_seconds() - result->started);
        return;
    }
    text_add(out, " %s", s->what);
    if (s->total > 0) text_add(out, " %.0f %%", 100 * s->done / s->total);
    else text_add(out, " %.0f %s", s->done, s->unit);
    if (s->rate > 0) text_add(out, "  %.*f %s/s", s->rate < 9.5 ? 1 : 0, s->rate, s->unit);
    if (s->left >= 0.5) text_add(out, "  %.0f s left", s->left);
}

/* What runs; or, when a table is shown that is not all of it, why not. */
static void draw_standing(struct app *app, struct cells *cells, int row)
{
    struct text text = {0};
    const struct result *wrong = NULL;
    for (int i = 0; i < WANTS && !text.size; i++) {
        const struct result *r = app_result(app, i);
        if (r && r->state == RESULT_RUNNING && clock_seconds() - r->started >= patience_seconds) add_standing(r, &text);
        if (r && r->state == RESULT_FAILED && r->wrong && app_table(app, i, 0)) wrong = r;
    }
    if (text.size) draw_right(cells, row, cells->cols - 1, TINT_WARN, "%s", text.data);
    else if (wrong) draw_right(cells, row, cells->cols - 1, TINT_BAD, " failed: %.*s", (int)strcspn(wrong->wrong, "\n"), wrong->wrong);
    else if (app->changed) draw_right(cells, row, cells->cols - 1, TINT_WARN, " the model's files have changed: R reads them again");
    text_clear(&text);
}

static void draw_command(struct app *app, struct cells *cells, int row, int *cursor_row, int *cursor_col)
{
    if (app->prompting) {
        static const char *const labels[] = {
            [ASK_COMMAND] = ":", [ASK_MODEL] = "model to open: ", [ASK_DATA] = "dataset: ", [ASK_SEARCH] = "/", [ASK_SAVE] = "save session as: ",
            [ASK_LOG] = "write log to: ", [ASK_TOKENS] = "tokens: ", [ASK_WATCH] = "token to watch: ",
            [ASK_OTHER] = "compare with: ",
        };
        int col = cells_text(cells, row, 1, TINT_KEY, "%s", labels[app->asking]);
        prompt_draw(&app->prompt, cells, row, col, cells->cols - col - 1, cursor_col);
        *cursor_row = row;
        return;
    }
    const struct result *shown = app_result(app, app->line_shown);
    if (shown) {
        int col = cells_text(cells, row, 1, TINT_DIM, "$ ");
        col = cells_put(cells, row, col, TINT_DIM, "loopscope ", cells->cols - col);
        cells_put(cells, row, col, TINT_PLAIN, shown->line, cells->cols - col - 1);
    }
    draw_standing(app, cells, row);
}

/* "←→ loop": the columns it takes, with two blanks behind it. */
static int draw_binding(struct app *app, struct cells *cells, int row, int col, const struct binding *binding, bool draw)
{
    struct text keys = {0};
    binding_show(binding, app->ascii, true, &keys);
    if (draw) cells_text(cells, row, col, TINT_KEY, "%s", keys.data);
    if (draw) cells_text(cells, row, col + text_width(keys.data) + 1, TINT_PLAIN, "%s", binding->name);
    int width = text_width(keys.data) + 1 + text_width(binding->name) + 2;
    text_clear(&keys);
    return width;
}

/* Has it no name, or does the tour take its key? */
static bool is_hidden(const struct app *app, const struct binding *b) { return !b->name || (tour_takes(app, b->keys[0]) && !b->keys[1]); }

static int bindings_width(struct app *app, struct cells *cells, const struct binding *list)
{
    int width = 0;
    for (const struct binding *b = list; b && b->keys[0]; b++)
        if (!is_hidden(app, b)) width += draw_binding(app, cells, 0, 0, b, false);
    return width;
}

static const struct binding prompt_keys[] = {
    {{PRESS_ENTER}, "run", NULL, NULL}, {{PRESS_UP, PRESS_DOWN}, "earlier lines", NULL, NULL}, {{PRESS_TAB}, "complete", NULL, NULL},
    {{PRESS_ESCAPE}, "leave", NULL, NULL}, {{0}},
};

/* Keys of the view by their worth: from the first that has no room on, only the help tells them. */
static void draw_view_keys(struct app *app, struct cells *cells, int row)
{
    static const struct binding more = {{'?'}, "more", NULL, NULL};
    int end = cells->cols + 1 - bindings_width(app, cells, app_keys), col = 1, help = more.keys[0];
    bool all = bindings_width(app, cells, app->view->keys) <= end - 1;
    if (!all) end += draw_binding(app, cells, row, 0, binding_find(app_keys, help), false); /* it says the same */
    int room = all ? end : end - draw_binding(app, cells, row, 0, &more, false);
    for (const struct binding *b = app->view->keys; b && b->keys[0]; b++) {
        if (is_hidden(app, b)) continue;
        if (col + draw_binding(app, cells, row, col, b, false) > room) break;
        col += draw_binding(app, cells, row, col, b, true);
    }
    if (!all) draw_binding(app, cells, row, col, &more, true);
    for (const struct binding *b = app_keys; b->keys[0]; b++)
        if (b->name && (all || b->keys[0] != help)) end += draw_binding(app, cells, row, end, b, true);
}

static void draw_keys(struct app *app, struct cells *cells, int row)
{
    if (app->prompting) {
        int at = 1;
        for (const struct binding *b = prompt_keys; b->keys[0]; b++) at += draw_binding(app, cells, row, at, b, true);
    } else if (app->message[0]) cells_put(cells, row, 1, TINT_WARN, app->message, cells->cols - 2);
    else draw_view_keys(app, cells, row);
}

/* ---- parts and places of a view */

bool app_part(const struct app *app, int part)
{
    const struct pane *pane = app_pane(app, app->view);
    return pane->zoomed ? part == pane->part : !(pane->hidden & 1u << part);
}

void app_heading(struct app *app, struct cells *cells, struct area line, int part, const char *text)
{
    const struct pane *pane = app_pane(app, app->view);
    draw_heading(cells, line.row, line.col, line.cols, text);
    if (pane->part == part) cells_text(cells, line.row, line.col, TINT_KEY, cells->ascii ? ">" : "▸");
    if (pane->zoomed) draw_right(cells, line.row, line.col + line.cols - 1, TINT_KEY, " z: all parts ");
}

void app_spot(struct app *app, struct area area, int code)
{
    if (app->spot_count < SPOTS_MOST) app->spots[app->spot_count++] = (struct spot){area, code};
}

void app_spot_rows(struct app *app, struct area area, int at, int count)
{
    int rows = area.rows - 1, first = scroll_first(at, count, rows);
    for (int i = 0; i < rows && first + i < count; i++) app_spot(app, (struct area){area.row + 1 + i, area.col, 1, area.cols}, first + i);
}

/* ---- all of it */

bool app_draw_waiting(struct app *app, struct cells *cells, struct area area, int want)
{
    const struct result *result = app_result(app, want);
    if (app_table(app, want, 0)) return false;
    struct area inner = {area.row + 1, area.col + 2, area.rows - 1, area.cols - 4};
    if (!result) {
        if (!app->model) draw_wrapped(cells, inner, TINT_PLAIN, "No model is open: 1 lists those that are here, o asks for a path.");
        return true;
    }
    if (result->state == RESULT_FAILED) {
        int rows = draw_wrapped(cells, inner, TINT_BAD, "this cannot be shown:");
        inner.row += rows, inner.rows -= rows;
        draw_wrapped(cells, inner, TINT_PLAIN, result->wrong ? result->wrong : "no reason given");
    } else if (result->state == RESULT_STOPPED) draw_wrapped(cells, inner, TINT_WARN, "stopped; R computes it again");
    else if (result->state == RESULT_DONE) draw_wrapped(cells, inner, TINT_DIM, "the command gave no table");
    else draw_wrapped(cells, inner, TINT_DIM, "computing ...");
    return true;
}

void app_draw(struct app *app, struct cells *cells, int *cursor_row, int *cursor_col)
{
    *cursor_row = *cursor_col = -1;
    cells_clear(cells);
    cells->ascii = app->ascii;
    if (cells->rows < ROWS_LEAST || cells->cols < COLS_LEAST) {
        struct area all = {0, 0, cells->rows, cells->cols};
        char text[64];
        snprintf(text, sizeof text, "need %dx%d, have %dx%d", COLS_LEAST, ROWS_LEAST, cells->cols, cells->rows);
        draw_wrapped(cells, all, TINT_PLAIN, text);
        return;
    }
    app->spot_count = 0;
    app->cols = cells->cols;
    draw_header(app, cells);
    struct area body = {1, 0, cells->rows - 3, cells->cols};
    struct area left = body;
    if (app->tour >= 0) left.rows -= tour_draw(app, cells, body);
    app->view->draw(app, cells, left);
    if (app->tour >= 0) tour_draw(app, cells, body); /* over what the view drew too far */
    if (app->menu >= 0) {
        app->spot_count = 0;
        menu_draw(app, cells, body);
    }
    if (app->prompting) complete_draw(app, cells, body);
    for (int r = cells->rows - 2; r < cells->rows; r++) /* what a view drew too far */
        for (int c = 0; c < cells->cols; c++) *cells_glyph(cells, r, c) = (struct glyph){.text = " "};
    draw_command(app, cells, cells->rows - 2, cursor_row, cursor_col);
    draw_keys(app, cells, cells->rows - 1);
}
