/* The most probable tokens of one position at every boundary that the grid shows, each with its P.
 *
 *     if (top_panel_fits(app)) want = app_want(app, "lens %s %s --top %d", ..., TOP_TOKENS);
 *     struct top_panel panel = {lens_of(app_table(app, want, 0)), &lens, ...};
 *     rows = top_panel_draw(&panel, cells, area);
 */
#ifndef TOP_PANEL_H
#define TOP_PANEL_H

#include "app.h"
#include "lens.h"

enum { TOP_TOKENS = 10 };

struct top_panel {
    struct lens top;           /* of `lens --top`: no table: not there yet */
    const struct lens *lens;   /* what the grid shows: of another question, nothing is drawn */
    bool by_token;
    int position, boundary;    /* the cursor */
    int first, shown;          /* boundaries, a column each, */
    int left, width;           /* from this column on, so wide */
};

bool top_panel_fits(const struct app *app);  /* is the screen high enough to compute it for? */
int top_panel_draw(const struct top_panel *panel, struct cells *cells, struct area area); /* the rows it took: 0 where they are too few */

#endif
