/* The path of one state through its boundaries, in numbers.
 *
 *     struct orbit orbit = orbit_new(arena, count);
 *     orbit_measure(&orbit, states, width);              (states [count] pointers to h.0 ... h.{count-1})
 *     orbit.step[2], orbit.angle[2], orbit.kind
 */
#ifndef PROBES_ORBIT_H
#define PROBES_ORBIT_H

#include "ground/mem.h"

/* How a path ends, by this rule. Settling: the last step is at most half of the longest before it. Otherwise oscillating: the last two updates turn
 * back (mean cosine with the update before each below -1/4; of one if there is only one). Otherwise drifting. Fewer than two steps: unknown. */
enum orbit_kind { ORBIT_UNKNOWN, ORBIT_SETTLING, ORBIT_DRIFTING, ORBIT_OSCILLATING, ORBIT_KINDS };
extern const char *const orbit_names[ORBIT_KINDS];

struct orbit {
    int count;        /* states */
    double *step;     /* [count] |h.k - h.{k-1}|; NaN at 0 */
    double *angle;    /* [count] degrees between the update to h.k and the one before; NaN at 0 and 1, and where one of them is zero */
    double *distance; /* [count] |h.k - h.last| */
    double *norm;     /* [count] |h.k| */
    enum orbit_kind kind;
};

struct orbit orbit_new(struct arena *arena, int count);
void orbit_measure(struct orbit *orbit, const float *const *states, int width);

#endif
