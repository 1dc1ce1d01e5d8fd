/* The log of a session: every command line that the screen has run, with what came of it. Kept in memory for the view, and as text that
 * `loopscope replay` runs again.
 *
 *     struct journal journal = {0};
 *     journal_open(&journal, folder);                       (a file of this session, made with the first line; without it nothing is written)
 *     journal_add(&journal, result);
 *     journal_save(&journal, "fig2.log", err);
 *     journal_release(&journal);
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include "result.h"

#include <time.h>

struct entry {
    char *line, *scene;      /* scene: the settings it was asked with; NULL: none */
    time_t when;             /* it ended */
    long rows;
    double seconds;
    enum result_state state; /* DONE, FAILED or STOPPED */
};

struct journal {
    struct entry *entries;
    size_t count, room;
    char *folder, *path; /* path NULL: no file yet */
    char *wrong;         /* why the file could not be written, and nothing more is tried; NULL: it could */
};

void journal_open(struct journal *journal, char *folder); /* takes the folder's name over; NULL is fine */
void journal_release(struct journal *journal);

void journal_add(struct journal *journal, const struct result *result);
void journal_note(struct journal *journal, const char *line); /* what was done without a worker: a figure, written from a table that is there */

bool journal_save(const struct journal *journal, const char *path, struct err *err);

void entry_time(const struct entry *entry, char text[16]); /* "14:03:59" */

#endif
