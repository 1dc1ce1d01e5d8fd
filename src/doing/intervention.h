/* An intervention as far as everybody may know it: its name and its options, from which forms and help are made. What it does stands in probes.
 *
 *     for (size_t i = 0; interventions[i]; i++) puts(interventions[i]->name);
 */
#ifndef DOING_INTERVENTION_H
#define DOING_INTERVENTION_H

#include "ground/option.h"

struct operation;

struct intervention {
    const char *name, *help;
    const struct option *options;    /* every intervention has "position" */
    const char *example;             /* for --do, without the site: "position=1,alpha=0.5" */
    bool (*decodes)(const struct args *args); /* does it ask for the decoded state? NULL: never */
    void (*apply)(struct operation *op);      /* to the states of some questions */
};

#endif
