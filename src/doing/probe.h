/* A probe: a measurement, which is also a command. */
#ifndef DOING_PROBE_H
#define DOING_PROBE_H

#include "doing/command.h"

struct probe {
    struct command command; /* first, so that a pointer to it is a pointer to the probe */
};

#endif
