#include "app.h"
#include "heat.h"
#include "question.h"

#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct state {
    bool change, mean; /* change: against the loop before; mean: of the split, not of one question */
    int row, head;     /* the marked one: row counts blocks through the loops */
    int lens, attention; /* wants; -1: none */
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    s->lens = s->attention = -1;
    if (!app->model) return;
    s->lens = question_want(app);
    if (s->mean) s->attention = app_want(app, "attention %s --split %s", app_subject(app), app->split);
    else s->attention = app_want(app, "attention %s %s", app_subject(app), question_option(app));
    app_show(app, s->attention);
}

/* ---- the table as one number for each place */

enum { KEYS = 5 };

struct heads {
    int size[KEYS]; /* loops from loop 0 on, blocks, heads, queries, keys */
    double *weight, *change;
    int *rows, row_count; /* loop * blocks + block of those that are there */
};

static size_t place_of(const struct heads *h, const int at[KEYS])
{
    size_t place = 0;
    for (int i = 0; i < KEYS; i++) place = place * (size_t)h->size[i] + (size_t)at[i];
    return place;
}

static bool read_heads(struct heads *h, const struct table *table)
{
    static const char *const names[KEYS] = {"loop", "block", "head", "query", "key"};
    int columns[KEYS], weight = table ? table_find(table, "weight") : -1, change = table ? table_find(table, "change") : -1;
    size_t all = 1;
    *h = (struct heads){{0}};
    if (weight < 0 || change < 0) return false;
    for (int i = 0; i < KEYS; i++) {
        if ((columns[i] = table_find(table, names[i])) < 0) return false;
        for (size_t r = 0; r < table->row_count; r++) {
            double at = table_cell(table, r, (size_t)columns[i])->number;
            if (at >= 0 && at + 1 > h->size[i]) h->size[i] = (int)at + 1;
        }
        all *= (size_t)h->size[i];
    }
    if (!all) return false;
    h->weight = mem_new(all * sizeof *h->weight), h->change = mem_new(all * sizeof *h->change);
    for (size_t i = 0; i < all; i++) h->weight[i] = h->change[i] = NAN;
    h->rows = mem_new((size_t)(h->size[0] * h->size[1]) * sizeof *h->rows);
    bool *there = mem_new((size_t)(h->size[0] * h->size[1]));
    for (size_t r = 0; r < table->row_count; r++) {
        int at[KEYS];
        for (int i = 0; i < KEYS; i++) at[i] = (int)table_cell(table, r, (size_t)columns[i])->number;
        h->weight[place_of(h, at)] = table_cell(table, r, (size_t)weight)->number;
        h->change[place_of(h, at)] = table_cell(table, r, (size_t)change)->number;
        there[at[0] * h->size[1] + at[1]] = true;
    }
    for (int i = 0; i < h->size[0] * h->size[1]; i++)
        if (there[i]) h->rows[h->row_count++] = i;
    mem_free(there);
    return true;
}

static void release_heads(struct heads *h)
{
    mem_free(h->weight), mem_free(h->change), mem_free(h->rows);
}

static const double *matrix_of(const struct heads *h, const struct state *s, int row, int head)
{
    int at[KEYS] = {h->rows[row] / h->size[1], h->rows[row] % h->size[1], head};
    return (s->change ? h->change : h->weight) + place_of(h, at);
}

static int within(int at, int count) { return at >= count ? count - 1 : at < 0 ? 0 : at; }

/* ---- keys */

static void press_head(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct heads h;
    if (!read_heads(&h, app_table(app, s->attention, 0))) return;
    s->head = within(s->head + (key == PRESS_LEFT ? -1 : key == PRESS_RIGHT ? 1 : 0), h.size[2]);
    s->row = within(s->row + (key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : 0), h.row_count);
    release_heads(&h);
}

static void press_change(struct app *app, int key)
{
    (void)key;
    state_of(app)->change = !state_of(app)->change;
}

static void press_mean(struct app *app, int key)
{
    (void)key;
    state_of(app)->mean = !state_of(app)->mean;
}

static void press_grid(struct app *app, int key)
{
    (void)key;
    app_go(app, view_find("grid"));
}

enum { SPOT_ROW = 4096 }; /* a head's spot: its row times this, and its number */

static void click(struct app *app, int code)
{
    state_of(app)->row = code / SPOT_ROW;
    state_of(app)->head = code % SPOT_ROW;
}

/* ---- settings */

static const char *const shown_names[] = {"weights", "change", NULL}, *const of_names[] = {"question", "split", NULL};

static bool set_choice(bool *flag, const char *const *names, const char *value)
{
    *flag = !strcmp(value, names[1]);
    return *flag || !strcmp(value, names[0]);
}

static void get_shown(struct app *app, struct text *out) { text_add(out, "%s", shown_names[state_of(app)->change]); }
static bool set_shown(struct app *app, const char *value) { return set_choice(&state_of(app)->change, shown_names, value); }
static void get_of(struct app *app, struct text *out) { text_add(out, "%s", of_names[state_of(app)->mean]); }
static bool set_of(struct app *app, const char *value) { return set_choice(&state_of(app)->mean, of_names, value); }

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d.%d", state_of(app)->row, state_of(app)->head); }

static bool set_marked(struct app *app, const char *value)
{
    int row, head;
    char end;
    if (sscanf(value, "%d.%d%c", &row, &head, &end) != 2 || row < 0 || head < 0) return false;
    state_of(app)->row = row, state_of(app)->head = head;
    return true;
}

static const struct setting settings[] = {
    {"show", "the weights, or their change from the loop before", get_shown, set_shown, shown_names},
    {"of", "one question, or the mean of its split", get_of, set_of, of_names},
    {"marked", "ROW.HEAD that keys act on; rows are blocks through the loops", get_marked, set_marked, .kind = SETTING_PLACE},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT, PRESS_UP, PRESS_DOWN}, "head", "marks another head, loop or block", press_head},
    {{'c'}, "change", "the difference from the loop before; the weights again", press_change},
    {{'a'}, "mean", "the mean over the split; one question again", press_mean},
    {{'n', 'N'}, "wrong", "the next question that is answered wrong, the one before", question_press_wrong},
    {{PRESS_PAGE_DOWN, PRESS_PAGE_UP, '.', ','}, "question", "ten questions on, ten back; the next, the one before", question_press_row},
    {{'[', ']'}, "split", "the split before, the next", question_press_split},
    {{PRESS_ENTER}, NULL, "the grid of this question", press_grid},
    {{0}},
};

/* ---- drawing */

enum { LABEL = 9 };

struct picture {
    struct app *app;
    struct cells *cells;
    const struct heads *h;
    const struct state *s;
    const char *const *names; /* of positions */
    int loops;
};

static void name_row(const struct picture *p, int row, char out[32])
{
    int loop = p->h->rows[row] / p->h->size[1], block = p->h->rows[row] % p->h->size[1];
    if (loop == 0) snprintf(out, 32, "prelude");
    else if (loop > p->loops) snprintf(out, 32, "coda");
    else snprintf(out, 32, "loop %d", loop);
    if (p->h->size[1] > 1) snprintf(out + strlen(out), 32 - strlen(out), ".%d", block);
}

static void draw_matrix(const struct picture *p, struct area area, int row, int head)
{
    struct heat heat = {.rows = p->h->size[3], .cols = p->h->size[4], .values = matrix_of(p->h, p->s, row, head), .low = 0, .high = 1,
                        .signs = p->s->change, .tint = TINT_SERIES_1, .at_row = -1};
    heat_draw(&heat, p->cells, area);
}

/* Heads side by side, loops below each other; the marked one is always in sight. Returns the rows taken. */
static int draw_matrices(const struct picture *p, struct area area)
{
    int heads = p->h->size[2], positions = p->h->size[3], width = (area.cols - LABEL) / heads, most = positions * 9 + 2, least = positions + 1;
    if (width > most) width = most;
    if (width < least) width = least;
    int across = (area.cols - LABEL) / width, tall = positions + (positions > 1), down = (area.rows - 1) / tall;
    if (across < 1) across = 1;
    if (down < 1) down = 1;
    if (down > p->h->row_count) down = p->h->row_count;
    if (across > heads) across = heads;
    int first = scroll_first(within(p->s->head, heads), heads, across), top = scroll_first(within(p->s->row, p->h->row_count), p->h->row_count, down);
    for (int c = 0; c < across; c++) {
        bool here = first + c == within(p->s->head, heads);
        cells_put(p->cells, area.row, area.col + LABEL + c * width, here ? TINT_KEY : TINT_DIM, "head", width - 1);
        if (width > 6) cells_text(p->cells, area.row, area.col + LABEL + c * width + 5, here ? TINT_KEY : TINT_DIM, "%d", first + c);
    }
    for (int r = 0; r < down; r++) {
        char name[32];
        int at = area.row + 1 + r * tall;
        bool here = top + r == within(p->s->row, p->h->row_count);
        name_row(p, top + r, name);
        cells_put(p->cells, at, area.col + 1, here ? TINT_KEY : TINT_DIM, name, LABEL - 2);
        for (int c = 0; c < across; c++) {
            struct area one = {at, area.col + LABEL + c * width, positions, width - 1};
            draw_matrix(p, one, top + r, first + c);
            app_spot(p->app, one, (top + r) * SPOT_ROW + first + c);
            if (here && first + c == within(p->s->head, heads))
                for (int i = 0; i < positions; i++) cells_text(p->cells, at + i, one.col - 1, TINT_KEY, p->cells->ascii ? ">" : "▌");
        }
    }
    return 1 + down * tall;
}

/* Keys of one query, the heaviest first. */
static void draw_query(const struct picture *p, struct area area, const double *weights, int query)
{
    bool used[256] = {false};
    int keys_seen = p->h->size[4] < 256 ? p->h->size[4] : 256, col = area.col + 14, end = area.col + area.cols;
    draw_right(p->cells, area.row, area.col + 4, TINT_DIM, "%d", query);
    draw_name(p->cells, area.row, area.col + 5, 8, TINT_PLAIN, p->names[query]);
    for (int n = 0; n < keys_seen; n++) {
        int best = -1;
        for (int k = 0; k < keys_seen; k++)
            if (!used[k] && !isnan(weights[k]) && (best < 0 || fabs(weights[k]) > fabs(weights[best]))) best = k;
        if (best < 0 || (n && fabs(weights[best]) < 0.005) || col + 22 > end) return;
        used[best] = true;
        draw_name(p->cells, area.row, col, 7, TINT_TITLE, p->names[best]);
        draw_right(p->cells, area.row, col + 12, weights[best] < 0 ? TINT_SERIES_2 : TINT_PLAIN, "%s%s", p->s->change && weights[best] > 0 ? "+" : "",
                   unit_show(weights[best]));
        draw_bar(p->cells, area.row, col + 13, 8, fabs(weights[best]), weights[best] < 0 ? TINT_SERIES_2 : TINT_SERIES_1);
        col += 23;
    }
}

static int draw_detail(const struct picture *p, struct area area, int row, int head)
{
    char name[32];
    struct text title = {0};
    int positions = p->h->size[3];
    const double *weights = matrix_of(p->h, p->s, row, head);
    if (area.rows < 2) return area.rows;
    name_row(p, row, name);
    text_add(&title, "%s, head %d: %s", name, head, p->s->change ? "change of weight from the loop before" : "what each position looks at");
    draw_heading(p->cells, area.row, area.col, area.cols - 1, title.data);
    text_clear(&title);
    if (p->s->change && isnan(weights[0])) {
        cells_text(p->cells, area.row + 1, area.col + 2, TINT_DIM, "no loop before this one: the down arrow marks the next");
        return 2;
    }
    int shown = area.rows - 1 < positions ? area.rows - 1 : positions, first = positions - shown; /* the last positions read most */
    for (int i = 0; i < shown; i++)
        draw_query(p, (struct area){area.row + 1 + i, area.col, 1, area.cols}, weights + (size_t)(first + i) * (size_t)p->h->size[4], first + i);
    return 1 + shown;
}

/* That of the marked head, and of those behind it as far as all of theirs has room. */
static void draw_details(const struct picture *p, struct area area)
{
    int heads = p->h->size[2], all = p->h->row_count * heads, at = within(p->s->row, p->h->row_count) * heads + within(p->s->head, heads);
    for (int i = 0; i < all && (!i || area.rows > p->h->size[3]); i++) {
        int row = (at + i) % all / heads, head = (at + i) % heads;
        if (i && isnan(*matrix_of(p->h, p->s, row, head))) continue; /* no loop before it that it could differ from */
        int taken = draw_detail(p, area, row, head);
        area.row += taken, area.rows -= taken;
    }
}

/* The names of positions: the tokens of the question, or only numbers for a mean. */
static char **name_positions(const struct app *app, const struct state *s, const struct heads *h)
{
    struct lens lens = lens_of(app_table(app, s->lens, 0));
    char **names = mem_new((size_t)h->size[3] * sizeof *names);
    for (int i = 0; i < h->size[3]; i++) {
        struct text name = {0};
        if (s->mean || i >= lens.positions) text_add(&name, "pos %d", i);
        else text_add(&name, "%s", lens_text(&lens, i, 0, "input"));
        names[i] = name.data;
    }
    return names;
}

static int draw_title(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct lens lens = lens_of(app_table(app, s->lens, 0));
    const struct table *table = app_table(app, s->attention, 0);
    if (!s->mean && lens.table) return question_draw(app, cells, area, &lens);
    int col = cells_text(cells, area.row, area.col + 1, split_tint(app->split), "%s", app->split);
    double n = 0, undefined = 0; /* the most of any place */
    for (size_t r = 0; table && r < table->row_count; r++) {
        n = fmax(n, table_number(table, r, "n"));
        undefined = fmax(undefined, table_number(table, r, "undefined")); /* NaN takes no part */
    }
    if (n > 0) col = cells_text(cells, area.row, col, TINT_PLAIN, "  mean of %.0f questions", n - undefined);
    if (undefined > 0) cells_text(cells, area.row, col, TINT_WARN, ", %.0f left out: not finite", undefined);
    return 1;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct heads h;
    bool roomy = area.rows >= 18;
    if (app_draw_waiting(app, cells, area, s->attention)) return;
    area.row += roomy, area.rows -= roomy;
    int taken = draw_title(app, cells, area) + roomy;
    area.row += taken, area.rows -= taken;
    if (!read_heads(&h, app_table(app, s->attention, 0))) {
        cells_text(cells, area.row, area.col + 2, TINT_DIM, "no attention pattern");
        return;
    }
    char **names = name_positions(app, s, &h);
    struct picture picture = {app, cells, &h, s, (const char *const *)names, app_fact_int(app, "loops", h.size[0])};
    int detail = h.size[3] + 1 < area.rows / 3 ? h.size[3] + 1 : area.rows / 3;
    taken = draw_matrices(&picture, (struct area){area.row, area.col, area.rows - detail, area.cols});
    if (taken > area.rows - detail) taken = area.rows - detail;
    taken += taken + detail < area.rows;
    draw_details(&picture, (struct area){area.row + taken, area.col, area.rows - taken, area.cols});
    for (int i = 0; i < h.size[3]; i++) mem_free(names[i]);
    mem_free(names);
    release_heads(&h);
}

const struct view view_attention = {
    .name = "attention", .title = "what each head looks at", .help = "attention per loop, block and head, and how it changes from loop to loop",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = question_search, .click = click, .example = "<Down>",
};
