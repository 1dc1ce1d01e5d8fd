/* One question before and after an edit, place by place: what each state decodes to, and which of them changed.
 *
 *     struct pair_panel panel = {lens_of(before), lens_of(after), boundary, position, false, "before", "after"};
 *     pair_panel_draw(&panel, cells, area);
 */
#ifndef PAIR_PANEL_H
#define PAIR_PANEL_H

#include "layout.h"
#include "lens.h"

struct pair_panel {
    struct lens before, after;
    int boundary, position;                 /* where the edit acts */
    bool by_token;                          /* a position has one state, s.{position+1} */
    const char *name_before, *name_after;
};

void pair_panel_draw(const struct pair_panel *panel, struct cells *cells, struct area area);

#endif
