/* The course of a training: its log, or any number of any measurement at the checkpoints that stayed, as curves.
 *
 *     timeline_panel_log(cells, area, log);                      (loss, and the last stage of every split)
 *     timeline_panel_draw(cells, area, table, "p_bridge");       (of `timeline`: a curve for each split, boundary ...; "": the usual columns)
 *     column = timeline_panel_next(table, column, 1);            (another number; "": the usual ones again)
 */
#ifndef TIMELINE_PANEL_H
#define TIMELINE_PANEL_H

#include "layout.h"

void timeline_panel_log(struct cells *cells, struct area area, const struct table *log);
void timeline_panel_draw(struct cells *cells, struct area area, const struct table *table, const char *column);
const char *timeline_panel_next(const struct table *table, const char *column, int step); /* borrowed from the table */

#endif
