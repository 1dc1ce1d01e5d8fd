#include "learning/dataset_write.h"

#include "ground/file.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/mem.h"

#include <stdarg.h>
#include <stdio.h>

static void put_file(struct dataset_writer *out, const char *name, const struct text *text)
{
    char *path = path_join(out->folder, name);
    if (!out->failed) out->failed = !file_write(path, text->data ? text->data : "", text->size, &out->err);
    mem_free(path);
}

void writer_begin(struct dataset_writer *out, const char *folder, const char *kind, int vocab_size)
{
    *out = (struct dataset_writer){.folder = folder, .kind = kind, .vocab_size = vocab_size};
}

void writer_name(struct dataset_writer *out, const char *format, ...)
{
    char name[256];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    text_add(&out->vocab, "%s", out->names ? ",\n  " : "  ");
    json_add_string(&out->vocab, name);
    text_add(&out->vocab, ": %d", out->names++);
}

static void close_split(struct dataset_writer *out)
{
    char hash[HASH_HEX];
    struct text name = {0};
    if (!out->split) return;
    text_add(&name, "%s.jsonl", out->split);
    put_file(out, name.data, &out->rows);
    hash_bytes(hash, out->rows.data ? out->rows.data : "", out->rows.size);
    text_add(&out->files, "%s", out->files.size ? ",\n    " : "    ");
    json_add_string(&out->files, name.data);
    text_add(&out->files, ": {\"sha256\": \"%s\", \"rows\": %zu}", hash, out->row_count);
    text_clear(&name);
    text_clear(&out->rows);
    mem_free(out->split);
    out->split = NULL;
    out->row_count = 0;
}

void writer_split(struct dataset_writer *out, const char *name)
{
    close_split(out);
    out->split = mem_text(name);
}

void writer_row(struct dataset_writer *out, const struct question *q)
{
    struct text *rows = &out->rows;
    text_add(rows, "{\"tokens\":[");
    for (int i = 0; i < q->length; i++) text_add(rows, i ? ",%d" : "%d", q->tokens[i]);
    text_add(rows, "],\"answer\":%d,\"answer_position\":%d,\"bridges\":[", q->answer, q->answer_position);
    for (int i = 0; i < q->bridge_count; i++)
        text_add(rows, "%s{\"position\":%d,\"token\":%d}", i ? "," : "", q->bridges[i].position, q->bridges[i].token);
    text_add(rows, "]}\n");
    out->row_count++;
}

bool writer_end(struct dataset_writer *out, const char *command, long seed, const struct dataset_size *sizes, struct err *err)
{
    struct text meta = {0}, vocab = {0};
    close_split(out);
    text_add(&meta, "{\n  \"kind\": \"%s\",\n  \"vocab_size\": %d,\n  \"files\": {\n%s\n  },\n  \"command\": ", out->kind, out->vocab_size,
             out->files.data);
    json_add_string(&meta, command);
    text_add(&meta, ",\n  \"seed\": %ld,\n  \"sizes\": {", seed);
    for (size_t i = 0; sizes[i].name; i++) text_add(&meta, "%s\"%s\": %ld", i ? ", " : "", sizes[i].name, sizes[i].value);
    text_add(&meta, "}\n}\n");
    text_add(&vocab, "{\n%s\n}\n", out->vocab.data ? out->vocab.data : "");
    put_file(out, "vocab.json", &vocab);
    put_file(out, "dataset.json", &meta); /* last: a folder with it is whole */
    bool ok = !out->failed || err_set(err, "%s", out->err.text);
    text_clear(&meta);
    text_clear(&vocab);
    text_clear(&out->vocab);
    text_clear(&out->files);
    return ok;
}
