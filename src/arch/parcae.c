/* `parcae`: Parcae, looped language models with a stable state (sandyresearch/parcae, arXiv 2604.12946).
 *
 *     e = norm(P(W[tokens]))                            prelude (the norm only with prelude_norm)
 *     h.0 ~ start state                                 drawn, given or zero: not a function of the tokens
 *     x.k = h.{k-1} exp(-dt exp(A)) + dt (e B^T)        dt = softplus(b): diagonal injection (or linear: A [h ; e], or add: h + e)
 *     h.k = R(x.k)                                      core block, k = 1 ... K
 *     logits = H norm(Q(C h.K))                         coda Q; decode(h.k) is the same with h.k
 *
 * Attention: v += 2 sigmoid(G n[:32]) U[tokens] by head where a block has both the gate G and the table U; rotary positions, then a norm without
 * weight on every head of q and k. MLP: relu(x)^2 / 2. Shapes: N packed tokens, D width of the state, V padded vocabulary.
 */
#include "models/run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GATE_INPUT = 32 /* columns that the value gate reads */ };

struct block { const struct weight *norm_1, *q, *k, *v, *o, *gate, *values, *norm_2, *fc, *proj; };

/* One kind of block: the core may have sizes of its own. */
struct sizes { int width, inner; struct heads heads; };

enum injection { DIAGONAL, LINEAR, ADD };

struct parcae {
    struct sizes outer, core_sizes;
    float eps, softcap;
    bool rope, qk_norm;
    double rope_base, start_std;
    bool start_cut;
    enum injection injection;
    const struct weight *table, *head, *norm_prelude, *a_log, *dt_bias, *b, *adapter, *c, *norm;
    struct block *prelude, *core, *coda;
};

/* ------------------------------------------------------------------ config */

static struct sizes declare_sizes(struct config *c, struct parcae *m)
{
    int width = (int)config_int(c, "n_embd", 1, 1 << 24), heads = (int)config_int(c, "num_attention_heads", 1, 1 << 16);
    int kv = (int)config_int_quiet(c, "num_key_value_heads", 1, 1 << 16, heads);
    m->outer = (struct sizes){width, (int)config_int(c, "intermediate_size", 1, 1 << 24), {.count = heads, .kv_count = kv, .size = width / heads}};
    if (width % heads) config_wrong(c, "num_attention_heads", "%d heads do not divide n_embd %d", heads, width);
    if (heads % kv) config_wrong(c, "num_key_value_heads", "%d does not divide the %d heads", kv, heads);
    int state = (int)config_int_or(c, "recurrent_embedding_dimension", 1, 1 << 24, width);
    int state_heads = (int)config_int_quiet(c, "recurrent_num_attention_heads", 1, 1 << 16, heads);
    if (state % state_heads)
        config_wrong(c, "recurrent_num_attention_heads", "%d heads do not divide recurrent_embedding_dimension %d", state_heads, state);
    return (struct sizes){state, (int)config_int_or(c, "recurrent_intermediation_embedding_dimension", 1, 1 << 24, m->outer.inner),
                          {.count = state_heads, .kv_count = state_heads, .size = state / state_heads}};
}

static void declare_rope(struct config *c, struct parcae *m)
{
    int size = m->outer.heads.size;
    m->rope = config_bool_quiet(c, "rope_settings.use_rope", true);
    m->rope_base = config_number_or(c, "rope_settings.rope_base", 50000);
    m->qk_norm = config_bool_or(c, "qk_norm", false);
    if (!(m->rope_base > 0)) config_wrong(c, "rope_settings.rope_base", "must be above 0");
    if (config_number_quiet(c, "rope_settings.rope_condense_ratio", 1) != 1) config_wrong(c, "rope_settings.rope_condense_ratio", "only 1 is read");
    if (m->rope && size % 2) config_wrong(c, "num_attention_heads", "n_embd / num_attention_heads = %d is odd: rotary positions turn pairs", size);
    if (m->core_sizes.heads.size != size)
        config_wrong(c, "recurrent_num_attention_heads",
                     "heads of the core have %d dimensions, those around it %d: one table of rotary angles serves both",
                     m->core_sizes.heads.size, size);
}

/* Normal, cut at three deviations of the embedding's for like-init, as the authors draw it. */
static void declare_start(struct builder *b, struct parcae *m)
{
    const char *kind = config_choice_or(b->config, "state_init", "like-init|normal|embed|zero", "like-init");
    if (!strcmp(kind, "like-init")) m->start_std = sqrt(2.0 / (5.0 * m->outer.width)), m->start_cut = true;
    else if (!strcmp(kind, "normal")) m->start_std = 1;
    else if (!strcmp(kind, "embed")) m->start_std = 1 / sqrt(m->outer.width);
    b->model->start = kind;
    b->model->start_drawn = m->start_std > 0;
}

/* What would change the numbers and is not run here has to have its usual value; the rest of the authors' dump is about training. */
static void declare_known(struct config *c)
{
    static const char *const off[] = {"bias", "qk_bias", "debias_attention", "center_attention", "use_abacus"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (config_bool_quiet(c, off[i], false)) config_wrong(c, off[i], "is true: only false is run here");
    if (config_has(c, "clip_qkv")) config_wrong(c, "clip_qkv", "is not null: only null is run here");
    if (config_number_quiet(c, "mup_model_scaling_factor", 1) != 1)
        config_wrong(c, "mup_model_scaling_factor", "only 1 is run here: it scales the logits");
    config_choice_quiet(c, "init_strategy", "scaled-zero", "scaled-zero"); /* others scale the embedding */
    config_choice_quiet(c, "block_class_name", "TransformerPreNormBlock", "TransformerPreNormBlock");
    config_choice_quiet(c, "norm_class_name", "RMSNorm", "RMSNorm");
    config_choice_quiet(c, "mlp_class_name", "BaseMLP", "BaseMLP");
    config_choice_quiet(c, "nonlin_name", "ReLU2", "ReLU2");
    config_choice_quiet(c, "model_class_name", "Parcae", "Parcae");
    config_known(c, "name|hf_config|block_size|padding_multiple|rope_settings|randomize_positions_from|attn_impl|init_orthogonal|skip_initialization|"
                    "use_fused_head|activation_checkpoint_impl|simple_ops|strategy|sampling_scheme|lockstep_n|lockstep_k|curriculum_target|"
                    "recurrent_iteration_method|_is_recurrent_block_config|_class_name|architectures|torch_dtype|dtype|transformers_version|"
                    "_diffusers_version|bos_token_id|eos_token_id|pad_token_id");
}

/* ------------------------------------------------------------------ parameters */

/* Every second block counted back from the last has a value embedding. */
static bool is_odd_one(int block, int count) { return block % 2 == (count + 1) % 2; }

/* `id` numbers the part's first block as the rule for gates does: upstream counts the coda behind all loops, and the tables otherwise. */
static struct block *declare_blocks(struct builder *b, const struct sizes *s, const char *part, int count, int id, int gate_count)
{
    struct block *blocks = build_new(b, sizeof *blocks * (size_t)(count + 1));
    int d = s->width, q = s->heads.count * s->heads.size, kv = s->heads.kv_count * s->heads.size;
    for (int i = 0; i < count; i++) {
        struct block *w = &blocks[i];
        w->norm_1 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_1.weight", part, i);
        w->q = build_weight(b, WEIGHT_MATRIX, q, d, "transformer.%s.%d.attn.c_q.weight", part, i);
        w->k = build_weight(b, WEIGHT_MATRIX, kv, d, "transformer.%s.%d.attn.c_k.weight", part, i);
        w->v = build_weight(b, WEIGHT_MATRIX, kv, d, "transformer.%s.%d.attn.c_v.weight", part, i);
        w->o = build_weight(b, WEIGHT_OUTPUT, d, q, "transformer.%s.%d.attn.c_proj.weight", part, i);
        if (is_odd_one(id + i, gate_count))
            w->gate = build_weight(b, WEIGHT_MATRIX, s->heads.kv_count, GATE_INPUT, "transformer.%s.%d.attn.ve_gate.weight", part, i);
        w->norm_2 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_2.weight", part, i);
        w->fc = build_weight(b, WEIGHT_MATRIX, s->inner, d, "transformer.%s.%d.mlp.fc.weight", part, i);
        w->proj = build_weight(b, WEIGHT_OUTPUT, d, s->inner, "transformer.%s.%d.mlp.proj.weight", part, i);
    }
    return blocks;
}

/* The tables are as wide as the outer keys; a block that has a gate and meets a table of another width cannot run, upstream neither. */
static void declare_values(struct builder *b, struct parcae *m)
{
    const struct model *model = b->model;
    int count = model->prelude + model->blocks + model->coda, width = m->outer.heads.kv_count * m->outer.heads.size;
    for (int i = 0; i < count; i++) {
        int core = i - model->prelude, coda = core - model->blocks;
        struct block *w = coda >= 0 ? &m->coda[coda] : core >= 0 ? &m->core[core] : &m->prelude[i];
        const struct sizes *s = core >= 0 && coda < 0 ? &m->core_sizes : &m->outer;
        if (is_odd_one(i, count)) w->values = build_weight(b, WEIGHT_MATRIX, model->vocab_size, width, "value_embeds.%d.weight", i);
        if (!w->values || !w->gate) continue;
        if (w->v->rows != width)
            config_wrong(b->config, "recurrent_embedding_dimension", "values of the core have %d dimensions, value_embeds.%d has %d: they are added",
                         w->v->rows, i, width);
        if (s->width < GATE_INPUT)
            config_wrong(b->config, "n_embd", "%d is below the %d columns that a value gate reads", s->width, GATE_INPUT);
    }
}

static void declare_injection(struct builder *b, struct parcae *m, const char *kind)
{
    int d = m->core_sizes.width, e = m->outer.width;
    m->injection = !strcmp(kind, "diagonal") ? DIAGONAL : !strcmp(kind, "linear") ? LINEAR : ADD;
    if (m->injection == DIAGONAL) {
        m->a_log = build_vector(b, WEIGHT_BIAS, d, "transformer.adapter.A_log");
        m->dt_bias = build_vector(b, WEIGHT_BIAS, d, "transformer.adapter.dt_bias");
        m->b = build_weight(b, WEIGHT_MATRIX, d, e, "transformer.adapter.B");
    } else if (m->injection == LINEAR) {
        m->adapter = build_weight(b, WEIGHT_MATRIX, d, d + e, "transformer.adapter.adapter.weight");
    } else if (d != e) {
        config_wrong(b->config, "recurrent_embedding_dimension", "must be n_embd %d where injection_type is add: the two are added", e);
    }
    static const char *const words[] = {"injection: x = a h + dt B e", "injection: x = A [h ; e]", "injection: x = h + e"};
    b->model->interface = words[m->injection];
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct parcae *m = model->arch = build_new(b, sizeof *m);
    int words = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->vocab_size = (int)config_int_or(c, "padded_vocab_size", 1, 1 << 28, words);
    if (model->vocab_size < words) config_wrong(c, "padded_vocab_size", "%d is below vocab_size %d", model->vocab_size, words);
    m->core_sizes = declare_sizes(c, m);
    model->width = m->core_sizes.width;
    model->loops = (int)config_int_or(c, "mean_recurrence", 1, 4096, 32);
    int trained = (int)config_int_or(c, "mean_backprop_depth", 1, 4096, 8); /* decides which blocks have value gates */
    model->blocks = (int)config_int_or(c, "n_layers_in_recurrent_block", 1, 4096, 4);
    model->prelude = (int)config_int_or(c, "n_layers_in_prelude", 0, 4096, 1);
    model->coda = (int)config_int_or(c, "n_layers_in_coda", 0, 4096, 1);
    model->eps = m->eps = (float)config_number_or(c, "norm_eps", 1e-5);
    m->softcap = (float)config_number_quiet(c, "logit_softcap", 0);
    if (!(m->eps >= 0)) config_wrong(c, "norm_eps", "must not be negative");
    if (!(m->softcap >= 0)) config_wrong(c, "logit_softcap", "must be above 0, or null");
    bool tied = config_bool_or(c, "tie_embeddings|tie_word_embeddings", false), prelude_norm = config_bool_or(c, "prelude_norm", false);
    const char *injection = config_choice_or(c, "injection_type", "diagonal|linear|add", "diagonal");
    declare_rope(c, m);
    declare_start(b, m);
    declare_known(c);
    int d = m->outer.width, v = model->vocab_size, gates = model->blocks * trained;
    m->table = model->table = build_weight(b, WEIGHT_TABLE, v, d, "transformer.wte.weight");
    m->prelude = declare_blocks(b, &m->outer, "prelude", model->prelude, 0, gates);
    if (prelude_norm) m->norm_prelude = build_vector(b, WEIGHT_GAIN, d, "transformer.ln_prelude.weight");
    declare_injection(b, m, injection);
    m->core = declare_blocks(b, &m->core_sizes, "core_block", model->blocks, model->prelude, gates);
    m->c = build_weight(b, WEIGHT_MATRIX, d, model->width, "transformer.C.weight");
    m->coda = declare_blocks(b, &m->outer, "coda", model->coda, model->prelude + model->blocks * model->loops, gates);
    m->norm = build_vector(b, WEIGHT_GAIN, d, "transformer.ln_f.weight");
    declare_values(b, m);
    m->head = tied ? m->table : build_weight(b, WEIGHT_TABLE, v, d, "lm_head.weight");
    if (tied) build_other_name(b, m->table, "lm_head.weight");
    build_ignored(b, "freqs_cis");
}

/* ------------------------------------------------------------------ forward */

/* Rotary positions, then the norm of every head without a weight; the epsilon is that of float32, not the model's. */
static struct tensor *turned(struct run *run, const struct parcae *m, struct tensor *q, int size)
{
    const struct places *places = q->places;
    int rows = q->rows, cols = q->cols;
    if (m->rope) q = run_rope(run, q);
    if (!m->qk_norm) return q;
    q = op_reshape(run->tape, q, rows * (cols / size), size);
    q = op_reshape(run->tape, op_rms_norm(run->tape, q, NULL, FLT_EPSILON), rows, cols);
    q->places = places;
    return q;
}

static struct tensor *values(struct run *run, const struct block *w, struct tensor *n, struct tensor *x)
{
    struct tape *t = run->tape;
    struct tensor *v = op_linear(t, n, w->v, NULL);
    if (!w->gate || !w->values) return v;
    struct tensor *gate = op_linear(t, op_columns(t, n, 0, GATE_INPUT), w->gate, NULL);
    return op_gate_heads(t, v, gate, op_embed(t, w->values, run_tokens(run, x), x->rows));
}

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. `at` is the block's address. */
static struct tensor *block(struct run *run, const struct parcae *m, const struct sizes *s, const struct block *w, struct tensor *x, const char *at,
                            int stage, bool last)
{
    struct tape *t = run->tape;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *n = op_rms_norm(t, x, w->norm_1, m->eps), *pattern;
    struct tensor *h = run_leave(run, x, stage, last);
    struct tensor *q = turned(run, m, op_linear(t, h == x ? n : op_rms_norm(t, h, w->norm_1, m->eps), w->q, NULL), s->heads.size);
    struct tensor *k = turned(run, m, op_linear(t, n, w->k, NULL), s->heads.size);
    struct tensor *a = run_attend(run, q, k, values(run, w, n, x), x, s->heads, stage, &pattern);
    run_site(run, pattern, "%s.attn.pattern", at);
    h = run_site(run, op_linear(t, run_site(run, a, "%s.attn.out", at), w->o, h), "%s.mid", at);
    struct tensor *r = op_relu2(t, op_linear(t, op_rms_norm(t, h, w->norm_2, m->eps), w->fc, NULL));
    h = op_linear(t, run_site(run, r, "%s.mlp.act", at), w->proj, h);
    return run_site(run, run_release(run, mark, h), "%s.out", at);
}

static struct tensor *prelude(struct run *run, const struct parcae *m)
{
    char at[32];
    struct tensor *e = op_embed(run->tape, m->table, run->batch->tokens, run->batch->size);
    e->places = run->all;
    for (int i = 0; i < run->model->prelude; i++) {
        snprintf(at, sizeof at, "prelude.%d", i);
        e = block(run, m, &m->outer, &m->prelude[i], e, at, i, false);
    }
    return run_site(run, m->norm_prelude ? op_rms_norm(run->tape, e, m->norm_prelude, m->eps) : e, "e");
}

/* h.{k-1}, e -> x.k */
static struct tensor *inject(struct run *run, const struct parcae *m, struct tensor *h, struct tensor *e)
{
    struct tape *t = run->tape;
    if (m->injection == LINEAR) return op_linear(t, op_join(t, h, e), m->adapter, NULL);
    if (m->injection == ADD) return op_mix(t, h, e, NULL);
    return op_decay(t, h, op_linear(t, e, m->b, NULL), m->a_log, m->dt_bias);
}

static struct tensor *loop(struct run *run, const struct parcae *m, struct tensor *x, int k)
{
    char at[48];
    for (int i = 0; i < run->model->blocks; i++) {
        snprintf(at, sizeof at, "loop.%d.block.%d", k, i);
        bool last = k == run->loops && i == run->model->blocks - 1 && !run->model->coda;
        x = block(run, m, &m->core_sizes, &m->core[i], x, at, run->model->prelude + (k - 1) * run->model->blocks + i, last);
    }
    return x;
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct parcae *m = run->model->arch;
    struct tape *t = run->tape;
    char at[32];
    (void)k;
    h = op_linear(t, h, m->c, NULL);
    for (int i = 0; i < run->model->coda; i++) {
        snprintf(at, sizeof at, "coda.%d", i);
        h = block(run, m, &m->outer, &m->coda[i], h, at, run->model->prelude + run->loops * run->model->blocks + i, i == run->model->coda - 1);
    }
    struct tensor *logits = op_linear(t, op_rms_norm(t, h, m->norm, m->eps), m->head, NULL);
    return m->softcap > 0 ? op_softcap(t, logits, m->softcap) : logits;
}

static struct tensor *forward(struct run *run)
{
    const struct parcae *m = run->model->arch;
    if (!run->base) {
        run->rope = rope_new(run->tape->arena, run->batch->longest, m->outer.heads.size, m->rope_base);
        run->rope.pairs = true;
        run->encoded = prelude(run, m);
    }
    struct tensor *h = run->base ? run->changed : run_start(run, run->model->width, m->start_std, m->start_cut, 1);
    h = run_state(run, h, run->from);
    for (int k = run->from + 1; k <= run->loops; k++) {
        struct tensor *e = run_at(run, run->encoded, run->base ? run->base->encoded : NULL, h->places);
        h = run_state(run, loop(run, m, run_input(run, inject(run, m, h, e), k), k), k);
    }
    return decode(run, h, run->loops);
}

const struct family family_parcae = {
    .model_type = "parcae",
    .help = "Parcae: prelude, core block with stable diagonal injection from a drawn start state, value embeddings, coda",
    .boundary = "loop",
    .example = "{\"model_type\":\"parcae\",\"n_embd\":32,\"intermediate_size\":24,\"num_attention_heads\":4,\"num_key_value_heads\":4,"
               "\"vocab_size\":18,\"padded_vocab_size\":20,\"rope_settings\":{\"use_rope\":true,\"rope_condense_ratio\":1,\"rope_base\":100},"
               "\"norm_eps\":1e-5,\"qk_norm\":true,"
               "\"injection_type\":\"diagonal\",\"n_layers_in_recurrent_block\":2,\"n_layers_in_prelude\":1,\"n_layers_in_coda\":1,"
               "\"state_init\":\"like-init\",\"recurrent_embedding_dimension\":32,\"recurrent_intermediation_embedding_dimension\":24,"
               "\"prelude_norm\":true,\"mean_recurrence\":3,\"mean_backprop_depth\":2,\"tie_embeddings\":true}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
