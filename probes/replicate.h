/* A replication: one result of the paper, from nothing to a card. `loopscope replicate ID` trains what is missing, runs command lines on every
 * finished run, and compares what they gave with the paper's numbers. A row is data only; every measurement is an ordinary command.
 *
 *     const struct replication replication_table_1a = {
 *         .id = "table-1a", .help = "the vanilla loop's accuracy by split and stage",
 *         .trainings = (const char *const[]){"vanilla", NULL},
 *         .measurements = (const struct measurement[]){{"eval", NULL, "eval MODEL"}, {0}},
 *         .values = (const struct value[]){{"stage 2, OOD", "eval", "split=test_ood,stage=last", "accuracy", 0.083, "OOD"}, {0}},
 *         .claims = (const struct claim[]){{"ID is far above OOD", {"eval", "split=test_id,stage=last", "accuracy"}, 1, 0.2,
 *                                           {"eval", "split=test_ood,stage=last", "accuracy"}}, {0}},
 *         .example = "replicate table-1a --seeds 1",
 *     };
 *
 * and one entry in REPLICATIONS of src/registry.c. Training NAME of a scale is the recipe models/recipes/SCALE/NAME (tiny: those of small, cut
 * down; a recipe's data NAME-small becomes NAME-tiny there, which needs datasets/NAME-tiny.spec).
 *
 * Selectors, "column=a|b,column=c", choose rows of a measurement's table. Beside the command's own columns it has `model` (the training's name) and
 * `seed` (a number, or "all": the questions of all seeds pooled). "stage=last" is the largest stage that a row of the same model has; "alpha=best"
 * the row whose value is largest. A row without a seed in its selector is asked twice: pooled, and for each seed.
 */
#ifndef PROBES_REPLICATE_H
#define PROBES_REPLICATE_H

#include "ground/err.h"
#include "results/table.h"

#include <stdbool.h>

/* A command line that is run on every finished run of some trainings; MODEL stands for the run's folder, SCALE for the
 * scale's name ("--data four-hop-SCALE"). Without MODEL: run once, nothing is pooled. The
 * tables of all runs become one, ID-NAME.tsv. Pooled rows: n and correct are summed, and accuracy, low and high follow (Wilson); other values are
 * means weighted by n. Behind each value V stand V_least and V_most: the range over seeds. */
struct measurement { const char *name, *trainings /* "a,b", NULL: all */, *line; };

/* A number of a measurement's table. */
struct pick { const char *measurement, *where, *column; };

/* A number to stand beside the paper's. */
struct value {
    const char *what;
    const char *measurement, *where, *column;
    double paper;          /* NAN: the paper gives none */
    const char *brief;     /* a short name for the list of replications, or NULL */
    const char *remark;    /* about the paper's number ("read off a figure"), or NULL */
};

/* A statement that the numbers decide, seed by seed: sign * (left - right) > margin, or, with sign 0, |left - right| < margin; right is a pick,
 * or the number `than` when it has no measurement. */
struct claim {
    const char *text;
    struct pick left;
    int sign;              /* 1: above, -1: below, 0: alike */
    double margin;
    struct pick right;
    double than;
};

/* A figure of pooled rows of one measurement: screenshots/replicate-ID[-NAME].png and .svg. */
struct picture {
    const char *name;      /* "" for the only one */
    const char *measurement, *where;
    const char *kind, *x, *y; /* as of `plot`; NULL: by the columns. A named x is the only axis */
    double width, height;  /* inches; 0: one column of a page */
    const char *caption;   /* what is to be seen, for the card */
};

struct replication {
    const char *id, *help;
    const char *paper;                       /* what the paper reports, and what is different here; a paragraph of the card */
    const char *const *trainings;            /* NULL ends it; NULL: measured live, without training */
    const struct measurement *measurements;  /* these four end with a row of zeros */
    const struct value *values;
    const struct claim *claims;
    const struct picture *pictures;
    const char *example;
};

#endif
