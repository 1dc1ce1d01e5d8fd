/* mix: the paper's intervention, h <- (1-a) h + a Norm(W[b]) with b = argmax decode(h), and its controls.
 *
 * Source: DiscoLoop, arXiv 2607.00341; Norm is undefined there, so its kind is an option. alpha = 0 leaves every bit as it was; alpha = 1 with the
 * rule "mix" leaves exactly Norm(W[b]).
 */
#include "edit.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"position", OPTION_TEXT, "1", .help = "where in the row: a number (negative: from the end), bridge or answer"},
    {"alpha", OPTION_NUMBER, "0.5", .low = 0, .high = 1, .help = "weight of the embedding"},
    {"norm", OPTION_CHOICE, "rms", .choices = "rms|match|l2|none", .help = "length of the embedding: root mean square 1, that of h, 1, or as stored"},
    {"rule", OPTION_CHOICE, "mix", .choices = "mix|add", .help = "(1-a) h + a e, or h + a e"},
    {"target", OPTION_CHOICE, "decoded", .choices = "decoded|second|oracle|input|random|noise|soft",
     .help = "whose embedding: the decoded token, the second best, the true bridge, the position's own token, a random token; a random direction; "
             "the softmax mixture"},
    {"seed", OPTION_INT, "0", .help = "of the random targets"},
    {0},
};

static bool decodes(const struct args *args)
{
    const char *target = args_text(args, "target");
    return strcmp(target, "oracle") && strcmp(target, "input") && strcmp(target, "random");
}

static int second_best(const float *row, int n)
{
    int best = row_argmax(row, n), second = -1;
    for (int i = 0; best >= 0 && i < n; i++)
        if (i != best && (second < 0 || row[i] > row[second])) second = i;
    return second;
}

static int oracle(const struct question *question, int position)
{
    for (int b = 0; b < question->bridge_count; b++)
        if (question->bridges[b].position == position) return question->bridges[b].token;
    return position == question->answer_position ? question->answer : -1;
}

/* The token whose embedding is mixed in for row i; -1: none. */
static int choose(const struct operation *op, const char *target, int i)
{
    int v = op->run->model->vocab_size;
    const float *logits = op->decoded ? op->decoded->logits + (size_t)i * (size_t)v : NULL;
    if (!strcmp(target, "input")) return op->questions[i]->tokens[op->positions[i]];
    if (!strcmp(target, "oracle")) return oracle(op->questions[i], op->positions[i]);
    if (!strcmp(target, "second")) return second_best(logits, v);
    if (strcmp(target, "random")) return row_argmax(logits, v);
    struct rng rng = rng_start((uint64_t)args_int(op->args, "seed") * 1000003u + op->number[i] * 64u + (uint64_t)op->positions[i], "random token");
    return (int)rng_below(&rng, (uint64_t)v);
}

static double length(const float *x, int d)
{
    double sum = 0;
    for (int j = 0; j < d; j++) sum += (double)x[j] * (double)x[j];
    return sqrt(sum);
}

static void scale_to(float *e, int d, const char *norm, const float *h, double eps)
{
    double size = length(e, d), by = 1;
    if (!strcmp(norm, "rms")) by = 1 / sqrt(size * size / d + eps);
    else if (!strcmp(norm, "match")) by = size > 0 ? length(h, d) / size : 0;
    else if (!strcmp(norm, "l2")) by = size > 0 ? 1 / size : 0;
    for (int j = 0; j < d; j++) e[j] = (float)(e[j] * by);
}

/* A direction of the same length as e that means nothing. */
static void make_noise(const struct operation *op, int i, float *e, int d)
{
    double size = length(e, d);
    struct rng rng = rng_start((uint64_t)args_int(op->args, "seed") * 1000003u + op->number[i] * 64u + (uint64_t)op->positions[i], "noise");
    for (int j = 0; j < d; j++) e[j] = (float)rng_normal(&rng);
    double other = length(e, d);
    for (int j = 0; j < d; j++) e[j] = (float)(e[j] * (other > 0 ? size / other : 0));
}

static void read_row(const struct weight *table, int token, float *row)
{
    size_t d = (size_t)table->cols;
    dtype_widen(table->dtype, (const char *)table->data + (size_t)token * d * dtype_size(table->dtype), row, d);
}

/* Of all rows. The table is read token by token: a large one is never widened as a whole. */
static const float *soft_mixtures(const struct operation *op)
{
    if (op->decoded->mixture) return op->decoded->mixture;
    const struct weight *table = op->run->model->table;
    struct arena *arena = op->run->tape->arena;
    size_t d = (size_t)table->cols, v = (size_t)table->rows, n = (size_t)op->count;
    float *all = arena_zero(arena, sizeof *all * n * d);
    struct arena_mark mark = arena_mark(arena);
    float *p = arena_new(arena, sizeof *p * n * v), *row = arena_new(arena, sizeof *row * d);
    for (size_t i = 0; i < n; i++) row_softmax(op->decoded->logits + i * v, p + i * v, (int)v, 1);
    for (size_t t = 0; t < v; t++) {
        read_row(table, (int)t, row);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < d; j++) all[i * d + j] += p[i * v + t] * row[j];
    }
    arena_release(arena, mark);
    return op->decoded->mixture = all;
}

static void apply(struct operation *op)
{
    const struct model *model = op->run->model;
    const struct weight *table = model->table;
    const char *target = args_text(op->args, "target"), *norm = args_text(op->args, "norm");
    bool add = !strcmp(args_text(op->args, "rule"), "add");
    float alpha = (float)args_number(op->args, "alpha");
    int d = model->width;
    float *e = arena_new(op->run->tape->arena, sizeof(float) * (size_t)d);
    const float *soft = !strcmp(target, "soft") && alpha != 0 && op->count ? soft_mixtures(op) : NULL;
    for (int i = 0; i < op->count; i++) {
        float *h = op->state + (size_t)i * (size_t)d;
        int token = choose(op, target, i);
        if (token < 0) {
            op->skipped++;
            continue;
        }
        op->fired++;
        if (alpha == 0) continue; /* not a bit may change */
        if (soft) memcpy(e, soft + (size_t)i * (size_t)d, sizeof(float) * (size_t)d);
        else read_row(table, token, e);
        scale_to(e, d, norm, op->original + (size_t)i * (size_t)d, model->eps);
        if (!strcmp(target, "noise")) make_noise(op, i, e, d);
        float stay = add ? 1 : 1 - alpha;
        if (stay == 0) memcpy(h, e, sizeof(float) * (size_t)d);
        else for (int j = 0; j < d; j++) h[j] = stay * h[j] + alpha * e[j];
    }
}

const struct intervention intervention_mix = {
    .name = "mix",
    .help = "h <- (1-a) h + a Norm(W[token]): the decoded token's embedding mixed back in, or a control",
    .options = options,
    .example = "position=1,alpha=0.5,norm=rms",
    .decodes = decodes,
    .apply = apply,
};
