/* The state of the screen, without a terminal: what is open, what is looked at, and the results that views draw.
 *
 *     struct app *app = app_new(session, command_line, "models/vanilla");
 *     if (!app_work(app, err)) ...         (from here on workers compute; without them, app_settle computes on this thread)
 *     app_key(app, PRESS_DOWN);
 *     app_settle(app);
 *     app_draw(app, cells, &row, &col);
 *     app_free(app);
 *
 * Every key may change which command lines the view wants. Results are kept by their line, so going back needs no computing; a line that was asked
 * for and is not wanted any more is dropped before it starts, so that a held key never queues up work.
 */
#ifndef APP_H
#define APP_H

#include "crew.h"
#include "gallery.h"
#include "journal.h"
#include "prefs.h"
#include "prompt.h"
#include "result.h"
#include "undo.h"
#include "view.h"

enum { WANTS = 8, VIEWS_MOST = 32, SPOTS_MOST = 512, TRAIL = 16 };

struct want {
    char *line;
    struct result *result; /* of this line */
    struct result *shown;  /* the last one with a table: drawn until result has one */
};

struct pane {              /* what a view wants; one for each view */
    struct want wants[WANTS];
    int count;
    void *state;           /* the view's own, see app_state */
    int part;              /* of the view's parts: the one that has the focus */
    unsigned hidden;       /* a bit for each part that is put away */
    bool zoomed;           /* the part in focus has the screen for itself */
};

struct spot { struct area area; int code; }; /* a place that a view takes clicks on */
struct tab { int from, to; const struct view *view; };

enum asking { ASK_COMMAND, ASK_MODEL, ASK_DATA, ASK_SEARCH, ASK_SAVE, ASK_LOG, ASK_TOKENS, ASK_WATCH, ASK_OTHER }; /* what the prompt is for */

struct app {
    struct session *session;
    command_runner *run;
    struct crew *crew;
    bool ascii, quit;
    struct prefs prefs;
    char *prefs_path, *history_path; /* where preferences and the prompt's lines are kept; NULL: nowhere */
    bool (*copy)(const char *text); /* to the user's clipboard, as far as the terminal is willing; NULL: there is none */

    char **models;         /* what is bundled or found here */
    size_t model_count, model_at;
    char *model;           /* the open one that is looked at, as a user would write it; NULL: none */
    char *data;            /* a dataset that the user named; NULL: the one that the model's recipe names */
    struct opened *open;   /* it and the others: opened.h */
    size_t open_count, open_room;
    bool opening;          /* it was not open before, and what is odd about it is not said yet */
    bool changed;          /* its files are others than those that were read */
    double looked;         /* when that was last looked for */

    const struct view *view, *trail[TRAIL]; /* trail: those before it, the last one behind the others */
    int trail_count;
    struct pane panes[VIEWS_MOST], head;
    struct result **results;
    size_t result_count, result_room;
    unsigned long clock;   /* counts updates */
    double ticked;         /* when the view was last asked whether something has changed */
    int line_shown;        /* which want's line is on the screen */

    /* What is looked at, shared by the views. */
    char split[64];        /* of the question */
    long row;              /* of the question in its split */
    char *tokens;          /* typed in place of those of the question at tokens_row of tokens_split; NULL: its own */
    char tokens_split[64];
    long tokens_row;
    int boundary;          /* under the cursor */
    int position;          /* -1: where the bridge is */
    bool edit_here;        /* the next edit begins under the cursor */
    bool turned;           /* another split was looked for because the first is not there */
    int seek, turn, shift, find; /* look for a wrong answer, another split, another token under the cursor, what is searched: -1 back, 1 on, 0 not */

    struct prompt prompt;
    bool prompting;
    enum asking asking;
    char *found;           /* what was searched for; NULL: nothing yet */
    struct text choices;   /* how the word at the prompt could go on, one a line */
    int choices_page;
    char *typed;           /* the line that the output view shows; NULL: none yet */
    char message[512];     /* one line for the user, until the next key */

    struct journal journal;
    struct undo undo;
    struct gallery gallery;
    int menu;              /* the picked line of the list of views; -1: it is not open */
    int tour;              /* the step of the tour; -1: none is given */
    struct spot spots[SPOTS_MOST]; /* of the screen as it was drawn last */
    int spot_count, rows, cols; /* rows, cols: its size, which views may ask for more or less by */
    int click_row, click_col; /* in the spot that was clicked on */
    struct tab tabs[VIEWS_MOST];
    int tab_count;
};

struct app *app_new(struct session *session, command_runner *run, const char *model);
void app_free(struct app *app);

bool app_work(struct app *app, struct err *err);
void app_settle(struct app *app);              /* computes what the view wants, here and now */
void app_take_posts(struct app *app);          /* what the workers have given since */
void app_key(struct app *app, int key);
void app_mouse(struct app *app, int key, int row, int col); /* PRESS_CLICK, PRESS_WHEEL_UP, PRESS_WHEEL_DOWN */
bool app_tick(struct app *app);                /* lets the view look whether something has changed; false: it was not yet time */
void app_look(struct app *app);                /* have the files of the model changed? At most once a second */
int app_tick_ms(const struct app *app);        /* until then; -1: this view does not want to */
bool app_busy(const struct app *app);          /* something is being computed, on this view or behind it */
const struct result *app_behind(const struct app *app); /* long work that no want of this view shows; NULL: there is none */
void app_interrupt(struct app *app);           /* Ctrl-C: stops what runs, or ends the program */
void app_draw(struct app *app, struct cells *cells, int *cursor_row, int *cursor_col);

/* For views. */
bool app_defaults(const struct table *info, struct text *out); /* what a model's config leaves open may be why its numbers are not as expected */
int app_want(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3))); /* its number: 0, 1 ... */
void app_show(struct app *app, int want);                                            /* its line is the one on the screen; want 0 otherwise */
const struct result *app_result(const struct app *app, int want);                    /* of the line as it is now; NULL: none */
const struct table *app_table(const struct app *app, int want, size_t i);            /* of it, or of the one before; NULL: none yet */
const struct table *app_kept(const struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3))); /* of a line that is done; NULL */
bool app_failed(const struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));  /* a line that was refused */
bool app_current(const struct app *app, int want);                                   /* the table is of the line as it is now, and complete */
bool app_draw_waiting(struct app *app, struct cells *cells, struct area area, int want); /* no table: says why; true: that is all there is */
const char *app_model(const struct app *app);                                        /* quoted for a line */
const char *app_subject(const struct app *app);                                      /* the same and the data, for lines that measure */
void *app_state(struct app *app, size_t size);                                       /* the current view's own: zeroed at first, freed with the app */
const char *app_fact(const struct app *app, const char *property);                   /* of `info` on the open model; NULL: not known (yet) */
int app_fact_int(const struct app *app, const char *property, int otherwise);
bool app_by_token(const struct app *app);                                            /* states go from token to token: s.t, one a position */
char app_boundary(const struct app *app);                                            /* what a boundary is called: 'h', or 's' by token */
void app_go(struct app *app, const struct view *view);
void app_back(struct app *app);                                                      /* to the view before; at the first, it stays */
const struct view *app_before(const struct app *app);                                /* the view before; NULL: it is the first */
bool app_open(struct app *app, const char *model);                                   /* false: there is none, and the one before stays */
void app_look_at(struct app *app, const char *model);                                /* where it is; NULL: at none */
bool app_use_data(struct app *app, const char *data);                                /* the same; "": the model's own again */
void app_say(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_type(struct app *app, const char *line);                                    /* as if entered at the prompt */
bool app_stop(struct app *app, int want);                                            /* the user does not want to wait; false: it had ended */
bool app_pause(struct app *app, int want);                                           /* it waits, or goes on; false: it does not run */
void app_again(struct app *app, int want);                                           /* forgets the result, so that it is computed once more */

bool app_part(const struct app *app, int part);                                      /* is this part of the view to be drawn? */
void app_heading(struct app *app, struct cells *cells, struct area line, int part, const char *text); /* of a part, which shows the focus */
void app_spot(struct app *app, struct area area, int code);                          /* clicks there are view->click(app, code) */
void app_spot_rows(struct app *app, struct area area, int at, int count);            /* for the rows of draw_table: their numbers */
void app_ask(struct app *app, enum asking what, const char *answer);                 /* opens the prompt */
void app_export(struct app *app, int want, const char *name, const struct figure_options *options); /* figures/NAME.png, and says so */
void app_rerun(struct app *app, const char *line, const char *scene);                /* as it was asked for: its view, or the output */
void app_enter(struct app *app, const char *line);                                   /* a line of the prompt: for the screen, or a command */

void app_refresh(struct app *app, int want);                                         /* computes it again; what is shown stays until that is there */
void app_reread(struct app *app);                                                    /* reads the open model again, and computes what is about it */
void app_reload(struct app *app);                                                    /* the same for everything */
void app_update(struct app *app);                                                    /* asks for what the view wants now */

const char *app_wrong(const struct app *app);                                        /* why something wanted failed; NULL: nothing did */

const struct view *view_find(const char *name);
const struct view *view_numbered(size_t n);    /* the n-th that has a tab; NULL behind the last */
size_t view_place(const struct view *view);    /* in the list of all */
extern const struct binding app_keys[];        /* those of every view */

/* The results behind the views: app_results.c. */
struct pane *app_pane(const struct app *app, const struct view *view);
struct result *app_find(const struct app *app, const char *line);
void app_let_go(struct app *app, struct result *result);  /* it is forgotten, once it has stopped */
bool app_stop_shown(struct app *app, bool only_long);     /* what runs for the view, but not what it looks at again by itself */
bool app_stop_behind(struct app *app);                    /* what runs behind the view; false: nothing does */
void app_leave(struct app *app);                          /* what runs for the view goes on behind, if it is long work, or stops */

#endif
