#include "app.h"
#include "form.h"
#include "opened.h"

#include "doing/command.h"
#include "doing/share.h"
#include "figures/group.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

static const char *const probes[] = {"eval", "bridge --boundary -1", "drift --boundary -1", "orbit", NULL};
enum { PROBES = sizeof probes / sizeof *probes - 1 };

struct state {
    char with[512];  /* the other model; "": the next one of the list */
    char edit[256];  /* of the other side; "": none */
    char first[256]; /* edit of the open model's side */
    char probe[256]; /* as it was chosen; "": the first of the list */
    int at;          /* the marked disagreement */
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static const char *probe_of(const struct state *s) { return *s->probe ? s->probe : probes[0]; }

/* The n-th model behind the open one, in the list of those that are here. */
static const char *behind(const struct app *app, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < app->model_count; i++)
        if (!strcmp(app->models[i], app->model) || !strcmp(path_base(app->models[i]), app->model)) at = i;
    if (!app->model_count) return app->model;
    const char *path = app->models[(at + n) % app->model_count];
    if (*path != '/' || strchr(app->model, '/')) return path;
    char *named = share_find(app->session->share, "models", path_base(path)); /* a bundled one: by its name, as the open one */
    bool same = named && !strcmp(named, path);
    mem_free(named);
    return same ? path_base(path) : path;
}

static const char *other_of(const struct app *app, const struct state *s)
{
    if (*s->with) return s->with;
    if (*s->edit || *s->first) return app->model;
    return app->open_count > 1 ? app->open[(opened_place(app) + 1) % app->open_count].model : behind(app, 1);
}

static void add_quoted_pair(const char *word, struct text *out)
{
    text_add(out, " ");
    text_add_quoted(out, word);
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    struct text line = {0};
    if (!app->model) return;
    for (int list = 0; list < 2; list++) {
        line.size = 0;
        text_add(&line, "compare %s", app_model(app));
        add_quoted_pair(other_of(app, s), &line);
        if (list) text_add(&line, " --questions");
        else add_quoted_pair(probe_of(s), &line);
        if (app->data) text_add(&line, " --data"), add_quoted_pair(app->data, &line);
        if (*s->first) text_add(&line, " --do-a"), add_quoted_pair(s->first, &line);
        if (*s->edit) text_add(&line, " --do-b"), add_quoted_pair(s->edit, &line);
        app_want(app, "%s", line.data);
    }
    text_clear(&line);
}

/* ---- keys */

static void press_other(struct app *app, int key)
{
    struct state *s = state_of(app);
    size_t at = 0, step = key == PRESS_LEFT ? app->model_count - 1 : 1, count = app->model_count;
    char now[sizeof s->with];
    if (!app->model || count < 2) return;
    snprintf(now, sizeof now, "%s", other_of(app, s));
    for (size_t n = 1; n < count; n++)
        if (!strcmp(behind(app, n), now) || !strcmp(path_base(behind(app, n)), now)) at = n;
    at = (at + step) % count;
    if (!at) at = step; /* the open one itself */
    snprintf(s->with, sizeof s->with, "%s", behind(app, at));
    s->at = 0;
}

static void press_edit(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    if (*s->edit) *s->edit = 0, *s->with = 0;
    else {
        struct form form;
        struct text edit = {0};
        form_start(&form);
        form_add(&form, true, &edit);
        snprintf(s->edit, sizeof s->edit, "%s", edit.data);
        snprintf(s->with, sizeof s->with, "%s", app->model ? app->model : "");
        text_clear(&edit);
        app_say(app, "b is the same model, edited; :set compare.edit says how");
    }
    s->at = 0;
}

static void press_probe(struct app *app, int key)
{
    struct state *s = state_of(app);
    int at = key == 'm' ? -1 : 0;
    for (int i = 0; i < PROBES; i++)
        if (!strcmp(probes[i], probe_of(s))) at = i;
    snprintf(s->probe, sizeof s->probe, "%s", probes[(at + (key == 'm' ? 1 : PROBES - 1)) % PROBES]);
}

static void press_row(struct app *app, int key)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 1, 0);
    int count = table ? (int)table->row_count : 0;
    s->at += key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : key == PRESS_PAGE_UP ? -10 : 10;
    if (s->at >= count) s->at = count - 1;
    if (s->at < 0) s->at = 0;
}

static void take_question(struct app *app)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 1, 0);
    if (!table || s->at >= (int)table->row_count) return;
    snprintf(app->split, sizeof app->split, "%s", table_text(table, (size_t)s->at, "split"));
    app->row = (long)table_number(table, (size_t)s->at, "row");
}

/* In the grid of the first side; the other is a key away: the same question of the other model, or the edit of this one. */
static void press_grid(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct err err = {0};
    (void)key;
    if (!app->model) return;
    take_question(app);
    if (!strcmp(other_of(app, s), app->model) && *s->edit) {
        settings_set(app, "intervene.edit", s->edit, &err);
        settings_set(app, "intervene.panel", "places", &err);
        app_go(app, view_find("intervene"));
        return;
    }
    if (strcmp(other_of(app, s), app->model) != 0) {
        struct text other = {0};
        text_add_quoted(&other, other_of(app, s));
        opened_read(app, other.data);
        text_clear(&other);
        app_say(app, "the same question of %s: O turns to it, and back", path_base(other_of(app, s)));
    }
    app_go(app, view_find("grid"));
}

static void press_with(struct app *app, int key)
{
    (void)key;
    app_ask(app, ASK_OTHER, app->model ? other_of(app, state_of(app)) : "");
}

static void press_measure(struct app *app, int key)
{
    struct text line = {0};
    (void)key;
    text_add(&line, "set compare.probe ");
    text_add_quoted(&line, probe_of(state_of(app)));
    app_ask(app, ASK_COMMAND, line.data);
    text_clear(&line);
}

/* The other model becomes the open one, and stays on this view with the question that is marked. */
static void press_swap(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    if (!app->model || *s->edit) return;
    char *was = mem_text(app->model), *other = mem_text(other_of(app, s));
    const struct view *here = app->view;
    app_open(app, other);
    app_go(app, here);
    snprintf(s->with, sizeof s->with, "%s", was);
    mem_free(was), mem_free(other);
}

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 1, 0);
    int count = table ? (int)table->row_count : 0;
    for (int i = 1; i <= count; i++) {
        int r = ((s->at + step * i) % count + count) % count;
        static const char *const columns[] = {"question", "says_a", "says_b"};
        for (int c = 0; c < 3; c++)
            if (strstr(table_text(table, (size_t)r, columns[c]), text)) return s->at = r, true;
    }
    return false;
}

static void click(struct app *app, int code) { state_of(app)->at = code; }

static void get_with(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->with); }

static bool set_with(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    char *name = *value ? opened_name(app, value) : mem_text("");
    bool fits = strlen(name) < sizeof s->with;
    if (fits) snprintf(s->with, sizeof s->with, "%s", name);
    mem_free(name);
    return fits;
}

static bool read_edit(char edit[256], const char *value)
{
    struct form form;
    form_start(&form);
    if (strlen(value) >= 256 || (*value && !form_read(&form, value))) return false;
    snprintf(edit, 256, "%s", value);
    return true;
}

static void get_edit(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->edit); }
static bool set_edit(struct app *app, const char *value) { return read_edit(state_of(app)->edit, value); }
static void get_first(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->first); }
static bool set_first(struct app *app, const char *value) { return read_edit(state_of(app)->first, value); }

static void get_probe(struct app *app, struct text *out) { text_add(out, "%s", probe_of(state_of(app))); }

/* Any measurement, with its options and without the model. */
static bool set_probe(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    struct text name = {0};
    text_add_bytes(&name, value, strcspn(value, " "));
    text_add(&name, "%s", "");
    bool good = command_find(name.data) && strlen(value) < sizeof s->probe;
    if (good) snprintf(s->probe, sizeof s->probe, "%s", value);
    text_clear(&name);
    return good;
}

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->at); }
static bool set_marked(struct app *app, const char *value) { return setting_number(value, &state_of(app)->at); }

static const struct setting settings[] = {
    {"with", "the other model: a folder or a name; empty: the next of the list", get_with, set_with},
    {"edit", "an edit of the other side, as --do takes it; empty: none", get_edit, set_edit},
    {"edit-a", "an edit of the open model's side", get_first, set_first},
    {"probe", "what is measured on both", get_probe, set_probe, probes},
    {"marked", "the disagreement that keys act on", get_marked, set_marked, .kind = SETTING_PLACE},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT}, "other", "compares with another model", press_other},
    {{'b'}, "with", "compares with any model or run, by its name or path; Tab completes", press_with},
    {{'m', 'M'}, "measure", "another measurement", press_probe},
    {{'l'}, NULL, "any measurement on both: a line to be changed and entered", press_measure},
    {{'e'}, "edited", "compares with the same model, edited; with another model again", press_edit},
    {{PRESS_UP, PRESS_DOWN, PRESS_PAGE_UP, PRESS_PAGE_DOWN}, "question", "another question on which they disagree", press_row},
    {{PRESS_ENTER}, "grid", "the marked question through the loops; O turns to the other model, or, with an edit, before and after", press_grid},
    {{'x'}, "swap", "opens the other model, and compares with this one", press_swap},
    {{0}},
};

/* ---- drawing */

/* A model's name, and its path where the other has the same name. */
static const char *name_of(const char *path, const char *other)
{
    return strcmp(path_base(path), path_base(other)) != 0 ? path_base(path) : path;
}

/* Names of values: columns that end in _change. */
static int values_of(const struct table *table, char names[][32], int most)
{
    int count = 0;
    for (size_t c = 0; c < table->column_count && count < most; c++) {
        const char *name = table->columns[c].name;
        size_t size = strlen(name);
        if (text_ends(name, "_change") && size - 7 < sizeof names[0]) snprintf(names[count++], sizeof names[0], "%.*s", (int)(size - 7), name);
    }
    return count;
}

static double side_of(const struct table *table, size_t r, const char *value, const char *ending)
{
    char column[48];
    snprintf(column, sizeof column, "%.31s_%.8s", value, ending);
    return table_number(table, r, column);
}

enum { SIDE = 7, VALUE = 3 * SIDE + 2, VALUES_MOST = 12 };

/* Three digits behind the point where that says anything: these numbers are read against each other. */
static void draw_brief(struct cells *cells, int row, int right, double x)
{
    if (isnan(x)) return;
    if (fabs(x) < 10) draw_right(cells, row, right, TINT_PLAIN, "%.3f", fabs(x) < 0.0005 ? 0 : x);
    else draw_right(cells, row, right, TINT_PLAIN, "%s", number_show(x));
}

static void draw_value(struct cells *cells, int row, int col, const struct table *table, size_t r, const char *value)
{
    double a = side_of(table, r, value, "a"), b = side_of(table, r, value, "b"), change = b - a;
    bool much = fabs(change) >= 0.01 * fmax(fabs(a), fabs(b)) && fabs(change) >= 0.005;
    draw_brief(cells, row, col + SIDE, a);
    draw_brief(cells, row, col + 2 * SIDE, b);
    if (isnan(change)) return;
    if (!much) draw_right(cells, row, col + 3 * SIDE, TINT_DIM, "=");
    else draw_right(cells, row, col + 3 * SIDE, change > 0 ? TINT_SERIES_1 : TINT_SERIES_2, "%s%s", change > 0 ? "+" : "", number_show(change));
    if (much) cells_look(cells, row, col + 2 * SIDE, SIDE, LOOK_BOLD);
}

/* The columns that tell rows apart, as one text. */
static void add_key(const struct table *table, size_t r, char letter, struct text *out)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        if (column->role != ROLE_LABEL && column->role != ROLE_AXIS) continue;
        const struct cell *cell = table_cell(table, r, c);
        if (out->size) text_add(out, " ");
        if (cell->text) text_add(out, "%s", split_name(cell->text));
        else if (!strcmp(column->name, "boundary")) text_add(out, "%c.%.0f", letter, cell->number);
        else text_add(out, "%s %.0f", column->name, cell->number);
    }
}

static int draw_values(struct cells *cells, struct area area, const struct table *table, char letter)
{
    char names[VALUES_MOST][32];
    int count = values_of(table, names, VALUES_MOST), label = 12;
    for (size_t r = 0; r < table->row_count; r++) {
        struct text key = {0};
        add_key(table, r, letter, &key);
        if (key.data && text_width(key.data) + 2 > label) label = text_width(key.data) + 2;
        text_clear(&key);
    }
    int fit = (area.cols - label) / (VALUE + 1), rows = (int)table->row_count < area.rows - 2 ? (int)table->row_count : area.rows - 2;
    if (count > fit) count = fit;
    for (int v = 0; v < count; v++) {
        int col = area.col + label + v * (VALUE + 1);
        draw_right(cells, area.row, col + 3 * SIDE, TINT_TITLE, "%.*s", 3 * SIDE, names[v]);
        static const char *const heads[] = {"a", "b", "b - a"};
        for (int i = 0; i < 3; i++) draw_right(cells, area.row + 1, col + (i + 1) * SIDE, TINT_DIM, "%s", heads[i]);
    }
    for (int r = 0; r < rows; r++) {
        struct text key = {0};
        const char *split = table_text(table, (size_t)r, "split");
        add_key(table, (size_t)r, letter, &key);
        cells_put(cells, area.row + 2 + r, area.col + 1, split ? split_tint(split) : TINT_PLAIN, key.data ? key.data : "", label - 2);
        for (int v = 0; v < count; v++) draw_value(cells, area.row + 2 + r, area.col + label + v * (VALUE + 1), table, (size_t)r, names[v]);
        text_clear(&key);
    }
    return rows + 2;
}

static void draw_question(struct cells *cells, struct area area, const struct table *table, size_t r, bool marked)
{
    const char *right = table_text(table, r, "right"), *split = table_text(table, r, "split");
    bool a = !strcmp(right, "a"), b = !strcmp(right, "b");
    int end = area.col + area.cols;
    cells_put(cells, area.row, area.col + 1, split_tint(split), split_name(split), 6);
    draw_right(cells, area.row, area.col + 12, TINT_DIM, "%.0f", table_number(table, r, "row"));
    draw_tokens(cells, area.row, area.col + 14, end - 34 - area.col - 15, TINT_PLAIN, table_text(table, r, "question"));
    draw_name(cells, area.row, end - 34, 9, TINT_PLAIN, table_text(table, r, "answer"));
    draw_name(cells, area.row, end - 24, 9, a ? TINT_GOOD : TINT_BAD, table_text(table, r, "says_a"));
    draw_name(cells, area.row, end - 14, 9, b ? TINT_GOOD : TINT_BAD, table_text(table, r, "says_b"));
    cells_put(cells, area.row, end - 4, a || b ? TINT_GOOD : TINT_DIM, a ? "a" : b ? "b" : "-", 3);
    if (marked) draw_mark(cells, area.row, area.col, area.cols);
}

static void draw_disagreements(struct app *app, struct cells *cells, struct area area, const struct table *table)
{
    struct state *s = state_of(app);
    int right[3] = {0}, end = area.col + area.cols - 1;
    struct text title = {0};
    for (size_t r = 0; r < table->row_count; r++) {
        const char *who = table_text(table, r, "right");
        right[!strcmp(who, "a") ? 0 : !strcmp(who, "b") ? 1 : 2]++;
    }
    text_add(&title, "they disagree on %zu questions: a is right on %d, b on %d, neither on %d", table->row_count, right[0], right[1], right[2]);
    draw_heading(cells, area.row, area.col, area.cols - 1, title.data);
    text_clear(&title);
    if (area.rows < 3) return;
    cells_text(cells, area.row + 1, area.col + 1, TINT_DIM, "split   row  question");
    cells_text(cells, area.row + 1, end - 34, TINT_DIM, "answer    a says    b says    right");
    struct area list = {area.row + 2, area.col, area.rows - 2, area.cols - 1};
    int first = scroll_first(s->at, (int)table->row_count, list.rows);
    for (int i = 0; i < list.rows && first + i < (int)table->row_count; i++) {
        struct area line = {list.row + i, list.col, 1, list.cols};
        draw_question(cells, line, table, (size_t)(first + i), first + i == s->at);
        app_spot(app, line, first + i);
    }
    draw_scroll(cells, (struct area){list.row, list.col, list.rows, area.cols}, first, (int)table->row_count);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    bool roomy = area.rows >= 18;
    if (!app->model) {
        app_draw_waiting(app, cells, area, 0);
        return;
    }
    area.row += roomy, area.rows -= roomy;
    int col = cells_text(cells, area.row, area.col + 1, TINT_TITLE, "a %s", name_of(app->model, other_of(app, s)));
    if (*s->first) col = cells_text(cells, area.row, col, TINT_WARN, " %s", s->first);
    col = cells_text(cells, area.row, col, TINT_DIM, "  against  ");
    col = cells_text(cells, area.row, col, TINT_TITLE, "b %s", name_of(other_of(app, s), app->model));
    if (*s->edit) col = cells_text(cells, area.row, col, TINT_WARN, " %s", s->edit);
    int name = text_width(probe_of(s));
    if (col + name + 2 < area.col + area.cols) draw_right(cells, area.row, area.col + area.cols - 1, TINT_DIM, "%s", probe_of(s));
    area.row += 1 + roomy, area.rows -= 1 + roomy;
    if (app_draw_waiting(app, cells, area, 0)) return;
    const struct table *values = app_table(app, 0, 0), *questions = app_table(app, 1, 0);
    int taken = draw_values(cells, (struct area){area.row, area.col, area.rows / 2 + 1, area.cols}, values,
                            app_boundary(app)) + roomy;
    area.row += taken, area.rows -= taken;
    if (app_draw_waiting(app, cells, area, 1)) return;
    if (table_find(questions, "right") >= 0) draw_disagreements(app, cells, area, questions);
}

const struct view view_compare = {
    .name = "compare", .title = "two models, side by side",
    .help = "two models, or one with and without an edit, under the same measurement, and where they disagree",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = search, .click = click,
};
