/* The screen: a terminal, an app, and the loop between them.
 *
 *     return tui_main(session, "models/vanilla");          (NULL: the first bundled model)
 */
#ifndef TUI_H
#define TUI_H

#include "doing/session.h"
#include "ground/text.h"

/* Returns the exit code. Without a terminal it prints a summary as text. A signal that ends the program ends it by that signal. */
int tui_main(struct session *session, const char *model);

/* The same cells as text: what `view NAME` prints, and what tests and screenshots compare. */
bool view_plain(struct session *session, const char *view_name, const char *model, int rows, int cols, struct text *out, struct err *err);

#endif
