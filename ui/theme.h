/* How tints look on a terminal: a colour of at most 16 and letters' weight. Colours are only support: every view says the same in text.
 *
 *     struct paint paint = theme_paint(THEME_DARK, TINT_BAD, colours);
 */
#ifndef THEME_H
#define THEME_H

#include "figures/cells.h"

enum theme { THEME_DARK, THEME_LIGHT, THEME_NONE, THEMES };
#define THEME_NAMES "dark|light|none"

struct paint {
    int colour; /* 0 ... 15 of the terminal's own palette; -1: its default */
    bool bold, dim;
};

/* colours: how many the terminal has; 0 gives paints without any. */
struct paint theme_paint(enum theme theme, enum tint tint, int colours);

const char *theme_name(enum theme theme);
bool theme_parse(const char *name, enum theme *theme);

/* The same as a picture has it: 0xRRGGBB on a ground, for a picture of a terminal. */
struct picture_paint { unsigned colour; bool bold; };
struct picture_paint theme_picture(enum theme theme, enum tint tint);
unsigned theme_ground(enum theme theme);

#endif
