/* Completion for shells, made from the rows of the commands.
 *
 *     struct text script = {0};
 *     completion_script("bash", &script);                                      (false: no such shell)
 *     completion_names(session, "splits", "vanilla", NULL, &names, err);       (what the script asks for while the user types)
 *
 * Commands, options and choices stand in the script; names that depend on what is there (models, datasets, splits, runs ...) it gets from
 * `loopscope help --names KIND`.
 */
#ifndef DOING_COMPLETION_H
#define DOING_COMPLETION_H

#include "doing/session.h"
#include "ground/text.h"

#define COMPLETION_KINDS "models|datasets|splits|rows|recipes|runs|views|replications|commands|families|sizes|figures|edits|axes|measurements"

bool completion_script(const char *shell, struct text *out);

/* One a line, appended. model: for splits, rows and sizes, what stands before on the line (a model, a dataset, a family), or NULL; data: what
 * --data says, or NULL. */
bool completion_names(struct session *session, const char *kind, const char *model, const char *data, struct text *out, struct err *err);

#endif
