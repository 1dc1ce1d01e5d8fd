/* The driver of all probes: runs the splits, collects findings, makes means and intervals. A probe's row uses probe_command as its command's run.
 *
 *     .command = {.name = "bridge", .options = options, .run = probe_command}      (options: PROBE_OPTIONS and the probe's own)
 */
#ifndef PROBES_DRIVER_H
#define PROBES_DRIVER_H

#include "doing/probe.h"
#include "study.h"

#define PROBE_OPTIONS \
    STUDY_OPTIONS, PICK_OPTIONS(NULL), {"rows", OPTION_FLAG, NULL, .help = "every finding, one a line, instead of means over a split"}, \
    {"over", OPTION_TEXT, NULL, .help = "measures at each value of an axis, loops or an option of --do: OPTION=FROM:TO:STEP or OPTION=A,B,C", \
     .placeholder = "AXIS", .many = true}

struct findings {
    double *cells;         /* [count, columns of the probe + 1]: the question's number inside the split, then the columns */
    size_t count, room;
    int width;
};

/* Adds a finding: the question's index inside the shard's split and one number a column. */
void findings_add(struct findings *findings, size_t question, const double *numbers);

bool probe_command(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err);

/* For setup: only the answer positions are wanted from the last block. */
bool want_answers(const struct args *args, struct shard *shard);

#endif
