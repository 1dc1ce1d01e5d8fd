/* Datasets: what the khop generator promises, and what a reader refuses or mentions. */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
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

static char folder[] = "/tmp/loopscope-data-XXXXXX"; /* filled in by mkdtemp; everything happens inside */

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void remove_below(const char *path)
{
    char **names;
    size_t count;
    if (!folder_list(path, &names, &count, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        char *inner = path_join(path, names[i]);
        if (file_is_folder(inner)) remove_below(inner);
        else unlink(inner);
        mem_free(inner);
        mem_free(names[i]);
    }
    mem_free(names);
    rmdir(path);
}

static int remove_folder(void **state)
{
    (void)state;
    remove_below(folder);
    return 0;
}

static char *inside(const char *name) { return path_join(folder, name); }

static const struct generator *khop(void)
{
    for (size_t i = 0; generators[i]; i++)
        if (!strcmp(generators[i]->name, "khop")) return generators[i];
    fail_msg("khop is not listed");
    return NULL;
}

static bool make(const char *name, const char *line, struct err *err)
{
    struct args args;
    char **words, *path = inside(name);
    size_t count;
    assert_true(words_split(line, &words, &count, err));
    bool ok = args_parse(&args, khop()->options, count, words, err) && generator_make(khop(), &args, path, NULL, err);
    args_clear(&args);
    words_free(words, count);
    mem_free(path);
    return ok;
}

static struct dataset *open_set(const char *name, struct collector *out, struct err *err)
{
    char *path = inside(name);
    collector_init(out);
    struct dataset *data = dataset_open(path, &out->sink, err);
    mem_free(path);
    return data;
}

/* ------------------------------------------------------------------ the generator's promises */

#define SMALL "--entities 20 --relations 8 --out-degree 5 --train 300 --test 100 --seed 3"

static bool same_tokens(const struct question *a, const struct question *b)
{
    return a->length == b->length && !memcmp(a->tokens, b->tokens, (size_t)a->length * sizeof *a->tokens);
}

static size_t common_rows(const struct split *a, const struct split *b)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) count += a != b || i < j ? same_tokens(&a->questions[i], &b->questions[j]) : 0;
    return count;
}

static void within(const struct split *split, int low, int high, int entities)
{
    for (size_t i = 0; i < split->count; i++) {
        const struct question *q = &split->questions[i];
        assert_in_range(q->tokens[0], low, high - 1);
        assert_in_range(q->answer, low, high - 1);
        for (int j = 1; j < q->length; j++) assert_true(q->tokens[j] >= 2 * entities);
        for (int j = 0; j < q->bridge_count; j++) assert_in_range(q->bridges[j].token, low, high - 1);
        assert_int_equal(q->answer_position, q->length - 1);
    }
}

/* Relations of an entity are different ones, and each graph stays among its own entities. */
static void check_facts(const struct split *facts, int entities, int degree)
{
    assert_int_equal(facts->count, 2 * entities * degree);
    assert_int_equal(common_rows(facts, facts), 0);
    for (size_t i = 0; i < facts->count; i++) {
        const struct question *q = &facts->questions[i];
        assert_int_equal(q->tokens[0], (int)i / degree);
        assert_int_equal(q->answer >= entities, q->tokens[0] >= entities);
        assert_int_equal(q->bridge_count, 0);
        assert_int_equal(q->answer_position, 1);
    }
}

static void promises(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector out;
    assert_true(make("small", SMALL, &err));
    struct dataset *data = open_set("small", &out, &err);
    assert_non_null(data);
    assert_true(!out.notes.size); /* consistent with its facts, no test question in training */
    const struct split *atomic = dataset_split(data, "train_atomic"), *train = dataset_split(data, "train_two_hop");
    const struct split *id = dataset_split(data, "test_id"), *ood = dataset_split(data, "test_ood");
    assert_int_equal(data->vocab_size, 48);
    assert_int_equal(train->count, 300);
    assert_int_equal(id->count, 100);
    assert_int_equal(ood->count, 100);
    check_facts(atomic, 20, 5);
    within(train, 0, 20, 20);
    within(id, 0, 20, 20);
    within(ood, 20, 40, 20);
    assert_int_equal(common_rows(train, train) + common_rows(id, id) + common_rows(ood, ood), 0); /* drawn without replacement */
    assert_int_equal(common_rows(id, train), 0);
    assert_int_equal(common_rows(ood, train), 0);
    assert_string_equal(dataset_token(data, 39), "e39");
    assert_string_equal(dataset_token(data, 40), "r0");
    assert_string_equal(dataset_token(data, 48), "<id 48: no token>");
    assert_int_equal(dataset_id(data, "r7"), 47);
    assert_int_equal(dataset_id(data, "13"), 13);
    assert_int_equal(dataset_id(data, "e40"), -1);
    dataset_free(data);
    collector_release(&out);
}

static void three_hops(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector out;
    assert_true(make("three", "--entities 10 --relations 6 --out-degree 4 --train 110 --test 50 --hops 3", &err));
    struct dataset *data = open_set("three", &out, &err);
    assert_non_null(data);
    assert_true(!out.notes.size);
    assert_int_equal(dataset_split(data, "train_two_hop")->count, 110);
    assert_int_equal(dataset_split(data, "train_three_hop")->count, 110);
    within(dataset_split(data, "test_two_hop_id"), 0, 10, 10);
    within(dataset_split(data, "test_two_hop_ood"), 10, 20, 10);
    assert_int_equal(dataset_split(data, "test_two_hop_ood")->questions[0].length, 3);
    assert_int_equal(common_rows(dataset_split(data, "test_two_hop_id"), dataset_split(data, "train_two_hop")), 0);
    const struct question *q = &dataset_split(data, "test_ood")->questions[7];
    assert_int_equal(q->length, 4);
    assert_int_equal(q->bridge_count, 2);
    assert_int_equal(q->bridges[0].position, 1);
    assert_int_equal(q->bridges[1].position, 2);
    dataset_free(data);
    collector_release(&out);
}

static char *bytes_of(const char *name, const char *file)
{
    char *path = inside(name), *inner = path_join(path, file);
    char *text = file_read(inner, 1 << 20, NULL, NULL);
    mem_free(path);
    mem_free(inner);
    assert_non_null(text);
    return text;
}

static void same_bytes(void **state)
{
    (void)state;
    static const char *const files[] = {"dataset.json", "vocab.json", "train_atomic.jsonl", "train_two_hop.jsonl", "test_id.jsonl",
        "test_ood.jsonl"};
    struct err err = {0};
    assert_true(make("one", SMALL, &err) && make("two", "--test=100 --seed 003 --train 300 --out-degree 5 --relations 8 --entities 20", &err));
    assert_true(make("other", SMALL " --seed 4", &err));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *one = bytes_of("one", files[i]), *two = bytes_of("two", files[i]), *other = bytes_of("other", files[i]);
        assert_string_equal(one, two);
        if (i != 1) assert_string_not_equal(one, other); /* the vocabulary depends on no seed */
        mem_free(one);
        mem_free(two);
        mem_free(other);
    }
    /* The bytes of this version: bundled models were trained on what this generator makes. */
    struct collector out;
    struct dataset *data = open_set("one", &out, &err);
    assert_string_equal(data->hash, "505349f0b18fc2b4ac9bb41c79fcde1a57c35a816ed1c9aa4d7a60be10e21836");
    dataset_free(data);
    collector_release(&out);
}

static void too_many(void **state)
{
    (void)state;
    struct err err = {0};
    assert_false(make("many", "--entities 10 --relations 6 --out-degree 3 --train 81 --test 10", &err));
    assert_non_null(strstr(err.text, "90 chains"));
    assert_true(make("many", "--entities 10 --relations 6 --out-degree 3 --train 80 --test 10", &err));
    assert_false(make("many", "--entities 10 --relations 2 --out-degree 3 --train 8 --test 1", &err));
    assert_non_null(strstr(err.text, "--out-degree 3"));
}

static void places(void **state)
{
    (void)state;
    struct err err = {0};
    char *path = inside("small/notes.txt");
    assert_true(make("small", SMALL, &err) && make("small", SMALL " --seed 9", &err)); /* an older set is replaced */
    assert_true(file_write(path, "mine", 4, &err));
    assert_false(make("small", SMALL, &err)); /* but never something else */
    assert_non_null(strstr(err.text, "notes.txt"));
    assert_true(file_exists(path));
    unlink(path);
    mem_free(path);
    path = inside("plain");
    assert_true(file_write(path, "mine", 4, &err));
    assert_false(make("plain", SMALL, &err));
    mem_free(path);
    path = inside("");
    char **names;
    size_t count;
    assert_true(folder_list(path, &names, &count, &err));
    for (size_t i = 0; i < count; i++) {
        assert_null(strstr(names[i], ".tmp-"));
        assert_null(strstr(names[i], ".old-"));
        mem_free(names[i]);
    }
    mem_free(names);
    mem_free(path);
}

/* ------------------------------------------------------------------ reading what somebody wrote by hand */

#define GOOD "{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1}\n"

static void put(const char *file, const char *text, size_t size)
{
    struct err err = {0};
    char *set = inside("hand"), *path = path_join(set, file);
    if (!folder_make(set, &err) || !file_write(path, text, size, &err)) fail_msg("%s", err.text);
    mem_free(set);
    mem_free(path);
}

static void put_set(const char *meta, const char *vocab, const char *train, const char *test)
{
    put("dataset.json", meta, strlen(meta));
    put("vocab.json", vocab, strlen(vocab));
    put("train.jsonl", train, strlen(train));
    put("test.jsonl", test, strlen(test));
}

static const char meta[] = "{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{},\"test.jsonl\":{}}}";
static const char vocab[] = "{\"a\":0,\"b\":1,\"c\":2,\"r\":3}";

/* Opens the set made by hand: refused when says_wrong is given, else every word of says_odd (NULL: none) is in the notes. */
static void expect(const char *what, const char *says_wrong, const char *says_odd)
{
    struct collector out;
    struct err err = {0};
    struct dataset *data = open_set("hand", &out, &err);
    const char *notes = out.notes.data ? out.notes.data : "";
    if (says_wrong && (data || !strstr(err.text, says_wrong)))
        fail_msg("%s: '%s' does not say '%s'", what, data ? "(accepted)" : err.text, says_wrong);
    if (!says_wrong && !data) fail_msg("%s: refused: %s", what, err.text);
    if (!says_wrong && says_odd && !strstr(notes, says_odd)) fail_msg("%s: '%s' does not say '%s'", what, notes, says_odd);
    dataset_free(data);
    collector_release(&out);
}

static void rows_by_hand(void **state)
{
    (void)state;
    static const struct { const char *row, *wrong, *odd; } cases[] = {
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1}", NULL, NULL},
        {" { \"answer\" : 1 , \"tokens\" : [ 0 , 3 ] , \"answer_position\" : 1 , \"bridges\" : [ ] } \r", NULL, NULL},
        {"{\"tokens\":[0,3,3],\"answer\":2,\"answer_position\":2,\"bridges\":[{\"token\":1,\"position\":1}]}", NULL, NULL},
        {"{\"tokens\":[0,4],\"answer\":1,\"answer_position\":1}", "train.jsonl: line 2: tokens: token 4 is outside 0 to 3", NULL},
        {"{\"tokens\":[0,-1],\"answer\":1,\"answer_position\":1}", "line 2: tokens: token -1", NULL},
        {"{\"tokens\":[0,3.0],\"answer\":1,\"answer_position\":1}", "line 2: tokens: token 1 should be a whole number", NULL},
        {"{\"tokens\":[0,1e0],\"answer\":1,\"answer_position\":1}", "line 2: tokens: token 1 should be a whole number", NULL},
        {"{\"tokens\":[0,\"3\"],\"answer\":1,\"answer_position\":1}", "line 2: tokens: token 1 should be a whole number, not a string", NULL},
        {"{\"tokens\":[0,03],\"answer\":1,\"answer_position\":1}", "line 2:", NULL},
        {"{\"tokens\":[0,3,],\"answer\":1,\"answer_position\":1}", "line 2:", NULL},
        {"{\"tokens\":[0,99999999999999999999],\"answer\":1,\"answer_position\":1}", "line 2:", NULL},
        {"{\"tokens\":[0,4294967299],\"answer\":1,\"answer_position\":1}", "line 2: tokens: token 4294967299 is outside", NULL},
        {"{\"tokens\":[],\"answer\":1,\"answer_position\":0}", "line 2: tokens: the list is empty", NULL},
        {"{\"tokens\":7,\"answer\":1,\"answer_position\":0}", "line 2: tokens: a list", NULL},
        {"{\"answer\":1,\"answer_position\":0}", "line 2: tokens is missing", NULL},
        {"{\"tokens\":[0,3],\"answer\":null,\"answer_position\":1}", "line 2: answer: a whole number should stand here, not null", NULL},
        {"{\"tokens\":[0,3],\"answer\":true,\"answer_position\":1}", "line 2: answer: a whole number", NULL},
        {"{\"tokens\":[0,3],\"answer\":4,\"answer_position\":1}", "line 2: answer: token 4", NULL},
        {"{\"tokens\":[0,3],\"answer\":1}", "line 2: answer_position is missing", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":2}", "line 2: answer_position: position 2 is outside the row: 0 to 1", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":-1}", "line 2: answer_position: position -1", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"answer\":1}", "line 2:", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"bridges\":{}}", "line 2: bridges: a list", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"bridges\":[1]}", "line 2: bridges:", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"bridges\":[{\"position\":1}]}", "line 2: bridges: token is missing", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"bridges\":[{\"position\":2,\"token\":1}]}", "line 2: bridges: position 2", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"bridges\":[{\"position\":1,\"token\":4}]}", "line 2: bridges: token 4", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1} {}", "line 2:", NULL},
        {"[0,3]", "line 2: a row is an object", NULL},
        {"rubbish", "line 2:", NULL},
        {"\xff\xfe", "line 2:", NULL},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"anwser\":1}", NULL,
         "line 2: unknown key 'anwser' is ignored (in 1 row): did you mean 'answer'?"},
        {"{\"tokens\":[0,3],\"answer\":1,\"answer_position\":1,\"\\u001b[2J\":1}", NULL, "'\\x1b[2J'"},
        {"", NULL, "1 empty line skipped (first: line 2)"},
        {"{\"tokens\":[0,3],\"answer\":2,\"answer_position\":1}", NULL, "train.jsonl: 1 of 3 rows contradict the atomic facts"},
        {"{\"tokens\":[1,3],\"answer\":2,\"answer_position\":1}", NULL, "test.jsonl: 1 of 1 rows overlap with the training rows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text train = {0};
        text_add(&train, GOOD "%s\n" GOOD, cases[i].row);
        put_set(meta, vocab, train.data, "{\"tokens\":[1,3],\"answer\":2,\"answer_position\":1}\n");
        expect(cases[i].row, cases[i].wrong, cases[i].odd);
        text_clear(&train);
    }
}

static void heavy_rows(void **state)
{
    (void)state;
    struct text train = {0};
    put_set(meta, vocab, GOOD, GOOD);
    text_add(&train, GOOD);
    for (int i = 0; i < 1 << 20; i++) text_add_bytes(&train, "a", 1);
    put("train.jsonl", train.data, train.size);
    expect("a megabyte", "line 2:", NULL);
    text_clear(&train);
    text_add(&train, GOOD GOOD "{\"tokens\":");
    for (int i = 0; i < 100000; i++) text_add_bytes(&train, "[", 1);
    put("train.jsonl", train.data, train.size);
    expect("deep", "line 3:", NULL);
    text_clear(&train);
    put("train.jsonl", GOOD "{\"tokens\":[0,\0 3]}\n", sizeof GOOD + 18);
    expect("NUL", "line 2:", NULL);
    put("train.jsonl", "version https://git-lfs.github.com/spec/v1\n", 43);
    expect("pointer", "Git LFS pointer", NULL);
    put("train.jsonl", "", 0);
    expect("empty", NULL, "train.jsonl: no rows");
}

static void frames_by_hand(void **state)
{
    (void)state;
    static const char sha[] = "0000000000000000000000000000000000000000000000000000000000000000";
    static const struct { const char *meta, *vocab, *wrong, *odd; } cases[] = {
        {"{\"vocab_size\":4,\"files\":{\"train.jsonl\":{}}}", NULL, "dataset.json: kind is missing", NULL},
        {"{\"kind\":\"khop\",\"files\":{\"train.jsonl\":{}}}", NULL, "dataset.json: vocab_size is missing", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4.0,\"files\":{\"train.jsonl\":{}}}", NULL, "vocab_size: a whole number", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":0,\"files\":{\"train.jsonl\":{}}}", NULL, "vocab_size: 0 is outside", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":1e30,\"files\":{\"train.jsonl\":{}}}", NULL, "vocab_size", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4}", NULL, "dataset.json: files is missing", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":[]}", NULL, "files:", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"../train.jsonl\":{}}}", NULL, "'../train.jsonl' is no name of a split", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"gone.jsonl\":{},\"lost.jsonl\":{}}}", NULL, "missing: gone.jsonl, lost.jsonl", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{\"sha256\":\"12\"}}}", NULL, "64 hexadecimal digits", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{\"sha256\":\"@\"}}}", NULL, "train.jsonl: changed since", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{\"rows\":2}}}", NULL, "train.jsonl: 1 rows, but dataset.json says 2",
         NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{}}}", NULL, NULL, "test.jsonl is not named in dataset.json"},
        {"{\"kind\":\"khop\",\"vocab_size\":4,\"sede\":1,\"files\":{\"train.jsonl\":{}}}", NULL, NULL,
         "unknown key 'sede' is ignored: did you mean 'seed'?"},
        {"{\"kind\":\"khop\",\"vocab_size\":6,\"files\":{\"train.jsonl\":{}}}", NULL, NULL, "names 4 of the 6 ids"},
        {"{\"kind\":\"khop\",\"vocab_size\":3,\"files\":{\"train.jsonl\":{}}}", NULL, "vocab.json: 'r': id 3 is outside 0 to 2", NULL},
        {"{\"kind\":\"khpo\",\"vocab_size\":4,\"files\":{\"train.jsonl\":{}}}", NULL, NULL, "kind 'khpo' is not one that this program makes"},
        {meta, "{\"a\":0,\"b\":0,\"c\":2,\"r\":3}", "vocab.json: 'a' and 'b' have the same id 0", NULL},
        {meta, "{\"a\":0,\"b\":\"1\",\"c\":2,\"r\":3}", "vocab.json: 'b'", NULL},
        {meta, "{\"a\":0,\"a\":1,\"c\":2,\"r\":3}", "vocab.json", NULL},
        {meta, "[\"a\",\"b\",\"c\",\"r\"]", "vocab.json: an object", NULL},
        {"{\"kind\":\"khop\",\"vocab_size\":4", NULL, "dataset.json", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        for (const char *s = cases[i].meta; *s; s++) text_add(&text, *s == '@' ? "%s" : "%.1s", *s == '@' ? sha : s);
        put_set(text.data, cases[i].vocab ? cases[i].vocab : vocab, GOOD, "{\"tokens\":[1,3],\"answer\":2,\"answer_position\":1}\n");
        expect(cases[i].meta, cases[i].wrong, cases[i].odd);
        text_clear(&text);
    }
}

/* ------------------------------------------------------------------ specs: sets that are made when they are needed */

static void made_on_demand(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector out;
    struct session *session = session_new(1);
    char *cache = inside("cache"), *spec = inside("tiny.spec"), *name = inside("tiny");
    setenv("XDG_CACHE_HOME", cache, 1);
    static const char text[] = "# tiny\ndata khop --entities 6 --relations 4 --out-degree 3 --train 30 --test 10 --seed 1\n";
    assert_true(file_write(spec, text, sizeof text - 1, &err));
    collector_init(&out);
    const struct dataset *data = session_data(session, NULL, name, &out.sink, &err);
    if (!data) fail_msg("%s", err.text);
    assert_non_null(strstr(out.notes.data, "was made in"));
    assert_ptr_equal(session_data(session, NULL, name, &out.sink, &err), data); /* opened once */
    collector_release(&out);
    session_forget(session, name);
    collector_init(&out);
    assert_non_null(session_data(session, NULL, name, &out.sink, &err)); /* now from the cache, without a word */
    assert_true(!out.notes.size);
    session_forget(session, name);
    static const char other[] = "data khop --entities 6 --relations 4 --out-degree 3 --train 30 --test 10 --seed 2\nsha256 = 00\n";
    assert_true(file_write(spec, other, sizeof other - 1, &err));
    assert_null(session_data(session, NULL, name, &out.sink, &err)); /* what is made has another hash than the spec says */
    assert_non_null(strstr(err.text, "tiny.spec"));
    assert_non_null(strstr(err.text, "not the set"));
    collector_release(&out);
    session_free(session);
    mem_free(cache);
    mem_free(spec);
    mem_free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises), cmocka_unit_test(three_hops), cmocka_unit_test(same_bytes), cmocka_unit_test(too_many),
        cmocka_unit_test(places),
        cmocka_unit_test(rows_by_hand), cmocka_unit_test(heavy_rows), cmocka_unit_test(frames_by_hand), cmocka_unit_test(made_on_demand),
    };
    return cmocka_run_group_tests_name("data", tests, make_folder, remove_folder);
}
