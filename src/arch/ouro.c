/* `ouro`: ByteDance's looped language models (Zhu et al. 2025, arXiv 2510.25741; ByteDance/Ouro-1.4B, Ouro-2.6B and their Thinking variants).
 *
 *     h.0 = W[tokens];   h.k = norm(f(h.{k-1}))   for k = 1 ... K, f a stack of blocks shared by all loops
 *     block:   x += norm2(attention(norm(x)));   x += norm2(mlp(norm(x)))              (a norm before and behind each branch)
 *     gate.k = w . h.k + b;   lambda_k = sigmoid(gate.k)
 *     exit_pdf_k = lambda_k prod_{j<k} (1 - lambda_j);   the last loop takes the rest
 *     a position leaves after the first loop whose cumulative exit_pdf reaches the threshold, after the last when none does
 *     logits = decode(h.exit) = H h.exit                                               (the state is normed already)
 *
 * All loops are computed, as the authors do; the exit chooses which state is decoded. With K changed at run time the rule runs over that K.
 * The choice has no gradient, so training moves every weight but the gate's.
 */
#include "models/run.h"

#include <math.h>
#include <string.h>

struct block { const struct weight *norm_attn, *q, *k, *v, *o, *norm_attn_2, *norm_mlp, *gate, *up, *down, *norm_mlp_2; int window; };

struct ouro {
    struct heads heads;
    float eps;
    double rope_theta;
    double exit_threshold; /* NAN: always the last loop */
    int exit_step;         /* counted from 0; negative: by threshold */
    const struct weight *table, *head, *norm, *gate, *gate_bias;
    struct block *blocks;
};

/* ------------------------------------------------------------------ the config */

static void declare_heads(struct config *c, struct ouro *m, int width)
{
    int count = (int)config_int(c, "num_attention_heads", 1, 1 << 12);
    int kv = (int)config_int_quiet(c, "num_key_value_heads", 1, 1 << 12, count);
    int size = (int)config_int_quiet(c, "head_dim", 1, 1 << 16, width / count > 0 ? width / count : 1);
    if (count % kv) config_wrong(c, "num_key_value_heads", "%d key/value heads do not divide %d attention heads", kv, count);
    if (!config_has(c, "head_dim") && width % count)
        config_wrong(c, "num_attention_heads", "%d heads do not divide hidden_size %d: give head_dim", count, width);
    if (size % 2) config_wrong(c, "head_dim", "%d is odd: rotary positions turn pairs", size);
    m->heads = (struct heads){count, kv, size, 0};
    m->rope_theta = config_number_or(c, "rope_theta|rope_parameters.rope_theta", 10000);
    if (!(m->rope_theta > 0)) config_wrong(c, "rope_theta", "must be above 0");
    config_choice_quiet(c, "rope_scaling.rope_type|rope_scaling.type|rope_parameters.rope_type", "default", "default");
}

/* layer_types names each block; without it the blocks from max_window_layers on have a window, where use_sliding_window is set. */
static void declare_windows(struct config *c, struct ouro *m, int blocks)
{
    bool use = config_bool_quiet(c, "use_sliding_window", false);
    int window = (int)config_int_quiet(c, "sliding_window", 1, 1 << 30, 0);
    int whole = (int)config_int_quiet(c, "max_window_layers", 0, 4096, 28);
    const struct json *types = config_json(c, "layer_types"), *type = json_first(types);
    if (types && (!json_is_array(types) || json_count(types) != (size_t)blocks))
        config_wrong(c, "layer_types", "should be a list of num_hidden_layers = %d words, \"full_attention\" or \"sliding_attention\"", blocks);
    for (int i = 0; i < blocks; i++, type = type ? json_next(type) : NULL) {
        const char *word = json_string(type);
        bool slides = word ? !strcmp(word, "sliding_attention") : !types && use && window && i >= whole;
        if (type && (!word || (!slides && strcmp(word, "full_attention"))))
            config_wrong(c, "layer_types", "entry %d should be \"full_attention\" or \"sliding_attention\"", i);
        if (slides && !window) config_wrong(c, "sliding_window", "is missing, but block %d is \"sliding_attention\": give the window's width", i);
        if (slides) m->blocks[i].window = window;
    }
}

static void declare_exit(struct config *c, struct ouro *m)
{
    bool given = config_has(c, "early_exit_threshold");
    m->exit_threshold = given ? config_number(c, "early_exit_threshold") : NAN;
    m->exit_step = (int)config_int_quiet(c, "early_exit_step", -(1 << 20), 1 << 20, -1);
    config_known(c, "chunk_size");
}

static void declare_block(struct builder *b, struct ouro *m, struct block *w, int i, int inner)
{
    int d = b->model->width, q = m->heads.count * m->heads.size, kv = m->heads.kv_count * m->heads.size;
    w->norm_attn = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.input_layernorm.weight", i);
    w->q = build_weight(b, WEIGHT_MATRIX, q, d, "model.layers.%d.self_attn.q_proj.weight", i);
    w->k = build_weight(b, WEIGHT_MATRIX, kv, d, "model.layers.%d.self_attn.k_proj.weight", i);
    w->v = build_weight(b, WEIGHT_MATRIX, kv, d, "model.layers.%d.self_attn.v_proj.weight", i);
    w->o = build_weight(b, WEIGHT_OUTPUT, d, q, "model.layers.%d.self_attn.o_proj.weight", i);
    w->norm_attn_2 = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.input_layernorm_2.weight", i);
    w->norm_mlp = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.post_attention_layernorm.weight", i);
    w->gate = build_weight(b, WEIGHT_MATRIX, inner, d, "model.layers.%d.mlp.gate_proj.weight", i);
    w->up = build_weight(b, WEIGHT_MATRIX, inner, d, "model.layers.%d.mlp.up_proj.weight", i);
    w->down = build_weight(b, WEIGHT_OUTPUT, d, inner, "model.layers.%d.mlp.down_proj.weight", i);
    w->norm_mlp_2 = build_vector(b, WEIGHT_GAIN, d, "model.layers.%d.post_attention_layernorm_2.weight", i);
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct ouro *m = model->arch = build_new(b, sizeof *m);
    model->vocab_size = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->width = (int)config_int(c, "hidden_size", 1, 1 << 24);
    model->blocks = (int)config_int(c, "num_hidden_layers", 1, 4096);
    model->loops = (int)config_int_or(c, "total_ut_steps", 1, 4096, 4);
    int inner = (int)config_int(c, "intermediate_size", 1, 1 << 24);
    m->blocks = build_new(b, sizeof *m->blocks * (size_t)model->blocks);
    declare_heads(c, m, model->width);
    declare_windows(c, m, model->blocks);
    declare_exit(c, m);
    config_choice_quiet(c, "hidden_act", "silu", "silu");
    m->eps = (float)config_number_or(c, "rms_norm_eps", 1e-6);
    if (!(m->eps >= 0)) config_wrong(c, "rms_norm_eps", "must not be negative");
    bool tied = config_bool_or(c, "tie_word_embeddings", false);
    m->table = model->table = build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "model.embed_tokens.weight");
    for (int i = 0; i < model->blocks; i++) declare_block(b, m, &m->blocks[i], i, inner);
    m->norm = build_vector(b, WEIGHT_GAIN, model->width, "model.norm.weight");
    m->gate = build_weight(b, WEIGHT_MATRIX, 1, model->width, "model.early_exit_gate.weight");
    m->gate_bias = build_vector(b, WEIGHT_BIAS, 1, "model.early_exit_gate.bias");
    m->head = tied ? m->table : build_weight(b, WEIGHT_TABLE, model->vocab_size, model->width, "lm_head.weight");
    if (tied) build_other_name(b, m->table, "lm_head.weight");
    build_ignored(b, "*rotary_emb.inv_freq");
    model->exits = true;
    model->interface = "none";
    model->eps = m->eps;
}

/* ------------------------------------------------------------------ forward */

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. */
static struct tensor *block(struct run *run, const struct ouro *m, const struct block *w, struct tensor *x, int k, int i)
{
    struct tape *t = run->tape;
    int L = run->model->blocks, stage = (k - 1) * L + i;
    struct heads heads = m->heads;
    heads.window = w->window;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *n = op_rms_norm(t, x, w->norm_attn, m->eps), *pattern;
    struct tensor *h = run_leave(run, x, stage, k == run->loops && i == L - 1);
    struct tensor *q = run_rope(run, op_linear(t, h == x ? n : op_rms_norm(t, h, w->norm_attn, m->eps), w->q, NULL));
    struct tensor *key = run_rope(run, op_linear(t, n, w->k, NULL)), *value = op_linear(t, n, w->v, NULL);
    struct tensor *a = run_attend(run, q, key, value, x, heads, stage, &pattern);
    run_site(run, pattern, "loop.%d.block.%d.attn.pattern", k, i);
    a = op_linear(t, run_site(run, a, "loop.%d.block.%d.attn.out", k, i), w->o, NULL);
    h = run_site(run, op_mix(t, h, op_rms_norm(t, a, w->norm_attn_2, m->eps), NULL), "loop.%d.block.%d.mid", k, i);
    n = op_rms_norm(t, h, w->norm_mlp, m->eps);
    struct tensor *s = op_swiglu(t, op_linear(t, n, w->gate, NULL), op_linear(t, n, w->up, NULL));
    s = op_linear(t, run_site(run, s, "loop.%d.block.%d.mlp.act", k, i), w->down, NULL);
    h = op_mix(t, h, op_rms_norm(t, s, w->norm_mlp_2, m->eps), NULL);
    return run_site(run, run_release(run, mark, h), "loop.%d.block.%d.out", k, i);
}

static struct tensor *loop(struct run *run, const struct ouro *m, struct tensor *h, int k)
{
    struct arena_mark mark = arena_mark(run->tape->arena);
    for (int i = 0; i < run->model->blocks; i++) h = block(run, m, &m->blocks[i], h, k, i);
    return run_release(run, mark, op_rms_norm(run->tape, h, m->norm, m->eps));
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct ouro *m = run->model->arch;
    (void)k;
    return op_linear(run->tape, h, m->head, NULL);
}

/* ------------------------------------------------------------------ the exit */

/* gate.k for k = 1 ... K -> the distribution over loops [N,K], in f32 like the authors', because thresholds cut it. */
static struct tensor *exit_pdf(struct run *run, const struct ouro *m, struct tensor *const *states)
{
    struct tape *t = run->tape;
    int rows = states[0]->rows, K = run->loops;
    struct tensor *pdf = tape_like(t, states[0], K);
    float *rest = arena_new(t->arena, sizeof *rest * (size_t)rows);
    for (int i = 0; i < rows; i++) rest[i] = 1;
    for (int k = 1; k <= K; k++) {
        struct tensor *gate = op_bias(t, op_linear(t, states[k - 1], m->gate, NULL), m->gate_bias);
        run_site(run, gate, "gate.%d", k);
        for (int i = 0; i < rows; i++) {
            float lambda = 1 / (1 + expf(-gate->data[i]));
            pdf->data[i * K + k - 1] = k < K ? lambda * rest[i] : rest[i];
            rest[i] *= 1 - lambda;
        }
    }
    return run_site(run, pdf, "exit_pdf");
}

/* The first loop whose cumulative probability reaches the threshold, the last when none does (or the threshold is NaN). The sum is rounded to f32
 * after every loop, but not carried so, as torch.cumsum does. */
static int first_reached(const float *pdf, int K, float threshold)
{
    double sum = 0;
    for (int k = 0; k < K; k++) {
        sum += (double)pdf[k];
        if ((float)sum >= threshold) return k;
    }
    return K - 1;
}

/* Counted from 0: the loop whose state each row decodes. */
static const int *exit_steps(struct run *run, const struct ouro *m, const struct tensor *pdf)
{
    int rows = pdf->rows, K = pdf->cols, *step = arena_new(run->tape->arena, sizeof *step * (size_t)(rows + 1));
    bool fixed = m->exit_step >= 0 && m->exit_step < K;
    float threshold = (float)(isnan(run->exit_threshold) ? m->exit_threshold : run->exit_threshold);
    struct tensor *shown = tape_like(run->tape, pdf, 1);
    for (int i = 0; i < rows; i++) {
        step[i] = fixed ? m->exit_step : first_reached(pdf->data + (size_t)i * (size_t)K, K, threshold);
        shown->data[i] = (float)step[i];
    }
    run_site(run, shown, "exit_step");
    return step;
}

/* sum_k exit_pdf_k h.k: its decode is the expected logits, because the head is linear. */
static struct tensor *expected(struct run *run, const struct tensor *pdf, struct tensor *const *states)
{
    struct tensor *h = tape_like(run->tape, pdf, states[0]->cols);
    size_t d = (size_t)h->cols;
    memset(h->data, 0, sizeof(float) * (size_t)h->rows * d);
    for (int k = 0; k < pdf->cols; k++)
        for (int i = 0; i < pdf->rows; i++)
            for (size_t j = 0; j < d; j++) h->data[(size_t)i * d + j] += pdf->data[i * pdf->cols + k] * states[k]->data[(size_t)i * d + j];
    return h;
}

/* h.1 ... h.K -> logits at the places of h.K */
static struct tensor *leave(struct run *run, const struct ouro *m)
{
    int K = run->loops;
    struct tensor *last = run->states[K], **states = arena_new(run->tape->arena, sizeof *states * (size_t)K);
    for (int k = 1; k <= K; k++) states[k - 1] = run_state_at(run, k, last->places);
    struct tensor *pdf = exit_pdf(run, m, states);
    const int *steps = exit_steps(run, m, pdf);
    if (run_listens(run, "logits.last")) run_site(run, decode(run, last, K), "logits.last");
    if (run_listens(run, "logits.expected")) run_site(run, decode(run, expected(run, pdf, states), K), "logits.expected");
    return decode(run, op_choose(run->tape, states, steps, last->rows), K);
}

static struct tensor *forward(struct run *run)
{
    const struct ouro *m = run->model->arch;
    if (!run->base) run->rope = rope_new(run->tape->arena, run->batch->longest, m->heads.size, m->rope_theta);
    struct tensor *h = run->base ? run->changed : op_embed(run->tape, m->table, run->batch->tokens, run->batch->size);
    h = run_state(run, h, run->from);
    for (int k = run->from + 1; k <= run->loops; k++) h = run_state(run, loop(run, m, run_input(run, h, k), k), k);
    return leave(run, m);
}

const struct family family_ouro = {
    .model_type = "ouro",
    .help = "Ouro (ByteDance): shared stack with norms on both sides of each branch, exit gate after every loop",
    .boundary = "loop",
    .example =
        "{\"model_type\":\"ouro\",\"vocab_size\":20,\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":2,\"total_ut_steps\":3,"
        "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":4,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-6,\"rope_theta\":1000.0,"
        "\"tie_word_embeddings\":false,\"early_exit_threshold\":1.0}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
