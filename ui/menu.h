/* The list of all views over the one that is shown: for those without a digit, and for who does not know the digits.
 *
 *     app->menu = 0;                        (open)
 *     menu_key(app, key);
 *     menu_draw(app, cells, area);
 */
#ifndef MENU_H
#define MENU_H

#include "app.h"

void menu_key(struct app *app, int key);
void menu_draw(struct app *app, struct cells *cells, struct area area);

int view_digit(size_t n); /* the key of the n-th view with a tab: '1' ... '9', '0'; 0: it has none */

#endif
