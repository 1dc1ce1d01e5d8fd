#include "data/graphs.h"

#include "ground/mem.h"
#include "ground/rng.h"

#include <stdint.h>

enum { CHAINS_MOST = 200000000 };
static const char *const depth_names[CHAIN_MOST + 1] = {[2] = "two", [3] = "three", [4] = "four"};

static const int *row_of(const struct graphs *g, const int *values, long entity) { return values + entity * g->degree; }

static void sort_relations(int *values, long count)
{
    for (long i = 1; i < count; i++)
        for (long j = i; j > 0 && values[j - 1] > values[j]; j--) {
            int value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
}

/* Each entity gets `degree` different relations; where one leads is any entity of the same graph, itself included. */
static void draw_graph(struct graphs *g, int graph, struct rng rng)
{
    uint32_t *deck = mem_new((size_t)g->relations * sizeof *deck);
    for (long r = 0; r < g->relations; r++) deck[r] = (uint32_t)r;
    for (long e = graph * g->entities; e < (graph + 1) * g->entities; e++) {
        int *relation = g->relation + e * g->degree, *target = g->target + e * g->degree;
        for (long i = 0; i < g->degree; i++) {
            uint64_t pick = (uint64_t)i + rng_below(&rng, (uint64_t)(g->relations - i));
            uint32_t drawn = deck[pick];
            deck[pick] = deck[i];
            deck[i] = drawn;
            relation[i] = (int)drawn;
        }
        sort_relations(relation, g->degree);
        for (long i = 0; i < g->degree; i++) target[i] = (int)(graph * g->entities + (long)rng_below(&rng, (uint64_t)g->entities));
    }
    mem_free(deck);
}

static long chain_count(const struct graphs *g, int hops)
{
    long count = g->entities;
    for (int i = 0; i < hops && count <= CHAINS_MOST; i++) count *= g->degree;
    return count;
}

static bool enough(const struct graphs *g, struct err *err)
{
    if (g->degree > g->relations)
        return err_set(err, "--out-degree %ld: an entity has different relations, and there are %ld (--relations)", g->degree, g->relations);
    for (int hops = 2; hops <= g->hops; hops++) {
        long have = chain_count(g, hops), want = g->train + g->test;
        if (have > CHAINS_MOST)
            return err_set(err, "more than %d chains of %d hops in a graph: fewer --entities or a smaller --out-degree", CHAINS_MOST, hops);
        if (want > have)
            return err_set(err, "a graph has %ld chains of %d hops, and %ld are wanted (--train %ld and --test on top): fewer of them, or more "
                                "--entities or --out-degree", have, hops, want, g->train);
    }
    return true;
}

bool graphs_draw(struct graphs *g, const struct args *args, struct err *err)
{
    *g = (struct graphs){
        .entities = args_int(args, "entities"), .relations = args_int(args, "relations"), .degree = args_int(args, "out-degree"),
        .train = args_int(args, "train"), .test = args_int(args, "test"), .hops = args_int(args, "hops"), .seed = args_int(args, "seed"),
    };
    if (!enough(g, err)) return false;
    size_t facts = (size_t)(2 * g->entities * g->degree);
    g->relation = mem_new(facts * sizeof *g->relation);
    g->target = mem_new(facts * sizeof *g->target);
    draw_graph(g, 0, rng_start((uint64_t)g->seed, "khop graph A"));
    draw_graph(g, 1, rng_start((uint64_t)g->seed, "khop graph B"));
    return true;
}

/* Chain number n of a graph: its digits in base `degree` say which relation each hop takes, the rest is the entity it starts from. */
static struct chain chain_number(const struct graphs *g, int graph, int hops, uint32_t number)
{
    int choice[CHAIN_MOST];
    for (int i = hops - 1; i >= 0; i--) choice[i] = (int)(number % (uint32_t)g->degree), number /= (uint32_t)g->degree;
    struct chain chain = {.hops = hops, .entity = (int)(graph * g->entities + (long)number)};
    for (int i = 0, at = chain.entity; i < hops; i++) {
        chain.relations[i] = row_of(g, g->relation, at)[choice[i]];
        at = chain.targets[i] = row_of(g, g->target, at)[choice[i]];
    }
    return chain;
}

/* All chains of a graph in a random order: what is drawn from its front is drawn without replacement. */
static uint32_t *shuffled_chains(const struct graphs *g, int graph, int hops)
{
    static const char *const purposes[2][CHAIN_MOST + 1] = {
        {[2] = "khop chains A 2", [3] = "khop chains A 3", [4] = "khop chains A 4"},
        {[2] = "khop chains B 2", [3] = "khop chains B 3", [4] = "khop chains B 4"},
    };
    size_t count = (size_t)chain_count(g, hops);
    uint32_t *chains = mem_new(count * sizeof *chains);
    struct rng rng = rng_start((uint64_t)g->seed, purposes[graph][hops]);
    for (size_t i = 0; i < count; i++) chains[i] = (uint32_t)i;
    rng_shuffle(&rng, chains, count);
    return chains;
}

struct saying {
    const struct graphs *graphs;
    struct dataset_writer *out;
    void (*say)(void *self, const struct chain *chain);
    void *self;
};

static void write_facts(const struct saying *s)
{
    const struct graphs *g = s->graphs;
    writer_split(s->out, "train_atomic");
    for (long e = 0; e < 2 * g->entities; e++)
        for (long i = 0; i < g->degree; i++)
            s->say(s->self, &(struct chain){1, (int)e, {row_of(g, g->relation, e)[i]}, {row_of(g, g->target, e)[i]}});
}

static void write_some(const struct saying *s, const char *split, int graph, int hops, long from, long count)
{
    uint32_t *chains = shuffled_chains(s->graphs, graph, hops);
    writer_split(s->out, split);
    for (long i = from; i < from + count; i++) {
        struct chain chain = chain_number(s->graphs, graph, hops, chains[i]);
        s->say(s->self, &chain);
    }
    mem_free(chains);
}

/* "train_", 3, "" is the split train_three_hop */
static void write_depth(const struct saying *s, const char *before, const char *after, int graph, int hops, long from, long count)
{
    struct text split = {0};
    text_add(&split, "%s%s_hop%s", before, depth_names[hops], after);
    write_some(s, split.data, graph, hops, from, count);
    text_clear(&split);
}

void graphs_write(const struct graphs *g, struct dataset_writer *out, void (*say)(void *self, const struct chain *chain), void *self)
{
    struct saying s = {g, out, say, self};
    int deepest = (int)g->hops;
    write_facts(&s);
    for (int hops = 2; hops <= deepest; hops++) write_depth(&s, "train_", "", 0, hops, 0, g->train);
    for (int hops = 2; hops < deepest; hops++) {
        write_depth(&s, "test_", "_id", 0, hops, g->train, g->test);
        write_depth(&s, "test_", "_ood", 1, hops, 0, g->test);
    }
    write_some(&s, "test_id", 0, deepest, g->train, g->test);
    write_some(&s, "test_ood", 1, deepest, 0, g->test);
}

bool graphs_end(struct graphs *g, struct dataset_writer *out, const char *command, struct err *err)
{
    const struct dataset_size sizes[] = {
        {"entities", g->entities}, {"relations", g->relations}, {"out_degree", g->degree}, {"hops", g->hops}, {"train", g->train},
        {"test", g->test}, {0},
    };
    mem_free(g->relation);
    mem_free(g->target);
    return writer_end(out, command, g->seed, sizes, err);
}
