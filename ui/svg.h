/* A grid of cells as a picture: what a terminal would show, as SVG text. For the README and for papers.
 *
 *     svg_add(cells, THEME_DARK, &out);
 */
#ifndef SVG_H
#define SVG_H

#include "theme.h"
#include "ground/text.h"

void svg_add(const struct cells *cells, enum theme theme, struct text *out);

#endif
