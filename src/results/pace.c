#include "results/pace.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct pace pace_start(struct sink *sink, const char *what, const char *unit, double total)
{
    return (struct pace){sink, what, unit, total, now()};
}

bool pace_show(struct pace *pace, double done)
{
    double seconds = now() - pace->began, rate = seconds > 0 ? done / seconds : 0;
    struct progress progress = {.what = pace->what, .done = done, .total = pace->total, .unit = pace->unit, .rate = rate,
                                .left = rate > 0 ? (pace->total - done) / rate : -1};
    return sink_progress(pace->sink, &progress);
}
