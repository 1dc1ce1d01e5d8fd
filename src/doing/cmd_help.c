#include "doing/command.h"
#include "doing/completion.h"
#include "doing/manual.h"
#include "ground/text.h"
#include "results/sink.h"

static void list_commands(struct text *out)
{
    const struct command *command;
    text_add(out, "loopscope %s: look inside looped transformers\n\n"
                  "usage: loopscope [MODEL]                opens the screen, also: loopscope tui [MODEL]\n"
                  "       loopscope COMMAND WORDS --OPTION VALUE ...\n\ncommands\n", VERSION);
    for (size_t i = 0; (command = command_at(i)); i++) {
        struct text left = {0};
        text_add(&left, "%s%s%s", command->name, command->verb ? " VERB" : command->words ? " " : "",
                 !command->verb && command->words ? command->words : "");
        usage_add_row(left.data, command->help, out);
        text_clear(&left);
    }
    static const char *const shared[][2] = {
        {"--json", "the result as JSON, one object a table"}, {"--tsv", "the result as tab-separated values"},
        {"--threads N", "how many processors to use [all]"},  {"--quiet", "no warnings, no progress"},
        {"--help", "what the command does, its options, an example"},
    };
    text_add(out, "\nevery command knows\n");
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) usage_add_row(shared[i][0], shared[i][1], out);
    text_add(out, "\nloopscope --version; exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted\n");
}

static void add_name(const struct command *command, struct sink *sink)
{
    struct command verb = {0};
    const char *words = command->words ? command->words : "";
    struct text name = {0};
    if (command->of) text_add(&name, "%s ", command->of->name);
    text_add(&name, "%s", command->name);
    if (!command->verb) sink_row(sink, (struct cell[]){cell_text(name.data), cell_text(words), cell_text(command->help)});
    for (size_t i = 0; command->verb && command->verb(command, i, &verb); i++, verb = (struct command){0}) add_name(&verb, sink);
    text_clear(&name);
}

static void table_of_commands(struct session *session, struct sink *sink)
{
    const struct command *command;
    struct table *table = table_new("commands");
    command_provenance(session, table);
    table_column(table, "command", ROLE_LABEL, NULL);
    table_column(table, "words", ROLE_LABEL, NULL);
    table_column(table, "help", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
    for (size_t i = 0; (command = command_at(i)); i++) add_name(command, sink);
}

static const struct option options[] = {
    {"man", OPTION_FLAG, NULL, .help = "the manual page: loopscope help --man | man -l -"},
    {"completion", OPTION_CHOICE, NULL, .choices = "bash|zsh",
     .help = "completion for a shell: source <(loopscope help --completion bash); make install puts it into place"},
    {"names", OPTION_CHOICE, NULL, .choices = COMPLETION_KINDS, .placeholder = "KIND",
     .help = "what there is, a name a line, as completion asks for it: models, datasets, recipes, runs, views, replications ...; with a MODEL, the "
             "splits of its dataset"},
    {0},
};

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *shell = args_text(args, "completion"), *names = args_text(args, "names");
    bool list = !shell && !names && !args_flag(args, "man") && !args->word_count;
    if (list && session->tables_only) return table_of_commands(session, sink), true;
    if (!command_says_text(self, session, err)) return false;
    if (shell || names || args_flag(args, "man")) {
        struct text page = {0};
        bool ok = !names || completion_names(session, names, args_word(args, 0), args_word(args, 1), &page, err);
        if (shell) completion_script(shell, &page);
        else if (!names) manual_page(&page);
        if (page.size) page.data[page.size - 1] = '\0'; /* say ends the line itself */
        if (ok && page.size) sink_say(sink, "%s", page.data);
        text_clear(&page);
        return ok;
    }
    if (args->word_count) { /* the command explains itself */
        char *words[3] = {0};
        size_t count = 0;
        while (count < args->word_count) words[count] = args->words[count], count++;
        words[count++] = "--help";
        return command_words(session, count, words, sink, err);
    }
    struct text text = {0};
    list_commands(&text);
    sink_say(sink, "%s", text.data);
    text_clear(&text);
    return true;
}

const struct command command_help = {
    .name = "help", .words = "[COMMAND [VERB]]", .most = 2, .help = "all commands, or one of them with its options", .example = "help data",
    .options = options,
    .run = run,
};
