#include "figures/ticks.h"

#include <math.h>
#include <stdio.h>

double step_round(double least)
{
    static const double round_steps[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof round_steps / sizeof *round_steps; i++)
        if (round_steps[i] * power >= least * (1 - 1e-9)) return round_steps[i] * power;
    return 10 * power;
}

double step_next(double step) { return step_round(step * 1.01); }

static int find_decimals(double step)
{
    for (int decimals = 0; decimals < 15; decimals++) {
        double scaled = step * pow(10, decimals);
        if (fabs(scaled - round(scaled)) < 1e-6 * scaled) return decimals;
    }
    return 15;
}

struct ticks ticks_find(double low, double high, double step)
{
    struct ticks ticks = {.step = step, .unit = 1};
    double slack = step * 1e-6, largest = fmax(fabs(low), fabs(high));
    double first = ceil((low - slack) / step);
    for (double k = first; k * step <= high + slack && ticks.count < TICKS_MOST; k++) ticks.at[ticks.count++] = k == 0 ? 0 : k * step;
    if (largest >= 1e8 || largest < 1e-4) {
        ticks.exponent = (int)floor(log10(largest));
        ticks.unit = pow(10, ticks.exponent);
    } else if (largest >= 1e4 && step >= 100) ticks.unit = largest >= 1e6 ? 1e6 : 1e3;
    ticks.decimals = find_decimals(step / ticks.unit);
    return ticks;
}

void tick_text(const struct ticks *ticks, size_t i, char text[TICK_TEXT])
{
    double value = ticks->at[i];
    if (value == 0) snprintf(text, TICK_TEXT, "0");
    else if (ticks->exponent) snprintf(text, TICK_TEXT, "%.*fe%d", ticks->decimals, value / ticks->unit, ticks->exponent);
    else snprintf(text, TICK_TEXT, "%.*f%s", ticks->decimals, value / ticks->unit, ticks->unit == 1e3 ? "k" : ticks->unit == 1e6 ? "M" : "");
}
