/* Questions of several hops over two graphs that share their relations but no entity. Everything about graph B that is ever trained is its atomic
 * facts, so its questions ask whether facts can be composed that were never composed in training. */
#include "ground/mem.h"
#include "ground/rng.h"
#include "learning/dataset.h"
#include "learning/dataset_write.h"

#include <stdint.h>

enum { MOST_HOPS = 4, MOST_CHAINS = 200000000 };
static const char *const hop_names[] = {[2] = "train_two_hop", [3] = "train_three_hop", [4] = "train_four_hop"};

struct world {
    long entities, relations, degree, train, test, hops, seed;
    int *relation, *target; /* 2 graphs x entities x degree; the relations of an entity are sorted */
};

static const int *row_of(const struct world *w, const int *values, long entity) { return values + entity * w->degree; }

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
static void draw_graph(struct world *w, int graph, struct rng rng)
{
    uint32_t *deck = mem_new((size_t)w->relations * sizeof *deck);
    for (long r = 0; r < w->relations; r++) deck[r] = (uint32_t)r;
    for (long e = graph * w->entities; e < (graph + 1) * w->entities; e++) {
        int *relation = w->relation + e * w->degree, *target = w->target + e * w->degree;
        for (long i = 0; i < w->degree; i++) {
            uint64_t pick = (uint64_t)i + rng_below(&rng, (uint64_t)(w->relations - i));
            uint32_t drawn = deck[pick];
            deck[pick] = deck[i];
            deck[i] = drawn;
            relation[i] = (int)drawn;
        }
        sort_relations(relation, w->degree);
        for (long i = 0; i < w->degree; i++) target[i] = (int)(graph * w->entities + (long)rng_below(&rng, (uint64_t)w->entities));
    }
    mem_free(deck);
}

static void draw_world(struct world *w)
{
    size_t facts = (size_t)(2 * w->entities * w->degree);
    w->relation = mem_new(facts * sizeof *w->relation);
    w->target = mem_new(facts * sizeof *w->target);
    draw_graph(w, 0, rng_start((uint64_t)w->seed, "khop graph A"));
    draw_graph(w, 1, rng_start((uint64_t)w->seed, "khop graph B"));
}

/* Chain number n of a graph: its digits in base `degree` say which relation each hop takes, the rest is the entity it starts from. */
static void write_chain(const struct world *w, struct dataset_writer *out, int graph, int hops, uint32_t number)
{
    int tokens[MOST_HOPS + 1], choice[MOST_HOPS];
    struct bridge bridges[MOST_HOPS];
    for (int i = hops - 1; i >= 0; i--) choice[i] = (int)(number % (uint32_t)w->degree), number /= (uint32_t)w->degree;
    int at = tokens[0] = (int)(graph * w->entities + (long)number);
    for (int i = 0; i < hops; i++) {
        tokens[i + 1] = (int)(2 * w->entities) + row_of(w, w->relation, at)[choice[i]];
        at = row_of(w, w->target, at)[choice[i]];
        bridges[i] = (struct bridge){i + 1, at};
    }
    writer_row(out, &(struct question){
        .length = hops + 1, .tokens = tokens, .answer = at, .answer_position = hops, .bridge_count = hops - 1, .bridges = bridges,
    });
}

static long chain_count(const struct world *w, int hops)
{
    long count = w->entities;
    for (int i = 0; i < hops && count <= MOST_CHAINS; i++) count *= w->degree;
    return count;
}

/* All chains of a graph in a random order: what is drawn from its front is drawn without replacement. */
static uint32_t *shuffled_chains(const struct world *w, int graph, int hops)
{
    static const char *const purposes[2][MOST_HOPS + 1] = {
        {[2] = "khop chains A 2", [3] = "khop chains A 3", [4] = "khop chains A 4"},
        {[2] = "khop chains B 2", [3] = "khop chains B 3", [4] = "khop chains B 4"},
    };
    size_t count = (size_t)chain_count(w, hops);
    uint32_t *chains = mem_new(count * sizeof *chains);
    struct rng rng = rng_start((uint64_t)w->seed, purposes[graph][hops]);
    for (size_t i = 0; i < count; i++) chains[i] = (uint32_t)i;
    rng_shuffle(&rng, chains, count);
    return chains;
}

static void write_facts(const struct world *w, struct dataset_writer *out)
{
    writer_split(out, "train_atomic");
    for (long e = 0; e < 2 * w->entities; e++)
        for (long i = 0; i < w->degree; i++) {
            int tokens[] = {(int)e, (int)(2 * w->entities) + row_of(w, w->relation, e)[i]};
            writer_row(out, &(struct question){.length = 2, .tokens = tokens, .answer = row_of(w, w->target, e)[i], .answer_position = 1});
        }
}

static void write_questions(const struct world *w, struct dataset_writer *out)
{
    for (int hops = 2; hops <= w->hops; hops++) {
        uint32_t *chains = shuffled_chains(w, 0, hops);
        writer_split(out, hop_names[hops]);
        for (long i = 0; i < w->train; i++) write_chain(w, out, 0, hops, chains[i]);
        if (hops == w->hops) writer_split(out, "test_id");
        for (long i = 0; hops == w->hops && i < w->test; i++) write_chain(w, out, 0, hops, chains[w->train + i]);
        mem_free(chains);
    }
    uint32_t *chains = shuffled_chains(w, 1, (int)w->hops);
    writer_split(out, "test_ood");
    for (long i = 0; i < w->test; i++) write_chain(w, out, 1, (int)w->hops, chains[i]);
    mem_free(chains);
}

static bool enough(const struct world *w, struct err *err)
{
    if (w->degree > w->relations)
        return err_set(err, "--out-degree %ld: an entity has different relations, and there are %ld (--relations)", w->degree, w->relations);
    for (int hops = 2; hops <= w->hops; hops++) {
        long have = chain_count(w, hops), want = w->train + (hops == w->hops ? w->test : 0);
        if (have > MOST_CHAINS) return err_set(err, "more than %d chains of %d hops in a graph: fewer --entities or a smaller --out-degree",
                                               MOST_CHAINS, hops);
        if (want > have)
            return err_set(err,
                           "a graph has %ld chains of %d hops, and %ld are wanted (--train %ld%s): fewer of them, or more --entities or --out-degree",
                           have, hops, want, w->train, hops == w->hops ? " and --test on top" : "");
    }
    return true;
}

static bool make(const struct args *args, const char *folder, const char *command, struct sink *sink, struct err *err)
{
    (void)sink;
    struct world w = {
        .entities = args_int(args, "entities"), .relations = args_int(args, "relations"), .degree = args_int(args, "out-degree"),
        .train = args_int(args, "train"), .test = args_int(args, "test"), .hops = args_int(args, "hops"), .seed = args_int(args, "seed"),
    };
    const struct dataset_size sizes[] = {
        {"entities", w.entities}, {"relations", w.relations}, {"out_degree", w.degree}, {"hops", w.hops}, {"train", w.train}, {"test", w.test}, {0},
    };
    struct dataset_writer out;
    if (!enough(&w, err)) return false;
    draw_world(&w);
    writer_begin(&out, folder, "khop", (int)(2 * w.entities + w.relations));
    for (long e = 0; e < 2 * w.entities; e++) writer_name(&out, "e%ld", e);
    for (long r = 0; r < w.relations; r++) writer_name(&out, "r%ld", r);
    write_facts(&w, &out);
    write_questions(&w, &out);
    mem_free(w.relation);
    mem_free(w.target);
    return writer_end(&out, command, w.seed, sizes, err);
}

static const struct option options[] = {
    {"entities", OPTION_INT, "500", .low = 1, .high = 1000000, .help = "entities of each of the two graphs"},
    {"relations", OPTION_INT, "50", .low = 1, .high = 100000, .help = "relations, which both graphs share"},
    {"out-degree", OPTION_INT, "10", .low = 1, .high = 100000, .help = "facts per entity, each with another relation"},
    {"train", OPTION_INT, "10000", .low = 1, .high = 100000000, .help = "training questions of each depth, all about graph A"},
    {"test", OPTION_INT, "2000", .low = 1, .high = 100000000, .help = "questions of test_id (graph A) and of test_ood (graph B)"},
    {"hops", OPTION_INT, "2", .low = 2, .high = MOST_HOPS, .help = "depth of the test questions; training has 2 hops up to this"},
    GENERATOR_OPTIONS,
    {0},
};

const struct generator generator_khop = {
    .name = "khop", .help = "facts of two graphs, and questions of 2 to 4 hops: trained on one graph, tested on both", .options = options,
    .example = "--entities 6 --relations 4 --out-degree 3 --train 30 --test 10 --seed 1", .make = make,
};
