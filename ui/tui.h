/* The screen: a terminal, an app, and the loop between them.
 *
 *     return tui_main(session, "models/vanilla");          (NULL: the first bundled model)
 */
#ifndef TUI_H
#define TUI_H

#include "doing/session.h"
#include "ground/text.h"

/* Returns the exit code. Without a terminal it prints a summary as text. A signal that ends the program ends it by that signal. */
int tui_main(struct session *session, const char *model);
bool tui_open_saved(struct session *session, const char *path, struct err *err); /* the same on a saved session; false: it cannot be opened */

/* The same cells as text: what `view NAME` prints, and screenshots show. When a command failed the answer is false, and what says so is drawn too. */
struct args;
struct app;
struct page {
    const char *view, *model; /* model NULL: the first bundled one */
    const char *press;        /* keys to press first, NULL: none: "mm<Down><Right>" */
    int rows, cols;
    enum { PAGE_TEXT, PAGE_SVG, PAGE_PNG } form;
    bool example;             /* the view's own example of keys, when press is NULL */
    int theme;                /* of a picture, as in theme.h */
    bool (*set)(struct app *app, const struct args *args, struct err *err); /* what is looked at, before any key; NULL: as a session begins */
    const struct args *args;
};
bool view_plain(struct session *session, const struct page *page, struct text *out, struct err *err);

#endif
