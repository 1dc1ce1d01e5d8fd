/* A grid of cells as a PNG: what a terminal would show, with a fixed-width font that comes with the program.
 *
 *     struct cells_look look = {.ground = 0x16181d, .colour = {[TINT_PLAIN] = 0xd6d9df, ...}};
 *     cells_png(cells, &look, &out, err);
 *
 * Braille is drawn as dots, and lines and blocks from cell to cell, so that nothing has gaps. A character that the font lacks is an empty box.
 */
#ifndef FIGURES_CELLS_PICTURE_H
#define FIGURES_CELLS_PICTURE_H

#include "figures/cells.h"
#include "ground/err.h"
#include "ground/text.h"

struct cells_look {
    unsigned ground, colour[TINT_COUNT]; /* 0xRRGGBB */
    bool bold[TINT_COUNT];
};

bool cells_png(const struct cells *cells, const struct cells_look *look, struct text *out, struct err *err);

#endif
