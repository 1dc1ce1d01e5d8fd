/* Not in the paper: the scale that the embedding is drawn with decides how much the intervention rescues. */
#include "replicate.h"

#include <math.h>

#define AT(model, split, alpha) {"edit", "model=" model ",split=" split ",1.alpha=" alpha ",2.alpha=0", "accuracy"}
#define BOTH(model) {"edit", "model=" model ",split=test_ood,1.alpha=best,2.alpha=best", "accuracy"}
#define ROWS(name, model, brief) \
    {name ", ID", "edit", "model=" model ",split=test_id,1.alpha=0,2.alpha=0", "accuracy", NAN, NULL, NULL}, \
    {name ", OOD", "edit", "model=" model ",split=test_ood,1.alpha=0,2.alpha=0", "accuracy", 0.083, NULL, NULL}, \
    {name ", OOD, position 1 edited, best alpha", "edit", "model=" model ",split=test_ood,1.alpha=best,2.alpha=0", "accuracy", 0.99, brief, \
     "read off figure 2, at 0.7 to 0.8"}, \
    {name ", OOD, positions 1 and 2 edited, best alphas", "edit", "model=" model ",split=test_ood,1.alpha=best,2.alpha=best", "accuracy", NAN, \
     NULL, NULL}, \
    {name ", P(bridge), OOD", "bridge", "model=" model ",split=test_ood,boundary=1", "p_bridge", 1, NULL, NULL}, \
    {name ", cosine, OOD", "bridge", "model=" model ",split=test_ood,boundary=1", "cosine", 0.266, NULL, NULL}

const struct replication replication_embedding = {
    .id = "embedding",
    .help = "the vanilla loop with narrower embeddings: how much the intervention rescues",
    .paper = "The paper does not say how wide its embedding is drawn. Where the other results have sd 3, here stand sd 1 and 0.5 beside it: the "
             "same data, steps and stage-1 loss. Position 1 is mixed with its decoded token, position 2 with its own. Best alphas were chosen on "
             "these same questions; the statements were made after seed 0 of sd 3 and of sd 1 had been seen.",
    .trainings = (const char *const[]){"vanilla", "vanilla-sd1", "vanilla-sd05", NULL},
    .measurements = (const struct measurement[]){
        {"edit", NULL, "sweep MODEL --do mix@h.1:position=1,target=decoded --do mix@h.1:position=2,target=input --over 1.alpha=0:1:0.1 "
                       "--over 2.alpha=0,0.2,0.4,0.6"},
        {"bridge", NULL, "bridge MODEL --split test_id,test_ood"},
        {0},
    },
    .values = (const struct value[]){
        ROWS("sd 3", "vanilla", "sd 3 rescued"), ROWS("sd 1", "vanilla-sd1", "sd 1 rescued"), ROWS("sd 0.5", "vanilla-sd05", "sd 0.5 rescued"), {0},
    },
    .claims = (const struct claim[]){
        {"sd 1 is rescued further than sd 3 (more than 10 points)", AT("vanilla-sd1", "test_ood", "best"), 1, 0.1, AT("vanilla", "test_ood", "best")},
        {"sd 0.5 is rescued further than sd 3 (more than 10 points)", AT("vanilla-sd05", "test_ood", "best"), 1, 0.1,
         AT("vanilla", "test_ood", "best")},
        {"with sd 1 the rescue at position 1 is complete (above 95 %)", AT("vanilla-sd1", "test_ood", "best"), 1, 0, .than = 0.95},
        {"with sd 1 position 2's own token still adds more than 10 points", BOTH("vanilla-sd1"), 1, 0.1, AT("vanilla-sd1", "test_ood", "best")},
        {0},
    },
    .pictures = (const struct picture[]){
        {"", "edit", "split=test_id|test_ood,2.alpha=0", "curve", "1.alpha", "accuracy", 4.6, 3.2,
         "Accuracy against alpha at position 1, for three scales of the embedding; ID solid, OOD dashed."},
        {0},
    },
    .example = "replicate embedding --seeds 1",
};
