#include "top_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool top_panel_fits(const struct app *app)
{
    enum { ROWS = 30 };
    return app->rows >= ROWS;
}

static bool is_same(const struct top_panel *p)
{
    static const char *const facts[] = {"model_sha256", "question", "data_sha256"};
    bool same = p->top.table && p->top.positions == p->lens->positions && p->top.boundaries == p->lens->boundaries;
    for (int i = 0; i < 3; i++) same = same && !strcmp(lens_fact(&p->top, facts[i]), lens_fact(p->lens, facts[i]));
    return same;
}

static void draw_token(const struct top_panel *p, struct cells *cells, int row, int boundary, int rank)
{
    enum { TOKEN = 8, NUMBER = 6, RAIL = 20 };
    char token[32] = "token", number[32] = "p";
    if (rank > 1) snprintf(token, sizeof token, "token_%d", rank), snprintf(number, sizeof number, "p_%d", rank);
    int position = p->by_token ? boundary - 1 : p->position, col = p->left + (boundary - p->first) * p->width;
    const char *name = lens_text(&p->top, position, boundary, token);
    double value = lens_number(&p->top, position, boundary, number);
    if (!*name || isnan(value)) return;
    bool bridge = !strcmp(name, lens_fact(&p->top, "bridge")), answer = !strcmp(name, lens_fact(&p->top, "answer"));
    enum tint tint = answer ? TINT_GOOD : bridge ? TINT_CHANGED : boundary == p->boundary ? TINT_PLAIN : TINT_DIM;
    draw_name(cells, row, col, TOKEN - 1, tint, name);
    if (value >= 0.005) draw_right(cells, row, col + TOKEN + NUMBER - 1, tint, "%s", unit_show(value));
    else draw_right(cells, row, col + TOKEN + NUMBER - 1, tint, value < 1e-99 ? "%.0f" : "%.0e", value); /* how far behind it is */
    int rail = p->width - TOKEN - NUMBER - 2;
    if (rail >= 3) draw_bar(cells, row, col + TOKEN + NUMBER, rail < RAIL ? rail : RAIL, value, tint);
}

/* Tokens that the table names at each place: a small vocabulary has no more. */
static int named(const struct table *table)
{
    char name[32];
    int count = 1;
    do snprintf(name, sizeof name, "token_%d", count + 1);
    while (table_find(table, name) >= 0 && ++count);
    return count;
}

int top_panel_draw(const struct top_panel *p, struct cells *cells, struct area area)
{
    enum { LEAST = 3 };
    int most = p->top.table ? named(p->top.table) : 0, count = area.rows - 1 < most ? area.rows - 1 : most;
    struct text title = {0};
    if (count < LEAST || !is_same(p)) return 0;
    if (p->by_token) text_add(&title, "the %d most probable tokens after each token", count);
    else text_add(&title, "the %d most probable tokens at position %d", count, p->position);
    draw_heading(cells, area.row, area.col, area.cols - 1, title.data);
    text_clear(&title);
    for (int rank = 1; rank <= count; rank++) {
        draw_right(cells, area.row + rank, area.col + 4, TINT_DIM, "%d", rank);
        for (int b = p->first; b < p->first + p->shown; b++) draw_token(p, cells, area.row + rank, b, rank);
    }
    return count + 1;
}
