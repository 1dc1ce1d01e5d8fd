/* Markdown as far as our cards use it, on cells: headings, paragraphs, lists, lines of code, tables in aligned columns, the names of pictures.
 *
 *     int rows = markdown_draw(page, (struct area){0, 0, page->rows, page->cols}, text);      (the rows that it took)
 *
 * What is no such thing is shown as it stands; nothing is an error.
 */
#ifndef MARKDOWN_H
#define MARKDOWN_H

#include "layout.h"

int markdown_draw(struct cells *cells, struct area area, const char *text);

#endif
