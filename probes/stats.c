/* stats: what stands at a site: length, mean, spread and extremes of its numbers at each position, and how it lies to the embeddings of the token
 * that was read there and of the bridge.
 *
 * Any site will do whose rows are positions: boundary states, blocks, attention and MLP outputs ("sites" lists them). Cosines are those of rows as
 * wide as an embedding.
 */
#include "driver.h"
#include "measures.h"

#include <math.h>
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

struct watch {
    struct edit_handler base; /* the driver sums up what its handlers wrote: nothing */
    const struct tensor *value;
    int seen;
};

static void fire(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct watch *me = (struct watch *)base;
    (void)run, (void)site;
    me->value = value; /* edits at the same site change it where it is */
    me->seen++;
}

static bool setup(const struct args *args, struct shard *shard)
{
    struct watch *watch = arena_zero(shard->arena, sizeof *watch);
    const char *site = args_text(args, "site");
    watch->base.handler.pattern = site ? site : model_by_token(shard->run->model) ? "s.1" : "h.1";
    watch->base.handler.fire = fire;
    shard->run->hold = true; /* what the run computes has to stay until it is measured */
    run_attach(shard->run, &watch->base.handler);
    return true;
}

static void add_row(const struct shard *shard, const float *x, int size, int place, struct findings *findings)
{
    struct run *run = shard->run;
    int row = run->batch->row[place], position = run->batch->position[place];
    const struct question *question = &shard->questions[row];
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, bridge = NAN;
    for (int i = 0; i < size; i++) sum += (double)x[i];
    for (int i = 0; i < size; i++) {
        squares += ((double)x[i] - sum / size) * ((double)x[i] - sum / size);
        least = fmin(least, (double)x[i]), most = fmax(most, (double)x[i]);
    }
    bool wide = size == run->model->table->cols, finite = isfinite(sum);
    for (int b = 0; wide && b < question->bridge_count; b++)
        if (question->bridges[b].position == position) bridge = token_cosine(run, x, question->bridges[b].token);
    double own = wide ? token_cosine(run, x, run->batch->tokens[place]) : NAN;
    findings_add(findings, shard->first + (size_t)row, (double[]){position, vector_norm(x, size), finite ? sum / size : NAN, sqrt(squares / size),
                                                                  finite ? least : NAN, finite ? most : NAN, own, bridge});
}

static bool measure(const struct args *args, struct shard *shard, struct findings *findings)
{
    const struct watch *me = (const struct watch *)shard->run->handlers[0];
    const char *pattern = me->base.handler.pattern;
    (void)args;
    if (me->seen > 1) return err_set(shard->err, "--site %s: %d sites are called so: give the name of one", text_show(pattern), me->seen);
    const struct tensor *value = me->value;
    if (!value->places || value->places->count != value->rows)
        return err_set(shard->err, "--site %s: its rows are no positions (the weights of attention: see loopscope attention)", text_show(pattern));
    for (int i = 0; i < value->rows; i++)
        add_row(shard, value->data + (size_t)i * (size_t)value->cols, value->cols, value->places->at[i], findings);
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
