/* bridge: is the bridge entity decodable from the state, and is the state aligned with its embedding?
 *
 * P(bridge) = softmax(decode(h.k[p]))[b] and cos(h.k[p], W[b]) at each bridge position p. Source: DiscoLoop, arXiv 2607.00341, table 1b.
 */
#include "driver.h"

#include "measures.h"

#include <math.h>

static const struct option options[] = {
    PROBE_OPTIONS,
    {"boundary", OPTION_INT, "1", .low = -1, .high = 64, .help = "after which loop; -1: at every boundary"},
    {0},
};

static const struct finding_column columns[] = {
    {"boundary", FIND_KEY, "%.0f", false}, {"position", FIND_KEY, "%.0f", false}, {"p_bridge", FIND_MEAN, "%.3f", false},
    {"cosine", FIND_MEAN, "%.3f", false},  {"bridge", FIND_DETAIL, NULL, true},   {"decoded", FIND_DETAIL, NULL, true},
    {0},
};

static void measure_boundary(struct shard *shard, int k, struct findings *findings)
{
    struct run *run = shard->run;
    for (int q = 0; q < shard->count; q++)
        for (int b = 0; b < shard->questions[q].bridge_count; b++) {
            struct bridge bridge = shard->questions[q].bridges[b];
            int row = run->states[k]->places->index[run->batch->start[q] + bridge.position];
            struct tensor *h = run_rows(run, run->states[k], &row, 1), *logits = run_decode(run, h, k);
            double p = logits_p(logits->data, logits->cols, bridge.token);
            double cosine = token_cosine(run, h->data, bridge.token);
            findings_add(findings, shard->first + (size_t)q,
                         (double[]){k, bridge.position, p, cosine, bridge.token, row_argmax(logits->data, logits->cols)});
        }
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    int k = (int)args_int(args, "boundary");
    if (k > shard->run->loops) return err_set(shard->err, "--boundary %d: the model runs %d loops", k, shard->run->loops);
    for (int i = k < 0 ? 0 : k; i <= (k < 0 ? shard->run->loops : k); i++) measure_boundary(shard, i, findings);
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
