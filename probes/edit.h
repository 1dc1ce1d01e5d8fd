/* Interventions, and the edits that a user asks for with --do.
 *
 *     --do mix@h.1:position=1,alpha=0.7,norm=rms          (KIND@SITE:OPTIONS; SITE is a boundary state h.k, by token s.t)
 *
 *     --do mix@h.1-3:position=0+2                         (at several boundaries and positions: an edit for each, whose options move together)
 *
 *     struct edit edit;
 *     if (!edit_parse(&edit, "mix@h.1:position=1", model, err)) return false;
 *     struct operation op = {.args = &edit.args, .run = run, ...};
 *     edit.kind->apply(&op);
 *     edit_clear(&edit);
 *
 * An intervention is one file do_NAME.c: options, apply, an example. It edits the state at a boundary before the interface sees it.
 */
#ifndef PROBES_EDIT_H
#define PROBES_EDIT_H

#include "doing/intervention.h"
#include "learning/dataset.h"
#include "models/run.h"

/* What states decode to. Edits of the same states share it, and so what they make of it: made is NULL until one of them has. */
struct decoded {
    const float *logits;  /* [count, V] */
    float *mixture;       /* [count, D] sum_v p_v W[v] of the model's own softmax */
    float *noise;         /* [count, D] random directions of noise_seed */
    long noise_seed;
};

/* One application to the states of some questions. Row i of state belongs to question i. */
struct operation {
    const struct args *args;         /* by the intervention's options */
    struct run *run;                 /* to decode with; its model has table, eps */
    int count;
    const struct question *const *questions; /* [count] */
    const size_t *number;            /* [count] number of each question inside its split: seeds random controls */
    const int *positions;            /* [count] resolved position of each row */
    float *state;                    /* [count, D], edited in place */
    const float *original;           /* [count, D] the states before this edit */
    struct decoded *decoded;         /* of the originals, or NULL when the edit does not ask for it */
    long fired;                      /* rows written */
    long skipped;                    /* rows that the edit has nothing to say about (no such bridge ...) */
};

struct edit {
    const struct intervention *kind;
    int boundary;
    bool by_token;                   /* the site is s.t: the state behind token t-1, whatever the position option says */
    struct args args;
    char *text;
    int group;                       /* edits of one --do have the same, counted from 0 */
};

/* What one --do stands for: texts that edit_parse takes, to free; their number, 0 with a message when there are more than `most`. */
int edit_expand(const char *text, char **texts, int most, struct err *err);

bool edit_parse(struct edit *edit, const char *text, const struct model *model, struct err *err);
void edit_clear(struct edit *edit);

/* Sets an option of the first --do whose edits have it; "2.alpha" means the second; "boundary" moves an edit to another h.k. */
bool edit_set(struct edit *edits, int count, const char *name, const char *value, int loops, struct err *err);

/* The position whose state an edit changes: that of its option position ("1", "-1" from the end, "bridge", "answer"), or where the boundary is the
 * token, the one before it (s.0: the first). -1: nowhere (out of range, or no bridge). */
int edit_place(const struct edit *edit, const struct question *question);

/* Refuses a position that no question of the split has. */
bool edit_check(const struct edit *edit, const struct question *questions, size_t count, struct err *err);

struct edit_count { long fired, skipped; double moved; }; /* rows written; rows that lack the position or target; largest change of a number */
void edit_count_add(struct edit_count *total, const struct edit_count *more);

/* Edits states in place, rows [count, D], one a question; adds to total. */
void edit_rows(const struct edit *edit, struct run *run, int count, const struct question *const *questions, const size_t *number,
               const int *positions, float *rows, struct decoded *decoded, struct edit_count *total);

/* Attached to a run, for whole passes. The handler must outlive the run. */
struct edit_handler {
    struct handler handler;
    const struct edit *edit;
    const struct question *questions; /* of the run's batch, in order */
    size_t first;                     /* number of the first inside its split */
    char pattern[24];
    struct edit_count total;
};
void edit_attach(struct edit_handler *handler, const struct edit *edit, struct run *run, const struct question *questions, size_t first);

#endif
