/* Which questions turn right or wrong at which alpha, from the table of `flips`: how many at each alpha, and the questions themselves.
 *
 *     struct flips_panel panel = {result, "test_ood", alpha, at, focus};
 *     flips_panel_draw(&panel, cells, area);
 *     long r = flips_panel_row(&panel);                     (of the table: the marked flip; -1: there is none)
 */
#ifndef FLIPS_PANEL_H
#define FLIPS_PANEL_H

#include "layout.h"
#include "result.h"

struct flips_panel {
    const struct result *flips; /* NULL: not asked for; may still grow */
    const char *split;
    double alpha;               /* of the form */
    int at;                     /* the marked flip, of the split's */
    bool focus;                 /* keys are the list's */
};

void flips_panel_draw(const struct flips_panel *panel, struct cells *cells, struct area area);
/* Where its list is when it is drawn in this area, and which of its lines is the first. */
struct area flips_panel_list(const struct flips_panel *panel, struct area area, int *first);
long flips_panel_row(const struct flips_panel *panel);
int flips_panel_count(const struct flips_panel *panel);
bool flips_panel_search(struct flips_panel *panel, const char *text, int step); /* moves the mark */

#endif
