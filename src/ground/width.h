/* How many columns a text takes on a terminal or a page of fixed-width characters; own tables, so no locale has a say.
 *
 *     int columns = text_width("日本");               (4)
 *     char piece[PIECE_SIZE];
 *     int width, size;
 *     while ((size = text_piece(s, piece, &width))) { ... s += size; }
 *
 * East Asian wide characters and emoji take two columns, combining marks none. What cannot be shown (control characters, broken UTF-8) counts as
 * text_show writes it.
 */
#ifndef GROUND_WIDTH_H
#define GROUND_WIDTH_H

enum { PIECE_SIZE = 12 };

/* Length in bytes of the valid UTF-8 sequence at s (1 to 4), 0 when it is broken or s is at the end; *code may be NULL. */
int text_utf8(const char *s, unsigned *code);

int text_width(const char *text);

/* The next character of s as it is shown, with its width; returns the bytes of s it takes, 0 at the end. */
int text_piece(const char *s, char piece[PIECE_SIZE], int *width);

#endif
