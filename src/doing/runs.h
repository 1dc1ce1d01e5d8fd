/* Training runs as they stand in their folders.
 *
 *     char **folders;
 *     size_t count;
 *     runs_find("runs", &folders, &count);                  (every folder below that holds a recipe and a log; free each and the list)
 *     struct run_state state;
 *     runs_look(&state, "runs/x");
 *     runs_release(&state);
 */
#ifndef DOING_RUNS_H
#define DOING_RUNS_H

#include "ground/err.h"

#include <stddef.h>

struct table;

struct run_state {
    bool training;        /* a process holds the folder */
    long pid;             /* of it; 0: it does not say */
    double epochs, age;   /* of the recipe; seconds since the log was written */
    double rate, left;    /* of a training: steps a second since it began or went on, and seconds to its end; NaN: not known */
    double saved;         /* step of the state that --resume goes on from; NaN: none. Not always one that the log has */
    size_t checkpoints;   /* that stay */
    struct table *log;    /* NULL: none can be read */
};

void runs_find(const char *folder, char ***folders, size_t *count);
void runs_look(struct run_state *state, const char *folder);
void runs_release(struct run_state *state);

#endif
