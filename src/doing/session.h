/* What stays open between commands: models, datasets, and the wish to stop.
 *
 *     struct session *session = session_new(threads);
 *     const struct model *model = session_model(session, "models/vanilla", sink, err);      (opened once, kept)
 *     const struct dataset *data = session_data(session, model, args_text(args, "data"), sink, err);
 *     if (session_stopped(session)) return err_stop(err, "stopped");
 *     session_free(session);
 */
#ifndef DOING_SESSION_H
#define DOING_SESSION_H

#include "ground/err.h"
#include "results/sink.h"

#include <stdatomic.h>
#include <stdbool.h>

struct model;
struct dataset;
struct share_list;
struct table;

struct session {
    int threads;
    char *share;                   /* where bundled models and datasets are: "." in a checkout, PREFIX/share/loopscope when installed */
    struct session_entry *entries; /* open models and datasets */
    size_t entry_count, entry_room;
    char *command;                 /* the line that is being run */
    struct table *left;            /* rows that a stopped command had found: the same line goes on from them; NULL: none */
    bool tables_only;              /* its result is wanted as tables for other programs (--json, --tsv) */
    atomic_bool stop;              /* set by a signal handler or the screen; commands look at it often */
};

struct session *session_new(int threads); /* threads 0: as many as the machine has processors this process may use */
void session_free(struct session *session);

/* `path` may be a folder or the name of a bundled model. */
const struct model *session_model(struct session *session, const char *path, struct sink *sink, struct err *err);

/* The dataset named by path (a folder, or the name of a bundled one), or, when path is NULL, the one the model was trained on. */
const struct dataset *session_data(struct session *session, const struct model *model, const char *path, struct sink *sink, struct err *err);

/* Is there such a thing? It is looked for and not read; when there is none the message names what there is. */
bool session_has_model(const struct session *session, const char *path, struct err *err);
bool session_has_data(const struct session *session, const char *path, struct err *err);

/* A file as given, or the bundled one ("models/vanilla/recipe" from any folder), to free; a file that is nowhere keeps its name. */
char *session_file(const struct session *session, const char *path);

/* A path for people: of what comes with the program, without the folder that this is in, which says nothing about it. Part of the argument. */
const char *session_brief(const struct session *session, const char *path);

/* Folders that hold a config.json, under models/ of the share folder and of the working folder; for share_list_free (doing/share.h). */
struct share_list session_models(const struct session *session);

void session_forget(struct session *session, const char *path); /* closes it, so that the next use reads it again */

static inline bool session_stopped(const struct session *session) { return session->stop; }

#endif
