/* mix: the paper's intervention, h <- (1-a) h + a Norm(W[b]) with b = argmax decode(h), and its controls.
 *
 * Source: DiscoLoop, arXiv 2607.00341; Norm is undefined there, so its kind is an option. alpha = 0 leaves every bit as it was; alpha = 1 with the
 * rule "mix" leaves exactly Norm(W[b]).
 */
#include "edit.h"

#include "numbers/blas.h"
#include "numbers/kernel.h"

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

/* Directions that mean nothing, of all rows. */
static const float *make_noise(const struct operation *op)
{
    struct decoded *decoded = op->decoded;
    long seed = args_int(op->args, "seed");
    size_t d = (size_t)op->run->model->width;
    if (decoded->noise && decoded->noise_seed == seed) return decoded->noise;
    float *all = arena_new(op->run->tape->arena, sizeof *all * (size_t)op->count * d);
    for (size_t i = 0; i < (size_t)op->count; i++) {
        struct rng rng = rng_start((uint64_t)seed * 1000003u + op->number[i] * 64u + (uint64_t)op->positions[i], "noise");
        for (size_t j = 0; j < d; j++) all[i * d + j] = (float)rng_normal(&rng);
    }
    decoded->noise_seed = seed;
    return decoded->noise = all;
}

/* e keeps its length and takes the direction of the noise. */
static void turn_to(const float *noise, float *e, int d)
{
    double size = length(e, d), other = length(noise, d);
    for (int j = 0; j < d; j++) e[j] = (float)(noise[j] * (other > 0 ? size / other : 0));
}

/* Of all rows. The table goes through in panels of tokens: a large one is never widened as a whole. */
static const float *make_mixtures(const struct operation *op)
{
    enum { PANEL = 1024 };
    if (op->decoded->mixture) return op->decoded->mixture;
    const struct weight *table = op->run->model->table;
    struct arena *arena = op->run->tape->arena;
    size_t d = (size_t)table->cols, v = (size_t)table->rows, n = (size_t)op->count;
    float *all = arena_zero(arena, sizeof *all * n * d);
    struct arena_mark mark = arena_mark(arena);
    float *p = arena_new(arena, sizeof *p * n * v), *some = arena_new(arena, sizeof *some * n * PANEL);
    float *wide = arena_new(arena, sizeof *wide * PANEL * d);
    for (size_t i = 0; i < n; i++) row_softmax(op->decoded->logits + i * v, p + i * v, (int)v, 1);
    for (size_t from = 0; from < v; from += PANEL) {
        size_t count = v - from < PANEL ? v - from : PANEL;
        for (size_t i = 0; i < n; i++) memcpy(some + i * count, p + i * v + from, sizeof *some * count);
        blas_nn((int)n, (int)d, (int)count, some, weight_panel(table, (int)from, (int)count, wide), 1, all);
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
    float *e = arena_new(op->run->tape->arena, sizeof(float) * (size_t)d), *wide = arena_new(op->run->tape->arena, sizeof(float) * (size_t)d);
    bool works = alpha != 0 && op->count;
    const float *soft = works && !strcmp(target, "soft") ? make_mixtures(op) : NULL;
    const float *noise = works && !strcmp(target, "noise") ? make_noise(op) : NULL;
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
        else memcpy(e, weight_panel(table, token, 1, wide), sizeof(float) * (size_t)d);
        scale_to(e, d, norm, op->original + (size_t)i * (size_t)d, model->eps);
        if (noise) turn_to(noise + (size_t)i * (size_t)d, e, d);
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
