/* Options as rows: the table of a command, a probe, an intervention or a recipe, and the values that a user gave.
 *
 *     static const struct option options[] = {
 *         {"alpha", OPTION_NUMBER, "0.5", .low = 0, .high = 1, .help = "weight of the decoded embedding"},
 *         {"norm", OPTION_CHOICE, "rms", .choices = "rms|match|l2|none", .help = "length of the embedding"},
 *         {0},
 *     };
 *     struct args args = {0};
 *     if (!args_parse(&args, options, count, words, err)) return false;
 *     double alpha = args_number(&args, "alpha");
 *     args_clear(&args);
 *
 * On the command line an option is --name VALUE or --name=VALUE (flags: --name alone); in a pair list it is name=VALUE. Everything else is a
 * positional word. Unknown names and values out of range are refused with what would be right.
 */
#ifndef GROUND_OPTION_H
#define GROUND_OPTION_H

#include "ground/err.h"

#include <stddef.h>

enum option_kind { OPTION_FLAG = 1, OPTION_INT, OPTION_NUMBER, OPTION_TEXT, OPTION_CHOICE };

struct option {
    const char *name;
    enum option_kind kind;
    const char *fallback;    /* the default as a user would write it; NULL: absent unless given */
    const char *choices;     /* OPTION_CHOICE: "a|b|c" */
    double low, high;        /* OPTION_INT and OPTION_NUMBER: inclusive; both 0: no limits */
    const char *help;        /* one line */
    const char *placeholder; /* in help: --name PLACEHOLDER; NULL: N, X, TEXT by kind */
    char letter;             /* a short form -o, or 0 */
    bool many;               /* may be given several times: args_at() reads them in order */
    bool aside;              /* says where a result goes, not what it is: left out of the command's text in provenance */
};

struct args {
    const struct option *options; /* ends with a row without a name */
    struct arg { const struct option *option; char *value; } *given;
    size_t given_count, given_room;
    char **words; /* positional */
    size_t word_count, word_room;
};

/* Words are copied. On failure args is cleared. */
bool args_parse(struct args *args, const struct option *options, size_t count, char *const *words, struct err *err);

/* "name=value,name=value"; an empty or NULL list is fine. */
bool args_parse_pairs(struct args *args, const struct option *options, const char *pairs, struct err *err);

/* Sets or replaces one value, checked like the others. */
bool args_set(struct args *args, const char *name, const char *value, struct err *err);

void args_clear(struct args *args);

bool args_given(const struct args *args, const char *name);
bool args_flag(const struct args *args, const char *name);
long args_int(const struct args *args, const char *name);
double args_number(const struct args *args, const char *name);
const char *args_text(const struct args *args, const char *name);              /* NULL: absent */
const char *args_at(const struct args *args, const char *name, size_t i);      /* the i-th of many; NULL after the last */
const char *args_word(const struct args *args, size_t i);                      /* NULL after the last */

const struct option *option_find(const struct option *options, const char *name);

/* Splits a line as a shell does (quotes, backslash; no expansion). Each is a block of its own: free them with words_free.
 * On failure there are none. */
bool words_split(const char *line, char ***words, size_t *count, struct err *err);
void words_free(char **words, size_t count);

/* Numbers as users write them; the whole text must be one. */
bool parse_number(const char *text, double *value);
bool parse_int(const char *text, long *value);

#endif
