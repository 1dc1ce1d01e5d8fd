#include "prompt.h"

#include "keys.h"

#include "ground/mem.h"

#include <string.h>

void prompt_set(struct prompt *prompt, const char *line)
{
    prompt->line.size = 0;
    text_add(&prompt->line, "%s", line);
    prompt->at = prompt->line.size;
    prompt->recalled = prompt->entered_count;
    prompt->offered = false;
}

void prompt_offer(struct prompt *prompt, const char *line)
{
    prompt_set(prompt, line);
    prompt->offered = *line;
}

void prompt_remember(struct prompt *prompt, const char *line)
{
    if (!*line || (prompt->entered_count && !strcmp(prompt->entered[prompt->entered_count - 1], line))) return;
    mem_grow(&prompt->entered, &prompt->entered_room, prompt->entered_count + 1, sizeof *prompt->entered);
    prompt->entered[prompt->entered_count++] = mem_text(line);
}

void prompt_release(struct prompt *prompt)
{
    for (size_t i = 0; i < prompt->entered_count; i++) mem_free(prompt->entered[i]);
    mem_free(prompt->entered);
    text_clear(&prompt->line);
    *prompt = (struct prompt){0};
}

/* ---- editing */

static bool inside_letter(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

static size_t before(const struct prompt *prompt, size_t at)
{
    if (at) at--;
    while (at && inside_letter(prompt->line.data[at])) at--;
    return at;
}

static size_t behind(const struct prompt *prompt, size_t at)
{
    if (at < prompt->line.size) at++;
    while (at < prompt->line.size && inside_letter(prompt->line.data[at])) at++;
    return at;
}

static size_t word_before(const struct prompt *prompt)
{
    size_t at = prompt->at;
    while (at && prompt->line.data[at - 1] == ' ') at--;
    while (at && prompt->line.data[at - 1] != ' ') at--;
    return at;
}

static void cut(struct prompt *prompt, size_t from, size_t to)
{
    memmove(prompt->line.data + from, prompt->line.data + to, prompt->line.size - to + 1);
    prompt->line.size -= to - from;
    prompt->at = from;
}

void prompt_insert(struct prompt *prompt, const char *piece)
{
    prompt->offered = false;
    struct text rest = {0};
    text_add(&rest, "%s", prompt->line.data + prompt->at);
    prompt->line.size = prompt->at;
    text_add(&prompt->line, "%s", piece);
    prompt->at = prompt->line.size;
    text_add(&prompt->line, "%s", rest.data);
    text_clear(&rest);
}

static void insert_letter(struct prompt *prompt, unsigned code)
{
    char piece[5] = {0};
    if (code < 0x80) piece[0] = (char)code;
    else if (code < 0x800) piece[0] = (char)(0xc0 | code >> 6), piece[1] = (char)(0x80 | (code & 63));
    else if (code < 0x10000)
        piece[0] = (char)(0xe0 | code >> 12), piece[1] = (char)(0x80 | (code >> 6 & 63)), piece[2] = (char)(0x80 | (code & 63));
    else
        piece[0] = (char)(0xf0 | code >> 18), piece[1] = (char)(0x80 | (code >> 12 & 63)), piece[2] = (char)(0x80 | (code >> 6 & 63)),
        piece[3] = (char)(0x80 | (code & 63));
    prompt_insert(prompt, piece);
}

static void recall(struct prompt *prompt, int step)
{
    size_t to = prompt->recalled + (size_t)step;
    if (to > prompt->entered_count) return; /* also below the first: it wraps to a huge number */
    prompt_set(prompt, to < prompt->entered_count ? prompt->entered[to] : "");
    prompt->recalled = to;
}

enum prompt_answer prompt_key(struct prompt *prompt, int key)
{
    if (prompt->offered && key >= ' ' && key < PRESS_UP) cut(prompt, 0, prompt->line.size);
    prompt->offered = false;
    switch (key) {
    case PRESS_ENTER: return PROMPT_DONE;
    case PRESS_ESCAPE: case PRESS_CONTROL('c'): case PRESS_CONTROL('g'): return PROMPT_LEFT;
    case PRESS_BACKSPACE:
        if (!prompt->line.size) return PROMPT_LEFT;
        cut(prompt, before(prompt, prompt->at), prompt->at);
        break;
    case PRESS_DELETE: case PRESS_CONTROL('d'): cut(prompt, prompt->at, behind(prompt, prompt->at)); break;
    case PRESS_LEFT: case PRESS_CONTROL('b'): prompt->at = before(prompt, prompt->at); break;
    case PRESS_RIGHT: case PRESS_CONTROL('f'): prompt->at = behind(prompt, prompt->at); break;
    case PRESS_HOME: case PRESS_CONTROL('a'): prompt->at = 0; break;
    case PRESS_END: case PRESS_CONTROL('e'): prompt->at = prompt->line.size; break;
    case PRESS_UP: case PRESS_CONTROL('p'): recall(prompt, -1); break;
    case PRESS_DOWN: case PRESS_CONTROL('n'): recall(prompt, 1); break;
    case PRESS_CONTROL('u'): cut(prompt, 0, prompt->at); break;
    case PRESS_CONTROL('k'): cut(prompt, prompt->at, prompt->line.size); break;
    case PRESS_CONTROL('w'): cut(prompt, word_before(prompt), prompt->at); break;
    default:
        if (key >= ' ' && key < PRESS_UP) insert_letter(prompt, (unsigned)key);
    }
    return PROMPT_GOES_ON;
}

void prompt_draw(const struct prompt *prompt, struct cells *cells, int row, int col, int width, int *cursor)
{
    struct text head = {0};
    text_add_bytes(&head, prompt->line.data, prompt->at);
    text_add(&head, "%s", "");
    const char *shown = prompt->line.data;
    int place = text_width(head.data);
    while (place >= width && *shown) { /* long lines scroll, so that the cursor is always seen */
        size_t next = behind(prompt, (size_t)(shown - prompt->line.data));
        shown = prompt->line.data + next;
        place = text_width(head.data + (next < head.size ? next : head.size));
    }
    int end = cells_put(cells, row, col, TINT_PLAIN, shown, width);
    if (prompt->offered) cells_look(cells, row, col, end - col, LOOK_REVERSE); /* as a selection, which it is */
    *cursor = col + place;
    text_clear(&head);
}
