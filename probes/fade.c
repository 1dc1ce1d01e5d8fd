/* fade: how much of what an edit wrote is left at each later boundary.
 *
 * d = h.b edited - h.b plain is the written difference at boundary b and position p, e.k = h.k edited - h.k plain that at the same or a later
 * position. survives = <e.k, d> / <d, d> (1: all of it, unturned), ratio = |e.k| / |d|, cosine = survives / ratio. Where the edit acts all are 1.
 * With several edits the first one's difference is followed. */
#include "driver.h"
#include "measures.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {PROBE_OPTIONS, {0}};

static const struct finding_column columns[] = {
    {"boundary", FIND_KEY, "%.0f", false}, {"position", FIND_KEY, "%.0f", false}, {"survives", FIND_MEAN, "%.3f", false},
    {"ratio", FIND_MEAN, "%.3f", false},   {"cosine", FIND_MEAN, "%.3f", false},  {0},
};

static bool setup(const struct args *args, struct shard *shard)
{
    if (!args_at(args, "do", 0)) return err_set(shard->err, "fade follows an edit: give --do, for example --do mix@h.1:position=1,alpha=0.5");
    return true;
}

/* The same questions without the edits. */
static const struct run *plain_run(struct shard *shard)
{
    struct run *run = arena_zero(shard->arena, sizeof *run);
    run_init(run, shard->run->model, shard->run->tape, shard->run->batch);
    run->loops = shard->run->loops, run->seed = shard->run->seed, run->exit_threshold = shard->run->exit_threshold;
    return run_forward(run, shard->err) ? run : NULL;
}

/* Edited minus plain at a place and boundary; by token k becomes the place's own. False: no such state. */
static bool difference(const struct run *edited, const struct run *plain, int place, int *k, float *out)
{
    int other = *k, row = run_state_row(edited, place, k), same = run_state_row(plain, place, &other), d = edited->model->width;
    if (row < 0 || same < 0) return false;
    const float *a = edited->states[*k]->data + (size_t)row * (size_t)d, *b = plain->states[*k]->data + (size_t)same * (size_t)d;
    for (int j = 0; j < d; j++) out[j] = a[j] - b[j];
    return true;
}

static void follow(const struct shard *shard, const struct run *plain, int q, const struct edit *edit, float *written, float *left,
                   struct findings *findings)
{
    const struct run *run = shard->run;
    const struct question *question = &shard->questions[q];
    int start = run->batch->start[q], d = run->model->width, position = edit_place(edit, question), at = edit->boundary;
    bool by_token = model_by_token(run->model);
    if (position < 0 || !difference(run, plain, start + position, &at, written)) return;
    double size = vector_norm(written, d);
    for (int p = position; p < question->length; p++)
        for (int k = by_token ? p + 1 : edit->boundary; k <= (by_token ? p + 1 : run->loops); k++) {
            int here = k;
            if (!difference(run, plain, start + p, &here, left)) continue;
            double cosine = vector_cosine(left, written, d), ratio = size > 0 ? vector_norm(left, d) / size : NAN;
            double survives = ratio > 0 ? cosine * ratio : ratio; /* what did not arrive has no direction */
            findings_add(findings, shard->first + (size_t)q, (double[]){here, p, survives, ratio, cosine});
        }
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    const struct run *plain = plain_run(shard);
    const struct edit *edit = ((const struct edit_handler *)shard->run->handlers[0])->edit;
    size_t size = sizeof(float) * (size_t)shard->run->model->width;
    float *written = arena_new(shard->arena, size), *left = arena_new(shard->arena, size);
    (void)args;
    if (!plain) return false;
    for (int q = 0; q < shard->count; q++) follow(shard, plain, q, edit, written, left, findings);
    return true;
}

const struct probe probe_fade = {
    .command = {
        .name = "fade", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = probe_command,
        .help = "how much of what an edit wrote is left at each later boundary and position",
        .more = "survives: what is left along the written direction, as a part of it; ratio: length of the whole difference against the written "
                "one; cosine: of the two. Without any difference there is no direction: left out of the mean and counted.",
        .example = "fade models/vanilla --split test_id,test_ood --do mix@h.1:position=1,alpha=0.5",
    },
    .columns = columns,
    .undefined = "undefined",
    .setup = setup,
    .measure = measure,
};
