#include "learning/dataset_read.h"

#include "ground/file.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <string.h>
#include <strings.h>

static const char *const row_keys[] = {"tokens", "answer", "answer_position", "bridges", NULL};
static const char *const bridge_keys[] = {"position", "token", NULL};

/* A row as read, before it is checked; the buffers are used again for every row. */
struct row {
    int64_t answer, answer_position, *tokens, *bridges; /* bridges: position, token, position, token ... */
    size_t length, token_room, bridge_numbers, bridge_room;
};

enum { ODD_KEYS = 8 };
struct reader {
    struct dataset *data;
    const char *file;
    struct sink *sink;
    size_t line;
    struct row row;
    struct question *questions; /* without their tokens and bridges, which lie in the two blocks in the same order, until everything is read */
    size_t count, room, number_count, number_room, bridge_count, bridge_room, blank, first_blank, last_row;
    int *numbers;
    struct bridge *bridges;
    struct odd_key { char *name; const char *near; size_t line, count; } odd[ODD_KEYS];
    size_t odd_count;
};

static void row_token(struct row *row, int64_t token)
{
    mem_grow(&row->tokens, &row->token_room, row->length + 1, sizeof *row->tokens);
    row->tokens[row->length++] = token;
}

static void row_bridge(struct row *row, int64_t position, int64_t token)
{
    mem_grow(&row->bridges, &row->bridge_room, row->bridge_numbers + 2, sizeof *row->bridges);
    row->bridges[row->bridge_numbers++] = position;
    row->bridges[row->bridge_numbers++] = token;
}

static bool wrong(const struct reader *r, struct err *err)
{
    return err_in(err, "%s/%s: line %zu", text_show(r->data->folder), text_show(r->file), r->line);
}

/* ------------------------------------------------------------------ a row */

static void note_key(struct reader *r, const char *key, const char *const *known)
{
    for (size_t i = 0; i < r->odd_count; i++)
        if (!strcmp(r->odd[i].name, key)) {
            r->odd[i].count++;
            return;
        }
    if (r->odd_count < ODD_KEYS) r->odd[r->odd_count++] = (struct odd_key){mem_text(key), text_nearest(key, text_name, known), r->line, 1};
}

static void note_keys(struct reader *r, const struct json *object, const char *const *known)
{
    for (const struct json *node = json_first(object); node; node = json_next(node)) {
        bool is_known = false;
        for (size_t i = 0; known[i]; i++) is_known |= !strcmp(json_key(node), known[i]);
        if (!is_known) note_key(r, json_key(node), known);
    }
}

static bool get_int(const struct json *object, const char *key, const char *where, int64_t *value, struct err *err)
{
    const struct json *node = json_get(object, key);
    if (!node) return err_set(err, "%s%s is missing: a whole number", where, key);
    return json_int(node, value) || err_set(err, "%s%s: a whole number should stand here, not %s", where, key, json_kind(node));
}

static bool json_tokens(struct reader *r, const struct json *tokens, struct err *err)
{
    int64_t token;
    if (!tokens) return err_set(err, "tokens is missing: a list of token ids");
    if (!json_is_array(tokens)) return err_set(err, "tokens: a list of token ids should stand here, not %s", json_kind(tokens));
    for (const struct json *node = json_first(tokens); node; node = json_next(node)) {
        if (!json_int(node, &token)) return err_set(err, "tokens: token %zu should be a whole number, not %s", r->row.length, json_kind(node));
        row_token(&r->row, token);
    }
    return true;
}

static bool json_bridges(struct reader *r, const struct json *bridges, struct err *err)
{
    int64_t position, token;
    if (!bridges) return true;
    if (!json_is_array(bridges)) return err_set(err, "bridges: a list of {\"position\", \"token\"} should stand here, not %s", json_kind(bridges));
    for (const struct json *node = json_first(bridges); node; node = json_next(node)) {
        if (!json_is_object(node)) return err_set(err, "bridges: {\"position\", \"token\"} should stand here, not %s", json_kind(node));
        if (!get_int(node, "position", "bridges: ", &position, err) || !get_int(node, "token", "bridges: ", &token, err)) return false;
        row_bridge(&r->row, position, token);
        note_keys(r, node, bridge_keys);
    }
    return true;
}

static bool json_row(struct reader *r, const char *line, size_t size, struct err *err)
{
    struct json *json = json_parse(line, size, NULL, err);
    if (!json) return wrong(r, err);
    bool ok = json_is_object(json) || err_set(err, "a row is an object {\"tokens\", \"answer\", \"answer_position\", \"bridges\"}, not %s",
                                              json_kind(json));
    r->row.length = r->row.bridge_numbers = 0;
    ok = ok && json_tokens(r, json_get(json, "tokens"), err) && get_int(json, "answer", "", &r->row.answer, err) &&
         get_int(json, "answer_position", "", &r->row.answer_position, err) && json_bridges(r, json_get(json, "bridges"), err);
    if (ok) note_keys(r, json, row_keys);
    json_free(json);
    return ok || wrong(r, err);
}

/* ------------------------------------------------------------------ checking and keeping */

static bool in_vocab(const struct reader *r, const char *what, int64_t token, struct err *err)
{
    if (token >= 0 && token < r->data->vocab_size) return true;
    return err_set(err, "%s: token %lld is outside 0 to %d (vocab_size %d)", what, (long long)token, r->data->vocab_size - 1, r->data->vocab_size);
}

static bool in_row(const struct row *row, const char *what, int64_t position, struct err *err)
{
    if (position >= 0 && position < (int64_t)row->length) return true;
    return err_set(err, "%s: position %lld is outside the row: 0 to %zu", what, (long long)position, row->length - 1);
}

static bool check_row(const struct reader *r, struct err *err)
{
    const struct row *row = &r->row;
    if (!row->length) return err_set(err, "tokens: the list is empty");
    if (row->length > 1 << 20) return err_set(err, "tokens: %zu tokens, more than %d", row->length, 1 << 20);
    for (size_t i = 0; i < row->length; i++)
        if (!in_vocab(r, "tokens", row->tokens[i], err)) return false;
    if (!in_vocab(r, "answer", row->answer, err) || !in_row(row, "answer_position", row->answer_position, err)) return false;
    for (size_t i = 0; i < row->bridge_numbers; i += 2)
        if (!in_row(row, "bridges", row->bridges[i], err) || !in_vocab(r, "bridges", row->bridges[i + 1], err)) return false;
    return true;
}

static void keep_row(struct reader *r)
{
    const struct row *row = &r->row;
    mem_grow(&r->questions, &r->room, r->count + 1, sizeof *r->questions);
    mem_grow(&r->numbers, &r->number_room, r->number_count + row->length, sizeof *r->numbers);
    mem_grow(&r->bridges, &r->bridge_room, r->bridge_count + row->bridge_numbers / 2 + 1, sizeof *r->bridges);
    r->questions[r->count++] = (struct question){
        .length = (int)row->length, .answer = (int)row->answer, .answer_position = (int)row->answer_position,
        .bridge_count = (int)row->bridge_numbers / 2,
    };
    for (size_t i = 0; i < row->length; i++) r->numbers[r->number_count++] = (int)row->tokens[i];
    for (size_t i = 0; i < row->bridge_numbers; i += 2)
        r->bridges[r->bridge_count++] = (struct bridge){(int)row->bridges[i], (int)row->bridges[i + 1]};
}

static bool is_blank(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t' || *line == '\r')) line++;
    return line == end;
}

static bool read_line(struct reader *r, const char *line, const char *end, struct err *err)
{
    r->line++;
    if (is_blank(line, end)) {
        if (!r->blank++) r->first_blank = r->line;
        return true;
    }
    if (end[-1] == '\r') end--;
    if (!json_row(r, line, (size_t)(end - line), err)) return false;
    if (!check_row(r, err)) return wrong(r, err);
    keep_row(r);
    r->last_row = r->line;
    return true;
}

static bool read_lines(struct reader *r, const struct file_map *map, struct err *err)
{
    const char *line = (const char *)map->data, *end = line + map->size;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        if (!read_line(r, line, stop, err)) return false;
        line = stop + (stop < end);
    }
    return true;
}

static void say_odd(struct reader *r)
{
    struct text path = {0};
    text_add(&path, "%s/%s", text_show(r->data->folder), text_show(r->file));
    if (!r->count) sink_note(r->sink, "%s: no rows: the file is empty", path.data);
    if (r->blank && r->first_blank < r->last_row) /* behind the last row they are nobody's mistake */
        sink_note(r->sink, "%s: %zu empty line%s skipped (first: line %zu)", path.data, r->blank, r->blank > 1 ? "s" : "", r->first_blank);
    for (size_t i = 0; i < r->odd_count; i++) {
        const struct odd_key *key = &r->odd[i];
        sink_note(r->sink, "%s: line %zu: unknown key '%s' is ignored (in %zu row%s)%s%s%s", path.data, key->line, text_show(key->name), key->count,
                  key->count > 1 ? "s" : "", key->near ? ": did you mean '" : "", key->near ? key->near : "", key->near ? "'?" : "");
    }
    text_clear(&path);
}

/* Moves what was read into the dataset's arena, as one block each. */
static void hand_over(struct reader *r, struct split *split)
{
    struct arena *arena = r->data->arena;
    int *numbers = arena_new(arena, r->number_count * sizeof *numbers);
    struct bridge *bridges = arena_new(arena, r->bridge_count * sizeof *bridges);
    struct question *questions = arena_new(arena, r->count * sizeof *questions);
    if (r->number_count) memcpy(numbers, r->numbers, r->number_count * sizeof *numbers);
    if (r->bridge_count) memcpy(bridges, r->bridges, r->bridge_count * sizeof *bridges);
    if (r->count) memcpy(questions, r->questions, r->count * sizeof *questions);
    for (size_t i = 0; i < r->count; i++) {
        questions[i].tokens = numbers;
        questions[i].bridges = bridges;
        numbers += questions[i].length;
        bridges += questions[i].bridge_count;
    }
    split->name = mem_text(r->file);
    split->name[strlen(split->name) - strlen(".jsonl")] = 0;
    split->questions = questions;
    split->count = r->count;
}

static void reader_release(struct reader *r)
{
    for (size_t i = 0; i < r->odd_count; i++) mem_free(r->odd[i].name);
    mem_free(r->row.tokens);
    mem_free(r->row.bridges);
    mem_free(r->questions);
    mem_free(r->numbers);
    mem_free(r->bridges);
}

bool split_read(struct split *split, struct dataset *data, const char *file, const char *sha256, struct sink *sink, struct err *err)
{
    struct reader r = {.data = data, .file = file, .sink = sink};
    struct file_map map;
    char hash[HASH_HEX], *path = path_join(data->folder, file);
    bool ok = file_map(&map, path, err);
    mem_free(path);
    if (!ok) return false;
    hash_bytes(hash, map.data, map.size);
    bool changed = sha256 && strcasecmp(hash, sha256);
    ok = read_lines(&r, &map, err);
    file_unmap(&map);
    if (ok && changed)
        ok = err_set(err, "%s/%s: changed since dataset.json was written: its sha256 is %s there and %s now"
                     " (if that is meant, put the new one into dataset.json)",
                     text_show(data->folder), text_show(file), sha256, hash);
    else if (changed) err_add(err, " (the file also differs from its sha256 in dataset.json: changed or incomplete)");
    if (ok) {
        say_odd(&r);
        hand_over(&r, split);
    }
    reader_release(&r);
    return ok;
}
