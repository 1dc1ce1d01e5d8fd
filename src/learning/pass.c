#include "learning/pass.h"

#include "ground/clock.h"
#include "numbers/kernel.h"

#include <stdlib.h>
#include <string.h>

struct work {
    struct pass *pass;
    int from;             /* first shard of this round */
    struct arena *arenas; /* one a thread */
    struct err *errs;     /* one a shard of the round */
    bool *failed;
};

int pass_shards(const struct pass *pass) { return (int)((pass->count + PASS_ROWS - 1) / PASS_ROWS); }

struct batch *pass_batch(struct arena *arena, const struct question *questions, int count, bool shares, int *answers)
{
    int *lengths = arena_new(arena, sizeof *lengths * (size_t)count), *own = arena_new(arena, sizeof *own * (size_t)count);
    const int **tokens = arena_new(arena, sizeof *tokens * (size_t)count);
    for (int i = 0; i < count; i++) lengths[i] = questions[i].length, tokens[i] = questions[i].tokens, own[i] = questions[i].answer_position;
    struct batch *batch = shares ? batch_shared(arena, count, lengths, tokens, own) : batch_new(arena, count, lengths, tokens);
    for (int i = 0; i < count; i++) answers[i] = batch_place(batch, i, own[i]);
    return batch;
}

bool pass_fits(const struct model *model, const struct question *questions, size_t count, struct err *err)
{
    for (size_t i = 0; model->longest && i < count; i++)
        if (questions[i].length > model->longest)
            return err_set(err, "a question has %d tokens: the model %s has positions for %d", questions[i].length, model->name, model->longest);
    return true;
}

static void run_shard(void *job, int i, int thread)
{
    struct work *work = job;
    struct pass *pass = work->pass;
    struct arena *arena = &work->arenas[thread];
    if (pass->stop && *pass->stop) return;
    struct shard shard = {.index = work->from + i, .first = (size_t)(work->from + i) * PASS_ROWS, .arena = arena, .err = &work->errs[i]};
    arena_reset(arena);
    shard.count = (int)(pass->count - shard.first < PASS_ROWS ? pass->count - shard.first : PASS_ROWS);
    shard.questions = pass->questions + shard.first;
    struct tape tape = {.arena = arena, .pool = pass->pool ? NULL : pass->inner, .stop = pass->stop};
    struct run run;
    int *answers = arena_new(arena, sizeof *answers * (size_t)shard.count);
    run_init(&run, pass->model, &tape, pass_batch(arena, shard.questions, shard.count, pass->shares, answers));
    if (pass->loops) run.loops = pass->loops;
    shard.run = &run;
    shard.answers = answers;
    work->failed[i] = (pass->setup && !pass->setup(pass, &shard)) || !run_forward(&run, shard.err) || !pass->visit(pass, &shard);
}

/* Rounds are long enough to keep the threads busy, and short enough to show progress and to stop soon: they grow while they are quick. Which shards
 * run together makes no difference to what they give. */
enum { ROUND = 16 };
static const double round_seconds = 0.04;

static bool run_round(struct work *work, int round, struct err *err)
{
    struct pass *pass = work->pass;
    memset(work->failed, 0, sizeof *work->failed * ROUND);
    if (pass->pool) pool_run(pass->pool, round, run_shard, work);
    else for (int i = 0; i < round; i++) run_shard(work, i, 0);
    if (pass->stop && *pass->stop) return err_stop(err, "stopped");
    for (int i = 0; i < round; i++)
        if (work->failed[i]) return err_set(err, "%s", work->errs[i].text);
    size_t done = (size_t)(work->from + round) * PASS_ROWS;
    return !pass->go_on || pass->go_on(pass->self, done < pass->count ? done : pass->count) || err_stop(err, "stopped");
}

bool pass_run(struct pass *pass, struct err *err)
{
    int shards = pass_shards(pass), threads = pass->pool ? pool_threads(pass->pool) : 1, size = threads < ROUND ? threads : ROUND;
    struct work work = {.pass = pass, .arenas = mem_new(sizeof(struct arena) * (size_t)threads)};
    work.errs = mem_new(sizeof *work.errs * ROUND);
    work.failed = mem_new(sizeof *work.failed * ROUND);
    bool ok = true;
    while (ok && work.from < shards) {
        int round = shards - work.from < size ? shards - work.from : size;
        double began = clock_seconds();
        ok = run_round(&work, round, err);
        work.from += round;
        if (clock_seconds() - began < round_seconds) size = 2 * size < ROUND ? 2 * size : ROUND;
    }
    for (int t = 0; t < threads; t++) arena_clear(&work.arenas[t]);
    mem_free(work.arenas);
    mem_free(work.errs);
    mem_free(work.failed);
    return ok;
}

/* Stages read the state at the answer position alone. */
static bool count_stages(struct pass *pass, struct shard *shard)
{
    struct accuracy *mine = (struct accuracy *)pass->self + shard->index;
    struct run *run = shard->run;
    mine->n = shard->count;
    for (int k = 1; k <= run->loops; k++) {
        const struct places *places = run->states[k]->places;
        int *rows = arena_new(shard->arena, sizeof *rows * (size_t)shard->count);
        for (int q = 0; q < shard->count; q++) rows[q] = places->index[shard->answers[q]];
        struct tensor *h = k < run->loops ? run_rows(run, run->states[k], rows, shard->count) : NULL;
        struct tensor *logits = h ? run_decode(run, h, k) : run->logits;
        for (int q = 0; q < shard->count; q++) {
            int best = row_argmax(logits->data + (size_t)q * (size_t)logits->cols, logits->cols);
            mine->correct[k] += best == shard->questions[q].answer;
        }
    }
    return true;
}

static bool want_answers(struct pass *pass, struct shard *shard)
{
    (void)pass;
    shard->run->wanted = places_new(shard->arena, shard->run->batch, shard->count, shard->answers);
    return true;
}

static int compare_questions(const void *a, const void *b) { return question_compare(a, b); }

bool pass_accuracy(const struct model *model, struct pool *pool, const struct question *questions, size_t count, struct accuracy *accuracy,
                   struct err *err)
{
    struct question *sorted = mem_copy(questions, sizeof *questions * count); /* what begins alike comes into one shard */
    struct pass pass = {.model = model, .questions = sorted, .count = count, .pool = pool, .shares = !model_by_token(model),
                        .setup = want_answers, .visit = count_stages};
    qsort(sorted, count, sizeof *sorted, compare_questions);
    struct accuracy *shards = mem_new(sizeof *shards * (size_t)(pass_shards(&pass) + 1));
    pass.self = shards;
    *accuracy = (struct accuracy){0};
    bool ok = model->loops <= 64 ? pass_run(&pass, err) : err_set(err, "accuracies by stage are kept for up to 64 loops");
    for (int i = 0; ok && i < pass_shards(&pass); i++) {
        accuracy->n += shards[i].n;
        for (int k = 0; k <= model->loops; k++) accuracy->correct[k] += shards[i].correct[k];
    }
    mem_free(shards);
    mem_free(sorted);
    return ok;
}
