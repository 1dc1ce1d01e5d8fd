#include "doing/command.h"

#include "doing/probe.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "registry.h"

#include <stdint.h>
#include <string.h>

const struct command *command_at(size_t i)
{
    for (size_t j = 0; commands[j]; j++)
        if (!i--) return commands[j];
    for (size_t j = 0; probes[j]; j++)
        if (!i--) return &probes[j]->command;
    return NULL;
}

const char *command_name(const void *unused, size_t i)
{
    (void)unused;
    const struct command *command = command_at(i);
    return command ? command->name : NULL;
}

const struct command *command_find(const char *name)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (!strcmp(command->name, name)) return command;
    return NULL;
}

static bool unknown(const char *name, struct err *err)
{
    const char *near = text_nearest(name, command_name, NULL);
    err_set(err, "unknown command '%s'", text_show(name));
    if (near) err_add(err, ": did you mean '%s'?", near);
    err_add(err, near ? " (help lists all)" : ": help lists all");
    return err_usage(err);
}

const char *command_text(const struct session *session) { return session->command ? session->command : ""; }

void command_provenance(const struct session *session, struct table *table)
{
    table_fact(table, "command", "%s", command_text(session));
    table_fact(table, "version", "%s", VERSION);
}

void command_add_name(const struct command *command, struct text *out)
{
    if (command->of) command_add_name(command->of, out);
    text_add(out, "%s%s", command->of ? " " : "", command->name);
}

bool command_says_text(const struct command *self, const struct session *session, struct err *err)
{
    if (!session->tables_only) return true;
    struct text name = {0};
    command_add_name(self, &name);
    err_set(err, "%s: its result is text, not a table: leave --json and --tsv out", name.data);
    text_clear(&name);
    return err_usage(err);
}

/* Options in the order of their table, so that the same wish always has the same text; positional words as they were given. */
static char *canonical(const struct command *command, const struct args *args)
{
    struct text line = {0};
    bool dashes = false;
    command_add_name(command, &line);
    for (size_t i = 0; i < args->word_count; i++) dashes |= args->words[i][0] == '-';
    for (size_t i = 0; !dashes && i < args->word_count; i++) text_add(&line, " "), text_add_quoted(&line, args->words[i]);
    for (const struct option *o = args->options; o && o->name; o++)
        for (size_t i = 0; i < args->given_count; i++) {
            if (args->given[i].option != o || o->aside) continue;
            text_add(&line, " --%s", o->name);
            if (o->kind == OPTION_FLAG) continue;
            text_add(&line, " ");
            text_add_quoted(&line, args->given[i].value);
        }
    if (dashes) text_add(&line, " --");
    for (size_t i = 0; dashes && i < args->word_count; i++) text_add(&line, " "), text_add_quoted(&line, args->words[i]);
    return line.data;
}

void command_add_words(const struct command *command, struct text *out)
{
    if (command->verb) text_add(out, " VERB");
    if (command->words) text_add(out, " %s", command->words);
    if (command->options && command->options->name) text_add(out, " [--OPTION VALUE ...]");
}

static bool right_number(const struct command *command, const struct args *args, struct err *err)
{
    size_t most = command->words && !command->most ? SIZE_MAX : (size_t)command->most;
    if (args->word_count >= (size_t)command->least && args->word_count <= most) return true;
    struct text usage = {0};
    command_add_name(command, &usage);
    command_add_words(command, &usage);
    if (args->word_count > most) err_set(err, "'%s' is one word too many: %s", text_show(args->words[most]), usage.data);
    else err_set(err, "%s is missing: %s", args->word_count ? "a word" : command->words, usage.data);
    text_clear(&usage);
    return err_usage(err);
}

static bool parse_and_run(const struct command *command, struct session *session, size_t count, char *const *words, struct sink *sink,
                          struct err *err)
{
    static const struct option none[] = {{0}};
    struct args args;
    if (!args_parse(&args, command->options ? command->options : none, count, words, err)) {
        struct text name = {0};
        command_add_name(command, &name);
        err_in(err, "%s", name.data);
        err_add(err, " (%s --help lists the options)", name.data);
        text_clear(&name);
        return err_usage(err);
    }
    char *outer = session->command; /* a command may run others, and reads what they give itself */
    bool tables_only = session->tables_only;
    session->command = canonical(command, &args);
    session->tables_only = tables_only && !outer;
    bool ok = right_number(command, &args, err) && command->run(command, session, &args, sink, err);
    mem_free(session->command);
    session->command = outer;
    session->tables_only = tables_only;
    args_clear(&args);
    return ok;
}

static const char *verb_name(const void *list, size_t i)
{
    const struct command *command = list;
    struct command verb = {0};
    return command->verb(command, i, &verb) ? verb.name : NULL;
}

static void list_verbs(const struct command *command, struct err *err)
{
    for (size_t i = 0; verb_name(command, i); i++) err_add(err, "%s%s", i ? ", " : " ", verb_name(command, i));
}

static bool find_verb(const struct command *command, const char *word, struct command *verb, struct err *err)
{
    for (size_t i = 0; *verb = (struct command){0}, command->verb(command, i, verb); i++)
        if (word && !strcmp(verb->name, word)) return true;
    const char *near = word ? text_nearest(word, verb_name, command) : NULL;
    if (word) err_set(err, "%s: unknown verb '%s':", command->name, text_show(word));
    else err_set(err, "%s needs a verb:", command->name);
    if (near) err_add(err, " did you mean '%s'? It knows", near);
    list_verbs(command, err);
    return err_usage(err);
}

static bool asks_help(size_t count, char *const *words)
{
    for (size_t i = 0; i < count && strcmp(words[i], "--"); i++)
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) return true;
    return false;
}

bool command_words(struct session *session, size_t count, char *const *words, struct sink *sink, struct err *err)
{
    if (!count) return err_set(err, "no command: help lists all"), err_usage(err);
    const struct command *command = command_find(words[0]);
    struct command verb;
    if (!command) return unknown(words[0], err);
    count--, words++;
    bool help = asks_help(count, words);
    if (command->verb && !(help && words[0][0] == '-')) {
        if (!find_verb(command, count ? words[0] : NULL, &verb, err)) return false;
        command = &verb;
        count--, words++;
    }
    if (!help) return parse_and_run(command, session, count, words, sink, err);
    if (session->tables_only && !session->command) {
        err_set(err, "--help is text, not a table: leave --json and --tsv out");
        return err_usage(err);
    }
    struct text usage = {0};
    command_usage(command, &usage);
    sink_say(sink, "%s", usage.data);
    text_clear(&usage);
    return true;
}

bool command_line(struct session *session, const char *line, struct sink *sink, struct err *err)
{
    char **words;
    size_t count;
    if (!words_split(line, &words, &count, err)) return err_usage(err);
    bool ok = command_words(session, count, words, sink, err);
    words_free(words, count);
    return ok;
}
