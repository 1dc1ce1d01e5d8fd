/* A line of the prompt: what the screen itself understands (set, save, view, tour ...), and everything else, which is a command.
 *
 *     app_enter(app, "set theme light");               (app.h)
 *     for (size_t i = 0; (name = screen_verb(i)); i++) ...
 */
#ifndef ENTER_H
#define ENTER_H

#include <stddef.h>

const char *screen_verb(size_t i);                       /* NULL behind the last */
const char *screen_verb_help(size_t i, const char **words);

#endif
