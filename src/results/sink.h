/* Where results go while they are computed: the whole contract between computing and showing.
 *
 *     sink_table(sink, shape);                       a new table begins (its columns and facts; no rows yet)
 *     sink_row(sink, cells);                         one more row of it
 *     if (!sink_progress(sink, &progress)) ...       false: the user wants it to stop
 *     sink_note(sink, "3 of 2000 rows are excluded: not finite");
 *     sink_say(sink, "wrote curve.png");             plain text for people: what the command is about, if it is no table
 *
 * The receiver copies what it wants to keep. Every member may be NULL. Calls come from one thread at a time.
 */
#ifndef RESULTS_SINK_H
#define RESULTS_SINK_H

#include "results/table.h"

#include <stdbool.h>

struct progress {
    const char *what;    /* "sweep", "train" ... */
    double done, total;  /* in units of work; total 0: unknown */
    const char *unit;    /* "rows", "steps" */
    double rate;         /* units per second, 0: unknown */
    double left;         /* seconds, negative: unknown */
    const char *detail;  /* further text for the line, or NULL */
};

struct sink {
    void (*table)(struct sink *sink, const struct table *shape);
    void (*row)(struct sink *sink, const struct cell *cells);
    bool (*progress)(struct sink *sink, const struct progress *progress);
    void (*note)(struct sink *sink, const char *line); /* a warning; one line */
    void (*say)(struct sink *sink, const char *text);
};

void sink_table(struct sink *sink, const struct table *shape);
void sink_row(struct sink *sink, const struct cell *cells);
bool sink_progress(struct sink *sink, const struct progress *progress);
void sink_note(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sink_say(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sink that keeps everything: tables, notes and text. Base first, so a pointer to it is a pointer to the sink. */
struct collector {
    struct sink sink;
    struct table **tables;
    size_t table_count, table_room;
    struct text notes, said;
};

void collector_init(struct collector *collector);
void collector_release(struct collector *collector);

#endif
