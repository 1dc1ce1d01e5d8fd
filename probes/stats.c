/* stats: what stands at a site: length, mean, spread and extremes of its numbers at each position, and how it lies to the embeddings of the token
 * that was read there and of the bridge.
 *
 * Any site will do whose rows are positions: boundary states, blocks, attention and MLP outputs ("sites" lists them). Cosines are those of rows as
 * wide as an embedding.
 */
#include "driver.h"
#include "measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    PROBE_OPTIONS,
    {"site", OPTION_TEXT, NULL, .help = "which one; default: h.1, by token s.1", .placeholder = "SITE"},
    {0},
};

static const struct finding_column columns[] = {
    {"position", FIND_KEY, "%.0f", false}, {"length", FIND_MEAN, "%.3f", false}, {"mean", FIND_MEAN, "%.3f", false},
    {"sd", FIND_MEAN, "%.3f", false},      {"least", FIND_MEAN, "%.3f", false},  {"most", FIND_MEAN, "%.3f", false},
    {"cosine_input", FIND_CHANGE, "%.3f", false}, {"cosine_bridge", FIND_CHANGE, "%.3f", false},
    {0},
};

enum { NUMBERS = 8 };

/* What is measured is measured at once: what a run computes in between does not stay. */
struct watch {
    struct handler handler;
    const struct shard *shard;
    double (*rows)[NUMBERS];  /* [tokens of the batch] */
    int *questions, count, seen;
    bool positions;           /* its rows are such */
};

static void measure_row(struct run *run, const struct question *question, const float *x, int size, int place, double out[NUMBERS])
{
    int position = run->batch->position[place];
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, bridge = NAN;
    bool wide = size == run->model->table->cols;
    for (int i = 0; i < size; i++) sum += (double)x[i];
    for (int i = 0; i < size; i++) {
        squares += ((double)x[i] - sum / size) * ((double)x[i] - sum / size);
        least = fmin(least, (double)x[i]), most = fmax(most, (double)x[i]);
    }
    if (!isfinite(sum)) sum = least = most = NAN;
    for (int b = 0; wide && b < question->bridge_count; b++)
        if (question->bridges[b].position == position) bridge = token_cosine(run, x, question->bridges[b].token);
    double own = wide ? token_cosine(run, x, run->batch->tokens[place]) : NAN;
    const double numbers[NUMBERS] = {position, vector_norm(x, size), sum / size, sqrt(squares / size), least, most, own, bridge};
    memcpy(out, numbers, sizeof numbers);
}

/* The places of a value's rows; by token, where it has none of its own, those of the sequences that have such a token. NULL: they are no places. */
static const struct places *places_of(struct run *run, const char *site, const struct tensor *value)
{
    const struct batch *batch = run->batch;
    int t, n = 0, *at = arena_new(run->tape->arena, sizeof *at * (size_t)(batch->rows + 1));
    if (value->places) return value->places->count == value->rows ? value->places : NULL;
    if (!model_by_token(run->model) || sscanf(site, "token.%d.", &t) != 1) return NULL;
    for (int r = 0; r < batch->rows; r++)
        if (batch->start[r + 1] - batch->start[r] > t) at[n++] = batch->start[r] + t;
    return n == value->rows ? places_new(run->tape->arena, batch, n, at) : NULL;
}

static void fire(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct watch *me = (struct watch *)base;
    const struct places *places = places_of(run, site, value);
    me->positions = places;
    for (int i = 0; places && !me->seen && i < value->rows; i++) {
        int place = places->at[i], question = run->batch->row[place];
        me->questions[me->count] = question;
        measure_row(run, &me->shard->questions[question], value->data + (size_t)i * (size_t)value->cols, value->cols, place, me->rows[me->count++]);
    }
    me->seen++;
}

static bool setup(const struct args *args, struct shard *shard)
{
    struct watch *watch = arena_zero(shard->arena, sizeof *watch);
    const char *site = args_text(args, "site");
    size_t most = (size_t)shard->run->batch->size;
    watch->shard = shard;
    watch->rows = arena_new(shard->arena, sizeof *watch->rows * (most + 1));
    watch->questions = arena_new(shard->arena, sizeof *watch->questions * (most + 1));
    watch->handler.pattern = site ? site : model_by_token(shard->run->model) ? "s.1" : "h.1";
    watch->handler.fire = fire;
    run_attach(shard->run, &watch->handler);
    return true;
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    const struct watch *me = (const struct watch *)shard->run->handlers[shard->run->handler_count - 1]; /* the edits stand before it */
    const char *pattern = me->handler.pattern;
    (void)args;
    if (me->seen > 1) return err_set(shard->err, "--site %s: %d sites are called so: give the name of one", text_show(pattern), me->seen);
    if (!me->positions)
        return err_set(shard->err, "--site %s: its rows are no positions%s", text_show(pattern),
                       text_ends(pattern, "pattern") ? ": loopscope attention shows weights" : "");
    for (int i = 0; i < me->count; i++) findings_add(findings, shard->first + (size_t)me->questions[i], me->rows[i]);
    return true;
}

const struct probe probe_stats = {
    .command = {
        .name = "stats", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "what stands at any site: length, mean, spread, extremes, and cosines with embeddings",
        .more = "Means over the questions that have such a position. sd, least and most are of the numbers of one row. cosine_input is that with the "
                "embedding of the token read there, cosine_bridge that with the bridge, where one stands. Numbers that are not finite are left out "
                "and counted.",
        .example = "stats models/vanilla --site loop.1.block.0.out --split test_ood",
    },
    .columns = columns,
    .undefined = "undefined",
    .setup = setup,
    .measure = measure,
};
