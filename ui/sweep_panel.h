/* A sweep on the screen: the curve, drawn from the same marks as its PNG, with curves of its controls where there is room, and beside it the numbers
 * at the form's alpha.
 *
 *     struct sweep_panel panel = {sweep, controls, 0.70, "test_ood"};
 *     sweep_panel_draw(&panel, cells, area);
 */
#ifndef SWEEP_PANEL_H
#define SWEEP_PANEL_H

#include "layout.h"
#include "result.h"

struct sweep_panel {
    const struct result *sweep;    /* NULL: not asked for; may still grow */
    const struct result *controls; /* the same edit with wrong targets, over alpha; NULL: not asked for */
    double alpha;
    const char *split;             /* whose controls are shown */
};

void sweep_panel_draw(const struct sweep_panel *panel, struct cells *cells, struct area area);

/* The targets of the controls, joined by commas: appended. */
void sweep_panel_targets(struct text *out);

#endif
