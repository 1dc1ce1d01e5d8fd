/* eval: accuracy by split and stage. Stage k is the decode of h.k at the answer position; the last stage is the model's answer. */
#include "driver.h"
#include "numbers/kernel.h"

#include <math.h>

static const struct option options[] = {PROBE_OPTIONS, {0}};

static const struct finding_column columns[] = {
    {"stage", FIND_KEY, "%.0f", false},
    {"accuracy", FIND_RATE, "%.3f", false},
    {"decoded", FIND_DETAIL, NULL, true},
    {0},
};

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    struct run *run = shard->run;
    (void)args;
    for (int k = 1; k <= run->loops; k++) {
        struct tensor *h = run->states[k];
        int *rows = arena_new(shard->arena, sizeof *rows * (size_t)shard->count);
        for (int q = 0; q < shard->count; q++) rows[q] = h->places->index[shard->answers[q]];
        struct tensor *logits = k == run->loops ? run->logits : run_decode(run, run_rows(run, h, rows, shard->count), k);
        for (int q = 0; q < shard->count; q++) {
            int best = row_argmax(logits->data + (size_t)q * (size_t)logits->cols, logits->cols);
            int answer = shard->questions[q].answer; /* -1: a typed question that nobody knows the answer of */
            findings_add(findings, shard->first + (size_t)q, (double[]){k, best < 0 || answer < 0 ? NAN : best == answer, best});
        }
    }
    return true;
}

const struct probe probe_eval = {
    .command = {
        .name = "eval", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "accuracy by split and stage, with Wilson 95 % intervals",
        .more = "Stage k decodes the state after loop k at the answer position; the last stage is the model's answer.",
        .example = "eval models/vanilla",
    },
    .columns = columns,
    .setup = want_answers,
    .measure = measure,
};
