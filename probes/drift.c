/* drift: how far has the state at every position moved away from the embedding of its own token, and from that of the token it decodes to?
 *
 * cos(h.k[p], W[token p]), P(token p) = softmax(decode(h.k[p]))[token p], and cos(h.k[p], W[argmax decode(h.k[p])]). In h.0 of a model that begins
 * with the embedding the first is 1.
 */
#include "driver.h"

#include "measures.h"
#include "numbers/kernel.h"

#include <math.h>

static const struct option options[] = {
    PROBE_OPTIONS,
    {"boundary", OPTION_INT, "1", .low = -1, .high = 64, .help = "after which loop; -1: at every boundary from 0 on"},
    {0},
};

static const struct finding_column columns[] = {
    {"boundary", FIND_KEY, "%.0f", false}, {"position", FIND_KEY, "%.0f", false},       {"cosine", FIND_MEAN, "%.3f", false},
    {"p_token", FIND_MEAN, "%.3f", false}, {"cosine_decoded", FIND_MEAN, "%.3f", false}, {"token", FIND_DETAIL, NULL, true},
    {"decoded", FIND_DETAIL, NULL, true},  {0},
};

/* All positions of the states before the last: the last block would leave only the answers. */
static bool setup(const struct args *args, struct shard *shard)
{
    long k = args_int(args, "boundary");
    if (k > shard->run->loops) return err_set(shard->err, "--boundary %ld: the last one is %d", k, shard->run->loops);
    return true;
}

static void measure_boundary(struct shard *shard, int k, struct findings *findings)
{
    struct run *run = shard->run;
    struct tensor *h = run->states[k];
    const struct tensor *logits = run_decode(run, h, k);
    for (int q = 0; q < shard->count; q++)
        for (int p = 0; p < shard->questions[q].length; p++) {
            int row = h->places->index[run->batch->start[q] + p], token = shard->questions[q].tokens[p];
            if (row < 0) continue;
            const float *state = h->data + (size_t)row * (size_t)h->cols, *decoded = logits->data + (size_t)row * (size_t)logits->cols;
            int best = row_argmax(decoded, logits->cols);
            findings_add(findings, shard->first + (size_t)q, (double[]){k, p, token_cosine(run, state, token), logits_p(decoded, logits->cols, token),
                                                                        best < 0 ? NAN : token_cosine(run, state, best), token, best});
        }
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    long only = args_int(args, "boundary");
    int last = run_boundaries(shard->run);
    for (int k = 0; k <= last; k++)
        if ((only < 0 || only == k) && shard->run->states[k]) measure_boundary(shard, k, findings);
    return true;
}

const struct probe probe_drift = {
    .command = {
        .name = "drift", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "how far the state at every position has left its own token's embedding",
        .more = "cosine: of h.k[p] with W[token p]; p_token: probability of that token in decode(h.k[p]); cosine_decoded: of h.k[p] with the "
                "embedding of the token it decodes to.",
        .example = "drift models/vanilla --split test_id,test_ood",
    },
    .columns = columns,
    .undefined = "undefined",
    .setup = setup,
    .measure = measure,
};
