/* The questions of khop in a small language, a token for every word:
 *
 *     direct:   "Bolu 's son is"       "Bolu 's son 's wife is"           the bridge is settled at "son"
 *     reverse:  "The son of Bolu is"   "The wife of Bolu 's son is"       likewise; the last relation comes first
 *
 * Answers are read at "is". With phrases every fact is said a second time without it, "Bolu 's son", and read at the relation: where the bridge of a
 * longer question has to be settled, and where sentences alone never ask for it. Both formats have the same vocabulary, and for the same sizes and
 * seed the same questions. */
#include "data/graphs.h"

#include <string.h>

enum { WORDS_MOST = 2 * CHAIN_MOST + 3 };
enum function_word { POSSESSIVE, IS, THE, OF, FUNCTION_WORDS };
static const char *const function_words[FUNCTION_WORDS] = {"'s", "is", "The", "of"};

static const char *const relation_words[] = {
    "mother", "father",  "daughter", "son",      "wife",   "husband", "sister",  "brother", "aunt",   "uncle",  "niece",  "nephew",   "cousin",
    "friend", "neighbour", "rival",  "teacher",  "pupil",  "doctor",  "patient", "nurse",   "dentist", "lawyer", "client", "boss",     "partner",
    "tenant", "landlord", "guest",   "host",     "baker",  "barber",  "tailor",  "cook",    "driver", "guard",  "guide",  "gardener", "butler",
    "painter", "poet",   "singer",   "editor",   "critic", "coach",   "captain", "mentor",  "heir",   "judge",  "king",
};
enum { RELATION_WORDS = sizeof relation_words / sizeof *relation_words };

/* Entity n of `count` as a name of syllables, different for different n: n is a number in base 80 after a step that keeps neighbours apart. */
static void write_name(struct dataset_writer *out, long n, long count)
{
    static const char consonants[] = "bdfghjklmnprstvz", vowels[] = "aeiou";
    char name[32];
    size_t size = 0;
    long all = 80 * 80;
    while (all < count) all *= 80;
    n = (long)(((unsigned long)n * 2654435761u + 1913) % (unsigned long)all); /* an odd prime: no factor in common with a power of 80 */
    for (; all > 1; all /= 80, n /= 80) {
        name[size++] = consonants[n % 16];
        name[size++] = vowels[n / 16 % 5];
    }
    name[size] = 0;
    writer_name(out, "%c%s", name[0] - 'a' + 'A', name + 1);
}

static void write_vocabulary(struct dataset_writer *out, const struct graphs *g)
{
    for (long e = 0; e < 2 * g->entities; e++) write_name(out, e, 2 * g->entities);
    for (long r = 0; r < g->relations; r++)
        if (r < RELATION_WORDS) writer_name(out, "%s", relation_words[r]);
        else writer_name(out, "%s-%ld", relation_words[r % RELATION_WORDS], r / RELATION_WORDS + 1);
    for (int i = 0; i < FUNCTION_WORDS; i++) writer_name(out, "%s", function_words[i]);
}

struct speaker { struct dataset_writer *out; bool reverse, phrases; int relation, function; /* the first ids of each */ };

static void say_phrase(const struct speaker *me, const struct chain *chain)
{
    int tokens[] = {chain->entity, me->function + POSSESSIVE, me->relation + chain->relations[0]};
    writer_row(me->out, &(struct question){.length = 3, .tokens = tokens, .answer = chain->targets[0], .answer_position = 2});
}

static void say(void *self, const struct chain *chain)
{
    const struct speaker *me = self;
    int tokens[WORDS_MOST], n = 0, last = chain->hops - 1, inner = me->reverse ? last : chain->hops;
    struct bridge bridges[CHAIN_MOST];
    if (me->reverse) {
        tokens[n++] = me->function + THE;
        tokens[n++] = me->relation + chain->relations[last];
        tokens[n++] = me->function + OF;
    }
    tokens[n++] = chain->entity;
    for (int i = 0; i < inner; i++) {
        tokens[n++] = me->function + POSSESSIVE;
        bridges[i] = (struct bridge){n, chain->targets[i]};
        tokens[n++] = me->relation + chain->relations[i];
    }
    tokens[n] = me->function + IS;
    writer_row(me->out, &(struct question){
        .length = n + 1, .tokens = tokens, .answer = chain->targets[last], .answer_position = n, .bridge_count = last, .bridges = bridges,
    });
    if (me->phrases && chain->hops == 1) say_phrase(me, chain);
}

/* The words of meaning in their order: entity and relations, or in reverse the last relation first. */
static bool read_back(const struct dataset *data, const struct question *q, struct hops *hops)
{
    int n = 0, words[HOPS_MOST + 1], positions[HOPS_MOST + 1], function = data->vocab_size - FUNCTION_WORDS;
    for (int f = 0; f < FUNCTION_WORDS; f++)
        if (function < 0 || strcmp(dataset_token(data, function + f), function_words[f])) return false;
    for (int i = 0; i < q->length; i++) {
        if (q->tokens[i] >= function) continue;
        if (n > HOPS_MOST) return false;
        words[n] = q->tokens[i];
        positions[n++] = i;
    }
    if (n < 2) return false;
    bool reverse = q->tokens[0] == function + THE;
    hops->count = n - 1;
    for (int i = 0; i < n; i++) {
        int from = !reverse ? i : i == n - 1 ? 0 : i + 1;
        hops->tokens[i] = words[from];
        hops->positions[i] = i == n - 1 ? q->answer_position : positions[from];
    }
    return true;
}

static bool make(const struct args *args, const char *folder, const char *command, struct sink *sink, struct err *err)
{
    (void)sink;
    struct graphs graphs;
    struct dataset_writer out;
    if (!graphs_draw(&graphs, args, err)) return false;
    int relation = (int)(2 * graphs.entities), function = relation + (int)graphs.relations;
    writer_begin(&out, folder, "language", function + FUNCTION_WORDS);
    write_vocabulary(&out, &graphs);
    struct speaker speaker = {&out, !strcmp(args_text(args, "format"), "reverse"), args_flag(args, "phrases"), relation, function};
    graphs_write(&graphs, &out, say, &speaker);
    return graphs_end(&graphs, &out, command, err);
}

static const struct option options[] = {
    {"format", OPTION_CHOICE, "direct", .choices = "direct|reverse", .help = "\"Bolu 's son 's wife is\" or \"The wife of Bolu 's son is\""},
    {"phrases", OPTION_FLAG, NULL, .help = "facts also as phrases, \"Bolu 's son\", answered at the relation"},
    GRAPH_OPTIONS,
    GENERATOR_OPTIONS,
    {0},
};

const struct generator generator_language = {
    .name = "language", .help = "the questions of khop in words: \"Bolu 's son 's wife is\"", .options = options,
    .example = "--format reverse --entities 6 --relations 4 --out-degree 3 --train 30 --test 10 --seed 1", .make = make, .hops = read_back,
};
