/* Runs the cells of a sweep: one base run of every shard, kept in memory, and replays from the edited boundary.
 *
 *     struct replay *replay = replay_open(&study, err);                  (the base runs)
 *     replay_cells(replay, edits, count, outcomes, err);                 (edits [count, study.edit_count]; outcomes [count, study.split_count])
 *     replay_close(replay);
 *
 * Cells go through the model together, as copies of a shard's batch; every edit of a cell acts at its own boundary, in the order given where
 * two share one. What an edit cannot reach is read from the base run.
 */
#ifndef PROBES_REPLAY_H
#define PROBES_REPLAY_H

#include "study.h"

enum { REPLAY_TOGETHER = 7 }; /* cells that share a call: a 21-point sweep is three of them */

struct outcome {
    long n, correct, excluded; /* n without the excluded */
    struct edit_count edits;
};

struct replay;

struct replay *replay_open(const struct study *study, struct err *err);
bool replay_cells(struct replay *replay, const struct edit *edits, size_t count, struct outcome *outcomes, struct err *err);
void replay_close(struct replay *replay);

/* From here on replay_cells also writes down each answer: predicted[cell * replay_questions + i], i counting through the splits; -1: not finite. */
void replay_record(struct replay *replay, int *predicted);
size_t replay_questions(const struct replay *replay);
void replay_untouched(const struct replay *replay, int *predicted); /* the same without any edit */

#endif
