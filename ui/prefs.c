#include "prefs.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"

#include <stdio.h>
#include <string.h>

static bool set_theme(struct prefs *p, const char *value) { return theme_parse(value, &p->theme); }
static void get_theme(const struct prefs *p, struct text *out) { text_add(out, "%s", theme_name(p->theme)); }

static bool set_ascii(struct prefs *p, const char *value)
{
    static const char *const words[] = {"auto", "off", "on"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, words[i])) return p->ascii = i - 1, true;
    return false;
}
static void get_ascii(const struct prefs *p, struct text *out) { text_add(out, "%s", p->ascii < 0 ? "auto" : p->ascii ? "on" : "off"); }

static bool set_mouse(struct prefs *p, const char *value)
{
    p->mouse = !strcmp(value, "on");
    return p->mouse || !strcmp(value, "off");
}
static void get_mouse(const struct prefs *p, struct text *out) { text_add(out, "%s", p->mouse ? "on" : "off"); }

static bool set_number(int *number, const char *value)
{
    long n;
    if (!parse_int(value, &n) || n < 1 || n > 1000) return false;
    *number = (int)n;
    return true;
}
static bool set_rows(struct prefs *p, const char *value) { return set_number(&p->rows, value); }
static bool set_cols(struct prefs *p, const char *value) { return set_number(&p->cols, value); }
static void get_rows(const struct prefs *p, struct text *out) { text_add(out, "%d", p->rows); }
static void get_cols(const struct prefs *p, struct text *out) { text_add(out, "%d", p->cols); }

static const struct row {
    const char *name, *choices;
    bool (*set)(struct prefs *prefs, const char *value);
    void (*get)(const struct prefs *prefs, struct text *out);
} rows[] = {
    {"theme", THEME_NAMES, set_theme, get_theme}, {"ascii", "auto|on|off", set_ascii, get_ascii}, {"mouse", "on|off", set_mouse, get_mouse},
    {"rows", "a number from 1 to 1000", set_rows, get_rows}, {"cols", "a number from 1 to 1000", set_cols, get_cols},
};
enum { ROWS = sizeof rows / sizeof *rows };

void prefs_init(struct prefs *prefs)
{
    *prefs = (struct prefs){.theme = THEME_DARK, .ascii = -1, .mouse = true, .rows = 24, .cols = 80};
}

void prefs_release(struct prefs *prefs) { text_clear(&prefs->other); }

const char *prefs_name(size_t i, const char **choices)
{
    if (i >= ROWS) return NULL;
    *choices = rows[i].choices;
    return rows[i].name;
}

bool prefs_known(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) return true;
    return false;
}

bool prefs_set(struct prefs *prefs, const char *name, const char *value, struct err *err)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        if (!rows[i].set(prefs, value)) return err_set(err, "%s: '%s' is no value of it: %s", name, text_show(value), rows[i].choices);
        return prefs->changed = true;
    }
    return err_set(err, "%s: no such setting", text_show(name));
}

bool prefs_read(struct prefs *prefs, const char *path, struct err *err)
{
    prefs_init(prefs);
    if (!path || !file_exists(path)) return true;
    char *text = file_read(path, 1 << 20, NULL, err);
    bool good = true;
    if (!text) return false;
    for (char *line = text, *end; *line; line = end) {
        size_t size = strcspn(line, "\n");
        char name[64] = "", value[64] = "";
        end = line + size + (line[size] != 0);
        if (sscanf(line, "%63[^ \n] %63[^\n]", name, value) == 2 && prefs_known(name)) {
            struct err wrong = {0};
            if (prefs_set(prefs, name, value, &wrong)) continue;
            if (good) good = err_set(err, "%s: %s", text_show(path), wrong.text);
        }
        text_add_bytes(&prefs->other, line, size);
        text_add(&prefs->other, "\n");
    }
    mem_free(text);
    prefs->changed = false;
    return good;
}

bool prefs_write(struct prefs *prefs, const char *path, struct err *err)
{
    struct text text = {0};
    char *folder = mem_text(path), *slash = strrchr(folder, '/');
    if (prefs->other.size) text_add_bytes(&text, prefs->other.data, prefs->other.size);
    for (size_t i = 0; i < ROWS; i++) {
        text_add(&text, "%s ", rows[i].name);
        rows[i].get(prefs, &text);
        text_add(&text, "\n");
    }
    if (slash) *slash = '\0';
    bool ok = folder_make(folder, err) && file_write(path, text.data, text.size, err);
    mem_free(folder);
    text_clear(&text);
    if (ok) prefs->changed = false;
    return ok;
}
