/* The figures of earlier benchmarks: a file that each run appends to, so that a regression is seen.
 *
 *     if (!bench_history_check(path, err)) return false;                  (before long work: can it be read and written?)
 *     struct bench_figure figure = {"train-d64", blas_name(), 2, .ours_ms = 16, .limit_ms = 14, .ratio = 0.88, .low = 0.77, .high = 0.97};
 *     if (!bench_history_add(path, &figure, &was, sink, err)) return false;
 *
 * A figure is compared with the last five of the same work, BLAS and number of threads. A file that is no such history is refused and stays as it is.
 */
#ifndef PROBES_BENCH_HISTORY_H
#define PROBES_BENCH_HISTORY_H

#include "results/sink.h"

struct bench_figure {
    const char *work, *blas;
    int threads;
    double ours_ms, limit_ms, ratio; /* NaN: it has no limit */
    double low, high;                /* of the ratio, or of ours_ms when there is none */
};

bool bench_history_check(const char *path, struct err *err); /* no file is fine: it will be made */

/* *was: the median ratio of those five or fewer (ours_ms when there is none), NaN without any. A note when the new figure is worse than all five by
 * more than the widest spread of the six. */
bool bench_history_add(const char *path, const struct bench_figure *figure, double *was, struct sink *sink, struct err *err);

#endif
