/* Which rows of a table belong to one series, what the series is called and how it looks.
 *
 *     struct groups groups = {0};
 *     groups_use(&groups, table, x);                        (the columns that tell series apart: labels, and axes other than x)
 *     size_t i = groups_find(&groups, table, row, NULL);    (the series of a row; a new one when it is the first of its kind)
 *     if (!groups_add(&groups, figure, err)) ...            (all of them become series of the figure, in the same order)
 *     groups_clear(&groups);
 */
#ifndef FIGURES_GROUP_H
#define FIGURES_GROUP_H

#include "figures/figure.h"

struct groups {
    const struct table *table; /* borrowed */
    size_t *columns, column_count;
    size_t values; /* how many columns of values each series has; 0: one */
    int split; /* the column named split, or -1: ID and OOD differ in dash and filling */
    struct group { char *split, *other; } *items;
    size_t count, room;
};

void groups_use(struct groups *groups, const struct table *table, int x);
/* value_name: NULL, or the column, where columns are series too. */
size_t groups_find(struct groups *groups, const struct table *table, size_t row, const char *value_name);
bool groups_add(const struct groups *groups, struct figure *figure, struct err *err); /* false: too many to tell apart; err says what to leave out */
void groups_clear(struct groups *groups);

const char *split_name(const char *split); /* "test_ood" -> "OOD" */

#endif
