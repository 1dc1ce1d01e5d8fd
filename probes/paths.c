/* paths: how much of each parameter's gradient comes through one path between tokens: the state, the decoder's keys and values of earlier tokens, or
 * what the memory reads of the encoder. Each path is detached in turn (forward as it was, no gradient behind it) and the gradient compared with the
 * full one.
 */
#include "doing/command.h"
#include "models/run.h"
#include "numbers/blas.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"rows", OPTION_INT, "4", .low = 1, .high = 1024, .help = "sequences of random tokens"},
    {"length", OPTION_INT, "16", .low = 1, .high = 4096, .help = "tokens of each"},
    {"seed", OPTION_INT, "0", .help = "of the tokens and the targets"},
    {0},
};

enum { PATHS = 4 };
static const unsigned detached[PATHS] = {0, DETACH_STATE, DETACH_KEYS, DETACH_MEMORY};

struct question_set { struct batch *batch; int *last, *targets; float *weights; };

static struct question_set draw(const struct args *args, const struct model *model, struct arena *arena)
{
    int rows = (int)args_int(args, "rows"), length = (int)args_int(args, "length");
    struct rng rng = rng_start((uint64_t)args_int(args, "seed"), "paths");
    struct question_set set = {NULL, arena_new(arena, sizeof(int) * (size_t)rows), arena_new(arena, sizeof(int) * (size_t)rows),
                               arena_new(arena, sizeof(float) * (size_t)rows)};
    int *lengths = arena_new(arena, sizeof *lengths * (size_t)rows), *tokens = arena_new(arena, sizeof *tokens * (size_t)(rows * length));
    const int **starts = arena_new(arena, sizeof *starts * (size_t)rows);
    for (int i = 0; i < rows * length; i++) tokens[i] = (int)rng_below(&rng, (uint64_t)model->vocab_size);
    for (int b = 0; b < rows; b++) {
        lengths[b] = length, starts[b] = tokens + b * length;
        set.last[b] = (b + 1) * length - 1;
        set.targets[b] = (int)rng_below(&rng, (uint64_t)model->vocab_size);
        set.weights[b] = 1 / (float)rows;
    }
    set.batch = batch_new(arena, rows, lengths, starts);
    return set;
}

/* The gradient of the mean cross entropy at the last position, with some paths detached. */
static bool gradient(const struct model *model, const struct question_set *set, unsigned detach, float *grads, double *loss, struct err *err)
{
    struct arena arena = {0};
    struct tape tape = {.arena = &arena, .records = true, .grads = grads};
    struct run run;
    run_init(&run, model, &tape, set->batch);
    run.detach = detach;
    run.wanted = places_new(&arena, set->batch, set->batch->rows, set->last);
    struct tensor *logits = run_forward(&run, err);
    if (logits) {
        op_cross_entropy(&tape, logits, set->targets, set->weights, loss);
        tape_backward(&tape);
    }
    arena_clear(&arena);
    return logits != NULL;
}

static double size_of(const float *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)g[i] * (double)g[i];
    return sqrt(sum);
}

static double distance(const float *g, const float *other, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((double)g[i] - (double)other[i]) * ((double)g[i] - (double)other[i]);
    return sqrt(sum);
}

/* |g - g without the path| / |g|; NaN where there is no gradient at all. */
static void show(struct sink *sink, const char *name, size_t numbers, float *const grads[PATHS], size_t offset, size_t n)
{
    struct cell cells[2 + PATHS] = {cell_text(name), cell_number((double)numbers)};
    double full = size_of(grads[0] + offset, n);
    cells[2] = cell_number(full);
    for (int p = 1; p < PATHS; p++) cells[2 + p] = cell_number(full > 0 ? distance(grads[0] + offset, grads[p] + offset, n) / full : NAN);
    sink_row(sink, cells);
}

static void begin_table(struct session *session, const struct args *args, const struct model *model, double loss, struct sink *sink)
{
    struct table *table = table_new("paths");
    table_column(table, "tensor", ROLE_LABEL, NULL);
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "gradient", ROLE_VALUE, "%.3e");
    table_column(table, "state", ROLE_VALUE, "%.4f");
    table_column(table, "decoder_kv", ROLE_VALUE, "%.4f");
    table_column(table, "encoder_memory", ROLE_VALUE, "%.4f");
    command_provenance(session, table);
    table_fact(table, "model", "%s", session_brief(session, model->path));
    table_fact(table, "model_sha256", "%s", model_hash(model));
    table_fact(table, "tokens", "%ld x %ld random, seed %ld", args_int(args, "rows"), args_int(args, "length"), args_int(args, "seed"));
    table_fact(table, "loss", "%.6f", loss);
    sink_table(sink, table);
    table_free(table);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    const struct model *opened = session_model(session, args_word(args, 0), sink, err);
    if (!opened || !blas_check(err)) return false;
    if (!model_by_token(opened))
        return err_set(err, "%s: its boundary is the %s: paths between tokens are those of families that recur over tokens (rlt)", opened->path,
                       opened->family->boundary);
    struct model *model = model_trainable(opened, err);
    if (!model) return false;
    struct arena arena = {0};
    struct question_set set = draw(args, model, &arena);
    float *grads[PATHS];
    double loss[PATHS] = {0};
    bool ok = true;
    for (int p = 0; p < PATHS; p++) {
        grads[p] = mem_new(sizeof(float) * model->parameter_count);
        ok = ok && gradient(model, &set, detached[p], grads[p], &loss[p], err);
    }
    if (ok) {
        begin_table(session, args, opened, loss[0], sink);
        for (size_t i = 0; i < model->weight_count; i++) {
            const struct weight *w = model->weights[i];
            size_t n = (size_t)w->rows * (size_t)w->cols;
            show(sink, w->name, n, grads, w->offset, n);
        }
        show(sink, "all", model_numbers(model), grads, 0, model->parameter_count); /* the gaps are zero */
    }
    for (int p = 0; p < PATHS; p++) mem_free(grads[p]);
    arena_clear(&arena);
    model_free(model);
    return ok;
}

const struct command command_paths = {
    .name = "paths",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "how much of the gradient flows through the state, the decoder's keys and values, and the encoder memory",
    .more = "For models whose boundary is the token. A path is detached: the forward pass stays as it is, and no gradient flows through the state "
            "of the token before; through keys and values that the decoder made at earlier tokens; or from the memory into the encoder. The columns "
            "are |g - g detached| / |g|: 0, nothing came this way; 1, about everything did. The loss is the mean cross entropy of random targets "
            "at the last token.",
    .options = options,
    .example = "paths tests/golden/rlt_grad --length 9",
    .run = run,
};
