/* How tints look on a terminal: a colour of at most 16 and letters' weight. Colours are only support: every view says the same in text.
 *
 *     struct paint paint = theme_paint(TINT_BAD, colours);
 */
#ifndef THEME_H
#define THEME_H

#include "figures/cells.h"

struct paint {
    int colour; /* 0 ... 15 of the terminal's own palette; -1: its default */
    bool bold, dim;
};

/* colours: how many the terminal has; 0 gives paints without any. */
struct paint theme_paint(enum tint tint, int colours);

#endif
