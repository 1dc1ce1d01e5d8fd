/* Configs and models: what is read is what was written, and every way of not fitting together is named. */
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/rng.h"
#include "ground/text.h"
#include "models/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char config_start[] =
    "{\"model_type\":\"looped\",\"vocab_size\":20,\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":1,\"num_loops\":2,"
    "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"head_dim\":8,\"hidden_act\":\"silu\",\"position_embedding\":\"rope\",";
static const char config_end[] = "\"norm_each_loop\":false,\"loop_interface\":{\"kind\":\"none\"}}";
static const char usual[] = "\"rms_norm_eps\":1e-6,\"rope_theta\":10000.0,\"tie_word_embeddings\":true,";

static char folder[] = "/tmp/loopscope-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"config.json", "model.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        char *path = path_join(folder, names[i]);
        unlink(path);
        mem_free(path);
    }
    return rmdir(folder);
}

static struct model *fresh(const char *keys)
{
    struct err err = {0};
    struct text text = {0};
    struct rng rng = rng_start(1, "test");
    text_add(&text, "%s%s%s", config_start, keys, config_end);
    struct model *model = model_fresh(text.data, "test.json", NULL, &err);
    if (!model) fail_msg("%s", err.text);
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        for (int j = 0; j < w->rows * w->cols; j++) model->block[w->offset + (size_t)j] = (float)rng_normal(&rng);
    }
    text_clear(&text);
    return model;
}

static struct weight *weight(struct model *model, const char *name)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (!strcmp(model->weights[i]->name, name)) return model->weights[i];
    fail_msg("no weight %s", name);
    return NULL;
}

/* The model in the folder with other config keys, and what the loader says about it. */
static struct model *reopen(const char *keys, struct collector *notes, struct err *err)
{
    struct text text = {0};
    char *path = path_join(folder, "config.json");
    if (keys) {
        text_add(&text, "%s%s%s", config_start, keys, config_end);
        assert_true(file_write(path, text.data, text.size, NULL));
    }
    text_clear(&text);
    mem_free(path);
    collector_init(notes);
    text_add(&notes->notes, "%s", "");
    return model_open(folder, &notes->sink, err);
}

static void refuses(const char *keys, const char *words)
{
    struct err err = {0};
    struct collector notes;
    struct model *model = reopen(keys, &notes, &err);
    if (model) fail_msg("taken although wrong: %s", words);
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|') {
        struct text word = {0};
        text_add_bytes(&word, at, strcspn(at, "|"));
        if (!strstr(err.text, word.data)) fail_msg("'%s' is missing in: %s", word.data, err.text);
        text_clear(&word);
    }
    collector_release(&notes);
}

/* Opens, and the notes hold the word; NULL: no note at all. */
static void accepts(const char *keys, const char *word)
{
    struct err err = {0};
    struct collector notes;
    struct model *model = reopen(keys, &notes, &err);
    if (!model) fail_msg("%s", err.text);
    if (word ? !strstr(notes.notes.data, word) : notes.notes.size) fail_msg("wanted '%s', said: %s", word ? word : "", notes.notes.data);
    model_free(model);
    collector_release(&notes);
}

static void written_and_read(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector notes;
    struct model *model = fresh(usual), *open, *copy;
    assert_int_equal((uintptr_t)model->block % 64, 0);
    for (size_t i = 0; i < model->weight_count; i++) assert_int_equal(model->weights[i]->offset % 16, 0);
    assert_int_equal(model_numbers(model), 20 * 16 + 4 * 16 * 16 + 3 * 16 * 24 + 3 * 16);
    assert_string_equal(model_hash(model), "");
    if (!model_save(model, folder, F32, &err)) fail_msg("%s", err.text);
    open = reopen(NULL, &notes, &err);
    if (!open) fail_msg("%s", err.text);
    assert_int_equal(notes.notes.size, 0);
    assert_int_equal(strlen(model_hash(open)), 64);
    assert_string_equal(config_text(open->config), config_text(model->config));
    assert_true(open->loops == 2 && open->blocks == 1 && open->width == 16 && open->vocab_size == 20);
    copy = model_trainable(open, &err);
    if (!copy) fail_msg("%s", err.text);
    assert_memory_equal(copy->block, model->block, model->parameter_count * sizeof *model->block);
    model_free(copy);
    model_free(open);
    collector_release(&notes);
    if (!model_save(model, folder, BF16, &err)) fail_msg("%s", err.text);
    open = reopen(NULL, &notes, &err);
    assert_non_null(open);
    assert_int_equal(open->weights[0]->dtype, BF16);
    copy = model_trainable(open, &err);
    for (size_t i = 0; i < model->parameter_count; i++) assert_true(fabsf(copy->block[i] - model->block[i]) <= fabsf(model->block[i]) / 256);
    model_free(copy);
    model_free(open);
    model_free(model);
    collector_release(&notes);
}

static void config_and_file_disagree(void **state)
{
    (void)state;
    struct model *model = fresh(usual);
    assert_true(model_save(model, folder, F32, NULL));
    model_free(model);
    accepts(usual, NULL);
    refuses("\"rms_norm_eps\":1e-6,\"rope_theta\":1e4,\"tie_word_embeddings\":false,", "lm_head.weight is missing|tie_word_embeddings");
    accepts("\"rope_theta\":1e4,\"tie_word_embeddings\":true,", "rms_norm_eps is not given: default 1e-06");
    accepts("\"n_loop\":3,\"rms_norm_eps\":1e-6,\"rope_theta\":1e4,\"tie_word_embeddings\":true,", "unknown key n_loop: did you mean");
    accepts("\"rope_parameters\":{\"rope_theta\":500.0},\"rms_norm_eps\":1e-6,\"tie_word_embeddings\":true,", NULL);
    refuses("\"rope_parameters\":{\"rope_theta\":500.0},\"rope_theta\":1e4,\"rms_norm_eps\":1e-6,\"tie_word_embeddings\":true,",
            "rope_theta is 10000, but rope_parameters.rope_theta is 500");
    refuses("\"rope_theta\":\"x\",\"rms_norm_eps\":\"y\",\"tie_word_embeddings\":1,",
            "rope_theta|rms_norm_eps|tie_word_embeddings"); /* all at once */
    refuses("\"n_embd\":24,\"rms_norm_eps\":1e-6,\"rope_theta\":1e4,\"tie_word_embeddings\":true,", "hidden_size is 16, but n_embd is 24");
    refuses("\"rms_norm_eps\":NaN,", "config.json|column|rms_norm_eps|NaN");
    refuses("\"vocab_size\":20,", "vocab_size stands twice");
}

/* Saves the model's tensors as tensors_write takes them, after `change` had its way. */
static void save_changed(const struct model *model, void (*change)(struct tensor_out *tensors, size_t *count))
{
    struct tensor_out out[32];
    struct err err = {0};
    size_t count = model->weight_count;
    char *path = path_join(folder, "model.safetensors");
    for (size_t i = 0; i < count; i++) {
        const struct weight *w = model->weights[i];
        out[i] = (struct tensor_out){w->name, F32, w->dims, {w->dims == 1 ? w->cols : w->rows, w->cols}, w->data};
    }
    change(out, &count);
    if (!tensors_write(path, out, count, &err)) fail_msg("%s", err.text);
    mem_free(path);
}

static struct tensor_out *find(struct tensor_out *tensors, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(tensors[i].name, name)) return tensors + i;
    fail_msg("no tensor %s", name);
    return NULL;
}

static const char *const table_name = "model.embed_tokens.weight";

static void drop_up(struct tensor_out *t, size_t *n) { *find(t, *n, "model.layers.0.mlp.up_proj.weight") = t[*n - 1], --*n; }
static void turn_down(struct tensor_out *t, size_t *n) { memcpy(find(t, *n, "model.layers.0.mlp.down_proj.weight")->shape, (int64_t[]){24, 16}, 16); }
static void as_integers(struct tensor_out *t, size_t *n) { find(t, *n, "model.norm.weight")->dtype = I32; }
static void add_extra(struct tensor_out *t, size_t *n) { t[*n] = t[0], t[(*n)++].name = "a\x1b[2J"; }
static void add_equal_head(struct tensor_out *t, size_t *n) { t[*n] = *find(t, *n, table_name), t[(*n)++].name = "lm_head.weight"; }
static void only_head(struct tensor_out *t, size_t *n) { find(t, *n, table_name)->name = "lm_head.weight"; }
static void add_other_head(struct tensor_out *t, size_t *n)
{
    static float other[20 * 16];
    add_equal_head(t, n);
    memcpy(other, t[*n - 1].data, sizeof other);
    other[7] += 0.5f;
    t[*n - 1].data = other;
}

static void tensors_do_not_fit(void **state)
{
    (void)state;
    struct model *model = fresh(usual);
    assert_true(model_save(model, folder, F32, NULL));
    save_changed(model, drop_up);
    refuses(usual, "model.safetensors|model.layers.0.mlp.up_proj.weight is missing|[24, 16]");
    save_changed(model, turn_down);
    refuses(usual, "model.layers.0.mlp.down_proj.weight has shape [24, 16], config.json asks for [16, 24]");
    save_changed(model, as_integers);
    refuses(usual, "model.norm.weight is I32|F32, F16 or BF16");
    save_changed(model, add_extra);
    accepts(usual, "a\\x1b[2J");
    save_changed(model, add_equal_head);
    accepts(usual, NULL); /* as torch state dicts store a tied head */
    save_changed(model, add_other_head);
    refuses(usual, "lm_head.weight|differ|0.5|tie_word_embeddings");
    save_changed(model, only_head);
    accepts(usual, NULL);
    model_free(model);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    struct model *model = fresh(usual);
    const struct weight *norm = weight(model, "model.norm.weight");
    model->block[norm->offset + 5] = NAN;
    model->block[norm->offset + 6] = -INFINITY;
    assert_true(model_save(model, folder, F32, NULL));
    accepts(usual, "tensor model.norm.weight: 2 of 16 numbers are not finite (1 NaN, 1 infinite)");
    assert_true(model_save(model, folder, F16, NULL));
    accepts(usual, "2 of 16 numbers");
    assert_true(model_save(model, folder, BF16, NULL));
    accepts(usual, "2 of 16 numbers");
    model_free(model);
}

static void sizes_that_cannot_be(void **state)
{
    (void)state;
    struct err err = {0};
    static const char huge[] = "{\"model_type\":\"looped\",\"vocab_size\":200000000,\"hidden_size\":16000000,\"intermediate_size\":8,"
        "\"num_hidden_layers\":1,\"num_loops\":1,\"num_attention_heads\":1,\"position_embedding\":\"none\",\"loop_interface\":{\"kind\":\"none\"}}";
    assert_null(model_fresh(huge, "test.json", NULL, &err));
    assert_non_null(strstr(err.text, "parameters"));
    assert_null(model_fresh("{\"model_type\":\"none\"}", "test.json", NULL, &err));
    assert_non_null(strstr(err.text, "test.json: model_type is \"none\": known are looped"));
    assert_null(model_fresh("{}", "test.json", NULL, &err));
    assert_non_null(strstr(err.text, "model_type is missing"));
    assert_null(model_fresh("[]", "test.json", NULL, &err));
    assert_null(model_open("/no/such/folder", NULL, &err));
    assert_non_null(strstr(err.text, "/no/such/folder: no such folder"));
}

static void config_reads_key_by_key(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector notes;
    collector_init(&notes);
    struct config *c = config_parse("{\"a\":3,\"c\":{\"d\":\"x\",\"unrelated\":1},\"e\":1.0,\"f\":null,\"g\":true}", "c.json", &err);
    assert_int_equal(config_int(c, "a|b", 1, 10), 3);
    assert_string_equal(config_choice(c, "c.d", "w|x"), "x");
    assert_string_equal(config_choice_or(c, "c.z", "w|x", "w"), "w");
    assert_int_equal(config_int(c, "e", 1, 10), 1);
    assert_int_equal(config_int_quiet(c, "f", 1, 10, 7), 7);
    assert_true(config_bool_or(c, "g", false));
    assert_false(config_has(c, "f"));
    assert_false(config_check(c, &notes.sink, &err));
    assert_string_equal(err.text, "c.json: e is 1: a whole number from 1 to 10, without point and exponent, is wanted");
    assert_string_equal(notes.notes.data, "c.json: unknown key c.unrelated: it is ignored\nc.json: c.z is not given: default w\n");
    const struct config_fact *facts;
    assert_int_equal(config_facts(c, &facts), 5);
    assert_string_equal(facts[2].key, "c.z");
    assert_string_equal(facts[2].source, "default");
    assert_string_equal(facts[3].source, "usual");
    config_free(c);
    collector_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_reads_key_by_key), cmocka_unit_test(written_and_read), cmocka_unit_test(config_and_file_disagree),
        cmocka_unit_test(tensors_do_not_fit), cmocka_unit_test(numbers_that_are_none), cmocka_unit_test(sizes_that_cannot_be),
    };
    return cmocka_run_group_tests_name("model", tests, make_folder, remove_folder);
}
