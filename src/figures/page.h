/* A figure on a page: PNG, SVG or PDF, in memory. Implemented by canvas_cairo.c, the only place that knows cairo and FreeType.
 *
 *     struct page page = {.format = PAGE_PNG, .width = 3.4, .height = 2.55, .dpi = 300, .texts = texts, .text_count = 2};
 *     struct text bytes = {0};
 *     if (!page_draw(&page, figure, &bytes, NULL, err)) return false;
 *
 * The same figure and page give the same bytes: no clock, no random names, no fonts of the machine.
 */
#ifndef FIGURES_PAGE_H
#define FIGURES_PAGE_H

#include "figures/figure.h"
#include "figures/png_write.h"

enum page_format { PAGE_PNG = 1, PAGE_SVG, PAGE_PDF };

struct page {
    enum page_format format;
    double width, height;         /* inches */
    double dpi;                   /* PNG */
    const struct png_text *texts; /* what the file says about itself */
    size_t text_count;
};

/* boxes: NULL, or a table of boxes_new() that gets the box of every text, in pixels for PNG and in points otherwise. */
bool page_draw(const struct page *page, const struct figure *figure, struct text *out, struct table *boxes, struct err *err);

#endif
