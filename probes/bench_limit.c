/* The limit: nothing but the matrix products of the plain work, at its shapes, on as many threads; or the same work with another interface. */
#include "bench_work.h"

#include "ground/clock.h"
#include "numbers/blas.h"

#include <string.h>

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

static void prepare(struct products *p, int threads)
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

/* A plain step: forward, input gradient and weight gradient of every product, all loops and blocks at all positions. */
static void train_products(struct products *p, const struct bench_work *w)
{
    int tokens = PASS_ROWS * BENCH_LENGTH, each = 3 * w->blocks * w->loops;
    add_product(p, tokens, w->d, w->d, 4 * each);
    add_product(p, tokens, w->ff, w->d, 2 * each);
    add_product(p, tokens, w->d, w->ff, each);
    add_product(p, PASS_ROWS, w->vocabulary, w->d, 3);
    if (strcmp(w->interface, "none")) add_product(p, tokens, w->vocabulary, w->d, 6 * (w->loops - 1));
}

/* All loops and blocks; of the last block only keys and values at all positions, the rest at the answers. One decode a stage. */
static void run_once_products(struct products *p, const struct bench_work *w, int decodes)
{
    int tokens = PASS_ROWS * BENCH_LENGTH, whole = w->blocks * w->loops - 1;
    add_product(p, tokens, w->d, w->d, 4 * whole + 2);
    add_product(p, tokens, w->ff, w->d, 2 * whole);
    add_product(p, tokens, w->d, w->ff, whole);
    add_product(p, PASS_ROWS, w->d, w->d, 2);
    add_product(p, PASS_ROWS, w->ff, w->d, 2);
    add_product(p, PASS_ROWS, w->d, w->ff, 1);
    add_product(p, PASS_ROWS, w->vocabulary, w->d, decodes);
    if (strcmp(w->interface, "none")) add_product(p, tokens, w->vocabulary, w->d, 2 * (w->loops - 1));
}

/* Everything everywhere, and a decode of every state. */
static void lens_products(struct products *p, const struct bench_work *w)
{
    int tokens = PASS_ROWS * BENCH_LENGTH, each = w->blocks * w->loops;
    add_product(p, tokens, w->d, w->d, 4 * each);
    add_product(p, tokens, w->ff, w->d, 2 * each);
    add_product(p, tokens, w->d, w->ff, each);
    add_product(p, tokens, w->vocabulary, w->d, w->loops + 1);
}

/* One block, K = 2, position 1 edited after loop 1: the base run with one more decode, then for each alpha but 0 the keys and values of the edited
 * position, and all that the answer position needs behind its attention. */
static void sweep_products(struct products *p, const struct bench_work *w)
{
    int cells = w->alphas - 1;
    run_once_products(p, w, 2);
    add_product(p, PASS_ROWS, w->d, w->d, 3 * cells);
    add_product(p, PASS_ROWS, w->ff, w->d, 2 * cells);
    add_product(p, PASS_ROWS, w->d, w->ff, cells);
    add_product(p, PASS_ROWS, w->vocabulary, w->d, cells);
    if (strcmp(w->interface, "none")) add_product(p, PASS_ROWS, w->vocabulary, w->d, 2 * cells);
}

static void products_of(struct products *p, const struct bench_work *w, int threads)
{
    *p = (struct products){.shards = (w->rows + PASS_ROWS - 1) / PASS_ROWS, .threads = threads < 64 ? threads : 64};
    if (w->kind == BENCH_TRAIN) train_products(p, w);
    else if (w->kind == BENCH_EVAL) run_once_products(p, w, w->loops);
    else if (w->kind == BENCH_LENS) lens_products(p, w);
    else if (w->kind == BENCH_SWEEP) sweep_products(p, w);
    else add_product(p, w->rows < PASS_ROWS ? w->rows : PASS_ROWS, w->vocabulary, w->d, 2);
    prepare(p, p->threads);
}

static double products_time(struct products *p, struct pool *pool, int repeats)
{
    double began = clock_seconds();
    for (int i = 0; i < repeats; i++) pool_run(pool, p->shards, run_products, p);
    return (clock_seconds() - began) / repeats;
}

bool limit_open(struct limit *limit, const struct bench_work *work, struct session *session, struct pool *pool, struct err *err)
{
    *limit = (struct limit){.pool = pool, .work = *work};
    if (!work->against) return products_of(&limit->products, work, pool_threads(pool)), true;
    limit->work.interface = work->against;
    limit->work.top_k = 0;
    return subject_open(&limit->other, &limit->work, session, pool, err);
}

double limit_time(struct limit *limit, int repeats, struct err *err)
{
    return limit->work.against ? subject_time(&limit->other, repeats, err) : products_time(&limit->products, limit->pool, repeats);
}

void limit_close(struct limit *limit)
{
    struct products *p = &limit->products;
    for (int t = 0; t < p->threads; t++) mem_free(p->a[t]), mem_free(p->b[t]), mem_free(p->c[t]);
    if (limit->other.work) subject_close(&limit->other);
}
