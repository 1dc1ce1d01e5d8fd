/* Figure 3 of the paper: accuracy over training for a non-looped model of the same depth, the vanilla loop and DiscoLoop. */
#include "replicate.h"

#define END(model, split) "model=" model ",split=" split ",stage=last,epoch=last"
#define LAST(model, split) {"log", END(model, split), "accuracy"}

const struct replication replication_figure_3 = {
    .id = "figure-3",
    .help = "accuracy over training: non-looped, vanilla loop, DiscoLoop",
    .paper = "In the paper DiscoLoop reaches about 100 % ID and OOD within 3,000 epochs (above 80 % near epoch 500), the vanilla loop stays at "
             "about 70 % and below 10 %, and a non-looped model of equal compute below 20 % and near 0; stage-1 accuracy on two-hop training "
             "questions collapses as DiscoLoop's test accuracy rises. (What counts as a collapse was set to 10 points after seed 0 of the small "
             "scale had been seen, where it had been 2: the highest of many noisy values lies above the last even where nothing falls.)",
    .trainings = (const char *const[]){"vanilla", "discoloop", "nonlooped", NULL},
    .measurements = (const struct measurement[]){{"log", NULL, "log MODEL"}, {0}},
    .values = (const struct value[]){
        {"non-looped, ID", "log", END("nonlooped", "test_id"), "accuracy", 0.2, NULL, "an upper bound"},
        {"non-looped, OOD", "log", END("nonlooped", "test_ood"), "accuracy", 0, "non-looped OOD", "read as about this"},
        {"vanilla loop, ID", "log", END("vanilla", "test_id"), "accuracy", 0.711, NULL, NULL},
        {"vanilla loop, OOD", "log", END("vanilla", "test_ood"), "accuracy", 0.083, "vanilla OOD", NULL},
        {"DiscoLoop, ID", "log", END("discoloop", "test_id"), "accuracy", 1, NULL, "read as about this"},
        {"DiscoLoop, OOD", "log", END("discoloop", "test_ood"), "accuracy", 1, "DiscoLoop OOD", "read as about this"},
        {"DiscoLoop, stage-1 two-hop training, highest", "log", "model=discoloop,split=train_two_hop,stage=1,epoch=best", "accuracy", NAN, NULL,
         NULL},
        {"DiscoLoop, stage-1 two-hop training, at the end", "log", "model=discoloop,split=train_two_hop,stage=1,epoch=last", "accuracy", NAN, NULL,
         NULL},
        {0},
    },
    .claims = (const struct claim[]){
        {"DiscoLoop answers more OOD questions than the vanilla loop (more than 10 points)", LAST("discoloop", "test_ood"), 1, 0.1,
         LAST("vanilla", "test_ood")},
        {"DiscoLoop answers nearly all OOD questions (above 95 %)", LAST("discoloop", "test_ood"), 1, 0, .than = 0.95},
        {"DiscoLoop answers nearly all ID questions (above 95 %)", LAST("discoloop", "test_id"), 1, 0, .than = 0.95},
        {"the vanilla loop answers few OOD questions (below 15 %)", LAST("vanilla", "test_ood"), -1, 0, .than = 0.15},
        {"the non-looped model answers few OOD questions (below 5 %)", LAST("nonlooped", "test_ood"), -1, 0, .than = 0.05},
        {"the non-looped model answers few ID questions (below 20 %)", LAST("nonlooped", "test_id"), -1, 0, .than = 0.2},
        {"DiscoLoop's stage-1 accuracy on two-hop training questions collapses (by more than 10 points from its highest)",
         {"log", "model=discoloop,split=train_two_hop,stage=1,epoch=best", "accuracy"}, 1, 0.1,
         {"log", "model=discoloop,split=train_two_hop,stage=1,epoch=last", "accuracy"}},
        {0},
    },
    .pictures = (const struct picture[]){
        {"test", "log", "split=test_id|test_ood,stage=last", "curve", "epoch", "accuracy", 4.6, 3.2,
         "Accuracy on held-out questions over training, at the last stage."},
        {"stage-1", "log", "split=train_two_hop,stage=1,model=vanilla|discoloop", "curve", "epoch", "accuracy", 0, 0,
         "Accuracy after loop 1 on two-hop training questions, over training."},
        {0},
    },
    .example = "replicate figure-3 --seeds 1",
};
