/* Two graphs that share their relations but no entity, and the questions of several hops over them. What a question looks like in tokens is up to the
 * generator; the questions are the same ones for the same sizes and seed, whoever says them.
 *
 *     struct graphs graphs;
 *     if (!graphs_draw(&graphs, args, err)) return false;                  (args by GRAPH_OPTIONS)
 *     writer_begin(&out, folder, "khop", vocab_size); ... writer_name ...
 *     graphs_write(&graphs, &out, say, self);                              (all splits; say writes one row for each chain)
 *     return graphs_end(&graphs, &out, command, err);
 *
 * Everything about graph B that is ever trained is its atomic facts, so its questions ask whether facts can be composed that were never composed in
 * training. Splits: train_atomic (both graphs), train_two_hop ... (graph A, each depth), test_two_hop_id, test_two_hop_ood ... (depths below the
 * deepest), test_id and test_ood (the deepest).
 */
#ifndef DATA_GRAPHS_H
#define DATA_GRAPHS_H

#include "learning/dataset.h"
#include "learning/dataset_write.h"

enum { CHAIN_MOST = 4 };

struct graphs {
    long entities, relations, degree, train, test, hops, seed;
    int *relation, *target; /* 2 graphs x entities x degree; the relations of an entity are sorted */
};

/* From an entity along relations (numbers from 0); targets[i] is where hop i ends, the last one is the answer. Entities count over both graphs. */
struct chain { int hops, entity, relations[CHAIN_MOST], targets[CHAIN_MOST]; };

bool graphs_draw(struct graphs *graphs, const struct args *args, struct err *err);
void graphs_write(const struct graphs *graphs, struct dataset_writer *out, void (*say)(void *self, const struct chain *chain), void *self);
bool graphs_end(struct graphs *graphs, struct dataset_writer *out, const char *command, struct err *err); /* releases both */

#define GRAPH_OPTIONS \
    {"entities", OPTION_INT, "500", .low = 1, .high = 1000000, .help = "entities of each of the two graphs"}, \
    {"relations", OPTION_INT, "50", .low = 1, .high = 100000, .help = "relations, which both graphs share"}, \
    {"out-degree", OPTION_INT, "10", .low = 1, .high = 100000, .help = "facts per entity, each with another relation"}, \
    {"train", OPTION_INT, "10000", .low = 1, .high = 100000000, .help = "training questions of each depth, all about graph A"}, \
    {"test", OPTION_INT, "2000", .low = 1, .high = 100000000, .help = "test questions of each depth about graph A, and as many about graph B"}, \
    {"hops", OPTION_INT, "2", .low = 2, .high = CHAIN_MOST, .help = "depth of test_id and test_ood; every depth from 2 to it is trained"}

#endif
