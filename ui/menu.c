#include "menu.h"

#include <string.h>

int view_digit(size_t n) { return n < 9 ? '1' + (int)n : n == 9 ? '0' : 0; }

static int view_count(void)
{
    int count = 0;
    while (view_numbered((size_t)count)) count++;
    return count;
}

/* Its own letter: the first of its name that no view before it has. */
static char letter_of(int n)
{
    char letters[VIEWS_MOST] = {0};
    for (int i = 0; i <= n && i < VIEWS_MOST; i++)
        for (const char *c = view_numbered((size_t)i)->name; *c && !letters[i]; c++)
            if (!memchr(letters, *c, (size_t)i)) letters[i] = *c;
    return n < VIEWS_MOST ? letters[n] : 0;
}

static void go(struct app *app, int n)
{
    const struct view *view = view_numbered((size_t)n);
    app->menu = -1;
    if (view) app_go(app, view);
}

void menu_key(struct app *app, int key)
{
    int count = view_count();
    if (key == PRESS_UP || key == PRESS_BACK_TAB) app->menu = (app->menu + count - 1) % count;
    else if (key == PRESS_DOWN || key == PRESS_TAB) app->menu = (app->menu + 1) % count;
    else if (key == PRESS_ENTER) go(app, app->menu);
    else if (key == PRESS_ESCAPE) app->menu = -1;
    else
        for (int i = 0; i < count; i++)
            if (key == view_digit((size_t)i) || (key < 128 && key == letter_of(i))) {
                go(app, i);
                return;
            }
}

void menu_draw(struct app *app, struct cells *cells, struct area area)
{
    int count = view_count(), rows = count + 2 < area.rows ? count + 2 : area.rows, cols = area.cols < 64 ? area.cols - 4 : 60;
    int first = scroll_first(app->menu, count, rows - 2);
    struct area box = {area.row + (area.rows - rows) / 2, area.col + (area.cols - cols) / 2, rows, cols};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) cells_text(cells, box.row + r, box.col + c, TINT_DIM, c == 0 || c == cols - 1 ? "│" : " ");
    draw_heading(cells, box.row, box.col, cols, "views: a digit, a letter, or Enter");
    draw_heading(cells, box.row + rows - 1, box.col, cols, "Esc: stay here");
    for (int i = 0; i + 2 < rows && first + i < count; i++) {
        const struct view *view = view_numbered((size_t)(first + i));
        int row = box.row + 1 + i, digit = view_digit((size_t)(first + i));
        cells_text(cells, row, box.col + 2, TINT_KEY, "%c  %c", digit ? digit : ' ', letter_of(first + i));
        cells_put(cells, row, box.col + 8, TINT_TITLE, view->name, 14);
        cells_put(cells, row, box.col + 22, TINT_PLAIN, view->title, cols - 23);
        if (first + i == app->menu) draw_mark(cells, row, box.col + 1, cols - 2);
        app_spot(app, (struct area){row, box.col, 1, cols}, first + i);
    }
}
