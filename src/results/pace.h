/* How far long work has come: rate and time left, said to a sink.
 *
 *     struct pace pace = pace_start(sink, "eval", "rows", total);
 *     if (!pace_show(&pace, done)) return err_stop(err, "stopped");        (the user wants it to end)
 */
#ifndef RESULTS_PACE_H
#define RESULTS_PACE_H

#include "results/sink.h"

struct pace {
    struct sink *sink;
    const char *what, *unit; /* borrowed */
    double total, began;     /* in units; seconds */
    double from;             /* units that were done before, by an earlier run */
};

struct pace pace_start(struct sink *sink, const char *what, const char *unit, double total);
bool pace_show(struct pace *pace, double done);

#endif
