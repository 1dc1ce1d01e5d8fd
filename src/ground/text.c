#include "ground/text.h"

#include "ground/mem.h"
#include "ground/width.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void text_add_bytes(struct text *text, const char *bytes, size_t size)
{
    mem_grow(&text->data, &text->room, text->size + size + 1, 1);
    if (size) memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size > 0) {
        mem_grow(&text->data, &text->room, text->size + (size_t)size + 1, 1);
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    } else {
        text_add_bytes(text, "", 0);
    }
    va_end(again);
}

void text_clear(struct text *text)
{
    mem_free(text->data);
    *text = (struct text){0};
}

static void add_shown(struct text *out, const char *s, bool lines)
{
    char piece[PIECE_SIZE];
    for (int size, width; (size = text_piece(s, piece, &width)); s += size)
        if (lines && *s == '\n') text_add_bytes(out, s, 1);
        else text_add_bytes(out, piece, strlen(piece));
}

void text_add_shown(struct text *out, const char *text) { add_shown(out, text, true); }

const char *text_show(const char *text)
{
    enum { BUFFERS = 8, LONGEST = 200 };
    static _Thread_local char buffers[BUFFERS][LONGEST + 16];
    static _Thread_local int turn;
    char *out = buffers[turn++ % BUFFERS];
    struct text shown = {0};
    text_add_bytes(&shown, "", 0);
    add_shown(&shown, text ? text : "(none)", false);
    size_t size = shown.size;
    if (size > LONGEST) {
        size = LONGEST;
        while (size && ((unsigned char)shown.data[size] & 0xc0) == 0x80) size--; /* not inside a character */
    }
    memcpy(out, shown.data, size);
    strcpy(out + size, shown.size > size ? "..." : "");
    text_clear(&shown);
    return out;
}

static size_t distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t n = strlen(a), m = strlen(b), row[MOST + 1];
    if (n > MOST || m > MOST) return MOST;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *text_nearest(const char *word, const char *(*name)(const void *, size_t), const void *list)
{
    const char *nearest = NULL, *entry;
    size_t best = (strlen(word) + 2) / 3 + 1;
    for (size_t i = 0; (entry = name(list, i)); i++) {
        size_t d = distance(word, entry);
        if (d < best) best = d, nearest = entry;
    }
    return nearest;
}

const char *text_name(const void *list, size_t i) { return ((const char *const *)list)[i]; }

bool text_starts(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

bool text_ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

bool text_among(const char *words, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (size && strcspn(at, "|") == size && !strncmp(at, word, size)) return true;
    return false;
}

void text_add_quoted(struct text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(out, "%s", word);
        return;
    }
    text_add(out, "'");
    for (const char *s = word; *s; s++) {
        if (*s == '\'') text_add(out, "'\\''");
        else text_add_bytes(out, s, 1);
    }
    text_add(out, "'");
}

bool text_matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            do if (text_matches(pattern + 1, text)) return true;
            while (*text++);
            return false;
        }
        if (*pattern != *text) return false;
    }
    return !*text;
}
