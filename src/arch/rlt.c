/* `rlt`: a causal encoder and a recurrent decoder that hands a state from token to token; the boundary is the token. No code was published: what the
 * equations leave open (norm weights, rotary positions of the memory, no norm behind the encoder) is as in the parity references.
 *
 *     e       = encoder(W[tokens])                                          full causal attention, all tokens at once
 *     r       = rms(s_c),  c = the last boundary before token t that feedback_chunk divides (1: c = t - 1)
 *     gate_t  = sigmoid(w_g [e_t ; r] + b_g),   u_t = e_t + feedback_scale gate_t (w_s r)
 *     s_t     = decoder(u_t): in each layer attention to the last sliding_window tokens' keys and values, each made when its token was read, then to
 *               the memory of e_1 ... e_t (layer l reads group l mod memory_groups), then the MLP
 *     logits_t = readout rms(s_t),   s_0 = s_star
 *
 * RLT-0, without feedback, is feedback_scale 0; RLT-2, with chunked feedback, is feedback_chunk 2 (this project's key, default 1): all tokens of a
 * chunk read the state in which the chunk before it ended. A tied decoder layer uses the encoder layer's q, k, v, o and MLP.
 *
 * Sites by token, "token.T.u" ..., are read where they stand and may be edited; "u", "gate", "cache.k.L", "cache.v.L" are collected from them at the
 * end.
 * A run that continues another (run->past) reads the other's keys, values and state without gradient. Shapes: N packed tokens, B sequences, n of them
 * still running at a token, D width.
 */
#include "models/run.h"

#include <assert.h>
#include <string.h>

struct layer { const struct weight *norm_attn, *norm_cross, *norm_ffn, *q, *k, *v, *o, *cross_q, *cross_o, *gate, *up, *down; };
struct group { const struct weight *k, *v; };

struct rlt {
    struct heads heads;
    float eps, scale;
    double rope_theta;
    int encoders, decoders, groups, window, chunk;
    const struct weight *table, *memory_norm, *merge_norm, *w_g, *b_g, *w_s, *start, *norm, *readout;
    struct layer *encoder, *decoder;
    struct group *memory;
};

/* ------------------------------------------------------------------ parameters */

static void declare_own(struct builder *b, const char *stack, struct layer *w, int i, int inner, const char *self)
{
    int d = b->model->width;
    w->q = build_weight(b, WEIGHT_MATRIX, d, d, "%s.%d.%sq%s.weight", stack, i, self, *self ? "" : "_proj");
    w->k = build_weight(b, WEIGHT_MATRIX, d, d, "%s.%d.%sk%s.weight", stack, i, self, *self ? "" : "_proj");
    w->v = build_weight(b, WEIGHT_MATRIX, d, d, "%s.%d.%sv%s.weight", stack, i, self, *self ? "" : "_proj");
    w->o = build_weight(b, WEIGHT_OUTPUT, d, d, "%s.%d.%so%s.weight", stack, i, self, *self ? "" : "_proj");
    w->gate = build_weight(b, WEIGHT_MATRIX, inner, d, "%s.%d.ff_gate.weight", stack, i);
    w->up = build_weight(b, WEIGHT_MATRIX, inner, d, "%s.%d.ff_up.weight", stack, i);
    w->down = build_weight(b, WEIGHT_OUTPUT, d, inner, "%s.%d.ff_down.weight", stack, i);
}

static void declare_layers(struct builder *b, struct rlt *m, int inner, bool tied)
{
    int d = b->model->width;
    m->encoder = build_new(b, sizeof *m->encoder * (size_t)(m->encoders + 1));
    m->decoder = build_new(b, sizeof *m->decoder * (size_t)(m->decoders + 1));
    for (int l = 0; l < m->encoders; l++) {
        struct layer *w = &m->encoder[l];
        w->norm_attn = build_vector(b, WEIGHT_GAIN, d, "encoder.%d.norm_attn.weight", l);
        declare_own(b, "encoder", w, l, inner, "");
        w->norm_ffn = build_vector(b, WEIGHT_GAIN, d, "encoder.%d.norm_ffn.weight", l);
    }
    for (int l = 0; l < m->decoders; l++) {
        struct layer *w = &m->decoder[l];
        if (tied && l < m->encoders) *w = m->encoder[l];
        w->norm_attn = build_vector(b, WEIGHT_GAIN, d, "decoder.%d.norm_self.weight", l);
        if (!tied) declare_own(b, "decoder", w, l, inner, "self_");
        w->norm_cross = build_vector(b, WEIGHT_GAIN, d, "decoder.%d.norm_cross.weight", l);
        w->cross_q = build_weight(b, WEIGHT_MATRIX, d, d, "decoder.%d.cross_q.weight", l);
        w->cross_o = build_weight(b, WEIGHT_OUTPUT, d, d, "decoder.%d.cross_o.weight", l);
        w->norm_ffn = build_vector(b, WEIGHT_GAIN, d, "decoder.%d.norm_ffn.weight", l);
    }
}

static void declare_rest(struct builder *b, struct rlt *m)
{
    int d = b->model->width;
    m->memory = build_new(b, sizeof *m->memory * (size_t)(m->groups + 1));
    if (m->groups) m->memory_norm = build_vector(b, WEIGHT_GAIN, d, "mem.norm.weight");
    for (int g = 0; g < m->groups; g++) {
        m->memory[g].k = build_weight(b, WEIGHT_MATRIX, d, d, "mem.%d.k.weight", g);
        m->memory[g].v = build_weight(b, WEIGHT_MATRIX, d, d, "mem.%d.v.weight", g);
    }
    m->merge_norm = build_vector(b, WEIGHT_GAIN, d, "merge.norm.weight");
    m->w_g = build_weight(b, WEIGHT_MATRIX, d, 2 * d, "merge.w_g.weight");
    m->b_g = build_vector(b, WEIGHT_BIAS, d, "merge.b_g");
    m->w_s = build_weight(b, WEIGHT_MATRIX, d, d, "merge.w_s.weight");
    m->norm = build_vector(b, WEIGHT_GAIN, d, "readout.norm.weight");
    m->readout = build_weight(b, WEIGHT_TABLE, b->model->vocab_size, d, "readout.weight");
    m->start = build_vector(b, WEIGHT_BIAS, d, "state.s_star");
}

static void declare_numbers(struct config *c, struct rlt *m, int width)
{
    int count = (int)config_int(c, "num_attention_heads|n_head|n_heads", 1, 1 << 12), size = width / count;
    if (width % count) config_wrong(c, "num_attention_heads", "%d heads do not divide hidden_size %d", count, width);
    else if (size % 2) config_wrong(c, "num_attention_heads", "%d heads of %d: head size must be even, rotary positions turn pairs", count, size);
    m->heads = (struct heads){.count = count, .kv_count = count, .size = size};
    m->encoders = (int)config_int(c, "num_encoder_layers", 0, 2048);
    m->decoders = (int)config_int(c, "num_decoder_layers", 0, 2048);
    if (!m->encoders && !m->decoders) config_wrong(c, "num_encoder_layers", "and num_decoder_layers are both 0: at least one layer is wanted");
    m->window = (int)config_int(c, "sliding_window", 1, 1 << 24);
    m->groups = (int)config_int_or(c, "memory_groups", m->decoders ? 1 : 0, 2048, 1);
    if (!m->decoders) m->groups = 0;
    m->scale = (float)config_number(c, "feedback_scale");
    m->chunk = (int)config_int_quiet(c, "feedback_chunk", 1, 1 << 24, 1);
    m->eps = (float)config_number_or(c, "rms_norm_eps|layer_norm_eps|norm_eps", 1e-6);
    if (!(m->eps >= 0)) config_wrong(c, "rms_norm_eps", "must not be negative");
    m->rope_theta = config_number_or(c, "rope_theta|rope_parameters.rope_theta", 10000);
    if (!(m->rope_theta > 0)) config_wrong(c, "rope_theta", "must be above 0");
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct rlt *m = model->arch = build_new(b, sizeof *m);
    model->vocab_size = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->width = (int)config_int(c, "hidden_size|n_embd|d_model", 1, 1 << 24);
    int inner = (int)config_int(c, "intermediate_size|n_inner", 1, 1 << 24);
    declare_numbers(c, m, model->width);
    bool tied = config_bool_or(c, "tie_encoder_decoder", false);
    if (tied && m->decoders > m->encoders)
        config_wrong(c, "tie_encoder_decoder", "%d decoder layers cannot share with %d encoder layers: at most as many, or false", m->decoders,
                     m->encoders);
    model->loops = 1; /* the tokens are the loop */
    model->blocks = m->encoders + m->decoders;
    model->interface = m->scale == 0 ? "no feedback" : m->chunk > 1 ? "chunked feedback" : "gated feedback";
    model->eps = m->eps;
    m->table = model->table = build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "embedding.embeddings");
    declare_layers(b, m, inner, tied);
    declare_rest(b, m);
}

/* ------------------------------------------------------------------ one pass */

struct kv { struct tensor *k, *v; };

/* What a run leaves for one that continues it or replays a part. Rows of encoder and memory: every token of each sequence, those of earlier runs too;
 * of window: the last sliding_window - 1. */
struct cache {
    const int *length;                   /* [B] tokens read so far */
    const int *start, *window_start;     /* [B+1] first row of each sequence */
    struct kv *encoder, *memory, *window;
    struct tensor *last, *feed;          /* [B, D] the state behind the last token; the one that the next merge reads */
    struct tensor *e, *states;           /* this run's own, as in struct walk */
    struct kv *decoder;
};

struct walk {
    struct run *run;
    const struct rlt *m;
    const struct cache *past, *base;     /* of run->past and run->base; NULL where there is none */
    const int *before;                   /* [B] tokens of each sequence in earlier runs */
    const int *position;                 /* [N] in the whole sequence: turns the keys */
    struct tensor *e;                    /* [N, D]; the base's in a replay */
    struct tensor *states;               /* [B+N, D] row B+i: the state behind place i; row b: what sequence b starts with */
    struct tensor *u, *gate;             /* [N, D] copies for their sites; NULL: nobody looks */
    struct kv *encoder, *memory, *decoder; /* by layer or group: [N, D], keys turned */
    unsigned char *moves;                /* [B] replay: this sequence has a changed state */
};

static int *ints(struct walk *w, int n) { return arena_new(w->run->tape->arena, sizeof(int) * (size_t)(n + 1)); }
static struct kv *pairs(struct walk *w, int n) { return arena_zero(w->run->tape->arena, sizeof(struct kv) * (size_t)(n + 1)); }
static bool watched(const struct run *run) { return run->handler_count || run->visit; }

static struct tensor *zeros(struct walk *w, int rows)
{
    struct tensor *t = tape_tensor(w->run->tape, rows, w->run->model->width);
    memset(t->data, 0, sizeof(float) * tensor_size(t));
    return t;
}

static void copy_row(struct tensor *to, int row, const struct tensor *from, int from_row)
{
    size_t d = (size_t)to->cols;
    memcpy(to->data + (size_t)row * d, from->data + (size_t)from_row * d, d * sizeof(float));
}

/* Which keys an attention reads: at most `window` up to the query's own (0: all). An entry below zero is a stored row: of earlier runs (those end at
 * old_end[b]), in a replay of the base wherever the position is below `fresh`, and with `detach` everything but the query's own. */
struct view { int window, fresh; const int *old_end; bool detach; };

static int view_entry(const struct walk *w, const struct view *view, int b, int position, int query)
{
    int behind = w->before[b] - position, place = w->run->batch->start[b] - behind;
    if (behind > 0) return ~(view->old_end[b + 1] - behind);
    if (w->base && w->run->batch->position[place] < view->fresh) return ~(place % w->run->base->batch->size);
    return view->detach && place != query ? ~place : place;
}

static struct reach reach_of(struct walk *w, const struct places *at, const struct view *view)
{
    int *first = ints(w, at->count), total = 0;
    for (int i = 0; i < at->count; i++) {
        int keys = w->position[at->at[i]] + 1;
        first[i] = total;
        total += view->window && keys > view->window ? view->window : keys;
    }
    first[at->count] = total;
    int *kv = ints(w, total);
    for (int i = 0; i < at->count; i++)
        for (int j = first[i]; j < first[i + 1]; j++)
            kv[j] = view_entry(w, view, w->run->batch->row[at->at[i]], w->position[at->at[i]] - (first[i + 1] - 1 - j), at->at[i]);
    return (struct reach){.first = first, .kv = kv};
}

static struct tensor *attend(struct walk *w, struct tensor *q, const struct kv *made, const struct kv *old, struct reach reach,
                             struct tensor **pattern)
{
    if (old) reach.old_k = old->k->data, reach.old_v = old->v->data;
    return op_attention(w->run->tape, q, made->k, made->v, &reach, w->m->heads, pattern);
}

static struct tensor *turned(struct walk *w, struct tensor *x, const struct weight *weight, const int *positions)
{
    return op_rope(w->run->tape, op_linear(w->run->tape, x, weight, NULL), &w->run->rope, positions);
}

static struct tensor *ffn(struct walk *w, const struct layer *l, struct tensor *x)
{
    struct tape *t = w->run->tape;
    struct tensor *n = op_rms_norm(t, x, l->norm_ffn, w->m->eps);
    return op_linear(t, op_swiglu(t, op_linear(t, n, l->gate, NULL), op_linear(t, n, l->up, NULL)), l->down, x);
}

/* ------------------------------------------------------------------ encoder and memory */

/* x [N, D] -> e [N, D] */
static struct tensor *encode(struct walk *w, struct tensor *x)
{
    struct tape *t = w->run->tape;
    struct reach reach = reach_of(w, w->run->all, &(struct view){.old_end = w->past ? w->past->start : NULL});
    for (int i = 0; i < w->m->encoders; i++) {
        const struct layer *l = &w->m->encoder[i];
        struct arena_mark mark = arena_mark(t->arena);
        struct tensor *n = op_rms_norm(t, x, l->norm_attn, w->m->eps), *pattern;
        struct tensor *q = turned(w, n, l->q, w->position);
        w->encoder[i] = (struct kv){turned(w, n, l->k, w->position), op_linear(t, n, l->v, NULL)};
        struct tensor *a = attend(w, q, &w->encoder[i], w->past ? &w->past->encoder[i] : NULL, reach, &pattern);
        run_site(w->run, pattern, "encoder.%d.attn.pattern", i);
        x = op_linear(t, run_site(w->run, a, "encoder.%d.attn.out", i), l->o, x);
        x = run_site(w->run, run_release(w->run, mark, ffn(w, l, x)), "encoder.%d.out", i);
    }
    return run_site(w->run, x, "e");
}

static void remember(struct walk *w)
{
    struct tape *t = w->run->tape;
    if (!w->m->groups) return;
    struct tensor *e = w->run->detach & DETACH_MEMORY ? op_detach(t, w->e) : w->e;
    struct tensor *n = op_rms_norm(t, e, w->m->memory_norm, w->m->eps);
    for (int g = 0; g < w->m->groups; g++) {
        w->memory[g].k = run_site(w->run, turned(w, n, w->m->memory[g].k, w->position), "mem.k.%d", g);
        w->memory[g].v = run_site(w->run, op_linear(t, n, w->m->memory[g].v, NULL), "mem.v.%d", g);
    }
}

/* ------------------------------------------------------------------ one token */

/* One decoder layer at token t. z [n, D] -> [n, D] */
static struct tensor *decoder_layer(struct walk *w, int i, struct tensor *z, const struct places *at, const int *positions, struct reach near,
                                    struct reach far, int t)
{
    struct tape *tape = w->run->tape;
    const struct layer *l = &w->m->decoder[i];
    const struct cache *stored = w->past ? w->past : w->base;
    int g = i % w->m->groups;
    struct tensor *n = op_rms_norm(tape, z, l->norm_attn, w->m->eps), *pattern;
    struct tensor *q = turned(w, n, l->q, positions);
    op_put(tape, w->decoder[i].k, turned(w, n, l->k, positions), at->at);
    op_put(tape, w->decoder[i].v, op_linear(tape, n, l->v, NULL), at->at);
    const struct kv *old = w->past ? &w->past->window[i] : w->base ? &w->base->decoder[i] : &w->decoder[i];
    struct tensor *a = attend(w, q, &w->decoder[i], old, near, &pattern);
    run_site(w->run, pattern, "token.%d.block.%d.self.pattern", t, i);
    z = op_linear(tape, run_site(w->run, a, "token.%d.block.%d.self.out", t, i), l->o, z);
    q = turned(w, op_rms_norm(tape, z, l->norm_cross, w->m->eps), l->cross_q, positions);
    a = attend(w, q, &w->memory[g], stored ? &stored->memory[g] : NULL, far, &pattern);
    run_site(w->run, pattern, "token.%d.block.%d.cross.pattern", t, i);
    z = op_linear(tape, run_site(w->run, a, "token.%d.block.%d.cross.out", t, i), l->cross_o, z);
    return run_site(w->run, ffn(w, l, z), "token.%d.block.%d.out", t, i);
}

/* u [n, D] of token t: the encoding, and what the gate lets through of the state. */
static struct tensor *merge(struct walk *w, const struct places *at, int t)
{
    struct run *run = w->run;
    struct tape *tape = run->tape;
    int *encoded = ints(w, at->count), *feed = ints(w, at->count);
    for (int i = 0; i < at->count; i++) {
        int place = at->at[i], b = run->batch->row[place], back = w->position[place] % w->m->chunk;
        encoded[i] = w->base ? place % run->base->batch->size : place;
        feed[i] = t - back > 0 ? run->batch->rows + place - back - 1 : b;
    }
    struct tensor *s = op_select(tape, w->states, feed, at->count), *e = op_select(tape, w->e, encoded, at->count);
    if (run->detach & DETACH_STATE) s = op_detach(tape, s);
    struct tensor *r = op_rms_norm(tape, s, w->m->merge_norm, w->m->eps);
    struct tensor *open = op_bias(tape, op_linear(tape, op_join(tape, e, r), w->m->w_g, NULL), w->m->b_g);
    struct tensor *gate = run_site(run, op_sigmoid(tape, open), "token.%d.gate", t);
    struct tensor *u = run_site(run, op_gated(tape, e, gate, op_linear(tape, r, w->m->w_s, NULL), w->m->scale), "token.%d.u", t);
    for (int i = 0; w->u && i < at->count; i++) copy_row(w->u, at->at[i], u, i), copy_row(w->gate, at->at[i], gate, i);
    return u;
}

/* The places at position t, in a replay of the changed sequences alone. */
static struct places *places_at(struct walk *w, int t)
{
    const struct batch *batch = w->run->batch;
    int *at = ints(w, batch->rows), n = 0;
    for (int b = 0; b < batch->rows; b++)
        if (batch->start[b + 1] - batch->start[b] > t && (!w->moves || w->moves[b])) at[n++] = batch->start[b] + t;
    return places_new(w->run->tape->arena, batch, n, at);
}

/* The state behind its token becomes a boundary, and a row that later tokens read. */
static void keep_state(struct walk *w, struct tensor *s, int boundary)
{
    int *rows = ints(w, s->rows), first = boundary ? w->run->batch->rows : 0;
    s = run_state(w->run, s, boundary);
    for (int i = 0; i < s->rows; i++) rows[i] = first ? first + s->places->at[i] : w->run->batch->row[s->places->at[i]];
    op_put(w->run->tape, w->states, s, rows);
}

static void step(struct walk *w, int t)
{
    struct tape *tape = w->run->tape;
    struct places *at = places_at(w, t);
    struct arena_mark mark = arena_mark(tape->arena);
    int *positions = ints(w, at->count);
    for (int i = 0; i < at->count; i++) positions[i] = w->position[at->at[i]];
    const int *window_end = w->past ? w->past->window_start : NULL, *end = w->past ? w->past->start : NULL;
    struct reach near = reach_of(w, at, &(struct view){w->m->window, w->run->from, window_end, w->run->detach & DETACH_KEYS});
    struct reach far = reach_of(w, at, &(struct view){0, w->run->batch->longest, end, false});
    struct tensor *z = merge(w, at, t);
    for (int i = 0; i < w->m->decoders; i++) z = decoder_layer(w, i, z, at, positions, near, far, t);
    z = tape_keep(tape, mark, z); /* keys, values and states have rows of their own: the rest may go whatever the run keeps */
    z->places = at;
    keep_state(w, z, t + 1);
}

/* ------------------------------------------------------------------ where a pass starts */

/* s.0: s_star, or what an earlier run ended with. */
static void start_states(struct walk *w)
{
    const struct batch *batch = w->run->batch;
    struct places *first = places_at(w, 0); /* a sequence without new tokens has none */
    int *one = ints(w, batch->rows);
    memset(one, 0, sizeof *one * (size_t)batch->rows);
    struct tensor *s = w->past ? zeros(w, first->count) : op_embed(w->run->tape, w->m->start, one, first->count);
    for (int i = 0; w->past && i < first->count; i++) copy_row(s, i, w->past->last, batch->row[first->at[i]]);
    s->places = first;
    keep_state(w, s, 0);
    for (int b = 0; w->past && b < batch->rows; b++) /* inside a chunk the next token reads an older state */
        if (w->before[b] % w->m->chunk || batch->start[b] == batch->start[b + 1]) copy_row(w->states, b, w->past->feed, b);
}

/* A replay: states before the changed ones are the base's. */
static void start_changed(struct walk *w)
{
    const struct batch *batch = w->run->batch, *old = w->run->base->batch;
    const struct places *changed = w->run->changed->places;
    w->moves = arena_zero(w->run->tape->arena, (size_t)batch->rows + 1);
    for (int i = 0; i < changed->count; i++) w->moves[batch->row[changed->at[i]]] = 1;
    for (int b = 0; b < batch->rows; b++) {
        if (!w->moves[b]) continue;
        copy_row(w->states, b, w->base->states, b % old->rows);
        for (int i = batch->start[b]; i < batch->start[b + 1] && batch->position[i] < w->run->from; i++)
            copy_row(w->states, batch->rows + i, w->base->states, old->rows + i % old->size);
    }
    keep_state(w, w->run->changed, w->run->from);
}

static struct walk begin(struct run *run)
{
    const struct rlt *m = run->model->arch;
    int size = run->batch->size, rows = run->batch->rows, longest = 1;
    struct walk w = {.run = run, .m = m, .past = run->past ? run->past->cache : NULL, .base = run->base ? run->base->cache : NULL};
    assert(!w.past || (!w.base && !run->tape->records));
    assert(!run->base || !run->base->past);
    int *before = ints(&w, rows), *position = ints(&w, size);
    for (int b = 0; b < rows; b++) before[b] = w.past ? w.past->length[b] : 0;
    for (int i = 0; i < size; i++) {
        position[i] = before[run->batch->row[i]] + run->batch->position[i];
        if (position[i] >= longest) longest = position[i] + 1;
    }
    w.before = before, w.position = position;
    run->rope = rope_new(run->tape->arena, longest, m->heads.size, m->rope_theta);
    w.encoder = pairs(&w, m->encoders), w.memory = pairs(&w, m->groups), w.decoder = pairs(&w, m->decoders);
    for (int l = 0; l < m->decoders; l++) w.decoder[l] = (struct kv){zeros(&w, size), zeros(&w, size)};
    for (int g = 0; w.base && g < m->groups; g++) w.memory[g] = (struct kv){zeros(&w, 0), zeros(&w, 0)};
    w.states = zeros(&w, rows + size);
    if (watched(run)) w.u = zeros(&w, size), w.gate = zeros(&w, size);
    return w;
}

/* ------------------------------------------------------------------ what a pass leaves behind */

/* Rows of each sequence behind each other: the old ones, then this run's, cut to the last `most` of a sequence (0: all). */
static struct kv append(struct walk *w, const struct kv *old, const int *old_start, const struct kv *made, const int *start)
{
    const struct batch *batch = w->run->batch;
    struct kv all = {zeros(w, start[batch->rows]), zeros(w, start[batch->rows])};
    for (int b = 0; b < batch->rows; b++)
        for (int row = start[b]; row < start[b + 1]; row++) {
            int back = start[b + 1] - row, fresh = batch->start[b + 1] - batch->start[b]; /* back 1: the last token */
            int from = back <= fresh ? batch->start[b + 1] - back : old_start[b + 1] - (back - fresh);
            copy_row(all.k, row, back <= fresh ? made->k : old->k, from);
            copy_row(all.v, row, back <= fresh ? made->v : old->v, from);
        }
    return all;
}

static struct kv *append_all(struct walk *w, int n, const struct kv *old, const int *old_start, const struct kv *made, const int *start)
{
    struct kv *all = pairs(w, n);
    for (int i = 0; i < n; i++) all[i] = append(w, old ? &old[i] : NULL, old_start, &made[i], start);
    return all;
}

static struct cache *leave(struct walk *w)
{
    const struct batch *batch = w->run->batch;
    const struct cache *past = w->past;
    struct cache *cache = arena_zero(w->run->tape->arena, sizeof *cache);
    int rows = batch->rows, *length = ints(w, rows), *start = ints(w, rows), *window_start = ints(w, rows), most = w->m->window - 1;
    start[0] = window_start[0] = 0;
    *cache = (struct cache){.length = length, .start = start, .window_start = window_start, .last = zeros(w, rows), .feed = zeros(w, rows),
                            .e = w->e, .states = w->states, .decoder = w->decoder};
    for (int b = 0; b < rows; b++) {
        int fresh = batch->start[b + 1] - batch->start[b];
        length[b] = w->before[b] + fresh;
        start[b + 1] = start[b] + length[b];
        window_start[b + 1] = window_start[b] + (length[b] < most ? length[b] : most);
        int last = fresh ? rows + batch->start[b + 1] - 1 : b, back = length[b] % w->m->chunk;
        copy_row(cache->last, b, fresh || !past ? w->states : past->last, fresh || !past ? last : b);
        copy_row(cache->feed, b, w->states, fresh > back ? last - back : b);
    }
    cache->window = append_all(w, w->m->decoders, past ? past->window : NULL, past ? past->window_start : NULL, w->decoder, window_start);
    if (!w->run->keep) return cache; /* only its sites are wanted */
    cache->encoder = append_all(w, w->m->encoders, past ? past->encoder : NULL, past ? past->start : NULL, w->encoder, start);
    cache->memory = append_all(w, w->m->groups, past ? past->memory : NULL, past ? past->start : NULL, w->memory, start);
    return cache;
}

static void collect(struct walk *w)
{
    struct run *run = w->run;
    if (w->base || !(run->keep || watched(run))) return;
    struct cache *cache = leave(w);
    run_site(run, w->u, "u");
    run_site(run, w->gate, "gate");
    for (int i = 0; i < w->m->decoders; i++) {
        run_site(run, cache->window[i].k, "cache.k.%d", i);
        run_site(run, cache->window[i].v, "cache.v.%d", i);
    }
    if (run->keep) run->cache = cache;
}

static struct tensor *decode(struct run *run, struct tensor *s, int boundary)
{
    const struct rlt *m = run->model->arch;
    (void)boundary;
    return op_linear(run->tape, op_rms_norm(run->tape, s, m->norm, m->eps), m->readout, NULL);
}

/* Logits at the wanted places; in a replay where the change reaches. */
static struct tensor *read_out(struct walk *w)
{
    struct run *run = w->run;
    const struct places *wanted = run->wanted ? run->wanted : run->all;
    int *rows = ints(w, wanted->count), *at = ints(w, wanted->count), n = 0;
    for (int i = 0; i < wanted->count; i++) {
        int place = wanted->at[i];
        if (w->moves && (!w->moves[run->batch->row[place]] || run->batch->position[place] + 1 < run->from)) continue;
        rows[n] = run->batch->rows + place, at[n++] = place;
    }
    struct tensor *s = op_select(run->tape, w->states, rows, n);
    s->places = places_new(run->tape->arena, run->batch, n, at);
    return decode(run, s, run_boundaries(run));
}

static struct tensor *forward(struct run *run)
{
    struct walk w = begin(run);
    if (w.base) {
        w.e = w.base->e;
        start_changed(&w);
    } else {
        struct tensor *x = op_embed(run->tape, w.m->table, run->batch->tokens, run->batch->size);
        x->places = run->all;
        w.e = encode(&w, x);
        remember(&w);
        start_states(&w);
    }
    for (int t = run->from; t < run->batch->longest; t++) step(&w, t);
    collect(&w);
    return read_out(&w);
}

const struct family family_rlt = {
    .model_type = "rlt",
    .help = "causal encoder and recurrent decoder: a state from token to token, with gated feedback, window and shared memory",
    .boundary = "token",
    .example = "{\"model_type\":\"rlt\",\"vocab_size\":20,\"hidden_size\":16,\"intermediate_size\":24,\"num_attention_heads\":2,"
               "\"num_encoder_layers\":2,\"num_decoder_layers\":2,\"sliding_window\":3,\"memory_groups\":2,\"feedback_scale\":0.5,"
               "\"tie_encoder_decoder\":false,"
               "\"rms_norm_eps\":1e-6,\"rope_theta\":100.0}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
