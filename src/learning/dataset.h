/* A dataset: a folder of questions with known answers, in splits.
 *
 *     struct dataset *data = dataset_open("datasets/two-hop-small", sink, err);
 *     const struct split *ood = dataset_split(data, "test_ood");
 *     const struct question *q = &ood->questions[17];
 *     puts(dataset_token(data, q->tokens[0]));
 *     dataset_free(data);
 *
 * The folder holds dataset.json (kind, vocab_size, files with SHA-256), vocab.json (name to id) and one SPLIT.jsonl per split with rows
 * {"tokens":[12,1003,1010],"answer":44,"answer_position":2,"bridges":[{"position":1,"token":7}]}. Rows may differ in length.
 */
#ifndef LEARNING_DATASET_H
#define LEARNING_DATASET_H

#include "ground/err.h"
#include "ground/hash.h"
#include "ground/option.h"
#include "results/sink.h"

struct bridge { int position, token; };

struct question {
    int length;            /* tokens */
    const int *tokens;     /* token ids */
    int answer;            /* token id */
    int answer_position;   /* where the answer is read: 0 ... length-1 */
    int bridge_count;
    const struct bridge *bridges;
};

/* An order in which questions that begin alike are neighbours: by tokens, then length, answer position, answer. */
int question_compare(const struct question *a, const struct question *b);

struct split {
    char *name; /* the file's name without .jsonl */
    struct question *questions;
    size_t count;
};

struct dataset {
    char *folder, *name, *kind;
    int vocab_size;
    char **tokens; /* id -> name; NULL where the vocabulary names none */
    struct split *splits;
    size_t split_count;
    char hash[HASH_HEX];   /* SHA-256 of dataset.json, which holds the hashes of the others */
    struct arena *arena;   /* rows */
};

/* Checks everything; messages name file and line. What is odd but harmless becomes a note. */
struct dataset *dataset_open(const char *folder, struct sink *sink, struct err *err);

/* No dataset at all: a vocabulary whose tokens are called by their numbers, and no splits. For models that come without one. */
struct dataset *dataset_none(int vocab_size);
void dataset_free(struct dataset *data);

const struct split *dataset_split(const struct dataset *data, const char *name);  /* NULL: absent */
const char *dataset_token(const struct dataset *data, int id);                    /* its name, or "<id 7: no token>" in a rotating buffer */
int dataset_id(const struct dataset *data, const char *token);                    /* by name, or a number; -1: neither */

/* A question taken apart for checks: from the entity tokens[0] over the relations tokens[1 ... count]; where hop i ends is read at positions[i]. */
enum { HOPS_MOST = 15 };
struct hops { int count, tokens[HOPS_MOST + 1], positions[HOPS_MOST + 1]; };

/* A generator: one file in src/data, which writes such a folder. */
struct generator {
    const char *name, *help;
    const struct option *options; /* GENERATOR_OPTIONS among them */
    const char *example; /* options of a tiny set that tests make and check, for instance "--entities 6 --relations 3 ..." */
    bool (*make)(const struct args *args, const char *folder, const char *command, struct sink *sink, struct err *err);
    bool (*hops)(const struct dataset *data, const struct question *question, struct hops *hops); /* false: no question of this kind */
};

#define GENERATOR_OPTIONS \
    {"seed", OPTION_INT, "0", .low = 0, .high = 9007199254740991.0, .help = "the same seed gives the same bytes, on any machine"}, \
    {"out", OPTION_TEXT, NULL, .placeholder = "DIR", .letter = 'o', .help = "the folder to write; an older dataset there is replaced"}

/* Makes the set in a neighbour of the folder and puts it into place when it is whole. What stands at folder must be absent or a dataset.
 * `make` gets the neighbour, and as command the line with every option written out, which dataset.json records. */
bool generator_make(const struct generator *generator, const struct args *args, const char *folder, struct sink *sink, struct err *err);

#endif
