/* One row of the benchmark: what is done, at which size, and what its limit is.
 *
 *     struct subject subject;
 *     if (!subject_open(&subject, &work, session, pool, err)) ...        (random weights, random questions)
 *     double ours = subject_time(&subject, repeats, err);       (seconds each)
 *     struct limit limit;
 *     if (!limit_open(&limit, &work, session, pool, err)) ...   (the matrix products of the plain work, alone; or the work with another interface)
 *     double seconds = limit_time(&limit, repeats, err);
 */
#ifndef PROBES_BENCH_WORK_H
#define PROBES_BENCH_WORK_H

#include "replay.h"

#include "learning/recipe.h"

enum bench_kind { BENCH_TRAIN = 1, BENCH_EVAL, BENCH_LENS, BENCH_SWEEP, BENCH_INTERFACE };

struct bench_work {
    const char *name;
    enum bench_kind kind;
    int d, ff, blocks, loops, rows, vocabulary;
    const char *interface; /* of the recipe: "none", "discoloop" and what belongs to it */
    int alphas;            /* of a sweep */
    int top_k;             /* of the interface; 0: all */
    const char *against;   /* the limit is the same work with this interface; NULL: its matrix products */
};

enum { BENCH_LENGTH = 3 }; /* tokens of a question */

struct subject {
    const struct bench_work *work;
    struct pool *pool;
    struct dataset *data;
    struct recipe recipe;
    struct trainer *trainer; /* BENCH_TRAIN */
    struct model *model;     /* the others */
    struct study study;
    struct arena arena;      /* BENCH_INTERFACE: its states */
};

bool subject_open(struct subject *subject, const struct bench_work *work, struct session *session, struct pool *pool, struct err *err);
double subject_time(struct subject *subject, int repeats, struct err *err); /* seconds each; NaN with err */
void subject_close(struct subject *subject);

struct limit {
    struct products {
        struct product { int m, n, k, times; } list[16];
        int count, shards, threads;
        float *a[64], *b[64], *c[64]; /* one set a thread */
    } products;
    struct pool *pool;
    struct bench_work work;           /* with `against` as its interface: what `other` does */
    struct subject other;
};

bool limit_open(struct limit *limit, const struct bench_work *work, struct session *session, struct pool *pool, struct err *err);
double limit_time(struct limit *limit, int repeats, struct err *err); /* seconds each; NaN with err */
void limit_close(struct limit *limit);

/* What users wait for, in seconds; NaN with err. They have no limit to compare with. model: the folder of a bundled model. */
double bench_load(const char *model, struct err *err);         /* a model opened and checked */
double bench_figure(const char *model, struct err *err);       /* a PNG exported, 2 curves of 21 points */
double bench_first_screen(const char *model, struct err *err); /* from the start of the program to its first output */
double bench_key(const char *model, struct err *err);          /* the median of 40 keys while a long sweep runs */

#endif
