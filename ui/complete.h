/* Completion at the prompt: commands, verbs, options, what an option may be, models, datasets, splits, tokens, views, settings and file names.
 *
 *     complete_prompt(app);       (Tab: the word in front of the cursor goes on as far as it is certain; app->choices says what is left to choose,
 *                             and another Tab turns its page where there is more than one)
 *     complete_draw(app, cells, body);       (the choices, over the lower part of the body)
 *     complete_forget(app);
 */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "app.h"

void complete_prompt(struct app *app);
void complete_forget(struct app *app);
void complete_draw(struct app *app, struct cells *cells, struct area body);

#endif
