/* The form of an intervention, made from its option table: which one, at which boundary, with which options; one field is marked.
 *
 *     form_start(&form);
 *     form_change(&form, +1, positions, boundaries);      (the marked field, one step up)
 *     form_add(&form, true, &line);                       ("mix@h.1:position=1,alpha=0.70,norm=rms")
 *     row += form_draw(&form, cells, area);
 */
#ifndef FORM_H
#define FORM_H

#include "layout.h"
#include "lens.h"

#include "doing/intervention.h"

enum { FORM_OPTIONS = 12 };

struct form {
    const struct intervention *kind; /* NULL: there is none at all */
    int boundary, last;              /* from which one to which; mostly the same */
    bool by_token;                   /* boundaries are s.t, which are of one position each: there is none to choose */
    char values[FORM_OPTIONS][32];   /* in the order of kind->options */
    int field;                       /* -2: the kind, -1: the boundary, 0 ...: an option */
};

void form_start(struct form *form);
void form_place(struct form *form, int boundary, int position); /* where it acts */
void form_move(struct form *form, int step);
bool form_change(struct form *form, int step, int positions, int boundaries); /* true: something other than alpha changed */
/* The marked boundary or position gets one more beside it, or one less; false: the marked field takes one value only. */
bool form_extend(struct form *form, int step, int positions, int boundaries);
double form_alpha(const struct form *form);                                   /* NaN: it has none */
void form_set_alpha(struct form *form, double alpha);
void form_value(const struct form *form, const char *option, char out[32]);   /* of an option, or of "boundary"; "" when it has none */
int form_position(const struct form *form, const struct lens *lens);          /* where it acts first in this question; -1: nowhere */

/* Reads what form_add writes; false: it is no edit that this form can hold, and the form is as it was. */
bool form_read(struct form *form, const char *edit);

/* Options at their default are left out; position, norm and alpha are always said. */
void form_add(const struct form *form, bool with_alpha, struct text *out);
int form_draw(const struct form *form, struct cells *cells, struct area area); /* the rows it took */

/* The slider of alpha, when the form is drawn in this area and took so many rows: left end 0, right end 1. No columns: it has none. */
struct area form_slider(const struct form *form, struct area area, int rows);

#endif
