/* What comes with the program: bundled models and datasets, found by name.
 *
 *     char *share = share_folder();                                    (to free, like every path here)
 *     char *path = share_find(share, "models", "vanilla");             ("models/vanilla"; NULL: no such thing)
 *     struct share_list list = share_list(share, "models", "config.json", NULL);
 *     share_missing(&list, name, "model", err);                        (the message: near names and all names; returns false)
 *     share_list_free(&list);
 */
#ifndef DOING_SHARE_H
#define DOING_SHARE_H

#include "ground/err.h"

#include <stddef.h>

struct share_list {
    char **names; /* paths, sorted */
    size_t count, room;
};

/* "." in a checkout; else the program's own folder or the one above it (a checkout builds into build/), or share/loopscope beside or above it. */
char *share_folder(void);

/* A folder as given, or KIND/NAME in the working folder or the share folder, or a file as given. */
char *share_find(const char *share, const char *kind, const char *name);

/* Folders in KIND that hold the file `mark`, and the files that end in `ending` (without it; NULL: none). */
struct share_list share_list(const char *share, const char *kind, const char *mark, const char *ending);
void share_list_free(struct share_list *list);
/* The i-th name, NULL for one that stood before: a working folder may hold what the share folder holds. */
const char *share_name(const struct share_list *list, size_t i);
bool share_missing(const struct share_list *list, const char *path, const char *what, struct err *err);

#endif
