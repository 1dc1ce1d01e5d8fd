#include "question.h"
#include "search.h"

#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

int question_position(const struct app *app, const struct lens *lens)
{
    int at = app->position >= 0 ? app->position : lens->bridge_position >= 0 ? lens->bridge_position : lens->answer_position;
    return at < lens->positions ? at : lens->positions - 1;
}

/* ---- its tokens, or others in their place */

const char *question_tokens(const struct app *app)
{
    bool mine = app->tokens && app->tokens_row == app->row && !strcmp(app->tokens_split, app->split);
    return mine ? app->tokens : "";
}

void question_set_tokens(struct app *app, const char *tokens)
{
    char *copy = *tokens ? mem_text(tokens) : NULL;
    mem_free(app->tokens);
    app->tokens = copy;
    app->tokens_row = app->row;
    snprintf(app->tokens_split, sizeof app->tokens_split, "%s", app->split);
}

const char *question_option(const struct app *app)
{
    static _Thread_local char out[2048];
    struct text text = {0};
    if (*question_tokens(app)) text_add(&text, "--tokens "), text_add_quoted(&text, question_tokens(app));
    else text_add(&text, "--row %s:%ld", app->split, app->row);
    snprintf(out, sizeof out, "%s", text.data);
    text_clear(&text);
    return out;
}

const struct table *question_untouched(const struct app *app)
{
    return *question_tokens(app) ? app_kept(app, "lens %s --row %s:%ld", app_subject(app), app->split, app->row) : NULL;
}

/* The neighbour of a token in the vocabulary: the one whose name differs from it only in its number, if there is one. NULL: it has none. */
static const char *neighbour(const struct table *vocab, const char *token, int step)
{
    long at = -1, count = (long)vocab->row_count;
    size_t stem = strcspn(token, "0123456789");
    for (long r = 0; r < count; r++)
        if (table_text(vocab, (size_t)r, "token") && !strcmp(table_text(vocab, (size_t)r, "token"), token)) at = r;
    for (long i = 1; at >= 0 && i <= count; i++) {
        const char *other = table_text(vocab, (size_t)(((at + step * i) % count + count) % count), "token");
        if (other && strcspn(other, "0123456789") == stem && !strncmp(other, token, stem)) return other;
    }
    return NULL;
}

static void shift_token(struct app *app)
{
    const struct table *vocab = app_kept(app, "vocab %s", app_subject(app));
    struct lens lens = lens_of(app_kept(app, "lens %s %s", app_subject(app), question_option(app)));
    struct text tokens = {0};
    if (!vocab || !lens.table) return;
    int here = question_position(app, &lens);
    for (int p = 0; p < lens.positions; p++) {
        const char *token = lens_text(&lens, p, 0, "input"), *other = p == here ? neighbour(vocab, token, app->shift) : NULL;
        text_add(&tokens, "%s%s", p ? " " : "", other ? other : token);
    }
    app->shift = 0;
    const struct table *own = app_kept(app, "lens %s --row %s:%ld", app_subject(app), app->split, app->row);
    bool back = own && table_fact_get(own, "question") && !strcmp(table_fact_get(own, "question"), tokens.data);
    question_set_tokens(app, back ? "" : tokens.data);
    text_clear(&tokens);
}

/* ---- looking for another question: what was asked for may have to be computed first */

/* The dataset that is measured on, quoted for a line; "": not known. */
static const char *data_quoted(const struct app *app)
{
    static _Thread_local char out[2048];
    const char *data = app->data ? app->data : app_fact(app, "data");
    struct text text = {0};
    if (data) text_add_quoted(&text, data);
    snprintf(out, sizeof out, "%s", data ? text.data : "");
    text_clear(&text);
    return out;
}

static double split_size(const struct app *app, const char *split)
{
    const struct table *eval = app_kept(app, "eval %s", app_subject(app));
    for (size_t r = 0; eval && r < eval->row_count; r++) {
        const char *name = table_text(eval, r, "split");
        if (name && !strcmp(name, split)) return table_number(eval, r, "n");
    }
    return INFINITY;
}

static void seek_wrong(struct app *app)
{
    const struct table *all = app_kept(app, "questions %s --split %s", app_subject(app), app->split);
    if (!all) return;
    int step = app->seek;
    app->seek = 0;
    for (size_t r = step > 0 ? 0 : all->row_count; step > 0 ? r < all->row_count : r-- > 0; r += step > 0) {
        double row = table_number(all, r, "row");
        if (table_number(all, r, "correct") != 0 || (step > 0 ? row <= (double)app->row : row >= (double)app->row)) continue;
        app->row = (long)row;
        return;
    }
    app_say(app, step > 0 ? "no wrong answer behind this one" : "no wrong answer before this one");
}

static void find_question(struct app *app)
{
    const struct table *all = app_kept(app, "questions %s --split %s", app_subject(app), app->split);
    int at = all ? search_table(all, app->found, (int)app->row, app->find) : -1;
    if (!all) return;
    app->find = 0;
    if (at >= 0) app->row = (long)table_number(all, (size_t)at, "row");
    else app_say(app, "no question of %s holds '%s'", app->split, app->found);
}

bool question_search(struct app *app, const char *text, int step)
{
    (void)text;
    app->find = step;
    return true;
}

/* Names of splits, with the numbers of their questions: a dataset says them sooner than a measurement of all of them does. */
static const struct table *splits_of(const struct app *app)
{
    const struct table *eval = app_kept(app, "eval %s", app_subject(app));
    return eval ? eval : app_kept(app, "data check %s", data_quoted(app));
}

static void turn_split(struct app *app)
{
    const struct table *splits = splits_of(app);
    if (!splits) return;
    const char *names[32];
    int count = 0, at = 0;
    for (size_t r = 0; r < splits->row_count && count < 32; r++) {
        const char *name = table_text(splits, r, "split");
        if (!name || (count && !strcmp(names[count - 1], name))) continue;
        if (!strcmp(name, app->split)) at = count;
        names[count++] = name;
    }
    if (count) snprintf(app->split, sizeof app->split, "%s", names[(at + app->turn + count) % count]), app->row = 0;
    app->turn = 0;
}

void question_want_splits(struct app *app)
{
    if (!app->turn) return;
    bool known = *data_quoted(app) && !app_failed(app, "data check %s", data_quoted(app));
    if (known) app_want(app, "data check %s", data_quoted(app));
    else app_want(app, "eval %s", app_subject(app));
}

void question_turn(struct app *app)
{
    bool absent = app_failed(app, "lens %s --row %s:%ld", app_subject(app), app->split, app->row) ||
                  app_failed(app, "questions %s --split %s", app_subject(app), app->split);
    if (!app->turned && absent) app->turned = true, app->turn = 1;
    if (app->turn) turn_split(app);
}

int question_want(struct app *app)
{
    if (!app->model) return 0;
    question_turn(app);
    if (app->seek) seek_wrong(app);
    if (app->find) find_question(app);
    if (app->shift) shift_token(app);
    int want = app_want(app, "lens %s %s", app_subject(app), question_option(app));
    if (*question_tokens(app)) app_want(app, "lens %s --row %s:%ld", app_subject(app), app->split, app->row); /* to see what changes */
    if (app->shift) app_want(app, "vocab %s", app_subject(app));
    question_want_splits(app);
    if (app->seek || app->find) app_want(app, "questions %s --split %s", app_subject(app), app->split);
    return want;
}

/* ---- keys */

void question_press_row(struct app *app, int key)
{
    double most = split_size(app, app->split) - 1;
    app->row += key == PRESS_UP || key == ',' ? -1 : key == PRESS_DOWN || key == '.' ? 1 : key == PRESS_PAGE_UP ? -10 : 10;
    if ((double)app->row > most) app->row = (long)most;
    if (app->row < 0) app->row = 0;
}

void question_press_wrong(struct app *app, int key)
{
    app->seek = key == 'n' ? 1 : -1;
}

void question_press_tokens(struct app *app, int key)
{
    (void)key;
    const struct table *lens = app_kept(app, "lens %s %s", app_subject(app), question_option(app));
    const char *now = lens ? table_fact_get(lens, "question") : NULL;
    app_ask(app, ASK_TOKENS, now ? now : question_tokens(app));
}

void question_press_token(struct app *app, int key)
{
    app->shift = key == '>' ? 1 : -1;
}

void question_press_split(struct app *app, int key)
{
    app->turn = key == ']' ? 1 : -1;
}

/* ---- its line */

static int least(int a, int b) { return a < b ? a : b; }

/* Which question it is, at the right end; returns where that begins. */
static int draw_place(const struct app *app, struct cells *cells, struct area area, int end)
{
    bool brief = area.cols < 76;
    double size = split_size(app, app->split);
    if (*question_tokens(app)) return draw_right(cells, area.row, end, TINT_CHANGED, brief ? "typed" : "typed over %s %ld", app->split, app->row);
    if (isfinite(size) && !brief) return draw_right(cells, area.row, end, TINT_DIM, "%s %ld of %.0f", app->split, app->row, size);
    return draw_right(cells, area.row, end, TINT_DIM, "%s %ld", app->split, app->row);
}

int question_draw(struct app *app, struct cells *cells, struct area area, const struct lens *lens)
{
    enum { NAME = 12 };
    bool correct = lens_correct(lens), known = lens_knows(lens, "answer"), brief = area.cols < 76;
    enum tint tint = !known ? TINT_DIM : correct ? TINT_GOOD : TINT_BAD;
    const char *answer = lens_fact(lens, "answer"), *predicted = lens_fact(lens, "predicted"), *says = brief ? "says " : "predicted ";
    int end = draw_right(cells, area.row, area.col + area.cols - 1, tint, "%s", !known ? "not in the data" : correct ? "correct" : "wrong");
    end = draw_place(app, cells, area, end - 2);
    int name = brief ? 6 : NAME, said = brief && correct ? 0 : 2 + (int)strlen(says) + least(text_width(predicted), name);
    int answered = known ? 4 + least(text_width(answer), name) : 0;
    int col = draw_tokens(cells, area.row, area.col + 1, end - area.col - 3 - said - answered, *question_tokens(app) ? TINT_CHANGED : TINT_TITLE,
                          lens_fact(lens, "question"));
    if (known) {
        col = cells_text(cells, area.row, col, TINT_PLAIN, cells->ascii ? " -> " : " → ");
        col = draw_name(cells, area.row, col, name, TINT_GOOD, answer);
    }
    if (!said) return 1; /* what is correct need not be said twice */
    col = cells_put(cells, area.row, col + 2, TINT_DIM, says, end - col - 2);
    draw_name(cells, area.row, col, least(name, end - col - 1), known ? tint : TINT_TITLE, predicted);
    return 1;
}
