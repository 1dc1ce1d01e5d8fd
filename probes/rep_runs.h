/* The training runs behind a replication: WORK/SCALE/TRAINING-SEED, made by the command `train` from the recipe models/recipes/SCALE/TRAINING.
 *
 *     struct rep_run run;
 *     if (!rep_run_look(&run, session, scale, "runs/replicate", "vanilla", 0, err)) return false;   (err: no such recipe)
 *     if (!run.finished) ok = rep_run_train(&run, session, sink, err);
 *     rep_run_clear(&run);
 *
 * Looking costs nothing but the reading of small files; a run counts as finished when its saved state is that of the last step of this very recipe.
 */
#ifndef PROBES_REP_RUNS_H
#define PROBES_REP_RUNS_H

#include "doing/session.h"

struct scale {
    const char *name, *help;
    const char *recipes;           /* folder below models/recipes */
    const char *const *settings;   /* changes to every recipe of the folder, NULL at the end */
    const char *data_ending;       /* instead of "-small" at the end of the recipe's data; NULL: as the recipe says */
};

const struct scale *scale_find(const char *name, struct err *err);

struct rep_run {
    char *training, *folder, *recipe; /* recipe: path of the file */
    char **settings;                  /* key=value, NULL at the end */
    long seed;
    bool there, finished, training_now;
    bool other;                       /* the folder holds a run of another recipe */
    long step, steps;                 /* 0: unknown */
    double seconds;                   /* wall time of training so far, NAN: not recorded */
    long seconds_steps;               /* the steps that took it */
};

bool rep_run_look(struct rep_run *run, const struct session *session, const struct scale *scale, const char *work, const char *training, long seed,
                  struct err *err);
bool rep_run_train(struct rep_run *run, struct session *session, struct sink *sink, struct err *err);
void rep_run_clear(struct rep_run *run);
double rep_run_left(const struct rep_run *run); /* seconds of training that are left, NAN: unknown */

#endif
