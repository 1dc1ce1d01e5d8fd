/* Are the numbers of a model those that were recorded beside it? One line, from `selftest` on its reference.safetensors.
 *
 *     want = parity_want(app, app->model);                       (-1: there is no such file)
 *     parity_draw(app, cells, area, want);
 *     parity_draw_all(app, cells, area, want);                   (every tensor, where there is room)
 */
#ifndef PARITY_H
#define PARITY_H

#include "app.h"

int parity_want(struct app *app, const char *model);
void parity_draw(const struct app *app, struct cells *cells, struct area line, int want);
void parity_draw_all(const struct app *app, struct cells *cells, struct area area, int want);

#endif
