#include "doing/manual.h"

#include "doing/command.h"
#include "doing/intervention.h"
#include "registry.h"

#include <string.h>

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

/* dashes: "--" on a command line, "" inside an edit. */
static void add_option(struct text *out, const struct option *o, const char *dashes)
{
    text_add(out, ".TP\n\\fB");
    manual_add(out, dashes);
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
    for (const struct option *o = command->options; o && o->name; o++) add_option(out, o, "--");
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
    text_add(out, ".SH EDITS\nWhat \\fB\\-\\-do\\fR takes: KIND@h.K:OPTION=VALUE,OPTION=VALUE. The state behind loop K is changed before anything "
                  "reads it.\n");
    for (size_t i = 0; interventions[i]; i++) {
        add_line(out, ".SS ", interventions[i]->name);
        add_line(out, "", interventions[i]->help);
        for (const struct option *o = interventions[i]->options; o->name; o++) add_option(out, o, "");
    }
    for (size_t i = 0; (command = command_at(i)); i++)
        if (command->manual) command->manual(out);
    text_add(out, ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/loopscope/settings\nhow the screen looks; written by :set\n"
                  ".TP\n.I $XDG_STATE_HOME/loopscope/log\na log of each session, for loopscope replay\n"
                  ".TP\n.I $XDG_STATE_HOME/loopscope/history\nthe lines that were entered at the prompt\n"
                  ".TP\n.I $XDG_CACHE_HOME/loopscope\ndatasets that are made when they are needed\n"
                  ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours\n.TP\n.B LC_ALL, LANG\nwithout UTF\\-8 the screen is ASCII\n"
                  ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 interrupted\n");
}
