#include "doing/manual.h"

#include "doing/command.h"

#include <string.h>

/* ---- the page */

void manual_add(struct text *out, const char *text)
{
    bool start = !out->size || out->data[out->size - 1] == '\n';
    for (const char *s = text; *s; s++) {
        if (start && (*s == '.' || *s == '\'')) text_add(out, "\\&");
        if (*s == '\\') text_add(out, "\\e");
        else if (*s == '-') text_add(out, "\\-");
        else text_add_bytes(out, s, 1);
        start = *s == '\n';
    }
}

static void add_line(struct text *out, const char *before, const char *text)
{
    text_add(out, "%s", before);
    manual_add(out, text);
    text_add(out, "\n");
}

static const char *placeholder(const struct option *o)
{
    static const char *const kinds[] = {[OPTION_FLAG] = "", [OPTION_INT] = "N", [OPTION_NUMBER] = "X", [OPTION_TEXT] = "TEXT"};
    return o->placeholder ? o->placeholder : o->kind == OPTION_CHOICE ? o->choices : kinds[o->kind];
}

static void add_option(struct text *out, const struct option *o)
{
    text_add(out, ".TP\n\\fB\\-\\-");
    manual_add(out, o->name);
    text_add(out, "\\fR");
    if (o->letter) text_add(out, ", \\fB\\-%c\\fR", o->letter);
    if (o->kind != OPTION_FLAG) add_line(out, " \\fI", placeholder(o));
    else text_add(out, "\n");
    text_add(out, "\\fR");
    manual_add(out, o->help ? o->help : "");
    if (o->fallback && *o->fallback && o->kind != OPTION_FLAG) add_line(out, "; default ", o->fallback);
    else text_add(out, "\n");
}

static void add_command(struct text *out, const char *before, const struct command *command)
{
    struct command verb = {0};
    text_add(out, ".SS loopscope %s", before);
    manual_add(out, command->name);
    if (command->words && !command->verb) add_line(out, " ", command->words);
    else text_add(out, "\n");
    add_line(out, "", command->help);
    if (command->more) add_line(out, ".PP\n", command->more);
    for (const struct option *o = command->options; o && o->name; o++) add_option(out, o);
    if (command->example) add_line(out, ".PP\nExample:\n.br\n.EX\nloopscope ", command->example), text_add(out, ".EE\n");
    for (size_t i = 0; command->verb && command->verb(command, i, &verb); i++, verb = (struct command){0}) {
        struct text name = {0};
        text_add(&name, "%s ", command->name);
        add_command(out, name.data, &verb);
        text_clear(&name);
    }
}

void manual_page(struct text *out)
{
    const struct command *command;
    text_add(out, ".TH LOOPSCOPE 1 \"\" \"loopscope %s\" \"User Commands\"\n"
                  ".SH NAME\nloopscope \\- look inside looped transformers\n"
                  ".SH SYNOPSIS\n.B loopscope\n[\\fIMODEL\\fR]\n.br\n.B loopscope\n"
                  "\\fICOMMAND\\fR [\\fIWORDS\\fR] [\\fB\\-\\-\\fIOPTION VALUE\\fR ...]\n"
                  ".SH DESCRIPTION\nWithout a command the screen opens, on a model or on the list of models. What is handed from one loop to the "
                  "next, and can the next loop use it? Every number on the screen is made by one of the commands below, and the screen shows which.\n"
                  ".SH OPTIONS OF EVERY COMMAND\n"
                  ".TP\n\\fB\\-\\-json\\fR, \\fB\\-\\-tsv\\fR\nthe result as JSON, one object a table, or as tab\\-separated values\n"
                  ".TP\n\\fB\\-\\-threads\\fR \\fIN\\fR\nhow many processors to use; results do not depend on it\n"
                  ".TP\n\\fB\\-\\-quiet\\fR\nno warnings, no progress\n"
                  ".TP\n\\fB\\-\\-help\\fR\nwhat the command does, its options, an example\n"
                  ".SH COMMANDS\n", VERSION);
    for (size_t i = 0; (command = command_at(i)); i++) add_command(out, "", command);
    for (size_t i = 0; (command = command_at(i)); i++)
        if (command->manual) command->manual(out);
    text_add(out, ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/loopscope/settings\nhow the screen looks; written by :set\n"
                  ".TP\n.I $XDG_STATE_HOME/loopscope/log\na log of each session, for loopscope replay\n"
                  ".TP\n.I $XDG_STATE_HOME/loopscope/history\nthe lines that were entered at the prompt\n"
                  ".TP\n.I $XDG_CACHE_HOME/loopscope\ndatasets that are made when they are needed\n"
                  ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours\n.TP\n.B LC_ALL, LANG\nwithout UTF\\-8 the screen is ASCII\n"
                  ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 interrupted\n");
}

/* ---- completion */

/* Words of one place, each behind a blank. */
static void add_options(struct text *out, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++) text_add(out, " --%s", o->name);
}

static void add_verb_names(struct text *out, const struct command *command)
{
    struct command verb = {0};
    for (size_t i = 0; command->verb(command, i, &verb); i++, verb = (struct command){0}) text_add(out, "%s%s", i ? " " : "", verb.name);
}

static void add_cases(struct text *out, const struct command *command, const char *prefix)
{
    struct command verb = {0};
    if (command->options && command->options->name) {
        text_add(out, "        '%s%s') words='", prefix, command->name);
        add_options(out, command->options);
        text_add(out, "' ;;\n");
    }
    for (size_t i = 0; command->verb && command->verb(command, i, &verb); i++, verb = (struct command){0}) {
        struct text name = {0};
        text_add(&name, "%s ", command->name);
        add_cases(out, &verb, name.data);
        text_clear(&name);
    }
}

/* Values of options that are a choice: the same everywhere, or told apart by the command. */
static void add_choices(struct text *out, const struct command *command, const char *prefix)
{
    struct command verb = {0};
    for (const struct option *o = command->options; o && o->name; o++) {
        if (o->kind != OPTION_CHOICE) continue;
        text_add(out, "        '%s%s --%s') words='", prefix, command->name, o->name);
        for (const char *c = o->choices; *c; c++) text_add(out, "%c", *c == '|' ? ' ' : *c);
        text_add(out, "' ;;\n");
    }
    for (size_t i = 0; command->verb && command->verb(command, i, &verb); i++, verb = (struct command){0}) {
        struct text name = {0};
        text_add(&name, "%s ", command->name);
        add_choices(out, &verb, name.data);
        text_clear(&name);
    }
}

/* The same shell code for both: it needs $command (with its verb), $before and $current, and leaves $words. */
static void add_body(struct text *out)
{
    const struct command *command;
    text_add(out, "    case \"$command $before\" in\n");
    for (size_t i = 0; (command = command_at(i)); i++) add_choices(out, command, "");
    text_add(out, "        *) words= ;;\n    esac\n    [ -n \"$words\" ] && return\n"
                  "    case \"$current\" in -*) ;; *) return ;; esac\n    case \"$command\" in\n");
    for (size_t i = 0; (command = command_at(i)); i++) add_cases(out, command, "");
    text_add(out, "    esac\n    words=\"$words --json --tsv --threads --quiet --help\"\n}\n");
}

static void add_start(struct text *out)
{
    const struct command *command;
    text_add(out, "# made by: loopscope help --completion\n_loopscope_names='tui");
    for (size_t i = 0; (command = command_at(i)); i++) text_add(out, " %s", command->name);
    text_add(out, "'\n_loopscope_verbs() {\n    case \"$1\" in\n");
    for (size_t i = 0; (command = command_at(i)); i++) {
        if (!command->verb) continue;
        text_add(out, "        %s) echo '", command->name);
        add_verb_names(out, command);
        text_add(out, "' ;;\n");
    }
    text_add(out, "    esac\n}\n_loopscope_words() {\n    local command=\"$1\" before=\"$2\" current=\"$3\"\n");
    add_body(out);
}

static const char bash_end[] =
    "_loopscope() {\n"
    "    local words= current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"${COMP_WORDS[1]}\" verbs\n"
    "    verbs=$(_loopscope_verbs \"$command\")\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then words=$_loopscope_names\n"
    "    elif [ \"$COMP_CWORD\" = 2 ] && [ -n \"$verbs\" ]; then words=$verbs\n"
    "    else\n"
    "        [ -n \"$verbs\" ] && command=\"$command ${COMP_WORDS[2]}\"\n"
    "        _loopscope_words \"$command\" \"$before\" \"$current\"\n"
    "    fi\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
    "    [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
    "}\n"
    "complete -o filenames -F _loopscope loopscope\n";

static const char zsh_end[] =
    "_loopscope() {\n"
    "    local current=\"${words[CURRENT]}\" before=\"${words[CURRENT-1]}\" command=\"${words[2]}\" third=\"${words[3]}\" verbs\n"
    "    local at=$CURRENT\n"
    "    local words=\n"
    "    verbs=$(_loopscope_verbs \"$command\")\n"
    "    if [ \"$at\" = 2 ]; then words=$_loopscope_names\n"
    "    elif [ \"$at\" = 3 ] && [ -n \"$verbs\" ]; then words=$verbs\n"
    "    else\n"
    "        [ -n \"$verbs\" ] && command=\"$command $third\"\n"
    "        _loopscope_words \"$command\" \"$before\" \"$current\"\n"
    "    fi\n"
    "    [ -n \"$words\" ] && compadd -- ${=words}\n"
    "    case \"$current\" in -*) ;; *) [ \"$at\" = 2 ] || _files ;; esac\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _loopscope ]; then _loopscope \"$@\"; else compdef _loopscope loopscope; fi\n";

bool manual_completion(const char *shell, struct text *out)
{
    bool zsh = !strcmp(shell, "zsh");
    if (!zsh && strcmp(shell, "bash") != 0) return false;
    if (zsh) text_add(out, "#compdef loopscope\n");
    add_start(out);
    text_add(out, "%s", zsh ? zsh_end : bash_end);
    return true;
}
