/* Text that grows, and text that is safe to show.
 *
 *     struct text line = {0};
 *     text_add(&line, "loop %d of %d", k, loops);
 *     puts(line.data);
 *     text_clear(&line);
 */
#ifndef GROUND_TEXT_H
#define GROUND_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* never NULL after the first text_add; always ends in a NUL */
    size_t size, room;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t size);
void text_clear(struct text *text);

/* A copy in which control characters and broken UTF-8 are written as \n, \x1b ...: safe on any terminal. The copy lives in one of eight
 * buffers of this thread, so it is good until the eighth call from now. Cut at 200 bytes with "...". */
const char *text_show(const char *text);

/* The same without the cut and keeping line ends, for whole messages: appends to out. */
void text_add_shown(struct text *out, const char *text);

/* The name closest to `word` (edit distance, at most a third of its letters wrong); NULL when nothing is near.
 * `name(list, i)` gives entry i or NULL after the last. */
const char *text_nearest(const char *word, const char *(*name)(const void *list, size_t i), const void *list);
const char *text_name(const void *list, size_t i); /* for a NULL-ended array of char pointers */

bool text_starts(const char *text, const char *start);
bool text_ends(const char *text, const char *end);
bool text_among(const char *words, const char *word); /* is it one of "a|b|c"? */

/* Shell quoting, so that a command line can be shown, copied and run again: appends. */
void text_add_quoted(struct text *out, const char *word);

/* Does the whole text match the pattern, in which "*" stands for any run of characters? */
bool text_matches(const char *pattern, const char *text);

#endif
