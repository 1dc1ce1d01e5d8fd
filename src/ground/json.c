#include "ground/json.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/width.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cJSON builds the tree, but takes much that is not JSON ("01", raw control characters, broken UTF-8, a second value behind the first) and keeps
 * no trace of how a number was written. So the text is read strictly first. That pass leaves a mark for every key (where it stands) and every number
 * (where, and whether it is an integer), in the order of the text; afterwards a walk over the tree meets keys and numbers in the same order. */
enum { DEPTH = 64, NUMBER_LENGTH = 63 /* what cJSON reads */, VALUES = 8 << 20 };

struct scan {
    const char *label, *start, *at, *end;
    struct err *err;
    size_t *marks; /* place in the text; for numbers 2 x place, + 1 for an integer */
    size_t mark_count, mark_room, mark_at, values;
    struct { const char *key; size_t size; } path[DEPTH + 1]; /* the key being read at each depth; size 0 inside arrays */
    int depth;
};

/* ------------------------------------------------------------------ where and what */

static void add_place(const struct scan *s, const char *at, struct text *out)
{
    size_t line = 1, column = 1;
    bool lines = false;
    for (const char *p = s->start; p < s->end && !lines; p++) lines = *p == '\n';
    for (const char *p = s->start; p < at; p++) {
        if (*p == '\n') line++, column = 1;
        else column += ((unsigned char)*p & 0xc0) != 0x80;
    }
    if (lines) text_add(out, "line %zu ", line);
    text_add(out, "column %zu", column);
    for (int i = 1, first = 1; i <= s->depth; i++) {
        if (!s->path[i].size) continue;
        char *key = mem_new(s->path[i].size + 1);
        memcpy(key, s->path[i].key, s->path[i].size);
        text_add(out, "%s%s", first ? " in " : ".", text_show(key));
        mem_free(key);
        first = 0;
    }
}

static bool wrong(const struct scan *s, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool wrong(const struct scan *s, const char *at, const char *format, ...)
{
    struct text place = {0};
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    add_place(s, at, &place);
    err_set(s->err, "%s: %s", place.data, message);
    if (s->label) err_in(s->err, "%s", s->label);
    text_clear(&place);
    return false;
}

static void mark(struct scan *s, size_t value)
{
    mem_grow(&s->marks, &s->mark_room, s->mark_count + 1, sizeof *s->marks);
    s->marks[s->mark_count++] = value;
}

/* The word at `at`, for a message. */
static const char *word_at(const struct scan *s, const char *at)
{
    char word[24];
    size_t size = 0;
    while (at + size < s->end && size < sizeof word - 1 && (unsigned char)at[size] > ' ' && !strchr(",:[]{}\"", at[size])) size++;
    if (!size && at < s->end) size = 1;
    memcpy(word, at, size);
    word[size] = 0;
    return text_show(word);
}

/* ------------------------------------------------------------------ the strict pass */

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t')) s->at++;
}

static int utf8_size(const struct scan *s)
{
    char padded[5] = {0};
    if (s->end - s->at >= 4) return text_utf8(s->at, NULL);
    memcpy(padded, s->at, (size_t)(s->end - s->at)); /* never look behind the end: it may be the end of a mapping */
    return text_utf8(padded, NULL);
}

/* Four hex digits at `at`, or -1. */
static long hex4(const struct scan *s, const char *at)
{
    long code = 0;
    if (s->end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static bool scan_escape(struct scan *s)
{
    const char *at = s->at++;
    if (s->at == s->end || !strchr("\"\\/bfnrtu", *s->at)) return wrong(s, at, "a backslash stands before one of \" \\ / b f n r t u");
    if (*s->at++ != 'u') return true;
    long code = hex4(s, s->at);
    if (code < 0) return wrong(s, at, "\\u needs four hex digits");
    if (code == 0) return wrong(s, at, "\\u0000 (NUL) in a string");
    s->at += 4;
    if (code >= 0xdc00 && code < 0xe000) return wrong(s, at, "half a surrogate pair, which is no character and not UTF-8");
    if (code < 0xd800 || code >= 0xdc00) return true;
    long low = s->end - s->at >= 6 && s->at[0] == '\\' && s->at[1] == 'u' ? hex4(s, s->at + 2) : -1;
    if (low < 0xdc00 || low >= 0xe000) return wrong(s, at, "half a surrogate pair, which is no character and not UTF-8");
    s->at += 6;
    return true;
}

static bool scan_string(struct scan *s)
{
    const char *open = s->at++;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (c < 0x20) return wrong(s, s->at, "%s inside a string: write it as \\u%04x", c ? "a control character" : "a NUL byte", c);
        if (c == '\\') {
            if (!scan_escape(s)) return false;
        } else if (c < 0x80) {
            s->at++;
        } else {
            int size = utf8_size(s);
            if (!size) return wrong(s, s->at, "byte 0x%02x is not valid UTF-8", c);
            s->at += size;
        }
    }
    if (s->at == s->end) return wrong(s, open, "this string does not end: the text is incomplete");
    s->at++;
    return true;
}

static size_t scan_digits(struct scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') s->at++;
    return (size_t)(s->at - from);
}

static bool scan_number(struct scan *s)
{
    const char *from = s->at;
    bool whole = true, good;
    if (*s->at == '-') s->at++;
    const char *first = s->at;
    size_t digits = scan_digits(s);
    good = digits == 1 || (digits && *first != '0');
    if (good && s->at < s->end && *s->at == '.') {
        s->at++;
        whole = false;
        good = scan_digits(s) > 0;
    }
    if (good && s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        whole = false;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-')) s->at++;
        good = scan_digits(s) > 0;
    }
    if (!good) return wrong(s, from, "'%s' is no JSON number", word_at(s, from));
    if (s->at - from > NUMBER_LENGTH) return wrong(s, from, "a number of %zu characters", (size_t)(s->at - from));
    mark(s, 2 * (size_t)(from - s->start) + whole);
    return true;
}

static bool scan_value(struct scan *s);

static bool scan_key(struct scan *s)
{
    const char *from = s->at;
    s->path[s->depth].size = 0;
    if (s->at == s->end) return wrong(s, s->at, "the object does not end: the text is incomplete");
    if (*s->at != '"') return wrong(s, s->at, "'%s' where a key in double quotes should stand", word_at(s, s->at));
    if (!scan_string(s)) return false;
    mark(s, (size_t)(from - s->start));
    s->path[s->depth].key = from + 1;
    s->path[s->depth].size = (size_t)(s->at - from - 2);
    skip_space(s);
    if (s->at == s->end || *s->at != ':') return wrong(s, s->at, "a colon is missing behind the key");
    s->at++;
    return true;
}

/* An object (close '}') or an array (close ']'), at its opening bracket. */
static bool scan_container(struct scan *s, char close)
{
    const char *open = s->at++;
    if (s->depth == DEPTH) return wrong(s, open, "nested deeper than %d", DEPTH);
    s->path[++s->depth].size = 0;
    skip_space(s);
    bool more = s->at == s->end || *s->at != close;
    while (more) {
        if (close == '}') {
            skip_space(s);
            if (!scan_key(s)) return false;
        }
        if (!scan_value(s)) return false;
        skip_space(s);
        more = s->at < s->end && *s->at == ',';
        if (more) s->at++;
    }
    if (s->at == s->end) return wrong(s, open, "this %s does not end: the text is incomplete", close == '}' ? "object" : "array");
    if (*s->at != close) return wrong(s, s->at, "'%s' where a comma or %c should stand", word_at(s, s->at), close);
    s->at++;
    s->depth--;
    return true;
}

static bool scan_word(struct scan *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= size && !memcmp(s->at, words[i], size)) {
            s->at += size;
            return true;
        }
    }
    return wrong(s, s->at, "'%s' is not a JSON value", word_at(s, s->at));
}

static bool scan_value(struct scan *s)
{
    skip_space(s);
    if (s->at == s->end) return wrong(s, s->at, "a value is missing: the text is incomplete");
    if (++s->values > VALUES) return wrong(s, s->at, "more than %d values", VALUES);
    switch (*s->at) {
    case '{': return scan_container(s, '}');
    case '[': return scan_container(s, ']');
    case '"': return scan_string(s);
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': return scan_number(s);
    case 0: return wrong(s, s->at, "a NUL byte");
    default: return scan_word(s);
    }
}

static bool scan_text(struct scan *s)
{
    if (s->end - s->at >= 3 && !memcmp(s->at, "\xef\xbb\xbf", 3)) return wrong(s, s->at, "a byte order mark (BOM): save the text as plain UTF-8");
    skip_space(s);
    if (s->at == s->end) return wrong(s, s->at, "empty: a JSON value is missing");
    if (!scan_value(s)) return false;
    skip_space(s);
    return s->at == s->end || wrong(s, s->at, "'%s' stands behind the end of the value", word_at(s, s->at));
}

/* ------------------------------------------------------------------ the walk */

struct key { const char *text; size_t place; };

static int by_text(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static bool check_keys(struct scan *s, const cJSON *object, struct key *keys, size_t count)
{
    if (count > 1) qsort(keys, count, sizeof *keys, by_text);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(keys[i - 1].text, keys[i].text)) {
            s->depth = 0;
            return wrong(s, s->start + keys[i].place, "the key %s stands twice%s%s", text_show(keys[i].text), object->string ? " in " : "",
                         object->string ? text_show(object->string) : "");
        }
    return true;
}

static bool walk(struct scan *s, cJSON *node)
{
    if (cJSON_IsNumber(node)) {
        size_t place = s->marks[s->mark_at++];
        node->valueint = place & 1;
        if (isfinite(node->valuedouble)) return true;
        s->depth = 0;
        return wrong(s, s->start + place / 2, "'%s' is too large for a number", word_at(s, s->start + place / 2));
    }
    if (!node->child) return true;
    enum { FEW = 16 };
    struct key few[FEW], *keys = few;
    size_t count = 0;
    bool object = cJSON_IsObject(node), good = true;
    if (object)
        for (const cJSON *child = node->child; child; child = child->next) count++;
    if (count > FEW) keys = mem_new(count * sizeof *keys);
    count = 0;
    for (cJSON *child = node->child; child && good; child = child->next) {
        if (object) keys[count++] = (struct key){child->string, s->marks[s->mark_at++]};
        good = walk(s, child);
    }
    good = good && check_keys(s, node, keys, count);
    if (keys != few) mem_free(keys);
    return good;
}

struct json *json_parse(const char *text, size_t size, const char *label, struct err *err)
{
    struct scan s = {.label = label, .start = text, .at = text, .end = text + size, .err = err};
    cJSON *root = NULL;
    if (scan_text(&s)) {
        root = cJSON_ParseWithLengthOpts(text, size, NULL, 0);
        if (!root) err_set(err, "%s: not enough memory to read %zu bytes of JSON", label ? label : "JSON", size);
        s.depth = 0;
        if (root && !walk(&s, root)) {
            cJSON_Delete(root);
            root = NULL;
        }
    }
    mem_free(s.marks);
    return (struct json *)root;
}

struct json *json_read(const char *path, size_t most, struct err *err)
{
    size_t size;
    char *text = file_read(path, most, &size, err);
    if (!text) return NULL;
    struct json *json = json_parse(text, size, text_show(path_base(path)), err);
    mem_free(text);
    return json;
}

void json_free(struct json *json) { cJSON_Delete((cJSON *)json); }

/* ------------------------------------------------------------------ looking */

static const cJSON *tree(const struct json *node) { return (const cJSON *)node; }

const struct json *json_get(const struct json *object, const char *key)
{
    return json_is_object(object) ? (const struct json *)cJSON_GetObjectItemCaseSensitive(tree(object), key) : NULL;
}

const struct json *json_first(const struct json *container) { return container ? (const struct json *)tree(container)->child : NULL; }
const struct json *json_next(const struct json *node) { return (const struct json *)tree(node)->next; }

size_t json_count(const struct json *container)
{
    size_t count = 0;
    for (const struct json *node = json_first(container); node; node = json_next(node)) count++;
    return count;
}

const char *json_key(const struct json *node) { return tree(node)->string; }

bool json_is_object(const struct json *node) { return node && cJSON_IsObject(tree(node)); }
bool json_is_array(const struct json *node) { return node && cJSON_IsArray(tree(node)); }
bool json_is_null(const struct json *node) { return node && cJSON_IsNull(tree(node)); }

bool json_int(const struct json *node, int64_t *value)
{
    double number;
    if (!json_number(node, &number) || !tree(node)->valueint || fabs(number) >= 0x1p53) return false;
    *value = (int64_t)number;
    return true;
}

bool json_number(const struct json *node, double *value)
{
    if (!node || !cJSON_IsNumber(tree(node))) return false;
    *value = tree(node)->valuedouble;
    return true;
}

bool json_bool(const struct json *node, bool *value)
{
    if (!node || !cJSON_IsBool(tree(node))) return false;
    *value = cJSON_IsTrue(tree(node));
    return true;
}

const char *json_string(const struct json *node) { return node && cJSON_IsString(tree(node)) ? tree(node)->valuestring : NULL; }

const char *json_kind(const struct json *node)
{
    if (!node) return "missing";
    if (json_is_object(node)) return "an object";
    if (json_is_array(node)) return "an array";
    if (json_is_null(node)) return "null";
    if (json_string(node)) return "a string";
    if (cJSON_IsBool(tree(node))) return "true or false";
    return tree(node)->valueint ? "a whole number" : "a number with a fraction or exponent";
}

/* ------------------------------------------------------------------ writing */

void json_add_string(struct text *out, const char *string)
{
    text_add_bytes(out, "\"", 1);
    while (*string) {
        unsigned code = 0;
        int size = text_utf8(string, &code);
        if (!size) text_add_bytes(out, "\xef\xbf\xbd", 3); /* broken UTF-8 must not make broken JSON */
        else if (code == '"' || code == '\\') text_add(out, "\\%c", (int)code);
        else if (code == '\n') text_add_bytes(out, "\\n", 2);
        else if (code == '\t') text_add_bytes(out, "\\t", 2);
        else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) text_add(out, "\\u%04x", code);
        else text_add_bytes(out, string, (size_t)size);
        string += size ? size : 1;
    }
    text_add_bytes(out, "\"", 1);
}

void json_add_number(struct text *out, double value)
{
    char digits[32];
    if (!isfinite(value)) {
        text_add_bytes(out, "null", 4);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    text_add_bytes(out, digits, strlen(digits));
}
