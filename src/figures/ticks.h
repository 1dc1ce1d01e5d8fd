/* Ticks at round numbers.
 *
 *     struct ticks ticks = ticks_find(0, 1, 0.2);         (0, 0.2 ... 1)
 *     tick_text(&ticks, 1, text);                         ("0.2")
 *
 * Ticks are whole multiples of the step, never sums. Numbers of one axis have the same count of decimals; zero is always "0".
 */
#ifndef FIGURES_TICKS_H
#define FIGURES_TICKS_H

#include <stddef.h>

enum { TICKS_MOST = 64, TICK_TEXT = 32 };

struct ticks {
    double step;
    double at[TICKS_MOST];
    size_t count;
    int decimals;
    double unit;         /* numbers are shown divided by it: 1, 1e3 (k), 1e6 (M) */
    int exponent;        /* not 0: shown as a x 10^exponent in "1e-5" form */
};

/* The finest round steps first: 1, 2, 2.5 or 5 times a power of ten; the smallest such step of at least `least`. */
double step_round(double least);
double step_next(double step);
struct ticks ticks_find(double low, double high, double step);
void tick_text(const struct ticks *ticks, size_t i, char text[TICK_TEXT]);

#endif
