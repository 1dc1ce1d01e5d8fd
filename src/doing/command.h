/* A command: a verb of the program. One row, one file, one example; the command line, the prompt of the screen, a recipe, a replay log and the
 * provenance of a figure are all lines of commands.
 *
 *     const struct command command_sites = {
 *         .name = "sites", .words = "MODEL", .help = "every site of a forward pass with its shape",
 *         .options = options, .example = "sites models/vanilla", .run = run,
 *     };
 *
 *     command_line(session, "bridge models/vanilla --split test_ood", sink, err)     (finds the row, parses, runs)
 */
#ifndef DOING_COMMAND_H
#define DOING_COMMAND_H

#include "doing/session.h"
#include "ground/option.h"
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
};

const struct command *command_find(const char *name);
bool command_words(struct session *session, size_t count, char *const *words, struct sink *sink, struct err *err);
bool command_line(struct session *session, const char *line, struct sink *sink, struct err *err);

/* The canonical text of what is being run ("sweep models/vanilla --over alpha=0:1:0.05"), for provenance. Borrowed from the session. */
const char *command_text(const struct session *session);

void command_usage(const struct command *command, struct text *out); /* what --help prints */

#endif
