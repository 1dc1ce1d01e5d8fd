/* `openmythos`: OpenMythos (github.com/kyegomez/OpenMythos): prelude, one recurrent block with input injection, coda.
 *
 *     h.0 = e = prelude(W[tokens])
 *     x.k = norm(h.{k-1} + index(k) + e)                          index: a sinusoid of k-1 in the first eighth of the channels
 *     b   = block(x.k);   y.k = b + ((b down^T) * scale[k]) B     LoRA; behind the last trained loop its scale stays
 *     h.k = A h.{k-1} + B e + y.k                                 A = exp(-exp(log_dt + log_A)) by channel
 *     act.out = sum_k w_k h.k                                     w from p_k = sigmoid(halt(h.k)): a position ends where sum p reaches the threshold
 *     logits = decode(act.out),   decode(h) = W norm(coda(h))
 *
 * Blocks are pre-norm: grouped or latent attention (keys and values from a common low-rank latent, one rotary key for all heads), then a gated MLP
 * or, in the recurrent block, a mixture of experts. Halted positions go on and weigh 0, so the loops behind the last halting, which the authors skip,
 * change no logits: they are run for the sake of their states. loops_run says where the authors stop.
 *
 * Shapes: N packed tokens, D width, H heads, E head size, R latent ranks, V vocabulary.
 */
#include "models/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct mlp { const struct weight *gate, *up, *down; };

struct moe {
    int count, shared_count, chosen;
    const struct weight *router, *bias;
    struct mlp *experts, *shared;
};

struct block {
    const struct weight *norm_attn, *norm_ffn, *o;
    const struct weight *q, *k, *v;                                                        /* grouped */
    const struct weight *q_down, *q_norm, *q_nope, *q_rope, *kv_down, *kv_norm, *kv_up;    /* latent */
    struct mlp mlp;
    struct moe *moe;                                                                       /* instead of mlp */
};

struct openmythos {
    struct heads heads;
    bool latent, index, act;
    int rope_size, q_rank, kv_rank;
    double rope_theta;
    float threshold;
    const struct weight *table, *norm, *loop_norm, *halt, *halt_bias;
    struct inject inject;
    struct lora lora;           /* down NULL: none */
    struct block *prelude, *coda, loop;
};

static const float eps = 1e-6f; /* of every norm; no key of the config */

/* ------------------------------------------------------------------ parameters */

static void declare_heads(struct config *c, struct openmythos *m, int width)
{
    int count = (int)config_int(c, "n_heads", 1, 1 << 12), size = width / count > 0 ? width / count : 1;
    m->latent = !strcmp(config_choice(c, "attn_type", "gqa|mla"), "mla");
    m->rope_theta = config_number_or(c, "rope_theta", 500000);
    if (!(m->rope_theta > 0)) config_wrong(c, "rope_theta", "must be above 0");
    if (m->latent) {
        config_known(c, "n_kv_heads");
        m->q_rank = (int)config_int(c, "q_lora_rank", 1, 1 << 20);
        m->kv_rank = (int)config_int(c, "kv_lora_rank", 1, 1 << 20);
        m->rope_size = (int)config_int(c, "qk_rope_head_dim", 2, 1 << 16);
        int nope = (int)config_int(c, "qk_nope_head_dim", 1, 1 << 16), value = (int)config_int(c, "v_head_dim", 1, 1 << 16);
        m->heads = (struct heads){.count = count, .kv_count = count, .size = nope + m->rope_size, .value = value};
        if (m->rope_size % 2) config_wrong(c, "qk_rope_head_dim", "%d is odd: rotary positions turn pairs", m->rope_size);
        return;
    }
    config_known(c, "q_lora_rank|kv_lora_rank|qk_rope_head_dim|qk_nope_head_dim|v_head_dim");
    int kv = (int)config_int(c, "n_kv_heads", 1, 1 << 12);
    m->heads = (struct heads){.count = count, .kv_count = kv, .size = size};
    m->rope_size = size;
    if (count > width) config_wrong(c, "n_heads", "%d heads are more than dim %d", count, width);
    else if (size % 2) config_wrong(c, "n_heads", "dim %d over %d heads is %d, which is odd: rotary positions turn pairs", width, count, size);
    if (count % kv) config_wrong(c, "n_kv_heads", "%d key/value heads do not divide %d attention heads", kv, count);
}

static void declare_attention(struct builder *b, const struct openmythos *m, struct block *w, const char *name)
{
    int d = b->model->width, h = m->heads.count, nope = m->heads.size - m->rope_size, value = m->heads.value ? m->heads.value : m->heads.size;
    w->o = build_weight(b, WEIGHT_OUTPUT, d, h * value, "%s.attn.wo.weight", name);
    if (!m->latent) {
        int kv = m->heads.kv_count * m->heads.size;
        w->q = build_weight(b, WEIGHT_MATRIX, h * m->heads.size, d, "%s.attn.wq.weight", name);
        w->k = build_weight(b, WEIGHT_MATRIX, kv, d, "%s.attn.wk.weight", name);
        w->v = build_weight(b, WEIGHT_MATRIX, kv, d, "%s.attn.wv.weight", name);
        return;
    }
    w->q_down = build_weight(b, WEIGHT_MATRIX, m->q_rank, d, "%s.attn.q_down.weight", name);
    w->q_norm = build_vector(b, WEIGHT_GAIN, m->q_rank, "%s.attn.q_norm.weight", name);
    w->q_nope = build_weight(b, WEIGHT_MATRIX, h * nope, m->q_rank, "%s.attn.q_up_nope.weight", name);
    w->q_rope = build_weight(b, WEIGHT_MATRIX, h * m->rope_size, m->q_rank, "%s.attn.q_up_rope.weight", name);
    w->kv_down = build_weight(b, WEIGHT_MATRIX, m->kv_rank + m->rope_size, d, "%s.attn.kv_down.weight", name);
    w->kv_norm = build_vector(b, WEIGHT_GAIN, m->kv_rank, "%s.attn.kv_norm.weight", name);
    w->kv_up = build_weight(b, WEIGHT_MATRIX, h * (nope + value), m->kv_rank, "%s.attn.kv_up.weight", name);
}

static struct mlp declare_mlp(struct builder *b, int inner, const char *name)
{
    int d = b->model->width;
    return (struct mlp){
        .gate = build_weight(b, WEIGHT_MATRIX, inner, d, "%s.gate.weight", name),
        .up = build_weight(b, WEIGHT_MATRIX, inner, d, "%s.up.weight", name),
        .down = build_weight(b, WEIGHT_OUTPUT, d, inner, "%s.down.weight", name),
    };
}

static struct mlp *declare_mlps(struct builder *b, int count, int inner, const char *name)
{
    struct mlp *mlps = build_new(b, sizeof *mlps * (size_t)count);
    char full[96];
    for (int i = 0; i < count; i++) {
        snprintf(full, sizeof full, "%s.%d", name, i);
        mlps[i] = declare_mlp(b, inner, full);
    }
    return mlps;
}

static struct moe *declare_moe(struct builder *b)
{
    struct config *c = b->config;
    struct moe *moe = build_new(b, sizeof *moe);
    moe->count = (int)config_int(c, "n_experts", 1, 1 << 12);
    moe->shared_count = (int)config_int(c, "n_shared_experts", 0, 1 << 12);
    moe->chosen = (int)config_int(c, "n_experts_per_tok", 1, 1 << 12);
    int inner = (int)config_int(c, "expert_dim", 1, 1 << 18);
    if (moe->chosen > moe->count) config_wrong(c, "n_experts_per_tok", "%d are more than n_experts %d", moe->chosen, moe->count);
    moe->router = build_weight(b, WEIGHT_MATRIX, moe->count, b->model->width, "recurrent.block.ffn.router.weight");
    moe->bias = build_vector(b, WEIGHT_BIAS, moe->count, "recurrent.block.ffn.router_bias");
    moe->experts = declare_mlps(b, moe->count, inner, "recurrent.block.ffn.routed_experts");
    moe->shared = declare_mlps(b, moe->shared_count, inner * moe->chosen, "recurrent.block.ffn.shared_experts");
    return moe;
}

static void declare_block(struct builder *b, const struct openmythos *m, struct block *w, bool moe, const char *name)
{
    char ffn[64];
    snprintf(ffn, sizeof ffn, "%s.ffn", name);
    w->norm_attn = build_vector(b, WEIGHT_GAIN, b->model->width, "%s.attn_norm.weight", name);
    declare_attention(b, m, w, name);
    w->norm_ffn = build_vector(b, WEIGHT_GAIN, b->model->width, "%s.ffn_norm.weight", name);
    if (moe) w->moe = declare_moe(b);
    else w->mlp = declare_mlp(b, (int)((long)b->model->width * 4 / 3), ffn);
}

static struct block *declare_blocks(struct builder *b, const struct openmythos *m, int count, const char *name)
{
    struct block *blocks = build_new(b, sizeof *blocks * (size_t)count);
    char full[32];
    for (int i = 0; i < count; i++) {
        snprintf(full, sizeof full, "%s.%d", name, i);
        declare_block(b, m, &blocks[i], false, full);
    }
    return blocks;
}

static void declare_loop(struct builder *b, struct openmythos *m)
{
    struct config *c = b->config;
    int d = b->model->width;
    bool lora = config_bool_quiet(c, "use_lora", true), moe = config_bool_quiet(c, "use_moe", true);
    m->index = config_bool_quiet(c, "use_loop_index_embedding", true);
    b->model->blends = m->act = config_bool_quiet(c, "use_act", true);
    if (!moe) config_known(c, "n_experts|n_shared_experts|n_experts_per_tok|expert_dim");
    declare_block(b, m, &m->loop, moe, "recurrent.block");
    m->loop_norm = build_vector(b, WEIGHT_GAIN, d, "recurrent.norm.weight");
    m->inject.log_a = build_vector(b, WEIGHT_BIAS, d, "recurrent.injection.log_A");
    m->inject.log_dt = build_vector(b, WEIGHT_BIAS, 1, "recurrent.injection.log_dt");
    m->inject.b = build_vector(b, WEIGHT_GAIN, d, "recurrent.injection.B");
    if (lora) {
        int rank = (int)config_int(c, "lora_rank", 1, 1 << 16);
        m->lora.down = build_weight(b, WEIGHT_MATRIX, rank, d, "recurrent.lora.down.weight");
        m->lora.scale = build_weight(b, WEIGHT_MATRIX, b->model->loops, rank, "recurrent.lora.scale.weight");
        m->lora.up = build_weight(b, WEIGHT_MATRIX, rank, d, "recurrent.lora.B");
    } else {
        config_known(c, "lora_rank");
    }
    if (m->act) {
        m->threshold = (float)config_number_or(c, "act_threshold", 0.99);
        if (!(m->threshold > 0)) config_wrong(c, "act_threshold", "must be above 0: the sum of halting probabilities at which a position halts");
        m->halt = build_weight(b, WEIGHT_MATRIX, 1, d, "recurrent.act.halt.weight");
        m->halt_bias = build_vector(b, WEIGHT_BIAS, 1, "recurrent.act.halt.bias");
    } else {
        config_known(c, "act_threshold");
    }
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct openmythos *m = model->arch = build_new(b, sizeof *m);
    model->vocab_size = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->width = (int)config_int(c, "dim", 1, 1 << 20);
    model->loops = (int)config_int(c, "max_loop_iters", 1, 4096);
    model->prelude = (int)config_int(c, "prelude_layers", 0, 1024);
    model->coda = (int)config_int(c, "coda_layers", 0, 1024);
    model->blocks = 1;
    model->interface = "injection";
    model->eps = eps;
    declare_heads(c, m, model->width);
    config_known(c, "max_seq_len|max_output_tokens|dropout"); /* of tables and of training */
    m->table = model->table = build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "embed.weight");
    build_other_name(b, m->table, "head.weight");
    m->prelude = declare_blocks(b, m, model->prelude, "prelude");
    declare_loop(b, m);
    m->coda = declare_blocks(b, m, model->coda, "coda");
    m->norm = build_vector(b, WEIGHT_GAIN, model->width, "norm.weight");
    build_ignored(b, "freqs_cis*");
}

/* ------------------------------------------------------------------ a block */

/* Where a block stands. */
struct stand {
    char name[48];          /* in sites */
    int stage;              /* its number in the whole pass */
    bool last;              /* only wanted rows leave it */
    struct tensor *experts; /* where its choice of experts is left, or NULL */
};

struct heads3 { struct tensor *q, *k, *v; };

static struct heads3 grouped(struct run *run, const struct block *w, struct tensor *leaving, struct tensor *n)
{
    struct tape *t = run->tape;
    return (struct heads3){run_rope(run, op_linear(t, leaving, w->q, NULL)), run_rope(run, op_linear(t, n, w->k, NULL)), op_linear(t, n, w->v, NULL)};
}

static struct heads3 latent(struct run *run, const struct openmythos *m, const struct block *w, struct tensor *leaving, struct tensor *n)
{
    struct tape *t = run->tape;
    int count = m->heads.count, turning = m->rope_size, still = m->heads.size - turning;
    struct tensor *c = op_rms_norm(t, op_linear(t, leaving, w->q_down, NULL), w->q_norm, eps);                     /* [N', R_q] */
    struct tensor *q = op_join_heads(t, op_linear(t, c, w->q_nope, NULL), run_rope(run, op_linear(t, c, w->q_rope, NULL)), count, turning);
    struct tensor *raw = op_linear(t, n, w->kv_down, NULL);                                                        /* [N, R_kv + E_rope] */
    struct tensor *key = run_rope(run, op_cut_heads(t, raw, 1, m->kv_rank, turning));                              /* one for all heads */
    c = op_rms_norm(t, op_cut_heads(t, raw, 1, 0, m->kv_rank), w->kv_norm, eps);
    struct tensor *kv = op_linear(t, c, w->kv_up, NULL);                                                           /* [N, H (E_nope + E_v)] */
    struct tensor *k = op_join_heads(t, op_cut_heads(t, kv, count, 0, still), key, count, turning);
    return (struct heads3){q, k, op_cut_heads(t, kv, count, still, m->heads.value)};
}

static struct tensor *gated(struct tape *t, const struct mlp *w, struct tensor *n)
{
    return op_swiglu(t, op_linear(t, n, w->gate, NULL), op_linear(t, n, w->up, NULL));
}

/* The rows that one expert is chosen for; part->y stays NULL when there are none. */
static void run_expert(struct tape *t, const struct moe *moe, int expert, struct tensor *n, const int *chosen, struct part *part)
{
    int count = 0, *rows, *gates;
    for (int i = 0; i < n->rows * moe->chosen; i++) count += chosen[i] == expert;
    if (!count) return;
    rows = arena_new(t->arena, sizeof *rows * (size_t)count), gates = arena_new(t->arena, sizeof *gates * (size_t)count), count = 0;
    for (int i = 0; i < n->rows * moe->chosen; i++)
        if (chosen[i] == expert) rows[count] = i / moe->chosen, gates[count++] = i;
    const struct mlp *w = &moe->experts[expert];
    *part = (struct part){op_linear(t, gated(t, w, op_select(t, n, rows, count)), w->down, NULL), rows, gates};
}

/* h + what the chosen experts say about n, by their gates, + the shared experts. */
static struct tensor *mixture(struct run *run, const struct moe *moe, struct tensor *n, struct tensor *h, struct stand *at)
{
    struct tape *t = run->tape;
    const int *chosen;
    struct tensor *logits = run_site(run, op_linear(t, n, moe->router, NULL), "%s.moe.router", at->name);
    struct tensor *gates = run_site(run, op_route(t, logits, moe->bias, moe->chosen, &chosen), "%s.moe.gate", at->name);
    struct part *parts = arena_zero(t->arena, sizeof *parts * (size_t)moe->count);
    int used = 0;
    if (at->experts) {
        at->experts->rows = n->rows, at->experts->places = n->places;
        for (int i = 0; i < n->rows * moe->chosen; i++) at->experts->data[i] = (float)chosen[i];
        run_site(run, at->experts, "%s.moe.expert", at->name);
    }
    for (int e = 0; e < moe->count; e++) {
        run_expert(t, moe, e, n, chosen, &parts[used]);
        used += parts[used].y != NULL;
    }
    h = op_combine(t, h, gates, parts, used);
    for (int s = 0; s < moe->shared_count; s++) h = op_linear(t, gated(t, &moe->shared[s], n), moe->shared[s].down, h);
    return h;
}

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. */
static struct tensor *block(struct run *run, const struct openmythos *m, const struct block *w, struct tensor *x, struct stand *at)
{
    struct tape *t = run->tape;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *n = op_rms_norm(t, x, w->norm_attn, eps), *h = run_leave(run, x, at->stage, at->last), *pattern;
    struct tensor *leaving = h == x ? n : op_rms_norm(t, h, w->norm_attn, eps);
    struct heads3 p = m->latent ? latent(run, m, w, leaving, n) : grouped(run, w, leaving, n);
    struct tensor *a = run_attend(run, p.q, p.k, p.v, x, m->heads, at->stage, &pattern);
    run_site(run, pattern, "%s.attn.pattern", at->name);
    h = run_site(run, op_linear(t, run_site(run, a, "%s.attn.out", at->name), w->o, h), "%s.mid", at->name);
    n = op_rms_norm(t, h, w->norm_ffn, eps);
    if (w->moe) h = mixture(run, w->moe, n, h, at);
    else h = op_linear(t, run_site(run, gated(t, &w->mlp, n), "%s.mlp.act", at->name), w->mlp.down, h);
    return run_site(run, run_release(run, mark, h), "%s.out", at->name);
}

/* ------------------------------------------------------------------ the loop */

/* sin(t f_j), then cos(t f_j), in the first D/8 channels; f_j falls from 1 towards 1/10000. t counts on behind the last trained loop. */
static const float *index_row(struct arena *arena, int d, int t)
{
    int size = d / 8, half = (size + 1) / 2;
    float *row = arena_zero(arena, sizeof *row * (size_t)d);
    for (int j = 0; j < size; j++) {
        double angle = t * pow(10000, -2.0 * (j < half ? j : j - half) / size);
        row[j] = (float)(j < half ? sin(angle) : cos(angle));
    }
    return row;
}

static struct tensor *encoded(struct run *run, const struct places *places)
{
    return run->base ? run_at(run, NULL, run->base->encoded, places) : run_at(run, run->encoded, NULL, places);
}

/* h.{k-1} -> h.k */
static struct tensor *loop(struct run *run, const struct openmythos *m, struct tensor *h, int k, struct tensor *experts)
{
    struct tape *t = run->tape;
    struct arena_mark mark = arena_mark(t->arena);
    struct stand at = {.stage = run->model->prelude + k - 1, .last = k == run->loops && !run->model->coda, .experts = experts};
    snprintf(at.name, sizeof at.name, "loop.%d.block.0", k);
    struct tensor *x = m->index ? op_shift(t, h, index_row(t->arena, h->cols, k - 1)) : h;
    x = op_rms_norm(t, op_mix(t, x, encoded(run, h->places), NULL), m->loop_norm, eps);
    struct tensor *y = block(run, m, &m->loop, run_site(run, x, "x.%d", k), &at);
    int trained = run->model->loops;
    if (m->lora.down) y = op_lora(t, y, &m->lora, (k < trained ? k : trained) - 1);
    y = run_site(run, y, "y.%d", k);
    h = run_at(run, h, run->base ? run->base->states[k - 1] : NULL, y->places);
    return run_release(run, mark, op_inject(t, h, encoded(run, y->places), y, &m->inject));
}

/* How many loops the authors' code runs: it stops when every position of the batch has halted. */
static int loops_run(const struct tensor *halted, int loops)
{
    int most = 0;
    for (int i = 0; i < halted->rows; i++) {
        if (halted->data[i] == 0) return loops;
        if (halted->data[i] > (float)most) most = (int)halted->data[i];
    }
    return most;
}

static void show_end(struct run *run, int loops, struct tensor *const *experts)
{
    struct tensor *count = tape_tensor(run->tape, 1, 1);
    count->data[0] = (float)loops;
    run_site(run, count, "loops_run");
    run_site(run, experts[loops], "moe.expert.last");
}

/* What the coda reads: all h.k, weighed by how each position halts. experts[k]: choices of loop k, or NULL. */
static struct tensor *halting(struct run *run, const struct openmythos *m, const struct places *places, struct tensor *const *experts)
{
    struct tape *t = run->tape;
    size_t K = (size_t)run->loops;
    struct tensor **h = arena_new(t->arena, sizeof *h * K), **p = arena_new(t->arena, sizeof *p * K), **w = arena_new(t->arena, sizeof *w * K);
    for (size_t k = 0; k < K; k++) {
        h[k] = run_state_at(run, (int)k + 1, places);
        p[k] = run_site(run, op_gate(t, h[k], m->halt, m->halt_bias), "act.p.%d", (int)k + 1);
    }
    struct tensor *halted = op_halt(t, p, run->loops, m->threshold, w);
    for (size_t k = 0; k < K; k++) run_site(run, w[k], "act.w.%d", (int)k + 1);
    run_site(run, halted, "act.halt_loop");
    show_end(run, loops_run(halted, run->loops), experts);
    return run_site(run, op_weigh(t, h, w, run->loops), "act.out");
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct openmythos *m = run->model->arch;
    struct stand at = {.stage = run->model->prelude + run->loops};
    (void)k;
    for (int i = 0; i < run->model->coda; i++, at.stage++) {
        at.last = i == run->model->coda - 1;
        snprintf(at.name, sizeof at.name, "coda.%d", i);
        h = block(run, m, &m->coda[i], h, &at);
    }
    return op_linear(run->tape, op_rms_norm(run->tape, h, m->norm, eps), m->table, NULL);
}

/* The state starts at e, but is not e: an edit at h.0 leaves what is injected alone. */
static struct tensor *start(struct run *run, const struct openmythos *m)
{
    struct tape *t = run->tape;
    struct stand at = {.stage = 0};
    run->rope = rope_new(t->arena, run->batch->longest, m->rope_size, m->rope_theta);
    run->rope.pairs = true;
    struct tensor *e = op_embed(t, m->table, run->batch->tokens, run->batch->size);
    e->places = run->all;
    for (; at.stage < run->model->prelude; at.stage++) {
        snprintf(at.name, sizeof at.name, "prelude.%d", at.stage);
        e = block(run, m, &m->prelude[at.stage], e, &at);
    }
    run->encoded = run_site(run, e, "e");
    struct tensor *h = op_select(t, e, run->all->at, e->rows);
    h->places = run->all;
    return h;
}

static struct tensor *forward(struct run *run)
{
    const struct openmythos *m = run->model->arch;
    struct tensor **experts = arena_zero(run->tape->arena, sizeof *experts * (size_t)(run->loops + 1));
    struct tensor *h = run_state(run, run->base ? run->changed : start(run, m), run->from);
    for (int k = run->from + 1; k <= run->loops; k++) {
        if (m->loop.moe && (run->handler_count || run->visit)) experts[k] = tape_tensor(run->tape, run->batch->size, m->loop.moe->chosen);
        h = run_state(run, loop(run, m, h, k, experts[k]), k);
    }
    if (m->act) h = halting(run, m, h->places, experts);
    else show_end(run, run->loops, experts);
    return decode(run, h, run->loops);
}

const struct family family_openmythos = {
    .model_type = "openmythos",
    .help = "prelude, one recurrent block with input injection, LoRA by loop, halting and experts, coda",
    .boundary = "loop",
    .example = "{\"model_type\":\"openmythos\",\"vocab_size\":20,\"dim\":16,\"n_heads\":4,\"n_kv_heads\":2,\"max_seq_len\":16,\"max_loop_iters\":3,"
               "\"prelude_layers\":1,\"coda_layers\":1,\"attn_type\":\"gqa\",\"n_experts\":4,\"n_shared_experts\":1,\"n_experts_per_tok\":2,"
               "\"expert_dim\":6,\"act_threshold\":0.9,\"rope_theta\":10000.0,\"lora_rank\":2}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
