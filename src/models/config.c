#include "models/config.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 16 << 20, NOTES = 30 };

struct names {
    char **list; /* ends with NULL once closed */
    size_t count, room;
};

struct config {
    char *path, *label, *text;
    struct json *root;
    struct names asked;    /* every spelling that was looked for */
    struct names whole;    /* of these, the keys whose value counts as read with all that is in it */
    struct names kept;     /* words that were handed out */
    struct names defaults; /* keys whose default is to be named */
    struct text wrong;     /* mistakes so far, one line each */
    struct config_fact *facts;
    size_t fact_count, fact_room;
};

/* In every transformers config, and without a meaning here. */
static const char *const silent =
    "model_type|architectures|torch_dtype|dtype|transformers_version|bos_token_id|eos_token_id|pad_token_id|use_cache|auto_map|_name_or_path|"
    "initializer_range|attention_dropout|attention_bias|mlp_bias|hidden_dropout|resid_pdrop|embd_pdrop|is_decoder|is_encoder_decoder|"
    "output_attentions|output_hidden_states|return_dict|_attn_implementation|attn_implementation|pretraining_tp|id2label|label2id|"
    "problem_type|chunk_size_feed_forward|max_position_embeddings|_commit_hash|task_specific_params|tokenizer_class|unk_token_id";

static const char *names_add(struct names *names, const char *name, size_t size)
{
    for (size_t i = 0; i < names->count; i++)
        if (!strncmp(names->list[i], name, size) && !names->list[i][size]) return names->list[i];
    char *copy = mem_new(size + 1);
    memcpy(copy, name, size);
    mem_grow(&names->list, &names->room, names->count + 2, sizeof *names->list);
    names->list[names->count++] = copy;
    names->list[names->count] = NULL;
    return copy;
}

static bool names_hold(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (!strcmp(names->list[i], name)) return true;
    return false;
}

static void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) mem_free(names->list[i]);
    mem_free(names->list);
    *names = (struct names){0};
}

/* ------------------------------------------------------------------ opening and closing */

static struct config *parse(char *text, size_t size, const char *path, const char *label, struct err *err)
{
    struct config *config = mem_new(sizeof *config);
    *config = (struct config){.path = mem_text(path), .label = mem_text(text_show(label)), .text = text};
    config->root = json_parse(text, size, config->label, err);
    if (config->root && !json_is_object(config->root))
        err_set(err, "%s: %s at the top, where an object {...} of keys should stand", config->label, json_kind(config->root));
    if (!json_is_object(config->root)) {
        config_free(config);
        return NULL;
    }
    config_known(config, silent);
    if (json_is_null(json_get(config->root, "rope_scaling"))) config_known(config, "rope_scaling");
    return config;
}

struct config *config_read(const char *path, struct err *err)
{
    size_t size;
    char *text = file_read(path, LARGEST, &size, err);
    return text ? parse(text, size, path, path_base(path), err) : NULL;
}

struct config *config_parse(const char *text, const char *label, struct err *err)
{
    return parse(mem_text(text), strlen(text), label, label, err);
}

void config_free(struct config *config)
{
    if (!config) return;
    for (size_t i = 0; i < config->fact_count; i++) {
        mem_free(config->facts[i].key);
        mem_free(config->facts[i].value);
    }
    names_clear(&config->asked);
    names_clear(&config->whole);
    names_clear(&config->kept);
    names_clear(&config->defaults);
    text_clear(&config->wrong);
    json_free(config->root);
    mem_free(config->facts);
    mem_free(config->path);
    mem_free(config->label);
    mem_free(config->text);
    mem_free(config);
}

/* ------------------------------------------------------------------ mistakes and facts */

void config_wrong(struct config *config, const char *key, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_add(&config->wrong, "%s%s: %s %s", config->wrong.size ? "\n" : "", config->label, key, message);
}

/* "a|b|c" as "a, b, c", appended. */
static void add_list(struct text *out, const char *words)
{
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|')
        text_add(out, "%s%.*s", at > words ? ", " : "", (int)strcspn(at, "|"), at);
}

/* The value as a person would write it, cut. */
static void add_value(const struct json *node, struct text *out)
{
    double number;
    bool truth;
    if (json_string(node)) text_add(out, "%s", text_show(json_string(node)));
    else if (json_number(node, &number)) json_add_number(out, number);
    else if (json_bool(node, &truth)) text_add(out, truth ? "true" : "false");
    else text_add(out, "%s", json_kind(node));
}

/* What stands there, for messages. */
static const char *found(const struct json *node, char *out, size_t room)
{
    struct text value = {0};
    add_value(node, &value);
    if (json_string(node)) snprintf(out, room, "is the string \"%s\"", value.data);
    else snprintf(out, room, "is %s", value.data);
    text_clear(&value);
    return out;
}

static void add_fact(struct config *config, const char *keys, const char *value, const char *source)
{
    size_t size = strcspn(keys, "|");
    for (size_t i = 0; i < config->fact_count; i++)
        if (!strncmp(config->facts[i].key, keys, size) && !config->facts[i].key[size]) return;
    char *key = mem_new(size + 1);
    memcpy(key, keys, size);
    mem_grow(&config->facts, &config->fact_room, config->fact_count + 1, sizeof *config->facts);
    config->facts[config->fact_count++] = (struct config_fact){key, mem_text(value), source};
}

static void add_node_fact(struct config *config, const char *key, const struct json *node)
{
    struct text value = {0};
    add_value(node, &value);
    add_fact(config, key, value.data, "config");
    text_clear(&value);
}

/* ------------------------------------------------------------------ finding a key */

/* One spelling, with dots into nested objects. null means absent, as everywhere in transformers configs. */
static const struct json *look(struct config *config, const char *spelling, size_t size)
{
    const struct json *at = config->root;
    char part[128];
    names_add(&config->asked, spelling, size);
    for (const char *end = spelling + size; at && spelling < end;) {
        const char *dot = memchr(spelling, '.', (size_t)(end - spelling));
        size_t length = (size_t)((dot ? dot : end) - spelling);
        snprintf(part, sizeof part, "%.*s", (int)length, spelling);
        at = json_get(at, part);
        if (dot && at && !json_is_object(at) && !json_is_null(at)) {
            struct text line = {0}; /* said once, although several keys may be looked for inside */
            text_add(&line, "%s: %s is %s where an object {...} should stand", config->label, part, json_kind(at));
            bool said = config->wrong.size && strstr(config->wrong.data, line.data);
            if (!said) text_add(&config->wrong, "%s%s", config->wrong.size ? "\n" : "", line.data);
            text_clear(&line);
        }
        spelling += length + 1;
    }
    return json_is_null(at) ? NULL : at;
}

static bool same(const struct json *a, const struct json *b)
{
    struct text x = {0}, y = {0};
    add_value(a, &x);
    add_value(b, &y);
    bool equal = !strcmp(x.data, y.data) && !json_string(a) == !json_string(b);
    text_clear(&x);
    text_clear(&y);
    return equal;
}

/* The value of a key under any of its spellings, NULL: absent. *key, to free, is the spelling found (or the first). */
static const struct json *find(struct config *config, const char *keys, char **key)
{
    const struct json *node = NULL;
    *key = NULL;
    for (const char *at = keys; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t size = strcspn(at, "|");
        const struct json *other = look(config, at, size);
        if (!other) continue;
        if (node && !same(node, other)) {
            char one[400], two[400];
            found(node, one, sizeof one);
            config_wrong(config, *key, "%s, but %.*s %s: keep one of them", one, (int)size, at, found(other, two, sizeof two));
        }
        if (node) continue;
        node = other;
        *key = mem_new(size + 1);
        memcpy(*key, at, size);
    }
    return node;
}

/* " (other spellings: n_loops, num_steps)", when there are others than key; appended. */
static void add_spellings(struct text *out, const char *keys, const char *key)
{
    struct text others = {0};
    for (const char *at = keys; *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t size = strcspn(at, "|");
        if (strlen(key) != size || strncmp(at, key, size)) text_add(&others, "%s%.*s", others.size ? ", " : "", (int)size, at);
    }
    if (others.size) text_add(out, " (other spellings: %s)", others.data);
    text_clear(&others);
}

enum absence { REFUSE, NAME_DEFAULT, QUIET };

/* What an absent key means; the default's text becomes a fact. */
static void absent(struct config *config, const char *keys, enum absence absence, const char *fallback, const char *wanted)
{
    if (absence == REFUSE) {
        struct text others = {0};
        char key[128];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, "|"), keys);
        add_spellings(&others, keys, key);
        config_wrong(config, key, "is missing: %s is wanted%s", wanted, others.size ? others.data : "");
        text_clear(&others);
        return;
    }
    add_fact(config, keys, fallback, absence == QUIET ? "usual" : "default");
    if (absence == NAME_DEFAULT) names_add(&config->defaults, keys, strcspn(keys, "|"));
}

static void misfit(struct config *config, const char *key, const char *keys, const struct json *node, const char *wanted)
{
    struct text others = {0};
    char is[500];
    add_spellings(&others, keys, key);
    config_wrong(config, key, "%s: %s is wanted%s", found(node, is, sizeof is), wanted, others.size ? others.data : "");
    text_clear(&others);
}

/* ------------------------------------------------------------------ typed reading */

static long get_int(struct config *config, const char *keys, long low, long high, enum absence absence, long fallback)
{
    char wanted[128], number[32], *key;
    int64_t value;
    double real;
    snprintf(wanted, sizeof wanted, "a whole number from %ld to %ld", low, high);
    snprintf(number, sizeof number, "%ld", fallback);
    const struct json *node = find(config, keys, &key);
    if (!node) {
        absent(config, keys, absence, number, wanted);
    } else if (!json_int(node, &value) || value < low || value > high) {
        if (json_number(node, &real) && !json_int(node, &value) && real == floor(real)) strcat(wanted, ", without point and exponent,");
        misfit(config, key, keys, node, wanted);
    } else {
        add_node_fact(config, keys, node);
        fallback = (long)value;
    }
    mem_free(key);
    return fallback;
}

static double get_number(struct config *config, const char *keys, enum absence absence, double fallback)
{
    struct text number = {0};
    char *key;
    double value;
    json_add_number(&number, fallback);
    const struct json *node = find(config, keys, &key);
    if (!node) {
        absent(config, keys, absence, number.data, "a number");
    } else if (!json_number(node, &value)) {
        misfit(config, key, keys, node, "a number");
    } else {
        add_node_fact(config, keys, node);
        fallback = value;
    }
    mem_free(key);
    text_clear(&number);
    return fallback;
}

static bool get_bool(struct config *config, const char *keys, enum absence absence, bool fallback)
{
    char *key;
    bool value;
    const struct json *node = find(config, keys, &key);
    if (!node) {
        absent(config, keys, absence, fallback ? "true" : "false", "true or false");
    } else if (!json_bool(node, &value)) {
        misfit(config, key, keys, node, "true or false");
    } else {
        add_node_fact(config, keys, node);
        fallback = value;
    }
    mem_free(key);
    return fallback;
}

static const char *get_choice(struct config *config, const char *keys, const char *choices, enum absence absence, const char *fallback)
{
    struct text wanted = {0};
    char *key;
    if (!fallback) fallback = names_add(&config->kept, choices, strcspn(choices, "|"));
    text_add(&wanted, strchr(choices, '|') ? "one of " : "only ");
    add_list(&wanted, choices);
    const struct json *node = find(config, keys, &key);
    const char *value = json_string(node);
    if (!node) {
        absent(config, keys, absence, fallback, wanted.data);
    } else if (!value || !text_among(choices, value)) {
        misfit(config, key, keys, node, wanted.data);
        value = NULL;
    } else {
        add_node_fact(config, keys, node);
    }
    mem_free(key);
    text_clear(&wanted);
    return value ? value : fallback;
}

long config_int(struct config *config, const char *keys, long low, long high) { return get_int(config, keys, low, high, REFUSE, low); }
double config_number(struct config *config, const char *keys) { return get_number(config, keys, REFUSE, 1); }
const char *config_choice(struct config *config, const char *keys, const char *choices) { return get_choice(config, keys, choices, REFUSE, NULL); }

long config_int_or(struct config *config, const char *keys, long low, long high, long fallback)
{
    return get_int(config, keys, low, high, NAME_DEFAULT, fallback);
}
long config_int_quiet(struct config *config, const char *keys, long low, long high, long fallback)
{
    return get_int(config, keys, low, high, QUIET, fallback);
}
double config_number_or(struct config *config, const char *keys, double fallback) { return get_number(config, keys, NAME_DEFAULT, fallback); }
double config_number_quiet(struct config *config, const char *keys, double fallback) { return get_number(config, keys, QUIET, fallback); }
bool config_bool_or(struct config *config, const char *keys, bool fallback) { return get_bool(config, keys, NAME_DEFAULT, fallback); }
bool config_bool_quiet(struct config *config, const char *keys, bool fallback) { return get_bool(config, keys, QUIET, fallback); }
const char *config_choice_or(struct config *config, const char *keys, const char *choices, const char *fallback)
{
    return get_choice(config, keys, choices, NAME_DEFAULT, fallback);
}
const char *config_choice_quiet(struct config *config, const char *keys, const char *choices, const char *fallback)
{
    return get_choice(config, keys, choices, QUIET, fallback);
}

bool config_has(struct config *config, const char *keys)
{
    char *key;
    bool has = find(config, keys, &key) != NULL;
    mem_free(key);
    return has;
}

const struct json *config_json(struct config *config, const char *key)
{
    names_add(&config->whole, key, strlen(key));
    return look(config, key, strlen(key));
}

void config_known(struct config *config, const char *keys)
{
    for (const char *at = keys; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        names_add(&config->asked, at, strcspn(at, "|"));
        names_add(&config->whole, at, strcspn(at, "|"));
    }
}

/* ------------------------------------------------------------------ checking */

static void note_unknown(struct config *config, const char *key, struct sink *sink, size_t *count)
{
    if (++*count > NOTES) return;
    struct text longer = {0}; /* n_loop means num_loops, although that is three letters away */
    if (text_starts(key, "n_")) text_add(&longer, "num_%s", key + 2);
    const char *near = config->asked.count ? text_nearest(key, text_name, config->asked.list) : NULL;
    if (!near && longer.size) near = text_nearest(longer.data, text_name, config->asked.list);
    text_clear(&longer);
    if (near) sink_note(sink, "%s: unknown key %s: did you mean %s? It is ignored", config->label, text_show(key), near);
    else sink_note(sink, "%s: unknown key %s: it is ignored", config->label, text_show(key));
}

/* True when keys inside this object were asked for one by one. */
static bool asked_inside(const struct config *config, const char *key)
{
    size_t size = strlen(key);
    for (size_t i = 0; i < config->asked.count; i++)
        if (!strncmp(config->asked.list[i], key, size) && config->asked.list[i][size] == '.') return true;
    return false;
}

static void note_unknown_keys(struct config *config, const struct json *object, const char *inside, struct sink *sink, size_t *count)
{
    for (const struct json *node = json_first(object); node; node = json_next(node)) {
        struct text key = {0};
        text_add(&key, "%s%s%s", inside, *inside ? "." : "", json_key(node));
        if (names_hold(&config->whole, key.data)) {
            ; /* read, or known, with all that is in it */
        } else if (asked_inside(config, key.data)) {
            if (json_is_object(node)) note_unknown_keys(config, node, key.data, sink, count);
        } else if (!names_hold(&config->asked, key.data)) {
            note_unknown(config, key.data, sink, count);
        }
        text_clear(&key);
    }
}

static const char *fact_value(const struct config *config, const char *key)
{
    for (size_t i = 0; i < config->fact_count; i++)
        if (!strcmp(config->facts[i].key, key)) return config->facts[i].value;
    return "?";
}

bool config_check(struct config *config, struct sink *sink, struct err *err)
{
    size_t count = 0;
    note_unknown_keys(config, config->root, "", sink, &count);
    if (count > NOTES) sink_note(sink, "%s: %zu more unknown keys are ignored", config->label, count - NOTES);
    for (size_t i = 0; i < config->defaults.count; i++) {
        const char *key = config->defaults.list[i];
        sink_note(sink, "%s: %s is not given: default %s", config->label, key, fact_value(config, key));
    }
    names_clear(&config->defaults);
    return !config->wrong.size || err_set(err, "%s", config->wrong.data);
}

size_t config_facts(const struct config *config, const struct config_fact **facts)
{
    *facts = config->facts;
    return config->fact_count;
}

const char *config_text(const struct config *config) { return config->text; }
const char *config_path(const struct config *config) { return config->path; }
