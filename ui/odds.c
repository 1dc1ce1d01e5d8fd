#include "odds.h"

#include "dots.h"

#include <math.h>
#include <stdio.h>

static double between(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

static double power(double p) { return log10(p / (1 - p)); }

double odds_up(const struct odds_axis *axis, double p)
{
    return axis->odds ? between((power(p) - axis->least) / (axis->most - axis->least), 0, 1) : p;
}

double odds_down(const struct odds_axis *axis, double height)
{
    return axis->odds ? 1 / (1 + pow(10, -(axis->least + (axis->most - axis->least) * height))) : height;
}

void odds_start(struct odds_axis *axis) { axis->least = ODDS_MOST, axis->most = -ODDS_MOST; }

void odds_span(struct odds_axis *axis, double p)
{
    axis->least = fmin(axis->least, between(floor(power(p)), -ODDS_MOST, ODDS_MOST));
    axis->most = fmax(axis->most, between(ceil(power(p)), -ODDS_MOST, ODDS_MOST));
}

void odds_settle(struct odds_axis *axis)
{
    enum { SPAN = 4 };
    if (axis->most < axis->least) axis->least = -SPAN, axis->most = SPAN;
    if (axis->most - axis->least < SPAN) axis->least = axis->most - SPAN;
}

static void draw_tick(struct cells *cells, struct area area, double height, const char *text)
{
    int row = dots_row(area, height);
    draw_right(cells, row, area.col - 1, TINT_DIM, "%s", text);
    cells_text(cells, row, area.col - 1, TINT_DIM, "┤");
}

/* Quarters, or powers of ten: .99 is two, 1-1e-6 six. */
void odds_draw(const struct odds_axis *axis, struct cells *cells, struct area area)
{
    static const char *const plain[] = {"0", ".25", ".50", ".75", "1"}, *const high[] = {".50", ".9", ".99", ".999", ".9999"};
    int parts = area.rows >= 10 ? 4 : 2, step = (int)ceil((axis->most - axis->least) / parts);
    for (int i = 0; !axis->odds && i <= 4; i += 4 / parts) draw_tick(cells, area, i / 4.0, plain[i]);
    for (int at = (int)axis->most; axis->odds && at >= (int)axis->least; at -= step) {
        char text[16];
        if (at >= 0 && at <= 4) snprintf(text, sizeof text, "%s", high[at]);
        else snprintf(text, sizeof text, at > 0 ? "1-1e%d" : "1e%d", at > 0 ? -at : at);
        draw_tick(cells, area, (at - axis->least) / (axis->most - axis->least), text);
    }
}
