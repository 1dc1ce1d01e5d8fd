/* A command: a verb of the program. One row, one file, one example; the command line, the prompt of the screen, a recipe, a replay log and the
 * provenance of a figure are all lines of commands.
 *
 *     const struct command command_sites = {
 *         .name = "sites", .words = "MODEL", .help = "every site of a forward pass with its shape",
 *         .options = options, .example = "sites models/vanilla", .run = run,
 *     };
 *
 *     command_line(session, "bridge models/vanilla --split test_ood", sink, err)     (finds the row, parses, runs)
 *
 * --help among the words of any command explains it instead of running it. A mistake in the line itself is marked with err_usage.
 */
#ifndef DOING_COMMAND_H
#define DOING_COMMAND_H

#include "doing/session.h"
#include "ground/option.h"
#include "ground/text.h"
#include "results/sink.h"

struct command {
    const char *name;
    const char *words;             /* positional words for the usage line: "MODEL [FILE]" */
    int least, most;               /* how many positional words; most 0 with words: no limit */
    const char *help;              /* one line */
    const char *more;              /* a paragraph for --help, or NULL */
    const struct option *options;  /* NULL: none */
    const char *example;           /* a line that works in the project's folder, without the program's name */
    bool (*run)(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err);

    void (*manual)(struct text *out); /* further sections of the manual page, in troff: what only this command's side of the house knows; or NULL */

    /* A command whose first word is a verb of its own ("data khop", "data check") has this instead of options and run: fills in the i-th verb, whose
     * `of` is the command itself, or returns false behind the last. */
    bool (*verb)(const struct command *self, size_t i, struct command *verb);
    const struct command *of;
    const void *about;             /* what a verb was made from, for its run */
};

const struct command *command_find(const char *name);
const char *command_name(const void *unused, size_t i); /* every command and probe, NULL behind the last: for text_nearest */
const struct command *command_at(size_t i);
bool command_words(struct session *session, size_t count, char *const *words, struct sink *sink, struct err *err);
bool command_line(struct session *session, const char *line, struct sink *sink, struct err *err);

/* The canonical text of what is being run ("sweep models/vanilla --over alpha=0:1:0.05"), for provenance. Borrowed from the session. */
const char *command_text(const struct session *session);

/* The facts that every table starts with: command, version. */
void command_provenance(const struct session *session, struct table *table);

/* For commands whose result is text: refuses --json and --tsv rather than to print nothing. */
bool command_says_text(const struct command *self, const struct session *session, struct err *err);

void command_add_name(const struct command *command, struct text *out);  /* "data khop" */
void command_add_words(const struct command *command, struct text *out); /* " DIR SPLIT [--OPTION VALUE ...]" */
void usage_add_row(const char *left, const char *help, struct text *out); /* a line of such a list: name, and what it is, wrapped */
void command_usage(const struct command *command, struct text *out);     /* what --help prints, as wide as the terminal (usage.c) */

#endif
