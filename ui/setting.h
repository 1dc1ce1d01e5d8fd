/* Settings: what the screen, or one of its views, can be set to, as names and texts. One list of them is what `:set` changes, what u undoes, what a
 * session file holds and what an entry of the log remembers.
 *
 *     static const struct setting settings[] = {
 *         {"metric", "the number in the cells", get_metric, set_metric, .choices = metric_names},
 *         {0},
 *     };
 *     const struct view view_grid = {..., .settings = settings};          (its full name is then grid.metric)
 *
 *     struct text lines = {0};
 *     settings_add(app, SETTING_OPEN, &lines);                            ("set model models/vanilla\nset grid.metric cosine\n")
 *     settings_restore(app, lines.data);
 *
 * While get and set run, app->view is the view whose setting it is, so that app_state works.
 */
#ifndef SETTING_H
#define SETTING_H

#include "ground/err.h"
#include "ground/text.h"

struct app;

/* SETTING_PLACE: what is looked at; moving about is one step of u, however far. SETTING_OPEN: what is open; saved, but not undone. */
enum setting_kind { SETTING_VALUE, SETTING_PLACE, SETTING_OPEN };

struct setting {
    const char *name, *help;
    void (*get)(struct app *app, struct text *out);     /* the value, as set takes it; nothing: there is none */
    bool (*set)(struct app *app, const char *value);    /* false: that is no value of it */
    const char *const *choices;                         /* ended by NULL, for completion; NULL: free text */
    enum setting_kind kind;
};

extern const struct setting shared_settings[];          /* those of every view */

void settings_add(struct app *app, enum setting_kind most, struct text *out); /* those up to this kind */

/* Lines as settings_add makes them; names that are not known (any more) are passed over. */
void settings_restore(struct app *app, const char *lines);

bool setting_number(const char *value, int *number);    /* 0, 1 ...: for set */

/* "split" or "grid.metric". False with a message that says what would be right. */
bool settings_set(struct app *app, const char *name, const char *value, struct err *err);

/* The i-th name, in a buffer of this thread; NULL behind the last. */
const char *settings_name(size_t i, const struct setting **setting);

#endif
