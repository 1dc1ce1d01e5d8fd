#include "models/run.h"

#include "ground/rng.h"
#include "ground/text.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int *ints(struct arena *arena, int n) { return arena_new(arena, sizeof(int) * (size_t)(n + 1)); }

/* Sequences that begin alike form a tree of tokens. Its nodes are found by (node before, token) in a table with open addressing. */
struct tree {
    int *slots; /* place + 1; 0: free */
    size_t mask;
    int *tokens, *row, *position, *before;
    int size;
};

static size_t tree_hash(int before, int token) { return ((size_t)(before + 1) * 0x9e3779b97f4a7c15u ^ (size_t)token * 0xd6e8feb86659fd93u) >> 20; }

/* The place of a token behind `before`; one that is there already, where sharing is allowed. */
static int tree_place(struct tree *tree, int before, int token, int row, bool shares)
{
    size_t at = tree_hash(before, token) & tree->mask;
    for (; shares && tree->slots[at]; at = (at + 1) & tree->mask) {
        int place = tree->slots[at] - 1;
        if (tree->before[place] == before && tree->tokens[place] == token) return place;
    }
    int place = tree->size++;
    if (shares) tree->slots[at] = place + 1;
    tree->tokens[place] = token, tree->row[place] = row, tree->before[place] = before;
    tree->position[place] = before < 0 ? 0 : tree->position[before] + 1;
    return place;
}

struct batch *batch_shared(struct arena *arena, int rows, const int *lengths, const int *const *tokens, const int *own)
{
    struct batch *batch = arena_zero(arena, sizeof *batch);
    int *start = ints(arena, rows), n = 0;
    for (int b = 0; b < rows; b++) {
        start[b] = n;
        n += lengths[b];
        if (lengths[b] > batch->longest) batch->longest = lengths[b];
    }
    start[rows] = n;
    struct tree tree = {.mask = 1, .tokens = ints(arena, n), .row = ints(arena, n), .position = ints(arena, n), .before = ints(arena, n)};
    int *path = ints(arena, n);
    while (own && tree.mask < 2 * (size_t)n) tree.mask = 2 * tree.mask + 1;
    tree.slots = arena_zero(arena, sizeof *tree.slots * (tree.mask + 1));
    for (int b = 0; b < rows; b++)
        for (int p = 0, before = -1; p < lengths[b]; p++) path[start[b] + p] = before = tree_place(&tree, before, tokens[b][p], b, own && p < own[b]);
    batch->rows = rows, batch->size = tree.size;
    batch->start = start, batch->path = path;
    batch->tokens = tree.tokens, batch->row = tree.row, batch->position = tree.position, batch->before = tree.before;
    return batch;
}

struct batch *batch_new(struct arena *arena, int rows, const int *lengths, const int *const *tokens)
{
    return batch_shared(arena, rows, lengths, tokens, NULL);
}

struct batch *batch_repeat(struct arena *arena, const struct batch *one, int times)
{
    int rows = one->rows * times, size = one->start[one->rows];
    int *lengths = ints(arena, rows), *flat = ints(arena, size);
    const int **tokens = arena_new(arena, sizeof *tokens * (size_t)(rows + 1));
    for (int i = 0; i < size; i++) flat[i] = one->tokens[one->path[i]];
    for (int b = 0; b < rows; b++) {
        int from = b % one->rows;
        lengths[b] = one->start[from + 1] - one->start[from];
        tokens[b] = flat + one->start[from];
    }
    return batch_new(arena, rows, lengths, tokens);
}

struct places *places_new(struct arena *arena, const struct batch *batch, int count, const int *at)
{
    struct places *places = arena_new(arena, sizeof *places);
    int *mine = ints(arena, count), *index = ints(arena, batch->size), *position = ints(arena, count);
    for (int i = 0; i < batch->size; i++) index[i] = -1;
    for (int i = 0; i < count; i++) {
        assert(at[i] >= 0 && at[i] < batch->size && (!i || at[i] > at[i - 1]));
        mine[i] = at[i];
        index[at[i]] = i;
        position[i] = batch->position[at[i]];
    }
    *places = (struct places){count, mine, index, position};
    return places;
}

struct places *places_all(struct arena *arena, const struct batch *batch)
{
    int *at = ints(arena, batch->size);
    for (int i = 0; i < batch->size; i++) at[i] = i;
    return places_new(arena, batch, batch->size, at);
}

void run_init(struct run *run, const struct model *model, struct tape *tape, const struct batch *batch)
{
    *run = (struct run){.model = model, .tape = tape, .batch = batch, .loops = model->loops, .exit_threshold = NAN};
    run->all = places_all(tape->arena, batch);
}

void run_attach(struct run *run, struct handler *handler)
{
    assert(run->handler_count < RUN_HANDLERS);
    handler->sites = 0;
    run->handlers[run->handler_count++] = handler;
}

int run_boundaries(const struct run *run) { return model_by_token(run->model) ? run->batch->longest : run->loops; }

int run_state_row(const struct run *run, int place, int *k)
{
    if (model_by_token(run->model)) *k = run->batch->position[place] + 1;
    const struct tensor *state = *k >= 0 && *k <= run_boundaries(run) ? run->states[*k] : NULL;
    return state ? state->places->index[place] : -1;
}

static void make_room(struct run *run)
{
    size_t loops = (size_t)run->loops;
    run->states = arena_zero(run->tape->arena, sizeof *run->states * ((size_t)run_boundaries(run) + 1));
    run->inputs = arena_zero(run->tape->arena, sizeof *run->inputs * (loops + 2));
    size_t stages = (size_t)run->model->prelude + loops * (size_t)run->model->blocks + (size_t)run->model->coda;
    run->slots = arena_zero(run->tape->arena, sizeof *run->slots * (stages + 1));
}

static bool check_patterns(const struct run *run, struct err *err)
{
    for (int i = 0; i < run->handler_count; i++)
        if (!run->handlers[i]->sites && model_by_token(run->model))
            return err_set(
                err, "no site is called %s: the longest sequence has %d tokens, so boundaries are s.0 ... s.%d; `loopscope sites %s` lists sites",
                text_show(run->handlers[i]->pattern), run_boundaries(run), run_boundaries(run),
                run->model->path ? text_show(run->model->path) : "MODEL");
        else if (!run->handlers[i]->sites)
            return err_set(
                err, "no site is called %s: this model has %d loops of %d blocks; `loopscope sites %s` lists its sites (h.0 ... h.%d, logits ...)",
                text_show(run->handlers[i]->pattern), run->loops, run->model->blocks, run->model->path ? text_show(run->model->path) : "MODEL",
                run->loops);
    return true;
}

struct tensor *run_forward(struct run *run, struct err *err)
{
    int longest = run->model->longest;
    if (longest && run->batch->longest > longest) {
        err_set(err, "a sequence has %d tokens: this model has positions for %d", run->batch->longest, longest);
        return NULL;
    }
    make_room(run);
    run->logits = run_site(run, run->model->family->forward(run), "logits");
    return check_patterns(run, err) ? run->logits : NULL;
}

void run_replay(struct run *run, const struct run *base, struct tape *tape, const struct batch *copies, int from, struct tensor *changed)
{
    assert(base->keep && !tape->records && changed->places);
    *run = (struct run){.model = base->model, .tape = tape, .batch = copies, .loops = base->loops, .base = base, .from = from, .changed = changed};
    run->all = places_all(tape->arena, copies);
    run->rope = base->rope;
    run->exit_threshold = base->exit_threshold;
}

struct tensor *run_site(struct run *run, struct tensor *value, const char *format, ...)
{
    if (!value || (!run->handler_count && !run->visit)) return value;
    char name[96];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if (run->visit) run->visit(run->visitor, name, value);
    for (int i = 0; i < run->handler_count; i++)
        if (text_matches(run->handlers[i]->pattern, name)) {
            run->handlers[i]->sites++;
            run->handlers[i]->fire(run->handlers[i], run, name, value);
        }
    return value;
}

bool run_listens(const struct run *run, const char *format, ...)
{
    char name[96];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (int i = 0; i < run->handler_count; i++)
        if (text_matches(run->handlers[i]->pattern, name)) return true;
    return run->visit != NULL;
}

struct tensor *run_state(struct run *run, struct tensor *h, int k)
{
    if (!h->places) h->places = run->all;
    run->states[k] = h; /* a handler that decodes reads it */
    run->states[k] = run_site(run, h, model_by_token(run->model) ? "s.%d" : "h.%d", k);
    return h;
}

struct tensor *run_input(struct run *run, struct tensor *x, int k)
{
    run->inputs[k] = run_site(run, x, "x.%d", k);
    return x;
}

static bool covers(const struct places *big, const struct places *small)
{
    if (big == small) return true;
    for (int i = 0; i < small->count; i++)
        if (big->index[small->at[i]] < 0) return false;
    return true;
}

struct tensor *run_at(struct run *run, struct tensor *x, const struct tensor *old, const struct places *places)
{
    if (x && places == x->places) return x;
    if (x && covers(x->places, places)) {
        int *rows = ints(run->tape->arena, places->count);
        for (int i = 0; i < places->count; i++) rows[i] = x->places->index[places->at[i]];
        x = op_select(run->tape, x, rows, places->count);
        x->places = places;
        return x;
    }
    assert(run->base && old && !run->tape->records);
    struct tensor *y = tape_tensor(run->tape, places->count, old->cols);
    size_t d = (size_t)old->cols;
    for (int i = 0; i < places->count; i++) {
        int mine = x ? x->places->index[places->at[i]] : -1;
        const float *from = mine >= 0 ? x->data + (size_t)mine * d : old->data + (size_t)batch_original(run->base->batch, places->at[i]) * d;
        memcpy(y->data + (size_t)i * d, from, d * sizeof(float));
    }
    y->places = places;
    return y;
}

const int *run_tokens(struct run *run, const struct tensor *x)
{
    int *tokens = ints(run->tape->arena, x->rows);
    for (int i = 0; i < x->rows; i++) tokens[i] = run->batch->tokens[x->places->at[i]];
    return tokens;
}

static void draw(float *x, int width, struct rng *rng, double std, bool cut, double scale)
{
    for (int j = 0; j < width; j++) {
        double z = rng_normal(rng);
        while (cut && fabs(z) > 3) z = rng_normal(rng);
        x[j] = (float)(z * std * scale);
    }
}

struct tensor *run_start(struct run *run, int width, double std, bool cut, double scale)
{
    const struct batch *batch = run->batch;
    struct tensor *h = tape_tensor(run->tape, batch->size, width);
    size_t d = (size_t)width;
    uint64_t *past = arena_new(run->tape->arena, sizeof *past * (size_t)(batch->size + 1)); /* what leads to a place, as a number */
    h->places = run->all;
    assert(!run->start || (run->start->rows == h->rows && run->start->cols == width));
    if (run->start) memcpy(h->data, run->start->data, sizeof(float) * tensor_size(h));
    else memset(h->data, 0, sizeof(float) * tensor_size(h));
    for (int i = 0; i < batch->size && !run->start && std > 0; i++) {
        uint64_t all = batch->position[i] ? past[batch->before[i]] * 0x9e3779b97f4a7c15u : run->seed + 1;
        all = (all ^ (uint64_t)(batch->tokens[i] + 1)) * 0xd6e8feb86659fd93u;
        past[i] = all ^= all >> 32;
        struct rng rng = rng_start(all, "start state");
        draw(h->data + (size_t)i * d, width, &rng, std, cut, scale);
    }
    return h;
}

struct tensor *run_input_at(struct run *run, const struct tensor *h, int k)
{
    return run_at(run, run->inputs[k], run->base ? run->base->inputs[k] : NULL, h->places);
}

struct tensor *run_state_at(struct run *run, int k, const struct places *places)
{
    return run_at(run, run->states[k], run->base ? run->base->states[k] : NULL, places);
}

/* All places at or behind a changed one in their sequence; `within` NULL: any. */
static const struct places *reached(struct run *run, const struct places *changed, const struct places *within)
{
    const struct batch *batch = run->batch;
    int *at = ints(run->tape->arena, batch->size), n = 0;
    bool *behind = arena_new(run->tape->arena, sizeof *behind * (size_t)(batch->size + 1));
    for (int i = 0; i < batch->size; i++) {
        behind[i] = changed->index[i] >= 0 || (batch->before[i] >= 0 && behind[batch->before[i]]);
        if (behind[i] && (!within || within->index[i] >= 0)) at[n++] = i;
    }
    return places_new(run->tape->arena, batch, n, at);
}

struct tensor *run_leave(struct run *run, struct tensor *x, int stage, bool last)
{
    if (run->keep) run->slots[stage].input = x;
    const struct places *wanted = last ? run->wanted : NULL;
    if (!run->base) return wanted && wanted->count < x->rows ? run_at(run, x, NULL, wanted) : x;
    return run_at(run, x, run->base->slots[stage].input, reached(run, x->places, wanted));
}

/* How many keys the query at this position sees: itself and those before it, as far as the window goes. */
static int seen(struct heads heads, int position) { return heads.window && heads.window <= position ? heads.window : position + 1; }

struct tensor *run_queries(struct run *run, const struct tensor *x, const struct tensor *h, int stage)
{
    const struct tensor *old = run->base ? run->base->slots[stage].q : NULL;
    if (!old) return NULL;
    size_t d = (size_t)old->cols;
    for (int i = 0; i < h->rows; i++)
        if (x->places->index[h->places->at[i]] >= 0) return NULL;
    struct tensor *q = tape_like(run->tape, h, old->cols);
    for (int i = 0; i < h->rows; i++) {
        int row = old->places->index[batch_original(run->base->batch, h->places->at[i])];
        memcpy(q->data + (size_t)i * d, old->data + (size_t)row * d, d * sizeof(float));
    }
    return q;
}

struct tensor *run_attend(struct run *run, struct tensor *q, struct tensor *k, struct tensor *v, struct tensor *x, struct heads heads, int stage,
                          struct tensor **pattern)
{
    const struct batch *batch = run->batch;
    const struct slot *old = run->base && stage >= 0 ? &run->base->slots[stage] : NULL;
    if (run->keep && stage >= 0) {
        run->last_slot = &run->slots[stage];
        run->last_slot->q = q, run->last_slot->k = k, run->last_slot->v = v;
    }
    int *first = ints(run->tape->arena, q->rows);
    size_t total = 0;
    for (int i = 0; i < q->rows; i++) {
        first[i] = (int)total;
        total += (size_t)seen(heads, q->places->position[i]);
    }
    if (total > INT_MAX) mem_failed(total * sizeof(float) * (size_t)heads.count); /* what the pattern would take */
    first[q->rows] = (int)total;
    int *kv = ints(run->tape->arena, (int)total);
    for (int i = 0; i < q->rows; i++) {
        for (int j = first[i + 1] - 1, place = q->places->at[i]; j >= first[i]; j--, place = batch->before[place]) {
            int mine = x->places->index[place];
            assert(mine >= 0 || old);
            kv[j] = mine >= 0 ? mine : ~batch_original(run->base->batch, place);
        }
    }
    struct reach reach = {first, kv, old ? old->k->data : NULL, old ? old->v->data : NULL};
    return op_attention(run->tape, q, k, v, &reach, heads, pattern);
}

struct tensor *run_rope(struct run *run, struct tensor *x)
{
    return op_rope(run->tape, x, &run->rope, x->places->position);
}

struct tensor *run_release(struct run *run, struct arena_mark mark, struct tensor *h)
{
    struct slot *slot = run->last_slot;
    run->last_slot = NULL;
    if (run->base || run->hold || (run->keep && !slot)) return h;
    if (!run->keep) return tape_keep(run->tape, mark, h);
    tape_keep_all(run->tape, mark, (struct tensor **[]){&slot->q, &slot->k, &slot->v, &h}, 4);
    return h;
}

struct tensor *run_states_at(struct run *run, int k, const int *places, int n)
{
    int *rows = ints(run->tape->arena, n);
    for (int i = 0; i < n; i++) rows[i] = run_state_row(run, places[i], &k);
    if (!model_by_token(run->model)) return run_rows(run, run->states[k], rows, n);
    struct tensor *s = tape_tensor(run->tape, n, run->model->width);
    size_t d = (size_t)s->cols;
    for (int i = 0; i < n; i++) {
        run_state_row(run, places[i], &k);
        memcpy(s->data + (size_t)i * d, run->states[k]->data + (size_t)rows[i] * d, d * sizeof(float));
    }
    s->places = places_new(run->tape->arena, run->batch, n, places);
    return s;
}

struct tensor *run_rows(struct run *run, struct tensor *h, const int *rows, int n)
{
    int *at = ints(run->tape->arena, n);
    for (int i = 0; i < n; i++) at[i] = h->places->at[rows[i]];
    struct tensor *y = op_select(run->tape, h, rows, n);
    y->places = places_new(run->tape->arena, run->batch, n, at);
    return y;
}

/* The state h.k over all places, with h's rows where it has them. While a tape records, h's rows are the state's own: gradients reach it whole. */
static struct tensor *whole_state(struct run *run, struct tensor *h, int k)
{
    struct tensor *mine = run->states[k];
    if (h->places->count == run->all->count) return h;
    if (run->tape->records) return mine;
    struct tensor *y = tape_tensor(run->tape, run->all->count, h->cols);
    size_t d = (size_t)h->cols;
    for (int i = 0; i < y->rows; i++) {
        int edited = h->places->index[i], own = mine ? mine->places->index[i] : -1;
        const float *from = edited >= 0 ? h->data + (size_t)edited * d : own >= 0 ? mine->data + (size_t)own * d
                          : run->base->states[k]->data + (size_t)batch_original(run->base->batch, i) * d;
        memcpy(y->data + (size_t)i * d, from, d * sizeof(float));
    }
    y->places = run->all;
    return y;
}

struct tensor *run_decode(struct run *run, struct tensor *h, int k)
{
    struct run lens = *run;
    lens.keep = false, lens.base = NULL, lens.handler_count = 0, lens.visit = NULL, lens.wanted = NULL;
    if (run->model->coda) {
        lens.wanted = h->places;
        h = whole_state(run, h, k);
    }
    return run->model->family->decode(&lens, h, k);
}
