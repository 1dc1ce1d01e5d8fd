#include "history.h"

#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

enum { LINES_KEPT = 500 };

/* Only now and then: the file of a session that runs elsewhere is not to be touched at every start. */
static void shorten(const struct prompt *prompt, const char *path)
{
    struct text text = {0};
    struct err err = {0};
    if (prompt->entered_count < 2 * LINES_KEPT) return;
    for (size_t i = prompt->entered_count - LINES_KEPT; i < prompt->entered_count; i++) text_add(&text, "%s\n", prompt->entered[i]);
    file_write(path, text.data, text.size, &err);
    text_clear(&text);
}

void history_read(struct prompt *prompt, const char *path)
{
    struct err err = {0};
    char *text = path && file_exists(path) ? file_read(path, 1 << 22, NULL, &err) : NULL;
    for (char *line = text, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        prompt_remember(prompt, line);
    }
    if (text) shorten(prompt, path);
    mem_free(text);
}

void history_add(const char *path, const char *line)
{
    struct err err = {0};
    if (!path || !*line) return;
    char *folder = mem_text(path), *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    FILE *file = folder_make(folder, &err) ? fopen(path, "ae") : NULL;
    if (file) fprintf(file, "%s\n", line), fclose(file);
    mem_free(folder);
}
