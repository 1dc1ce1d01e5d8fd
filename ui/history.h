/* The lines that were entered at the prompt, kept from one session to the next.
 *
 *     history_read(&prompt, path);
 *     history_add(path, "lens models/vanilla --row test_ood:3");       (path NULL: not kept)
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "prompt.h"

void history_read(struct prompt *prompt, const char *path);
void history_add(const char *path, const char *line); /* what cannot be kept is lost without a word: it is only a convenience */

#endif
