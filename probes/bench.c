/* bench: how fast, as a ratio against the machine's own limit, measured in the same run and in turn.
 *
 * The limit of a training step is the time that its matrix products alone take, at the same shapes, on the same number of threads, counting the plain,
 * unpruned step; pruning may push the ratio past 100 %. For a sweep it is the products that the edits can reach. Machines are noisy: ours and limit
 * alternate, and the spread of the ratio is shown.
 */
#include "replay.h"

#include "learning/optim.h"
#include "learning/train.h"
#include "numbers/blas.h"

#include "ground/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct option options[] = {
    {"rounds", OPTION_INT, "7", .low = 1, .high = 1000, .help = "measurements of each row, ours and limit in turn"},
    {"history", OPTION_TEXT, NULL, .help = "append the figures to this file, so that a regression is seen", .placeholder = "FILE.tsv", .aside = true},
    {0},
};

enum { VOCABULARY = 1050, LENGTH = 3 };

/* One thing to measure. */
struct work {
    const char *name;
    const char *what;         /* "train", "sweep", "eval" */
    int d, ff, blocks, loops, rows;
    const char *interface;    /* lines of loop_interface for the recipe */
};

static const struct work works[] = {
    {"train-d64", "train", 64, 256, 2, 2, 512, "kind = none"},
    {"train-d128", "train", 128, 512, 2, 2, 512, "kind = none"},
    {"train-d256", "train", 256, 1024, 1, 2, 256, "kind = none"},
    {"train-d512", "train", 512, 2048, 1, 2, 256, "kind = none"},
    {"train-d128-4-blocks", "train", 128, 512, 4, 2, 512, "kind = none"},
    {"train-d128-4-loops", "train", 128, 512, 2, 4, 512, "kind = none"},
    {"train-d64-discoloop", "train", 64, 256, 2, 2, 512, "kind = discoloop"},
    {"train-d128-discoloop", "train", 128, 512, 2, 2, 512, "kind = discoloop"},
    {"train-d128-gate", "train", 128, 512, 2, 2, 512, "kind = discoloop\nmodel.loop_interface.alpha = gate"},
    {"eval-d256", "eval", 256, 1024, 1, 2, 4000, "kind = none"},
    {"sweep-d256", "sweep", 256, 1024, 1, 2, 4000, "kind = none"},
    {"sweep-d256-discoloop", "sweep", 256, 1024, 1, 2, 4000, "kind = discoloop"},
};

struct bench {
    struct session *session;
    const struct args *args;
    struct sink *sink;
    struct pool *pool;
    struct table *table;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Random questions of the usual length: what they ask does not matter for time. */
static struct dataset *random_data(int rows)
{
    struct dataset *data = mem_new(sizeof *data);
    struct rng rng = rng_start(1, "bench");
    int *tokens = mem_new(sizeof *tokens * LENGTH * (size_t)rows);
    data->name = mem_text("random");
    data->vocab_size = VOCABULARY;
    data->split_count = 1;
    data->splits = mem_new(sizeof *data->splits);
    data->splits[0] = (struct split){mem_text("train"), mem_new(sizeof(struct question) * (size_t)rows), (size_t)rows};
    static const struct bridge bridge = {1, 0};
    for (int i = 0; i < rows * LENGTH; i++) tokens[i] = (int)rng_below(&rng, VOCABULARY);
    for (int i = 0; i < rows; i++)
        data->splits[0].questions[i] = (struct question){LENGTH, tokens + i * LENGTH, (int)rng_below(&rng, VOCABULARY), LENGTH - 1, 1, &bridge};
    return data;
}

static void free_data(struct dataset *data)
{
    mem_free((void *)data->splits[0].questions[0].tokens);
    mem_free(data->splits[0].questions);
    mem_free(data->splits[0].name);
    mem_free(data->splits);
    mem_free(data->name);
    mem_free(data);
}

static bool write_recipe(const struct work *work, const char *path, struct err *err)
{
    struct text text = {0};
    text_add(&text, "data = random\ntrain = train\nbatch = %d\nmodel.model_type = looped\nmodel.hidden_size = %d\nmodel.intermediate_size = %d\n", work->rows,
             work->d, work->ff);
    text_add(&text, "model.num_hidden_layers = %d\nmodel.num_loops = %d\nmodel.num_attention_heads = 4\nmodel.num_key_value_heads = 4\n", work->blocks, work->loops);
    text_add(&text, "model.position_embedding = rope\nmodel.rope_theta = 10000\nmodel.rms_norm_eps = 1e-6\nmodel.tie_word_embeddings = true\n");
    text_add(&text, "model.norm_each_loop = true\nmodel.loop_interface.%s\n", work->interface);
    bool ok = file_write(path, text.data, text.size, err);
    text_clear(&text);
    return ok;
}

/* ---- the limit: nothing but the matrix products ---- */

struct product { int m, n, k, times; };

struct products {
    struct product list[16];
    int count, shards;
    float *a[64], *b[64], *c[64]; /* one set a thread */
};

static void add_product(struct products *p, int m, int n, int k, double times)
{
    if (times > 0 && m > 0) p->list[p->count++] = (struct product){m, n, k, (int)(times + 0.5)};
}

static void run_products(void *job, int i, int thread)
{
    struct products *p = job;
    (void)i;
    for (int j = 0; j < p->count; j++)
        for (int t = 0; t < p->list[j].times; t++) blas_nt(p->list[j].m, p->list[j].n, p->list[j].k, p->a[thread], p->b[thread], 0, p->c[thread]);
}

static void prepare_products(struct products *p, int threads)
{
    size_t a = 0, b = 0, c = 0;
    for (int j = 0; j < p->count; j++) {
        const struct product *x = &p->list[j];
        if ((size_t)x->m * (size_t)x->k > a) a = (size_t)x->m * (size_t)x->k;
        if ((size_t)x->n * (size_t)x->k > b) b = (size_t)x->n * (size_t)x->k;
        if ((size_t)x->m * (size_t)x->n > c) c = (size_t)x->m * (size_t)x->n;
    }
    for (int t = 0; t < threads; t++) {
        p->a[t] = mem_new(sizeof(float) * a), p->b[t] = mem_new(sizeof(float) * b), p->c[t] = mem_new(sizeof(float) * c);
        for (size_t i = 0; i < a; i++) p->a[t][i] = (float)(i % 7) * 0.1f;
        for (size_t i = 0; i < b; i++) p->b[t][i] = (float)(i % 5) * 0.1f;
    }
}

static void release_products(struct products *p, int threads)
{
    for (int t = 0; t < threads; t++) mem_free(p->a[t]), mem_free(p->b[t]), mem_free(p->c[t]);
}

/* A plain step: forward, input gradient and weight gradient of every product, all loops and blocks at all positions. */
static struct products train_products(const struct work *w)
{
    struct products p = {.shards = (w->rows + PASS_ROWS - 1) / PASS_ROWS};
    int tokens = PASS_ROWS * LENGTH, each = 3 * w->blocks * w->loops;
    add_product(&p, tokens, w->d, w->d, 4 * each);
    add_product(&p, tokens, w->ff, w->d, 2 * each);
    add_product(&p, tokens, w->d, w->ff, each);
    add_product(&p, PASS_ROWS, VOCABULARY, w->d, 3);
    if (!strstr(w->interface, "none")) add_product(&p, tokens, VOCABULARY, w->d, 6 * (w->loops - 1));
    return p;
}

static struct products eval_products(const struct work *w)
{
    struct products p = {.shards = (w->rows + PASS_ROWS - 1) / PASS_ROWS};
    int tokens = PASS_ROWS * LENGTH, each = w->blocks * w->loops;
    add_product(&p, tokens, w->d, w->d, 4 * each);
    add_product(&p, tokens, w->ff, w->d, 2 * each);
    add_product(&p, tokens, w->d, w->ff, each);
    add_product(&p, PASS_ROWS, VOCABULARY, w->d, w->loops);
    return p;
}

/* One block, K = 2, position 1 edited after loop 1: the base run, then for each of 21 alphas the keys and values of the edited position, and all that the
 * answer position needs behind its attention. */
static struct products sweep_products(const struct work *w)
{
    struct products p = eval_products(w);
    int rows = PASS_ROWS;
    add_product(&p, rows, VOCABULARY, w->d, 1);
    add_product(&p, 7 * rows, w->d, w->d, 3 * 3);
    add_product(&p, 7 * rows, w->ff, w->d, 3 * 2);
    add_product(&p, 7 * rows, w->d, w->ff, 3);
    add_product(&p, 7 * rows, VOCABULARY, w->d, 3);
    if (!strstr(w->interface, "none")) add_product(&p, PASS_ROWS * LENGTH + 21 * rows, VOCABULARY, w->d, 2);
    return p;
}

static double time_products(const struct bench *me, struct products *p, int repeats)
{
    double began = now();
    for (int i = 0; i < repeats; i++) pool_run(me->pool, p->shards, run_products, p);
    return (now() - began) / repeats;
}

/* ---- ours ---- */

struct subject {
    const struct work *work;
    struct dataset *data;
    struct trainer *trainer;
    struct recipe recipe;
    struct model *model;      /* eval and sweep */
    struct study study;
};

static bool sweep_once(struct subject *s, struct err *err)
{
    struct replay *replay = replay_open(&s->study, err);
    struct edit edits[REPLAY_TOGETHER];
    struct outcome outcomes[REPLAY_TOGETHER];
    bool ok = replay != NULL;
    for (int from = 0; ok && from < 21; from += REPLAY_TOGETHER) {
        for (int c = 0; c < REPLAY_TOGETHER; c++) {
            char text[64];
            snprintf(text, sizeof text, "mix@h.1:position=1,alpha=%.2f", (from + c) / 20.0);
            ok = edit_parse(&edits[c], text, s->model, err) && ok;
        }
        ok = ok && replay_cells(replay, edits, REPLAY_TOGETHER, outcomes, err);
        for (int c = 0; c < REPLAY_TOGETHER; c++) edit_clear(&edits[c]);
    }
    replay_close(replay);
    return ok;
}

static bool run_once(struct subject *s, struct err *err)
{
    struct accuracy accuracy;
    if (!strcmp(s->work->what, "train")) return isfinite(trainer_step(s->trainer, err));
    if (!strcmp(s->work->what, "sweep")) return sweep_once(s, err);
    return pass_accuracy(s->model, s->study.pool, s->study.splits[0].questions, s->study.splits[0].count, &accuracy, err);
}

static double time_ours(struct subject *s, int repeats, struct err *err)
{
    double began = now();
    for (int i = 0; i < repeats; i++)
        if (!run_once(s, err)) return NAN;
    return (now() - began) / repeats;
}

static bool subject_open(struct subject *s, const struct bench *me, const struct work *work, struct err *err)
{
    char path[64];
    struct text config = {0};
    snprintf(path, sizeof path, "/tmp/loopscope-bench-%ld.recipe", (long)getpid());
    *s = (struct subject){.work = work, .data = random_data(work->rows)};
    bool ok = write_recipe(work, path, err) && recipe_read(&s->recipe, path, err);
    unlink(path);
    if (ok && !strcmp(work->what, "train")) return (s->trainer = trainer_new(&s->recipe, s->data, me->pool, "/nowhere", me->sink, err)) != NULL;
    if (ok) recipe_config(&s->recipe, VOCABULARY, &config);
    s->model = ok ? model_fresh(config.data, "bench", me->sink, err) : NULL;
    text_clear(&config);
    if (!s->model) return false;
    weights_draw(s->model, 1, 0.02, 1);
    s->study = (struct study){.session = me->session, .model = s->model, .data = s->data, .pool = me->pool, .split_count = 1, .edit_count = 1,
                              .loops = s->model->loops};
    s->study.splits[0] = s->data->splits[0];
    return true;
}

static void subject_close(struct subject *s)
{
    trainer_free(s->trainer);
    recipe_clear(&s->recipe);
    if (s->model) model_free(s->model);
    free_data(s->data);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool measure(struct bench *me, const struct work *work, struct err *err)
{
    int rounds = (int)args_int(me->args, "rounds"), threads = pool_threads(me->pool);
    double ours[1000], limit[1000], ratio[1000];
    struct products products = !strcmp(work->what, "train") ? train_products(work) : !strcmp(work->what, "eval") ? eval_products(work) : sweep_products(work);
    struct subject subject;
    if (!subject_open(&subject, me, work, err)) return subject_close(&subject), false;
    prepare_products(&products, threads);
    double once = time_ours(&subject, 1, err);
    once = time_ours(&subject, 1, err); /* the first grows the memory */
    int repeats = once > 0 && once < 0.1 ? (int)(0.1 / once) + 1 : 1;
    bool ok = isfinite(once);
    for (int i = 0; ok && i < rounds; i++) {
        ours[i] = time_ours(&subject, repeats, err);
        limit[i] = time_products(me, &products, repeats);
        ratio[i] = limit[i] / ours[i];
        ok = !session_stopped(me->session) || err_stop(err, "stopped");
    }
    if (ok) {
        qsort(ours, (size_t)rounds, sizeof *ours, ascending);
        qsort(limit, (size_t)rounds, sizeof *limit, ascending);
        qsort(ratio, (size_t)rounds, sizeof *ratio, ascending);
        struct cell cells[] = {cell_text(work->name),
                               cell_number(1e3 * ours[rounds / 2]),
                               cell_number(1e3 * limit[rounds / 2]),
                               cell_number(ratio[rounds / 2]),
                               cell_number(ratio[0]),
                               cell_number(ratio[rounds - 1]),
                               cell_number(work->rows / ours[rounds / 2])};
        table_row(me->table, cells);
        sink_row(me->sink, cells);
    }
    release_products(&products, threads);
    subject_close(&subject);
    return ok;
}

static bool append_history(const struct bench *me, struct err *err)
{
    const char *path = args_text(me->args, "history");
    if (!path) return true;
    struct text text = {0};
    char *old = file_exists(path) ? file_read(path, 1 << 24, NULL, err) : mem_text("version\twork\tours_ms\tlimit_ms\tratio\n");
    if (!old) return false;
    text_add(&text, "%s", old);
    for (size_t i = 0; i < me->table->row_count; i++)
        text_add(&text, "%s\t%s\t%.4g\t%.4g\t%.3f\n", VERSION, table_text(me->table, i, "work"), table_number(me->table, i, "ours_ms"),
                 table_number(me->table, i, "limit_ms"), table_number(me->table, i, "ratio"));
    bool ok = file_write(path, text.data, text.size, err);
    mem_free(old);
    text_clear(&text);
    return ok;
}

static struct table *shape(const struct bench *me)
{
    struct table *table = table_new("bench");
    table_column(table, "work", ROLE_LABEL, NULL);
    table_column(table, "ours_ms", ROLE_VALUE, "%.2f");
    table_column(table, "limit_ms", ROLE_VALUE, "%.2f");
    table_column(table, "ratio", ROLE_VALUE, "%.2f");
    table_column(table, "low", ROLE_LOW, "%.2f");
    table_column(table, "high", ROLE_HIGH, "%.2f");
    table_column(table, "rows_per_s", ROLE_VALUE, "%.0f");
    command_provenance(me->session, table);
    table_fact(table, "blas", "%s", blas_name());
    table_fact(table, "threads", "%d", pool_threads(me->pool));
    return table;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    if (!blas_check(err)) return false;
    struct bench me = {.session = session, .args = args, .sink = sink, .pool = pool_new(session->threads < 64 ? session->threads : 64)};
    const char *only = args_word(args, 0);
    bool ok = true, any = false;
    me.table = shape(&me);
    sink_table(sink, me.table);
    for (size_t i = 0; ok && i < sizeof works / sizeof *works; i++) {
        if (only && !strstr(works[i].name, only)) continue;
        any = true;
        ok = measure(&me, &works[i], err);
    }
    if (ok && !any) ok = err_set(err, "bench: no row has '%s' in its name", text_show(only));
    ok = ok && append_history(&me, err);
    table_free(me.table);
    pool_free(me.pool);
    return ok;
}

const struct command command_bench = {
    .name = "bench",
    .words = "[NAME]",
    .least = 0,
    .most = 1,
    .help = "time of training steps, evaluation and sweeps against the machine's own matrix products",
    .more = "ratio = limit / ours: 1 would be nothing but matrix products. low and high are its extremes over the rounds.",
    .options = options,
    .example = "bench train-d64 --rounds 1",
    .run = run,
};
