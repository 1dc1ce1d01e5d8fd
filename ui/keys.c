#include "keys.h"

#include <stddef.h>

static const struct name { int key; const char *text, *ascii; } names[] = {
    {PRESS_UP, "↑", "up"}, {PRESS_DOWN, "↓", "down"}, {PRESS_LEFT, "←", "<-"}, {PRESS_RIGHT, "→", "->"},
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

void key_show(int key, bool ascii, struct text *out)
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

void binding_show(const struct binding *binding, bool ascii, struct text *out)
{
    for (int i = 0; i < BINDING_KEYS && binding->keys[i]; i++) {
        if (i && (ascii || binding->keys[i] < PRESS_UP)) text_add(out, " ");
        key_show(binding->keys[i], ascii, out);
    }
}
