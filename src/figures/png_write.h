/* PNG files in memory. The only place that knows libpng.
 *
 *     struct png_text texts[] = {{"Software", "loopscope 0.1"}, {"Command", line}};
 *     struct picture picture = {.pixels = pixels, .row_pixels = w, .width = w, .height = h, .dpi = 300, .texts = texts, .text_count = 2};
 *     png_write(&picture, &bytes, err);
 *
 * Chunks before the image: pHYs (dots per metre), one tEXt for each text (iTXt when it is not plain ASCII). No clock: the same input gives the same
 * bytes.
 */
#ifndef FIGURES_PNG_WRITE_H
#define FIGURES_PNG_WRITE_H

#include "ground/err.h"
#include "ground/text.h"

#include <stddef.h>
#include <stdint.h>

struct png_text { const char *key, *value; };

struct picture {
    const uint32_t *pixels; /* 0xXXRRGGBB, as cairo's RGB24 has them */
    size_t row_pixels;      /* from one row to the next */
    int width, height;
    double dpi;
    const struct png_text *texts;
    size_t text_count;
};

bool png_write(const struct picture *picture, struct text *out, struct err *err);

#endif
