#include "tokens.h"

#include "numbers/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_given(const char *site) { return !strcmp(site, "e") || !strncmp(site, "mem.", 4); }

static void *new_states(struct arena *arena, const struct batch *batch)
{
    return arena_zero(arena, sizeof(struct tensor *) * ((size_t)batch->longest + 1));
}

static double *new_logp(struct arena *arena, const struct batch *batch)
{
    double *logp = arena_new(arena, sizeof *logp * (size_t)(batch->size + 1));
    for (int i = 0; i < batch->size; i++) logp[i] = NAN;
    return logp;
}

/* logits [n, V] of `row` say what comes at `place`. */
static void read_logp(struct passage *me, const struct tensor *logits, int row, int place)
{
    const float *at = logits->data + (size_t)row * (size_t)logits->cols;
    me->logp[place] = (double)at[me->batch->tokens[place]] - row_log_sum_exp(at, logits->cols);
}

/* For longer than the run lasts: it goes, and its places with it. */
static struct tensor *copied(struct arena *arena, const struct tensor *from)
{
    struct tape tape = {.arena = arena};
    struct tensor *to = tape_tensor(&tape, from->rows, from->cols);
    memcpy(to->data, from->data, sizeof(float) * tensor_size(to));
    return to;
}

struct recorder { struct handler handler; struct passage *passage; struct arena *arena; };

static void record(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct recorder *me = (struct recorder *)base;
    (void)run;
    if (!is_given(site) || me->passage->given_count == TOKENS_GIVEN) return;
    char *name = arena_new(me->arena, strlen(site) + 1);
    me->passage->given[me->passage->given_count].site = strcpy(name, site);
    me->passage->given[me->passage->given_count++].value = copied(me->arena, value);
}

bool tokens_prefill(struct passage *me, const struct model *model, const struct batch *batch, struct arena *arena, struct err *err)
{
    struct tape tape = {.arena = arena};
    struct run run;
    struct recorder recorder = {{.pattern = "*", .fire = record}, me, arena};
    *me = (struct passage){.batch = batch, .logp = new_logp(arena, batch)};
    run_init(&run, model, &tape, batch);
    run_attach(&run, &recorder.handler); /* e and the memory are made before anything is given back */
    struct tensor *logits = run_forward(&run, err);
    if (!logits) return false;
    me->states = run.states;
    for (int i = 0; i < batch->size; i++)
        if (batch->position[i]) read_logp(me, logits, i - 1, i);
    return true;
}

/* Overwrites what the encoder and the memory made of one token by what they made of it in a prefill. */
struct giver { struct handler handler; const struct passage *given; int t; };

static void give(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct giver *me = (struct giver *)base;
    size_t d = (size_t)value->cols;
    for (int g = 0; g < me->given->given_count; g++) {
        if (strcmp(me->given->given[g].site, site)) continue;
        for (int i = 0; i < value->rows; i++) {
            size_t place = (size_t)(me->given->batch->start[run->batch->row[i]] + me->t);
            memcpy(value->data + (size_t)i * d, me->given->given[g].value->data + place * d, d * sizeof(float));
        }
    }
}

/* Token t of every sequence that has it, behind `past`; what the run leaves lies in `arena`. */
static struct run *one_token(struct passage *me, const struct model *model, const struct run *past, int t, const struct passage *given,
                             struct arena *arena, struct err *err)
{
    const struct batch *batch = me->batch;
    struct tape *tape = arena_zero(arena, sizeof *tape);
    struct run *run = arena_zero(arena, sizeof *run);
    int *lengths = arena_new(arena, sizeof *lengths * (size_t)(batch->rows + 1)), row = 0;
    const int **tokens = arena_new(arena, sizeof *tokens * (size_t)(batch->rows + 1));
    for (int b = 0; b < batch->rows; b++) lengths[b] = batch->start[b + 1] - batch->start[b] > t, tokens[b] = batch->tokens + batch->start[b] + t;
    tape->arena = arena;
    run_init(run, model, tape, batch_new(arena, batch->rows, lengths, tokens));
    run->keep = true;
    run->past = past;
    struct giver giver = {{.pattern = "*", .fire = give}, given, t};
    if (given) run_attach(run, &giver.handler);
    struct tensor *logits = run_forward(run, err);
    for (int b = 0; logits && b < batch->rows; b++) {
        int next = batch->start[b] + t + 1;
        if (next < batch->start[b + 1]) read_logp(me, logits, row, next);
        row += lengths[b];
    }
    return logits ? run : NULL;
}

bool tokens_incremental(struct passage *me, const struct model *model, const struct batch *batch, const struct passage *given, struct arena *arena,
                        struct err *err)
{
    struct arena turns[2] = {{0}, {0}}; /* a token's caches hold all that the next one needs: those before may go */
    struct run *run = NULL;
    bool ok = true;
    *me = (struct passage){.batch = batch, .states = new_states(arena, batch), .logp = new_logp(arena, batch)};
    for (int t = 0; ok && t < batch->longest; t++) {
        arena_reset(&turns[t % 2]);
        run = one_token(me, model, run, t, given, &turns[t % 2], err);
        ok = run != NULL;
        if (ok && !t) me->states[0] = copied(arena, run->states[0]);
        if (ok) me->states[t + 1] = copied(arena, run->states[1]);
    }
    for (int i = 0; i < 2; i++) arena_clear(&turns[i]);
    return ok;
}

static struct token_check compare_states(const char *name, const char *what, double tolerance, const struct passage *ours,
                                         const struct passage *theirs)
{
    struct token_check check = {.name = name, .what = what, .tolerance = tolerance};
    for (int t = 0; t <= theirs->batch->longest; t++) {
        const struct tensor *a = ours->states[t], *b = theirs->states[t];
        for (int i = 0; i < b->rows * b->cols; i++) {
            double off = fabs((double)a->data[i] - (double)b->data[i]);
            if (off <= check.worst) continue; /* NaN goes on */
            check.worst = isnan(off) ? INFINITY : off, check.ours = a->data[i], check.theirs = b->data[i];
            snprintf(check.where, sizeof check.where, "boundary %d, row %d, dimension %d", t, i / b->cols, i % b->cols);
        }
    }
    return check;
}

static struct token_check compare_ratios(const struct passage *old, const struct passage *now)
{
    struct token_check check = {.name = "replay ratio", .what = "P(token), replayed against decoded", .tolerance = 5e-4, .ours = 1, .theirs = 1};
    for (int i = 0; i < old->batch->size; i++) {
        double ratio = exp(now->logp[i] - old->logp[i]), off = fabs(ratio - 1);
        if (!old->batch->position[i] || off <= check.worst) continue;
        check.worst = isnan(off) ? INFINITY : off, check.ours = ratio;
        snprintf(check.where, sizeof check.where, "row %d, position %d", old->batch->row[i], old->batch->position[i]);
    }
    return check;
}

bool tokens_check(struct token_check checks[TOKEN_CHECKS], const struct model *model, const struct batch *batch, struct arena *arena, struct err *err)
{
    struct passage *all = arena_zero(arena, sizeof *all * 4), *whole = all, *again = all + 1, *steps = all + 2, *given = all + 3;
    if (!tokens_prefill(whole, model, batch, arena, err) || !tokens_prefill(again, model, batch, arena, err) ||
        !tokens_incremental(steps, model, batch, NULL, arena, err) || !tokens_incremental(given, model, batch, whole, arena, err))
        return false;
    checks[0] = compare_states("incremental.s", "one token at a time", 2e-4, steps, whole);
    checks[1] = compare_states("incremental.s given e", "the same, encodings of the prefill", 0, given, whole);
    checks[2] = compare_states("replay.s", "the prefill once more", 0, again, whole);
    checks[3] = compare_ratios(steps, again);
    return true;
}
