/* What can be said about an opened model in words: shared by `info` (all of it) and `models` (one line each).
 *
 *     char *data = facts_data(model->path);          (the dataset its recipe names, to free; NULL: no recipe, or it names none)
 *     struct text types = {0};
 *     facts_dtypes(model, &types);                   ("F32" or "F32, BF16")
 */
#ifndef DOING_FACTS_H
#define DOING_FACTS_H

#include "ground/text.h"

struct model;

char *facts_data(const char *folder);
void facts_dtypes(const struct model *model, struct text *out); /* appended: the types its weights are stored as */
size_t facts_bytes(const struct model *model);                  /* size of the weights file(s) */
bool facts_tied(const struct model *model);                     /* the head is the embedding table */

#endif
