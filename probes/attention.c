/* attention: what each head of each loop looks at: the weight of every key for every query, and how it changes from loop to loop.
 *
 * The weights are those at the sites *.attn.pattern. Blocks before the loops (a prelude, an encoder) stand under loop 0, those behind them
 * (a coda) under loop K + 1. change is the weight minus that of the same block, head, query and key one loop before.
 */
#include "driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    PROBE_OPTIONS,
    {"loop", OPTION_INT, "-1", .low = -1, .high = 65, .help = "only this loop; -1: all"},
    {"block", OPTION_INT, "-1", .low = -1, .high = 4096, .help = "only this block of the stack; -1: all"},
    {"head", OPTION_INT, "-1", .low = -1, .high = 4096, .help = "only this head, from 0; -1: all"},
    {0},
};

static const struct finding_column columns[] = {
    {"loop", FIND_KEY, "%.0f", false},      {"block", FIND_KEY, "%.0f", false},     {"head", FIND_KEY, "%.0f", false},
    {"query", FIND_KEY, "%.0f", false},     {"key", FIND_KEY, "%.0f", false},       {"weight", FIND_MEAN, "%.3f", false},
    {"change", FIND_CHANGE, "%.3f", false},   {"query_token", FIND_DETAIL, NULL, true}, {"key_token", FIND_DETAIL, NULL, true},
    {0},
};

/* The patterns of a run, as they were computed. */
struct pattern { int loop, block; const struct tensor *weights; };
struct patterns {
    struct pattern *items;
    int count, room;
    struct run *run;
};

static bool read_name(const char *site, int loops, int *loop, int *block)
{
    if (!text_ends(site, ".attn.pattern")) return false;
    if (sscanf(site, "loop.%d.block.%d", loop, block) == 2) return true;
    *loop = text_starts(site, "coda.") ? loops + 1 : 0;
    return sscanf(site, "%*[a-z].%d", block) == 1;
}

static void note(void *self, const char *site, const struct tensor *value)
{
    struct patterns *me = self;
    struct pattern pattern = {.weights = value};
    if (!read_name(site, me->run->loops, &pattern.loop, &pattern.block)) return;
    if (me->count == me->room) {
        struct pattern *more = arena_new(me->run->tape->arena, sizeof *more * (size_t)(2 * me->room));
        memcpy(more, me->items, sizeof *more * (size_t)me->count);
        me->items = more, me->room *= 2;
    }
    me->items[me->count++] = pattern;
}

/* What the run computes has to stay until it is measured. */
static bool setup(const struct args *args, struct shard *shard)
{
    enum { FIRST_ROOM = 32 };
    struct patterns *patterns = arena_zero(shard->arena, sizeof *patterns);
    patterns->items = arena_new(shard->arena, sizeof *patterns->items * FIRST_ROOM);
    patterns->room = FIRST_ROOM, patterns->run = shard->run;
    shard->run->hold = true;
    shard->run->visit = note, shard->run->visitor = patterns;
    long loop = args_int(args, "loop");
    if (loop > shard->run->loops + 1) return err_set(shard->err, "--loop %ld: the model runs %d", loop, shard->run->loops);
    return true;
}

/* Keys that a query sees: those up to it, as far as a window goes. The pattern's size says how far. */
static int window_of(const struct pattern *pattern)
{
    const struct places *places = pattern->weights->places;
    for (int window = 1;; window++) {
        int total = 0, longest = 0;
        for (int i = 0; i < places->count; i++) {
            int seen = places->position[i] + 1;
            total += seen < window ? seen : window;
            if (seen > longest) longest = seen;
        }
        if (total == pattern->weights->cols || window >= longest) return window;
    }
}

static const struct pattern *one_loop_before(const struct patterns *me, const struct pattern *pattern)
{
    if (pattern->loop > me->run->loops) return NULL; /* a coda's blocks are others */
    for (int i = 0; i < me->count; i++)
        if (me->items[i].block == pattern->block && me->items[i].loop == pattern->loop - 1 && pattern->loop > 1 &&
            pattern->weights->cols == me->items[i].weights->cols) return &me->items[i];
    return NULL;
}

static bool chosen(const struct args *args, const char *name, int value) { return args_int(args, name) < 0 || args_int(args, name) == value; }

static void measure_query(const struct args *args, struct shard *shard, const struct pattern *pattern, const struct pattern *before, int i,
                          int first, int seen,
                          struct findings *findings)
{
    const struct places *places = pattern->weights->places;
    const struct batch *batch = shard->run->batch;
    int query = places->position[i], start = places->at[i] - query, heads = pattern->weights->rows;
    for (int h = 0; h < heads; h++) {
        if (!chosen(args, "head", h)) continue;
        size_t at = (size_t)first * (size_t)heads + (size_t)(h * seen);
        for (int j = 0; j < seen; j++) {
            int key = query + 1 - seen + j;
            double weight = pattern->weights->data[at + (size_t)j], change = before ? weight - (double)before->weights->data[at + (size_t)j] : NAN;
            findings_add(findings, shard->first + (size_t)batch->row[places->at[i]],
                         (double[]){pattern->loop, pattern->block, h, query, key, weight, change, batch->tokens[start + query],
                                    batch->tokens[start + key]});
        }
    }
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    const struct patterns *me = shard->run->visitor;
    if (!me->count) return err_set(shard->err, "%s: no site of this model is an attention pattern", text_show(shard->run->model->name));
    for (int n = 0; n < me->count; n++) {
        const struct pattern *pattern = &me->items[n];
        if (!chosen(args, "loop", pattern->loop) || !chosen(args, "block", pattern->block)) continue;
        const struct pattern *before = one_loop_before(me, pattern);
        int window = window_of(pattern), first = 0;
        for (int i = 0; i < pattern->weights->places->count; i++) {
            int seen = pattern->weights->places->position[i] + 1;
            if (seen > window) seen = window;
            measure_query(args, shard, pattern, before, i, first, seen, findings);
            first += seen;
        }
    }
    return true;
}

const struct probe probe_attention = {
    .command = {
        .name = "attention", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "the weight of every key for every query, in each loop, block and head, and its change",
        .more = "Of one question with --row; over splits the weights are means of the questions that have such positions, without those whose weight "
                "is not finite: undefined counts them. Blocks before the loops stand under loop 0, those behind them under loop K + 1.",
        .example = "attention models/vanilla --row test_ood:17",
    },
    .columns = columns,
    .undefined = "undefined",
    .setup = setup,
    .measure = measure,
};
