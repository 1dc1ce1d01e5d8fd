/* safetensors files: right ones read back exactly, wrong ones refused with a message that names what is wrong. */
#include "ground/file.h"
#include "ground/hash.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/safetensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/loopscope-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void empty_folder(void)
{
    char **names;
    size_t count;
    if (!folder_list(folder, &names, &count, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        char *path = path_join(folder, names[i]);
        if (unlink(path)) rmdir(path);
        mem_free(path);
        mem_free(names[i]);
    }
    mem_free(names);
}

static int remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

static void put(const char *name, const void *bytes, size_t size)
{
    struct err err = {0};
    char *path = path_join(folder, name);
    if (!file_write(path, bytes, size, &err)) fail_msg("%s", err.text);
    mem_free(path);
}

/* A file with this header; the data are the bytes 0, 1, 2 ... */
static void put_file(const char *name, const char *header, size_t data_size)
{
    struct text file = {0};
    uint64_t length = strlen(header);
    text_add_bytes(&file, (const char *)&length, 8);
    text_add_bytes(&file, header, length);
    for (size_t i = 0; i < data_size; i++) text_add_bytes(&file, &(char){(char)i}, 1);
    put(name, file.data, file.size);
    text_clear(&file);
}

static struct tensor_set *open_set(struct collector *notes, struct err *err)
{
    collector_init(notes);
    return tensor_set_open(folder, &notes->sink, err);
}

static void expect_refused(const char *what, const char *file, const char *words)
{
    struct err err = {0};
    struct collector notes;
    struct tensor_set *set = open_set(&notes, &err);
    if (set) fail_msg("taken although wrong: %s", what);
    if (!strstr(err.text, file)) fail_msg("%s: the file is not named: %s", what, err.text);
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|') {
        struct text word = {0};
        text_add_bytes(&word, at, strcspn(at, "|"));
        if (!strstr(err.text, word.data)) fail_msg("%s: '%s' is missing in: %s", what, word.data, err.text);
        text_clear(&word);
    }
    collector_release(&notes);
}

/* words: all of them, joined by |, must stand in the message. */
static void refuses(const char *header, size_t data_size, const char *words)
{
    put_file("model.safetensors", header, data_size);
    expect_refused(header, "model.safetensors", words);
}

static void refuses_bytes(const char *bytes, size_t size, const char *words)
{
    put("model.safetensors", bytes, size);
    expect_refused(words, "model.safetensors", words);
}

static void the_frame(void **state)
{
    (void)state;
    static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n";
    refuses_bytes("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10, "header length 9223372036854775807|larger than the file (10 bytes)");
    refuses_bytes("\0\0\0\0\0\0\0\0", 8, "header is empty");
    refuses_bytes("", 0, "empty (0 bytes)");
    refuses_bytes("abc", 3, "3 bytes|too short");
    refuses_bytes(lfs, sizeof lfs - 1, "Git LFS pointer|git lfs pull");
    refuses_bytes("PK\3\4xxxxxxxxxxxx", 16, "PyTorch|zip");
    refuses_bytes("\x80\2}qxxxxxxxxxxx", 15, "pickle");
    refuses("[]", 0, "JSON object");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 8, "tensor w|beyond the end|incomplete download");
    refuses("{\"w\":5}", 0, "tensor w|whole number|object");
    empty_folder();
    char *path = path_join(folder, "model.safetensors");
    assert_true(folder_make(path, NULL));
    expect_refused("a folder", "model.safetensors", "folder");
    mem_free(path);
    empty_folder();
    expect_refused("nothing", "model.safetensors", "no such file");
}

static void ranges_and_shapes(void **state)
{
    (void)state;
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16, "w|twice");
    refuses("{\"k\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "k and v overlap");
    refuses("{\"k\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12, "k and v overlap");
    refuses("{\"k\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16, "hole|bytes 0 to 8");
    refuses("{\"k\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 12, "4 trailing bytes");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]}}", 4, "needs 4000000 bytes|give 4");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4, "tensor w|overflows");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[4503599627370496,1024],\"data_offsets\":[0,4]}}", 4, "tensor w|overflows");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "tensor w|shape");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, "tensor w|shape");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "tensor w|behind the end");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "tensor w|1 entries");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,2,4]}}", 4, "tensor w|3 entries");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4e0]}}", 4, "tensor w|whole numbers");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "tensor w|whole numbers");
    refuses("{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "tensor w|data_offsets is missing");
    refuses("{\"w\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "tensor w|Q9|F32");
    refuses("{\"w\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,400]}}", 4, "tensor w|beyond the end");
    refuses("{\"\\u001b[2J\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\\x1b[2J");
}

static void odd_but_legal(void **state)
{
    (void)state; /* an odd header length, so every F32 stands at an odd place; empty tensors and scalars; metadata that are no text */
    static const char header[] = "{\"__metadata__\":{\"epoch\":3},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"e\":{\"dtype\":\"F32\",\"shape\":[0,8],\"data_offsets\":[2,2]},\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[2,6]}}";
    struct err err = {0};
    struct collector notes;
    for (int pad = 0; pad < 2; pad++) {
        struct text padded = {0};
        text_add(&padded, "%s%s", header, pad ? " " : "");
        put_file("model.safetensors", padded.data, 6);
        text_clear(&padded);
        struct tensor_set *set = open_set(&notes, &err);
        if (!set) fail_msg("%s", err.text);
        assert_non_null(strstr(notes.notes.data, "epoch"));
        const struct tensor_entry *scalar = tensor_set_find(set, "s"), *empty = tensor_set_find(set, "e");
        float value, expected;
        memcpy(&expected, "\2\3\4\5", 4);
        dtype_widen(scalar->dtype, scalar->data, &value, 1);
        assert_memory_equal(&value, &expected, 4);
        assert_int_equal(scalar->count, 1);
        assert_int_equal(empty->count, 0);
        assert_string_equal(shape_show(empty->dims, empty->shape), "[0, 8]");
        assert_null(tensor_set_find(set, "none"));
        tensor_set_close(set);
        collector_release(&notes);
    }
}

static const char *const one = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
static const char *const two = "{\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";

static void put_index(const char *text) { put("model.safetensors.index.json", text, strlen(text)); }

static void shards(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector notes;
    empty_folder();
    put_file("1.safetensors", one, 4);
    put_file("2.safetensors", two, 4);
    put_file("old.safetensors", one, 4);
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"2.safetensors\"}}");
    struct tensor_set *set = open_set(&notes, &err);
    if (!set) fail_msg("%s", err.text);
    assert_int_equal(set->count, 2);
    assert_string_equal(tensor_set_find(set, "a")->file, "1.safetensors");
    assert_non_null(strstr(notes.notes.data, "old.safetensors"));
    tensor_set_close(set);
    collector_release(&notes);
    static const char *const ix = "model.safetensors.index.json";
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"3.safetensors\",\"c\":\"4.safetensors\"}}");
    expect_refused("missing shards", ix, "3.safetensors|4.safetensors|missing");
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\",\"c\":\"2.safetensors\"}}");
    expect_refused("wrong shard", ix, "tensor b should be in 1.safetensors|it is in 2.safetensors|tensor c should be in 2.safetensors");
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"../2.safetensors\"}}");
    expect_refused("path", ix, "b|../2.safetensors|same folder");
    put_index("{\"weight_map\":[]}");
    expect_refused("list", ix, "weight_map is an array");
    put_index("{}");
    expect_refused("no map", ix, "weight_map is missing");
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\",\"a\":\"2.safetensors\"}}");
    expect_refused("twice", ix, "a|twice");
    put_index("{\"weight_map\":{\"a\":\"1.safetensors\"}}");
    set = open_set(&notes, &err); /* only what the index names is read */
    assert_non_null(set);
    assert_null(tensor_set_find(set, "b"));
    assert_non_null(strstr(notes.notes.data, "2.safetensors"));
    tensor_set_close(set);
    collector_release(&notes);
    empty_folder();
}

static void written_and_read(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector notes;
    static const float x[6] = {1, -2.25f, 3, 4, 5, 6};
    static const uint16_t y[3] = {0x3f80, 0xbf80, 1};
    const struct tensor_out out[] = {
        {"z\xc3\xa9\n", BF16, 1, {3}, y}, {"m", F32, 2, {2, 3}, x}, {"a", F32, 1, {1}, x + 1}, {"none", F32, 1, {0}, x},
    };
    char *path = path_join(folder, "model.safetensors");
    if (!tensors_write(path, out, 4, &err)) fail_msg("%s", err.text);
    struct tensor_set *set = open_set(&notes, &err);
    if (!set) fail_msg("%s", err.text);
    assert_int_equal(set->count, 4);
    const struct tensor_entry *m = tensor_set_find(set, "m"), *z = tensor_set_find(set, "z\xc3\xa9\n"), *a = tensor_set_find(set, "a");
    assert_memory_equal(m->data, x, sizeof x);
    assert_memory_equal(z->data, y, sizeof y);
    assert_string_equal(shape_show(m->dims, m->shape), "[2, 3]");
    assert_true(m->aligned && z->aligned && a->aligned);
    assert_true((const char *)a->data < (const char *)m->data && (const char *)m->data < (const char *)z->data); /* large elements first */
    char hex[HASH_HEX];
    assert_true(hash_file(hex, path, NULL));
    assert_string_equal(tensor_set_hash(set), hex);
    tensor_set_close(set);
    collector_release(&notes);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame), cmocka_unit_test(ranges_and_shapes), cmocka_unit_test(odd_but_legal), cmocka_unit_test(shards),
        cmocka_unit_test(written_and_read),
    };
    return cmocka_run_group_tests_name("safetensors", tests, make_folder, remove_folder);
}
