/* `huginn_raven`: Huginn, "Scaling up Test-Time Compute with Latent Reasoning" (Geiping et al. 2025, arXiv 2502.05171).
 *
 *     e = P(s W[tokens])                      prelude; s = embed_scale
 *     h.0 ~ start state                       drawn, given or zero: not a function of the tokens
 *     x.k = A [h.{k-1} ; e],  h.k = R(x.k)    core block, k = 1 ... K
 *     logits = H norm(C(norm(h.K)))           coda; the same norm twice. decode(h.k) is the same with h.k: the "coda lens"
 *     loglens.k = H norm(h.k)
 *
 * A block norms the sum: x = norm_2(attn(norm_1(x)) + x), x = norm_4(mlp(norm_3(x)) + x).
 * Shapes: N packed tokens, D width, V vocabulary.
 */
#include "models/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct block { const struct weight *norm_1, *qkv, *qk_bias, *o, *norm_2, *norm_3, *fc, *proj, *norm_4; };

struct huginn {
    struct heads heads;
    int inner;
    float eps, embed_scale;
    double rope_base, start_std, start_scale;
    bool start_cut;
    const struct weight *table, *head, *adapter, *adapter_bias, *norm;
    struct block *prelude, *core, *coda;
};

static struct block *declare_blocks(struct builder *b, const struct huginn *m, const char *part, int count, bool qk_bias)
{
    struct block *blocks = build_new(b, sizeof *blocks * (size_t)(count + 1));
    int d = b->model->width, q = m->heads.count * m->heads.size, kv = m->heads.kv_count * m->heads.size;
    for (int i = 0; i < count; i++) {
        struct block *w = &blocks[i];
        w->norm_1 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_1.weight", part, i);
        w->qkv = build_weight(b, WEIGHT_MATRIX, q + 2 * kv, d, "transformer.%s.%d.attn.Wqkv.weight", part, i);
        if (qk_bias) {
            w->qk_bias = build_weight(b, WEIGHT_BIAS, 2, q, "transformer.%s.%d.attn.qk_bias", part, i);
            build_shape(b, w->qk_bias, 4, (int[]){2, 1, m->heads.count, m->heads.size});
        }
        w->o = build_weight(b, WEIGHT_OUTPUT, d, q, "transformer.%s.%d.attn.proj.weight", part, i);
        w->norm_2 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_2.weight", part, i);
        w->norm_3 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_3.weight", part, i);
        w->fc = build_weight(b, WEIGHT_MATRIX, 2 * m->inner, d, "transformer.%s.%d.mlp.fc.weight", part, i);
        w->proj = build_weight(b, WEIGHT_OUTPUT, d, m->inner, "transformer.%s.%d.mlp.proj.weight", part, i);
        w->norm_4 = build_vector(b, WEIGHT_GAIN, d, "transformer.%s.%d.norm_4.weight", part, i);
    }
    return blocks;
}

static bool declare_heads(struct config *c, struct huginn *m, int width)
{
    int count = (int)config_int(c, "num_attention_heads|n_heads", 1, 1 << 16);
    int kv = (int)config_int_quiet(c, "num_key_value_heads", 1, 1 << 16, count);
    int size = width / count;
    bool qk_bias = config_bool_or(c, "qk_bias", true);
    if (width % count) config_wrong(c, "n_heads", "%d heads do not divide n_embd %d", count, width);
    else if (config_int_quiet(c, "head_dim", 1, 1 << 16, size) != size)
        config_wrong(c, "head_dim", "must be n_embd / n_heads = %d, as the family has it", size);
    if (size % 2) config_wrong(c, "n_heads", "n_embd / n_heads = %d is odd: rotary positions turn pairs", size);
    if (count % kv) config_wrong(c, "num_key_value_heads", "%d does not divide the %d heads", kv, count);
    if (qk_bias && kv != count) config_wrong(c, "num_key_value_heads", "must be n_heads = %d where qk_bias is true: one bias serves q and k", count);
    m->heads = (struct heads){.count = count, .kv_count = kv, .size = size};
    m->rope_base = config_number_or(c, "rope_base|rope_theta|rope_parameters.rope_theta", 50000);
    if (!(m->rope_base > 0)) config_wrong(c, "rope_base", "must be above 0");
    return qk_bias;
}

/* The authors draw from a normal cut at three deviations and scale it like the embedding; a deviation of 0 is the zero state. */
static void declare_start(struct builder *b, struct huginn *m)
{
    struct config *c = b->config;
    const char *kind = config_choice_or(c, "state_init", "like-init|normal|embed|zero", "like-init");
    double usual = sqrt(2.0 / (5.0 * b->model->width)), std = config_number_quiet(c, "init_values.std", usual);
    m->embed_scale = (float)config_number_quiet(c, "init_values.embed_scale", sqrt(b->model->width));
    m->start_scale = 1;
    if (!strcmp(kind, "like-init")) m->start_std = std, m->start_scale = m->embed_scale, m->start_cut = true;
    else if (!strcmp(kind, "normal")) m->start_std = 1;
    else if (!strcmp(kind, "embed")) m->start_std = 1 / sqrt(b->model->width);
    if (!(std >= 0)) config_wrong(c, "init_values.std", "must not be negative");
    b->model->start_drawn = m->start_std > 0;
    b->model->start = b->model->start_drawn ? kind : "zero";
}

static void declare_known(struct config *c)
{
    config_choice_quiet(c, "injection_type", "linear", "linear");
    config_choice_quiet(c, "block_class_name", "SandwichBlock", "SandwichBlock");
    config_choice_quiet(c, "norm_class_name", "RMSNorm_llama|RMSNorm", "RMSNorm_llama");
    config_choice_quiet(c, "mlp_class_name", "GatedMLP", "GatedMLP");
    config_choice_quiet(c, "nonlin_name", "SiLU", "SiLU");
    if (config_number_quiet(c, "test_time_noise", 0) != 0)
        config_wrong(c, "test_time_noise", "noise in every loop is not run here: 0 is wanted");
    config_known(c, "architectures|auto_map|architecture_class_name|n_layers|block_size|padding_multiple|init_strategy|init_orthogonal|"
                    "sampling_scheme|mean_backprop_depth|activation_checkpoint_impl|torch_dtype|dtype|transformers_version|test_time_noise_type|"
                    "effective_expected_depth|init_values|use_cache|bos_token_id|eos_token_id|pad_token_id|_name_or_path");
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct huginn *m = model->arch = build_new(b, sizeof *m);
    int words = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->vocab_size = (int)config_int_quiet(c, "padded_vocab_size", 1, 1 << 28, words);
    if (model->vocab_size < words) config_wrong(c, "padded_vocab_size", "%d is below vocab_size %d", model->vocab_size, words);
    model->width = (int)config_int(c, "n_embd|hidden_size", 1, 1 << 24);
    model->loops = (int)config_int_or(c, "mean_recurrence", 1, 4096, 32);
    model->blocks = (int)config_int_or(c, "n_layers_in_recurrent_block", 1, 4096, 4);
    model->prelude = (int)config_int_or(c, "n_layers_in_prelude", 0, 4096, 2);
    model->coda = (int)config_int_or(c, "n_layers_in_coda", 0, 4096, 2);
    m->inner = (int)config_int(c, "intermediate_size", 1, 1 << 24);
    model->eps = m->eps = (float)config_number_or(c, "norm_eps", 1e-6);
    if (!(m->eps >= 0)) config_wrong(c, "norm_eps", "must not be negative");
    bool tied = config_bool_or(c, "tie_embeddings|tie_word_embeddings", true), bias = config_bool_or(c, "bias", false);
    bool qk_bias = declare_heads(c, m, model->width);
    declare_start(b, m);
    declare_known(c);
    int d = model->width, v = model->vocab_size;
    m->table = model->table = build_weight(b, WEIGHT_TABLE, v, d, "transformer.wte.weight");
    m->prelude = declare_blocks(b, m, "prelude", model->prelude, qk_bias);
    m->adapter = build_weight(b, WEIGHT_MATRIX, d, 2 * d, "transformer.adapter.weight");
    if (bias) m->adapter_bias = build_vector(b, WEIGHT_BIAS, d, "transformer.adapter.bias");
    m->core = declare_blocks(b, m, "core_block", model->blocks, qk_bias);
    m->coda = declare_blocks(b, m, "coda", model->coda, qk_bias);
    m->norm = build_vector(b, WEIGHT_GAIN, d, "transformer.ln_f.weight");
    m->head = tied ? m->table : build_weight(b, WEIGHT_TABLE, v, d, "lm_head.weight");
    if (tied) build_other_name(b, m->table, "lm_head.weight");
    build_ignored(b, "freqs_cis");
    model->interface = "injection: x = A [h ; e]";
}

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. `at` is the block's address. */
static struct tensor *block(struct run *run, const struct huginn *m, const struct block *w, struct tensor *x, const char *at, int stage, bool last)
{
    struct tape *t = run->tape;
    int q_size = m->heads.count * m->heads.size, kv_size = m->heads.kv_count * m->heads.size;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *n = op_rms_norm(t, x, w->norm_1, m->eps), *pattern;
    struct tensor *h = run_leave(run, x, stage, last);
    struct tensor *q = op_linear(t, h == x ? n : op_rms_norm(t, h, w->norm_1, m->eps), weight_rows(t, w->qkv, 0, q_size), NULL);
    struct tensor *key = op_linear(t, n, weight_rows(t, w->qkv, q_size, kv_size), NULL);
    struct tensor *value = op_linear(t, n, weight_rows(t, w->qkv, q_size + kv_size, kv_size), NULL);
    if (w->qk_bias) q = op_bias(t, q, weight_rows(t, w->qk_bias, 0, 1)), key = op_bias(t, key, weight_rows(t, w->qk_bias, 1, 1));
    struct tensor *a = run_attend(run, run_rope(run, q), run_rope(run, key), value, x, m->heads, stage, &pattern);
    run_site(run, pattern, "%s.attn.pattern", at);
    h = op_linear(t, run_site(run, a, "%s.attn.out", at), w->o, h);
    h = run_site(run, op_rms_norm(t, h, w->norm_2, m->eps), "%s.mid", at);
    n = op_rms_norm(t, h, w->norm_3, m->eps);
    struct tensor *gate = op_linear(t, n, weight_rows(t, w->fc, 0, m->inner), NULL);
    struct tensor *up = op_linear(t, n, weight_rows(t, w->fc, m->inner, m->inner), NULL);
    struct tensor *s = op_swiglu(t, gate, up);
    h = op_linear(t, run_site(run, s, "%s.mlp.act", at), w->proj, h);
    h = op_rms_norm(t, h, w->norm_4, m->eps);
    return run_site(run, run_release(run, mark, h), "%s.out", at);
}

static struct tensor *prelude(struct run *run, const struct huginn *m)
{
    char at[32];
    struct tensor *e = op_scale(run->tape, op_embed(run->tape, m->table, run->batch->tokens, run->batch->size), m->embed_scale);
    e->places = run->all;
    for (int i = 0; i < run->model->prelude; i++) {
        snprintf(at, sizeof at, "prelude.%d", i);
        e = block(run, m, &m->prelude[i], e, at, i, false);
    }
    return run_site(run, e, "e");
}

static struct tensor *loop(struct run *run, const struct huginn *m, struct tensor *x, int k)
{
    char at[48];
    for (int i = 0; i < run->model->blocks; i++) {
        snprintf(at, sizeof at, "loop.%d.block.%d", k, i);
        bool last = k == run->loops && i == run->model->blocks - 1 && !run->model->coda;
        x = block(run, m, &m->core[i], x, at, run->model->prelude + (k - 1) * run->model->blocks + i, last);
    }
    return x;
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct huginn *m = run->model->arch;
    char at[32];
    (void)k;
    h = op_rms_norm(run->tape, h, m->norm, m->eps);
    for (int i = 0; i < run->model->coda; i++) {
        snprintf(at, sizeof at, "coda.%d", i);
        h = block(run, m, &m->coda[i], h, at, run->model->prelude + run->loops * run->model->blocks + i, i == run->model->coda - 1);
    }
    return op_linear(run->tape, op_rms_norm(run->tape, h, m->norm, m->eps), m->head, NULL);
}

/* Values that nothing else needs: made for those who look. */
static void show_state(struct run *run, const struct huginn *m, struct tensor *h, int k)
{
    struct arena_mark mark = arena_mark(run->tape->arena);
    bool last = k == run->loops && run_listens(run, "latent_states"), lens = run_listens(run, "loglens.%d", k);
    if (run->tape->records || (!last && !lens)) return;
    struct tensor *n = op_rms_norm(run->tape, h, m->norm, m->eps);
    if (last) run_site(run, n, "latent_states");
    if (lens) run_site(run, op_linear(run->tape, n, m->head, NULL), "loglens.%d", k);
    (void)mark;
}

static struct tensor *forward(struct run *run)
{
    const struct huginn *m = run->model->arch;
    struct tape *t = run->tape;
    if (!run->base) {
        run->rope = rope_new(t->arena, run->batch->longest, m->heads.size, m->rope_base);
        run->rope.pairs = true;
        run->encoded = prelude(run, m);
    }
    struct tensor *h = run->base ? run->changed : run_start(run, run->model->width, m->start_std, m->start_cut, m->start_scale);
    h = run_state(run, h, run->from);
    show_state(run, m, h, run->from);
    for (int k = run->from + 1; k <= run->loops; k++) {
        struct tensor *e = run_at(run, run->encoded, run->base ? run->base->encoded : NULL, h->places);
        struct tensor *x = op_linear(t, op_join(t, h, e), m->adapter, NULL);
        if (m->adapter_bias) x = op_bias(t, x, m->adapter_bias);
        h = run_state(run, loop(run, m, run_input(run, x, k), k), k);
        show_state(run, m, h, k);
    }
    return decode(run, h, run->loops);
}

const struct family family_huginn = {
    .model_type = "huginn_raven",
    .help = "Huginn (Geiping et al. 2025): prelude, core block with injected input from a drawn start state, coda",
    .boundary = "loop",
    .example = "{\"model_type\":\"huginn_raven\",\"n_embd\":16,\"n_heads\":2,\"vocab_size\":20,\"padded_vocab_size\":20,\"intermediate_size\":24,"
               "\"n_layers_in_prelude\":1,\"n_layers_in_recurrent_block\":2,\"n_layers_in_coda\":1,\"mean_recurrence\":3,\"qk_bias\":true,"
               "\"bias\":true,\"norm_eps\":1e-6,\"rope_base\":100,\"tie_embeddings\":true,\"state_init\":\"like-init\"}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
