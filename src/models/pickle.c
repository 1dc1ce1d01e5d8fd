#include "models/pickle.h"

#include "ground/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PICKLE_MOST = 16 << 20, /* bytes: a hundred thousand tensors */
    VALUES_MOST = 4 << 20,
    MARKS_MOST = 1000,
    MEMO_AHEAD = 64, /* writers number the memo without gaps, give or take a few */
};

struct reader {
    struct pickle *pickle;
    const struct pickle_global *globals;
    const unsigned char *data;
    size_t size, at, op_at; /* op_at: where the opcode being read stands */
    const struct pickle_value **stack, **memo;
    size_t depth, stack_room, memo_count, memo_room, values;
    size_t marks[MARKS_MOST];
    size_t mark_count;
    const char *label;
    struct err *err;
};

static const struct pickle_value none = {.kind = PICKLE_NONE}, yes = {.kind = PICKLE_BOOL, .number = 1}, no = {.kind = PICKLE_BOOL},
                                 empty_tuple = {.kind = PICKLE_TUPLE};

/* Opcodes that are refused, for messages; those that are read need no name. */
static const struct { unsigned char code; const char *name; } refused[] = {
    {'i', "INST"}, {'o', "OBJ"}, {0x81, "NEWOBJ"}, {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"}, {0x83, "EXT2"}, {0x84, "EXT4"}, {'P', "PERSID"}, {'I', "INT"},
    {'L', "LONG"}, {'F', "FLOAT"}, {'S', "STRING"}, {'V', "UNICODE"}, {'g', "GET"}, {'p', "PUT"}, {'d', "DICT"}, {'l', "LIST"}, {'T', "BINSTRING"},
    {0x8b, "LONG4"}, {'B', "BINBYTES"}, {'C', "SHORT_BINBYTES"}, {0x8e, "BINBYTES8"}, {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"},
    {0x98, "READONLY_BUFFER"}, {0x8f, "EMPTY_SET"}, {0x90, "ADDITEMS"}, {0x91, "FROZENSET"},
};

static bool wrong(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct reader *r, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    err_set(r->err, "%s: byte %zu: %s", r->label, r->op_at, message);
    return false;
}

/* ------------------------------------------------------------------ values */

static struct pickle_value *new_value(struct reader *r, enum pickle_kind kind)
{
    struct pickle_value *value = arena_zero(&r->pickle->arena, sizeof *value);
    r->values++;
    value->kind = kind;
    return value;
}

static void add_item(struct reader *r, struct pickle_value *into, const struct pickle_value *item)
{
    if (into->count == into->room) {
        size_t room = into->room ? 2 * into->room : 4;
        const struct pickle_value **items = arena_new(&r->pickle->arena, room * sizeof *items);
        if (into->count) memcpy(items, into->items, into->count * sizeof *items);
        into->items = items;
        into->room = room;
    }
    into->items[into->count++] = item;
}

static bool push(struct reader *r, const struct pickle_value *value)
{
    if (r->values > VALUES_MOST) return wrong(r, "more than %d values: no state dict has so many", VALUES_MOST);
    mem_grow(&r->stack, &r->stack_room, r->depth + 1, sizeof *r->stack);
    r->stack[r->depth++] = value;
    return true;
}

/* Values behind the last mark; none may be taken from before it. */
static size_t above(const struct reader *r) { return r->depth - (r->mark_count ? r->marks[r->mark_count - 1] : 0); }

static const struct pickle_value *pop(struct reader *r)
{
    return above(r) ? r->stack[--r->depth] : (wrong(r, "the stack is empty: not a pickle, or a broken one"), NULL);
}

/* Where the values behind the last mark begin; the mark goes. */
static bool pop_mark(struct reader *r, size_t *from)
{
    if (!r->mark_count) return wrong(r, "there is no mark to go back to: not a pickle, or a broken one");
    *from = r->marks[--r->mark_count];
    return true;
}

/* ------------------------------------------------------------------ bytes */

static bool take(struct reader *r, size_t n, const unsigned char **bytes)
{
    if (n > r->size - r->at) return wrong(r, "ends in the middle: %zu more bytes are wanted, %zu are left", n, r->size - r->at);
    *bytes = r->data + r->at;
    r->at += n;
    return true;
}

static bool take_number(struct reader *r, int n, uint64_t *number)
{
    const unsigned char *bytes = NULL;
    if (!take(r, (size_t)n, &bytes)) return false;
    *number = 0;
    for (int i = n - 1; i >= 0; i--) *number = *number << 8 | bytes[i];
    return true;
}

static bool take_line(struct reader *r, const char **line, size_t *size)
{
    const unsigned char *end = memchr(r->data + r->at, '\n', r->size - r->at);
    if (!end) return wrong(r, "ends in the middle of a name");
    *line = (const char *)r->data + r->at;
    *size = (size_t)(end - r->data) - r->at;
    r->at += *size + 1;
    return true;
}

static bool push_int(struct reader *r, int64_t number)
{
    struct pickle_value *value = new_value(r, PICKLE_INT);
    value->number = number;
    return push(r, value);
}

static bool push_text(struct reader *r, int length_bytes)
{
    uint64_t size;
    const unsigned char *bytes = NULL;
    if (!take_number(r, length_bytes, &size) || !take(r, size > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)size, &bytes)) return false;
    if (memchr(bytes, 0, (size_t)size)) return wrong(r, "a text with a NUL byte inside");
    struct pickle_value *value = new_value(r, PICKLE_TEXT);
    char *copy = arena_zero(&r->pickle->arena, (size_t)size + 1);
    memcpy(copy, bytes, (size_t)size);
    value->text = copy;
    return push(r, value);
}

/* LONG1: little-endian two's complement of up to 8 bytes. */
static bool push_long(struct reader *r)
{
    uint64_t size, number = 0;
    if (!take_number(r, 1, &size)) return false;
    if (size > 8) return wrong(r, "a whole number of %d bytes: at most 8 are read", (int)size);
    if (!take_number(r, (int)size, &number)) return false;
    if (size && size < 8 && number >> (8 * size - 1)) number |= ~(uint64_t)0 << 8 * size;
    return push_int(r, (int64_t)number);
}

static bool push_real(struct reader *r)
{
    const unsigned char *bytes = NULL;
    uint64_t bits = 0;
    if (!take(r, 8, &bytes)) return false;
    for (int i = 0; i < 8; i++) bits = bits << 8 | bytes[i];
    struct pickle_value *value = new_value(r, PICKLE_REAL);
    memcpy(&value->real, &bits, 8);
    return push(r, value);
}

/* ------------------------------------------------------------------ globals and calls */

static const struct pickle_global *find_global(const struct reader *r, const char *name)
{
    for (const struct pickle_global *global = r->globals; global->name; global++)
        if (!strcmp(global->name, name)) return global;
    return NULL;
}

static bool push_global(struct reader *r, const char *module, size_t module_size, const char *name, size_t name_size)
{
    struct text full = {0};
    text_add(&full, "%.*s.%.*s", (int)module_size, module, (int)name_size, name);
    const struct pickle_global *global = module_size + name_size < 1000 ? find_global(r, full.data) : NULL;
    struct pickle_value *value = global ? new_value(r, PICKLE_GLOBAL) : NULL;
    if (value) value->text = global->name;
    else wrong(r, "asks for %s: a state dict needs tensors, texts and numbers only; nothing else is read, nothing is ever run", text_show(full.data));
    text_clear(&full);
    return value && push(r, value);
}

static bool take_global(struct reader *r)
{
    const char *module = NULL, *name = NULL;
    size_t module_size = 0, name_size = 0;
    return take_line(r, &module, &module_size) && take_line(r, &name, &name_size) && push_global(r, module, module_size, name, name_size);
}

static bool stack_global(struct reader *r)
{
    const struct pickle_value *name = pop(r), *module = name ? pop(r) : NULL;
    if (!module) return false;
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT) return wrong(r, "STACK_GLOBAL without two texts");
    return push_global(r, module->text, strlen(module->text), name->text, strlen(name->text));
}

static bool reduce(struct reader *r)
{
    const struct pickle_value *args = pop(r), *callee = args ? pop(r) : NULL;
    if (!callee) return false;
    if (callee->kind != PICKLE_GLOBAL || args->kind != PICKLE_TUPLE) return wrong(r, "REDUCE of what is no function and tuple");
    enum pickle_use use = find_global(r, callee->text)->use;
    if (use == PICKLE_IS_NAME || (use == PICKLE_IS_DICT && args->count))
        return wrong(r, "calls %s%s: not what a state dict does", callee->text, use == PICKLE_IS_DICT ? " with arguments" : "");
    struct pickle_value *value = new_value(r, use == PICKLE_IS_DICT ? PICKLE_DICT : PICKLE_CALL);
    value->text = callee->text;
    value->items = args->items;
    value->count = args->count;
    return push(r, value);
}

/* Attributes of a dict (state dicts carry _metadata): nothing here depends on them. */
static bool build(struct reader *r)
{
    const struct pickle_value *state = pop(r), *of = state && above(r) ? r->stack[r->depth - 1] : NULL;
    if (!state) return false;
    return (of && of->kind == PICKLE_DICT) || wrong(r, "BUILD gives attributes to what is no dict");
}

static bool persistent(struct reader *r)
{
    const struct pickle_value *id = pop(r);
    if (!id) return false;
    if (id->kind != PICKLE_TUPLE) return wrong(r, "BINPERSID without a tuple");
    struct pickle_value *value = new_value(r, PICKLE_PERSISTENT);
    value->items = id->items;
    value->count = id->count;
    return push(r, value);
}

/* ------------------------------------------------------------------ containers */

static bool gather_tuple(struct reader *r, size_t n)
{
    if (above(r) < n) return wrong(r, "a tuple of %zu from %zu values: not a pickle, or a broken one", n, above(r));
    if (!n) return push(r, &empty_tuple);
    struct pickle_value *tuple = new_value(r, PICKLE_TUPLE);
    tuple->items = arena_new(&r->pickle->arena, n * sizeof *tuple->items);
    tuple->count = tuple->room = n;
    memcpy(tuple->items, r->stack + r->depth - n, n * sizeof *tuple->items);
    r->depth -= n;
    return push(r, tuple);
}

static bool mark(struct reader *r)
{
    if (r->mark_count == MARKS_MOST) return wrong(r, "nested deeper than %d", MARKS_MOST);
    r->marks[r->mark_count++] = r->depth;
    return true;
}

static bool tuple(struct reader *r)
{
    size_t from = 0;
    return pop_mark(r, &from) && gather_tuple(r, r->depth - from);
}

/* Moves the values from `from` on into the container below them. */
static bool fill(struct reader *r, size_t from, enum pickle_kind kind, size_t each)
{
    size_t n = r->depth - from;
    size_t floor = r->mark_count ? r->marks[r->mark_count - 1] : 0;
    if (from <= floor) return wrong(r, "there is nothing to add to: not a pickle, or a broken one");
    struct pickle_value *into = (struct pickle_value *)r->stack[from - 1];
    if (into->kind != kind) return wrong(r, "adds items to what is no %s", kind == PICKLE_DICT ? "dict" : "list");
    if (n % each) return wrong(r, "a key without a value");
    for (size_t i = 0; i < n; i++) add_item(r, into, r->stack[from + i]);
    r->depth = from;
    return true;
}

static bool fill_marked(struct reader *r, enum pickle_kind kind, size_t each)
{
    size_t from = 0;
    return pop_mark(r, &from) && fill(r, from, kind, each);
}

static bool fill_one(struct reader *r, enum pickle_kind kind, size_t each)
{
    if (above(r) < each + 1) return wrong(r, "the stack is empty: not a pickle, or a broken one");
    return fill(r, r->depth - each, kind, each);
}

/* ------------------------------------------------------------------ memo */

static bool put(struct reader *r, uint64_t index)
{
    if (!above(r)) return wrong(r, "the stack is empty: not a pickle, or a broken one");
    if (index > r->memo_count + MEMO_AHEAD)
        return wrong(r, "memo entry %llu behind %zu others: entries are numbered one by one", (unsigned long long)index, r->memo_count);
    mem_grow(&r->memo, &r->memo_room, (size_t)index + 1, sizeof *r->memo);
    while (r->memo_count <= index) r->memo[r->memo_count++] = NULL;
    r->memo[index] = r->stack[r->depth - 1];
    return true;
}

static bool put_numbered(struct reader *r, int bytes)
{
    uint64_t index;
    return take_number(r, bytes, &index) && put(r, index);
}

static bool get(struct reader *r, int bytes)
{
    uint64_t index;
    if (!take_number(r, bytes, &index)) return false;
    if (index >= r->memo_count || !r->memo[index]) return wrong(r, "memo entry %llu was never made", (unsigned long long)index);
    return push(r, r->memo[index]);
}

/* ------------------------------------------------------------------ the stream */

static bool refuse(struct reader *r, unsigned char code)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].code == code) return wrong(r, "opcode %s: no part of a state dict, not read", refused[i].name);
    return wrong(r, "opcode 0x%02x: no part of a state dict, not read", code);
}

static bool numbers(struct reader *r, unsigned char code)
{
    uint64_t number;
    switch (code) {
    case 'K': return take_number(r, 1, &number) && push_int(r, (int64_t)number);          /* BININT1 */
    case 'M': return take_number(r, 2, &number) && push_int(r, (int64_t)number);          /* BININT2 */
    case 'J': return take_number(r, 4, &number) && push_int(r, (int32_t)(uint32_t)number); /* BININT */
    case 0x8a: return push_long(r);
    case 'G': return push_real(r);
    case 0x80: /* PROTO */
        if (!take_number(r, 1, &number)) return false;
        return number <= 5 || wrong(r, "pickle protocol %d: up to 5 are read", (int)number);
    case 0x95: return take_number(r, 8, &number); /* FRAME: a hint for readers from streams */
    default: return refuse(r, code);
    }
}

static bool step(struct reader *r, unsigned char code)
{
    switch (code) {
    case 'N': return push(r, &none);
    case 0x88: return push(r, &yes);
    case 0x89: return push(r, &no);
    case ')': return push(r, &empty_tuple);
    case '}': return push(r, new_value(r, PICKLE_DICT));
    case ']': return push(r, new_value(r, PICKLE_LIST));
    case '(': return mark(r);
    case 't': return tuple(r);
    case 0x85: case 0x86: case 0x87: return gather_tuple(r, code - 0x84u);
    case 's': return fill_one(r, PICKLE_DICT, 2);
    case 'u': return fill_marked(r, PICKLE_DICT, 2);
    case 'a': return fill_one(r, PICKLE_LIST, 1);
    case 'e': return fill_marked(r, PICKLE_LIST, 1);
    case 'X': return push_text(r, 4);
    case 0x8c: return push_text(r, 1);
    case 0x8d: return push_text(r, 8);
    case 'U': return push_text(r, 1); /* SHORT_BINSTRING, of Python 2 */
    case 'c': return take_global(r);
    case 0x93: return stack_global(r);
    case 'R': return reduce(r);
    case 'b': return build(r);
    case 'Q': return persistent(r);
    case 'q': return put_numbered(r, 1);
    case 'r': return put_numbered(r, 4);
    case 0x94: return put(r, r->memo_count); /* MEMOIZE */
    case 'h': return get(r, 1);
    case 'j': return get(r, 4);
    case '0': return pop(r) != NULL;
    default: return numbers(r, code);
    }
}

static bool run(struct reader *r)
{
    while (r->at < r->size) {
        r->op_at = r->at;
        unsigned char code = r->data[r->at++];
        if (code == '.') {
            if (r->depth != 1 || r->mark_count) return wrong(r, "ends with %zu values where one is wanted", r->depth);
            r->pickle->root = r->stack[0];
            return true;
        }
        if (!step(r, code)) return false;
    }
    r->op_at = r->at;
    return wrong(r, "ends without STOP: incomplete?");
}

bool pickle_read(struct pickle *pickle, const void *data, size_t size, const char *label, const struct pickle_global *globals, struct err *err)
{
    *pickle = (struct pickle){0};
    if (size > PICKLE_MOST) return err_set(err, "%s: a pickle of %zu bytes: at most %d make sense for a state dict", label, size, PICKLE_MOST);
    struct reader *r = mem_new(sizeof *r);
    *r = (struct reader){.pickle = pickle, .globals = globals, .data = data, .size = size, .label = label, .err = err};
    bool good = run(r);
    mem_free(r->stack);
    mem_free(r->memo);
    mem_free(r);
    if (!good) pickle_release(pickle);
    return good;
}

void pickle_release(struct pickle *pickle)
{
    arena_clear(&pickle->arena);
    *pickle = (struct pickle){0};
}

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key)
{
    if (!dict || dict->kind != PICKLE_DICT) return NULL;
    for (size_t i = dict->count; i >= 2; i -= 2)
        if (dict->items[i - 2]->kind == PICKLE_TEXT && !strcmp(dict->items[i - 2]->text, key)) return dict->items[i - 1];
    return NULL;
}
