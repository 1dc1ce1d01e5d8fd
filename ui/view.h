/* A view: command lines, and a drawing of the tables they give. One row, one file; its number key is its place in the list.
 *
 *     static void lines(struct app *app) { app_want(app, "sites %s", app_model(app)); }
 *     static void draw(struct app *app, struct cells *cells, struct area area) { ... app_table(app, 0, 0) ... }
 *     const struct view view_loops = {.name = "loops", .title = "the loop of the model", .help = "...", .keys = keys, .lines = lines, .draw = draw};
 *
 * A view never computes and never waits: it draws what is there, at any size, and the same state always gives the same cells.
 */
#ifndef VIEW_H
#define VIEW_H

#include "keys.h"
#include "layout.h"
#include "setting.h"

struct view {
    const char *name;                /* one word: the tab, and `view NAME` */
    const char *title;               /* a few words: the help */
    const char *help;                /* one line: what is to be seen here */
    const struct binding *keys;      /* ends with an empty row; NULL: only those of every view */
    void (*lines)(struct app *app);  /* app_want() for everything that is drawn, the most urgent first */
    void (*draw)(struct app *app, struct cells *cells, struct area area);
    bool hidden;                     /* no tab and no number key */

    /* What a view may have besides; all may be left out. */
    const struct setting *settings;  /* what it can be set to: saved, undone by u, changed by :set; ends with an empty row */
    const char *const *parts;        /* names of its parts, ended by NULL: Tab, z and \ act on them, and draw asks app_part() */
    bool (*search)(struct app *app, const char *text, int step); /* to the next (1) or previous (-1) line that holds the text; false: none does */
    void (*click)(struct app *app, int code); /* the mouse, on a place that draw named with app_spot() */
    bool (*enter)(struct app *app, const char *line, char *const *words, size_t count); /* a line of the prompt that it runs itself; false: not its */
    void (*tick)(struct app *app);   /* every second while it is on the screen: app_refresh() for what may have changed on the disk */
    const char *example;             /* keys that make a good picture of it: `view NAME --example` */
};

#endif
