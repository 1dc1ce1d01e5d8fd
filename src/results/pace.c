#include "results/pace.h"

#include "ground/clock.h"

struct pace pace_start(struct sink *sink, const char *what, const char *unit, double total)
{
    return (struct pace){.sink = sink, .what = what, .unit = unit, .total = total, .began = clock_seconds()};
}

bool pace_show(struct pace *pace, double done)
{
    double seconds = clock_seconds() - pace->began, rate = seconds > 0 ? (done - pace->from) / seconds : 0;
    struct progress progress = {.what = pace->what, .done = done, .total = pace->total, .unit = pace->unit, .rate = rate,
                                .left = rate > 0 ? (pace->total - done) / rate : -1};
    return sink_progress(pace->sink, &progress);
}
