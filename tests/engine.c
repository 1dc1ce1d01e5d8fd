/* The engine against finite differences and identities, for every family's own example. */
#include "ground/mem.h"
#include "ground/rng.h"
#include "learning/optim.h"
#include "models/run.h"
#include "numbers/blas.h"
#include "numbers/kernel.h"
#include "registry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

static struct model *example(const char *config)
{
    struct err err = {0};
    struct model *model = model_fresh(config, "example", NULL, &err);
    if (!model) fail_msg("%s", err.text);
    weights_draw(model, 5, 0.2, 0.5);
    struct rng rng = rng_start(9, "gains"); /* gains of exactly 1 would hide mistakes */
    for (size_t i = 0; i < model->weight_count; i++)
        if (model->weights[i]->use == WEIGHT_GAIN || model->weights[i]->use == WEIGHT_BIAS)
            for (int j = 0; j < model->weights[i]->cols * model->weights[i]->rows; j++)
                model->block[model->weights[i]->offset + (size_t)j] += (float)(0.2 * rng_normal(&rng));
    return model;
}

static const int lengths[] = {5, 3, 4}, own[] = {4, 2, 3}; /* own: the answer positions */
static const int row0[] = {1, 4, 2, 6, 3}, row1[] = {1, 4, 5}, row2[] = {7, 7, 1, 4};
static const int *const rows[] = {row0, row1, row2};
static const int targets[] = {3, 1, 6};
static const float weights[] = {0.5f, 0.2f, 0.3f};

static struct tensor *forward(struct run *run, const struct model *model, struct tape *tape, bool answers)
{
    struct batch *batch = batch_new(tape->arena, 3, lengths, rows);
    run_init(run, model, tape, batch);
    int last[3];
    for (int b = 0; b < 3; b++) last[b] = batch->start[b + 1] - 1;
    if (answers) run->wanted = places_new(tape->arena, batch, 3, last);
    return run_forward(run, NULL);
}

static double loss_of(const struct model *model, float *grads)
{
    struct arena arena = {0};
    struct tape tape = {.arena = &arena, .records = grads != NULL, .grads = grads};
    struct run run;
    double loss = 0;
    op_cross_entropy(&tape, forward(&run, model, &tape, true), targets, weights, &loss);
    if (grads) tape_backward(&tape);
    arena_clear(&arena);
    return loss;
}

/* The five-point difference of the loss along u in one weight. */
static double slope_of(const struct model *model, const struct weight *w, const float *saved, const float *u, double step)
{
    static const int at[] = {-2, -1, 1, 2};
    size_t n = (size_t)w->rows * (size_t)w->cols;
    float *p = model->block + w->offset;
    double loss[4];
    for (int side = 0; side < 4; side++) {
        for (size_t j = 0; j < n; j++) p[j] = saved[j] + (float)(at[side] * step * u[j]);
        loss[side] = loss_of(model, NULL);
    }
    memcpy(p, saved, sizeof(float) * n);
    return (8 * (loss[2] - loss[1]) - (loss[3] - loss[0])) / (12 * step);
}

/* Along a random direction in each weight. Long steps may cross a top-k cut and short ones drown in rounding: one of three has to agree. */
static void check_gradient(const char *config)
{
    static const double steps[] = {2e-2, 5e-3, 1e-3};
    struct model *model = example(config);
    float *grads = mem_new(sizeof(float) * model->parameter_count);
    loss_of(model, grads);
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        size_t n = (size_t)w->rows * (size_t)w->cols;
        float *saved = mem_copy(model->block + w->offset, sizeof(float) * n), *u = mem_new(sizeof(float) * n);
        double slope = 0, length = 0, measured = 0, off = INFINITY, slack;
        struct rng rng = rng_start(i, "direction");
        for (size_t j = 0; j < n; j++) u[j] = (float)rng_normal(&rng), length += (double)u[j] * u[j];
        for (size_t j = 0; j < n; j++) u[j] /= (float)sqrt(length), slope += (double)u[j] * grads[w->offset + j];
        slack = 2e-3 * (fabs(slope) + 0.05);
        for (int s = 0; s < 3 && !(off <= slack); s++) { /* so that NaN fails */
            measured = slope_of(model, w, saved, u, steps[s]);
            off = fabs(measured - slope);
        }
        if (!(off <= slack)) fail_msg("%s: %s: gradient %g, finite difference %g", config, w->name, slope, measured);
        mem_free(saved);
        mem_free(u);
    }
    mem_free(grads);
    model_free(model);
}

static void gradients_match_finite_differences(void **state)
{
    (void)state;
    for (size_t i = 0; families[i]; i++) check_gradient(families[i]->example);
}

#define LOOPED(interface)                                                                                                                            \
    "{\"model_type\":\"looped\",\"vocab_size\":9,\"hidden_size\":12,\"intermediate_size\":20,\"num_hidden_layers\":2,\"num_loops\":3,"               \
    "\"num_attention_heads\":3,\"num_key_value_heads\":1,\"head_dim\":6,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-5,\"position_embedding\":"       \
    "\"rope\","                                                                                                                                      \
    "\"rope_theta\":50,\"tie_word_embeddings\":false,\"norm_each_loop\":false,\"loop_interface\":{" interface "}}"

static const char *const interfaces[] = {
    LOOPED("\"kind\":\"none\""),
    LOOPED("\"kind\":\"discoloop\",\"alpha_value\":0.7"),
    LOOPED("\"kind\":\"discoloop\",\"alpha\":\"gate\",\"tau\":0.6"),
    LOOPED("\"kind\":\"ponder\",\"top_k\":4"),
    LOOPED("\"kind\":\"residual\",\"tau\":0.8"),
    LOOPED("\"kind\":\"ponder_sum\",\"top_k\":3,\"top_k_renormalize\":true"),
};

/* All of OpenMythos but one part each, then all the other way round. */
#define MYTHOS(attention, coda, index, lora, act, moe) \
    "{\"model_type\":\"openmythos\",\"vocab_size\":9,\"dim\":18,\"n_heads\":3,\"max_loop_iters\":3,\"prelude_layers\":1,\"coda_layers\":" #coda "," \
    "\"act_threshold\":0.75,\"rope_theta\":100,\"lora_rank\":2,\"n_experts\":3,\"n_shared_experts\":2,\"n_experts_per_tok\":2," \
    "\"expert_dim\":4," attention \
    ",\"use_loop_index_embedding\":" #index ",\"use_lora\":" #lora ",\"use_act\":" #act ",\"use_moe\":" #moe "}"
#define GROUPED "\"attn_type\":\"gqa\",\"n_kv_heads\":1"
#define LATENT "\"attn_type\":\"mla\",\"q_lora_rank\":5,\"kv_lora_rank\":4,\"qk_rope_head_dim\":2,\"qk_nope_head_dim\":3,\"v_head_dim\":4"

#define OURO(more) \
    "{\"model_type\":\"ouro\",\"vocab_size\":20,\"hidden_size\":12,\"intermediate_size\":16,\"num_hidden_layers\":2,\"total_ut_steps\":3," \
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"head_dim\":6,\"rms_norm_eps\":1e-6,\"rope_theta\":100.0," more "}"
#define LOOPFORMER(more) \
    "{\"model_type\":\"loopformer\",\"block_size\":5,\"vocab_size\":20,\"n_layer\":2,\"n_head\":2,\"n_embd\":12,\"intermediate_dim\":16," more "}"

/* Parcae: sizes of the core, injection, norms and heads; Huginn: groups, biases and norms. */
#define PARCAE(p, l, c, injection, flags) \
    "{\"model_type\":\"parcae\",\"vocab_size\":9,\"padded_vocab_size\":10,\"n_embd\":32,\"intermediate_size\":10,\"num_attention_heads\":4," \
    "\"rope_settings\":{\"rope_base\":100},\"mean_recurrence\":2," \
    "\"n_layers_in_prelude\":" #p ",\"n_layers_in_recurrent_block\":" #l ",\"n_layers_in_coda\":" #c ",\"mean_backprop_depth\":3," \
    "\"injection_type\":\"" #injection "\"," flags "}"
#define HUGINN(p, l, c, flags) \
    "{\"model_type\":\"huginn_raven\",\"vocab_size\":9,\"n_embd\":12,\"n_heads\":3,\"intermediate_size\":10," \
    "\"mean_recurrence\":3,\"rope_base\":100,\"n_layers_in_prelude\":" #p ",\"n_layers_in_recurrent_block\":" #l "," \
    "\"n_layers_in_coda\":" #c "," flags "}"

static const char *const switches[] = {
    OURO("\"tie_word_embeddings\":true,\"early_exit_threshold\":0.6"), OURO("\"tie_word_embeddings\":false,\"early_exit_step\":1"),
    OURO("\"layer_types\":[\"full_attention\",\"sliding_attention\"],\"sliding_window\":2,\"early_exit_threshold\":null"),
    LOOPFORMER("\"bias\":false,\"max_model_loops\":2"), LOOPFORMER("\"bias\":true,\"steps\":[0.1,0.2,0.7]"),
    MYTHOS(LATENT, 1, true, true, true, true),   MYTHOS(GROUPED, 0, true, true, true, true),  MYTHOS(GROUPED, 1, false, true, true, true),
    MYTHOS(GROUPED, 2, true, false, true, true), MYTHOS(GROUPED, 1, true, true, false, true), MYTHOS(GROUPED, 1, true, true, true, false),
    MYTHOS(LATENT, 0, false, false, false, false),
    HUGINN(0, 1, 2, "\"qk_bias\":true,\"tie_embeddings\":false"),
    HUGINN(2, 1, 0, "\"qk_bias\":false,\"num_key_value_heads\":1,\"state_init\":\"normal\""),
    PARCAE(1, 1, 1, diagonal, "\"qk_norm\":true,\"recurrent_embedding_dimension\":48,\"recurrent_num_attention_heads\":6"),
    PARCAE(0, 2, 1, linear, "\"qk_norm\":false,\"tie_embeddings\":false,\"logit_softcap\":2.0,\"recurrent_embedding_dimension\":32"),
    PARCAE(2, 1, 0, add, "\"qk_norm\":true,\"prelude_norm\":true,\"recurrent_embedding_dimension\":32,\"state_init\":\"zero\""),
};

static void gradients_of_every_interface(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) check_gradient(interfaces[i]);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) check_gradient(switches[i]);
}

static void check_places(void *visitor, const char *site, const struct tensor *value)
{
    const struct batch *batch = visitor;
    if (value->rows != batch->size) return;
    if (!value->places || value->places->count != batch->size) fail_msg("%s: a row for each position, but not which", site);
}

static void check_sites(const char *config)
{
    struct model *model = example(config);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct batch *batch = batch_new(&arena, 3, lengths, rows);
    run_init(&run, model, &tape, batch);
    run.visit = check_places, run.visitor = batch;
    run_forward(&run, NULL);
    arena_clear(&arena);
    model_free(model);
}

/* What has a row for each position says so: statistics and edits at a position need it. */
static void sites_know_their_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) check_sites(interfaces[i]);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) check_sites(switches[i]);
    for (size_t i = 0; families[i]; i++)
        if (!strcmp(families[i]->boundary, "loop")) check_sites(families[i]->example);
}

/* A later token never changes an earlier position. */
static void families_are_causal(void **state)
{
    (void)state;
    for (size_t i = 0; families[i]; i++) {
        struct model *model = example(families[i]->example);
        struct arena arena = {0};
        struct tape tape = {.arena = &arena};
        struct run one, two;
        int other[5];
        memcpy(other, row0, sizeof other);
        other[4] = 0;
        const int *first[] = {row0}, *second[] = {other};
        run_init(&one, model, &tape, batch_new(&arena, 1, lengths, first));
        struct tensor *a = run_forward(&one, NULL);
        run_init(&two, model, &tape, batch_new(&arena, 1, lengths, second));
        struct tensor *b = run_forward(&two, NULL);
        assert_memory_equal(a->data, b->data, sizeof(float) * 4 * (size_t)a->cols);
        assert_memory_not_equal(a->data + 4 * a->cols, b->data + 4 * a->cols, sizeof(float) * (size_t)a->cols);
        arena_clear(&arena);
        model_free(model);
    }
}

/* Computing only the answer positions gives their logits; the last lens row is the logits. */
static void pruning_and_lens_are_identities(void **state)
{
    (void)state;
    for (size_t i = 0; families[i]; i++) {
        struct model *model = example(families[i]->example);
        struct arena arena = {0};
        struct tape tape = {.arena = &arena};
        struct run all, few;
        struct tensor *full = forward(&all, model, &tape, false), *pruned = forward(&few, model, &tape, true);
        for (int b = 0; b < 3; b++)
            for (int v = 0; v < full->cols; v++)
                assert_near(full->data[(all.batch->start[b + 1] - 1) * full->cols + v], pruned->data[b * full->cols + v], 1e-5);
        if (!strcmp(families[i]->boundary, "loop") && !model->blends) {
            struct tensor *lens = run_decode(&all, all.states[all.loops], all.loops);
            assert_memory_equal(lens->data, full->data, sizeof(float) * (size_t)(full->rows * full->cols));
        }
        arena_clear(&arena);
        model_free(model);
    }
}

/* Loss and gradient are the same when sequences that begin alike are run as one. */
static void check_sharing(const char *config)
{
    struct model *model = example(config);
    size_t n = model->parameter_count;
    float *apart = mem_new(sizeof *apart * n), *together = mem_new(sizeof *together * n), most = 0;
    struct arena arena = {0};
    struct tape tape = {.arena = &arena, .records = true, .grads = together};
    struct batch *batch = batch_shared(&arena, 3, lengths, rows, own);
    struct run run;
    int last[3];
    double loss = 0, want = loss_of(model, apart);
    for (int b = 0; b < 3; b++) last[b] = batch_place(batch, b, own[b]);
    run_init(&run, model, &tape, batch);
    run.wanted = places_new(&arena, batch, 3, last);
    op_cross_entropy(&tape, run_forward(&run, NULL), targets, weights, &loss);
    tape_backward(&tape);
    assert_near(loss, want, 1e-5);
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(apart[i]));
    for (size_t i = 0; i < n; i++) assert_near(apart[i], together[i], 2e-5f * (most + 1));
    arena_clear(&arena);
    mem_free(apart);
    mem_free(together);
    model_free(model);
}

static void shared_beginnings_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) check_sharing(interfaces[i]);
    for (size_t i = 0; families[i]; i++)
        if (!strcmp(families[i]->boundary, "loop")) check_sharing(families[i]->example);
}

struct nudge { struct handler handler; int place; };

static void nudge_fire(struct handler *base, struct run *run, const char *site, struct tensor *h)
{
    struct nudge *me = (struct nudge *)base;
    (void)site;
    (void)run;
    float *row = h->data + h->places->index[me->place] * h->cols;
    for (int j = 0; j < h->cols; j++) row[j] += 0.1f * (float)(j % 5 - 2);
}

/* A replay of the changed states gives what a full run with the same edit gives, wherever it starts and whatever the interface. */
static void check_replay(const char *config)
{
    struct model *model = example(config);
    for (int from = 0; from <= model->loops; from++) {
        struct arena arena = {0};
        struct tape tape = {.arena = &arena};
        struct run base, edited, replay;
        struct batch *batch = batch_new(&arena, 3, lengths, rows);
        run_init(&base, model, &tape, batch_shared(&arena, 3, lengths, rows, own));
        assert_int_equal(base.batch->size, batch->size - 2);
        base.keep = true;
        run_forward(&base, NULL);
        char pattern[16];
        snprintf(pattern, sizeof pattern, "h.%d", from);
        struct nudge nudge = {{.pattern = pattern, .fire = nudge_fire}, batch->start[2] + 1};
        run_init(&edited, model, &tape, batch);
        run_attach(&edited, &nudge.handler);
        struct tensor *want = run_forward(&edited, NULL);
        struct batch *copies = batch_repeat(&arena, base.batch, 2); /* the second copy carries the change */
        int at = batch->size + nudge.place, original = batch_original(base.batch, at);
        struct tensor *changed = op_select(&tape, base.states[from], &original, 1);
        changed->places = places_new(&arena, copies, 1, &at);
        nudge.place = at;
        nudge_fire(&nudge.handler, &edited, pattern, changed);
        run_replay(&replay, &base, &tape, copies, from, changed);
        struct tensor *got = run_forward(&replay, NULL);
        assert_int_equal(got->rows, from == model->loops && !model->coda ? 1 : 3); /* positions 1, 2, 3 of the third row */
        for (int i = 0; i < got->rows; i++)
            for (int v = 0; v < got->cols; v++)
                assert_near(got->data[i * got->cols + v], want->data[(got->places->at[i] - batch->size) * got->cols + v], 2e-5);
        arena_clear(&arena);
    }
    model_free(model);
}

static void replays_equal_full_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) check_replay(interfaces[i]);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) check_replay(switches[i]);
    for (size_t i = 0; families[i]; i++)
        if (!strcmp(families[i]->boundary, "loop")) check_replay(families[i]->example);
}

static void a_pattern_that_matches_nothing_is_an_error(void **state)
{
    (void)state;
    struct model *model = example(interfaces[0]);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct err err = {0};
    struct nudge nudge = {{.pattern = "h.9", .fire = nudge_fire}, 0};
    run_init(&run, model, &tape, batch_new(&arena, 3, lengths, rows));
    run_attach(&run, &nudge.handler);
    assert_null(run_forward(&run, &err));
    assert_non_null(strstr(err.text, "h.9"));
    arena_clear(&arena);
    model_free(model);
}

/* Grouped heads: query heads 0 and 1 read key/value head 0, heads 2 and 3 head 1. */
static void grouped_heads_repeat_and_do_not_tile(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct tensor *q = tape_tensor(&tape, 1, 4), *k = tape_tensor(&tape, 1, 2), *v = tape_tensor(&tape, 1, 2);
    for (int j = 0; j < 4; j++) q->data[j] = 1;
    k->data[0] = k->data[1] = 1;
    v->data[0] = 0, v->data[1] = 1;
    struct reach reach = {(const int[]){0, 1}, (const int[]){0}, NULL, NULL};
    struct tensor *y = op_attention(&tape, q, k, v, &reach, (struct heads){4, 2, 1}, NULL);
    const float want[] = {0, 0, 1, 1};
    assert_memory_equal(y->data, want, sizeof want);
    arena_clear(&arena);
}

static void arg_max_takes_the_lowest_and_knows_nan(void **state)
{
    (void)state;
    assert_int_equal(row_argmax((const float[]){1, 3, 1, 3}, 4), 1);
    assert_int_equal(row_argmax((const float[]){NAN, 1, 2}, 3), -1);
    assert_int_equal(row_argmax((const float[]){1, NAN, 2}, 3), -1);
    assert_int_equal(row_argmax((const float[]){NAN, NAN}, 2), -1);
    assert_int_equal(row_argmax((const float[]){1, INFINITY}, 2), -1);
    assert_int_equal(row_argmax((const float[]){-INFINITY, -5}, 2), 1);
}

static void schedule_is_a_pure_function(void **state)
{
    (void)state;
    struct schedule s = {.lr = 1, .final = 0.1, .decay_from = 0.5, .warmup = 10, .steps = 100, .kind = SCHEDULE_LINEAR};
    assert_near(schedule_lr(&s, 5), 0.5, 1e-12);
    assert_near(schedule_lr(&s, 10), 1, 1e-12);
    assert_near(schedule_lr(&s, 50), 1, 1e-12);
    assert_near(schedule_lr(&s, 75), 0.55, 1e-12);
    assert_near(schedule_lr(&s, 100), 0.1, 1e-12);
    s.kind = SCHEDULE_COSINE;
    assert_near(schedule_lr(&s, 75), 0.55, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_finite_differences), cmocka_unit_test(gradients_of_every_interface),
        cmocka_unit_test(families_are_causal),                cmocka_unit_test(pruning_and_lens_are_identities),
        cmocka_unit_test(replays_equal_full_runs),            cmocka_unit_test(a_pattern_that_matches_nothing_is_an_error),
        cmocka_unit_test(grouped_heads_repeat_and_do_not_tile), cmocka_unit_test(arg_max_takes_the_lowest_and_knows_nan),
        cmocka_unit_test(schedule_is_a_pure_function),        cmocka_unit_test(shared_beginnings_change_nothing),
        cmocka_unit_test(sites_know_their_places),
    };
    struct err err = {0};
    if (!blas_check(&err)) return 1;
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
