#include "saved.h"
#include "opened.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"

#include <string.h>

bool saved_write(struct app *app, const char *path, struct err *err)
{
    struct text text = {0};
    text_add(&text, "# a session of loopscope %s; open it again: loopscope session FILE\n", VERSION);
    settings_add(app, SETTING_OPEN, &text);
    bool ok = file_write(path, text.data, text.size, err);
    text_clear(&text);
    return ok;
}

static bool take_line(struct app *app, const char *line, struct err *err)
{
    char **words;
    size_t count;
    const char *start = line + strspn(line, " \t");
    if (!*start || *start == '#') return true;
    if (!words_split(line, &words, &count, err)) return false;
    bool ok = count == 3 && !strcmp(words[0], "set");
    if (!ok) err_set(err, "'%s' is no line of a session: set NAME VALUE", text_show(line));
    ok = ok && settings_set(app, words[1], words[2], err);
    words_free(words, count);
    return ok;
}

bool saved_read(struct app *app, const char *path, struct err *err)
{
    char *text = file_read(path, 1 << 20, NULL, err), *line = text;
    bool ok = text != NULL;
    if (ok) opened_clear(app);
    for (int number = 1; ok && *line; number++) {
        char *end = line + strcspn(line, "\n");
        bool more = *end;
        *end = '\0';
        if (end > line && end[-1] == '\r') end[-1] = '\0';
        ok = take_line(app, line, err) || err_in(err, "%s:%d", text_show(path), number);
        line = end + more;
    }
    mem_free(text);
    opened_keep(app);
    undo_clear(&app->undo);
    return ok;
}
