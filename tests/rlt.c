/* RLT: the same states however the tokens are run, windows and chunks at their edges, gradients through every path, replays from every boundary. */
#include "ground/mem.h"
#include "ground/rng.h"
#include "learning/optim.h"
#include "models/run.h"
#include "numbers/blas.h"
#include "tokens.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

#define RLT(layers, keys) \
    "{\"model_type\":\"rlt\",\"vocab_size\":11,\"hidden_size\":12,\"intermediate_size\":20,\"num_attention_heads\":3," layers \
    ",\"rms_norm_eps\":1e-5,\"rope_theta\":50," keys "}"
#define LAYERS(encoder, decoder) "\"num_encoder_layers\":" encoder ",\"num_decoder_layers\":" decoder

static const char *const configs[] = {
    RLT(LAYERS("1", "2"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0.7,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("3", "3"), "\"sliding_window\":2,\"memory_groups\":2,\"feedback_scale\":0.7,\"tie_encoder_decoder\":true"),
    RLT(LAYERS("1", "1"), "\"sliding_window\":1,\"memory_groups\":1,\"feedback_scale\":0.7,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("1", "1"), "\"sliding_window\":99,\"memory_groups\":3,\"feedback_scale\":0.7,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("0", "2"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0.7,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("2", "0"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0.7,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("1", "1"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("1", "1"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0.7,\"feedback_chunk\":2,\"tie_encoder_decoder\":false"),
    RLT(LAYERS("1", "1"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":0.7,\"feedback_chunk\":3,\"tie_encoder_decoder\":false"),
};
enum { UNTIED = 0, WINDOW_1 = 2, WINDOW_99 = 3, NO_DECODER = 5, NO_FEEDBACK = 6, CHUNK_2 = 7, CHUNK_3 = 8, CONFIGS = 9 };

static struct model *example(const char *config)
{
    struct err err = {0};
    struct model *model = model_fresh(config, "example", NULL, &err);
    if (!model) fail_msg("%s", err.text);
    weights_draw(model, 5, 0.3, 0.5);
    struct rng rng = rng_start(9, "gains"); /* gains of exactly 1 and a start state of 0 would hide mistakes */
    for (size_t i = 0; i < model->weight_count; i++)
        if (model->weights[i]->use == WEIGHT_GAIN || model->weights[i]->use == WEIGHT_BIAS)
            for (int j = 0; j < model->weights[i]->cols; j++) model->block[model->weights[i]->offset + (size_t)j] += (float)(0.3 * rng_normal(&rng));
    return model;
}

static const int lengths[] = {7, 3, 1, 4};
static const int row0[] = {1, 4, 2, 6, 3, 9, 10}, row1[] = {0, 5, 2}, row2[] = {8}, row3[] = {7, 7, 1, 4};
static const int *const rows[] = {row0, row1, row2, row3};
enum { ROWS = 4 };

static struct tensor *forward(struct run *run, const struct model *model, struct tape *tape)
{
    run_init(run, model, tape, batch_new(tape->arena, ROWS, lengths, rows));
    return run_forward(run, NULL);
}

/* ------------------------------------------------------------------ the same states */

static void decoding_and_replay_equal_prefill(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i++) {
        struct model *model = example(configs[i]);
        struct arena arena = {0};
        struct err err = {0};
        struct token_check checks[TOKEN_CHECKS];
        if (!tokens_check(checks, model, batch_new(&arena, ROWS, lengths, rows), &arena, &err)) fail_msg("%s", err.text);
        for (int c = 0; c < TOKEN_CHECKS; c++)
            if (!(checks[c].worst <= checks[c].tolerance))
                fail_msg("config %d: %s: off by %g, %s", i, checks[c].name, checks[c].worst, checks[c].where);
        arena_clear(&arena);
        model_free(model);
    }
}

/* Any cut of the sequences gives the states of one pass: 2 tokens, then the rest; a sequence may end in the first part. */
static void a_run_continues_another_anywhere(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i++)
        for (int cut = 1; cut < 7; cut++) {
            struct model *model = example(configs[i]);
            struct arena arena = {0};
            struct tape tape = {.arena = &arena};
            struct run whole, head, tail;
            int short_lengths[ROWS], rest[ROWS];
            const int *behind[ROWS];
            struct tensor *all = forward(&whole, model, &tape);
            for (int b = 0; b < ROWS; b++) {
                short_lengths[b] = lengths[b] < cut ? lengths[b] : cut;
                rest[b] = lengths[b] - short_lengths[b];
                behind[b] = rows[b] + short_lengths[b];
            }
            run_init(&head, model, &tape, batch_new(&arena, ROWS, short_lengths, rows));
            head.keep = true;
            assert_non_null(run_forward(&head, NULL));
            run_init(&tail, model, &tape, batch_new(&arena, ROWS, rest, behind));
            tail.past = &head;
            struct tensor *end = run_forward(&tail, NULL);
            for (int b = 0, row = 0; b < ROWS; b++)
                for (int p = 0; p < rest[b]; p++, row++)
                    for (int v = 0; v < all->cols; v++)
                        assert_near(end->data[row * all->cols + v],
                                           all->data[(whole.batch->start[b] + short_lengths[b] + p) * all->cols + v], 2e-5);
            arena_clear(&arena);
            model_free(model);
        }
}

/* ------------------------------------------------------------------ windows, feedback, chunks */

struct look { struct handler handler; float least, most; struct tensor *seen; long numbers; };

static void watch(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct look *me = (struct look *)base;
    (void)site;
    me->seen = tape_tensor(run->tape, value->rows, value->cols);
    for (int i = 0; i < value->rows * value->cols; i++, me->numbers++) {
        me->least = fminf(me->least, value->data[i]);
        me->most = fmaxf(me->most, value->data[i]);
        me->seen->data[i] = value->data[i];
    }
}

static void watch_site(struct look *look, const char *pattern, struct run *run, const struct model *model, struct tape *tape)
{
    *look = (struct look){.handler = {.pattern = pattern, .fire = watch}, .least = INFINITY, .most = -INFINITY};
    run_init(run, model, tape, batch_new(tape->arena, ROWS, lengths, rows));
    run_attach(run, &look->handler);
    struct err err = {0};
    if (!run_forward(run, &err)) fail_msg("%s", err.text);
}

static void a_window_of_one_sees_itself_alone(void **state)
{
    (void)state;
    struct model *model = example(configs[WINDOW_1]);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct look look;
    watch_site(&look, "token.*.self.pattern", &run, model, &tape);
    assert_int_equal(look.numbers, 15 * 3); /* tokens, heads */
    assert_true(look.least == 1 && look.most == 1);
    watch_site(&look, "cache.k.0", &run, model, &tape);
    assert_int_equal(look.seen->rows, 0);
    arena_clear(&arena);
    model_free(model);
}

/* Keys in reach at each token: 1, 2, ... window, window ... */
static void a_window_fills_and_then_moves(void **state)
{
    (void)state;
    struct model *model = example(configs[UNTIED]), *wide = example(configs[WINDOW_99]);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct look look;
    watch_site(&look, "token.*.block.0.self.pattern", &run, model, &tape);
    assert_int_equal(look.numbers, 3 * ((1 + 2 + 3 * 5) + (1 + 2 + 3) + 1 + (1 + 2 + 3 + 3)));
    watch_site(&look, "cache.v.1", &run, model, &tape);
    assert_int_equal(look.seen->rows, 2 + 2 + 1 + 2);
    watch_site(&look, "token.*.self.pattern", &run, wide, &tape); /* a window wider than the sequence is no window */
    assert_int_equal(look.numbers, 3 * (28 + 6 + 1 + 10));
    watch_site(&look, "cache.k.0", &run, wide, &tape);
    assert_int_equal(look.seen->rows, 15);
    arena_clear(&arena);
    model_free(model);
    model_free(wide);
}

static void without_feedback_the_decoder_reads_the_encoding(void **state)
{
    (void)state;
    struct model *model = example(configs[NO_FEEDBACK]);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct look e, u;
    watch_site(&e, "e", &run, model, &tape);
    watch_site(&u, "u", &run, model, &tape);
    assert_memory_equal(e.seen->data, u.seen->data, sizeof(float) * (size_t)(e.seen->rows * e.seen->cols));
    arena_clear(&arena);
    model_free(model);
}

struct nudge { struct handler handler; int place; };

static void nudge_fire(struct handler *base, struct run *run, const char *site, struct tensor *s)
{
    struct nudge *me = (struct nudge *)base;
    (void)site;
    (void)run;
    float *row = s->data + s->places->index[me->place] * s->cols;
    for (int j = 0; j < s->cols; j++) row[j] += 0.2f * (float)(j % 5 - 2);
}

/* u of the longest row when s.`boundary` is nudged: the first token whose u changes. */
static int first_reader(const char *config, int boundary)
{
    struct model *model = example(config);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run run;
    struct look plain, after;
    char pattern[16];
    snprintf(pattern, sizeof pattern, "s.%d", boundary);
    watch_site(&plain, "u", &run, model, &tape);
    struct nudge nudge = {{.pattern = pattern, .fire = nudge_fire}, boundary ? boundary - 1 : 0};
    after = (struct look){.handler = {.pattern = "u", .fire = watch}};
    run_init(&run, model, &tape, batch_new(&arena, ROWS, lengths, rows));
    run_attach(&run, &nudge.handler);
    run_attach(&run, &after.handler);
    assert_non_null(run_forward(&run, NULL));
    int t = 0, d = plain.seen->cols;
    while (t < lengths[0] && !memcmp(plain.seen->data + t * d, after.seen->data + t * d, sizeof(float) * (size_t)d)) t++;
    arena_clear(&arena);
    model_free(model);
    return t;
}

/* A chunk's tokens read the state in which the chunk before it ended; what stands inside a chunk nobody reads. */
static void chunks_read_the_end_of_the_chunk_before(void **state)
{
    (void)state;
    for (int t = 0; t < 7; t++) assert_int_equal(first_reader(configs[UNTIED], t), t);
    for (int t = 0; t < 7; t++) assert_int_equal(first_reader(configs[CHUNK_2], t), t % 2 ? 7 : t);
    for (int t = 0; t < 7; t++) assert_int_equal(first_reader(configs[CHUNK_3], t), t % 3 ? 7 : t);
}

/* ------------------------------------------------------------------ replays */

static void check_replay(const struct model *model, int from)
{
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct run base, edited, replay;
    struct batch *batch = batch_new(&arena, ROWS, lengths, rows), *copies = batch_repeat(&arena, batch, 2);
    run_init(&base, model, &tape, batch);
    base.keep = true;
    assert_non_null(run_forward(&base, NULL));
    char pattern[16];
    snprintf(pattern, sizeof pattern, "s.%d", from);
    struct nudge nudge = {{.pattern = pattern, .fire = nudge_fire}, batch->start[3] + (from ? from - 1 : 0)};
    run_init(&edited, model, &tape, batch);
    run_attach(&edited, &nudge.handler);
    struct tensor *want = run_forward(&edited, NULL);
    int at = batch->size + nudge.place, row = base.states[from]->places->index[nudge.place];
    struct tensor *changed = op_select(&tape, base.states[from], &row, 1);
    changed->places = places_new(&arena, copies, 1, &at);
    nudge.place = at;
    nudge_fire(&nudge.handler, &edited, pattern, changed);
    run_replay(&replay, &base, &tape, copies, from, changed);
    struct tensor *got = run_forward(&replay, NULL);
    assert_int_equal(got->rows, from ? lengths[3] - from + 1 : lengths[3]);
    for (int i = 0; i < got->rows; i++)
        for (int v = 0; v < got->cols; v++)
            assert_near(got->data[i * got->cols + v], want->data[(got->places->at[i] - batch->size) * got->cols + v], 2e-5);
    arena_clear(&arena);
}

static void replays_equal_full_runs(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i++) {
        struct model *model = example(configs[i]);
        for (int from = 0; from <= lengths[3]; from++) check_replay(model, from);
        model_free(model);
    }
}

/* ------------------------------------------------------------------ gradients */

static const int targets[] = {3, 1, 6, 10};
static const float weights[] = {0.4f, 0.2f, 0.1f, 0.3f};

static double loss_of(const struct model *model, float *grads, unsigned detach)
{
    struct arena arena = {0};
    struct tape tape = {.arena = &arena, .records = grads != NULL, .grads = grads};
    struct run run;
    double loss = 0;
    int last[ROWS];
    struct batch *batch = batch_new(&arena, ROWS, lengths, rows);
    for (int b = 0; b < ROWS; b++) last[b] = batch->start[b + 1] - 1;
    run_init(&run, model, &tape, batch);
    run.detach = detach;
    run.wanted = places_new(&arena, batch, ROWS, last);
    op_cross_entropy(&tape, run_forward(&run, NULL), targets, weights, &loss);
    if (grads) tape_backward(&tape);
    arena_clear(&arena);
    return loss;
}

static void check_weight(const struct model *model, const struct weight *w, const float *grads, int config)
{
    static const int at[] = {-2, -1, 1, 2};
    static const double step = 5e-3;
    size_t n = (size_t)w->rows * (size_t)w->cols;
    float *p = model->block + w->offset, *saved = mem_copy(p, sizeof(float) * n), *u = mem_new(sizeof(float) * n);
    double loss[4], slope = 0, size = 0;
    struct rng rng = rng_start(w->offset, "direction");
    for (size_t j = 0; j < n; j++) u[j] = (float)rng_normal(&rng), size += (double)u[j] * u[j];
    for (size_t j = 0; j < n; j++) u[j] /= (float)sqrt(size), slope += (double)u[j] * grads[w->offset + j];
    for (int side = 0; side < 4; side++) {
        for (size_t j = 0; j < n; j++) p[j] = saved[j] + (float)(at[side] * step * u[j]);
        loss[side] = loss_of(model, NULL, 0);
    }
    memcpy(p, saved, sizeof(float) * n);
    double measured = (8 * (loss[2] - loss[1]) - (loss[3] - loss[0])) / (12 * step);
    if (!(fabs(measured - slope) <= 2e-3 * (fabs(slope) + 0.05))) /* so that NaN fails */
        fail_msg("config %d: %s: gradient %g, finite difference %g", config, w->name, slope, measured);
    mem_free(saved);
    mem_free(u);
}

static void gradients_match_finite_differences(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i++) {
        struct model *model = example(configs[i]);
        float *grads = mem_new(sizeof(float) * model->parameter_count);
        loss_of(model, grads, 0);
        for (size_t w = 0; w < model->weight_count; w++) check_weight(model, model->weights[w], grads, i);
        mem_free(grads);
        model_free(model);
    }
}

/* Largest difference of two gradients over the weights whose names begin so; NaN when one is. */
static double difference(const struct model *model, const float *a, const float *b, const char *name)
{
    double most = 0;
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        if (strncmp(w->name, name, strlen(name))) continue;
        for (size_t j = 0; j < (size_t)w->rows * (size_t)w->cols; j++) {
            double off = fabs((double)a[w->offset + j] - (double)b[w->offset + j]);
            if (off > most || isnan(off)) most = off;
        }
    }
    return most;
}

static void check_detached(int config, unsigned detach, const char *same, const char *other)
{
    struct model *model = example(configs[config]);
    float *full = mem_new(sizeof(float) * model->parameter_count), *less = mem_new(sizeof(float) * model->parameter_count);
    assert_near(loss_of(model, full, 0), loss_of(model, less, detach), 0); /* forward is as it was */
    if (same) assert_near(difference(model, full, less, same), 0, 1e-7);
    if (other) assert_true(difference(model, full, less, other) > 1e-4);
    mem_free(full);
    mem_free(less);
    model_free(model);
}

static void detached_paths_carry_nothing(void **state)
{
    (void)state;
    check_detached(UNTIED, DETACH_STATE, "readout", "state");
    check_detached(UNTIED, DETACH_KEYS, "readout", "decoder.0.self_k");
    check_detached(UNTIED, DETACH_MEMORY, "mem", "encoder.0.q_proj");
    check_detached(WINDOW_1, DETACH_KEYS, "", NULL);     /* there are no earlier keys */
    check_detached(NO_FEEDBACK, DETACH_STATE, "", NULL); /* nothing comes through the state */
    check_detached(NO_DECODER, DETACH_KEYS | DETACH_MEMORY, "", NULL);
}

/* ------------------------------------------------------------------ configs */

static void refuses(const char *config, const char *words)
{
    struct err err = {0};
    struct model *model = model_fresh(config, "wrong.json", NULL, &err);
    if (model) fail_msg("taken although wrong: %s", words);
    if (!strstr(err.text, words)) fail_msg("'%s' is missing in: %s", words, err.text);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    refuses(RLT(LAYERS("1", "2"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":1,\"tie_encoder_decoder\":true"),
            "tie_encoder_decoder");
    refuses(RLT(LAYERS("0", "0"), "\"sliding_window\":3,\"memory_groups\":1,\"feedback_scale\":1,\"tie_encoder_decoder\":false"),
            "num_encoder_layers");
    refuses(RLT(LAYERS("1", "1"), "\"sliding_window\":0,\"memory_groups\":1,\"feedback_scale\":1,\"tie_encoder_decoder\":false"), "sliding_window");
    refuses(RLT(LAYERS("1", "1"), "\"sliding_window\":3,\"memory_groups\":0,\"feedback_scale\":1,\"tie_encoder_decoder\":false"), "memory_groups");
    refuses(RLT(LAYERS("1", "1"), "\"sliding_window\":3,\"memory_groups\":1,\"tie_encoder_decoder\":false"), "feedback_scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_and_replay_equal_prefill),         cmocka_unit_test(a_run_continues_another_anywhere),
        cmocka_unit_test(a_window_of_one_sees_itself_alone),         cmocka_unit_test(a_window_fills_and_then_moves),
        cmocka_unit_test(without_feedback_the_decoder_reads_the_encoding), cmocka_unit_test(chunks_read_the_end_of_the_chunk_before),
        cmocka_unit_test(replays_equal_full_runs),                   cmocka_unit_test(gradients_match_finite_differences),
        cmocka_unit_test(detached_paths_carry_nothing),              cmocka_unit_test(contradictions_are_refused),
    };
    struct err err = {0};
    if (!blas_check(&err)) return 1;
    return cmocka_run_group_tests_name("rlt", tests, NULL, NULL);
}
