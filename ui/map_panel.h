/* A sweep over alpha and one more option as shaded cells: a row for each value of the option, a column for each alpha, a map for each split.
 *
 *     struct map_panel panel = {result, "position", "1", 0.70, "test_ood"};
 *     map_panel_draw(&panel, cells, area);
 */
#ifndef MAP_PANEL_H
#define MAP_PANEL_H

#include "layout.h"
#include "result.h"

struct map_panel {
    const struct result *sweep; /* NULL: not asked for; may still grow */
    const char *axis;           /* the other option: a column */
    const char *value;          /* of the form: its row is marked */
    double alpha;               /* of the form: its column is marked */
    const char *split;          /* shown first, and alone where there is no room for more */
};

void map_panel_draw(const struct map_panel *panel, struct cells *cells, struct area area);

#endif
