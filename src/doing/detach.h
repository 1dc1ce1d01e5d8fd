/* This program once more, as a process of its own that does not end with this one.
 *
 *     const char *words[] = {"train", "recipe", "--out", "runs/x"};
 *     if (!detach_run(words, 4, "runs/x/train.err", &pid, err)) ...       (it ended at once: err says what it wrote)
 *
 * What it writes goes to the file; it reads nothing, belongs to no terminal, and has the working folder of this process.
 */
#ifndef DOING_DETACH_H
#define DOING_DETACH_H

#include "ground/err.h"

#include <stddef.h>

bool detach_run(const char *const *words, size_t count, const char *log, long *pid, struct err *err);

#endif
