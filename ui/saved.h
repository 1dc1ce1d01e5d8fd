/* Sessions as files: what is open, looked at and set, as lines that the prompt takes.
 *
 *     saved_write(app, "fig2.session", &err);
 *     saved_read(app, "fig2.session", &err);         (false: the message names the line; what stands before it is done)
 */
#ifndef SAVED_H
#define SAVED_H

#include "app.h"

bool saved_write(struct app *app, const char *path, struct err *err);
bool saved_read(struct app *app, const char *path, struct err *err);

#endif
