/* ratio: tokens are decoded one at a time with kept caches by one model and replayed in one pass by another (or the same): P(token) of both, token by
 * token. With equal weights the ratio is 1; what is off is the arithmetic, or, with two models, what training changed since the tokens were decoded.
 */
#include "doing/command.h"
#include "numbers/blas.h"
#include "tokens.h"

#include <math.h>

static const struct option options[] = {
    {"tokens", OPTION_TEXT, NULL, .help = "one sequence as token ids, for instance \"3 17 4\"; default: random ones", .placeholder = "'ID ID ...'"},
    {"rows", OPTION_INT, "2", .low = 1, .high = 1024, .help = "random sequences"},
    {"length", OPTION_INT, "16", .low = 2, .high = 4096, .help = "tokens of each"},
    {"seed", OPTION_INT, "0", .help = "of the random tokens"},
    {0},
};

static struct batch *typed_batch(const char *text, const struct model *model, struct arena *arena, struct err *err)
{
    char **words;
    size_t count;
    if (!words_split(text, &words, &count, err)) return NULL;
    int *tokens = arena_new(arena, sizeof *tokens * (count + 1)), length = (int)count;
    bool ok = count > 1 || err_set(err, "--tokens: give at least two token ids: the first is predicted by nothing");
    for (size_t i = 0; ok && i < count; i++) {
        long id;
        ok = (parse_int(words[i], &id) && id >= 0 && id < model->vocab_size) ||
             err_set(err, "--tokens: '%s' is no token id: 0 to %d", text_show(words[i]), model->vocab_size - 1);
        if (ok) tokens[i] = (int)id;
    }
    words_free(words, count);
    return ok ? batch_new(arena, 1, &length, (const int *const[]){tokens}) : NULL;
}

static struct batch *random_batch(const struct args *args, const struct model *model, struct arena *arena)
{
    int rows = (int)args_int(args, "rows"), length = (int)args_int(args, "length");
    struct rng rng = rng_start((uint64_t)args_int(args, "seed"), "ratio");
    int *lengths = arena_new(arena, sizeof *lengths * (size_t)rows), *tokens = arena_new(arena, sizeof *tokens * (size_t)rows * (size_t)length);
    const int **starts = arena_new(arena, sizeof *starts * (size_t)rows);
    for (int i = 0; i < rows * length; i++) tokens[i] = (int)rng_below(&rng, (uint64_t)model->vocab_size);
    for (int b = 0; b < rows; b++) lengths[b] = length, starts[b] = tokens + b * length;
    return batch_new(arena, rows, lengths, starts);
}

/* |s - s'| of the states behind the token before, which the prediction is read from. */
static double state_distance(const struct passage *a, const struct passage *b, int place)
{
    int t = a->batch->position[place], row = 0;
    for (int other = 0; other < a->batch->row[place]; other++) row += a->batch->start[other + 1] - a->batch->start[other] >= t;
    double sum = 0;
    for (int j = 0, d = a->states[t]->cols; j < d; j++) {
        double off = (double)a->states[t]->data[row * d + j] - (double)b->states[t]->data[row * d + j];
        sum += off * off;
    }
    return sqrt(sum);
}

static void show(const struct passage *decoded, const struct passage *replayed, bool same_width, struct sink *sink)
{
    const struct batch *batch = decoded->batch;
    for (int i = 0; i < batch->size; i++) {
        if (!batch->position[i]) continue;
        sink_row(sink, (struct cell[]){cell_number(batch->row[i]), cell_number(batch->position[i]), cell_number(batch->tokens[i]),
                                       cell_number(exp(decoded->logp[i])), cell_number(exp(replayed->logp[i])),
                                       cell_number(exp(replayed->logp[i] - decoded->logp[i])),
                                       cell_number(same_width ? state_distance(decoded, replayed, i) : NAN)});
    }
}

static void begin_table(struct session *session, const struct model *model, const struct model *other, struct sink *sink)
{
    struct table *table = table_new("ratio");
    table_column(table, "row", ROLE_AXIS, "%.0f");
    table_column(table, "position", ROLE_AXIS, "%.0f");
    table_column(table, "id", ROLE_COUNT, "%.0f");
    table_column(table, "p_decoded", ROLE_VALUE, "%.6g");
    table_column(table, "p_replayed", ROLE_VALUE, "%.6g");
    table_column(table, "ratio", ROLE_VALUE, "%.7f");
    table_column(table, "state_distance", ROLE_VALUE, "%.2e");
    command_provenance(session, table);
    table_fact(table, "decoded_by", "%s", model->path);
    table_fact(table, "decoded_by_sha256", "%s", model_hash(model));
    table_fact(table, "replayed_by", "%s", other->path);
    table_fact(table, "replayed_by_sha256", "%s", model_hash(other));
    sink_table(sink, table);
    table_free(table);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    const char *text = args_text(args, "tokens");
    const struct model *model = session_model(session, args_word(args, 0), sink, err);
    const struct model *other = model && args_word(args, 1) ? session_model(session, args_word(args, 1), sink, err) : model;
    if (!model || !other || !blas_check(err)) return false;
    if (!model_by_token(model) || !model_by_token(other))
        return err_set(err, "%s: its boundary is the loop: only families that hand a state from token to token keep caches (rlt)",
                       model_by_token(model) ? other->path : model->path);
    if (model->vocab_size != other->vocab_size)
        return err_set(err, "%s knows %d tokens, %s %d: both have to read the same tokens", model->path, model->vocab_size, other->path,
                       other->vocab_size);
    struct arena arena = {0};
    struct passage *decoded = arena_zero(&arena, sizeof *decoded), *replayed = arena_zero(&arena, sizeof *replayed);
    struct batch *batch = text ? typed_batch(text, model, &arena, err) : random_batch(args, model, &arena);
    bool ok = batch && tokens_incremental(decoded, model, batch, NULL, &arena, err) && tokens_prefill(replayed, other, batch, &arena, err);
    if (ok) {
        begin_table(session, model, other, sink);
        show(decoded, replayed, model->width == other->width, sink);
    }
    arena_clear(&arena);
    return ok;
}

const struct command command_ratio = {
    .name = "ratio",
    .words = "MODEL [OTHER]",
    .least = 1,
    .most = 2,
    .help = "replay check: P(token) decoded one at a time by MODEL against one pass of OTHER (or MODEL again)",
    .more = "For models whose boundary is the token. ratio = p_replayed / p_decoded, 1 at equal weights; state_distance is between the states that "
            "the two predictions are read from.",
    .options = options,
    .example = "ratio tests/golden/rlt_grad --length 9",
    .run = run,
};
