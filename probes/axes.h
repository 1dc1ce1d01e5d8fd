/* The axes of a sweep: every combination of their values is a cell; the first axis runs fastest.
 *
 *     struct axes axes;
 *     if (!axes_read(&axes, &study, args, "alpha=0:1:0.05", err)) ...          (--over, given several times)
 *     for (size_t cell = 0; cell < axes.cells; cell++) {
 *         axes_edits(&axes, &study, cell, edits, err);                         (the study's edits with this cell's values; edit_clear each)
 *         ... axes_loops(&axes, &study, cell) ...
 *     }
 *     axes_clear(&axes);
 *
 * An axis is an option of an edit ("2.alpha": of the second), "boundary", or "loops": how many the run has. Loops are always the slowest axis,
 * because nothing that was computed for one number of them serves another.
 */
#ifndef PROBES_AXES_H
#define PROBES_AXES_H

#include "over.h"
#include "study.h"

enum { AXES_MOST = 4 };

#define AXES_OPTIONS \
    {"over", OPTION_TEXT, NULL, .help = "an axis: OPTION=FROM:TO:STEP or OPTION=A,B,C (default alpha=0:1:0.05)", \
     .placeholder = "AXIS", .many = true}, \
    {"norm", OPTION_CHOICE, NULL, .choices = "rms|match|l2|none", .help = "short for norm in the edit mix@h.1"}, \
    {"position", OPTION_TEXT, NULL, .help = "short for position in the edit mix@h.1: a number, bridge or answer", .placeholder = "P"}, \
    {"boundary", OPTION_INT, NULL, .low = 0, .high = 64, .help = "short for the boundary K in mix@h.K", .placeholder = "K"}

struct axes {
    struct over axis[AXES_MOST];
    int count;
    size_t cells;
};

/* The edit of the short options, unless --do gives one, or no axis is an option of an edit: then there is none. */
bool axes_default_edit(struct study *study, const struct args *args, struct err *err);

bool axes_read(struct axes *axes, const struct study *study, const struct args *args, const char *fallback, struct err *err);
bool axes_add(struct axes *axes, const struct study *study, const char *text, struct err *err);
void axes_clear(struct axes *axes);

bool axes_edits(const struct axes *axes, const struct study *study, size_t cell, struct edit *edits, struct err *err);
int axes_loops(const struct axes *axes, const struct study *study, size_t cell);

void axes_columns(const struct axes *axes, struct table *table);
size_t axes_cells(const struct axes *axes, size_t cell, struct cell *cells); /* the cell's values as they stand in these columns; how many */

#endif
