/* PyTorch checkpoints: what torch.save wrote is read back exactly; what is no state dict, or lies about itself, is refused by name.
 * tests/torch/tiny.pt was written by torch.save; the others are built here, byte by byte. */
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/pickle.h"
#include "models/safetensors.h"
#include "models/torchfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ------------------------------------------------------------------ an archive, built by hand */

static uint32_t check_sum(const void *data, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= ((const unsigned char *)data)[i];
        for (int b = 0; b < 8; b++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void add_number(struct text *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) text_add_bytes(out, (char[]){(char)(number >> 8 * i)}, 1);
}

struct archive { struct text bytes, directory; int count; };

/* The fields that the local and the central header share. */
static void add_fields(struct text *out, const char *name, const void *data, size_t size)
{
    add_number(out, 20, 2), add_number(out, 0, 2), add_number(out, 0, 2), add_number(out, 0, 4); /* version, flags, stored, time */
    add_number(out, check_sum(data, size), 4), add_number(out, size, 4), add_number(out, size, 4);
    add_number(out, strlen(name), 2), add_number(out, 0, 2);
}

static void add_entry(struct archive *zip, const char *name, const void *data, size_t size)
{
    size_t at = zip->bytes.size;
    add_number(&zip->bytes, 0x04034b50, 4);
    add_fields(&zip->bytes, name, data, size);
    text_add_bytes(&zip->bytes, name, strlen(name));
    text_add_bytes(&zip->bytes, data, size);
    add_number(&zip->directory, 0x02014b50, 4), add_number(&zip->directory, 20, 2);
    add_fields(&zip->directory, name, data, size);
    add_number(&zip->directory, 0, 2), add_number(&zip->directory, 0, 2), add_number(&zip->directory, 0, 2), add_number(&zip->directory, 0, 4);
    add_number(&zip->directory, at, 4);
    text_add_bytes(&zip->directory, name, strlen(name));
    zip->count++;
}

static void finish(struct archive *zip, const char *path)
{
    size_t at = zip->bytes.size, size = zip->directory.size;
    text_add_bytes(&zip->bytes, zip->directory.data, size);
    add_number(&zip->bytes, 0x06054b50, 4), add_number(&zip->bytes, 0, 4);
    add_number(&zip->bytes, (uint64_t)zip->count, 2), add_number(&zip->bytes, (uint64_t)zip->count, 2);
    add_number(&zip->bytes, size, 4), add_number(&zip->bytes, at, 4), add_number(&zip->bytes, 0, 2);
    struct err err = {0};
    if (!file_write(path, zip->bytes.data, zip->bytes.size, &err)) fail_msg("%s", err.text);
    text_clear(&zip->bytes);
    text_clear(&zip->directory);
}

static char path[] = "/tmp/loopscope-torch-XXXXXX.pt";

static int make_file(void **state)
{
    (void)state;
    int file = mkstemps(path, 3);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static const float eight[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Opens an archive with this pickle and a storage "0" of eight floats. */
static struct tensor_set *open_pickle(const void *pickle, size_t size, struct collector *notes, struct err *err)
{
    struct archive zip = {0};
    add_entry(&zip, "x/data.pkl", pickle, size);
    add_entry(&zip, "x/data/0", eight, sizeof eight);
    finish(&zip, path);
    return tensor_set_open(path, notes ? &notes->sink : NULL, err);
}

static void refused(const void *pickle, size_t size, const char *part)
{
    struct err err = {0};
    struct tensor_set *set = open_pickle(pickle, size, NULL, &err);
    if (set) fail_msg("this was read, although: %s", part);
    if (!strstr(err.text, part)) fail_msg("the message is \"%s\", it should say \"%s\"", err.text, part);
    if (!strstr(err.text, "loopscope-torch-")) fail_msg("the message does not name the file: %s", err.text);
}

#define REFUSED(bytes, part) refused(bytes, sizeof bytes - 1, part)

/* ------------------------------------------------------------------ pickles, built by hand */

#define START "\x80\2}("                        /* PROTO 2, EMPTY_DICT, MARK */
#define NAME(size, text) "X" size "\0\0\0" text /* BINUNICODE */
#define END "u."                                /* SETITEMS, STOP */
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
/* torch._utils._rebuild_tensor_v2((storage), offset, sizes, strides, False, OrderedDict()) */
#define STORAGE(type, key_size, key, count) "(" NAME("\7", "storage") "ctorch\n" type "\n" NAME(key_size, key) NAME("\3", "cpu") count "tQ"
#define TENSOR(storage, offset, sizes, strides) REBUILD "(" storage offset sizes strides "\x89" "ccollections\nOrderedDict\n)RtR"
#define FLOATS STORAGE("FloatStorage", "\1", "0", "K\x08")

static void by_hand(void **state)
{
    (void)state;
    static const char pickle[] = START NAME("\1", "a") TENSOR(FLOATS, "K\2", "K\2K\2\x86", "K\2K\1\x86") END;
    struct err err = {0};
    struct tensor_set *set = open_pickle(pickle, sizeof pickle - 1, NULL, &err);
    if (!set) fail_msg("%s", err.text);
    const struct tensor_entry *a = tensor_set_find(set, "a");
    assert_non_null(a);
    assert_int_equal(a->count, 4);
    assert_memory_equal(a->data, eight + 2, 4 * sizeof *eight);
    tensor_set_close(set);
}

static void nothing_is_run(void **state)
{
    (void)state;
    REFUSED("\x80\2cposix\nsystem\nX\4\0\0\0true\x85R.", "asks for posix.system");
    REFUSED("\x80\4\x8c\2os\x8c\6system\x93\x8c\4true\x85R.", "asks for os.system");
    REFUSED("\x80\2c__builtin__\neval\n(X\1\0\0\0" "1tR.", "__builtin__.eval");
    REFUSED("\x80\2ctorch\nFloatStorage\n)R.", "calls torch.FloatStorage");
    REFUSED("\x80\2ccollections\nOrderedDict\nK\1\x85R.", "with arguments");
    REFUSED("(X\4\0\0\0trueios\nsystem\n.", "opcode INST");
    REFUSED("\x80\2ccollections\nOrderedDict\n)\x81.", "opcode NEWOBJ");
    REFUSED("\x80\2\x82\1.", "opcode EXT1");
    REFUSED("\x80\2P1\n.", "opcode PERSID");
    REFUSED("\x80\2]}b.", "BUILD");
    REFUSED("\x80\2\xfe.", "opcode 0xfe");
}

static void broken_streams_are_refused(void **state)
{
    (void)state;
    REFUSED("", "ends without STOP");
    REFUSED("\x80\2}", "ends without STOP");
    REFUSED("\x80\2.", "0 values");
    REFUSED("\x80\2}}.", "2 values");
    REFUSED("\x80\2(.", "values where one is wanted");
    REFUSED("\x80\2R.", "stack is empty");
    REFUSED("\x80\2t.", "no mark");
    REFUSED("\x80\2K\1(\x85.", "a tuple of 1 from 0 values");
    REFUSED("\x80\2}(K\1u.", "a key without a value");
    REFUSED("\x80\2](K\1K\2u.", "no dict");
    REFUSED("\x80\2(K\1e.", "nothing to add to");
    REFUSED("\x80\2X\xff\xff\xff\xff" "abc", "ends in the middle");
    REFUSED("\x80\2\x8d\xff\xff\xff\xff\xff\xff\xff\xff" "abc", "ends in the middle");
    REFUSED("\x80\2X\3\0\0\0a\0b.", "NUL");
    REFUSED("\x80\2ctorch", "middle of a name");
    REFUSED("\x80\2h\0.", "never made");
    REFUSED("\x80\2}r\xff\xff\xff\x7f.", "memo entry");
    REFUSED("\x80\2}r\0\0\0\x10.", "numbered one by one");
    REFUSED("\x80\x09}.", "protocol 9");
    REFUSED("\x80\2\x8a\x09" "123456789.", "9 bytes");
    REFUSED("\x80\2K\1Q.", "without a tuple");
    REFUSED("\x80\2K\1.", "no dict: a state dict");
    REFUSED("\x80\2}.", "no tensors");
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    struct text pickle = {0};
    text_add_bytes(&pickle, "\x80\2", 2);
    for (int i = 0; i < 100000; i++) text_add_bytes(&pickle, "(", 1);
    refused(pickle.data, pickle.size, "nested deeper");
    pickle.size = 2;
    text_add_bytes(&pickle, "N", 1);
    for (int i = 0; i < 100000; i++) text_add_bytes(&pickle, "\x85", 1); /* a tuple in a tuple in a tuple ... */
    text_add_bytes(&pickle, ".", 1);
    refused(pickle.data, pickle.size, "no dict");
    text_clear(&pickle);
}

static void a_dict_in_itself_is_no_trap(void **state)
{
    (void)state;
    REFUSED("\x80\2}q\0(X\5\0\0\0modelh\0u.", "no tensors");
}

static void too_many_values_are_refused(void **state)
{
    (void)state;
    size_t size = 5 << 20;
    char *pickle = mem_new(size);
    memset(pickle, '}', size);
    memcpy(pickle, "\x80\2", 2);
    refused(pickle, size, "values");
    mem_free(pickle);
}

static void tensors_that_lie_are_refused(void **state)
{
    (void)state;
#define ONE(tensor) START NAME("\1", "a") tensor END
    REFUSED(ONE(TENSOR(FLOATS, "K\5", "K\2K\2\x86", "K\2K\1\x86")), "reads beyond its storage of 8");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "K\x03K\3\x86", "K\3K\1\x86")), "reads beyond");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "J\0\0\0\x40J\0\0\0\x40\x86", "K\0K\0\x86")), "expanded");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "\x8a\x08\0\0\0\0\0\0\0\x40K\x09\x86", "K\1K\1\x86")), "overflows");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "K\2\x85", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85")), "reads beyond");
    REFUSED(ONE(TENSOR(FLOATS, "J\xff\xff\xff\xff", "K\2\x85", "K\1\x85")), "whole numbers");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "J\xff\xff\xff\xff\x85", "K\1\x85")), "0 or more");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "K\2\x85", "K\2K\1\x86")), "whole numbers");
    REFUSED(ONE(TENSOR(FLOATS, "K\0", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t")), "9 dimensions");
    REFUSED(ONE(TENSOR(STORAGE("FloatStorage", "\1", "0", "K\x09"), "K\0", "K\2\x85", "K\1\x85")), "32 bytes, the storage it holds needs 36");
    REFUSED(ONE(TENSOR(STORAGE("DoubleStorage", "\1", "0", "K\x08"), "K\0", "K\2\x85", "K\1\x85")), "needs 64");
    REFUSED(ONE(TENSOR(STORAGE("FloatStorage", "\1", "7", "K\x08"), "K\0", "K\2\x85", "K\1\x85")), "x/data/7 is not in the archive");
    REFUSED(ONE(TENSOR(STORAGE("FloatStorage", "\x0b", "../data.pkl", "K\x08"), "K\0", "K\2\x85", "K\1\x85")), "a plain name");
    REFUSED(ONE(TENSOR(STORAGE("FloatStorage", "\1", "0", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), "K\0", "K\2\x85", "K\1\x85")), "overflows");
    REFUSED(ONE(TENSOR(STORAGE("UntypedStorage", "\1", "0", "K\x08"), "K\0", "K\2\x85", "K\1\x85")), "asks for torch.UntypedStorage");
    REFUSED(ONE(REBUILD "K\1\x85R"), "tensor a: 1 arguments");
    REFUSED(ONE(REBUILD "(K\1K\0K\2\x85K\1\x85tR"), "tensor a: data.pkl names it without a storage");
#define TWO TENSOR(FLOATS, "K\0", "K\2\x85", "K\1\x85")
    REFUSED(START NAME("\1", "a") TWO NAME("\1", "a") TWO END, "stands twice");
    REFUSED(START "K\1" TWO END, "no text");
}

/* ------------------------------------------------------------------ archives */

static void refused_archive(const char *part)
{
    struct err err = {0};
    if (tensor_set_open(path, NULL, &err)) fail_msg("this was read, although: %s", part);
    if (!strstr(err.text, part)) fail_msg("the message is \"%s\", it should say \"%s\"", err.text, part);
}

static void wrong_archives_are_refused(void **state)
{
    (void)state;
    struct archive zip = {0};
    add_entry(&zip, "word/document.xml", "x", 1);
    finish(&zip, path);
    refused_archive("no data.pkl");
    zip = (struct archive){0};
    add_entry(&zip, "a/data.pkl", "}.", 2);
    add_entry(&zip, "b/data.pkl", "}.", 2);
    finish(&zip, path);
    refused_archive("two data.pkl");
    zip = (struct archive){0};
    add_entry(&zip, "a/data.pkl", "}.", 2);
    add_entry(&zip, "a/byteorder", "big", 3);
    finish(&zip, path);
    refused_archive("little-endian");
    assert_true(file_write(path, "PK\3\4 and then nothing", 20, NULL));
    refused_archive("cannot be read");
    assert_true(file_write(path, "", 0, NULL));
    refused_archive("empty");
    assert_true(file_write(path, "\x80\2\x8a\nl\xfc\x9c", 7, NULL));
    refused_archive("before 1.6");
    assert_true(file_write(path, "<html>", 6, NULL));
    refused_archive("no zip archive");
}

/* One flipped byte in a storage, and a file that is cut anywhere: refused, never read wrongly. */
static void damage_is_noticed(void **state)
{
    (void)state;
    static const char pickle[] = START NAME("\1", "a") TENSOR(FLOATS, "K\0", "K\x08\x85", "K\1\x85") END;
    size_t size;
    tensor_set_close(open_pickle(pickle, sizeof pickle - 1, NULL, NULL));
    char *whole = file_read(path, 1 << 20, &size, NULL), *at = memmem(whole, size, eight, sizeof eight);
    assert_non_null(at);
    at[5] ^= 1;
    assert_true(file_write(path, whole, size, NULL));
    refused_archive("damaged");
    at[5] ^= 1;
    for (size_t cut = 4; cut < size; cut++) {
        assert_true(file_write(path, whole, cut, NULL));
        assert_null(tensor_set_open(path, NULL, NULL));
    }
    mem_free(whole);
}

/* Every byte of the pickle changed, one at a time, in several ways: whatever comes out, nothing breaks (the sanitizers watch). */
static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    static const char good[] = START NAME("\1", "a") TENSOR(FLOATS, "K\2", "K\2K\2\x86", "K\2K\1\x86") END;
    static const unsigned char flips[] = {0x01, 0x20, 0x80, 0xff};
    char pickle[sizeof good];
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (size_t f = 0; f < sizeof flips; f++) {
            memcpy(pickle, good, sizeof good);
            pickle[i] = (char)(pickle[i] ^ flips[f]);
            tensor_set_close(open_pickle(pickle, sizeof good - 1, NULL, NULL));
        }
}

/* ------------------------------------------------------------------ what torch.save wrote */

static void check(const struct tensor_set *set, const char *name, enum dtype dtype, const char *shape, const void *want)
{
    const struct tensor_entry *entry = tensor_set_find(set, name);
    if (!entry) fail_msg("no tensor %s", name);
    assert_int_equal(entry->dtype, dtype);
    assert_string_equal(shape_show(entry->dims, entry->shape), shape);
    if (want) assert_memory_equal(entry->data, want, entry->count * dtype_size(dtype));
}

static void torch_saved_it(void **state)
{
    (void)state;
    struct err err = {0};
    struct collector notes;
    collector_init(&notes);
    struct tensor_set *set = tensor_set_open("tests/torch/tiny.pt", &notes.sink, &err);
    if (!set) fail_msg("%s", err.text);
    assert_int_equal(set->count, 11);
    check(set, "plain", F32, "[3, 4]", (float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    check(set, "turned", F32, "[4, 3]", (float[]){0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    check(set, "slice", F32, "[2, 2]", (float[]){5, 6, 9, 10});
    check(set, "half", F16, "[2]", (uint16_t[]){0x3e00, 0xc000});
    check(set, "brain", BF16, "[3]", (uint16_t[]){0x3fc0, 0xc000, 0x4040});
    check(set, "scalar", F32, "[]", (float[]){7});
    check(set, "count", I64, "[2]", (int64_t[]){1, (int64_t)1 << 40});
    check(set, "empty", F32, "[0, 4]", NULL);
    check(set, "freqs_cis", C64, "[2]", NULL);
    check(set, "tied.a", F32, "[3, 4]", (float[]){0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
    assert_ptr_equal(tensor_set_find(set, "tied.a")->data, tensor_set_find(set, "tied.b")->data); /* one storage, read once */
    assert_int_equal(strlen(tensor_set_hash(set)), 64);
    tensor_set_close(set);
    collector_release(&notes);
}

static void prefixes_of_wrappers_go(void **state)
{
    (void)state;
    static const char pickle[] = START NAME("\x12", "module._orig_mod.a") TENSOR(FLOATS, "K\0", "K\2\x85", "K\1\x85") NAME("\1", "n") "K\3" END;
    struct err err = {0};
    struct collector notes;
    collector_init(&notes);
    struct tensor_set *set = open_pickle(pickle, sizeof pickle - 1, &notes, &err);
    if (!set) fail_msg("%s", err.text);
    assert_non_null(tensor_set_find(set, "a"));
    assert_non_null(strstr(notes.notes.data, "module."));
    assert_non_null(strstr(notes.notes.data, "n is no tensor"));
    tensor_set_close(set);
    collector_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(nothing_is_run),
        cmocka_unit_test(broken_streams_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_dict_in_itself_is_no_trap),
        cmocka_unit_test(too_many_values_are_refused),
        cmocka_unit_test(tensors_that_lie_are_refused),
        cmocka_unit_test(wrong_archives_are_refused),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(torch_saved_it),
        cmocka_unit_test(prefixes_of_wrappers_go),
    };
    return cmocka_run_group_tests_name("torchfile", tests, make_file, remove_file);
}
