/* An axis of a sweep: an option and the values it takes.
 *
 *     --over alpha=0:1:0.05      FROM:TO:STEP; point i is from + (to - from) * i / n, never a sum, so 0.3 is 0.3 and the end is hit exactly
 *     --over norm=rms,match,l2   a list
 */
#ifndef PROBES_OVER_H
#define PROBES_OVER_H

#include "ground/err.h"

#include <stddef.h>

struct over {
    char *name;
    char **values;    /* as a user would write them */
    double *numbers;  /* the same as numbers; NaN for words */
    size_t count;
    bool numeric;     /* all values are numbers */
};

bool over_parse(struct over *axis, const char *text, struct err *err);
void over_clear(struct over *axis);

#endif
