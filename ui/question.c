#include "question.h"

#include <stdio.h>
#include <string.h>

int question_position(const struct app *app, const struct lens *lens)
{
    int at = app->position >= 0 ? app->position : lens->bridge_position >= 0 ? lens->bridge_position : lens->answer_position;
    return at < lens->positions ? at : lens->positions - 1;
}

/* ---- looking for another question: what was asked for may have to be computed first */

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

static void turn_split(struct app *app)
{
    const struct table *eval = app_kept(app, "eval %s", app_subject(app));
    if (!eval) return;
    const char *names[32];
    int count = 0, at = 0;
    for (size_t r = 0; r < eval->row_count && count < 32; r++) {
        const char *name = table_text(eval, r, "split");
        if (!name || (count && !strcmp(names[count - 1], name))) continue;
        if (!strcmp(name, app->split)) at = count;
        names[count++] = name;
    }
    if (count) snprintf(app->split, sizeof app->split, "%s", names[(at + app->turn + count) % count]), app->row = 0;
    app->turn = 0;
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
    int want = app_want(app, "lens %s --row %s:%ld", app_subject(app), app->split, app->row);
    if (app->turn) app_want(app, "eval %s", app_subject(app));
    if (app->seek) app_want(app, "questions %s --split %s", app_subject(app), app->split);
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

void question_press_split(struct app *app, int key)
{
    app->turn = key == ']' ? 1 : -1;
}

/* ---- its line */

int question_draw(struct app *app, struct cells *cells, struct area area, const struct lens *lens)
{
    bool correct = lens_correct(lens);
    int end = draw_right(cells, area.row, area.col + area.cols - 1, correct ? TINT_GOOD : TINT_BAD, "%s", correct ? "correct" : "wrong");
    double size = split_size(app, app->split);
    if (isfinite(size)) end = draw_right(cells, area.row, end - 2, TINT_DIM, "%s %ld of %.0f", app->split, app->row, size);
    else end = draw_right(cells, area.row, end - 2, TINT_DIM, "%s %ld", app->split, app->row);
    int col = cells_put(cells, area.row, area.col + 1, TINT_TITLE, lens_fact(lens, "question"), end - area.col - 30);
    col = cells_text(cells, area.row, col, TINT_PLAIN, cells->ascii ? " -> " : " → ");
    col = cells_put(cells, area.row, col, TINT_GOOD, lens_fact(lens, "answer"), 12);
    col = cells_put(cells, area.row, col + 2, TINT_DIM, "predicted ", end - col - 2);
    cells_put(cells, area.row, col, correct ? TINT_GOOD : TINT_BAD, lens_fact(lens, "predicted"), end - col - 1);
    return 1;
}
