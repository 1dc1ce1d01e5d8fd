#include "pair_panel.h"

#include "ground/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 12, CELL_LEAST = 12, CELL_MOST = 20 };

static bool is_there(const struct pair_panel *p, int position, int boundary) { return !p->by_token || boundary == position + 1; }

static bool is_changed(const struct pair_panel *p, int position, int boundary)
{
    double was = lens_number(&p->before, position, boundary, "p"), is = lens_number(&p->after, position, boundary, "p");
    bool other = strcmp(lens_text(&p->before, position, boundary, "token"), lens_text(&p->after, position, boundary, "token")) != 0;
    return other || fabs(was - is) >= 0.005;
}

static void draw_state(const struct pair_panel *p, struct cells *cells, int row, int col, int width, const struct lens *lens, int position,
                       int boundary)
{
    bool after = lens == &p->after, changed = after && is_changed(p, position, boundary), here = boundary == p->boundary && position == p->position;
    const char *token = lens_text(lens, position, boundary, "token");
    bool answer = !strcmp(token, lens_fact(lens, "answer")), bridge = !strcmp(token, lens_fact(lens, "bridge"));
    enum tint tint = answer ? TINT_GOOD : changed ? TINT_CHANGED : TINT_PLAIN;
    cells_text(cells, row, col, TINT_CHANGED, "%s", here && after ? (cells->ascii ? ">" : "▸") : changed ? "*" : " ");
    draw_name(cells, row, col + 1, width - 8, tint, token);
    if (answer || bridge) cells_text(cells, row, col + width - 6, tint, answer ? "a" : "b");
    draw_right(cells, row, col + width - 1, tint, "%s", unit_show(lens_number(lens, position, boundary, "p")));
    if (changed) cells_look(cells, row, col + 1, width - 2, LOOK_BOLD);
}

/* The last ones that fit: the answer is among them. */
static int first_shown(const struct pair_panel *p, int fit) { return p->before.boundaries > fit ? p->before.boundaries - fit : 0; }

static int draw_half(const struct pair_panel *p, struct cells *cells, struct area area, const struct lens *lens, const char *name, int shown,
                     int first)
{
    int width = area.cols / (shown ? shown : 1);
    if (width > CELL_MOST) width = CELL_MOST;
    bool correct = lens_correct(lens);
    int col = cells_text(cells, area.row, area.col + 1, TINT_TITLE, "%s", name);
    col = draw_name(cells, area.row, col + 1, 12, correct ? TINT_GOOD : TINT_BAD, lens_fact(lens, "predicted"));
    cells_text(cells, area.row, col + 1, correct ? TINT_GOOD : TINT_BAD, "%s", correct ? "correct" : "wrong");
    for (int b = 0; b < shown; b++) {
        cells_text(cells, area.row + 1, area.col + 1 + b * width, first + b == p->boundary ? TINT_KEY : TINT_DIM, "%c.%d",
                   p->by_token ? 's' : 'h', first + b);
        for (int i = 0; i < lens->positions && i + 2 < area.rows; i++)
            if (is_there(p, i, first + b)) draw_state(p, cells, area.row + 2 + i, area.col + b * width, width, lens, i, first + b);
    }
    return 2 + lens->positions;
}

/* What the edit changed, in one sentence. */
static void draw_changes(const struct pair_panel *p, struct cells *cells, struct area area)
{
    int changed = 0, all = 0;
    if (area.rows < 1) return;
    for (int k = p->boundary; k < p->before.boundaries; k++)
        for (int i = 0; i < p->before.positions; i++)
            if (is_there(p, i, k)) changed += is_changed(p, i, k), all++;
    cells_text(cells, area.row, area.col + 1, changed ? TINT_PLAIN : TINT_WARN, changed ? "%d of %d places from %c.%d on decode differently (*)" :
               "nothing decodes differently: %d of %d places from %c.%d on", changed, all, p->by_token ? 's' : 'h', p->boundary);
}

void pair_panel_draw(const struct pair_panel *p, struct cells *cells, struct area area)
{
    int room = (area.cols - LABEL - 2) / 2, fit = room / CELL_LEAST;
    int shown = fit < 1 ? 1 : fit < p->before.boundaries ? fit : p->before.boundaries, first = first_shown(p, shown);
    if (!p->before.table || !p->after.table || area.rows < 4) return;
    for (int i = 0; i < p->before.positions && i + 2 < area.rows; i++) {
        draw_right(cells, area.row + 2 + i, area.col + 3, TINT_DIM, "%d", i);
        draw_name(cells, area.row + 2 + i, area.col + 4, LABEL - 5, i == p->position ? TINT_KEY : TINT_PLAIN, lens_text(&p->before, i, 0, "input"));
    }
    struct area half = {area.row, area.col + LABEL, area.rows, room};
    int taken = draw_half(p, cells, half, &p->before, p->name_before, shown, first);
    half.col += room + 1;
    draw_half(p, cells, half, &p->after, p->name_after, shown, first);
    for (int r = 0; r < taken && r < area.rows; r++) cells_text(cells, area.row + r, area.col + LABEL + room, TINT_DIM, "│");
    if (taken + 1 < area.rows) draw_changes(p, cells, (struct area){area.row + taken + 1, area.col, 1, area.cols});
}
