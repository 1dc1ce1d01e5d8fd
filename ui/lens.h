/* The table of the `lens` command as a grid: one row for each position and boundary.
 *
 *     struct lens lens = lens_of(app_table(app, 0, 0));
 *     double p = lens_number(&lens, position, boundary, "p_bridge");      (NaN: no such row)
 */
#ifndef LENS_H
#define LENS_H

#include "results/table.h"

struct lens {
    const struct table *table; /* NULL: none yet */
    int positions, boundaries;
    int bridge_position;       /* where the bridge is read; -1: the question has none */
    int answer_position;
};

struct lens lens_of(const struct table *table);
double lens_number(const struct lens *lens, int position, int boundary, const char *column);
const char *lens_text(const struct lens *lens, int position, int boundary, const char *column); /* "" when there is none */
const char *lens_fact(const struct lens *lens, const char *key);                                /* "" when there is none */
bool lens_knows(const struct lens *lens, const char *key); /* such as its answer: there is one, and the data says which */
bool lens_correct(const struct lens *lens);

#endif
