/* A grid of cells as a picture: what a terminal with a dark ground would show, as SVG text. For the README and for papers.
 *
 *     svg_add(cells, &out);
 */
#ifndef SVG_H
#define SVG_H

#include "figures/cells.h"
#include "ground/text.h"

void svg_add(const struct cells *cells, struct text *out);

#endif
