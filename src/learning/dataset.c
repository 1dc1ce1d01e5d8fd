#include "learning/dataset.h"

#include "ground/file.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "learning/dataset_check.h"
#include "learning/dataset_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_META = 64 << 20, MOST_TOKENS = 1 << 22 };

/* A JSON file of the folder; messages begin with its path. */
static struct json *read_json(const struct dataset *data, const char *name, struct err *err)
{
    size_t size;
    char *path = path_join(data->folder, name), *text = file_read(path, MOST_META, &size, err);
    struct json *json = text ? json_parse(text, size, text_show(path), err) : NULL;
    mem_free(text);
    mem_free(path);
    return json;
}

static bool read_sizes(struct dataset *data, const struct json *meta, struct err *err)
{
    const char *kind = json_string(json_get(meta, "kind"));
    const struct json *size = json_get(meta, "vocab_size");
    int64_t value;
    if (!json_is_object(meta)) return err_set(err, "an object should stand here, not %s", json_kind(meta));
    if (!json_get(meta, "kind")) return err_set(err, "kind is missing: a text such as \"khop\"");
    if (!size) return err_set(err, "vocab_size is missing: how many token ids there are");
    if (!kind) return err_set(err, "kind: a text such as \"khop\" should stand here, not %s", json_kind(json_get(meta, "kind")));
    if (!json_int(size, &value)) return err_set(err, "vocab_size: a whole number should stand here, not %s", json_kind(size));
    if (value < 1 || value > MOST_TOKENS) return err_set(err, "vocab_size: %lld is outside 1 to %d", (long long)value, MOST_TOKENS);
    data->kind = mem_text(kind);
    data->vocab_size = (int)value;
    return true;
}

static void note_unknown(const struct dataset *data, const struct json *meta, struct sink *sink)
{
    static const char *const known[] = {"kind", "vocab_size", "files", "command", "seed", "sizes", "version", NULL};
    for (const struct json *node = json_first(meta); node; node = json_next(node)) {
        const char *key = json_key(node);
        bool is_known = false;
        for (size_t i = 0; known[i]; i++) is_known |= !strcmp(key, known[i]);
        const char *near = is_known ? NULL : text_nearest(key, text_name, known);
        if (!is_known)
            sink_note(sink, "%s/dataset.json: unknown key '%s' is ignored%s%s%s", text_show(data->folder), text_show(key),
                      near ? ": did you mean '" : "",
                      near ? near : "", near ? "'?" : "");
    }
}

/* ------------------------------------------------------------------ the vocabulary */

static bool read_name(struct dataset *data, const struct json *node, struct err *err)
{
    const char *name = json_key(node);
    int64_t id;
    if (!json_int(node, &id)) return err_set(err, "'%s': the token's id, a whole number, should stand here, not %s", text_show(name),
                                             json_kind(node));
    if (id < 0 || id >= data->vocab_size)
        return err_set(err, "'%s': id %lld is outside 0 to %d (vocab_size %d of dataset.json)", text_show(name), (long long)id,
                       data->vocab_size - 1, data->vocab_size);
    if (data->tokens[id]) return err_set(err, "'%s' and '%s' have the same id %lld", text_show(data->tokens[id]), text_show(name), (long long)id);
    data->tokens[id] = mem_text(name);
    return true;
}

static bool read_vocab(struct dataset *data, struct sink *sink, struct err *err)
{
    struct json *json = read_json(data, "vocab.json", err);
    if (!json) return false;
    bool ok = json_is_object(json) || err_set(err, "an object of names and ids should stand here, not %s", json_kind(json));
    int unnamed = 0, first = -1;
    data->tokens = mem_new((size_t)data->vocab_size * sizeof *data->tokens);
    for (const struct json *node = json_first(json); ok && node; node = json_next(node)) ok = read_name(data, node, err);
    json_free(json);
    if (!ok) return err_in(err, "%s/vocab.json", text_show(data->folder));
    for (int i = 0; i < data->vocab_size; i++)
        if (!data->tokens[i] && !unnamed++) first = i;
    if (unnamed)
        sink_note(sink, "%s/vocab.json: names %d of the %d ids that vocab_size of dataset.json gives; the first without a name is %d",
                  text_show(data->folder),
                  data->vocab_size - unnamed, data->vocab_size, first);
    return true;
}

/* ------------------------------------------------------------------ the splits */

static bool check_file_name(const char *name, struct err *err)
{
    if (!strchr(name, '/') && *name != '.' && text_ends(name, ".jsonl") && strlen(name) > strlen(".jsonl")) return true;
    return err_set(err, "files: '%s' is no name of a split: a file of this folder that ends in .jsonl", text_show(name));
}

static bool is_hash(const char *text)
{
    return text && strlen(text) == HASH_HEX - 1 && strspn(text, "0123456789abcdefABCDEF") == HASH_HEX - 1;
}

/* All that are missing at once. */
static bool files_there(const struct dataset *data, const struct json *files, struct err *err)
{
    size_t missing = 0;
    for (const struct json *node = json_first(files); node; node = json_next(node)) {
        if (!check_file_name(json_key(node), err)) return err_in(err, "%s/dataset.json", text_show(data->folder));
        char *path = path_join(data->folder, json_key(node));
        if (!file_exists(path)) {
            if (!missing++) err_set(err, "%s: files that dataset.json names are missing:", text_show(data->folder));
            err_add(err, "%s %s", missing > 1 ? "," : "", text_show(json_key(node)));
        }
        mem_free(path);
    }
    return !missing;
}

/* What dataset.json says about one file. */
static bool read_entry(const struct json *entry, const char **sha256, int64_t *rows, struct sink *sink, struct err *err)
{
    const struct json *sha = json_get(entry, "sha256"), *count = json_get(entry, "rows");
    const char *file = text_show(json_key(entry));
    *sha256 = json_string(sha);
    *rows = -1;
    if (!json_is_object(entry)) return err_set(err, "files: %s: {\"sha256\": ...} should stand here, not %s", file, json_kind(entry));
    if (sha && !is_hash(*sha256))
        return err_set(err, "files: %s: sha256 should be 64 hexadecimal digits, not %s", file, *sha256 ? text_show(*sha256) : json_kind(sha));
    if (count && (!json_int(count, rows) || *rows < 0)) return err_set(err, "files: %s: rows should be a whole number from 0", file);
    if (!sha) sink_note(sink, "dataset.json: files: %s has no sha256, so that a changed file would not be noticed", file);
    return true;
}

static bool read_split(struct dataset *data, const struct json *entry, struct sink *sink, struct err *err)
{
    struct split *split = &data->splits[data->split_count];
    const char *sha256;
    int64_t rows;
    if (!read_entry(entry, &sha256, &rows, sink, err)) return err_in(err, "%s/dataset.json", text_show(data->folder));
    if (!split_read(split, data, json_key(entry), sha256, sink, err)) return false;
    data->split_count++;
    if (rows < 0 || (size_t)rows == split->count) return true;
    return err_set(err, "%s/%s: %zu rows, but dataset.json says %lld", text_show(data->folder), text_show(json_key(entry)), split->count,
                   (long long)rows);
}

/* Splits that lie in the folder and that dataset.json does not name are not read; that should not be silent. */
static void note_strays(const struct dataset *data, struct sink *sink)
{
    char **names;
    size_t count;
    if (!folder_list(data->folder, &names, &count, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(names[i]);
        if (text_ends(names[i], ".jsonl")) {
            names[i][size - strlen(".jsonl")] = 0;
            bool read = dataset_split(data, names[i]) != NULL;
            names[i][size - strlen(".jsonl")] = '.';
            if (!read) sink_note(sink, "%s/%s is not named in dataset.json and not read", text_show(data->folder), text_show(names[i]));
        }
        mem_free(names[i]);
    }
    mem_free(names);
}

static bool read_splits(struct dataset *data, const struct json *meta, struct sink *sink, struct err *err)
{
    const struct json *files = json_get(meta, "files");
    if (!files) return err_set(err, "%s/dataset.json: files is missing: {\"test_id.jsonl\": {\"sha256\": ...}, ...}", text_show(data->folder));
    if (!json_is_object(files) || !json_count(files))
        return err_set(err, "%s/dataset.json: files: the splits, {\"test_id.jsonl\": {\"sha256\": ...}, ...}, should stand here, not %s",
                       text_show(data->folder), json_is_object(files) ? "an empty object" : json_kind(files));
    if (!files_there(data, files, err)) return false;
    data->splits = mem_new(json_count(files) * sizeof *data->splits);
    for (const struct json *entry = json_first(files); entry; entry = json_next(entry))
        if (!read_split(data, entry, sink, err)) return false;
    note_strays(data, sink);
    return true;
}

/* ------------------------------------------------------------------ open, find, free */

static struct json *read_meta(struct dataset *data, struct err *err)
{
    if (!file_is_folder(data->folder))
        return err_set(err, "%s: %s: give the folder that holds dataset.json", text_show(data->folder),
                       file_exists(data->folder) ? "no folder" : "not found"), NULL;
    struct json *meta = read_json(data, "dataset.json", err);
    char *path = path_join(data->folder, "dataset.json");
    bool ok = meta && (read_sizes(data, meta, err) || err_in(err, "%s", text_show(path))) && hash_file(data->hash, path, err);
    mem_free(path);
    if (ok) return meta;
    json_free(meta);
    return NULL;
}

struct dataset *dataset_open(const char *folder, struct sink *sink, struct err *err)
{
    struct dataset *data = mem_new(sizeof *data);
    data->folder = mem_text(folder);
    for (size_t size = strlen(folder); size > 1 && data->folder[size - 1] == '/'; size--) data->folder[size - 1] = 0;
    data->name = mem_text(path_base(data->folder));
    data->arena = mem_new(sizeof *data->arena);
    struct json *meta = read_meta(data, err);
    bool ok = meta && read_vocab(data, sink, err) && read_splits(data, meta, sink, err);
    if (ok) {
        note_unknown(data, meta, sink);
        dataset_check(data, sink);
    }
    json_free(meta);
    if (ok) return data;
    dataset_free(data);
    return NULL;
}

struct dataset *dataset_none(int vocab_size)
{
    struct dataset *data = mem_new(sizeof *data);
    data->folder = mem_text("none");
    data->name = mem_text("none");
    data->kind = mem_text("none");
    data->vocab_size = vocab_size;
    data->arena = mem_new(sizeof *data->arena);
    return data;
}

void dataset_free(struct dataset *data)
{
    if (!data) return;
    for (size_t i = 0; i < data->split_count; i++) mem_free(data->splits[i].name);
    for (int i = 0; data->tokens && i < data->vocab_size; i++) mem_free(data->tokens[i]);
    arena_clear(data->arena);
    mem_free(data->arena);
    mem_free(data->splits);
    mem_free(data->tokens);
    mem_free(data->folder);
    mem_free(data->name);
    mem_free(data->kind);
    mem_free(data);
}

const struct split *dataset_split(const struct dataset *data, const char *name)
{
    for (size_t i = 0; i < data->split_count; i++)
        if (!strcmp(data->splits[i].name, name)) return &data->splits[i];
    return NULL;
}

const char *dataset_token(const struct dataset *data, int id)
{
    enum { BUFFERS = 16, LONGEST = 32 };
    static _Thread_local char buffers[BUFFERS][LONGEST];
    static _Thread_local int turn;
    bool known = id >= 0 && id < data->vocab_size;
    if (known && data->tokens && data->tokens[id]) return data->tokens[id];
    char *out = buffers[turn++ % BUFFERS];
    snprintf(out, LONGEST, known && !data->tokens ? "%d" : "<id %d: no token>", id);
    return out;
}

int dataset_id(const struct dataset *data, const char *token)
{
    long id;
    for (int i = 0; data->tokens && i < data->vocab_size; i++)
        if (data->tokens[i] && !strcmp(data->tokens[i], token)) return i;
    return parse_int(token, &id) && id >= 0 && id < data->vocab_size ? (int)id : -1;
}

int question_compare(const struct question *a, const struct question *b)
{
    for (int i = 0; i < a->length && i < b->length; i++)
        if (a->tokens[i] != b->tokens[i]) return a->tokens[i] < b->tokens[i] ? -1 : 1;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    if (a->answer_position != b->answer_position) return a->answer_position < b->answer_position ? -1 : 1;
    return a->answer < b->answer ? -1 : a->answer > b->answer;
}
