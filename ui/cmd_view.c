/* view: any view of the screen as text, or as a picture: for pipes, pages and the README. */
#include "app.h"
#include "enter.h"
#include "home.h"
#include "tui.h"

#include "doing/command.h"
#include "doing/manual.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"

#include <string.h>

static const struct option options[] = {
    {"rows", OPTION_INT, NULL, .low = 1, .high = 1000, .help = "height of the page; 24, or as set at the prompt with :set rows N"},
    {"cols", OPTION_INT, NULL, .low = 1, .high = 1000, .help = "width of the page; 80, or as set with :set cols N"},
    {"data", OPTION_TEXT, NULL, .help = "dataset: a folder, or the name of a bundled one; the model's own otherwise", .placeholder = "DATA"},
    {"split", OPTION_TEXT, NULL, .help = "of the question that is looked at", .placeholder = "SPLIT"},
    {"row", OPTION_TEXT, NULL, .help = "question that is looked at: its number, or SPLIT:NUMBER", .placeholder = "ROW"},
    {"set", OPTION_TEXT, NULL, .help = "any setting, as :set takes it: grid.metric=rank, intervene.edit=mix@h.1:alpha=0.7",
     .placeholder = "NAME=VALUE", .many = true},
    {"press", OPTION_TEXT, NULL, .help = "keys to press first: letters, or <Down>, <Right>, <Enter>, <Tab> ...", .placeholder = "KEYS"},
    {"example", OPTION_FLAG, NULL, .help = "presses the keys that make a good picture of the view"},
    {"output", OPTION_TEXT, NULL, .help = "a picture of the screen instead of text: .png or .svg", .placeholder = "FILE", .letter = 'o'},
    {"theme", OPTION_CHOICE, "dark", .choices = THEME_NAMES, .help = "of a picture"},
    {"plain", OPTION_FLAG, NULL, .help = "as text: what happens without -o"},
    {0},
};

static bool list_views(const struct session *session, struct sink *sink)
{
    struct table *table = table_new("views");
    command_provenance(session, table);
    table_column(table, "name", ROLE_LABEL, NULL);
    table_column(table, "title", ROLE_LABEL, NULL);
    table_column(table, "shows", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
    for (size_t n = 0; view_numbered(n); n++)
        sink_row(sink, (struct cell[]){cell_text(view_numbered(n)->name), cell_text(view_numbered(n)->title), cell_text(view_numbered(n)->help)});
    return true;
}

/* Sizes that the line does not give are the user's. */
static void set_size(struct page *page, const struct args *args)
{
    struct prefs prefs;
    struct err err = {0};
    char *path = home_path(HOME_CONFIG, "settings");
    prefs_read(&prefs, path, &err); /* what is wrong in it is said by the screen */
    page->rows = args_given(args, "rows") ? (int)args_int(args, "rows") : prefs.rows;
    page->cols = args_given(args, "cols") ? (int)args_int(args, "cols") : prefs.cols;
    prefs_release(&prefs);
    mem_free(path);
}

static bool set_form(struct page *page, const struct args *args, struct err *err)
{
    const char *file = args_text(args, "output");
    enum theme theme = THEME_DARK;
    theme_parse(args_text(args, "theme"), &theme);
    page->theme = (int)theme;
    page->form = !file ? PAGE_TEXT : text_ends(file, ".svg") ? PAGE_SVG : PAGE_PNG;
    if (!file || text_ends(file, ".svg") || text_ends(file, ".png")) return true;
    err_set(err, "-o %s: the name must end in .png or .svg", text_show(file));
    return err_usage(err);
}

static bool set_one(struct app *app, const char *option, const char *name, const char *value, struct err *err)
{
    return !value || settings_set(app, name, value, err) || err_in(err, "--%s", option);
}

/* "12" or "test_ood:12" */
static bool set_row(struct app *app, const char *row, struct err *err)
{
    const char *colon = row ? strrchr(row, ':') : NULL;
    if (!colon) return set_one(app, "row", "row", row, err);
    struct text split = {0};
    text_add_bytes(&split, row, (size_t)(colon - row));
    bool ok = set_one(app, "row", "split", split.data ? split.data : "", err) && set_one(app, "row", "row", colon + 1, err);
    text_clear(&split);
    return ok;
}

static bool set_pair(struct app *app, const char *pair, struct err *err)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair) return err_set(err, "--set %s: the form is NAME=VALUE", text_show(pair));
    char *name = mem_text(pair);
    name[equals - pair] = '\0';
    bool ok = set_one(app, "set", name, equals + 1, err);
    mem_free(name);
    return ok;
}

/* What the page is about, before any key. */
static bool set_up(struct app *app, const struct args *args, struct err *err)
{
    const char *pair;
    bool ok = set_one(app, "data", "data", args_text(args, "data"), err) && set_one(app, "split", "split", args_text(args, "split"), err) &&
        set_row(app, args_text(args, "row"), err);
    for (size_t i = 0; ok && (pair = args_at(args, "set", i)); i++) ok = set_pair(app, pair, err);
    return ok || err_usage(err);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *file = args_text(args, "output");
    struct page page = {.view = args_word(args, 0), .model = args_word(args, 1), .press = args_text(args, "press"),
                        .example = args_flag(args, "example"), .set = set_up, .args = args};
    struct text out = {0};
    if (!page.view) return list_views(session, sink);
    if (!command_says_text(self, session, err)) return false;
    if (!set_form(&page, args, err) || (file && !file_may_write(file, err))) return false;
    set_size(&page, args);
    bool good = view_plain(session, &page, &out, err);
    if (file) {
        good = good && file_write(file, out.data, out.size, err);
        if (good) sink_say(sink, "wrote %s", text_show(file));
    } else if (out.size) {
        out.data[out.size - 1] = '\0'; /* say ends the line itself */
        sink_say(sink, "%s", out.data);
    }
    text_clear(&out);
    return good;
}

/* ---- the manual page */

static void add_bindings(struct text *out, const struct binding *list)
{
    for (const struct binding *b = list; b && b->keys[0]; b++) {
        struct text keys = {0};
        binding_show(b, true, false, &keys);
        text_add(out, ".TP\n\\fB");
        manual_add(out, keys.data);
        text_add(out, "\\fR\n");
        manual_add(out, b->help);
        text_add(out, "\n");
        text_clear(&keys);
    }
}

static void manual(struct text *out)
{
    const char *name, *words;
    text_add(out, ".SH VIEWS OF THE SCREEN\n");
    for (size_t v = 0; views[v]; v++) {
        text_add(out, ".SS %s: ", views[v]->name);
        manual_add(out, views[v]->title);
        text_add(out, "\n");
        manual_add(out, views[v]->help);
        text_add(out, "\n");
        add_bindings(out, views[v]->keys);
    }
    text_add(out, ".SH KEYS EVERYWHERE\n");
    add_bindings(out, app_keys);
    text_add(out, ".SH PROMPT\nBehind : stands a command as above, or\n");
    for (size_t i = 0; (name = screen_verb(i)); i++) {
        const char *help = screen_verb_help(i, &words);
        text_add(out, ".TP\n\\fB%s\\fR %s\n", name, words);
        manual_add(out, help);
        text_add(out, "\n");
    }
}

const struct command command_view = {
    .name = "view", .words = "[NAME [MODEL]]", .least = 0, .most = 2, .options = options, .run = run,
    .help = "a view of the screen as text or as a picture; without a name, the list of views",
    .more = "The same cells that the screen shows, computed first and then printed. With LC_ALL=C they are ASCII. What --data, --split, --row and "
            "--set say holds before the first key of --press.",
    .example = "view loops models/vanilla", .manual = manual,
};
