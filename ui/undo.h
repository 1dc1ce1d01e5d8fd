/* What u takes back: texts of settings, one for each key that changed any.
 *
 *     undo_note(&undo, before, "grid", false); (what was, when it has changed)
 *     const struct moment *m = undo_back(&undo, now, "grid");      (NULL: nothing to take back)
 */
#ifndef UNDO_H
#define UNDO_H

#include <stdbool.h>
#include <stddef.h>

enum { UNDO_MOST = 200 };

struct moment { char *settings; const char *view; }; /* view: where the key was pressed */

struct undo {
    struct moment past[UNDO_MOST], future[UNDO_MOST];
    int past_count, future_count;
    struct moment held; /* what was given last */
    bool moving;        /* the last of the past is from before moves */
};

/* Forgets what could have been done again. Moves behind others are in the step that is there. */
void undo_note(struct undo *undo, const char *before, const char *view, bool moved);

/* `now` is what undo_on brings back (and the other way round). The moment is the list's, until the next call. */
const struct moment *undo_back(struct undo *undo, const char *now, const char *view);
const struct moment *undo_on(struct undo *undo, const char *now, const char *view);
void undo_clear(struct undo *undo);

#endif
