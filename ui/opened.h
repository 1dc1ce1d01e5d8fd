/* The open models: one is looked at, the others wait, each with the data it is measured on. And whether the files of the one that is looked at are
 * still those that were read.
 *
 *     opened_keep(app);                     (what is looked at now is among them)
 *     opened_turn(app, 1);                  (to the next; the question stays)
 *     opened_close(app, "runs/a");
 *     if (opened_look(app)) ...             (its files have changed since: a training goes on writing, say)
 */
#ifndef OPENED_H
#define OPENED_H

#include "app.h"

struct opened {
    char *model, *path;       /* as the user wrote it, and the folder that it stands for */
    char *data;               /* NULL: its own */
    unsigned long long files; /* a hash of names, sizes and times; 0: not known */
    bool follow;              /* they are read again whenever they change */
};

/* Without slashes at the end; where its folder is open already, by the name that it was opened by. To free. */
char *opened_name(const struct app *app, const char *model);

struct opened *opened_find(const struct app *app, const char *model); /* by its name or folder; NULL: it is not open */
size_t opened_place(const struct app *app);                           /* of the one that is looked at */
struct opened *opened_keep(struct app *app);                          /* NULL: no model is open */
void opened_turn(struct app *app, int step);
void opened_close(struct app *app, const char *model);
void opened_clear(struct app *app);                                   /* the list is empty until the next opened_keep */
void opened_release(struct app *app);
void opened_list(struct app *app, const struct opened *one);          /* among app->models, wherever it is */
void opened_pick(struct app *app); /* the list of models points to the one that is looked at */

/* "models/vanilla runs/a --data khop" */
void opened_add(struct app *app, struct text *out);
bool opened_read(struct app *app, const char *value); /* opens those, and closes none */

bool opened_look(struct app *app);       /* true: the screen has something new to say */
void opened_seen(struct app *app);       /* the files as they are now are those that are read */

#endif
