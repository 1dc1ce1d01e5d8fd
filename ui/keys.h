/* Keys: what was pressed, how it is called, and what it does. One list of bindings per view is its keymap, its key line and its part of the help.
 *
 *     static const struct binding keys[] = {
 *         {{PRESS_LEFT, PRESS_RIGHT}, "loop", "moves the cursor one boundary", press_boundary},
 *         {{'m'}, "metric", "shows another number in the cells", press_metric},
 *         {{0}},
 *     };
 */
#ifndef KEYS_H
#define KEYS_H

#include "ground/text.h"

#include <stdbool.h>

struct app;

/* A key is a Unicode character, a control character, or one of these. */
enum press {
    PRESS_UP = 0x110000, PRESS_DOWN, PRESS_LEFT, PRESS_RIGHT, PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END,
    PRESS_BACK_TAB, PRESS_BACKSPACE, PRESS_DELETE,
    PRESS_CLICK, PRESS_WHEEL_UP, PRESS_WHEEL_DOWN, /* of the mouse: term_mouse_at() says where */
    PRESS_TAB = '\t', PRESS_ENTER = '\n', PRESS_ESCAPE = 27, PRESS_SPACE = ' ',
};
#define PRESS_CONTROL(letter) ((letter) & 31)

enum { BINDING_KEYS = 12 };

struct binding {
    int keys[BINDING_KEYS];             /* ends with 0; they share a name because they belong together (left, right) */
    const char *name;                   /* one word for the key line; NULL: only in the help */
    const char *help;                   /* what it does, one line */
    void (*act)(struct app *app, int key);
};

/* The binding of a key in a list that ends with an empty row; NULL: none. */
const struct binding *binding_find(const struct binding *list, int key);

/* All of a binding's keys ("m", "Tab", "←" or "<-"); brief: the first, or a pair of arrows. */
void binding_show(const struct binding *binding, bool ascii, bool brief, struct text *out);

/* The key that a script writes at *text ("a", "<Down>", "<^C>", "<Enter>"), behind which *text then points; 0: no such key. */
int key_read(const char **text);

#endif
