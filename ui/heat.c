#include "heat.h"

#include <math.h>

enum { SHADES = 5, CELL_MOST = 9, NUMBER = 4 };

/* Five shades, so that each can be told from its neighbours. */
static const char *shade(const struct cells *cells, double part)
{
    static const char *const blocks[SHADES] = {"·", "░", "▒", "▓", "█"}, *const letters[SHADES] = {".", ":", "+", "*", "#"};
    int level = (int)floor(part * SHADES);
    level = level < 0 ? 0 : level >= SHADES ? SHADES - 1 : level;
    return (cells->ascii ? letters : blocks)[level];
}

/* With its number where there are HEAT_NUMBERED columns. */
static void draw_cell(struct cells *cells, int row, int col, int width, double value, double low, double high, enum tint tint)
{
    bool number = width >= HEAT_NUMBERED;
    int shaded = number ? width - NUMBER - 1 : width > 1 ? width - 1 : 1;
    if (isnan(value)) return;
    for (int i = 0; i < shaded; i++) cells_text(cells, row, col + i, tint, "%s", shade(cells, (fabs(value) - low) / (high - low)));
    const char *text = unit_show(value);
    if (number) draw_right(cells, row, col + shaded + NUMBER, TINT_PLAIN, "%.*s", NUMBER, text);
}

static int names_width(const char *const *names, int count)
{
    int widest = 0;
    for (int i = 0; names && i < count; i++)
        if (text_width(names[i]) > widest) widest = text_width(names[i]);
    return widest < 12 ? widest : 12;
}

static int cell_width(const struct heat *heat, int cols)
{
    int width = heat->cols ? cols / heat->cols : 1;
    return width > CELL_MOST ? CELL_MOST : width < 1 ? 1 : width;
}

static void draw_names(const struct heat *heat, struct cells *cells, int row, int col, int width, int shown)
{
    int widest = names_width(heat->col_names, heat->cols), every = (widest + width) / width;
    if (every < 1) every = 1;
    for (int c = 0; c < shown; c += every) {
        bool here = c == heat->at_col && heat->at_row >= 0;
        draw_name(cells, row, col + c * width, every * width - (width > 1), here ? TINT_KEY : TINT_DIM, heat->col_names[c]);
    }
}

int heat_draw(const struct heat *heat, struct cells *cells, struct area area)
{
    int label = names_width(heat->row_names, heat->rows), left = area.col + label + (label > 0);
    int width = cell_width(heat, area.cols - (left - area.col));
    int shown_cols = (area.cols - (left - area.col)) / width, row = area.row;
    if (shown_cols > heat->cols) shown_cols = heat->cols;
    if (heat->col_names && area.rows > 1) draw_names(heat, cells, row++, left, width, shown_cols);
    for (int r = 0; r < heat->rows && row < area.row + area.rows; r++, row++) {
        bool here = r == heat->at_row;
        if (heat->row_names) draw_name(cells, row, area.col, label, here ? TINT_KEY : TINT_DIM, heat->row_names[r]);
        for (int c = 0; c < shown_cols; c++) {
            double value = heat->values[r * heat->cols + c];
            enum tint tint = heat->signs && value < 0 ? TINT_SERIES_2 : heat->tint;
            draw_cell(cells, row, left + c * width, width, value, heat->low, heat->high, tint);
            int shaded = width >= HEAT_NUMBERED ? width - NUMBER - 1 : 0; /* a full shade turned over would be a hole: the number is marked */
            if (here && c == heat->at_col) draw_mark(cells, row, left + c * width + shaded, width > 1 ? width - 1 - shaded : 1);
        }
    }
    return row - area.row;
}
