/* The terminal: the one place that knows ncurses. It shows grids of cells, reads keys, and always gives the terminal back as it was.
 *
 *     if (term_kind() != TERM_SCREEN) ...                      (print text instead)
 *     if (!term_open(&err)) ...
 *     term_size(&rows, &cols);
 *     term_show(cells, -1, -1);                                (copies what changed; -1: no cursor)
 *     while ((key = term_key())) ...                           (never waits: poll on term_fd first)
 *     term_close();
 *
 * There is one terminal, so there is no handle. term_give_back may be called at any moment, also by a signal handler.
 */
#ifndef TERM_H
#define TERM_H

#include "theme.h"

#include "ground/err.h"

enum term_kind {
    TERM_SCREEN,  /* cells can be shown */
    TERM_TEXT,    /* a pipe, a file, no TERM, or one that cannot move its cursor: text only */
    TERM_UNKNOWN, /* a terminal without an entry in the terminal database, and no stand-in for it either */
};
enum term_kind term_kind(void);

bool term_open(struct err *err);
void term_close(void);
void term_give_back(void); /* async-signal-safe; harmless when nothing is open */

void term_suspend(void);   /* gives the terminal back, stops the process, and takes the terminal again when it continues */
void term_size(int *rows, int *cols);
void term_resized(void);   /* the window has another size now */
void term_repaint(void);   /* everything is drawn anew by the next term_show */

void term_theme(enum theme theme);
void term_mouse(bool on);  /* no effect where the terminal has none */
bool term_copy(const char *text); /* hands it to the user's clipboard (OSC 52); false: this terminal is not known to take it */

bool term_ascii(void);     /* it can show ASCII only */
bool term_poor(void);      /* it should rather: the usual fonts of a console have no braille and few marks */
int term_fd(void);
bool term_gone(void);      /* readable, but there is nothing to read: the other end is closed */
int term_key(void);        /* a key of keys.h; 0: none waits */
void term_mouse_at(int *row, int *col); /* of the last PRESS_CLICK or PRESS_WHEEL_... */

void term_show(const struct cells *cells, int cursor_row, int cursor_col);

#endif
