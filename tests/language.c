/* Questions in words: what the language generator promises, in both formats, and that they are the questions of khop. */
#include "ground/file.h"
#include "ground/mem.h"
#include "learning/dataset.h"
#include "registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZES "--entities 20 --relations 8 --out-degree 5 --train 300 --test 100 --seed 3"
enum { ENTITIES = 20, RELATIONS = 8, DEGREE = 5, WORDS = 2 * ENTITIES + RELATIONS };

static char folder[] = "/tmp/loopscope-language-XXXXXX"; /* filled in by mkdtemp; everything happens inside */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void make(const char *kind, const char *name, const char *line)
{
    size_t i = 0, count;
    while (generators[i] && strcmp(generators[i]->name, kind)) i++;
    assert_non_null(generators[i]);
    struct err err = {0};
    struct args args;
    char **words, *path = path_join(folder, name);
    assert_true(words_split(line, &words, &count, &err));
    if (!args_parse(&args, generators[i]->options, count, words, &err) ||
        !generator_make(generators[i], &args, path, NULL, &err)) fail_msg("%s", err.text);
    args_clear(&args);
    words_free(words, count);
    mem_free(path);
}

static struct dataset *open_set(const char *name, const char *notes)
{
    struct err err = {0};
    struct collector out;
    char *path = path_join(folder, name);
    collector_init(&out);
    struct dataset *data = dataset_open(path, &out.sink, &err);
    if (!data) fail_msg("%s", err.text);
    if (!notes && out.notes.size) fail_msg("%s", out.notes.data);
    if (notes && (!out.notes.size || !strstr(out.notes.data, notes))) fail_msg("'%s' does not say '%s'", out.notes.size ? out.notes.data : "", notes);
    collector_release(&out);
    mem_free(path);
    return data;
}

/* The row as a sentence, its bridges and its answer, in words made of what khop says: entities and relations by their numbers. */
static void expect_row(const struct dataset *data, const struct question *q, const struct question *bare, bool reverse)
{
    char want[512] = "", have[512] = "";
    int hops = bare->length - 1, inner = reverse ? hops - 1 : hops;
    if (reverse) sprintf(want, "The %s of ", dataset_token(data, bare->tokens[hops]));
    strcat(want, dataset_token(data, bare->tokens[0]));
    for (int i = 1; i <= inner; i++) sprintf(want + strlen(want), " 's %s", dataset_token(data, bare->tokens[i]));
    strcat(want, " is");
    for (int i = 0; i < q->length; i++) sprintf(have + strlen(have), "%s%s", i ? " " : "", dataset_token(data, q->tokens[i]));
    assert_string_equal(have, want);
    assert_int_equal(q->answer, bare->answer);
    assert_int_equal(q->answer_position, q->length - 1);
    assert_int_equal(q->bridge_count, bare->bridge_count);
    for (int i = 0; i < q->bridge_count; i++) {
        assert_int_equal(q->bridges[i].token, bare->bridges[i].token);
        /* at the relation that leads there, the first position whose prefix settles it */
        assert_int_equal(q->tokens[q->bridges[i].position], bare->tokens[i + 1]);
        assert_int_equal(q->bridges[i].position, (reverse ? 3 : 0) + 2 * (i + 1));
    }
}

/* Relations have the same ids in both kinds, so that rows can be held side by side. */
static void expect_khop(const char *name, const char *bare_name, bool reverse)
{
    struct dataset *data = open_set(name, NULL), *bare = open_set(bare_name, NULL);
    assert_int_equal(data->vocab_size, WORDS + 4);
    assert_int_equal(data->split_count, bare->split_count);
    for (size_t s = 0; s < data->split_count; s++) {
        assert_string_equal(data->splits[s].name, bare->splits[s].name);
        assert_int_equal(data->splits[s].count, bare->splits[s].count);
        for (size_t i = 0; i < data->splits[s].count; i++) expect_row(data, &data->splits[s].questions[i], &bare->splits[s].questions[i], reverse);
    }
    dataset_free(data);
    dataset_free(bare);
}

static void both_formats_say_khop(void **state)
{
    (void)state;
    make("khop", "bare", SIZES);
    make("language", "direct", SIZES);
    make("language", "reverse", "--format reverse " SIZES);
    expect_khop("direct", "bare", false);
    expect_khop("reverse", "bare", true);
    make("khop", "bare3", "--hops 3 " SIZES);
    make("language", "direct3", "--hops 3 " SIZES);
    make("language", "reverse3", "--hops 3 --format reverse " SIZES);
    expect_khop("direct3", "bare3", false);
    expect_khop("reverse3", "bare3", true);
}

static int fact(const struct dataset *data, int entity, int relation)
{
    const struct split *facts = dataset_split(data, "train_atomic");
    for (size_t i = 0; i < facts->count; i++) {
        const int *t = facts->questions[i].tokens;
        if (t[0] == entity && t[2] == relation) return facts->questions[i].answer;
    }
    fail_msg("no fact %s %s", dataset_token(data, entity), dataset_token(data, relation));
    return -1;
}

/* Follows the graph of the facts; independently of khop. */
static void bridges_are_right(void **state)
{
    (void)state;
    make("language", "follow", SIZES);
    struct dataset *data = open_set("follow", NULL);
    const char *const names[] = {"train_two_hop", "test_id", "test_ood"};
    const size_t counts[] = {300, 100, 100};
    assert_int_equal(dataset_split(data, "train_atomic")->count, 2 * ENTITIES * DEGREE);
    for (size_t s = 0; s < 3; s++) {
        const struct split *split = dataset_split(data, names[s]);
        assert_int_equal(split->count, counts[s]);
        for (size_t i = 0; i < split->count; i++) {
            const struct question *q = &split->questions[i];
            int bridge = fact(data, q->tokens[0], q->tokens[2]);
            assert_int_equal(q->length, 6);
            assert_int_equal(q->bridges[0].token, bridge);
            assert_int_equal(q->answer, fact(data, bridge, q->tokens[4]));
            assert_int_equal(q->tokens[0] >= ENTITIES, s == 2); /* graph B only out of distribution; the graphs share no entity */
            assert_int_equal(bridge >= ENTITIES, s == 2);
            assert_int_equal(q->answer >= ENTITIES, s == 2);
        }
    }
    dataset_free(data);
}

static void expect_bytes(const char *a, const char *b, const char *file)
{
    char *one = path_join(folder, a), *two = path_join(folder, b), *one_file = path_join(one, file), *two_file = path_join(two, file);
    char *x = file_read(one_file, 1 << 20, NULL, NULL), *y = file_read(two_file, 1 << 20, NULL, NULL);
    assert_non_null(x);
    assert_non_null(y);
    assert_string_equal(x, y);
    mem_free(one), mem_free(two), mem_free(one_file), mem_free(two_file), mem_free(x), mem_free(y);
}

/* Every sentence of one hop is followed by its phrase; longer questions stay as they are. */
static void phrases_say_facts_again(void **state)
{
    (void)state;
    make("language", "sentences", "--format reverse " SIZES);
    make("language", "phrases", "--phrases --format reverse " SIZES);
    struct dataset *plain = open_set("sentences", NULL), *data = open_set("phrases", NULL);
    const struct split *facts = dataset_split(plain, "train_atomic"), *both = dataset_split(data, "train_atomic");
    assert_int_equal(both->count, 2 * facts->count);
    for (size_t i = 0; i < facts->count; i++) {
        const struct question *said = &both->questions[2 * i], *phrase = said + 1, *fact = &facts->questions[i];
        char have[128] = "", want[128];
        assert_memory_equal(said->tokens, fact->tokens, sizeof *fact->tokens * (size_t)fact->length);
        snprintf(want, sizeof want, "%s 's %s", dataset_token(data, fact->tokens[3]), dataset_token(data, fact->tokens[1]));
        for (int t = 0; t < phrase->length; t++) sprintf(have + strlen(have), "%s%s", t ? " " : "", dataset_token(data, phrase->tokens[t]));
        assert_string_equal(have, want);
        assert_int_equal(phrase->answer, fact->answer);
        assert_int_equal(phrase->answer_position, 2);
    }
    dataset_free(plain);
    dataset_free(data);
    expect_bytes("sentences", "phrases", "train_two_hop.jsonl");
}

static void same_bytes(void **state)
{
    static const char *const files[] = {"dataset.json", "vocab.json", "train_atomic.jsonl", "train_two_hop.jsonl", "test_id.jsonl", "test_ood.jsonl"};
    (void)state;
    make("language", "one", "--format=reverse " SIZES);
    make("language", "two", SIZES " --format reverse");
    make("language", "other", SIZES);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) expect_bytes("one", "two", files[i]);
    expect_bytes("one", "other", "vocab.json"); /* a model of one format can be asked in the other */
    struct dataset *data = open_set("one", NULL);
    assert_string_equal(data->hash, "0d56386b418b1ffdb2c5e5fc35d75c298dc83c292286d1ed5897cb84d9a40e9f"); /* the bytes of this version */
    dataset_free(data);
}

/* More relations than there are words for, more entities than there are short names. */
static void names_differ(void **state)
{
    (void)state;
    make("language", "names", "--entities 4000 --relations 120 --out-degree 1 --train 1 --test 1");
    struct dataset *data = open_set("names", NULL); /* refuses a name that stands twice */
    for (int i = 0; i < 8000; i++) {
        const char *name = dataset_token(data, i);
        assert_in_range(name[0], 'A', 'Z');
        assert_int_equal(strlen(name), 6);
        assert_int_equal(dataset_id(data, name), i);
    }
    assert_string_equal(dataset_token(data, 8000), "mother");
    assert_string_equal(dataset_token(data, 8050), "mother-2");
    assert_string_equal(dataset_token(data, 8119), "patient-3");
    dataset_free(data);
}

/* The row of another fact's answer; the hash is left out so that the reader does not refuse the file at once. */
static void spoil(const char *set, const char *split, const char *from, const char *to)
{
    struct err err = {0};
    char *path = path_join(folder, set), *meta = path_join(path, "dataset.json"), *rows = path_join(path, split);
    char *text = file_read(rows, 1 << 20, NULL, &err), *at = text ? strstr(text, from) : NULL;
    assert_non_null(at);
    memcpy(at, to, strlen(to)); /* of the same length */
    assert_true(file_write(rows, text, strlen(text), &err));
    const char *plain = "{\"kind\":\"language\",\"vocab_size\":52,\"files\":{\"train_atomic.jsonl\":{},\"train_two_hop.jsonl\":{},"
                        "\"test_id.jsonl\":{},\"test_ood.jsonl\":{}}}";
    assert_true(file_write(meta, plain, strlen(plain), &err));
    mem_free(path), mem_free(meta), mem_free(rows), mem_free(text);
}

static void contradictions_are_noticed(void **state)
{
    static const char *const formats[] = {"direct", "reverse"};
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        char line[256];
        snprintf(line, sizeof line, "--format %s " SIZES, formats[f]);
        make("language", "spoilt", line);
        struct dataset *data = open_set("spoilt", NULL);
        const struct question *q = &dataset_split(data, "test_ood")->questions[0];
        char from[64], to[64];
        snprintf(from, sizeof from, "\"token\":%d", q->bridges[0].token);
        snprintf(to, sizeof to, "\"token\":%d", q->bridges[0].token == 20 ? 21 : 20);
        dataset_free(data);
        spoil("spoilt", "test_ood.jsonl", from, to);
        dataset_free(open_set("spoilt", "test_ood.jsonl: 1 of 100 rows contradict the atomic facts, in their bridges or their answer "
                                        "(first: row 1)"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_say_khop), cmocka_unit_test(bridges_are_right), cmocka_unit_test(same_bytes),
        cmocka_unit_test(names_differ), cmocka_unit_test(contradictions_are_noticed), cmocka_unit_test(phrases_say_facts_again),
    };
    return cmocka_run_group_tests_name("language", tests, make_folder, remove_folder);
}
