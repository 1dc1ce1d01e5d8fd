/* Questions of several hops, bare: an entity and its relations, one token each, "e12 r3 r10". Answers and bridges are read at the relations. */
#include "data/graphs.h"

struct speaker { struct dataset_writer *out; int entities; };

static void say(void *self, const struct chain *chain)
{
    const struct speaker *me = self;
    int tokens[CHAIN_MOST + 1] = {chain->entity};
    struct bridge bridges[CHAIN_MOST];
    for (int i = 0; i < chain->hops; i++) {
        tokens[i + 1] = me->entities + chain->relations[i];
        bridges[i] = (struct bridge){i + 1, chain->targets[i]};
    }
    writer_row(me->out, &(struct question){
        .length = chain->hops + 1, .tokens = tokens, .answer = chain->targets[chain->hops - 1], .answer_position = chain->hops,
        .bridge_count = chain->hops - 1, .bridges = bridges,
    });
}

static bool read_back(const struct dataset *data, const struct question *q, struct hops *hops)
{
    (void)data;
    if (q->length < 2 || q->length > HOPS_MOST + 1) return false;
    hops->count = q->length - 1;
    for (int i = 0; i < q->length; i++) hops->tokens[i] = q->tokens[i], hops->positions[i] = i;
    return true;
}

static bool make(const struct args *args, const char *folder, const char *command, struct sink *sink, struct err *err)
{
    (void)sink;
    struct graphs graphs;
    struct dataset_writer out;
    if (!graphs_draw(&graphs, args, err)) return false;
    writer_begin(&out, folder, "khop", (int)(2 * graphs.entities + graphs.relations));
    for (long e = 0; e < 2 * graphs.entities; e++) writer_name(&out, "e%ld", e);
    for (long r = 0; r < graphs.relations; r++) writer_name(&out, "r%ld", r);
    graphs_write(&graphs, &out, say, &(struct speaker){&out, (int)(2 * graphs.entities)});
    return graphs_end(&graphs, &out, command, err);
}

static const struct option options[] = {GRAPH_OPTIONS, GENERATOR_OPTIONS, {0}};

const struct generator generator_khop = {
    .name = "khop", .help = "facts of two graphs, and questions of 2 to 4 hops: trained on one graph, tested on both", .options = options,
    .example = "--entities 6 --relations 4 --out-degree 3 --train 30 --test 10 --seed 1", .make = make, .hops = read_back,
};
