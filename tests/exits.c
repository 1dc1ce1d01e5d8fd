/* Ouro's exits and windows, LoopFormer's steps: rules that hold whatever the weights are. */
#include "learning/optim.h"
#include "models/run.h"
#include "numbers/blas.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OURO(more)                                                                                                                                   \
    "{\"model_type\":\"ouro\",\"vocab_size\":30,\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":1,\"total_ut_steps\":3,"           \
    "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"head_dim\":8,\"rms_norm_eps\":1e-6,\"rope_theta\":100.0,\"tie_word_embeddings\":"         \
    "false" more "}"
#define LOOPFORMER(more) \
    "{\"model_type\":\"loopformer\",\"block_size\":8,\"vocab_size\":30,\"n_layer\":1,\"n_head\":2,\"n_embd\":16,\"bias\":false," \
    "\"intermediate_dim\":24," more "}"

static struct model *example(const char *config)
{
    struct err err = {0};
    struct model *model = model_fresh(config, "example", NULL, &err);
    if (!model) fail_msg("%s", err.text);
    weights_draw(model, 3, 0.3, 0.5);
    return model;
}

static void refuses(const char *config, const char *words)
{
    struct err err = {0};
    assert_null(model_fresh(config, "example", NULL, &err));
    if (!strstr(err.text, words)) fail_msg("wanted '%s', said: %s", words, err.text);
}

enum { T = 7 };

struct world { struct arena arena; struct tape tape; struct run run; };

static struct tensor *forward(struct world *w, const struct model *model, const int *tokens, int loops, double threshold)
{
    int length = T;
    w->tape = (struct tape){.arena = &w->arena};
    run_init(&w->run, model, &w->tape, batch_new(&w->arena, 1, &length, &tokens));
    if (loops) w->run.loops = loops;
    w->run.exit_threshold = threshold;
    return run_forward(&w->run, NULL);
}

static const int tokens[T] = {3, 9, 4, 4, 21, 0, 17};

static void same(const struct tensor *a, const struct tensor *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->data, b->data, sizeof(float) * (size_t)a->rows * (size_t)a->cols);
}

/* A threshold of 0 leaves after the first loop, one that no sum of probabilities reaches after the last, whatever K is. */
static void thresholds_at_the_ends(void **state)
{
    (void)state;
    struct model *model = example(OURO(",\"early_exit_threshold\":0.5"));
    for (int loops = 1; loops <= 5; loops++) {
        struct world w = {0}, v = {0};
        struct tensor *first = forward(&w, model, tokens, loops, 0), *last = forward(&v, model, tokens, loops, 1.5);
        same(first, run_decode(&w.run, w.run.states[1], 1));
        same(last, run_decode(&v.run, v.run.states[loops], loops));
        arena_clear(&w.arena);
        arena_clear(&v.arena);
    }
    model_free(model);
}

static void a_fixed_step_goes_before_the_threshold(void **state)
{
    (void)state;
    struct model *model = example(OURO(",\"early_exit_threshold\":0.0,\"early_exit_step\":1"));
    struct world w = {0};
    struct tensor *logits = forward(&w, model, tokens, 0, NAN);
    same(logits, run_decode(&w.run, w.run.states[2], 2));
    logits = forward(&w, model, tokens, 1, NAN); /* has no such loop: by threshold */
    same(logits, run_decode(&w.run, w.run.states[1], 1));
    arena_clear(&w.arena);
    model_free(model);
}

/* One block, K loops, a window of w: position p depends on the tokens from p - K (w - 1) on. */
static void windows_reach_as_far_as_they_should(void **state)
{
    (void)state;
    struct model *model = example(OURO(",\"early_exit_threshold\":1.0,\"layer_types\":[\"sliding_attention\"],\"sliding_window\":2"));
    int other[T];
    memcpy(other, tokens, sizeof other);
    other[1] = 28;
    struct world w = {0}, v = {0};
    struct tensor *a = forward(&w, model, tokens, 0, NAN), *b = forward(&v, model, other, 0, NAN);
    for (int p = 0; p < T; p++) {
        bool equal = !memcmp(a->data + p * a->cols, b->data + p * b->cols, sizeof(float) * (size_t)a->cols);
        assert_int_equal(equal, p < 1 || p > 1 + 3);
    }
    arena_clear(&w.arena);
    arena_clear(&v.arena);
    model_free(model);
}

static void configs_that_contradict_themselves(void **state)
{
    (void)state;
    refuses(OURO(",\"layer_types\":[\"sliding_attention\"]"), "sliding_window");
    refuses(OURO(",\"layer_types\":[\"full_attention\",\"full_attention\"]"), "layer_types");
    refuses(OURO(",\"layer_types\":[\"linear_attention\"]"), "layer_types");
    refuses(OURO(",\"rope_scaling\":{\"rope_type\":\"yarn\"}"), "yarn");
    refuses(LOOPFORMER("\"steps\":[]"), "steps");
    refuses(LOOPFORMER("\"steps\":[0.5,\"half\"]"), "steps");
    refuses(LOOPFORMER("\"steps\":0.5"), "steps");
}

/* Steps that are written down as equal are those of max_model_loops; another K at run time takes its own equal steps. */
static void steps_given_and_equal(void **state)
{
    (void)state;
    struct model *written = example(LOOPFORMER("\"steps\":[0.25,0.25,0.25,0.25]")), *counted = example(LOOPFORMER("\"max_model_loops\":4"));
    struct model *two = example(LOOPFORMER("\"max_model_loops\":2"));
    struct world w = {0};
    memcpy(two->block, written->block, sizeof(float) * written->parameter_count);
    same(forward(&w, written, tokens, 0, NAN), forward(&w, counted, tokens, 0, NAN));
    same(forward(&w, written, tokens, 2, NAN), forward(&w, two, tokens, 0, NAN));
    arena_clear(&w.arena);
    model_free(written);
    model_free(counted);
    model_free(two);
}

static void more_tokens_than_positions(void **state)
{
    (void)state;
    struct model *model = example(LOOPFORMER("\"max_model_loops\":2"));
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    struct err err = {0};
    struct run run;
    int length = 9, many[9] = {0};
    run_init(&run, model, &tape, batch_new(&arena, 1, &length, (const int *const[]){many}));
    assert_null(run_forward(&run, &err));
    assert_non_null(strstr(err.text, "9 tokens"));
    arena_clear(&arena);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_at_the_ends),
        cmocka_unit_test(a_fixed_step_goes_before_the_threshold),
        cmocka_unit_test(windows_reach_as_far_as_they_should),
        cmocka_unit_test(configs_that_contradict_themselves),
        cmocka_unit_test(steps_given_and_equal),
        cmocka_unit_test(more_tokens_than_positions),
    };
    struct err err = {0};
    if (!blas_check(&err)) return 1;
    return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
