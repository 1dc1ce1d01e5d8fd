#include "journal.h"

#include "ground/file.h"
#include "ground/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES_KEPT = 100 };

void journal_open(struct journal *journal, char *folder) { journal->folder = folder; }

void journal_release(struct journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) mem_free(journal->entries[i].line), mem_free(journal->entries[i].scene);
    mem_free(journal->entries);
    mem_free(journal->folder);
    mem_free(journal->path);
    mem_free(journal->wrong);
    *journal = (struct journal){0};
}

void entry_time(const struct entry *entry, char text[16])
{
    struct tm tm;
    localtime_r(&entry->when, &tm);
    strftime(text, 16, "%H:%M:%S", &tm);
}

/* ---- as text */

static void add_head(struct text *out)
{
    char *folder = getcwd(NULL, 0);
    text_add(out, "# loopscope %s, a session's log; run again: loopscope replay FILE\n", VERSION);
    if (folder) text_add(out, "# in %s\n", folder);
    mem_free(folder);
}

/* What did not end well must not be run again: it stays as a comment. */
static void add_entry(const struct entry *entry, struct text *out)
{
    char when[16];
    bool good = entry->state == RESULT_DONE;
    entry_time(entry, when);
    text_add(out, "# %s  %ld rows  %.2f s%s\n%s%s\n", when, entry->rows, entry->seconds,
             good ? "" : entry->state == RESULT_FAILED ? "  failed" : "  stopped", good ? "" : "# ", entry->line);
}

bool journal_save(const struct journal *journal, const char *path, struct err *err)
{
    struct text text = {0};
    add_head(&text);
    for (size_t i = 0; i < journal->count; i++) add_entry(&journal->entries[i], &text);
    bool ok = file_write(path, text.data, text.size, err);
    text_clear(&text);
    return ok;
}

/* ---- the file of this session */

/* Names begin with the time, so the oldest come first. */
static void remove_oldest(const char *folder)
{
    char **names;
    size_t count;
    struct err err = {0};
    if (!folder_list(folder, &names, &count, &err)) return;
    for (size_t i = 0; i < count; i++) {
        char *path = path_join(folder, names[i]);
        if (i + FILES_KEPT < count && text_ends(names[i], ".log")) unlink(path);
        mem_free(path), mem_free(names[i]);
    }
    mem_free(names);
}

static void write_entry(struct journal *journal, const struct entry *entry)
{
    struct text text = {0};
    struct err err = {0};
    if (!journal->folder || journal->wrong) return;
    if (!journal->path) {
        char name[64], *path;
        struct tm tm;
        localtime_r(&entry->when, &tm);
        strftime(name, sizeof name, "%Y%m%d-%H%M%S", &tm);
        snprintf(name + strlen(name), 24, "-%ld.log", (long)getpid());
        folder_make(journal->folder, &err);
        path = path_join(journal->folder, name);
        journal->path = path;
        remove_oldest(journal->folder);
        add_head(&text);
    }
    add_entry(entry, &text);
    FILE *file = *err.text ? NULL : fopen(journal->path, "ae");
    bool ok = file && (fwrite(text.data, 1, text.size, file) == text.size) & (fclose(file) == 0);
    if (!ok && !*err.text) err_set(&err, "%s: cannot be written: %s", text_show(journal->path), strerror(errno));
    if (!ok) journal->wrong = mem_text(err.text);
    text_clear(&text);
}

/* ---- entries */

static void add(struct journal *journal, struct entry entry)
{
    mem_grow(&journal->entries, &journal->room, journal->count + 1, sizeof *journal->entries);
    journal->entries[journal->count++] = entry;
    write_entry(journal, &entry);
}

void journal_add(struct journal *journal, const struct result *result)
{
    long rows = 0;
    if (result->again) return;
    for (size_t i = 0; i < result->table_count; i++) rows += (long)result->tables[i]->row_count;
    add(journal, (struct entry){mem_text(result->line), mem_text(result->scene), time(NULL), rows, result->seconds, result->state});
}

void journal_note(struct journal *journal, const char *line)
{
    add(journal, (struct entry){.line = mem_text(line), .when = time(NULL), .state = RESULT_DONE});
}
