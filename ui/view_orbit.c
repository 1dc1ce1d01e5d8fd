#include "app.h"
#include "dots.h"
#include "question.h"

#include "ground/mem.h"
#include "ground/option.h"

#include <stdio.h>
#include <string.h>

struct state {
    int loops;    /* more than the model's own: 0 none */
    bool own;     /* coordinates by the question's own states; else by those of its split, whose mean path is drawn too */
    bool without; /* the split's distribution is not wanted: models that are slow */
    int lens, orbit, all; /* wants; -1: none */
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    char more[32] = "";
    s->lens = s->orbit = s->all = -1;
    if (!app->model) return;
    if (s->loops) snprintf(more, sizeof more, " --loops %d", app_fact_int(app, "loops", 1) + s->loops);
    s->lens = question_want(app);
    bool own = s->own || s->without || *question_tokens(app); /* typed tokens belong to no split */
    s->orbit = app_want(app, "orbit %s %s%s%s", app_subject(app), question_option(app), more, own ? "" : " --basis split");
    app_show(app, s->orbit);
    if (!s->without) s->all = app_want(app, "orbit %s --split %s%s", app_subject(app), app->split, more);
}

/* ---- the tables as paths */

enum number { STEP, ANGLE, DISTANCE, PC1, PC2, LOW, HIGH, SETTLING, DRIFTING, OSCILLATING, NUMBERS };
static const char *const number_names[NUMBERS] = {"step", "angle", "distance", "pc1", "pc2", "step_10", "step_90", "settling", "drifting",
                                                  "oscillating"};

/* A table of orbits, read once for a drawing: which row stands for a place, and where its columns are. */
struct orbits {
    const struct table *table;
    int positions, boundaries, columns[NUMBERS], *rows; /* rows: -1 where there is none */
};

struct paths {
    struct orbits own, all;            /* of the question, and of its split; table NULL: not there (yet) */
    int positions, boundaries, at;     /* at: the marked position */
    char letter;                       /* of a boundary: h or s */
    double low[2], high[2];            /* of the coordinates */
};

static void read_orbits(struct orbits *o, const struct table *table)
{
    int position = table ? table_find(table, "position") : -1, boundary = table ? table_find(table, "boundary") : -1;
    *o = (struct orbits){.table = position >= 0 && boundary >= 0 ? table : NULL};
    for (int i = 0; o->table && i < NUMBERS; i++) o->columns[i] = table_find(table, number_names[i]);
    for (int pass = 0; o->table && pass < 2; pass++) {
        for (size_t r = 0; r < table->row_count; r++) {
            int p = (int)table_cell(table, r, (size_t)position)->number, k = (int)table_cell(table, r, (size_t)boundary)->number;
            if (pass) o->rows[p * o->boundaries + k] = (int)r;
            if (p + 1 > o->positions) o->positions = p + 1;
            if (k + 1 > o->boundaries) o->boundaries = k + 1;
        }
        if (!pass) o->rows = mem_new((size_t)(o->positions * o->boundaries + 1) * sizeof *o->rows);
        for (int i = 0; !pass && i < o->positions * o->boundaries; i++) o->rows[i] = -1;
    }
}

static int row_of(const struct orbits *o, int position, int boundary)
{
    return o->table && position >= 0 && position < o->positions && boundary < o->boundaries ? o->rows[position * o->boundaries + boundary] : -1;
}

static double value(const struct orbits *o, int position, int boundary, enum number number)
{
    int r = row_of(o, position, boundary);
    return r < 0 || o->columns[number] < 0 ? NAN : table_cell(o->table, (size_t)r, (size_t)o->columns[number])->number;
}

static const char *word(const struct orbits *o, int position, const char *column)
{
    int r = row_of(o, position, 0);
    const char *text = r < 0 ? NULL : table_text(o->table, (size_t)r, column);
    return text ? text : "";
}

/* The share of the split's paths of this kind; NaN: not known. */
static double share_of(const struct paths *p, int position, const char *kind)
{
    for (int i = SETTLING; i <= OSCILLATING; i++)
        if (!strcmp(number_names[i], kind)) return value(&p->all, position, 0, (enum number)i);
    return NAN;
}

static void widen(struct paths *p, const struct orbits *o)
{
    for (int at = 0; at < o->positions * o->boundaries; at++)
        for (int i = 0; i < 2; i++) {
            double x = value(o, at / o->boundaries, at % o->boundaries, (enum number)(PC1 + i));
            if (x < p->low[i]) p->low[i] = x;
            if (x > p->high[i]) p->high[i] = x;
        }
}

static struct paths paths_of(struct app *app)
{
    struct state *s = state_of(app);
    struct paths p = {.letter = app_boundary(app), .low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
    struct lens lens = lens_of(app_table(app, s->lens, 0));
    read_orbits(&p.own, app_table(app, s->orbit, 0));
    read_orbits(&p.all, s->without ? NULL : app_table(app, s->all, 0));
    p.positions = p.own.positions, p.boundaries = p.own.boundaries;
    p.at = lens.table ? question_position(app, &lens) : 0;
    if (p.at >= p.positions) p.at = p.positions - 1;
    widen(&p, &p.own);
    if (!s->own) widen(&p, &p.all);
    for (int i = 0; i < 2; i++)
        if (!(p.high[i] > p.low[i])) p.low[i] -= 1, p.high[i] += 1;
    return p;
}

static void release_paths(struct paths *p)
{
    mem_free(p->own.rows), mem_free(p->all.rows);
}

/* ---- keys */

static void press_position(struct app *app, int key)
{
    struct paths p = paths_of(app);
    if (p.positions > 0) app->position = (p.at + (key == PRESS_UP || key == 'P' ? p.positions - 1 : 1)) % p.positions;
    release_paths(&p);
}

static void press_loops(struct app *app, int key)
{
    struct state *s = state_of(app);
    s->loops += key == '-' ? -1 : 1;
    if (s->loops < 0) s->loops = 0;
    if (app_fact_int(app, "loops", 1) + s->loops > 64) s->loops--;
}

static void press_basis(struct app *app, int key)
{
    (void)key;
    state_of(app)->own = !state_of(app)->own;
}

static void press_split(struct app *app, int key)
{
    (void)key;
    state_of(app)->without = !state_of(app)->without;
}

static void press_grid(struct app *app, int key)
{
    (void)key;
    app_go(app, view_find("grid"));
}

static void click(struct app *app, int code) { app->position = code; }

static void get_loops(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->loops); }

static bool set_loops(struct app *app, const char *text)
{
    long number;
    if (!parse_int(text, &number) || number < 0 || number > 63) return false;
    state_of(app)->loops = (int)number;
    return true;
}

static const char *const bases[] = {"split", "question", NULL};
static void get_basis(struct app *app, struct text *out) { text_add(out, "%s", bases[state_of(app)->own]); }

static bool set_basis(struct app *app, const char *text)
{
    state_of(app)->own = !strcmp(text, "question");
    return state_of(app)->own || !strcmp(text, "split");
}

static const struct setting settings[] = {
    {"more-loops", "how many loops are run beyond the model's own", get_loops, set_loops},
    {"basis", "whose states give the coordinates their directions", get_basis, set_basis, bases},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN, 'p', 'P'}, "position", "marks another position", press_position},
    {{'+', '-', '='}, "loops", "runs one loop more, one less", press_loops},
    {{'b'}, "basis", "coordinates by the states of the split, or of the question alone", press_basis},
    {{'v'}, NULL, "measures the whole split for comparison, or not", press_split},
    {{'n', 'N'}, "wrong", "the next question that is answered wrong, the one before", question_press_wrong},
    {{PRESS_PAGE_DOWN, PRESS_PAGE_UP, '.', ','}, "question", "ten questions on, ten back; the next, the one before", question_press_row},
    {{'[', ']'}, "split", "the split before, the next", question_press_split},
    {{PRESS_ENTER}, NULL, "the grid of this question", press_grid},
    {{0}},
};

/* ---- the plane */

enum { TINTS = 6 };

static enum tint tint_of(int position) { return (enum tint)(TINT_SERIES_1 + position % TINTS); }

static bool place(const struct paths *p, const struct orbits *table, int position, int boundary, double at[2])
{
    at[0] = (value(table, position, boundary, PC1) - p->low[0]) / (p->high[0] - p->low[0]);
    at[1] = (value(table, position, boundary, PC2) - p->low[1]) / (p->high[1] - p->low[1]);
    for (int i = 0; i < 2; i++) at[i] = 0.02 + 0.96 * at[i];
    return !isnan(at[0]) && !isnan(at[1]);
}

static void draw_path(const struct paths *p, const struct orbits *table, int position, struct dots *dots, enum tint tint, bool dotted)
{
    double from[2], to[2];
    for (int k = 1; k < p->boundaries; k++) {
        if (!place(p, table, position, k - 1, from) || !place(p, table, position, k, to)) continue;
        if (!dotted) dots_line(dots, from[0], from[1], to[0], to[1], tint);
        for (int i = 0; dotted && i <= 24; i++)
            dots_set(dots, from[0] + (to[0] - from[0]) * i / 24, from[1] + (to[1] - from[1]) * i / 24, tint, 1);
    }
}

/* Numbers of boundaries along the marked path, and where the others begin and end. */
static void draw_stations(const struct paths *p, struct cells *cells, struct area area, int position)
{
    double at[2];
    for (int k = p->boundaries - 1; k >= 0; k--) {
        bool marked = position == p->at, end = k == p->boundaries - 1;
        if (!place(p, &p->own, position, k, at) || (!marked && k && !end)) continue;
        int row = dots_row(area, at[1]), col = dots_col(area, at[0]);
        if (marked) cells_text(cells, row, col, TINT_TITLE, "%d", k);
        else cells_text(cells, row, col, tint_of(position), k ? "●" : "○");
        if (marked) cells_look(cells, row, col, k > 9 ? 2 : 1, LOOK_REVERSE);
    }
}

static void draw_plane(const struct paths *p, const struct state *s, struct cells *cells, struct area area)
{
    struct area plane = {area.row + 1, area.col + 1, area.rows - 2, area.cols - 2};
    const char *share[2] = {table_fact_get(p->own.table, "pc1_share"), table_fact_get(p->own.table, "pc2_share")};
    double parts[2] = {0, 0};
    if (plane.rows < 4 || plane.cols < 12) return;
    for (int i = 0; i < 2; i++)
        if (share[i]) parse_number(share[i], &parts[i]);
    for (int r = 0; r < plane.rows; r++) cells_text(cells, plane.row + r, area.col, TINT_DIM, "│");
    for (int c = 0; c < plane.cols; c++) cells_text(cells, plane.row + plane.rows, plane.col + c, TINT_DIM, "─");
    cells_text(cells, plane.row + plane.rows, area.col, TINT_DIM, "└");
    struct text title = {0};
    const char *whose = s->own || s->without ? "question's" : "split's";
    text_add(&title, area.cols < 52 ? "pc2, %.0f %%" : "pc2, %.0f %% of the spread of the %s states", 100 * parts[1], whose);
    cells_put(cells, area.row, area.col, TINT_PLAIN, title.data, area.cols - 1);
    text_clear(&title);
    draw_right(cells, plane.row + plane.rows, area.col + area.cols, TINT_PLAIN, " pc1, %.0f %%", 100 * parts[0]);
    struct dots *dots = dots_new(plane);
    for (int i = 0; i < p->positions && p->all.table && !s->own; i++) draw_path(p, &p->all, i, dots, TINT_DIM, true);
    for (int i = 0; i < p->positions; i++) draw_path(p, &p->own, i, dots, tint_of(i), false);
    dots_draw(dots, cells);
    dots_free(dots);
    for (int i = 0; i < p->positions; i++)
        if (i != p->at) draw_stations(p, cells, plane, i);
    draw_stations(p, cells, plane, p->at);
}

/* ---- the numbers */

static enum tint kind_tint(const char *kind)
{
    return !strcmp(kind, "settling") ? TINT_GOOD : !strcmp(kind, "oscillating") ? TINT_CHANGED : !strcmp(kind, "drifting") ? TINT_WARN : TINT_DIM;
}

/* Steps as blocks, against the longest of the question. */
static void draw_steps(const struct paths *p, struct cells *cells, int row, int col, int position, double longest)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    for (int k = 1; k < p->boundaries && k <= 8; k++) {
        double step = value(&p->own, position, k, STEP);
        int level = isnan(step) || !(longest > 0) ? 0 : (int)(7.99 * step / longest);
        if (cells->ascii) cells_text(cells, row, col + k - 1, tint_of(position), "%d", level);
        else cells_text(cells, row, col + k - 1, tint_of(position), "%s", blocks[level]);
    }
}

static int draw_kinds(struct app *app, const struct paths *p, struct cells *cells, struct area area)
{
    double longest = 0;
    int rows = p->positions < area.rows - 1 ? p->positions : area.rows - 1, first = scroll_first(p->at, p->positions, rows);
    for (int i = 0; i < p->positions; i++)
        for (int k = 1; k < p->boundaries; k++)
            if (value(&p->own, i, k, STEP) > longest) longest = value(&p->own, i, k, STEP);
    cells_text(cells, area.row, area.col, TINT_DIM, "position   steps    path");
    for (int i = first; i < first + rows; i++) {
        int row = area.row + 1 + i - first;
        const char *kind = word(&p->own, i, "kind");
        cells_text(cells, row, area.col, tint_of(i), "%2d", i);
        draw_name(cells, row, area.col + 3, 7, i == p->at ? TINT_KEY : TINT_PLAIN, word(&p->own, i, "input"));
        draw_steps(p, cells, row, area.col + 11, i, longest);
        int col = cells_put(cells, row, area.col + 20, kind_tint(kind), kind, area.col + area.cols - 20 - area.col);
        double same = share_of(p, i, kind);
        if (!isnan(same) && col + 6 < area.col + area.cols) cells_text(cells, row, col, TINT_DIM, " %.0f %%", 100 * same);
        if (i == p->at) draw_mark(cells, row, area.col, 10);
        app_spot(app, (struct area){row, area.col, 1, area.cols}, i);
    }
    return rows + 1;
}

/* A boundary of the marked position: its step on the scale of the split's. */
static void draw_boundary(const struct paths *p, struct cells *cells, struct area area, int k, double longest)
{
    double step = value(&p->own, p->at, k, STEP), angle = value(&p->own, p->at, k, ANGLE), distance = value(&p->own, p->at, k, DISTANCE);
    double low = value(&p->all, p->at, k, LOW), high = value(&p->all, p->at, k, HIGH);
    int rail = area.cols - 28;
    cells_text(cells, area.row, area.col, TINT_KEY, "%c.%d", p->letter, k);
    draw_right(cells, area.row, area.col + 11, TINT_TITLE, "%s", number_show(step));
    draw_right(cells, area.row, area.col + 17, TINT_PLAIN, isnan(angle) ? "" : cells->ascii ? "%.0f" : "%.0f°", angle);
    draw_right(cells, area.row, area.col + 25, TINT_PLAIN, "%s", number_show(distance));
    if (rail >= 5) draw_interval(cells, area.row, area.col + 27, rail, low / longest, step / longest, high / longest, tint_of(p->at));
}

static void draw_numbers(const struct paths *p, struct cells *cells, struct area area)
{
    struct text title = {0};
    double longest = 0;
    if (area.rows < 3) return;
    text_add(&title, "position %d, %s", p->at, word(&p->own, p->at, "input"));
    draw_heading(cells, area.row, area.col, area.cols, title.data);
    text_clear(&title);
    for (int k = 1; k < p->boundaries; k++) {
        longest = fmax(longest, value(&p->own, p->at, k, STEP));
        longest = fmax(longest, value(&p->all, p->at, k, HIGH)); /* NaN takes no part */
    }
    cells_text(cells, area.row + 1, area.col, TINT_DIM, "           step turn to last");
    if (area.cols >= 46) draw_right(cells, area.row + 1, area.col + area.cols, TINT_DIM, "%s", p->all.table ? "split's 10-90 %" : "");
    int shown = area.rows - 2 < p->boundaries - 1 ? area.rows - 2 : p->boundaries - 1, first = p->boundaries - shown;
    for (int k = first; k < p->boundaries; k++) draw_boundary(p, cells, (struct area){area.row + 2 + k - first, area.col, 1, area.cols}, k, longest);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct lens lens = lens_of(app_table(app, state_of(app)->lens, 0));
    bool roomy = area.rows >= 18;
    if (app_draw_waiting(app, cells, area, state_of(app)->orbit)) return;
    struct paths p = paths_of(app);
    if (p.positions < 1) {
        release_paths(&p);
        return;
    }
    area.row += roomy, area.rows -= roomy;
    if (lens.table) question_draw(app, cells, area, &lens);
    area.row += 1 + roomy, area.rows -= 1 + roomy;
    int side = area.cols >= 110 ? 54 : area.cols >= 76 ? 36 : 26;
    draw_plane(&p, state_of(app), cells, (struct area){area.row, area.col + 1, area.rows, area.cols - side - 3});
    struct area right = {area.row, area.col + area.cols - side - 1, area.rows, side};
    int taken = draw_kinds(app, &p, cells, (struct area){right.row, right.col, right.rows / 2, right.cols}) + roomy;
    draw_numbers(&p, cells, (struct area){right.row + taken, right.col, right.rows - taken, right.cols});
    release_paths(&p);
}

const struct view view_orbit = {
    .name = "orbit", .title = "the paths of the states",
    .help = "how each position's state moves through the loops: its path, steps and turns, and whether it comes to rest",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = question_search, .click = click,
    .example = "+++",
};
