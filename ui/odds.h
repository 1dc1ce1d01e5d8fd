/* An axis of probabilities: plain, or by their odds, where .99 and .9999 are as far apart as .5 and .99.
 *
 *     struct odds_axis axis = {.odds = true, .least = -4, .most = 4};          (powers of ten of p / (1 - p) at its ends)
 *     double height = odds_up(&axis, p);                                       (0 ... 1; odds_down is the way back)
 *     odds_draw(&axis, cells, area);                                           (ticks and their names left of the area)
 */
#ifndef ODDS_H
#define ODDS_H

#include "layout.h"

struct odds_axis { bool odds; double least, most; };

enum { ODDS_MOST = 16 };                                    /* the largest power that a p of 64 bits has */

double odds_up(const struct odds_axis *axis, double p);
double odds_down(const struct odds_axis *axis, double height);
void odds_start(struct odds_axis *axis);                    /* for odds_span: no p yet */
void odds_span(struct odds_axis *axis, double p);           /* has to hold this one, too */
void odds_settle(struct odds_axis *axis);                   /* after the last */
void odds_draw(const struct odds_axis *axis, struct cells *cells, struct area area);

#endif
