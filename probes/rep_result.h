/* What a replication leaves behind: ID.tsv (its numbers beside the paper's), ID.md (the card), ID-MEASUREMENT.tsv and figures. All of it follows
 * from the tables, the runs' recorded times and the row: the same runs give the same bytes.
 *
 *     struct result result = {.row = row, .scale = scale, .runs = runs, .run_count = n, .tables = tables, .out = "results", .figures = "results"};
 *     ok = result_compare(&result, err) && result_write(&result, sink, err);
 *     result_clear(&result);
 */
#ifndef PROBES_REP_RESULT_H
#define PROBES_REP_RESULT_H

#include "rep_runs.h"
#include "replicate.h"

struct result {
    const struct replication *row;
    const struct scale *scale;
    const char *command;        /* as one would type it to get this again */
    long seeds;                 /* asked for */
    struct rep_run *runs;       /* borrowed, like the next two */
    size_t run_count;
    struct table **tables;      /* one for each measurement of the row; NULL: not measured */
    const char *out, *figures;  /* folders */
    struct table *numbers;      /* values and claims */
};

bool result_compare(struct result *result, struct err *err);                     /* makes numbers */
bool result_write(struct result *result, struct sink *sink, struct err *err);    /* tables, figures, card */
/* The pooled rows that a figure shows, the caller's to free; their fact "model" says whose they are. NULL: not measured. */
struct table *result_picture(const struct result *result, const struct picture *picture);
void result_card(const struct result *result, struct text *out);
void result_clear(struct result *result);

#endif
