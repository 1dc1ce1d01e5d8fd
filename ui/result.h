/* What a command line gave: tables, notes, text, progress and an error, growing while it is computed.
 *
 * The command runs on the worker's thread and hands pieces over as posts; the screen's thread joins them into a result. Nothing is shared: a post
 * belongs to the worker until it is given, and to the screen from then on.
 *
 *     struct feed feed;
 *     feed_start(&feed, give, go_on, to);                            (a sink that makes posts)
 *     feed_end(&feed, command_line(session, line, &feed.sink, &err), &err);
 *     ...
 *     result_take(result, post);                                     (joins it, frees it)
 */
#ifndef RESULT_H
#define RESULT_H

#include "results/sink.h"

enum result_state { RESULT_WAITING, RESULT_RUNNING, RESULT_DONE, RESULT_FAILED, RESULT_STOPPED };

struct standing { /* a struct progress that owns its text */
    double done, total, rate, left;
    char what[32], unit[16], detail[128];
};

struct result {
    char *line;
    enum result_state state;
    struct table **tables;
    size_t table_count, table_room;
    struct text notes, said; /* lines */
    char *wrong;             /* the message, when it failed */
    bool moving;             /* standing is valid: it runs and has reported */
    bool paused;             /* it waits until the user lets it go on */
    struct standing standing;
    double started, seconds; /* of the screen's clock: when it began to run, how long it took */
    char *scene;             /* the settings when it was asked for, see setting.h; NULL: none were kept */
    bool unwanted;           /* nobody looks at it any more: forget it when it ends */
    bool again;              /* computed anew because time has passed: no line of the log */
    unsigned long used;      /* when it was wanted last, counted in updates of the screen */
};

enum post_kind { POST_START, POST_TABLE, POST_ROWS, POST_PROGRESS, POST_NOTE, POST_SAY, POST_END };

struct post {
    struct post *next;
    struct result *result; /* which one it belongs to: only the screen looks inside */
    enum post_kind kind;
    struct table *table;   /* POST_TABLE: without rows; POST_ROWS: more rows of the last table */
    char *text;            /* POST_NOTE, POST_SAY, and the message of POST_END */
    struct standing standing;
    bool good, stopped;    /* POST_END */
};

struct result *result_new(const char *line);
void result_free(struct result *result);
void result_take(struct result *result, struct post *post);
void post_free(struct post *post);

const struct table *result_table(const struct result *result, size_t i); /* NULL: not there (yet); NULL result is fine */
static inline bool result_ended(const struct result *result) { return result->state >= RESULT_DONE; }

struct feed {
    struct sink sink; /* first: a pointer to the sink is one to the feed */
    void (*give)(void *to, struct post *post);
    bool (*go_on)(void *to); /* asked at every progress; NULL: always */
    void *to;
    struct table *shape; /* the open table, without rows */
    struct table *rows;  /* not given yet; NULL: none */
    double given;        /* when the last rows went, in seconds */
};

void feed_start(struct feed *feed, void (*give)(void *to, struct post *post), bool (*go_on)(void *to), void *to);
void feed_end(struct feed *feed, bool good, const struct err *err);

#endif
