/* A run: one forward pass over a packed batch, with sites that handlers can see and edit, and states that stay as a trace.
 *
 *     struct batch *batch = batch_new(&arena, rows, lengths, tokens);
 *     struct run run;
 *     run_init(&run, model, &tape, batch);
 *     run_attach(&run, &handler);                      (optional: sees or edits a site)
 *     run.wanted = places_new(&arena, batch, n, at);   (optional: only these logits are needed)
 *     struct tensor *logits = run_forward(&run, err);  (NULL: a handler's pattern matched no site, ...)
 *     run.states[1]                                    (h.1: [rows, D]; its places say which row is which)
 *
 * The batch is packed: sequences of unlike length lie end to end, N tokens in all, no padding. A place is a token's index in that packing. Models
 * are causal, so sequences that begin alike may share the places of what they have in common (batch_shared): what is the same is computed once.
 * Everything lives in the tape's arena. A site's name is its address: "h.1", "x.2", "loop.2.block.0.attn.out", "logits". Boundary numbers: 0 before
 * the first loop, k after loop k, before anything is mixed back in.
 *
 * A run can also start in the middle (run_replay): from changed states at a boundary, computing only what the change can reach and reading
 * everything else from a base run that kept its keys and values (run.keep). That is what makes sweeps fast.
 */
#ifndef MODELS_RUN_H
#define MODELS_RUN_H

#include "models/model.h"
#include "numbers/op.h"

struct batch {
    int rows;            /* B sequences */
    int size;            /* N places */
    int longest;
    const int *start;    /* [B+1] where each sequence begins in `path`; not shared: the place of its first token */
    const int *path;     /* [start[B]] places of the first sequence's tokens, of the second's, ...; not shared: 0 ... N-1 */
    const int *tokens;   /* [N] */
    const int *row;      /* [N] the first sequence of each place */
    const int *position; /* [N] position inside its sequence */
    const int *before;   /* [N] place of the token before, a lower one; -1 at position 0 */
};

struct batch *batch_new(struct arena *arena, int rows, const int *lengths, const int *const *tokens);

/* The same, but sequences share places as far as they begin alike and lie before position own[b], from which on each has places to itself: the places
 * at own[0], own[1], ... rise. For whoever edits nothing and reads by batch_place; not for models whose boundary is the token. */
struct batch *batch_shared(struct arena *arena, int rows, const int *lengths, const int *const *tokens, const int *own);

static inline int batch_place(const struct batch *batch, int row, int position) { return batch->path[batch->start[row] + position]; }

/* The same sequences, one copy behind the other, nothing shared. batch_original: the place of `batch` that a place of its repetition stands for. */
struct batch *batch_repeat(struct arena *arena, const struct batch *batch, int times);

static inline int batch_original(const struct batch *batch, int place) { return batch->path[place % batch->start[batch->rows]]; }

/* Some of a batch's places, in rising order: what the rows of a tensor stand for. */
struct places {
    int count;
    const int *at;       /* [count] place */
    const int *index;    /* [batch->size] row of a place, or -1 */
    const int *position; /* [count] */
};

struct places *places_new(struct arena *arena, const struct batch *batch, int count, const int *at);
struct places *places_all(struct arena *arena, const struct batch *batch);

/* What is attached to one run. fire may change the tensor's numbers in place. It is called at every site that the pattern matches ("*" matches
 * any run of characters), in the order of attachment. */
struct handler {
    const char *pattern;
    void (*fire)(struct handler *handler, struct run *run, const char *site, struct tensor *value);
    long sites;    /* sites matched in the last run */
};

enum { RUN_HANDLERS = 16 };

/* What reaches a token from earlier ones, where the boundary is the token: the state; keys and values of earlier tokens in the decoder; and what the
 * memory reads of the encoder. */
enum { DETACH_STATE = 1, DETACH_KEYS = 2, DETACH_MEMORY = 4 };

struct run {
    const struct model *model;
    struct tape *tape;
    const struct batch *batch;
    int loops;                       /* K; may differ from the model's */
    const struct places *all;
    const struct places *wanted;     /* NULL: all */
    struct tensor **states;          /* [run_boundaries+1] h.k (or s.t) after the handlers; NULL where not computed */
    struct tensor *encoded;          /* e: what families with a prelude inject in every loop; kept for replays */
    struct tensor *logits;
    struct rope rope;                /* of the family, if it has one */
    const struct tensor *start;      /* given h.0, [N, D], for families that do not begin with the embedding; NULL: as the config says */
    uint64_t seed;                   /* of a drawn start state */
    double exit_threshold;           /* of families with an exit gate; NAN: the model's own */

    struct handler *handlers[RUN_HANDLERS];
    int handler_count;
    void (*visit)(void *self, const char *site, const struct tensor *value); /* for listing sites */
    void *visitor;

    bool keep;                       /* leave slots behind for replays */
    bool hold;                       /* nothing goes before the arena does: for those who look at sites later */
    struct slot *slots;              /* [prelude + loops * blocks + coda], filled when keep is set */
    struct slot *last_slot;          /* of the block that runs, until run_release */
    struct tensor **inputs;          /* [loops+1] x.k */

    unsigned detach;                 /* paths between tokens that carry no gradient: DETACH_* */
    const struct run *past;          /* by token: the run whose sequences this one continues; batch holds the tokens behind its own */
    const void *cache;               /* by token: what keep leaves for such a run and for replays; the family's own */

    const struct run *base;          /* replay: where unchanged numbers are read */
    int from;                        /* replay: boundary of the changed states; 0 in a plain run */
    struct tensor *changed;          /* replay: the states at the changed places */
};

/* What a block leaves for replays: its input and its keys and values at all places, its queries at those that leave it. */
struct slot { struct tensor *input, *q, *k, *v; };

void run_init(struct run *run, const struct model *model, struct tape *tape, const struct batch *batch);
void run_attach(struct run *run, struct handler *handler);
struct tensor *run_forward(struct run *run, struct err *err);

/* A run over `copies` copies of base's sequences (batch_repeat), from the states `changed` at boundary `from`; changed->places are of the repeated
 * batch, in which nothing is shared, while the base's may be. Only the wanted places that lie at or behind a changed one are computed: the result's
 * places say which. */
void run_replay(struct run *run, const struct run *base, struct tape *tape, const struct batch *copies, int from, struct tensor *changed);

/* The last boundary: loops, or, where the boundary is the token, the tokens of the longest sequence. By token, the rows of s.t are the sequences that
 * have t tokens, and their places those of the tokens just read (s.0, which no token made, stands at the first). */
int run_boundaries(const struct run *run);

/* Row of a place's state at boundary k, or -1; by token a place has one state, behind its token, whatever k says: *k becomes its number. */
int run_state_row(const struct run *run, int place, int *k);

/* The states at n rising places: rows of h.k; by token each place's own. For measuring: no gradient goes through the rows taken by token. */
struct tensor *run_states_at(struct run *run, int k, const int *places, int n);

/* ---- for the families: each is one identity call in forward ---- */

/* A value becomes a site; returns the value, as the handlers left it. */
struct tensor *run_site(struct run *run, struct tensor *value, const char *name, ...) __attribute__((format(printf, 3, 4)));

/* The state at boundary k, site h.k (by token s.k); kept in run->states. */
struct tensor *run_state(struct run *run, struct tensor *h, int k);

/* What enters loop k, after the interface; kept in run->inputs. */
struct tensor *run_input(struct run *run, struct tensor *x, int k);

/* True when some handler or the visitor looks at this site: for values that are computed only to be looked at. */
bool run_listens(const struct run *run, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* Rows of h.k at these places; a replay that started behind h.k, or changed only some of it, reads the rest from its base. */
struct tensor *run_state_at(struct run *run, int k, const struct places *places);

/* Rows of x at `places`. In a replay rows that x does not have, or all when x is NULL, are read from `old`: the base's tensor over all its places. */
struct tensor *run_at(struct run *run, struct tensor *x, const struct tensor *old, const struct places *places);

/* Rows of x.k at the places of h (for interfaces that add to the previous input). */
struct tensor *run_input_at(struct run *run, const struct tensor *h, int k);

/* The rows of a block's input that leave it: all, but in the last block only what is wanted, and in a replay only what the change reaches. `stage`
 * numbers the blocks of a whole forward pass, 0 first. */
struct tensor *run_leave(struct run *run, struct tensor *x, int stage, bool last);

/* In a replay: the block's queries as its base has them, when nothing has changed at the places of h, and they need not be computed; else NULL. */
struct tensor *run_queries(struct run *run, const struct tensor *x, const struct tensor *h, int stage);

/* Attention of the places of q over everything before them; x is the block's input. Keys and values are kept or read back for replays. */
struct tensor *run_attend(struct run *run, struct tensor *q, struct tensor *k, struct tensor *v, struct tensor *x, struct heads heads, int stage,
                          struct tensor **pattern);

struct tensor *run_rope(struct run *run, struct tensor *x); /* by the positions of x's places */

/* The tokens at the places of x: [x->rows]. */
const int *run_tokens(struct run *run, const struct tensor *x);

/* h.0 when it is not the embedding: run->start, or drawn. A row depends on the seed and on its sequence's tokens up to it alone, so that a question
 * starts alike in every batch and no position knows of a later one. Normal (std; cut at 3 std when cut is set), then times scale; std 0: zero. */
struct tensor *run_start(struct run *run, int width, double std, bool cut, double scale);

/* What a block needed in between goes; h stays, and so does what a run that keeps has in the block's slot. (Nothing goes while a tape records, in a
 * replay, in a run that holds, or behind a loop in one that keeps.) */
struct tensor *run_release(struct run *run, struct arena_mark mark, struct tensor *h);

/* ---- for those who look at a run ---- */

/* Some rows of a state, rising, with their places: what run_decode reads. */
struct tensor *run_rows(struct run *run, struct tensor *h, const int *rows, int n);

/* The model's own decode of the state h.k at the places of h; logits [rows, V]. A coda attends: what h lacks is read from the run's own state h.k
 * (in a replay: the base's). Not a part of the forward pass: no handler fires, nothing is kept. */
struct tensor *run_decode(struct run *run, struct tensor *h, int k);

#endif
