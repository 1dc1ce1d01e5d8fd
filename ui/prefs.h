/* Preferences: how the screen looks and feels for this user, in $XDG_CONFIG_HOME/loopscope/settings as lines "name value".
 *
 *     struct prefs prefs;
 *     prefs_read(&prefs, path, &err);            (defaults, and what the file says; an absent file is fine)
 *     prefs_set(&prefs, "theme", "light", &err);
 *     prefs_write(&prefs, path, &err);           (in one piece; lines that this version does not know stay as they are)
 *     prefs_release(&prefs);
 */
#ifndef PREFS_H
#define PREFS_H

#include "theme.h"

#include "ground/err.h"
#include "ground/text.h"

struct prefs {
    enum theme theme;
    int ascii;         /* 1: only ASCII, 0: never so, -1: as the terminal says */
    bool mouse;
    int rows, cols;    /* of pages that `view NAME` prints */
    struct text other; /* lines of the file that say something else */
    bool changed;      /* since it was read or written */
};

void prefs_init(struct prefs *prefs);
bool prefs_read(struct prefs *prefs, const char *path, struct err *err); /* wrong lines are kept and the first of them is the message */
bool prefs_write(struct prefs *prefs, const char *path, struct err *err);
void prefs_release(struct prefs *prefs);

bool prefs_known(const char *name);
bool prefs_set(struct prefs *prefs, const char *name, const char *value, struct err *err);

/* The i-th name and what it may be ("dark|light|none"); NULL behind the last. */
const char *prefs_name(size_t i, const char **choices);

#endif
