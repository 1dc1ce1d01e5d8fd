/* PNG files in memory. The only place that knows libpng.
 *
 *     struct png_text texts[] = {{"Software", "loopscope 0.1"}, {"Command", line}};
 *     png_write(&out, pixels, width, height, 300, texts, 2);
 *
 * pixels: width x height of 32 bits 0xXXRRGGBB, as cairo's RGB24 has them. Chunks before the image: pHYs (dots per metre), one tEXt for each text (iTXt
 * when it is not plain ASCII). No clock: the same input gives the same bytes.
 */
#ifndef FIGURES_PNG_WRITE_H
#define FIGURES_PNG_WRITE_H

#include "ground/err.h"
#include "ground/text.h"

#include <stddef.h>
#include <stdint.h>

struct png_text { const char *key, *value; };

bool png_write(struct text *out, const uint32_t *pixels, size_t row_pixels, int width, int height, double dpi, const struct png_text *texts, size_t text_count,
               struct err *err);

#endif
