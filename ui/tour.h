/* The guided tour: steps of text over the views, with the keys to press. It shows the right view and checks nothing.
 *
 *     tour_begin(app);
 *     if (app->tour >= 0) tour_draw(app, cells, area);       (a few rows at the lower end of the area; returns how many)
 *     tour_key(app, key)                                     (true: the key was the tour's)
 */
#ifndef TOUR_H
#define TOUR_H

#include "app.h"

void tour_begin(struct app *app);
bool tour_key(struct app *app, int key);
bool tour_takes(const struct app *app, int key); /* the view below it does not get this key */
int tour_draw(struct app *app, struct cells *cells, struct area area);

#endif
