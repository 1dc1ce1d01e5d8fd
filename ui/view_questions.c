#include "app.h"
#include "question.h"
#include "search.h"

#include "figures/group.h"
#include "ground/mem.h"
#include "ground/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum sort { BY_ROW, BY_P, BY_COSINE, BY_PREDICTED, BY_ANSWER, SORTS };

static const char *const sort_names[SORTS] = {"row", "P(bridge)", "cosine", "predicted", "answer"};
static const char *const sort_columns[SORTS] = {"row", "p_bridge", "cosine", "predicted", "answer"};

struct state {
    enum sort sort;
    bool falling, wrong;
    int limit;   /* only P(bridge) below this many twentieths; 0: all */
    int at;      /* the marked line, of those that are shown */
    char split[64]; /* whose lines were shown when it was marked */
};

static struct state *state_of(struct app *app) { return app_state(app, sizeof(struct state)); }

/* ---- which questions, in which order */

struct order { size_t *rows; size_t count; };

struct by { const struct table *table; int column; bool falling; };

static int compare_rows(const void *a, const void *b, void *how)
{
    const size_t *x = a, *y = b;
    const struct by *by = how;
    const struct cell *one = table_cell(by->table, *x, (size_t)by->column), *other = table_cell(by->table, *y, (size_t)by->column);
    int order = 0;
    if (one->text && other->text) order = strcmp(one->text, other->text);
    else if (isnan(one->number) || isnan(other->number)) order = (isnan(one->number) ? 1 : 0) - (isnan(other->number) ? 1 : 0);
    else order = (one->number > other->number) - (one->number < other->number);
    if (order) return by->falling ? -order : order;
    return *x < *y ? -1 : *x > *y;
}

static struct order order_of(const struct state *s, const struct table *table)
{
    struct order order = {mem_new((table->row_count + 1) * sizeof *order.rows), 0};
    for (size_t r = 0; r < table->row_count; r++) {
        if (s->wrong && table_number(table, r, "correct") != 0) continue;
        if (s->limit && !(table_number(table, r, "p_bridge") < s->limit / 20.0)) continue;
        order.rows[order.count++] = r;
    }
    struct by by = {table, table_find(table, sort_columns[s->sort]), s->falling};
    if (order.count && by.column >= 0) qsort_r(order.rows, order.count, sizeof *order.rows, compare_rows, &by);
    return order;
}

/* The mark stays on a line that is there. */
static int marked(const struct state *s, size_t count) { return s->at >= (int)count ? (int)count - 1 : s->at < 0 ? 0 : s->at; }

/* Questions of another split would stand under this one's name. */
static void forget_other(struct app *app, int want)
{
    const struct table *table = app_table(app, want, 0);
    const char *split = table && table->row_count ? table_text(table, 0, "split") : NULL;
    if (split && strcmp(split, app->split) != 0) app_pane(app, app->view)->wants[want].shown = NULL;
}

static void lines(struct app *app)
{
    struct state *s = state_of(app);
    if (!app->model) return;
    question_turn(app);
    if (strcmp(s->split, app->split) != 0) snprintf(s->split, sizeof s->split, "%s", app->split), s->at = 0;
    int want = app_want(app, "questions %s --split %s", app_subject(app), app->split);
    forget_other(app, want);
    question_want_splits(app);
}

/* ---- keys */

static void move(struct app *app, int step)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 0, 0);
    if (!table) return;
    struct order order = order_of(s, table);
    s->at = marked(s, order.count) + step;
    s->at = marked(s, order.count);
    mem_free(order.rows);
}

static void press_line(struct app *app, int key)
{
    static const struct { int key, step; } steps[] = {{PRESS_UP, -1}, {PRESS_DOWN, 1}, {PRESS_PAGE_UP, -20}, {PRESS_PAGE_DOWN, 20},
                                                      {PRESS_HOME, -(1 << 28)}, {PRESS_END, 1 << 28}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].key == key) move(app, steps[i].step);
}

static void press_open(struct app *app, int key)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 0, 0);
    (void)key;
    if (!table) return;
    struct order order = order_of(s, table);
    if (order.count) {
        app->row = (long)table_number(table, order.rows[marked(s, order.count)], "row");
        app_go(app, view_find("grid"));
    }
    mem_free(order.rows);
}

static void press_sort(struct app *app, int key)
{
    struct state *s = state_of(app);
    (void)key;
    s->sort = (s->sort + 1) % SORTS;
    s->at = 0;
    app_say(app, "sorted by %s", sort_names[s->sort]);
}

static void press_reverse(struct app *app, int key)
{
    (void)key;
    state_of(app)->falling = !state_of(app)->falling;
    state_of(app)->at = 0;
}

static void press_wrong(struct app *app, int key)
{
    (void)key;
    state_of(app)->wrong = !state_of(app)->wrong;
    state_of(app)->at = 0;
}

static void press_limit(struct app *app, int key)
{
    struct state *s = state_of(app);
    s->limit = (s->limit + (key == '<' ? 20 : 1)) % 21; /* all, then below 1, below .95 ... */
    s->at = 0;
}

static bool search(struct app *app, const char *text, int step)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 0, 0);
    if (!table) return false;
    struct order order = order_of(s, table);
    int count = (int)order.count, from = marked(s, order.count), found = -1;
    for (int i = 1; i <= count && found < 0; i++) {
        int at = ((from + step * i) % count + count) % count;
        if (search_row(table, order.rows[at], text)) found = at;
    }
    if (found >= 0) s->at = found;
    mem_free(order.rows);
    return found >= 0;
}

static void click(struct app *app, int code) { state_of(app)->at = code; }

/* ---- settings */

static const char *const sorts[] = {"row", "p", "cosine", "predicted", "answer", NULL}, *const filters[] = {"all", "wrong", NULL};

static void get_sort(struct app *app, struct text *out) { text_add(out, "%s", sorts[state_of(app)->sort]); }

static bool set_sort(struct app *app, const char *value)
{
    for (int i = 0; sorts[i]; i++)
        if (!strcmp(sorts[i], value)) return state_of(app)->sort = (enum sort)i, true;
    return false;
}

static void get_shown(struct app *app, struct text *out) { text_add(out, "%s", filters[state_of(app)->wrong]); }

static bool set_shown(struct app *app, const char *value)
{
    state_of(app)->wrong = !strcmp(value, "wrong");
    return state_of(app)->wrong || !strcmp(value, "all");
}

static void get_below(struct app *app, struct text *out)
{
    if (state_of(app)->limit) text_add(out, "%.2f", state_of(app)->limit / 20.0);
    else text_add(out, "all");
}

static bool set_below(struct app *app, const char *value)
{
    double number = 0;
    bool all = !strcmp(value, "all");
    if (!all && (!parse_number(value, &number) || !(number > 0) || number > 1)) return false;
    state_of(app)->limit = (int)lround(20 * number);
    return true;
}

static void get_marked(struct app *app, struct text *out) { text_add(out, "%d", state_of(app)->at); }

static bool set_marked(struct app *app, const char *value)
{
    snprintf(state_of(app)->split, sizeof state_of(app)->split, "%s", app->split); /* it is a line of these */
    return setting_number(value, &state_of(app)->at);
}

static const struct setting settings[] = {
    {"sort", "by this column", get_sort, set_sort, sorts}, {"shown", "which answers", get_shown, set_shown, filters},
    {"below", "only questions whose P(bridge) is below this; all: whatever it is", get_below, set_below},
    {"marked", "the line that keys act on", get_marked, set_marked, .kind = SETTING_PLACE}, {0},
};

static const struct binding keys[] = {
    {{PRESS_UP, PRESS_DOWN, PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END}, "question", "marks another question", press_line},
    {{PRESS_ENTER}, "grid", "the marked question through the loops", press_open},
    {{'w'}, "wrong", "only wrong answers, all again", press_wrong},
    {{'<', '>'}, "P below", "only questions whose P(bridge) is below a limit, which falls by .05; rises", press_limit},
    {{'s'}, "sort", "by another column", press_sort},
    {{'r'}, "reverse", "the other way round", press_reverse},
    {{'[', ']'}, "split", "the split before, the next", question_press_split},
    {{0}},
};

/* ---- drawing */

enum { P_HEAD = sizeof "P(bridge)" - 1, COSINE_HEAD = sizeof "cosine" - 1, GAP = 2 };

/* Where the columns are: those of text by their left ends, numbers by their right ends, each with its bar behind it. */
struct lanes { int row, question, answer, predicted, p, cosine, bars, word; }; /* word: the width of a token */

static struct lanes lanes_of(struct area area)
{
    struct lanes l = {.row = area.col + 5, .question = area.col + 7, .word = area.cols >= 70 ? 10 : 7};
    l.bars = area.cols < 92 ? 0 : area.cols < 160 ? (area.cols - 80) / 2 : 40;
    int bar = l.bars ? l.bars + 1 : 0;
    l.cosine = area.col + area.cols - (bar ? bar : 2);
    l.p = l.cosine - COSINE_HEAD - GAP - bar;
    l.predicted = l.p - P_HEAD - GAP - l.word - 2;
    l.answer = l.predicted - l.word;
    return l;
}

static void draw_head(const struct state *s, struct cells *cells, int row, int col, bool right, enum sort sort)
{
    bool here = sort == s->sort;
    const char *arrow = cells->ascii ? (s->falling ? "v" : "^") : s->falling ? "▼" : "▲";
    enum tint tint = here ? TINT_KEY : TINT_DIM;
    if (right) draw_right(cells, row, col + here, tint, "%s%s", sort_names[sort], here ? arrow : "");
    else cells_text(cells, row, col, tint, "%s%s", sort_names[sort], here ? arrow : "");
}

static void draw_heads(const struct state *s, struct cells *cells, int row, const struct lanes *l)
{
    cells_text(cells, row, l->question, TINT_DIM, "question");
    draw_head(s, cells, row, l->row, true, BY_ROW);
    draw_head(s, cells, row, l->answer, false, BY_ANSWER);
    draw_head(s, cells, row, l->predicted + (l->word >= 9 ? 2 : 0), false, BY_PREDICTED);
    draw_head(s, cells, row, l->p, true, BY_P);
    draw_head(s, cells, row, l->cosine, true, BY_COSINE);
}

static const char *text_of(const struct table *table, size_t r, const char *column)
{
    const char *text = table_text(table, r, column);
    return text ? text : "";
}

/* What is below 1 does not read as 1: a filter may have said so. */
static const char *below_one(double p) { return p < 1 && p >= 0.995 ? ">.99" : unit_show(p); }

static void draw_line(struct cells *cells, int row, const struct lanes *l, const struct table *table, size_t r)
{
    bool correct = table_number(table, r, "correct") != 0;
    enum tint tint = split_tint(text_of(table, r, "split")), said = correct ? TINT_GOOD : TINT_BAD;
    double p = table_number(table, r, "p_bridge"), cosine = table_number(table, r, "cosine");
    draw_right(cells, row, l->row, TINT_DIM, "%.0f", table_number(table, r, "row"));
    draw_tokens(cells, row, l->question, l->answer - l->question - 1, TINT_PLAIN, text_of(table, r, "question"));
    draw_name(cells, row, l->answer, l->word - 1, TINT_PLAIN, text_of(table, r, "answer"));
    cells_text(cells, row, l->predicted, said, cells->ascii ? (correct ? " " : "x") : correct ? "✓" : "✗");
    draw_name(cells, row, l->predicted + 2, l->word, said, text_of(table, r, "predicted"));
    draw_right(cells, row, l->p, TINT_PLAIN, "%s", below_one(p));
    draw_right(cells, row, l->cosine, TINT_PLAIN, "%s", unit_show(cosine));
    if (l->bars) draw_bar(cells, row, l->p + 1, l->bars, p, tint), draw_bar(cells, row, l->cosine + 1, l->bars, cosine, tint);
}

static int draw_title(struct app *app, struct cells *cells, struct area area, const struct table *table, size_t shown)
{
    const struct state *s = state_of(app);
    int wrong = 0, end = area.col + area.cols;
    for (size_t r = 0; r < table->row_count; r++) wrong += table_number(table, r, "correct") == 0;
    int col = cells_put(cells, area.row, area.col + 1, split_tint(app->split), app->split, 20);
    col = cells_text(cells, area.row, col, TINT_PLAIN, "  %zu questions, ", table->row_count);
    col = cells_text(cells, area.row, col, wrong ? TINT_BAD : TINT_GOOD, "%d wrong", wrong);
    struct text filter = {0};
    if (s->wrong) text_add(&filter, "wrong only");
    if (s->limit) text_add(&filter, "%sP(bridge) below %s", filter.size ? ", " : "", s->limit == 20 ? "1" : unit_show(s->limit / 20.0));
    if (filter.size) draw_right(cells, area.row, end, TINT_WARN, "%s: %zu", filter.data, shown);
    else draw_right(cells, area.row, end, TINT_DIM, "all are shown");
    text_clear(&filter);
    return 1;
}

static void draw(struct app *app, struct cells *cells, struct area area)
{
    struct state *s = state_of(app);
    const struct table *table = app_table(app, 0, 0);
    if (app_draw_waiting(app, cells, area, 0) || !table) return;
    struct order order = order_of(s, table);
    bool roomy = area.rows >= 18;
    area.row += roomy, area.rows -= roomy, area.cols -= 1;
    struct lanes lanes = lanes_of((struct area){area.row, area.col, 1, area.cols - 2});
    int at = marked(s, order.count);
    int taken = draw_title(app, cells, area, table, order.count) + roomy;
    area.row += taken, area.rows -= taken;
    draw_heads(s, cells, area.row, &lanes);
    area.row++, area.rows--;
    int first = scroll_first(at, (int)order.count, area.rows);
    for (int i = 0; i < area.rows && first + i < (int)order.count; i++) {
        draw_line(cells, area.row + i, &lanes, table, order.rows[first + i]);
        if (first + i == at) draw_mark(cells, area.row + i, area.col, area.cols - 1);
        app_spot(app, (struct area){area.row + i, area.col, 1, area.cols}, first + i);
    }
    draw_scroll(cells, area, first, (int)order.count);
    if (!order.count) cells_text(cells, area.row + 1, area.col + 2, TINT_DIM, "no question is left: w shows right answers too, < lifts the limit");
    mem_free(order.rows);
}

const struct view view_questions = {
    .name = "questions", .title = "the questions behind a number",
    .help = "all questions of a split with what the model says: sort, filter, and look into one",
    .keys = keys, .lines = lines, .draw = draw, .settings = settings, .search = search, .click = click,
};
