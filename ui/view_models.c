#include "app.h"
#include "search.h"

#include <string.h>

enum { LIST, INFO };

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

static bool search(struct app *app, const char *text, int step)
{
    int at = search_table(app_table(app, LIST, 0), text, (int)app->model_at, step);
    if (at >= 0 && at < (int)app->model_count) app->model_at = (size_t)at;
    return at >= 0;
}

static void click(struct app *app, int code)
{
    if (code < (int)app->model_count) app->model_at = (size_t)code;
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "model", "picks a model of the list", press_move},
    {{PRESS_ENTER}, "open", "opens the picked model: every other view shows it then", press_open},
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
    app_heading(app, cells, (struct area){area.row, area.col, 1, area.cols}, 1, selected(app));
    struct area inner = {area.row + 1, area.col, area.rows - 1, area.cols};
    if (app_draw_waiting(app, cells, inner, INFO)) return;
    draw_facts(cells, inner, info);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    if (!app->model_count && !app->model) {
        draw_none(cells, area);
        return;
    }
    static const char *const columns[] = {"name", "interface", "loops", "blocks", "width", "parameters", "dtype", "data", NULL};
    const struct table *list = app_table(app, LIST, 0);
    int half = app_part(app, 1) ? area.rows / 2 : area.rows - 1, rows = list ? (int)list->row_count + 1 : 3, used = 0;
    struct area top = {area.row + 1, area.col + 1, rows < half ? rows : half, area.cols - 2};
    if (app_part(app, 0)) {
        used = top.rows + 2;
        if (!app_draw_waiting(app, cells, top, LIST)) draw_table(cells, top, list, columns, (int)app->model_at);
        if (list) app_spot_rows(app, top, (int)app->model_at, (int)list->row_count);
    }
    if (app_part(app, 1)) draw_about(app, cells, (struct area){area.row + used, area.col + 1, area.rows - used, area.cols - 2});
}

static const char *const parts[] = {"the list", "what the model is", NULL};

const struct view view_models = {
    .name = "models", .title = "models that are here", .help = "which models are bundled or found here, and what each of them is",
    .keys = keys, .lines = lines, .draw = draw, .parts = parts, .search = search, .click = click,
};
