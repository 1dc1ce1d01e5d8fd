/* `loopformer`: LoopFormer (github.com/armenjeddi/loopformer), loops conditioned on the time they start at and the step they take.
 *
 *     h.0 = W[tokens] + P[positions];   h.k = f(h.{k-1}, c.k)   for k = 1 ... K, f a stack of blocks shared by all loops
 *     c.k = E_t(t_k) + E_dt(dt_k);   t_k = dt_1 + ... + dt_{k-1};   E(t) = B silu(A features(t) + a) + b
 *     block:   gate_attn, gate_mlp, scale_attn, scale_mlp = M silu(c.k) + m          (adaptive norm)
 *              x += gate_attn attention((1 + scale_attn) rms(x));   x += gate_mlp mlp((1 + scale_mlp) rms(x))
 *     logits = decode(h.K) = W norm(h.K)
 *
 * The steps are the list `steps` of the config, or K = max_model_loops steps of 1/K. Another K at run time takes steps of 1/K.
 */
#include "models/run.h"

#include <math.h>
#include <stdio.h>

enum { FEATURES = 256 };

struct affine { const struct weight *w, *b; /* b NULL: no bias */ };
struct embedder { struct affine in, out; };
struct block { struct affine modulation, qkv, o, up, down; };

struct loopformer {
    struct heads heads;
    float eps;
    float *steps; /* [model->loops] */
    const struct weight *table, *positions, *norm;
    struct embedder time, step;
    struct block *blocks;
};

/* ------------------------------------------------------------------ the config */

static struct affine declare_affine(struct builder *b, enum weight_use use, int rows, int cols, bool bias, const char *name, int i)
{
    struct affine a = {0};
    char full[96];
    snprintf(full, sizeof full, name, i);
    a.w = build_weight(b, use, rows, cols, "%s.weight", full);
    if (bias) a.b = build_vector(b, WEIGHT_BIAS, rows, "%s.bias", full);
    return a;
}

static struct embedder declare_embedder(struct builder *b, const char *in, const char *out)
{
    int d = b->model->width;
    return (struct embedder){declare_affine(b, WEIGHT_MATRIX, d, FEATURES, true, in, 0), declare_affine(b, WEIGHT_MATRIX, d, d, true, out, 0)};
}

static void declare_block(struct builder *b, struct block *w, int i, int inner, bool bias)
{
    int d = b->model->width;
    *w = (struct block){
        .modulation = declare_affine(b, WEIGHT_MATRIX, 4 * d, d, true, "transformer.h.blocks.%d.adaLN_modulation.1", i),
        .qkv = declare_affine(b, WEIGHT_MATRIX, 3 * d, d, bias, "transformer.h.blocks.%d.attn.c_attn", i),
        .o = declare_affine(b, WEIGHT_OUTPUT, d, d, bias, "transformer.h.blocks.%d.attn.c_proj", i),
        .up = declare_affine(b, WEIGHT_MATRIX, inner, d, bias, "transformer.h.blocks.%d.mlp.c_fc", i),
        .down = declare_affine(b, WEIGHT_OUTPUT, d, inner, bias, "transformer.h.blocks.%d.mlp.c_proj", i),
    };
}

/* K and the step sizes: the list `steps`, else max_model_loops equal ones. */
static void declare_steps(struct builder *b, struct loopformer *m)
{
    struct config *c = b->config;
    const struct json *list = config_json(c, "steps"), *item = json_first(list);
    int loops = list ? (int)config_int_quiet(c, "max_model_loops", 1, 4096, 1) : (int)config_int_or(c, "max_model_loops", 1, 4096, 8);
    bool good = !list || (json_is_array(list) && item && json_count(list) <= 4096);
    if (!good) config_wrong(c, "steps", "is %s: a list of 1 to 4096 numbers is wanted, the step size of each loop", json_kind(list));
    if (list && good) loops = (int)json_count(list);
    b->model->loops = loops;
    m->steps = build_new(b, sizeof *m->steps * (size_t)loops);
    for (int k = 0; k < loops; k++, item = item ? json_next(item) : NULL) {
        double step = 1.0 / loops;
        if (list && good && !json_number(item, &step)) config_wrong(c, "steps", "entry %d is %s: a number is wanted", k, json_kind(item));
        m->steps[k] = (float)step;
    }
}

static void declare(struct builder *b)
{
    struct config *c = b->config;
    struct model *model = b->model;
    struct loopformer *m = model->arch = build_new(b, sizeof *m);
    model->vocab_size = (int)config_int(c, "vocab_size", 1, 1 << 28);
    model->width = (int)config_int(c, "n_embd|hidden_size", 1, 1 << 24);
    model->blocks = (int)config_int(c, "n_layer|num_hidden_layers", 1, 4096);
    model->longest = (int)config_int(c, "block_size|n_positions|max_position_embeddings", 1, 1 << 24);
    int d = model->width, heads = (int)config_int(c, "n_head|num_attention_heads", 1, 1 << 12);
    if (d % heads) config_wrong(c, "n_head", "%d heads do not divide n_embd %d", heads, d);
    m->heads = (struct heads){heads, heads, d / heads > 0 ? d / heads : 1, 0};
    int inner = (int)config_int_or(c, "intermediate_dim|n_inner", 1, 1 << 24, 4L * d);
    bool bias = config_bool_or(c, "bias", false);
    config_known(c, "dropout");
    m->eps = 1.1920929e-07f; /* torch.nn.RMSNorm without an eps: that of float32 */
    declare_steps(b, m);
    m->table = model->table = build_weight(b, WEIGHT_TABLE, model->vocab_size, d, "transformer.wte.weight");
    build_other_name(b, m->table, "lm_head.weight");
    m->positions = build_weight(b, WEIGHT_MATRIX, model->longest, d, "transformer.wpe.weight");
    m->time = declare_embedder(b, "time_embedder.mlp.0", "time_embedder.mlp.2");
    m->step = declare_embedder(b, "dt_embedder.mlp.0", "dt_embedder.mlp.2");
    m->blocks = build_new(b, sizeof *m->blocks * (size_t)model->blocks);
    for (int i = 0; i < model->blocks; i++) declare_block(b, &m->blocks[i], i, inner, bias);
    m->norm = build_vector(b, WEIGHT_GAIN, d, "transformer.norm_f.weight");
    build_ignored(b, "transformer.h.blocks.*.attn.bias"); /* the causal mask of old PyTorch versions */
    model->interface = "none";
    model->eps = m->eps;
}

/* ------------------------------------------------------------------ forward */

static struct tensor *affine(struct run *run, struct tensor *x, struct affine a)
{
    x = op_linear(run->tape, x, a.w, NULL);
    return a.b ? op_bias(run->tape, x, a.b) : x;
}

/* Cosines, then sines of t over 128 frequencies, and two layers: [1, D]. */
static struct tensor *embed_time(struct run *run, const struct embedder *e, float time)
{
    struct tensor *f = tape_tensor(run->tape, 1, FEATURES);
    for (int j = 0; j < FEATURES / 2; j++) {
        float angle = time * expf((float)(-log(10000.0)) * (float)j / (FEATURES / 2));
        f->data[j] = cosf(angle);
        f->data[j + FEATURES / 2] = sinf(angle);
    }
    return affine(run, op_silu(run->tape, affine(run, f, e->in)), e->out);
}

static float step_size(const struct run *run, const struct loopformer *m, int k)
{
    return run->loops == run->model->loops ? m->steps[k - 1] : (float)(1.0 / run->loops);
}

/* c.k [1, D]: the same for all positions. */
static struct tensor *conditioning(struct run *run, const struct loopformer *m, int k)
{
    float time = 0;
    for (int j = 1; j < k; j++) time += step_size(run, m, j);
    struct tensor *t = embed_time(run, &m->time, time), *dt = embed_time(run, &m->step, step_size(run, m, k));
    return run_site(run, op_mix(run->tape, t, dt, NULL), "c.%d", k);
}

/* The rows that ask, of the block's input and of its norm: queries of h, keys and values of all. */
static struct tensor *attend(struct run *run, const struct loopformer *m, const struct block *w, struct tensor *x, struct tensor *h,
                             struct tensor *scale, int stage, struct tensor **pattern)
{
    struct tape *t = run->tape;
    int d = run->model->width;
    struct tensor *all = affine(run, op_modulate(t, op_rms_norm(t, x, NULL, m->eps), scale), w->qkv);
    struct tensor *ask = h == x ? all : affine(run, op_modulate(t, op_rms_norm(t, h, NULL, m->eps), scale), w->qkv);
    return run_attend(run, op_columns(t, ask, 0, d), op_columns(t, all, d, d), op_columns(t, all, 2 * d, d), x, m->heads, stage, pattern);
}

/* x [N,D] -> [N',D]; N' < N where fewer rows leave the block. */
static struct tensor *block(struct run *run, const struct loopformer *m, const struct block *w, struct tensor *x, struct tensor *c, int k, int i)
{
    struct tape *t = run->tape;
    int d = run->model->width, L = run->model->blocks, stage = (k - 1) * L + i;
    struct arena_mark mark = arena_mark(t->arena);
    struct tensor *row = run_site(run, affine(run, op_silu(t, c), w->modulation), "loop.%d.block.%d.modulation", k, i), *pattern;
    struct tensor *gate_attn = op_columns(t, row, 0, d), *gate_mlp = op_columns(t, row, d, d);
    struct tensor *scale_attn = op_columns(t, row, 2 * d, d), *scale_mlp = op_columns(t, row, 3 * d, d);
    struct tensor *h = run_leave(run, x, stage, k == run->loops && i == L - 1);
    struct tensor *a = attend(run, m, w, x, h, scale_attn, stage, &pattern);
    run_site(run, pattern, "loop.%d.block.%d.attn.pattern", k, i);
    a = affine(run, run_site(run, a, "loop.%d.block.%d.attn.out", k, i), w->o);
    h = run_site(run, op_add_gated(t, h, a, gate_attn), "loop.%d.block.%d.mid", k, i);
    struct tensor *s = op_gelu(t, affine(run, op_modulate(t, op_rms_norm(t, h, NULL, m->eps), scale_mlp), w->up));
    s = affine(run, run_site(run, s, "loop.%d.block.%d.mlp.act", k, i), w->down);
    return run_site(run, run_release(run, mark, op_add_gated(t, h, s, gate_mlp)), "loop.%d.block.%d.out", k, i);
}

static struct tensor *loop(struct run *run, const struct loopformer *m, struct tensor *h, int k)
{
    struct arena_mark mark = arena_mark(run->tape->arena);
    struct tensor *c = conditioning(run, m, k);
    for (int i = 0; i < run->model->blocks; i++) h = block(run, m, &m->blocks[i], h, c, k, i);
    return run_release(run, mark, h);
}

static struct tensor *decode(struct run *run, struct tensor *h, int k)
{
    const struct loopformer *m = run->model->arch;
    (void)k;
    return op_linear(run->tape, op_rms_norm(run->tape, h, m->norm, m->eps), m->table, NULL);
}

static void show_steps(struct run *run, const struct loopformer *m)
{
    if (!run_listens(run, "steps")) return;
    struct tensor *steps = tape_tensor(run->tape, 1, run->loops);
    for (int k = 1; k <= run->loops; k++) steps->data[k - 1] = step_size(run, m, k);
    run_site(run, steps, "steps");
}

static struct tensor *forward(struct run *run)
{
    const struct loopformer *m = run->model->arch;
    struct tape *t = run->tape;
    const struct batch *batch = run->batch;
    struct tensor *h = run->changed;
    if (!run->base) h = op_mix(t, op_embed(t, m->table, batch->tokens, batch->size), op_embed(t, m->positions, batch->position, batch->size), NULL);
    show_steps(run, m);
    h = run_state(run, h, run->from);
    for (int k = run->from + 1; k <= run->loops; k++) h = run_state(run, loop(run, m, run_input(run, h, k), k), k);
    return decode(run, h, run->loops);
}

const struct family family_loopformer = {
    .model_type = "loopformer",
    .help = "LoopFormer: shared stack conditioned on time and step size by adaptive norms",
    .boundary = "loop",
    .example = "{\"model_type\":\"loopformer\",\"block_size\":16,\"vocab_size\":20,\"n_layer\":2,\"n_head\":4,\"n_embd\":16,\"dropout\":0.0,"
               "\"bias\":true,\"intermediate_dim\":24,\"max_model_loops\":3,\"steps\":[0.5,0.3,0.2]}",
    .declare = declare,
    .forward = forward,
    .decode = decode,
};
