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
void question_turn(struct app *app); /* to the split that a key asked for, or, once, away from one that is not there; app->turn: `eval` is needed first */
int question_position(const struct app *app, const struct lens *lens); /* of the cursor: where the bridge is until it is moved */
int question_draw(struct app *app, struct cells *cells, struct area area, const struct lens *lens);

void question_press_row(struct app *app, int key);
void question_press_wrong(struct app *app, int key); /* n, N */
void question_press_split(struct app *app, int key); /* [, ] */

#endif
