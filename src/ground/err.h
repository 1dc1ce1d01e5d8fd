/* What went wrong in the world (a file, an option, a user, a disk), as one text that can be printed unchanged.
 *
 *     bool thing_open(const char *path, struct err *err)
 *     {
 *         if (!exists(path)) return err_set(err, "%s: not found: give the folder that holds config.json", path);
 *         ...
 *     }
 *
 * A message says where, what, and what would be right. Functions that can fail return bool and take the err last.
 * Text that came from outside (tensor names, keys) goes through text_show() before it enters a message.
 */
#ifndef GROUND_ERR_H
#define GROUND_ERR_H

#include <stdbool.h>

struct err {
    bool stopped;     /* the user asked to stop: exit code 130, nothing is broken */
    bool usage;       /* the command line was wrong: exit code 2 */
    char text[8192];  /* may hold several lines; never ends in one */
};

/* Sets the message and returns false, so that `return err_set(...)` reads well. A NULL err is allowed. */
bool err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "where: " in front of the message; returns false. */
bool err_in(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds to the message, as long as there is room; returns false. */
bool err_add(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Marks the message as a mistake in how the program was called; returns false. */
bool err_usage(struct err *err);

/* Sets the message ("stopped ..."), with the mark that the user wanted it; returns false. */
bool err_stop(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
