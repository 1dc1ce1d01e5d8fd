/* `looped`: this project's own family, the model of the DiscoLoop paper (arXiv 2607.00341) and its relatives.
 *
 *     h.0 = x.1 = W[tokens];   h.k = f(x.k)   for k = 1 ... K, f a stack of blocks shared by all loops
 *     none         x.{k+1} = h.k
 *     discoloop    x.{k+1} = h.k + alpha rms(Phi(h.k)),   Phi(h) = sum_v p_v W[v],   p = softmax(decode(h) / tau)
 *     ponder       x.{k+1} = Phi(h.k)
 *     ponder_sum   x.{k+1} = x.k + Phi(h.k)               (PonderLM)
 *     residual     as discoloop, but p = softmax(A h / tau) and the rows of B in place of W's: a control of the same cost without tokens
 *     logits = decode(h.K) = H h.K  (norm_each_loop: the state is normed already)  or  H norm(h.K)
 *
 * Shapes: N packed tokens, D width, V vocabulary, F MLP width.
 */
#include "models/run.h"

#include <string.h>

struct block { const struct weight *norm_attn, *q, *k, *v, *o, *norm_mlp, *gate, *up, *down; };

enum interface { NONE, DISCOLOOP, PONDER, PONDER_SUM, RESIDUAL };

struct looped {
    struct heads heads;
    float eps;
    bool rope, norm_each_loop;
    double rope_theta;
    enum interface interface;
    float alpha;
    struct soft soft;
    const struct weight *table, *head, *norm, *gate, *gate_bias;
    const struct weight *mix_in, *mix_out; /* what Phi decodes with and mixes from: head and table, but for residual */
    struct block *blocks;
};

static const char *const interfaces[] = {
    [NONE] = "none", [DISCOLOOP] = "discoloop", [PONDER] = "ponder", [PONDER_SUM] = "ponder_sum", [RESIDUAL] = "residual"};

static void declare_interface(struct builder *b, struct looped *m)
{
    struct config *c = b->config;
    const char *kind = config_choice(c, "loop_interface.kind", "none|discoloop|ponder|ponder_sum|residual");
    for (int i = NONE; i <= RESIDUAL; i++)
        if (!strcmp(kind, interfaces[i])) m->interface = (enum interface)i;
    b->model->interface = kind;
    bool gate = !strcmp(config_choice_quiet(c, "loop_interface.alpha", "fixed|gate", "fixed"), "gate");
    m->alpha = (float)config_number_quiet(c, "loop_interface.alpha_value", 1);
    m->soft = (struct soft){
        .tau = (float)config_number_quiet(c, "loop_interface.tau", 1),
        .top_k = (int)config_int_quiet(c, "loop_interface.top_k", 0, 1 << 24, 0),
        .renormalize = config_bool_quiet(c, "loop_interface.top_k_renormalize", false),
    };
    if (!(m->soft.tau > 0)) config_wrong(c, "loop_interface.tau", "must be above 0");
    m->mix_in = m->head, m->mix_out = m->table;
    if (m->interface == RESIDUAL) {
        m->mix_in = build_weight(b, WEIGHT_TABLE, b->model->vocab_size, b->model->width, "model.loop_interface.in.weight");
        m->mix_out = build_weight(b, WEIGHT_TABLE, b->model->vocab_size, b->model->width, "model.loop_interface.out.weight");
    }
    if (gate && (m->interface == DISCOLOOP || m->interface == RESIDUAL)) {
        m->gate = build_weight(b, WEIGHT_MATRIX, 1, b->model->width, "model.loop_interface.gate.weight");
        m->gate_bias = build_vector(b, WEIGHT_BIAS, 1, "model.loop_interface.gate.bias");
    }
}

static void declare_block(struct builder *b, struct looped *m, struct block *w, int i, int inner)
{
    int d = b->model->width, q = m->heads.count * m->heads.size, kv = m->heads.kv_count * m->heads.size;
    w->norm_attn = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.input_layernorm.weight", i);
    w->q = build_weight(b, WEIGHT_MATRIX, q, d, "model.layers.%d.self_attn.q_proj.weight", i);
    w->k = build_weight(b, WEIGHT_MATRIX, kv, d, "model.layers.%d.self_attn.k_proj.weight", i);
    w->v = build_weight(b, WEIGHT_MATRIX, kv, d, "model.layers.%d.self_attn.v_proj.weight", i);
    w->o = build_weight(b, WEIGHT_OUTPUT, d, q, "model.layers.%d.self_attn.o_proj.weight", i);
    w->norm_mlp = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.post_attention_layernorm.weight", i);
    w->gate = build_weight(b, WEIGHT_MATRIX, inner, d, "model.layers.%d.mlp.gate_proj.weight", i);
    w->up = build_weight(b, WEIGHT_MATRIX, inner, d, "model.layers.%d.mlp.up_proj.weight", i);
    w->down = build_weight(b, WEIGHT_OUTPUT, d, inner, "model.layers.%d.mlp.down_proj.weight", i);
}

static void declare_heads(struct config *c, struct looped *m, int width)
{
    int count = (int)config_int(c, "num_attention_heads|n_head|n_heads", 1, 1 << 12);
    int kv = (int)config_int_quiet(c, "num_key_value_heads|n_kv_heads", 1, 1 << 12, count);
    int size = (int)config_int_quiet(c, "head_dim", 1, 1 << 16, width / count > 0 ? width / count : 1);
    if (count % kv) config_wrong(c, "num_key_value_heads", "%d key/value heads do not divide %d attention heads", kv, count);
    if (!config_has(c, "head_dim") && width % count)
        config_wrong(c, "num_attention_heads", "%d heads do not divide hidden_size %d: give head_dim", count, width);
    m->heads = (struct heads){count, kv, size};
    m->rope = !strcmp(config_choice(c, "position_embedding", "rope|none"), "rope");
    if (m->rope) m->rope_theta = config_number_or(c, "rope_theta|rope_parameters.rope_theta", 10000);
    else config_known(c, "rope_theta|rope_parameters.rope_theta");
    if (m->rope && size % 2) config_wrong(c, "head_dim", "%d is odd: rotary positions turn pairs", size);
    if (m->rope && !(m->rope_theta > 0)) config_wrong(c, "rope_theta", "must be above 0");
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct looped *m = model->arch = build_new(b, sizeof *m);
    model->vocab_size = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->width = (int)config_int(c, "hidden_size|n_embd|d_model", 1, 1 << 24);
    model->blocks = (int)config_int(c, "num_hidden_layers|n_layer|num_layers", 1, 4096);
    model->loops = (int)config_int(c, "num_loops|total_ut_steps|n_loops|num_steps", 1, 4096);
    int inner = (int)config_int(c, "intermediate_size|n_inner", 1, 1 << 24);
    declare_heads(c, m, model->width);
    config_choice_quiet(c, "hidden_act", "silu", "silu");
    m->eps = (float)config_number_or(c, "rms_norm_eps|layer_norm_eps|norm_eps", 1e-6);
    if (!(m->eps >= 0)) config_wrong(c, "rms_norm_eps", "must not be negative");
    m->norm_each_loop = config_bool_or(c, "norm_each_loop", false);
    bool tied = config_bool_or(c, "tie_word_embeddings", true);
    m->table = model->table = build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "model.embed_tokens.weight");
    m->blocks = build_new(b, sizeof *m->blocks * (size_t)model->blocks);
    for (int i = 0; i < model->blocks; i++) declare_block(b, m, &m->blocks[i], i, inner);
    m->norm = build_vector(b, WEIGHT_GAIN, model->width, "model.norm.weight");
    m->head = tied ? m->table : build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "lm_head.weight");
    if (tied) build_other_name(b, m->table, "lm_head.weight");
    declare_interface(b, m);
    model->eps = m->eps;
}

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. */
static struct tensor *block(struct run *run, const struct looped *m, const struct block *w, struct tensor *x, int k, int i)
{
    struct tape *t = run->tape;
    int L = run->model->blocks, stage = (k - 1) * L + i;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *n = op_rms_norm(t, x, w->norm_attn, m->eps), *pattern;
    struct tensor *h = run_leave(run, x, stage, k == run->loops && i == L - 1);
    struct tensor *key = op_linear(t, n, w->k, NULL), *value = op_linear(t, n, w->v, NULL), *q = run_queries(run, x, h, stage);
    if (m->rope) key = run_rope(run, key);
    if (!q) {
        q = op_linear(t, h == x ? n : op_rms_norm(t, h, w->norm_attn, m->eps), w->q, NULL);
        if (m->rope) q = run_rope(run, q);
    }
    struct tensor *a = run_attend(run, q, key, value, x, m->heads, stage, &pattern);
    run_site(run, pattern, "loop.%d.block.%d.attn.pattern", k, i);
    h = op_linear(t, run_site(run, a, "loop.%d.block.%d.attn.out", k, i), w->o, h);
    n = op_rms_norm(t, run_site(run, h, "loop.%d.block.%d.mid", k, i), w->norm_mlp, m->eps);
    struct tensor *s = op_swiglu(t, op_linear(t, n, w->gate, NULL), op_linear(t, n, w->up, NULL));
    h = op_linear(t, run_site(run, s, "loop.%d.block.%d.mlp.act", k, i), w->down, h);
    return run_site(run, run_release(run, mark, h), "loop.%d.block.%d.out", k, i);
}

static struct tensor *loop(struct run *run, const struct looped *m, struct tensor *h, int k)
{
    struct arena_mark mark = arena_mark(run->tape->arena);
    for (int i = 0; i < run->model->blocks; i++) h = block(run, m, &m->blocks[i], h, k, i);
    return run_release(run, mark, m->norm_each_loop ? op_rms_norm(run->tape, h, m->norm, m->eps) : h);
}

/* What the head reads: the state is normed once, in the loop or here. */
static struct tensor *normed(struct run *run, const struct looped *m, struct tensor *h)
{
    return m->norm_each_loop ? h : op_rms_norm(run->tape, h, m->norm, m->eps);
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct looped *m = run->model->arch;
    (void)k;
    return op_linear(run->tape, normed(run, m, h), m->head, NULL);
}

/* h.k -> x.{k+1} */
static struct tensor *interface(struct run *run, const struct looped *m, struct tensor *h, int k)
{
    struct tape *t = run->tape;
    if (m->interface == NONE) return h;
    struct tensor *phi = run_site(run, op_soft_embed(t, normed(run, m, h), m->mix_in, m->mix_out, m->soft), "phi.%d", k);
    if (m->interface == PONDER) return phi;
    if (m->interface == PONDER_SUM) return op_mix(t, run_input_at(run, h, k), phi, NULL);
    struct tensor *alpha = m->gate ? op_gate(t, phi, m->gate, m->gate_bias) : op_constant(t, phi, m->alpha);
    return op_mix(t, h, op_rms_norm(t, phi, NULL, m->eps), run_site(run, alpha, "alpha.%d", k));
}

static struct tensor *forward(struct run *run)
{
    const struct looped *m = run->model->arch;
    if (m->rope && !run->base) run->rope = rope_new(run->tape->arena, run->batch->longest, m->heads.size, m->rope_theta);
    struct tensor *h = run->base ? run->changed : op_embed(run->tape, m->table, run->batch->tokens, run->batch->size);
    h = run_state(run, h, run->from);
    for (int k = run->from + 1; k <= run->loops; k++) {
        struct tensor *x = run_input(run, k == 1 ? h : interface(run, m, h, k - 1), k);
        h = run_state(run, loop(run, m, x, k), k);
    }
    return decode(run, h, run->loops);
}

const struct family family_looped = {
    .model_type = "looped",
    .help = "weight-shared stack with a choice of loop interface (DiscoLoop, PonderLM); this project's own",
    .boundary = "loop",
    .example = "{\"model_type\":\"looped\",\"vocab_size\":20,\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":1,\"num_loops\":3,"
               "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":4,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-6,"
               "\"position_embedding\":\"rope\",\"rope_theta\":100.0,\"tie_word_embeddings\":true,\"norm_each_loop\":true,"
               "\"loop_interface\":{\"kind\":\"discoloop\",\"alpha\":\"gate\",\"tau\":0.9,\"top_k\":0}}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
