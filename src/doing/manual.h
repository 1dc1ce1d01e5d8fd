/* The manual page, made from the rows of the commands.
 *
 *     struct text page = {0};
 *     manual_page(&page);                        (troff, for man)
 */
#ifndef DOING_MANUAL_H
#define DOING_MANUAL_H

#include "ground/text.h"

void manual_page(struct text *out);

/* A text inside a troff page: appended so that nothing in it is taken for a command. */
void manual_add(struct text *out, const char *text);

#endif
