#include "app.h"
#include "dots.h"
#include "histogram.h"
#include "odds.h"
#include "search.h"

#include "figures/group.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "results/stats.h"

#include <stdio.h>
#include <string.h>

enum { SERIES_SHOWN = 4 };

struct state {
    bool begun, wrong, listing; /* wrong: only wrong answers; listing: keys are the list's */
    enum scale { BY_DATA, PLAIN, ODDS } scale; /* of P */
    struct odds_axis axis;      /* as it was drawn */
    int boundary, only, corner; /* only: one series, 0: all; corner: which named box it is */
    double x, y, w, h;          /* the box: from (x, y), of cosine and of P */
    int at;                     /* in the list */
    double low;                 /* of the axis of cosines, and the cells of the plot, as it was drawn */
    int rows, cols;
};

/* The boxes that have a name; the first is what the paper is about. */
static const struct { const char *name; double x, y, w, h; } corners[] = {
    {"decodable, not aligned", -1, 0.5, 1.8, 0.5}, {"decodable, aligned", 0.8, 0.5, 0.2, 0.5}, {"not decodable", -1, 0, 2, 0.5}, {"all", -1, 0, 2, 1},
};
enum { CORNERS = sizeof corners / sizeof *corners };

static void take_corner(struct state *s, int corner)
{
    s->corner = corner;
    s->x = corners[corner].x, s->y = corners[corner].y, s->w = corners[corner].w, s->h = corners[corner].h;
    s->at = 0;
}

static struct state *state_of(struct app *app)
{
    struct state *s = app_state(app, sizeof *s);
    if (!s->begun) {
        s->begun = true;
        s->boundary = 1;
        take_corner(s, 0);
    }
    return s;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    if (!app->model) return;
    if (s->boundary == 1) app_want(app, "questions %s", app_subject(app));
    else app_want(app, "questions %s --boundary %d", app_subject(app), s->boundary);
}

/* ---- the dots: which are shown, which are in the box */

struct cloud {
    const struct table *table;
    int split, p, cosine, correct;            /* columns */
    const char *names[SERIES_SHOWN];
    int count;
    double low;                               /* of the axis of cosines, whose end is 1 */
};

static int series_of(const struct cloud *cloud, size_t r)
{
    const char *split = table_cell(cloud->table, r, (size_t)cloud->split)->text;
    for (int i = 0; split && i < cloud->count; i++)
        if (!strcmp(cloud->names[i], split)) return i;
    return -1;
}

static double number(const struct cloud *cloud, size_t r, int column) { return table_cell(cloud->table, r, (size_t)column)->number; }

static bool read_cloud(struct cloud *cloud, const struct table *table)
{
    *cloud = (struct cloud){.table = table};
    if (!table) return false;
    cloud->split = table_find(table, "split"), cloud->p = table_find(table, "p_bridge");
    cloud->cosine = table_find(table, "cosine"), cloud->correct = table_find(table, "correct");
    if (cloud->split < 0 || cloud->p < 0 || cloud->cosine < 0 || cloud->correct < 0) return false;
    for (size_t r = 0; r < table->row_count; r++) {
        if (series_of(cloud, r) < 0 && cloud->count < SERIES_SHOWN) cloud->names[cloud->count++] = table_cell(table, r, (size_t)cloud->split)->text;
        double cosine = number(cloud, r, cloud->cosine);
        if (cosine < cloud->low) cloud->low = floor(cosine * 5) / 5;
    }
    return true;
}

static bool is_shown(const struct state *s, const struct cloud *cloud, size_t r)
{
    int series = series_of(cloud, r);
    if (series < 0 || (s->only && series != s->only - 1) || (s->wrong && number(cloud, r, cloud->correct) != 0)) return false;
    return isfinite(number(cloud, r, cloud->p)) && isfinite(number(cloud, r, cloud->cosine));
}

static bool in_box(const struct state *s, const struct cloud *cloud, size_t r)
{
    double x = number(cloud, r, cloud->cosine) - s->x, y = number(cloud, r, cloud->p) - s->y, near = 1e-9;
    bool last = s->x + s->w >= 1; /* boxes hold their lower edges, and the upper ones where the axis ends */
    return is_shown(s, cloud, r) && x >= 0 && (last ? x <= s->w + near : x < s->w) && y >= 0 && (s->y + s->h >= 1 ? y <= s->h + near : y < s->h);
}

/* The row of the table that is the n-th in the box, -1: there are fewer; *count, if not NULL: how many there are. */
static long nth(const struct state *s, const struct cloud *cloud, int n, int *count)
{
    long found = -1;
    int seen = 0;
    for (size_t r = 0; r < cloud->table->row_count; r++) {
        if (!in_box(s, cloud, r)) continue;
        if (seen++ == n) found = (long)r;
    }
    if (count) *count = seen;
    return found;
}

/* ---- keys */

static void move_list(struct app *app, struct state *s, int step)
{
    struct cloud cloud;
    int count = 0;
    if (read_cloud(&cloud, app_table(app, 0, 0))) nth(s, &cloud, 0, &count);
    s->at += step;
    if (s->at >= count) s->at = count - 1;
    if (s->at < 0) s->at = 0;
}

static double between(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* To a whole multiple of the step, so that the same keys always give the same box. */
static double stepped(double x, double step) { return round(x / step) * step; }

static void press_move(struct app *app, int key)
{
    struct state *s = state_of(app);
    double across = key == PRESS_LEFT ? -0.05 : key == PRESS_RIGHT ? 0.05 : 0, up = key == PRESS_DOWN ? -0.05 : key == PRESS_UP ? 0.05 : 0;
    if (s->listing) {
        move_list(app, s, key == PRESS_UP ? -1 : key == PRESS_DOWN ? 1 : 0);
        return;
    }
    s->x = between(stepped(s->x + across, 0.05), -1, 1 - s->w);
    s->y = between(stepped(s->y + up, 0.05), 0, 1 - s->h);
    s->corner = -1, s->at = 0;
}

static void press_size(struct app *app, int key)
{
    struct state *s = state_of(app);
    double by = key == '+' || key == '=' ? 0.05 : -0.05;
    s->w = between(stepped(s->w + by, 0.05), 0.05, 1 - s->x);
    s->h = between(stepped(s->h + by, 0.05), 0.05, 1 - s->y);
    s->corner = -1, s->at = 0;
}

static void press_page(struct app *app, int key) { move_list(app, state_of(app), key == PRESS_PAGE_UP ? -10 : 10); }

static void press_corner(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    take_corner(s, (s->corner + 1) % CORNERS);
}

static void press_pane(struct app *app, int key)
{
    (void)key;
    state_of(app)->listing = !state_of(app)->listing;
}

static void press_only(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct cloud cloud;
    (void)key;
    s->at = 0;
    if (read_cloud(&cloud, app_table(app, 0, 0))) s->only = (s->only + 1) % (cloud.count + 1);
}

static void press_wrong(struct app *app, int key)
{
    (void)key;
    state_of(app)->wrong = !state_of(app)->wrong;
    state_of(app)->at = 0;
}

/* Plain or by odds, and those from where to where. */
static void scale_to(struct state *s, const struct cloud *cloud)
{
    size_t n = 0, high = 0;
    odds_start(&s->axis);
    for (size_t r = 0; r < cloud->table->row_count; r++) {
        double p = number(cloud, r, cloud->p);
        if (!is_shown(s, cloud, r)) continue;
        n++, high += p > 0.99;
        odds_span(&s->axis, p);
    }
    odds_settle(&s->axis);
    s->axis.odds = s->scale == ODDS || (s->scale == BY_DATA && n && (double)high >= 0.95 * (double)n);
}

static void press_odds(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct cloud cloud;
    (void)key;
    if (read_cloud(&cloud, app_table(app, 0, 0))) scale_to(s, &cloud);
    s->scale = s->axis.odds ? PLAIN : ODDS;
}

static void press_boundary(struct app *app, int key)
{
    struct state *s = state_of(app);
    int last = app_fact_int(app, "loops", 2);
    s->boundary = (s->boundary + (key == 'b' ? 1 : last)) % (last + 1);
}

static void press_enter(struct app *app, int key)
{
    struct state *s = state_of(app);
    struct cloud cloud;
    (void)key;
    if (!s->listing) {
        s->listing = true;
        return;
    }
    long r = read_cloud(&cloud, app_table(app, 0, 0)) ? nth(s, &cloud, s->at, NULL) : -1;
    if (r < 0) return;
    snprintf(app->split, sizeof app->split, "%s", table_cell(cloud.table, (size_t)r, (size_t)cloud.split)->text);
    app->row = (long)table_number(cloud.table, (size_t)r, "row");
    app_go(app, view_find("grid"));
}

/* In the list of the box. */
static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    struct cloud cloud;
    if (!read_cloud(&cloud, app_table(app, 0, 0))) return false;
    size_t *rows = mem_new((cloud.table->row_count + 1) * sizeof *rows);
    int count = 0;
    for (size_t r = 0; r < cloud.table->row_count; r++)
        if (in_box(s, &cloud, r)) rows[count++] = r;
    bool found = false;
    for (int i = 1; i <= count && !found; i++) {
        int at = ((s->at + step * i) % count + count) % count;
        found = search_row(cloud.table, rows[at], text);
        if (found) s->at = at, s->listing = true;
    }
    mem_free(rows);
    return found;
}

enum { SPOT_PLOT = -1 }; /* others: lines of the list */

static void click(struct app *app, int code)
{
    struct state *s = state_of(app);
    s->listing = code != SPOT_PLOT;
    if (s->listing) s->at = code;
    else { /* the box goes there */
        double x = s->low + (1 - s->low) * (app->click_col + 0.5) / s->cols, y = odds_down(&s->axis, 1 - (app->click_row + 0.5) / s->rows);
        s->x = between(stepped(x - s->w / 2, 0.05), -1, 1 - s->w);
        s->y = between(stepped(y - s->h / 2, 0.05), 0, 1 - s->h);
        s->corner = -1, s->at = 0;
    }
}

/* ---- settings */

static void get_box(struct app *app, struct text *out)
{
    const struct state *s = state_of(app);
    text_add(out, "%.2f:%.2f,%.2f:%.2f", s->x, s->x + s->w, s->y, s->y + s->h);
}

static bool set_box(struct app *app, const char *value)
{
    struct state *s = state_of(app);
    double left, right, bottom, top;
    char end;
    if (sscanf(value, "%lf:%lf,%lf:%lf%c", &left, &right, &bottom, &top, &end) != 4) return false;
    if (!(left >= -1 && left < right && right <= 1 && bottom >= 0 && bottom < top && top <= 1)) return false;
    s->x = left, s->w = right - left, s->y = bottom, s->h = top - bottom;
    s->corner = -1;
    for (int i = 0; i < CORNERS; i++)
        if (fabs(s->x - corners[i].x) + fabs(s->y - corners[i].y) + fabs(s->w - corners[i].w) + fabs(s->h - corners[i].h) < 1e-6) s->corner = i;
    return true;
}

static bool set_flag(bool *flag, const char *value)
{
    *flag = !strcmp(value, "on");
    return *flag || !strcmp(value, "off");
}

static void get_boundary(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->boundary); }

static bool set_boundary(struct app *app, const char *value)
{
    long number;
    if (!parse_int(value, &number) || number < 0 || number > 64) return false;
    state_of(app)->boundary = (int)number;
    return true;
}

static void get_wrong(struct app *app, struct text *out) { text_add(out, "%s", state_of(app)->wrong ? "on" : "off"); }
static bool set_wrong(struct app *app, const char *value) { return set_flag(&state_of(app)->wrong, value); }
static const char *const scales[] = {[BY_DATA] = "auto", [PLAIN] = "off", [ODDS] = "on", NULL};
static void get_odds(struct app *app, struct text *out) { text_add(out, "%s", scales[state_of(app)->scale]); }

static bool set_odds(struct app *app, const char *value)
{
    for (int i = 0; scales[i]; i++)
        if (!strcmp(scales[i], value)) return state_of(app)->scale = (enum scale)i, true;
    return false;
}

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->at); }
static bool set_marked(struct app *app, const char *value) { return setting_number(value, &state_of(app)->at); }

static const char *const flags[] = {"on", "off", NULL};
static const struct setting settings[] = {
    {"box", "whose questions are listed: from:to of the cosine, from:to of P", get_box, set_box},
    {"boundary", "after which loop", get_boundary, set_boundary},
    {"wrong", "only wrong answers?", get_wrong, set_wrong, flags},
    {"odds", "P by its odds? auto: where nearly all are above .99", get_odds, set_odds, scales},
    {"marked", "the line of the list that keys act on", get_marked, set_marked, .kind = SETTING_PLACE},
    {0},
};

static const struct binding keys[] = {
    {{PRESS_LEFT, PRESS_RIGHT, PRESS_UP, PRESS_DOWN}, "box", "moves the box; in the list: another question", press_move},
    {{'+', '-', '='}, "size", "makes the box larger, smaller", press_size},
    {{'c'}, "corner", "a box with a name: decodable but not aligned, aligned, not decodable, all", press_corner},
    {{PRESS_ENTER}, "list", "the questions in the box; again: the grid of the marked one", press_enter},
    {{PRESS_TAB, PRESS_BACK_TAB}, NULL, "between the box and its list", press_pane},
    {{'w'}, "wrong", "only questions that are answered wrong, all again", press_wrong},
    {{'v'}, "split", "one split alone, all again", press_only},
    {{'b', 'B'}, "boundary", "measures after another loop", press_boundary},
    {{'l'}, NULL, "P by its odds, where .99 and .9999 are as far apart as .5 and .99; plain again", press_odds},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN}, NULL, "ten questions back, ten on", press_page},
    {{0}},
};

/* ---- the plot */

struct plot {
    struct cells *cells;
    struct area area;       /* of the dots alone */
    const struct state *state;
    const struct cloud *cloud;
    double *x[SERIES_SHOWN], *y[SERIES_SHOWN], *scratch; /* of what is shown */
    size_t n[SERIES_SHOWN];
    double mid_x[SERIES_SHOWN], mid_y[SERIES_SHOWN];
};

static enum tint tint_of(const char *split, int series)
{
    enum tint tint = split_tint(split);
    return tint == TINT_PLAIN ? (enum tint)(TINT_SERIES_3 + series) : tint;
}

static double median_of(double *scratch, const double *values, size_t n)
{
    if (n) memcpy(scratch, values, n * sizeof *values);
    return median(scratch, n);
}

static void collect(struct plot *p)
{
    size_t rows = p->cloud->table->row_count;
    p->scratch = mem_new((rows + 1) * sizeof *p->scratch);
    for (int i = 0; i < p->cloud->count; i++) {
        p->x[i] = mem_new((rows + 1) * sizeof *p->x[i]), p->y[i] = mem_new((rows + 1) * sizeof *p->y[i]);
        for (size_t r = 0; r < rows; r++) {
            if (series_of(p->cloud, r) != i || !is_shown(p->state, p->cloud, r)) continue;
            p->x[i][p->n[i]] = number(p->cloud, r, p->cloud->cosine);
            p->y[i][p->n[i]++] = number(p->cloud, r, p->cloud->p);
        }
        p->mid_x[i] = median_of(p->scratch, p->x[i], p->n[i]), p->mid_y[i] = median_of(p->scratch, p->y[i], p->n[i]);
        for (size_t n = 0; n < p->n[i]; n++) p->y[i][n] = odds_up(&p->state->axis, p->y[i][n]);
    }
}

static void release(struct plot *p)
{
    for (int i = 0; i < p->cloud->count; i++) mem_free(p->x[i]), mem_free(p->y[i]);
    mem_free(p->scratch);
}

static double across(const struct plot *p, double cosine) { return (cosine - p->cloud->low) / (1 - p->cloud->low); }

static void draw_axes(const struct plot *p)
{
    struct area a = p->area;
    for (int r = 0; r < a.rows; r++) cells_text(p->cells, a.row + r, a.col - 1, TINT_DIM, "│");
    for (int c = -1; c < a.cols; c++) cells_text(p->cells, a.row + a.rows, a.col + c, TINT_DIM, c < 0 ? "└" : "─");
    odds_draw(&p->state->axis, p->cells, a);
    double step = a.cols >= 36 ? 0.2 : a.cols >= 22 ? 0.25 : 0.5;
    for (double x = ceil(p->cloud->low / step - 1e-9) * step; x <= 1 + 1e-9; x += step) {
        int col = dots_col(a, across(p, x));
        cells_text(p->cells, a.row + a.rows, col, TINT_DIM, "┬");
        const char *text = fabs(x) < 1e-9 ? "0" : x > 0.999 ? "1" : unit_show(x);
        cells_text(p->cells, a.row + a.rows + 1, col - text_width(text) / 2, TINT_DIM, "%s", text);
    }
}

static void draw_medians(const struct plot *p)
{
    for (int i = 0; i < p->cloud->count; i++) {
        enum tint tint = tint_of(p->cloud->names[i], i);
        if (!p->n[i]) continue;
        int col = dots_col(p->area, across(p, p->mid_x[i])), row = dots_row(p->area, odds_up(&p->state->axis, p->mid_y[i]));
        for (int r = 0; r < p->area.rows; r++) cells_text(p->cells, p->area.row + r, col, tint, "┊");
        for (int c = 0; c < p->area.cols; c++) cells_text(p->cells, row, p->area.col + c, tint, "┄");
    }
}

/* Corners around the box, and its cells reversed: dots stay to be seen, also without colours. */
static void draw_box(const struct plot *p)
{
    const struct state *s = p->state;
    double near = 1e-6;
    int left = dots_col(p->area, across(p, s->x)), right = dots_col(p->area, across(p, s->x + s->w) - near);
    double end = s->y + s->h > 1 - near ? 1 : s->y + s->h - near; /* by odds there is much above 1 - near */
    int top = dots_row(p->area, odds_up(&s->axis, end)), bottom = dots_row(p->area, odds_up(&s->axis, s->y + near) + near);
    for (int r = top; r <= bottom; r++) {
        bool edge = r == top || r == bottom;
        cells_text(p->cells, r, left, TINT_KEY, edge ? (r == top ? "┌" : "└") : "│");
        cells_text(p->cells, r, right, TINT_KEY, edge ? (r == top ? "┐" : "┘") : "│");
    }
    for (int c = left + 1; c < right; c++) {
        struct glyph *over = cells_glyph(p->cells, top, c), *under = cells_glyph(p->cells, bottom, c);
        if (over && !strcmp(over->text, " ")) cells_text(p->cells, top, c, TINT_KEY, "─");
        if (under && !strcmp(under->text, " ")) cells_text(p->cells, bottom, c, TINT_KEY, "─");
    }
}

static void draw_dots(const struct plot *p)
{
    struct dots *dots = dots_new(p->area);
    for (int i = 0; i < p->cloud->count; i++)
        for (size_t n = 0; n < p->n[i]; n++)
            dots_set(dots, across(p, p->x[i][n]), p->y[i][n], tint_of(p->cloud->names[i], i), i ? 1 : 2);
    dots_draw(dots, p->cells);
    dots_free(dots);
}

static void draw_plot(struct plot *p, struct area area)
{
    enum { LABELS = 8, BARS = 4 };
    int series = p->cloud->count;
    p->area = (struct area){area.row + series, area.col + LABELS, area.rows - series - 2, area.cols - LABELS - series * (BARS + 1) - 1};
    if (p->area.rows < 3 || p->area.cols < 12) return;
    for (int i = 0; i < series; i++) {
        enum tint tint = tint_of(p->cloud->names[i], i);
        cells_put(p->cells, area.row + i, area.col + 1, tint, split_name(p->cloud->names[i]), LABELS - 2);
        histogram_row(p->cells, area.row + i, p->area.col, p->area.cols, p->x[i], p->n[i], p->cloud->low, 1, tint);
        struct area bars = {p->area.row, p->area.col + p->area.cols + 1 + i * (BARS + 1), p->area.rows, BARS};
        histogram_column(p->cells, bars, p->y[i], p->n[i], 0, 1, tint);
        cells_put(p->cells, bars.row - 1, bars.col, tint, split_name(p->cloud->names[i]), BARS);
        cells_put(p->cells, bars.row + bars.rows, bars.col, TINT_DIM, "of P", BARS);
    }
    draw_axes(p);
    draw_medians(p);
    draw_box(p);
    draw_dots(p);
    cells_put(p->cells, area.row + area.rows - 1, area.col, TINT_PLAIN, "P up", LABELS - 1);
    cells_put(p->cells, area.row + area.rows - 1, p->area.col + p->area.cols + 1, TINT_PLAIN, "cosine", 6);
}

/* ---- the list */

static int draw_series(const struct plot *p, struct area area)
{
    cells_text(p->cells, area.row, area.col + 2, TINT_DIM, "medians");
    draw_right(p->cells, area.row, area.col + area.cols, TINT_DIM, "n    P  cos");
    for (int i = 0; i < p->cloud->count; i++) {
        enum tint tint = tint_of(p->cloud->names[i], i);
        int row = area.row + 1 + i;
        cells_put(p->cells, row, area.col, tint, p->cells->ascii ? (i ? "o" : "*") : i ? "⠂" : "⠒", 1);
        cells_put(p->cells, row, area.col + 2, tint, split_name(p->cloud->names[i]), area.cols - 18);
        int right = draw_right(p->cells, row, area.col + area.cols, TINT_PLAIN, "%5s", unit_show(p->mid_x[i]));
        right = draw_right(p->cells, row, right, TINT_PLAIN, "%5s", unit_show(p->mid_y[i]));
        draw_right(p->cells, row, right, TINT_PLAIN, "%zu", p->n[i]);
    }
    return 1 + p->cloud->count;
}

static int draw_counts(const struct plot *p, struct area area)
{
    const struct state *s = p->state;
    const char *name = s->corner >= 0 ? corners[s->corner].name : "this box";
    int row = area.row;
    draw_heading(p->cells, row++, area.col, area.cols, name);
    double left = s->x < p->cloud->low ? p->cloud->low : s->x;
    struct text range = {0};
    text_add(&range, "P %s-%s  cos %s-%s", unit_show(s->y), unit_show(s->y + s->h), unit_show(left), unit_show(s->x + s->w));
    cells_put(p->cells, row++, area.col, TINT_DIM, range.data, area.cols);
    text_clear(&range);
    for (int i = 0; i < p->cloud->count; i++) {
        int n = 0, wrong = 0;
        for (size_t r = 0; r < p->cloud->table->row_count; r++) {
            if (series_of(p->cloud, r) != i || !in_box(s, p->cloud, r)) continue;
            n++, wrong += number(p->cloud, r, p->cloud->correct) == 0;
        }
        cells_put(p->cells, row, area.col, tint_of(p->cloud->names[i], i), split_name(p->cloud->names[i]), 6);
        int col = cells_text(p->cells, row++, area.col + 6, TINT_TITLE, "%d", n);
        if (p->n[i]) col = cells_text(p->cells, row - 1, col, TINT_PLAIN, " (%.0f %%)", 100.0 * n / (double)p->n[i]);
        cells_text(p->cells, row - 1, col + 1, wrong ? TINT_BAD : TINT_GOOD, "%d wrong", wrong);
    }
    return row - area.row;
}

static void draw_question(const struct plot *p, struct area area, long r, bool marked)
{
    const struct table *table = p->cloud->table;
    int series = series_of(p->cloud, (size_t)r), end = area.col + area.cols;
    bool correct = number(p->cloud, (size_t)r, p->cloud->correct) != 0;
    const char *predicted = table_text(table, (size_t)r, "predicted"), *question = table_text(table, (size_t)r, "question");
    draw_right(p->cells, area.row, area.col + 4, tint_of(p->cloud->names[series], series), "%.0f", table_number(table, (size_t)r, "row"));
    int most = area.cols / 4, width = predicted ? text_width(predicted) : 0, right = end - (width < most ? width : most);
    draw_name(p->cells, area.row, right, end - right, correct ? TINT_GOOD : TINT_BAD, predicted ? predicted : "");
    draw_tokens(p->cells, area.row, area.col + 5, right - area.col - 6, TINT_PLAIN, question ? question : "");
    if (marked) draw_mark(p->cells, area.row, area.col, area.cols);
}

static void draw_list(struct app *app, const struct plot *p, struct area area)
{
    int count;
    nth(p->state, p->cloud, 0, &count);
    if (area.rows < 2) return;
    cells_put(p->cells, area.row, area.col, TINT_DIM, "row  question", area.cols);
    draw_right(p->cells, area.row, area.col + area.cols, TINT_DIM, "says");
    area.row++, area.rows--;
    int first = scroll_first(p->state->at, count, area.rows), seen = 0;
    for (size_t r = 0; r < p->cloud->table->row_count && seen < first + area.rows; r++) {
        if (!in_box(p->state, p->cloud, r)) continue;
        struct area line = {area.row + seen - first, area.col, 1, area.cols - 1};
        if (seen >= first) draw_question(p, line, (long)r, p->state->listing && seen == p->state->at), app_spot(app, line, seen);
        seen++;
    }
    draw_scroll(p->cells, area, first, count);
    if (!count) cells_put(p->cells, area.row, area.col, TINT_DIM, p->state->wrong ? "no wrong answer here" : "no question here", area.cols);
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    struct cloud cloud;
    if (app_draw_waiting(app, cells, area, 0) || !read_cloud(&cloud, app_table(app, 0, 0))) return;
    struct plot plot = {.cells = cells, .state = s, .cloud = &cloud};
    int list = area.cols * 3 / 8 < 52 ? area.cols * 3 / 8 : 52;
    if (list < 28) list = area.cols >= 76 ? 28 : 22;
    scale_to(s, &cloud);
    collect(&plot);
    int named = cells_text(cells, area.row, area.col + 1, s->wrong ? TINT_WARN : TINT_PLAIN, "one dot per %s, %c.%d",
                           s->wrong ? "wrong answer" : "question", app_boundary(app), s->boundary);
    static const char axes[] = ": P(bridge) against cosine";
    if (named + text_width(axes) < area.col + area.cols - list) cells_text(cells, area.row, named, TINT_DIM, "%s", axes);
    draw_plot(&plot, (struct area){area.row + 1, area.col, area.rows - 1, area.cols - list - 1});
    s->low = cloud.low, s->rows = plot.area.rows, s->cols = plot.area.cols;
    if (s->rows > 0 && s->cols > 0) app_spot(app, plot.area, SPOT_PLOT);
    struct area side = {area.row, area.col + area.cols - list, area.rows, list - 1};
    int taken = draw_series(&plot, side);
    side.row += taken, side.rows -= taken;
    taken = draw_counts(&plot, side);
    side.row += taken, side.rows -= taken;
    draw_list(app, &plot, side);
    release(&plot);
}

const struct view view_bridge = {
    .name = "bridge", .title = "decodable against aligned",
    .help = "P(bridge) against the cosine with W[bridge], a dot for each question; a box lists its questions",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = search, .click = click,
};
