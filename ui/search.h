/* Finding the next line that holds a text, around the end.
 *
 *     int row = search_table(table, "ood", at, 1);          (-1: no row holds it)
 *     int line = search_lines(text, "ood", at, -1);
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "results/table.h"

int search_table(const struct table *table, const char *text, int from, int step); /* in any cell, as people read it */
bool search_row(const struct table *table, size_t row, const char *text);
int search_lines(const char *lines, const char *text, int from, int step);

#endif
