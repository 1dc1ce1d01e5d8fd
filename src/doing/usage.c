/* What --help says about a command, wrapped to the terminal. */
#include "doing/command.h"
#include "doing/intervention.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEFT = 30, NARROW = 64 }; /* where helps of options begin; below NARROW they stand under their option */

static int page_width(void)
{
    struct winsize size = {0};
    long columns = 80;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) columns = size.ws_col;
    else if (getenv("COLUMNS") && !parse_int(getenv("COLUMNS"), &columns)) columns = 80;
    return columns < 40 ? 40 : columns > 110 ? 110 : (int)columns;
}

/* Words from column `at` on, further lines indented; a line end in the text stays one. */
static void add_wrapped(struct text *out, const char *text, int at, int indent, int width)
{
    bool first = true;
    while (*text) {
        const char *end = text + strcspn(text, " \n");
        int size = (int)(end - text);
        if (!first && at + 1 + size > width) text_add(out, "\n%*s", indent, ""), at = indent, first = true;
        text_add(out, "%s%.*s", first ? "" : " ", size, text);
        at += size + !first;
        first = false;
        text = end + (*end == ' ');
        if (*text == '\n') text_add(out, "\n%*s", text[1] ? indent : 0, ""), at = indent, first = true, text++;
    }
    text_add(out, "\n");
}

/* Limits that nobody meets are not worth the room. */
static void add_limits(const struct option *o, struct text *out)
{
    const double many = 1e6;
    if (o->low == 0 && o->high == 0) return;
    if (o->high < many) text_add(out, " (%.16g to %.16g)", o->low, o->high);
    else if (o->low > 0) text_add(out, " (at least %.16g)", o->low);
}

void usage_add_row(const char *left, const char *help, struct text *out)
{
    int width = page_width(), indent = width < NARROW ? 6 : LEFT, size = (int)strlen(left);
    bool beside = indent == LEFT && size + 3 < LEFT;
    text_add(out, "  %s%*s", left, beside ? LEFT - 2 - size : 0, "");
    if (!beside) text_add(out, "\n%*s", indent, "");
    add_wrapped(out, help, indent, indent, width);
}

/* dashes: "--" on a command line, "" inside an edit. */
static void add_option(const struct option *o, const char *dashes, struct text *out)
{
    static const char *const placeholders[] = {[OPTION_FLAG] = "", [OPTION_INT] = "N", [OPTION_NUMBER] = "X", [OPTION_TEXT] = "TEXT"};
    const char *placeholder = o->placeholder ? o->placeholder : o->kind == OPTION_CHOICE ? o->choices : placeholders[o->kind];
    struct text left = {0}, help = {0};
    text_add(&left, "%s%s", dashes, o->name);
    if (o->letter) text_add(&left, ", -%c", o->letter);
    if (o->kind != OPTION_FLAG) text_add(&left, "%s%s", *dashes ? " " : "=", placeholder);
    text_add(&help, "%s", o->help ? o->help : "");
    if (o->fallback && o->kind != OPTION_FLAG) text_add(&help, " [%s]", *o->fallback ? o->fallback : "''");
    add_limits(o, &help);
    if (o->many) text_add(&help, "; may be given several times");
    usage_add_row(left.data, help.data, out);
    text_clear(&left);
    text_clear(&help);
}

static void add_verbs(const struct command *command, struct text *out)
{
    struct command verb = {0};
    text_add(out, "\nverbs (each with its own --help)\n");
    for (size_t i = 0; command->verb(command, i, &verb); i++, verb = (struct command){0}) usage_add_row(verb.name, verb.help, out);
}

/* What an EDIT may say: only here does a command line show the options of interventions. */
static void add_edits(int width, struct text *out)
{
    for (size_t i = 0; interventions[i]; i++) {
        text_add(out, "\nEDIT %s@h.K:OPTION=VALUE,... ", interventions[i]->name);
        add_wrapped(out, interventions[i]->help, (int)strlen(interventions[i]->name) + 28, 2, width);
        for (const struct option *o = interventions[i]->options; o->name; o++) add_option(o, "", out);
    }
}

void command_usage(const struct command *command, struct text *out)
{
    int width = page_width();
    text_add(out, "usage: loopscope ");
    command_add_name(command, out);
    command_add_words(command, out);
    text_add(out, "\n");
    add_wrapped(out, command->help, 0, 0, width);
    if (command->more) text_add(out, "\n"), add_wrapped(out, command->more, 0, 0, width);
    if (command->verb) add_verbs(command, out);
    if (command->options && command->options->name) text_add(out, "\noptions\n");
    for (const struct option *o = command->options; o && o->name; o++) add_option(o, "--", out);
    for (const struct option *o = command->options; o && o->name; o++)
        if (o->placeholder && !strcmp(o->placeholder, "EDIT")) {
            add_edits(width, out);
            break;
        }
    text_add(out, "\n");
    add_wrapped(out, "every command also knows --json, --tsv, --threads N, --quiet and --help", 0, 0, width);
    bool sources = command->example && strstr(command->example, " tests/"); /* what is not installed */
    if (command->example) text_add(out, "\nexample%s\n  loopscope %s\n", sources ? ", in the folder of the sources" : "", command->example);
}
