/* JSON is read strictly, and SHA-256 gives the published digests. */
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct json *parse(const char *text, struct err *err) { return json_parse(text, strlen(text), "x.json", err); }

static void refuses(const char *text, const char *word)
{
    struct err err = {0};
    struct json *json = parse(text, &err);
    if (json) fail_msg("taken although wrong: %s", text);
    if (!strstr(err.text, word) || strncmp(err.text, "x.json: ", 8)) fail_msg("'%s' gives: %s", text, err.text);
}

static void takes_what_is_json(void **state)
{
    (void)state;
    static const char *const good[] = {"0", "-0", "1e5", "-0.5E+3", "\"\"", "[]", "{}", " [ 1 , 2 ] ", "{\"a\":{\"a\":[{}]}}",
                                       "\"\\ud83d\\ude00\\u00e9\\/\"", "true", "null"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct err err = {0};
        struct json *json = parse(good[i], &err);
        if (!json) fail_msg("%s", err.text);
        json_free(json);
    }
}

static void refuses_what_is_not(void **state)
{
    (void)state;
    refuses("", "empty");
    refuses("\xef\xbb\xbf{}", "byte order mark");
    refuses("{}x", "behind the end");
    refuses("{\"a\":1,}", "key in double quotes");
    refuses("[1,]", "not a JSON value");
    refuses("[1 2]", "comma");
    refuses("{\"a\" 1}", "colon");
    refuses("{'a':1}", "double quotes");
    refuses("01", "no JSON number");
    refuses("-", "no JSON number");
    refuses("1.", "no JSON number");
    refuses("1e", "no JSON number");
    refuses("+1", "not a JSON value");
    refuses(".5", "not a JSON value");
    refuses("1e999", "too large");
    refuses("{\"eps\": NaN}", "in eps: 'NaN'");
    refuses("{\"w\":{\"shape\":[1,Infinity]}}", "in w.shape: 'Infinity'");
    refuses("\"a\nb\"", "\\u000a");
    refuses("\"abc", "does not end");
    refuses("{\"a\":[1", "incomplete");
    refuses("\"\xff\"", "UTF-8");
    refuses("\"\xc3", "UTF-8");
    refuses("\"\xed\xa0\x80\"", "UTF-8");
    refuses("\"\\ud800\"", "surrogate");
    refuses("\"\\u0000\"", "NUL");
    refuses("\"\\x\"", "backslash");
    refuses("{\"a\":1,\"b\":2,\"\\u0061\":3}", "the key a stands twice");
    refuses("{\"t\":{\"d\":1,\"d\":2}}", "the key d stands twice in t");
    refuses("{\n  \"a\": 1,\n  \"b\": oops\n}", "line 3 column 8 in b: 'oops'");
    char deep[200];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    refuses(deep, "nested deeper than 64");
    struct err err = {0};
    assert_null(json_parse("[1,\0 2]", 7, "x.json", &err));
    assert_non_null(strstr(err.text, "NUL"));
    assert_null(json_parse("\"\xe2\x82", 3, "x.json", &err)); /* nothing behind the end is looked at */
}

static void duplicates_in_large_objects(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "{");
    for (int i = 0; i < 5000; i++) text_add(&text, "\"k%d\":[%d,0.5],", i, i);
    text_add(&text, "\"k77\":0}");
    refuses(text.data, "the key k77 stands twice");
    text_clear(&text);
}

static void integers_are_written_as_integers(void **state)
{
    (void)state;
    struct err err;
    struct json *json = parse("{\"a\":[7,7.0,7e0,\"7\",-7,9007199254740991,9007199254740993,1e15],\"b\":2.5}", &err);
    int64_t value = 0;
    static const bool whole[] = {true, false, false, false, true, true, false, false};
    const struct json *node = json_first(json_get(json, "a"));
    for (size_t i = 0; i < 8; i++, node = json_next(node)) assert_int_equal(json_int(node, &value), whole[i]);
    double number;
    assert_true(json_number(json_get(json, "b"), &number) && number == 2.5);
    assert_false(json_int(json_get(json, "c"), &value));
    assert_string_equal(json_kind(json_get(json, "c")), "missing");
    assert_int_equal(json_count(json_get(json, "a")), 8);
    json_free(json);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    struct text out = {0};
    struct err err;
    json_add_string(&out, "a\"\\\n\x1b\xc3\xa9\xff");
    assert_string_equal(out.data, "\"a\\\"\\\\\\n\\u001b\xc3\xa9\xef\xbf\xbd\"");
    struct json *json = parse(out.data, &err);
    assert_string_equal(json_string(json), "a\"\\\n\x1b\xc3\xa9\xef\xbf\xbd");
    json_free(json);
    text_clear(&out);
    json_add_number(&out, 0.1);
    text_add(&out, " ");
    json_add_number(&out, 1.0 / 3);
    text_add(&out, " ");
    json_add_number(&out, 10000);
    text_add(&out, " ");
    json_add_number(&out, NAN);
    assert_string_equal(out.data, "0.1 0.3333333333333333 10000 null");
    text_clear(&out);
}

static void hash_of(const char *text, size_t repeat, const char *hex)
{
    struct hash hash;
    char is[HASH_HEX];
    hash_start(&hash);
    for (size_t i = 0; i < repeat; i++) hash_add(&hash, text, strlen(text));
    hash_end(&hash, is);
    assert_string_equal(is, hex);
}

static void published_digests(void **state)
{
    (void)state; /* FIPS 180-4 examples and the NIST long message of a million a */
    hash_of("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_of("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    hash_of("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    char whole[HASH_HEX];
    hash_bytes(whole, "abc", 3);
    assert_string_equal(whole, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_json), cmocka_unit_test(refuses_what_is_not), cmocka_unit_test(duplicates_in_large_objects),
        cmocka_unit_test(integers_are_written_as_integers), cmocka_unit_test(writes_what_it_reads), cmocka_unit_test(published_digests),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
