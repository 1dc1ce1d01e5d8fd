/* One question, picked by a user: a row of a split, or tokens.
 *
 *     static const struct option options[] = {STUDY_OPTIONS, PICK_OPTIONS(NULL), {0}};      (study_open then picks: study.pick)
 *
 *     struct pick pick;
 *     if (!pick_row(&pick, data, "test_ood:17", err)) return false;
 *     pick_facts(&pick, data, table);                        (question, answer, answer_position, bridge, bridge_position)
 *     pick_clear(&pick);
 */
#ifndef PROBES_PICK_H
#define PROBES_PICK_H

#include "learning/dataset.h"
#include "results/table.h"

#define PICK_OPTIONS(fallback) \
    {"row", OPTION_TEXT, fallback, .help = "one question: SPLIT:NUMBER, numbers begin at 0", .placeholder = "SPLIT:N"}, \
    {"tokens", OPTION_TEXT, NULL, .help = "one question as token names or ids, for instance \"e1 r2 r3\"", .placeholder = "'T T T'"}

struct pick {
    bool one;                 /* there is a question */
    struct split split;       /* of that question alone */
    struct question question; /* answer -1: unknown */
    size_t number;            /* inside its split */
    int *typed;               /* owned: the tokens of --tokens */
};

/* The split's question points into the pick: it must not be copied afterwards. */
bool pick_row(struct pick *pick, const struct dataset *data, const char *row, struct err *err);
bool pick_tokens(struct pick *pick, const struct dataset *data, int vocab_size, const char *tokens, struct err *err);
void pick_clear(struct pick *pick);
void pick_facts(const struct pick *pick, const struct dataset *data, struct table *table);

#endif
