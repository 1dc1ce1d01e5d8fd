#include "app.h"

#include "figures/export.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct size_choice { double width, height; const char *use; } sizes[] = {
    {3.4, 2.55, "one column"}, {6.9, 3.2, "two columns"}, {5, 3.75, "a slide"}, {2.2, 1.8, "a third of a page"},
};
static const double dpis[] = {300, 600, 150, 96};
static const char *const formats[] = {"png", "svg", "pdf"};
enum { SIZES = sizeof sizes / sizeof *sizes, DPIS = sizeof dpis / sizeof *dpis, FORMATS = sizeof formats / sizeof *formats };

struct state { int at, size, dpi, format; bool begun; };

static struct state *state_of(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    if (!s->begun) gallery_look(&app->gallery);
    s->begun = true;
    if (s->at >= (int)app->gallery.count) s->at = (int)app->gallery.count - 1;
    if (s->at < 0) s->at = 0;
    return s;
}

/* ---- keys */

static void press_move(struct app *app, int key)
{
    state_of(app)->at += key == PRESS_UP ? -1 : 1;
    state_of(app);
}

static void press_size(struct app *app, int key) { (void)key, state_of(app)->size = (state_of(app)->size + 1) % SIZES; }
static void press_dpi(struct app *app, int key) { (void)key, state_of(app)->dpi = (state_of(app)->dpi + 1) % DPIS; }
static void press_format(struct app *app, int key) { (void)key, state_of(app)->format = (state_of(app)->format + 1) % FORMATS; }

/* Without what new_path() has put behind a name before: "-6.9x3.2", "-300dpi". */
static void cut_size(struct text *path)
{
    char ending[32];
    for (int i = 0; i < DPIS; i++) {
        snprintf(ending, sizeof ending, "-%gdpi", dpis[i]);
        if (text_ends(path->data, ending)) path->data[path->size -= strlen(ending)] = '\0';
    }
    for (int i = 0; i < SIZES; i++) {
        snprintf(ending, sizeof ending, "-%gx%g", sizes[i].width, sizes[i].height);
        if (text_ends(path->data, ending)) path->data[path->size -= strlen(ending)] = '\0';
    }
}

/* The same name with the new ending; another size or resolution of a format that is there says so in its name. */
static char *new_path(const struct state *s, const char *old)
{
    struct text path = {0};
    bool dpi = s->dpi && !strcmp(formats[s->format], "png"); /* the others have none */
    text_add_bytes(&path, old, strlen(old) - 4);
    cut_size(&path);
    if (s->size || dpi) text_add(&path, "-%gx%g", sizes[s->size].width, sizes[s->size].height);
    if (dpi) text_add(&path, "-%gdpi", dpis[s->dpi]);
    text_add(&path, ".%s", formats[s->format]);
    return path.data;
}

static void press_export(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    if (!app->gallery.count) {
        app_say(app, "there is no figure to draw again");
        return;
    }
    struct figure_options options = {.width = sizes[s->size].width, .height = sizes[s->size].height, .dpi = dpis[s->dpi]};
    char *path = new_path(s, app->gallery.paths[s->at]);
    struct text line = {0};
    struct err err = {0};
    if (gallery_export(&app->gallery, (size_t)s->at, &options, path, &line, &err)) {
        journal_note(&app->journal, line.data);
        app_say(app, "wrote %s", path);
    } else app_say(app, "%s", err.text);
    text_clear(&line);
    mem_free(path);
}

static void press_look(struct app *app, int key)
{
    (void)key;
    gallery_look(&app->gallery);
    app_say(app, "%zu figures", app->gallery.count);
}

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN}, "figure", "picks a figure", press_move},
    {{'e', PRESS_ENTER}, "export", "draws the figure again from its table, as set", press_export},
    {{'s'}, "size", "another size", press_size},
    {{'r'}, "dpi", "another resolution", press_dpi},
    {{'f'}, "format", "PNG, SVG or PDF", press_format},
    {{'l'}, NULL, "looks into figures/ again", press_look},
    {{0}},
};

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    int count = (int)app->gallery.count;
    for (int i = 1; i <= count; i++) {
        int at = ((s->at + step * i) % count + count) % count;
        if (!strstr(app->gallery.paths[at], text)) continue;
        s->at = at;
        return true;
    }
    return false;
}

static void click(struct app *app, int code) { state_of(app)->at = code; }

/* ---- settings */

static void get_size(struct app *app, struct text *out)
{
    const struct size_choice *size = &sizes[state_of(app)->size];
    text_add(out, "%gx%g", size->width, size->height);
}
static void get_dpi(struct app *app, struct text *out) { text_add(out, "%g", dpis[state_of(app)->dpi]); }
static void get_format(struct app *app, struct text *out) { text_add(out, "%s", formats[state_of(app)->format]); }

static bool set_size(struct app *app, const char *value)
{
    char text[32];
    for (int i = 0; i < SIZES; i++) {
        snprintf(text, sizeof text, "%gx%g", sizes[i].width, sizes[i].height);
        if (!strcmp(text, value)) return state_of(app)->size = i, true;
    }
    return false;
}

static bool set_dpi(struct app *app, const char *value)
{
    for (int i = 0; i < DPIS; i++)
        if (strtod(value, NULL) == dpis[i]) return state_of(app)->dpi = i, true;
    return false;
}

static bool set_format(struct app *app, const char *value)
{
    for (int i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i], value)) return state_of(app)->format = i, true;
    return false;
}

static const char *const size_names[] = {"3.4x2.55", "6.9x3.2", "5x3.75", "2.2x1.8", NULL}, *const dpi_names[] = {"300", "600", "150", "96", NULL};
static const char *const format_names[] = {"png", "svg", "pdf", NULL};
static const struct setting settings[] = {
    {"size", "of the next export, in inches", get_size, set_size, size_names},
    {"dpi", "of the next PNG", get_dpi, set_dpi, dpi_names},
    {"format", "of the next export", get_format, set_format, format_names},
    {0},
};

/* ---- all of it */

static void draw_list(struct app *app, struct cells *cells, struct area area, int at)
{
    int count = (int)app->gallery.count, first = scroll_first(at, count, area.rows);
    for (int i = 0; i < area.rows && first + i < count; i++) {
        cells_put(cells, area.row + i, area.col + 1, TINT_PLAIN, app->gallery.paths[first + i], area.cols - 3);
        if (first + i == at) draw_mark(cells, area.row + i, area.col, area.cols - 1);
        app_spot(app, (struct area){area.row + i, area.col, 1, area.cols}, first + i);
    }
    draw_scroll(cells, area, first, count);
}

static void draw_preview(struct app *app, struct cells *cells, struct area area, int at)
{
    const char *wrong;
    struct err err = {0};
    const struct table *table = gallery_table(&app->gallery, (size_t)at, &wrong);
    struct figure *figure = table ? figure_from(table, NULL, &err) : NULL;
    if (!figure) {
        draw_wrapped(cells, (struct area){area.row, area.col + 1, area.rows, area.cols - 2}, TINT_WARN, wrong ? wrong : err.text);
        return;
    }
    int caption = area.rows > 14 ? 3 : area.rows > 9 ? 1 : 0;
    figure_draw_cells(figure, cells, area.row, area.col + 1, area.rows - caption, area.cols - 2);
    if (caption) draw_wrapped(cells, (struct area){area.row + area.rows - caption, area.col + 1, caption, area.cols - 2}, TINT_DIM, figure->caption);
    figure_free(figure);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    int count = (int)app->gallery.count, rows = count < area.rows / 3 ? count : area.rows / 3;
    if (!count) {
        draw_wrapped(cells, (struct area){area.row + 1, area.col + 2, area.rows - 1, area.cols - 4}, TINT_PLAIN,
                     "No figure has been exported yet: e writes the curve of a sweep into figures/, with its table and its caption.");
        return;
    }
    struct area list = {area.row, area.col, rows, area.cols}, rest = {area.row + rows, area.col, area.rows - rows, area.cols};
    if (app_part(app, 0) && !app_part(app, 1)) list.rows = area.rows;
    if (!app_part(app, 0)) rest = area;
    if (app_part(app, 0)) draw_list(app, cells, list, s->at);
    if (!app_part(app, 1) || rest.rows < 3) return;
    struct text heading = {0};
    char *path = new_path(s, app->gallery.paths[s->at]);
    const struct size_choice *size = &sizes[s->size];
    text_add(&heading, "e writes %s: %gx%g in, %s", path, size->width, size->height, size->use);
    if (!strcmp(formats[s->format], "png")) text_add(&heading, ", %g dpi", dpis[s->dpi]);
    app_heading(app, cells, (struct area){rest.row, rest.col, 1, rest.cols - 1}, 1, heading.data);
    mem_free(path);
    text_clear(&heading);
    draw_preview(app, cells, (struct area){rest.row + 1, rest.col, rest.rows - 1, rest.cols}, s->at);
}

static const char *const parts[] = {"the list", "the preview", NULL};

const struct view view_figures = {
    .name = "figures",
    .title = "what has been exported",
    .help = "figures in figures/ and of this session, as they are, and in other sizes and formats",
    .keys = keys,
    .draw = draw,
    .settings = settings,
    .parts = parts,
    .search = search,
    .click = click,
    .example = ":view intervene<Enter>se:view figures<Enter>fe<Up>",
};
