/* overhead: what each interface costs beside the plain loop, at equal shape: time of a forward pass, of a forward and backward pass, and peak memory.
 *
 * Processor time of one thread. All interfaces of a shape take turns in every round, so that whatever else the machine does falls on all alike;
 * medians over the rounds. Weights are random: time does not depend on what a model knows.
 */
#include "doing/command.h"
#include "learning/optim.h"
#include "models/run.h"
#include "numbers/blas.h"
#include "numbers/op.h"
#include "results/stats.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct option options[] = {
    {"rounds", OPTION_INT, "9", .low = 1, .high = 100, .help = "measurements of each interface, in turn"},
    {"shape", OPTION_TEXT, NULL, .help = "small or vocabulary; default: both", .placeholder = "NAME"},
    {0},
};

struct shape { const char *name; int vocab, width, inner, loops, rows; const char *const *interfaces; };

enum { LENGTH = 3, ROUNDS = 100, KINDS = 8 };

static const struct { const char *name, *config; } kinds[] = {
    {"none", "\"kind\":\"none\""},
    {"discoloop", "\"kind\":\"discoloop\""},
    {"gate", "\"kind\":\"discoloop\",\"alpha\":\"gate\""},
    {"top-8", "\"kind\":\"discoloop\",\"top_k\":8"},
    {"top-128", "\"kind\":\"discoloop\",\"top_k\":128"},
    {"ponder", "\"kind\":\"ponder\""},
    {"ponder_sum", "\"kind\":\"ponder_sum\""},
    {"residual", "\"kind\":\"residual\""},
};

static const struct shape shapes[] = {
    {"small", 250, 256, 1024, 2, 128, (const char *const[]){"none", "discoloop", "gate", "top-8", "ponder", "ponder_sum", "residual", NULL}},
    {"vocabulary", 129280, 256, 1024, 2, 8, (const char *const[]){"none", "discoloop", "top-128", NULL}},
};

struct subject {
    const char *kind;
    struct model *model;
    struct arena arena;
    float *grads;
    double forward[ROUNDS], step[ROUNDS], forward_ratio[ROUNDS], step_ratio[ROUNDS];
    double forward_peak, step_peak;
};

/* The thread's own processor time: what other programs do in between does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool subject_open(struct subject *s, const struct shape *shape, const char *kind, struct err *err)
{
    struct text config = {0};
    size_t i = 0;
    *s = (struct subject){.kind = kind};
    while (strcmp(kinds[i].name, kind)) i++;
    text_add(&config, "{\"model_type\":\"looped\",\"vocab_size\":%d,\"hidden_size\":%d,\"intermediate_size\":%d,"
                      "\"num_hidden_layers\":1,\"num_loops\":%d,\"num_attention_heads\":4,\"num_key_value_heads\":4,\"hidden_act\":\"silu\","
                      "\"rms_norm_eps\":1e-6,\"position_embedding\":\"rope\",\"rope_theta\":10000,\"tie_word_embeddings\":true,"
                      "\"norm_each_loop\":true,\"loop_interface\":{%s}}",
             shape->vocab, shape->width, shape->inner, shape->loops, kinds[i].config);
    s->model = model_fresh(config.data, "overhead", NULL, err);
    text_clear(&config);
    if (!s->model) return false;
    weights_draw(s->model, 1, 0.02, 1);
    s->grads = mem_new(sizeof *s->grads * s->model->parameter_count);
    return true;
}

static void subject_close(struct subject *s)
{
    if (s->model) model_free(s->model);
    mem_free(s->grads);
    arena_clear(&s->arena);
}

/* A batch of random questions, the answer wanted at the last position; seconds, and the memory that was handed out at most. */
static double pass(struct subject *s, const struct shape *shape, bool backward, double *peak)
{
    struct arena *arena = &s->arena;
    struct rng rng = rng_start(1, "overhead");
    arena_reset(arena);
    arena->peak = 0;
    double began = now();
    int *tokens = arena_new(arena, sizeof *tokens * LENGTH * (size_t)shape->rows), *lengths = arena_new(arena, sizeof *lengths * (size_t)shape->rows);
    int *answers = arena_new(arena, sizeof *answers * (size_t)shape->rows), *targets = arena_new(arena, sizeof *targets * (size_t)shape->rows);
    const int **rows = arena_new(arena, sizeof *rows * (size_t)shape->rows);
    float *weights = arena_new(arena, sizeof *weights * (size_t)shape->rows);
    for (int i = 0; i < shape->rows * LENGTH; i++) tokens[i] = (int)rng_below(&rng, (uint64_t)shape->vocab);
    for (int i = 0; i < shape->rows; i++) {
        rows[i] = tokens + i * LENGTH, lengths[i] = LENGTH, weights[i] = 1 / (float)shape->rows;
        answers[i] = i * LENGTH + LENGTH - 1, targets[i] = (int)rng_below(&rng, (uint64_t)shape->vocab);
    }
    struct batch *batch = batch_new(arena, shape->rows, lengths, rows);
    struct tape tape = {.arena = arena, .records = backward, .grads = s->grads};
    struct run run;
    double loss = 0;
    run_init(&run, s->model, &tape, batch);
    run.wanted = places_new(arena, batch, shape->rows, answers);
    struct tensor *logits = run_forward(&run, NULL);
    if (backward) {
        op_cross_entropy(&tape, logits, targets, weights, &loss);
        tape_backward(&tape);
    }
    *peak = (double)arena->peak / 1e6;
    return now() - began;
}

static void time_round(struct subject *subjects, int count, const struct shape *shape, int round)
{
    for (int i = 0; i < count; i++) subjects[i].forward[round] = pass(&subjects[i], shape, false, &subjects[i].forward_peak);
    for (int i = 0; i < count; i++) subjects[i].step[round] = pass(&subjects[i], shape, true, &subjects[i].step_peak);
    for (int i = 0; i < count; i++) {
        subjects[i].forward_ratio[round] = subjects[i].forward[round] / subjects[0].forward[round];
        subjects[i].step_ratio[round] = subjects[i].step[round] / subjects[0].step[round];
    }
}

static void show(const struct shape *shape, struct subject *s, size_t rounds, struct sink *sink)
{
    double forward = median(s->forward, rounds), step = median(s->step, rounds), rows = shape->rows;
    sink_row(sink, (struct cell[]){cell_text(shape->name), cell_text(s->kind), cell_number(shape->vocab),
                                   cell_number((double)model_numbers(s->model)),
                                   cell_number(rows / forward), cell_number(median(s->forward_ratio, rounds)), cell_number(s->forward_peak),
                                   cell_number(rows / step), cell_number(median(s->step_ratio, rounds)), cell_number(s->step_peak)});
}

static bool measure(struct session *session, const struct shape *shape, int rounds, struct sink *sink, struct err *err)
{
    struct subject *subjects = mem_new(sizeof *subjects * KINDS);
    int count = 0;
    bool ok = true;
    while (ok && shape->interfaces[count]) ok = subject_open(&subjects[count], shape, shape->interfaces[count], err), count++;
    for (int i = -1; ok && i < rounds; i++) { /* the first time grows the memory and does not count */
        time_round(subjects, count, shape, i < 0 ? 0 : i);
        struct progress progress = {.what = shape->name, .done = i + 1, .total = rounds, .unit = "rounds", .left = -1};
        if (!sink_progress(sink, &progress) || session_stopped(session)) ok = err_stop(err, "stopped");
    }
    for (int i = 0; ok && i < count; i++) show(shape, &subjects[i], (size_t)rounds, sink);
    for (int i = 0; i < count; i++) subject_close(&subjects[i]);
    mem_free(subjects);
    return ok;
}

static void begin(const struct session *session, struct sink *sink)
{
    struct table *table = table_new("overhead");
    table_column(table, "shape", ROLE_LABEL, NULL);
    table_column(table, "interface", ROLE_LABEL, NULL);
    table_column(table, "vocabulary", ROLE_COUNT, "%.0f");
    table_column(table, "parameters", ROLE_COUNT, "%.0f");
    table_column(table, "rows_per_s", ROLE_VALUE, "%.0f");
    table_column(table, "time", ROLE_VALUE, "%.2f");
    table_column(table, "memory_mb", ROLE_VALUE, "%.1f");
    table_column(table, "train_rows_per_s", ROLE_VALUE, "%.0f");
    table_column(table, "train_time", ROLE_VALUE, "%.2f");
    table_column(table, "train_memory_mb", ROLE_VALUE, "%.1f");
    command_provenance(session, table);
    table_fact(table, "blas", "%s", blas_name());
    table_fact(table, "threads", "1");
    sink_table(sink, table);
    table_free(table);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *only = args_text(args, "shape");
    bool ok = blas_check(err), any = false;
    (void)self;
    if (ok) begin(session, sink);
    for (size_t i = 0; ok && i < sizeof shapes / sizeof *shapes; i++) {
        if (only && strcmp(only, shapes[i].name)) continue;
        any = true;
        ok = measure(session, &shapes[i], (int)args_int(args, "rounds"), sink, err);
    }
    return ok && (any || err_set(err, "--shape %s: there are small and vocabulary", text_show(only)));
}

const struct command command_overhead = {
    .name = "overhead",
    .help = "time and memory of every interface of the family looped, beside the plain loop",
    .more = "Processor time of one thread, random weights, rows of 3 tokens, width 256, 1 block, 2 loops; small: 250 tokens in the "
            "vocabulary, 128 rows at once; vocabulary: 129,280\ntokens, 8 rows. time and train_time are relative to the plain loop (medians of "
            "ratios inside a round); memory is what a pass hands out at most,\nwithout weights and gradients.",
    .options = options,
    .example = "overhead --shape small --rounds 1",
    .run = run,
};
