#include "keys.h"

#include "ground/width.h"

#include <string.h>

static const struct name { int key; const char *text, *ascii, *script; } names[] = {
    {PRESS_UP, "↑", "Up"}, {PRESS_DOWN, "↓", "Down"}, {PRESS_LEFT, "←", "<-", "Left"}, {PRESS_RIGHT, "→", "->", "Right"},
    {PRESS_PAGE_UP, "PgUp", "PgUp"}, {PRESS_PAGE_DOWN, "PgDn", "PgDn"}, {PRESS_HOME, "Home", "Home"}, {PRESS_END, "End", "End"},
    {PRESS_BACK_TAB, "⇧Tab", "S-Tab"}, {PRESS_BACKSPACE, "⌫", "BS"}, {PRESS_DELETE, "Del", "Del"}, {PRESS_TAB, "Tab", "Tab"},
    {PRESS_ENTER, "⏎", "Enter"}, {PRESS_ESCAPE, "Esc", "Esc"}, {PRESS_SPACE, "Space", "Space"},
};

const struct binding *binding_find(const struct binding *list, int key)
{
    for (const struct binding *b = list; b && b->keys[0]; b++)
        for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
            if (b->keys[i] == key) return b;
    return NULL;
}

static void key_show(int key, bool ascii, struct text *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == key) {
            text_add(out, "%s", ascii ? names[i].ascii : names[i].text);
            return;
        }
    if (key < ' ') text_add(out, "^%c", key | 64);
    else if (key < 127) text_add(out, "%c", key);
    else text_add(out, "U+%04X", (unsigned)key);
}

static bool is_arrow(int key) { return key >= PRESS_UP && key <= PRESS_RIGHT; }

void binding_show(const struct binding *binding, bool ascii, bool brief, struct text *out)
{
    const int *keys = binding->keys;
    for (int i = 0; i < BINDING_KEYS && keys[i]; i++) {
        if (brief && i && !(i == 1 && is_arrow(keys[0]) && is_arrow(keys[1]))) break;
        if (i && (ascii || !is_arrow(keys[i]))) text_add(out, " ");
        key_show(keys[i], ascii, out);
    }
}

int key_read(const char **text)
{
    unsigned code = 0;
    const char *end = **text == '<' ? strchr(*text, '>') : NULL;
    if (!end || end == *text + 1) {
        *text += text_utf8(*text, &code);
        return (int)code;
    }
    size_t size = (size_t)(end - *text - 1);
    const char *name = *text + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *known = names[i].script ? names[i].script : names[i].ascii;
        if (strlen(known) != size || strncmp(known, name, size) != 0) continue;
        *text = end + 1;
        return names[i].key;
    }
    if (size != 2 || name[0] != '^') return 0;
    *text = end + 1;
    return PRESS_CONTROL(name[1]);
}
