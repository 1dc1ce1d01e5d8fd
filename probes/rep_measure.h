/* What was measured for a replication: tables with a row for each seed and pooled ones, and picking numbers out of them.
 *
 *     struct table *raw = NULL;
 *     rep_collect(&raw, "eval", collected, "vanilla", 0);     (once for each run: the command's rows, with model and seed in front)
 *     struct table *table = rep_pool(raw);                    (rows with seed "all" first)
 *     long row = rep_pick(table, "split=test_ood,stage=last,seed=all", "accuracy", err);
 */
#ifndef PROBES_REP_MEASURE_H
#define PROBES_REP_MEASURE_H

#include "results/table.h"

bool rep_collect(struct table **raw, const struct table *table, const char *training, long seed, struct err *err);
struct table *rep_pool(const struct table *raw);

/* Does the row fulfil the selector? (See replicate.h; "=best" is fulfilled by every row.) */
bool rep_matches(const struct table *table, size_t row, const char *where);

/* The only row that does, or with "=best" the one of them with the largest value of the column; -1: none, or, with err set, several. */
long rep_pick(const struct table *table, const char *where, const char *column, struct err *err);

#endif
