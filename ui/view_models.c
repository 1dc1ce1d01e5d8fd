#include "app.h"
#include "opened.h"
#include "parity.h"
#include "search.h"

#include "ground/option.h"

#include <math.h>
#include <string.h>

enum { LIST, INFO };

struct state { int parity; /* its want; -1: none */ };

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static const char *selected(const struct app *app)
{
    return app->model_at < app->model_count ? app->models[app->model_at] : app->model;
}

static void lines(struct app *app)
{
    const char *path = selected(app);
    app_want(app, "models");
    if (!path) return;
    struct text line = {0};
    text_add(&line, "info ");
    text_add_quoted(&line, path);
    app_want(app, "%s", line.data);
    text_clear(&line);
    state_of(app)->parity = parity_want(app, path);
}

static void press_move(struct app *app, int key)
{
    if (key == PRESS_UP && app->model_at > 0) app->model_at--;
    if (key == PRESS_DOWN && app->model_at + 1 < app->model_count) app->model_at++;
}

static void press_open(struct app *app, int key)
{
    (void)key;
    if (selected(app)) app_open(app, selected(app));
}

static void press_close(struct app *app, int key)
{
    (void)key;
    if (!opened_find(app, selected(app))) app_say(app, "it is not open");
    else opened_close(app, selected(app));
}

/* The list, and behind it the models from elsewhere that are open. */
static struct table *whole_list(const struct app *app, const struct table *list)
{
    struct table *whole = table_copy(list);
    for (size_t r = list->row_count; r < app->model_count && app_current(app, LIST); r++) {
        struct cell cells[32];
        for (size_t c = 0; c < list->column_count && c < 32; c++) cells[c] = list->columns[c].role == ROLE_LABEL ? cell_text("") : cell_number(NAN);
        struct text quoted = {0};
        text_add_quoted(&quoted, app->models[r]);
        const struct table *info = app_kept(app, "info %s", quoted.data);
        text_clear(&quoted);
        int name = table_find(list, "name");
        if (name >= 0) cells[name] = cell_text(app->models[r]);
        for (size_t i = 0; info && i < info->row_count; i++) {
            int c = table_find(list, table_text(info, i, "property") ? table_text(info, i, "property") : "");
            double number;
            if (c < 0 || c == name) continue;
            if (cells[c].text) cells[c] = cell_text(table_text(info, i, "value"));
            else if (parse_number(table_text(info, i, "value"), &number)) cells[c] = cell_number(number);
        }
        table_row(whole, cells);
    }
    return whole;
}

static bool search(struct app *app, const char *text, int step)
{
    const struct table *list = app_table(app, LIST, 0);
    struct table *whole = list ? whole_list(app, list) : NULL;
    int at = search_table(whole, text, (int)app->model_at, step);
    if (at >= 0 && at < (int)app->model_count) app->model_at = (size_t)at;
    table_free(whole);
    return at >= 0;
}

static void click(struct app *app, int code)
{
    if (code < (int)app->model_count) app->model_at = (size_t)code;
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "model", "picks a model of the list", press_move},
    {{PRESS_ENTER}, "open", "opens the picked model beside the others: every other view shows it then", press_open},
    {{'x'}, "close", "closes the picked model", press_close},
    {{0}},
};

static void draw_none(struct cells *cells, struct area area)
{
    struct area inner = {area.row + 1, area.col + 2, area.rows - 1, area.cols - 4};
    int rows = draw_wrapped(cells, inner, TINT_TITLE, "No models found.");
    inner.row += rows + 1, inner.rows -= rows + 1;
    draw_wrapped(cells, inner, TINT_PLAIN,
                 "Bundled models are folders with a config.json under models/, here or where the program is installed.\n"
                 "Your own: o asks for a path, of a folder that holds config.json and model.safetensors.");
}

static void draw_about(struct app *app, struct cells *cells, struct area area)
{
    const struct table *info = app_table(app, INFO, 0);
    if (area.rows < 2) return;
    app_heading(app, cells, (struct area){area.row, area.col, 1, area.cols}, 1, session_brief(app->session, selected(app)));
    struct area inner = {area.row + 1, area.col, area.rows - 1, area.cols};
    if (app_draw_waiting(app, cells, inner, INFO)) return;
    struct text defaults = {0};
    if (app_defaults(info, &defaults)) cells_put(cells, inner.row++, inner.col + 1, TINT_WARN, defaults.data, inner.cols - 2), inner.rows--;
    text_clear(&defaults);
    parity_draw(app, cells, (struct area){inner.row, inner.col + 1, inner.rows, inner.cols - 2}, state_of(app)->parity);
    inner.row++, inner.rows--;
    draw_facts(cells, inner, info);
}

/* Which are open, and which one of them is looked at. */
static void draw_open(const struct app *app, struct cells *cells, struct area area, int rows)
{
    int shown = area.rows - 1, first = scroll_first((int)app->model_at, rows, shown);
    for (int i = 0; i < shown && first + i < rows && first + i < (int)app->model_count; i++) {
        const struct opened *one = opened_find(app, app->models[first + i]);
        bool here = one && one == opened_find(app, app->model);
        if (!one) continue;
        cells_text(cells, area.row + 1 + i, area.col - 1, TINT_KEY, here ? (cells->ascii ? "*" : "●") : cells->ascii ? "o" : "○");
    }
}

static void draw_list(struct app *app, struct cells *cells, struct area area, const struct table *list)
{
    static const char *const columns[] = {"name", "interface", "loops", "blocks", "width", "parameters", "dtype", "data", NULL};
    draw_open(app, cells, area, (int)list->row_count);
    draw_table(cells, area, list, columns, (int)app->model_at);
    app_spot_rows(app, area, (int)app->model_at, (int)list->row_count);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    if (!app->model_count && !app->model) {
        draw_none(cells, area);
        return;
    }
    struct table *list = app_table(app, LIST, 0) ? whole_list(app, app_table(app, LIST, 0)) : NULL;
    int half = app_part(app, 1) ? area.rows / 2 : area.rows - 1, rows = list ? (int)list->row_count + 1 : 3, used = 0;
    struct area top = {area.row + 1, area.col + 1, rows < half ? rows : half, area.cols - 2};
    if (app_part(app, 0)) {
        used = top.rows + 2;
        if (!app_draw_waiting(app, cells, top, LIST)) draw_list(app, cells, top, list);
    }
    if (app_part(app, 1)) draw_about(app, cells, (struct area){area.row + used, area.col + 1, area.rows - used, area.cols - 2});
    table_free(list);
}

static const char *const parts[] = {"the list", "what the model is", NULL};

const struct view view_models = {
    .name = "models", .title = "models that are here", .help = "which models are bundled or found here, and what each of them is",
    .keys = keys, .lines = lines, .draw = draw, .parts = parts, .search = search, .click = click,
};
