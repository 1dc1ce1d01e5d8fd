/* The question that is looked at: which one, how keys move it, and its line on the screen. Shared by the views that show one question.
 *
 *     static void lines(struct app *app) { question_want(app); }          (want 0: the lens of the question)
 *     row += question_draw(app, cells, area, &lens);
 */
#ifndef QUESTION_H
#define QUESTION_H

#include "app.h"
#include "lens.h"

int question_want(struct app *app);
/* Turns to the split that a key asked for, or, once, away from one that is not there. With app->turn still set, the names of
 * the splits are needed first. */
void question_turn(struct app *app);
void question_want_splits(struct app *app);
/* Which question, for a line: "--row test_ood:17", or "--tokens 'e1 r2 r3'" where they were typed. In a buffer of this thread. */
const char *question_option(const struct app *app);
const char *question_tokens(const struct app *app);              /* those that were typed; "": none */
void question_set_tokens(struct app *app, const char *tokens);   /* in place of the question's own; "": its own again */
const struct table *question_untouched(const struct app *app);   /* the lens of the question's own tokens, when others were typed; NULL */
int question_position(const struct app *app, const struct lens *lens); /* of the cursor: where the bridge is until it is moved */
int question_draw(struct app *app, struct cells *cells, struct area area, const struct lens *lens);

/* view->search, where one question is looked at: among all of its split, which may have to be listed first. */
bool question_search(struct app *app, const char *text, int step);

void question_press_row(struct app *app, int key);
void question_press_wrong(struct app *app, int key); /* n, N */
void question_press_tokens(struct app *app, int key); /* t */
void question_press_token(struct app *app, int key);  /* <, >: the one under the cursor becomes its neighbour in the vocabulary */
void question_press_split(struct app *app, int key); /* [, ] */

#endif
