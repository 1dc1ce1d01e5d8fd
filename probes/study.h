/* What a measurement is about: a model, the splits of a dataset, edits, threads; opened from the options that all measurements share.
 *
 *     static const struct option options[] = {STUDY_OPTIONS, {"rows", OPTION_FLAG, ...}, {0}};
 *     struct study study;
 *     if (!study_open(&study, session, args, NULL, sink, err)) return false;      (NULL: all splits, where --split names none)
 *     for (int s = 0; s < study.split_count; s++) ... study.splits[s] ...
 *     study_close(&study);
 */
#ifndef PROBES_STUDY_H
#define PROBES_STUDY_H

#include "doing/command.h"
#include "edit.h"
#include "learning/pass.h"
#include "pick.h"

/* STUDY_OPTIONS is for measurements of splits; those of one question alone have STUDY_DATA and STUDY_RUN. */
#define STUDY_DATA {"data", OPTION_TEXT, NULL, .help = "dataset: a folder or a name; default: what the model was trained on", .placeholder = "DIR"}
#define STUDY_RUN                                                                                                                                    \
    {"loops", OPTION_INT, "0", .low = 0, .high = 64, .help = "loops to run; 0: the model's own"},                                                    \
        {"exit-threshold", OPTION_NUMBER, NULL,                                                                                                      \
         .help = "of models with an exit gate: probability at which a position leaves; default: the model's own"},                                   \
        {"start-seed", OPTION_INT, "0", .low = 0, .high = 9e15, .help = "of models with a drawn start state: seed of h.0"},                          \
    {                                                                                                                                                \
        "do", OPTION_TEXT, NULL, .help = "an edit KIND@h.K:OPTIONS, such as mix@h.1:position=1,alpha=0.5; h.1-3, position=0+2: at each",             \
                                 .placeholder = "EDIT", .many = true                                                                                 \
    }
#define STUDY_OPTIONS                                                                                                                                \
    STUDY_DATA, {"split", OPTION_TEXT, NULL, .help = "splits, joined by commas; data check lists them", .placeholder = "NAME[,NAME]"},               \
        {"limit", OPTION_INT, "0", .low = 0, .high = 1e9, .help = "the first N questions of each split; 0: all"}, STUDY_RUN

enum { STUDY_SPLITS = 16, STUDY_EDITS = 12 };

struct study {
    struct session *session;
    const struct model *model;
    const struct dataset *data;
    struct pool *pool;
    struct split splits[STUDY_SPLITS]; /* borrowed questions, cut to --limit */
    int split_count;
    struct edit edits[STUDY_EDITS];
    int edit_count;
    int loops;
    int boundaries;                    /* the last one that every shard has: loops, or, by token, tokens */
    bool exit_given;
    double exit_threshold;             /* when exit_given */
    uint64_t start_seed;
    struct dataset *none;              /* stands for a dataset that is not there; owned */
    struct pick pick;                  /* of --row or --tokens, when the command has them and they are given: then the only split is that question */
};

/* `fallback`: splits when --split is not given; NULL: all of the dataset. With --tokens a model without recipe and --data will do: its tokens are
 * called by their numbers. */
bool study_open(struct study *study, struct session *session, const struct args *args, const char *fallback, struct sink *sink, struct err *err);

void study_close(struct study *study);

/* The facts that say what was measured: model, data, hashes, edits. */
void study_provenance(const struct study *study, struct table *table);

/* Attaches the study's edits to a shard's run, and hands it exit threshold and start seed; handlers live in the shard's arena: [edit_count]. */
struct edit_handler *study_edit(const struct study *study, struct shard *shard, const struct question *questions, size_t first);

#endif
