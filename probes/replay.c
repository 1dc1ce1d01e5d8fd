#include "replay.h"

#include "numbers/kernel.h"

#include <stdlib.h>
#include <string.h>

/* One shard of one split: its base run and what that answered. Sequences that begin alike are run as one (run.batch is shared); spots and answers
 * are places of its repetition, question by question, for replays edit single ones. */
struct base {
    struct tape tape;         /* its arena is the thread's: base runs stay in it until the end */
    struct run run;
    const struct question *questions; /* of the split in their sorted order: neighbours begin alike */
    const size_t *number;     /* of each inside the split */
    size_t offset;            /* of the split's first question, counting through the splits */
    int count, split;
    const int *answers;       /* [count] places */
    int *predicted;           /* [count] of the untouched run; -1: not finite */
};

struct replay {
    const struct study *study;
    struct base *bases;
    int base_count;
    struct arena *kept, *scratch; /* of each thread: base runs, and what one replay needs */
    size_t question_count;
    struct question *questions; /* of all splits, each sorted */
    size_t *number;           /* [question_count] where they stand in their splits */
    int *recorded;            /* see replay_record; NULL: nowhere */
    /* of the call that runs */
    const struct edit *edits;
    size_t first_cell;        /* of the caller's, for what is recorded */
    int cells, from;          /* from: the boundary that all of them edit first */
    struct outcome *outcomes; /* [bases, cells] */
};

static void base_run(void *job, int i, int thread)
{
    struct replay *me = job;
    struct base *base = &me->bases[i];
    struct run *run = &base->run;
    const struct model *model = me->study->model;
    struct arena *arena = &me->kept[thread];
    int n = base->count;
    if (session_stopped(me->study->session)) return; /* the caller looks, too */
    int *answers = arena_new(arena, sizeof *answers * (size_t)n), *wanted = arena_new(arena, sizeof *wanted * (size_t)n);
    base->tape = (struct tape){.arena = arena, .stop = &me->study->session->stop};
    struct batch *batch = pass_batch(arena, base->questions, n, !model_by_token(model), wanted);
    for (int q = 0; q < n; q++) answers[q] = batch->start[q] + base->questions[q].answer_position;
    run_init(run, model, &base->tape, batch);
    run->loops = me->study->loops;
    if (me->study->exit_given) run->exit_threshold = me->study->exit_threshold;
    run->seed = me->study->start_seed;
    run->keep = true;
    run->wanted = places_new(arena, batch, n, wanted);
    base->answers = answers;
    base->predicted = arena_new(arena, sizeof *base->predicted * (size_t)n);
    struct tensor *logits = run_forward(run, NULL);
    for (int q = 0; q < n; q++) base->predicted[q] = row_argmax(logits->data + (size_t)q * (size_t)logits->cols, logits->cols);
}

/* Places of a base's questions, one behind the other: those of one copy. */
static int base_size(const struct base *base) { return base->run.batch->start[base->count]; }

/* Where the base's run has the state h.k of a place of the copies; -1: nowhere. */
static int base_row(const struct base *base, int k, int place)
{
    return base->run.states[k]->places->index[batch_original(base->run.batch, place)];
}

struct numbered { struct question question; size_t number; };

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int order = question_compare(&x->question, &y->question);
    return order ? order : x->number < y->number ? -1 : 1;
}

/* By token the order stays: which boundaries there are is counted shard by shard. */
static void sort_split(const struct split *split, bool sorts, struct question *questions, size_t *number)
{
    struct numbered *all = mem_new(sizeof *all * (split->count + 1));
    for (size_t i = 0; i < split->count; i++) all[i] = (struct numbered){split->questions[i], i};
    if (sorts) qsort(all, split->count, sizeof *all, compare_numbered);
    for (size_t i = 0; i < split->count; i++) questions[i] = all[i].question, number[i] = all[i].number;
    mem_free(all);
}

struct replay *replay_open(const struct study *study, struct err *err)
{
    struct replay *me = mem_new(sizeof *me);
    me->study = study;
    me->kept = mem_new(sizeof *me->kept * (size_t)pool_threads(study->pool));
    me->scratch = mem_new(sizeof *me->scratch * (size_t)pool_threads(study->pool));
    for (int s = 0; s < study->split_count; s++) {
        me->base_count += (int)((study->splits[s].count + PASS_ROWS - 1) / PASS_ROWS);
        me->question_count += study->splits[s].count;
    }
    me->bases = mem_new(sizeof *me->bases * (size_t)(me->base_count + 1));
    me->questions = mem_new(sizeof *me->questions * (me->question_count + 1));
    me->number = mem_new(sizeof *me->number * (me->question_count + 1));
    size_t offset = 0;
    for (int s = 0, at = 0; s < study->split_count; offset += study->splits[s++].count) {
        sort_split(&study->splits[s], !model_by_token(study->model), me->questions + offset, me->number + offset);
        for (size_t first = 0; first < study->splits[s].count; first += PASS_ROWS) {
            size_t left = study->splits[s].count - first;
            me->bases[at++] = (struct base){.offset = offset,
                                            .questions = me->questions + offset + first,
                                            .number = me->number + offset + first,
                                            .split = s,
                                            .count = (int)(left < PASS_ROWS ? left : PASS_ROWS)};
        }
    }
    pool_run(study->pool, me->base_count, base_run, me);
    if (!session_stopped(study->session)) return me;
    replay_close(me);
    err_stop(err, "stopped before the first cell");
    return NULL;
}

void replay_close(struct replay *me)
{
    if (!me) return;
    for (int t = 0; t < pool_threads(me->study->pool); t++) arena_clear(&me->kept[t]), arena_clear(&me->scratch[t]);
    mem_free(me->bases);
    mem_free(me->questions);
    mem_free(me->number);
    mem_free(me->kept);
    mem_free(me->scratch);
    mem_free(me);
}

void replay_record(struct replay *me, int *predicted) { me->recorded = predicted; }

size_t replay_questions(const struct replay *me) { return me->question_count; }

void replay_untouched(const struct replay *me, int *predicted)
{
    for (int b = 0; b < me->base_count; b++)
        for (int q = 0; q < me->bases[b].count; q++) predicted[me->bases[b].offset + me->bases[b].number[q]] = me->bases[b].predicted[q];
}

/* The questions of a base that an edit acts on, with their places. */
struct spot { int count; const struct question **questions; size_t *number; int *positions, *places; };

static struct spot find_spot(const struct base *base, const struct edit *edit, struct arena *arena, struct edit_count *total)
{
    size_t n = (size_t)base->count;
    struct spot spot = {0, arena_new(arena, sizeof *spot.questions * n), arena_new(arena, sizeof *spot.number * n), arena_new(arena, sizeof(int) * n),
                        arena_new(arena, sizeof(int) * n)};
    for (int q = 0; q < base->count; q++) {
        int position = edit_place(edit, &base->questions[q]);
        if (position < 0) {
            total->skipped++;
            continue;
        }
        spot.questions[spot.count] = &base->questions[q];
        spot.number[spot.count] = base->number[q];
        spot.positions[spot.count] = position;
        spot.places[spot.count++] = base->run.batch->start[q] + position;
    }
    return spot;
}

/* Logits of the base's state h.k at the spot's places: decoded once for each shard, whatever the number of cells, and once for questions that share
 * the place. NULL: not all are there. */
static const float *decoded_rows(struct base *base, int k, const struct spot *spot, struct tape *tape)
{
    struct tensor *h = base->run.states[k];
    int *rows = arena_zero(tape->arena, sizeof *rows * (size_t)(h->rows + 1)), *of = arena_new(tape->arena, sizeof *of * (size_t)(h->rows + 1));
    int *mine = arena_new(tape->arena, sizeof *mine * (size_t)(spot->count + 1)), n = 0;
    for (int i = 0; i < spot->count; i++) {
        if ((mine[i] = base_row(base, k, spot->places[i])) < 0) return NULL; /* the last boundary has only wanted places: left to `apply` */
        rows[mine[i]] = 1;
    }
    for (int row = 0; row < h->rows; row++)
        if (rows[row]) of[row] = n, rows[n++] = row;
    for (int i = 0; i < spot->count; i++) mine[i] = of[mine[i]];
    struct run scratch = base->run;
    scratch.tape = tape;
    struct tensor *logits = run_decode(&scratch, run_rows(&scratch, h, rows, n), k);
    return op_select(tape, logits, mine, spot->count)->data;
}

struct cellwork {
    struct replay *replay;
    struct base *base;
    struct tape tape;
    struct run over;          /* the base's run over the copies, for decoding one state: a coda looks around the edited row */
    struct outcome *outcomes; /* [cells] */
};

static const struct edit *edit_of(const struct replay *me, int cell, int e) { return &me->edits[cell * me->study->edit_count + e]; }

/* The place whose state at the first edited boundary has to be carried for an edit: its own; by token the one that the sequence has there. */
static int carrier(const struct replay *me, const struct base *base, const struct spot *spot, int i)
{
    int start = base->run.batch->start[spot->questions[i] - base->questions], before = me->from ? me->from - 1 : 0;
    return model_by_token(base->run.model) && spot->positions[i] > before ? start + before : spot->places[i];
}

/* Places that any edit of any cell acts on, now or at a later boundary: what the replay has to carry. */
static struct places *mark_places(struct cellwork *work, const struct batch *copies, struct spot *spots)
{
    struct replay *me = work->replay;
    struct base *base = work->base;
    struct arena *arena = work->tape.arena;
    int size = base_size(base), n = 0;
    unsigned char *marked = arena_zero(arena, (size_t)(size * me->cells + 1));
    int *at = arena_new(arena, sizeof *at * (size_t)(size * me->cells + 1));
    for (int c = 0; c < me->cells; c++)
        for (int e = 0; e < me->study->edit_count; e++) {
            struct spot *spot = &spots[c * me->study->edit_count + e];
            *spot = find_spot(base, edit_of(me, c, e), arena, &work->outcomes[c].edits);
            for (int i = 0; i < spot->count; i++) marked[c * size + carrier(me, base, spot, i)] = 1;
        }
    for (int i = 0; i < size * me->cells; i++)
        if (marked[i] && base_row(base, me->from, i) >= 0) at[n++] = i;
    return places_new(arena, copies, n, at);
}

/* Applies one edit of one cell to a tensor over the copies. shared: what the spot's states decode to before any edit; NULL: the rows as they are. */
static void apply(struct cellwork *work, int cell, const struct edit *edit, const struct spot *spot, struct tensor *h, struct decoded *shared)
{
    struct tape *tape = &work->tape;
    int size = base_size(work->base), *rows = arena_new(tape->arena, sizeof *rows * (size_t)(spot->count + 1)), n = 0;
    struct spot here = *spot;
    for (int i = 0; i < spot->count; i++) { /* at the last boundary only wanted places are there */
        int row = h->places->index[cell * size + spot->places[i]];
        if (row < 0) {
            work->outcomes[cell].edits.skipped++;
            continue;
        }
        here.questions[n] = spot->questions[i], here.number[n] = spot->number[i], here.positions[n] = spot->positions[i];
        rows[n++] = row;
    }
    struct run scratch = work->over;
    size_t d = (size_t)h->cols;
    scratch.states[edit->boundary] = h;
    struct tensor *state = scratch.model->coda ? run_rows(&scratch, h, rows, n) : op_select(tape, h, rows, n);
    struct decoded own = {0};
    bool decodes = edit->kind->decodes && edit->kind->decodes(&edit->args);
    if (decodes && n && (!shared || n != spot->count)) own.logits = run_decode(&scratch, state, edit->boundary)->data, shared = &own;
    if (n)
        edit_rows(edit, &scratch, n, here.questions, here.number, here.positions, state->data, decodes ? shared : NULL, &work->outcomes[cell].edits);
    for (int i = 0; i < n; i++) memcpy(h->data + (size_t)rows[i] * d, state->data + (size_t)i * d, d * sizeof(float));
}

static bool same_places(const struct spot *a, const struct spot *b)
{
    return a && a->count == b->count && !memcmp(a->places, b->places, sizeof(int) * (size_t)a->count);
}

/* Nothing that a replay would change: its first edits left every bit alone, and there are no later ones. */
static bool idle(const struct cellwork *work, int cell)
{
    bool later = false;
    for (int e = 0; e < work->replay->study->edit_count; e++) later = later || edit_of(work->replay, cell, e)->boundary > work->replay->from;
    return !later && work->outcomes[cell].edits.moved == 0;
}

/* The rows of cells that are not idle (alpha 0): the others have the untouched run's answers. */
static struct tensor *drop_idle(struct cellwork *work, const struct batch *copies, struct tensor *changed)
{
    struct arena *arena = work->tape.arena;
    int *at = arena_new(arena, sizeof *at * (size_t)(changed->rows + 1)), *rows = arena_new(arena, sizeof *rows * (size_t)(changed->rows + 1)), n = 0;
    for (int i = 0; i < changed->rows; i++)
        if (!idle(work, changed->places->at[i] / base_size(work->base))) at[n] = changed->places->at[i], rows[n++] = i;
    if (n == changed->rows) return changed;
    changed = op_select(&work->tape, changed, rows, n);
    changed->places = places_new(arena, copies, n, at);
    return changed;
}

/* The states where the replay starts, all cells behind each other, edited. */
static struct tensor *changed_states(struct cellwork *work, const struct batch *copies, struct spot *spots)
{
    struct replay *me = work->replay;
    struct tensor *h = work->base->run.states[me->from];
    struct places *places = mark_places(work, copies, spots);
    struct tensor *changed = tape_tensor(&work->tape, places->count, h->cols);
    size_t d = (size_t)h->cols;
    changed->places = places;
    for (int i = 0; i < places->count; i++)
        memcpy(changed->data + (size_t)i * d, h->data + (size_t)base_row(work->base, me->from, places->at[i]) * d, d * sizeof(float));
    struct decoded decoded = {0};
    const struct spot *decoded_for = NULL;
    for (int c = 0; c < me->cells; c++)
        for (int e = 0; e < me->study->edit_count; e++) {
            const struct edit *edit = edit_of(me, c, e);
            const struct spot *spot = &spots[c * me->study->edit_count + e];
            if (edit->boundary != me->from || !spot->count) continue;
            /* Before its first edit a cell's states are the base's: neighbouring cells share what they decode to. */
            bool first = true;
            for (int other = 0; other < e; other++) first = first && edit_of(me, c, other)->boundary != me->from;
            if (first && edit->kind->decodes && edit->kind->decodes(&edit->args) && !same_places(decoded_for, spot)) {
                decoded = (struct decoded){.logits = decoded_rows(work->base, me->from, spot, &work->tape)};
                decoded_for = spot;
            }
            apply(work, c, edit, spot, changed, first && decoded.logits ? &decoded : NULL);
        }
    return drop_idle(work, copies, changed);
}

struct later {
    struct handler handler;
    struct cellwork *work;
    struct spot *spots;
};

/* Edits at boundaries behind the first. */
static void fire(struct handler *handler, struct run *run, const char *site, struct tensor *h)
{
    struct later *me = (struct later *)handler;
    struct replay *replay = me->work->replay;
    int k = atoi(site + 2);
    (void)run;
    for (int c = 0; c < replay->cells && k > replay->from; c++)
        for (int e = 0; e < replay->study->edit_count; e++)
            if (edit_of(replay, c, e)->boundary == k)
                apply(me->work, c, edit_of(replay, c, e), &me->spots[c * replay->study->edit_count + e], h, NULL);
}

static void count_answers(struct cellwork *work, const struct tensor *logits)
{
    struct base *base = work->base;
    int size = base_size(base);
    for (int c = 0; c < work->replay->cells; c++) {
        struct outcome *outcome = &work->outcomes[c];
        for (int q = 0; q < base->count; q++) {
            int row = logits->places->index[c * size + base->answers[q]];
            int best = row < 0 || outcome->edits.moved == 0 ? base->predicted[q] /* not reached: the untouched run's answer */
                       : row_argmax(logits->data + (size_t)row * (size_t)logits->cols, logits->cols);
            size_t cell = work->replay->first_cell + (size_t)c;
            if (work->replay->recorded) work->replay->recorded[cell * work->replay->question_count + base->offset + base->number[q]] = best;
            outcome->n += best >= 0;
            outcome->excluded += best < 0;
            outcome->correct += best == base->questions[q].answer;
        }
    }
}

static struct places *wanted_copies(const struct cellwork *work, const struct batch *copies)
{
    const struct base *base = work->base;
    int *at = arena_new(work->tape.arena, sizeof *at * (size_t)(base->count * work->replay->cells + 1)), n = 0;
    for (int c = 0; c < work->replay->cells; c++)
        for (int q = 0; q < base->count; q++) at[n++] = c * base_size(base) + base->answers[q];
    return places_new(work->tape.arena, copies, n, at);
}

static void replay_shard(void *job, int i, int thread)
{
    struct replay *me = job;
    if (session_stopped(me->study->session)) return;
    struct cellwork work = {.replay = me, .base = &me->bases[i], .outcomes = me->outcomes + i * me->cells,
                            .tape = {.arena = &me->scratch[thread], .stop = &me->study->session->stop}};
    struct arena *arena = work.tape.arena;
    struct run run;
    arena_reset(arena);
    struct batch *copies = batch_repeat(arena, work.base->run.batch, me->cells);
    struct later later = {.handler = {.pattern = model_by_token(me->study->model) ? "s.*" : "h.*", .fire = fire}, .work = &work};
    later.spots = arena_zero(arena, sizeof *later.spots * (size_t)(me->cells * me->study->edit_count + 1));
    work.over = work.base->run;
    work.over.tape = &work.tape, work.over.batch = copies, work.over.all = places_all(arena, copies), work.over.base = &work.base->run;
    work.over.states = arena_zero(arena, sizeof *work.over.states * (size_t)(run_boundaries(&work.base->run) + 1));
    struct tensor *changed = changed_states(&work, copies, later.spots);
    if (session_stopped(me->study->session)) return; /* a shard of a large model takes its time: half of it may be enough */
    run_replay(&run, &work.base->run, &work.tape, copies, me->from, changed);
    run.wanted = wanted_copies(&work, copies);
    run_attach(&run, &later.handler);
    count_answers(&work, run_forward(&run, NULL));
}

/* The first boundary that a cell edits; the last there is when it edits nothing. */
static int first_boundary(const struct replay *me, const struct edit *edits)
{
    int first = me->study->boundaries;
    for (int e = 0; e < me->study->edit_count; e++)
        if (edits[e].boundary < first) first = edits[e].boundary;
    return first;
}

static bool check_boundaries(const struct study *study, const struct edit *edits, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].boundary > study->boundaries)
            return err_set(err, "--do ...@%c.%d: the last boundary of the run is %d", edits[i].by_token ? 's' : 'h', edits[i].boundary,
                           study->boundaries);
    return true;
}

/* The cells of one call whose first edits are at one boundary; cell is the number of the first of them. */
static void run_cells(struct replay *me, const struct edit *edits, size_t cell, size_t count, struct outcome *outcomes)
{
    size_t splits = (size_t)me->study->split_count;
    me->edits = edits;
    me->first_cell = cell;
    me->cells = (int)count;
    me->from = first_boundary(me, edits);
    me->outcomes = mem_new(sizeof *me->outcomes * count * (size_t)(me->base_count + 1));
    pool_run(me->study->pool, me->base_count, replay_shard, me);
    for (int b = 0; b < me->base_count; b++)
        for (size_t c = 0; c < count; c++) {
            const struct outcome *one = &me->outcomes[(size_t)b * count + c];
            struct outcome *sum = &outcomes[c * splits + (size_t)me->bases[b].split];
            sum->n += one->n, sum->correct += one->correct, sum->excluded += one->excluded;
            edit_count_add(&sum->edits, &one->edits);
        }
    mem_free(me->outcomes);
}

bool replay_cells(struct replay *me, const struct edit *edits, size_t count, struct outcome *outcomes, struct err *err)
{
    size_t splits = (size_t)me->study->split_count, edit_count = (size_t)me->study->edit_count;
    if (!check_boundaries(me->study, edits, count * edit_count, err)) return false;
    memset(outcomes, 0, sizeof *outcomes * count * splits);
    for (size_t cell = 0, next; cell < count && !session_stopped(me->study->session); cell = next) {
        int from = first_boundary(me, edits + cell * edit_count);
        for (next = cell + 1; next < count && first_boundary(me, edits + next * edit_count) == from;) next++;
        run_cells(me, edits + cell * edit_count, cell, next - cell, outcomes + cell * splits);
    }
    return !session_stopped(me->study->session) || err_stop(err, "stopped");
}
