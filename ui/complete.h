/* Completion at the prompt: commands, verbs, options, what an option may be, models, datasets, splits, tokens, views, settings and file names.
 *
 *     complete_prompt(app);       (Tab: the word in front of the cursor goes on as far as it is certain; app->choices says what is left to choose)
 *     complete_forget(app);
 */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "app.h"

void complete_prompt(struct app *app);
void complete_forget(struct app *app);

#endif
