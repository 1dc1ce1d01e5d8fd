/* bridge: is the bridge entity decodable from the state, and is the state aligned with its embedding?
 *
 * P(bridge) = softmax(decode(h.k[p]))[b] and cos(h.k[p], W[b]) at each bridge position p. Source: DiscoLoop, arXiv 2607.00341, table 1b.
 */
#include "driver.h"

#include "measures.h"
#include "numbers/kernel.h"

#include <math.h>

static const struct option options[] = {
    PROBE_OPTIONS,
    {"boundary", OPTION_INT, "1", .low = -1, .high = 64, .help = "after which loop; -1: at every boundary; by token always the bridge's own"},
    {"position", OPTION_INT, "-1", .low = -1, .high = 1 << 20, .help = "look for the first bridge there; -1: for each where its hop ends"},
    {0},
};

static const struct finding_column columns[] = {
    {"boundary", FIND_KEY, "%.0f", false}, {"position", FIND_KEY, "%.0f", false}, {"p_bridge", FIND_MEAN, "%.3f", false},
    {"cosine", FIND_MEAN, "%.3f", false},  {"bridge", FIND_DETAIL, NULL, true},   {"decoded", FIND_DETAIL, NULL, true},
    {0},
};

/* Where bridge b is looked for; -1: nowhere. */
static int place_of(const struct question *q, int b, int position)
{
    if (position < 0) return q->bridges[b].position;
    return b == 0 && position < q->length ? position : -1;
}

/* The states h.k at all bridges of a shard, so that they are decoded at once: a decode with a coda reads whole sequences. */
static struct tensor *bridge_rows(struct shard *shard, int k, int position)
{
    struct run *run = shard->run;
    int size = run->batch->size, n = 0, *rows = arena_new(shard->arena, sizeof *rows * (size_t)(size + 1));
    bool *wanted = arena_zero(shard->arena, sizeof *wanted * (size_t)(size + 1));
    for (int q = 0; q < shard->count; q++)
        for (int b = 0; b < shard->questions[q].bridge_count; b++) {
            int place = place_of(&shard->questions[q], b, position);
            if (place >= 0) wanted[run->batch->start[q] + place] = true;
        }
    for (int i = 0; i < size; i++)
        if (wanted[i] && run->states[k]->places->index[i] >= 0) rows[n++] = run->states[k]->places->index[i];
    return run_rows(run, run->states[k], rows, n);
}

static void measure_boundary(struct shard *shard, int k, int position, struct findings *findings)
{
    struct run *run = shard->run;
    struct tensor *h = bridge_rows(shard, k, position);
    const struct places *places = h->places;
    if (!h->rows) return;
    const struct tensor *logits = run_decode(run, h, k);
    for (int q = 0; q < shard->count; q++)
        for (int b = 0; b < shard->questions[q].bridge_count; b++) {
            struct bridge bridge = {place_of(&shard->questions[q], b, position), shard->questions[q].bridges[b].token};
            int place = run->batch->start[q] + bridge.position;
            if (bridge.position < 0 || places->index[place] < 0) continue; /* by token a place has one state, the one behind it */
            size_t row = (size_t)places->index[place];
            const float *decoded = logits->data + row * (size_t)logits->cols;
            double p = logits_p(decoded, logits->cols, bridge.token);
            double cosine = token_cosine(run, h->data + row * (size_t)h->cols, bridge.token);
            findings_add(findings, shard->first + (size_t)q,
                         (double[]){k, bridge.position, p, cosine, bridge.token, row_argmax(decoded, logits->cols)});
        }
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    int k = (int)args_int(args, "boundary"), position = (int)args_int(args, "position");
    for (int t = 1; model_by_token(shard->run->model) && t <= run_boundaries(shard->run); t++) measure_boundary(shard, t, position, findings);
    if (model_by_token(shard->run->model)) return true;
    if (k > shard->run->loops) return err_set(shard->err, "--boundary %d: the model runs %d loops", k, shard->run->loops);
    for (int i = k < 0 ? 0 : k; i <= (k < 0 ? shard->run->loops : k); i++) measure_boundary(shard, i, position, findings);
    return true;
}

const struct probe probe_bridge = {
    .command = {
        .name = "bridge", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "P(bridge) and cosine with W[bridge] at the bridge position: decodable? aligned?",
        .more = "Rows without a bridge (atomic facts) take no part. A cosine with a zero vector is undefined: left out of the mean and counted.",
        .example = "bridge models/vanilla --split test_id,test_ood",
    },
    .columns = columns,
    .undefined = "undefined",
    .measure = measure,
};
