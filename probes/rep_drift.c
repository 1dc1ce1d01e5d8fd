/* Not in the paper: the bridge's position is not the only one that drifts. */
#include "replicate.h"

#define COS(model, split, position) "model=" model ",split=" split ",boundary=1,position=" position
#define PAIR(alpha, second) "model=vanilla,split=test_ood,1.alpha=" alpha ",2.alpha=" second

const struct replication replication_drift = {
    .id = "drift",
    .help = "how far every position's state leaves its own token's embedding, and edits at several positions",
    .paper = "The paper looks at position 1 alone. But the state of the query's second relation, at position 2, drifts as well: resetting it "
             "towards its own embedding, beside the paper's edit at position 1, rescues more. The numbers are ours alone; best alphas were "
             "chosen on these same questions.",
    .trainings = (const char *const[]){"vanilla", "discoloop", NULL},
    .measurements = (const struct measurement[]){
        {"cosines", NULL, "drift MODEL --split test_id,test_ood"},
        {"edits", "vanilla", "sweep MODEL --do mix@h.1:position=1,target=decoded --do mix@h.1:position=2,target=input --over 1.alpha=0:1:0.1 "
                             "--over 2.alpha=0,0.25,0.5,0.75,1"},
        {"resets", "vanilla", "sweep MODEL --do mix@h.1:position=0,target=input --do mix@h.1:position=1,target=decoded --do "
                              "mix@h.1:position=2,target=input "
                              "--over 1.alpha=0,1 --over 2.alpha=0,1 --over 3.alpha=0,1"},
        {0},
    },
    .values = (const struct value[]){
        {"vanilla, cosine at position 0, ID", "cosines", COS("vanilla", "test_id", "0"), "cosine", NAN, NULL, NULL},
        {"vanilla, cosine at position 0, OOD", "cosines", COS("vanilla", "test_ood", "0"), "cosine", NAN, NULL, NULL},
        {"vanilla, cosine at position 1, ID", "cosines", COS("vanilla", "test_id", "1"), "cosine", NAN, NULL, NULL},
        {"vanilla, cosine at position 1, OOD", "cosines", COS("vanilla", "test_ood", "1"), "cosine", NAN, NULL, NULL},
        {"vanilla, cosine at position 2, ID", "cosines", COS("vanilla", "test_id", "2"), "cosine", NAN, NULL, NULL},
        {"vanilla, cosine at position 2, OOD", "cosines", COS("vanilla", "test_ood", "2"), "cosine", NAN, "cosine at 2", NULL},
        {"DiscoLoop, cosine at position 2, OOD", "cosines", COS("discoloop", "test_ood", "2"), "cosine", NAN, NULL, NULL},
        {"OOD, untouched", "edits", "split=test_ood,1.alpha=0,2.alpha=0", "accuracy", NAN, "OOD", NULL},
        {"OOD, position 1, best alpha", "edits", "split=test_ood,1.alpha=best,2.alpha=0", "accuracy", NAN, "position 1", NULL},
        {"OOD, position 2, best alpha", "edits", "split=test_ood,1.alpha=0,2.alpha=best", "accuracy", NAN, NULL, NULL},
        {"OOD, positions 1 and 2, best alphas", "edits", "split=test_ood,1.alpha=best,2.alpha=best", "accuracy", NAN, "1 and 2", NULL},
        {"OOD, every position reset to an embedding", "resets", "split=test_ood,1.alpha=1,2.alpha=1,3.alpha=1", "accuracy", NAN, NULL, NULL},
        {0},
    },
    .claims = (const struct claim[]){
        {"the state at position 2 has left its own token's embedding (cosine below 0.7)", {"cosines", COS("vanilla", "test_ood", "2"), "cosine"}, -1,
         0, .than = 0.7},
        {"editing positions 1 and 2 rescues more than position 1 alone (more than 10 points)", {"edits", PAIR("best", "best"), "accuracy"}, 1, 0.1,
         {"edits", PAIR("best", "0"), "accuracy"}},
        {"position 2 alone does little (less than 10 points above untouched)", {"edits", PAIR("0", "best"), "accuracy"}, -1, -0.1,
         {"edits", PAIR("0", "0"), "accuracy"}},
        {0},
    },
    .pictures = (const struct picture[]){
        {"edits", "edits", "split=test_ood", "curve", NULL, "accuracy", 4.6, 3.2,
         "OOD accuracy against alpha at position 1 (the decoded token), for several weights of position 2's own embedding."},
        {"cosines", "cosines", "", "curve", "position", "cosine", 0, 0,
         "Cosine of h.1 with the embedding of its own token, by position; bands: range over seeds."},
        {0},
    },
    .example = "replicate drift --seeds 1",
};
