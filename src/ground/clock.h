/* Seconds of a clock that only runs forward: for how long things take. */
#ifndef GROUND_CLOCK_H
#define GROUND_CLOCK_H

double clock_seconds(void);

#endif
