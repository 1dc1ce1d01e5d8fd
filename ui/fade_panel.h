/* What is left of an edit at each later boundary, from the table of `fade`: a bar for every boundary and position.
 *
 *     struct fade_panel panel = {result, "test_ood", 'h'};
 *     fade_panel_draw(&panel, cells, area);
 */
#ifndef FADE_PANEL_H
#define FADE_PANEL_H

#include "layout.h"
#include "result.h"

struct fade_panel {
    const struct result *fade; /* NULL: not asked for */
    const char *split;
    char boundary;             /* how boundaries are called: 'h' or 's' */
};

void fade_panel_draw(const struct fade_panel *panel, struct cells *cells, struct area area);

#endif
