#include "complete.h"

#include "enter.h"

#include "doing/command.h"
#include "doing/intervention.h"
#include "doing/runs.h"
#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "registry.h"

#include <string.h>

/* The words that fit, while they are found. */
struct search {
    struct app *app;
    const char *word;    /* what stands there; not yet a whole word */
    size_t size;
    char *shared;        /* what all that fit have in common; NULL: none fits */
    int count;
    bool open;           /* the only one is a folder or ends in a mark: no blank behind it */
    struct text list;
};

static void fits(struct search *s, const char *word)
{
    size_t n = 0;
    if (!word || strncmp(word, s->word, s->size) != 0) return;
    text_add(&s->list, "%s%s", s->count++ ? "\n" : "", word);
    if (!s->shared) s->shared = mem_text(word);
    while (s->shared[n] && s->shared[n] == word[n]) n++;
    s->shared[n] = '\0';
}

static void fits_joined(struct search *s, const char *start, const char *word)
{
    struct text whole = {0};
    text_add(&whole, "%s%s", start, word);
    fits(s, whole.data);
    text_clear(&whole);
}

/* "a|b|c" */
static void fit_choices(struct search *s, const char *start, const char *choices)
{
    while (choices && *choices) {
        struct text word = {0};
        size_t size = strcspn(choices, "|");
        text_add_bytes(&word, choices, size);
        text_add(&word, "%s", "");
        fits_joined(s, start, word.data);
        text_clear(&word);
        choices += size + (choices[size] == '|');
    }
}

static void fit_files(struct search *s)
{
    const char *slash = strrchr(s->word, '/');
    struct text folder = {0};
    struct err err = {0};
    char **names;
    size_t count;
    text_add_bytes(&folder, s->word, slash ? (size_t)(slash + 1 - s->word) : 0);
    text_add(&folder, "%s", "");
    if (folder_list(*folder.data ? folder.data : ".", &names, &count, &err)) {
        for (size_t i = 0; i < count; i++) {
            struct text path = {0};
            text_add(&path, "%s%s", folder.data, names[i]);
            if (file_is_folder(path.data)) text_add(&path, "/");
            if (names[i][0] != '.' || (slash ? slash[1] : s->word[0]) == '.') fits(s, path.data);
            text_clear(&path);
            mem_free(names[i]);
        }
        mem_free(names);
    }
    text_clear(&folder);
}

static void fit_shared(struct search *s, const char *kind, const char *mark, const char *ending)
{
    struct share_list list = share_list(s->app->session->share, kind, mark, ending);
    for (size_t i = 0; i < list.count; i++) fits(s, list.names[i]), fits(s, path_base(list.names[i]));
    share_list_free(&list);
}

/* Bundled ones and runs; any folder where none of them fits. */
static void fit_models(struct search *s)
{
    char **runs;
    size_t count;
    fit_shared(s, "models", "config.json", NULL);
    runs_find("runs", &runs, &count);
    for (size_t i = 0; i < count; i++) fits(s, runs[i]), mem_free(runs[i]);
    mem_free(runs);
    if (!s->count) fit_files(s);
}

/* The last of several behind commas or blanks is the one that is typed: what stands before it is kept. */
static char *before_last(const struct search *s, const char *marks)
{
    size_t size = s->size;
    struct text start = {0};
    while (size && !strchr(marks, s->word[size - 1])) size--;
    text_add_bytes(&start, s->word, size);
    text_add(&start, "%s", "");
    return start.data;
}

static void fit_column(struct search *s, const struct table *table, const char *column, const char *marks, const char *end)
{
    char *start = before_last(s, marks);
    for (size_t r = 0; table && r < table->row_count; r++) {
        struct text word = {0};
        const char *text = table_text(table, r, column);
        text_add(&word, "%s%s%s", start, text ? text : "", end);
        bool again = r && text && table_text(table, r - 1, column) && !strcmp(text, table_text(table, r - 1, column));
        if (text && !again) fits(s, word.data);
        text_clear(&word);
    }
    mem_free(start);
}

static void fit_tokens(struct search *s)
{
    const struct table *vocab = app_kept(s->app, "vocab %s", app_subject(s->app));
    fit_column(s, vocab, "token", " '\"", "");
}

static void fit_edit(struct search *s)
{
    const char *at = strchr(s->word, '@'), *colon = at ? strchr(at, ':') : NULL;
    char *start = before_last(s, ":,@");
    for (size_t i = 0; interventions[i]; i++) {
        const struct intervention *kind = interventions[i];
        if (!at) fits_joined(s, kind->name, "@");
        if (!colon || strncmp(kind->name, s->word, strlen(kind->name)) != 0) continue;
        const char *equals = strchr(s->word + strlen(start), '=');
        for (const struct option *o = kind->options; o->name; o++) {
            struct text name = {0};
            text_add(&name, "%s%s=", start, o->name);
            if (!equals) fits(s, name.data);
            else if (o->choices && !strncmp(name.data, s->word, name.size)) fit_choices(s, name.data, o->choices);
            text_clear(&name);
        }
    }
    enum { TOKENS = 8 }; /* by token there are as many as a question is long */
    int last = app_by_token(s->app) ? TOKENS : app_fact_int(s->app, "loops", 1);
    for (int k = 0; at && !colon && k <= last; k++) {
        struct text boundary = {0};
        text_add(&boundary, "%c.%d:", app_boundary(s->app), k);
        fits_joined(s, start, boundary.data);
        text_clear(&boundary);
    }
    mem_free(start);
}

static void fit_value(struct search *s, const struct option *o)
{
    const struct table *splits = app_kept(s->app, "eval %s", app_subject(s->app));
    if (o->choices) fit_choices(s, "", o->choices);
    else if (!strcmp(o->name, "split")) fit_column(s, splits, "split", ",", "");
    else if (!strcmp(o->name, "row")) fit_column(s, splits, "split", "", ":");
    else if (!strcmp(o->name, "tokens") || !strcmp(o->name, "watch")) fit_tokens(s);
    else if (!strcmp(o->name, "data")) fit_shared(s, "datasets", "dataset.json", ".spec"), fit_files(s);
    else if (!strcmp(o->name, "do")) fit_edit(s);
    else if (!strcmp(o->name, "over")) {
        for (size_t i = 0; interventions[i]; i++)
            for (const struct option *of = interventions[i]->options; of->name; of++) fits_joined(s, of->name, "=");
    } else if (o->kind == OPTION_TEXT) fit_files(s);
}

/* ---- where the cursor is */

static void fit_first(struct search *s)
{
    const char *name;
    for (size_t i = 0; (name = command_name(NULL, i)); i++) fits(s, name);
    for (size_t i = 0; (name = screen_verb(i)); i++)
        if (!command_find(name)) fits(s, name);
}

static void fit_setting(struct search *s, char *const *words, size_t count)
{
    const struct setting *setting;
    const char *name, *choices;
    bool naming = count == 1;
    for (size_t i = 0; (name = settings_name(i, &setting)); i++) {
        if (naming) fits(s, name);
        else if (!strcmp(name, words[1])) {
            for (const char *const *c = setting->choices; c && *c; c++) fits(s, *c);
            if (!strcmp(name, "split")) fit_column(s, app_kept(s->app, "eval %s", app_subject(s->app)), "split", "", "");
            if (!strcmp(name, "model") || !strcmp(name, "compare.with")) fit_models(s);
        }
    }
    for (size_t i = 0; (name = prefs_name(i, &choices)); i++) {
        if (naming) fits(s, name);
        else if (!strcmp(name, words[1]) && strchr(choices, '|')) fit_choices(s, "", choices);
    }
}

static bool find_command(char *const *words, size_t count, struct command *found, bool *names_verb)
{
    const struct command *command = command_find(words[0]);
    *names_verb = false;
    if (!command) return false;
    *found = *command;
    if (!command->verb) return true;
    if (count == 1) return *names_verb = true;
    for (size_t i = 0; *found = (struct command){0}, command->verb(command, i, found); i++)
        if (!strcmp(found->name, words[1])) return true;
    return false;
}

static void fit_argument(struct search *s, const char *spelled)
{
    if (spelled && strstr(spelled, "MODEL")) fit_shared(s, "models", "config.json", NULL);
    if (spelled && strstr(spelled, "NAME"))
        for (size_t i = 0; views[i]; i++) fits(s, views[i]->name);
    if (spelled && strstr(spelled, "COMMAND")) fit_first(s);
    else fit_files(s);
}

static void fit_command(struct search *s, char *const *words, size_t count)
{
    struct command command, verb;
    bool names_verb;
    if (!strcmp(words[0], "set")) fit_setting(s, words, count);
    else if (!find_command(words, count, &command, &names_verb)) fit_files(s);
    else if (names_verb) {
        for (size_t i = 0; verb = (struct command){0}, command.verb(&command, i, &verb); i++) fits(s, verb.name);
    } else {
        const char *last = words[count - 1];
        const struct option *o = text_starts(last, "--") && command.options ? option_find(command.options, last + 2) : NULL;
        if (o && o->kind != OPTION_FLAG) fit_value(s, o);
        else if (s->word[0] == '-') {
            for (o = command.options; o && o->name; o++) fits_joined(s, "--", o->name);
            fit_choices(s, "--", "json|tsv|threads|quiet|help");
        } else fit_argument(s, command.words);
    }
}

static void search(struct search *s, const char *head)
{
    char **words = NULL;
    size_t count = 0;
    struct err err = {0};
    enum asking asking = s->app->asking;
    if (asking == ASK_MODEL || asking == ASK_OTHER) fit_models(s);
    else if (asking == ASK_DATA) fit_shared(s, "datasets", "dataset.json", ".spec"), fit_files(s);
    else if (asking == ASK_TOKENS || asking == ASK_WATCH) fit_tokens(s);
    else if (asking != ASK_COMMAND) fit_files(s);
    else if (words_split(head, &words, &count, &err)) {
        if (!count) fit_first(s);
        else fit_command(s, words, count);
        words_free(words, count);
    }
}

void complete_forget(struct app *app) { app->choices.size = 0, app->choices_page = 0; }

/* ---- on the screen */

/* How the choices stand: so many in a row, each of so many columns; the rows of a page. */
struct shape { int count, across, width, rows, pages; };

static struct shape shape_of(const struct app *app, struct area body)
{
    struct shape shape = {0};
    int widest = 0;
    for (const char *at = app->choices.data; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        struct text word = {0};
        text_add_bytes(&word, at, strcspn(at, "\n"));
        text_add(&word, "%s", "");
        if (text_width(word.data) > widest) widest = text_width(word.data);
        text_clear(&word);
        shape.count++;
    }
    int room = body.cols - 2, most = body.rows / 2;
    shape.width = widest + 2 < room ? widest + 2 : room;
    shape.across = room / shape.width;
    int needed = (shape.count + shape.across - 1) / shape.across;
    shape.rows = needed < most ? needed : most;
    shape.pages = (needed + shape.rows - 1) / shape.rows;
    return shape;
}

/* By columns, as `ls` lists names. */
void complete_draw(struct app *app, struct cells *cells, struct area body)
{
    if (!app->choices.size) return;
    struct shape s = shape_of(app, body);
    int top = body.row + body.rows - s.rows - 1, page = app->choices_page % s.pages, first = page * s.rows * s.across, i = 0;
    int rows = s.pages > 1 ? s.rows : (s.count + s.across - 1) / s.across;
    struct text title = {0};
    for (int r = 0; r <= s.rows; r++)
        for (int c = 0; c < body.cols; c++) cells_text(cells, top + r, body.col + c, TINT_PLAIN, " ");
    text_add(&title, "completion");
    if (s.pages > 1) text_add(&title, ": %d, page %d of %d, Tab turns", s.count, page + 1, s.pages);
    draw_heading(cells, top, body.col, body.cols, title.data);
    text_clear(&title);
    for (const char *at = app->choices.data; *at; at += strcspn(at, "\n"), at += *at == '\n', i++) {
        int here = i - first;
        if (here < 0 || here >= s.rows * s.across) continue;
        struct text word = {0};
        text_add_bytes(&word, at, strcspn(at, "\n"));
        text_add(&word, "%s", "");
        cells_put(cells, top + 1 + here % rows, body.col + 1 + here / rows * s.width, TINT_KEY, word.data, s.width - 2);
        text_clear(&word);
    }
}

/* ---- at the cursor */

/* A word begins behind the last blank that no quote keeps together; an open quote belongs to it. */
static size_t word_start(const char *line, size_t at)
{
    size_t start = 0;
    char quote = 0;
    for (size_t i = 0; i < at; i++) {
        if (quote) quote = line[i] == quote ? 0 : quote;
        else if (line[i] == '\'' || line[i] == '"') quote = line[i];
        else if (line[i] == ' ') start = i + 1;
    }
    return start;
}

void complete_prompt(struct app *app)
{
    struct prompt *prompt = &app->prompt;
    size_t start = app->asking == ASK_COMMAND ? word_start(prompt->line.data, prompt->at) : 0;
    struct text head = {0}, word = {0};
    text_add_bytes(&head, prompt->line.data, start);
    text_add(&head, "%s", "");
    text_add_bytes(&word, prompt->line.data + start, prompt->at - start);
    text_add(&word, "%s", "");
    struct search s = {.app = app, .word = word.data, .size = word.size};
    bool quoted = *word.data == '\'' || *word.data == '"';
    if (quoted) s.word++, s.size--;
    search(&s, head.data);
    int page = s.count > 1 && s.shared && !s.shared[s.size] && app->choices.size ? app->choices_page + 1 : 0; /* nothing new: the next ones */
    complete_forget(app);
    app->choices_page = page;
    if (s.shared) {
        size_t known = strlen(s.shared);
        bool ends = s.count == 1 && !quoted && known && !strchr("/=@:", s.shared[known - 1]) && app->asking == ASK_COMMAND;
        prompt_insert(prompt, s.shared + s.size);
        if (ends) prompt_insert(prompt, " ");
        if (s.count > 1) text_add(&app->choices, "%s", s.list.data);
    } else text_add(&app->choices, "nothing known begins so");
    mem_free(s.shared);
    text_clear(&s.list), text_clear(&head), text_clear(&word);
}
