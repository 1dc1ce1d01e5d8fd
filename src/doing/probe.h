/* A probe: a measurement over questions, which is also a command.
 *
 *     const struct probe probe_bridge = {
 *         .command = {.name = "bridge", .words = "MODEL", .run = probe_command, ...},
 *         .columns = columns, .setup = setup, .measure = measure,
 *     };
 *
 * measure is a pure function from one shard's run to findings, the finest rows there are (one a question, or a question x position x boundary). The
 * driver (probes/driver.c) does everything else: models, data, splits, edits, threads, means and intervals, provenance. --rows shows the findings
 * themselves.
 */
#ifndef DOING_PROBE_H
#define DOING_PROBE_H

#include "doing/command.h"

struct shard;
struct args;

/* What a finding's number is, and what the driver makes of it over a split. */
enum finding {
    FIND_KEY = 1, /* findings with the same keys are summed up together */
    FIND_RATE,    /* 0 or 1: becomes n, correct, NAME, low, high (Wilson) and excluded (NaN) */
    FIND_MEAN,    /* becomes its mean; NaN is left out and counted in `undefined` */
    FIND_CHANGE,  /* becomes its mean, too; NaN says that there is nothing to compare with, and is not counted */
    FIND_DETAIL,  /* shown with --rows only */
};

struct finding_column {
    const char *name;
    enum finding kind;
    const char *format;    /* of the number, or NULL */
    bool token;            /* the number is a token's id: shown by name */
};

struct findings; /* of the driver */

struct probe {
    struct command command;                      /* first, so that a pointer to it is a pointer to the probe */
    const struct finding_column *columns;        /* ends with a row without a name */
    const char *undefined;                       /* name of the column that counts NaN of a FIND_MEAN; NULL: no such column */
    bool (*setup)(const struct args *args, struct shard *shard);                             /* wanted places, loops; may be NULL */
    bool (*measure)(const struct args *args, struct shard *shard, struct findings *findings); /* false with shard->err */
};

#endif
