/* Figure 5 of the paper (three hops), and what happens beyond the depth that was trained: deeper questions, more loops. */
#include "replicate.h"

#include <math.h>

#define END(what, model, split, paper, brief, remark) \
    {what, "eval", "model=" model ",split=" split ",stage=last", "accuracy", paper, brief, remark}
#define PICK(model, split) {"eval", "model=" model ",split=" split ",stage=last", "accuracy"}

const struct replication replication_figure_5 = {
    .id = "figure-5",
    .help = "three hops, K = 3, trained on two- and three-hop questions: ID and OOD over training",
    .paper = "Trained on facts, two-hop and three-hop questions of graph A, asked three-hop questions about graph B: in the paper "
             "DiscoLoop gets about 65 %, the vanilla loop and three blocks without a loop nearly none.",
    .trainings = (const char *const[]){"three-hop-discoloop", "three-hop-vanilla", "three-hop-nonlooped", NULL},
    .measurements = (const struct measurement[]){
        {"log", NULL, "log MODEL"},
        {"eval", NULL, "eval MODEL"},
        {"bridge", "three-hop-discoloop,three-hop-vanilla", "bridge MODEL --boundary -1 --split test_id,test_ood"},
        {0},
    },
    .values = (const struct value[]){
        END("DiscoLoop, three hops, ID", "three-hop-discoloop", "test_id", NAN, NULL, NULL),
        END("DiscoLoop, three hops, OOD", "three-hop-discoloop", "test_ood", 0.65, "DiscoLoop OOD", "read off the paper's figure"),
        END("vanilla, three hops, ID", "three-hop-vanilla", "test_id", NAN, NULL, NULL),
        END("vanilla, three hops, OOD", "three-hop-vanilla", "test_ood", 0, "vanilla OOD", "about 0 in the paper's figure"),
        END("no loop, three hops, ID", "three-hop-nonlooped", "test_id", NAN, NULL, NULL),
        END("no loop, three hops, OOD", "three-hop-nonlooped", "test_ood", 0, "no loop OOD", "about 0 in the paper's figure"),
        END("DiscoLoop, two hops, ID", "three-hop-discoloop", "test_two_hop_id", NAN, NULL, NULL),
        END("DiscoLoop, two hops, OOD", "three-hop-discoloop", "test_two_hop_ood", NAN, NULL, NULL),
        END("vanilla, two hops, ID", "three-hop-vanilla", "test_two_hop_id", NAN, NULL, NULL),
        END("vanilla, two hops, OOD", "three-hop-vanilla", "test_two_hop_ood", NAN, NULL, NULL),
        END("no loop, two hops, ID", "three-hop-nonlooped", "test_two_hop_id", NAN, NULL, NULL),
        END("no loop, two hops, OOD", "three-hop-nonlooped", "test_two_hop_ood", NAN, NULL, NULL),
        {0},
    },
    .claims = (const struct claim[]){
        {"DiscoLoop answers three-hop questions about graph B (OOD above 30 %)", PICK("three-hop-discoloop", "test_ood"), 1, 0, .than = 0.3},
        {"DiscoLoop answers held-out three-hop questions about graph A (ID above 60 %)", PICK("three-hop-discoloop", "test_id"), 1, 0, .than = 0.6},
        {"the vanilla loop does too", PICK("three-hop-vanilla", "test_id"), 1, 0, .than = 0.6},
        {"DiscoLoop is at least 20 points above the vanilla loop out of distribution", PICK("three-hop-discoloop", "test_ood"), 1, 0.2,
         PICK("three-hop-vanilla", "test_ood")},
        {"the vanilla loop fails out of distribution (OOD below 10 %)", PICK("three-hop-vanilla", "test_ood"), -1, 0, .than = 0.1},
        {"blocks without a loop fail out of distribution (OOD below 10 %)", PICK("three-hop-nonlooped", "test_ood"), -1, 0, .than = 0.1},
        {"two hops are easier than three for DiscoLoop, out of distribution", PICK("three-hop-discoloop", "test_two_hop_ood"), 1, 0,
         PICK("three-hop-discoloop", "test_ood")},
        {0},
    },
    .pictures = (const struct picture[]){
        {"", "log", "split=test_id|test_ood,stage=last", "curve", "epoch", "accuracy", 0, 0,
         "Three-hop questions over training: ID solid, OOD dashed."},
        {"two-hop", "log", "split=test_two_hop_id|test_two_hop_ood,stage=last", "curve", "epoch", "accuracy", 0, 0,
         "The same models on two-hop questions: ID solid, OOD dashed."},
        {0},
    },
    .example = "replicate figure-5 --seeds 1",
};

/* A run with K' loops decodes after each of them, and no loop knows how many follow: its stage k is the answer of a run with k loops. */
#define LOOPS(what, model, split, loops) {what, "eval", "model=" model ",split=" split ",stage=" loops, "accuracy", NAN, NULL, NULL}
#define LOOPED(model, split, loops) {"eval", "model=" model ",split=" split ",stage=" loops, "accuracy"}
#define DEPTHS(name, model, trained, brief) \
    LOOPS(name ", two hops, " trained " loops, ID", model, "test_two_hop_id", trained), \
    LOOPS(name ", two hops, " trained " loops, OOD", model, "test_two_hop_ood", trained), \
    LOOPS(name ", three hops, 3 loops, ID", model, "test_three_hop_id", "3"), \
    {name ", three hops, 3 loops, OOD", "eval", "model=" model ",split=test_three_hop_ood,stage=3", "accuracy", NAN, brief, NULL}, \
    LOOPS(name ", four hops, 4 loops, ID", model, "test_id", "4"), \
    LOOPS(name ", four hops, 4 loops, OOD", model, "test_ood", "4"), \
    LOOPS(name ", two hops, 6 loops, ID", model, "test_two_hop_id", "6")

/* Does the third hop fail for want of its bridge, or because its relation, at position 3, did not wait? */
#define WAITING(name, model) \
    SECOND(name ", three hops: P(second bridge) after loop 2, ID", model, "test_three_hop_id"), \
    SECOND(name ", three hops: P(second bridge) after loop 2, OOD", model, "test_three_hop_ood"), \
    RESET(name ", three hops, 3 loops, the last relation put back after loop 1, ID", model, "test_three_hop_id"), \
    RESET(name ", three hops, 3 loops, the last relation put back after loop 1, OOD", model, "test_three_hop_ood")
#define SECOND(what, model, split) {what, "bridge", "model=" model ",split=" split ",position=2", "p_bridge", NAN, NULL, NULL}
#define RESET(what, model, split) {what, "reset", "model=" model ",split=" split ",stage=3", "accuracy", NAN, NULL, NULL}

const struct replication replication_depth = {
    .id = "depth",
    .help = "trained up to k hops, asked deeper; more loops at test time than in training",
    .paper = "Not in the paper. Models of two hops (K = 2) and of three (K = 3) are asked questions of two to four hops about the "
             "same graphs with one to six loops. Questions deeper than trained are new in kind, even about graph A. One edit is "
             "made: position 3, where the last relation of three hops stands, gets its own embedding back after loop 1, so that it "
             "reaches the third loop less worn.",
    .trainings = (const char *const[]){"vanilla", "discoloop", "three-hop-vanilla", "three-hop-discoloop", NULL},
    .measurements = (const struct measurement[]){
        {"eval", NULL, "eval MODEL --data four-hop-SCALE --loops 6 "
                       "--split test_two_hop_id,test_two_hop_ood,test_three_hop_id,test_three_hop_ood,test_id,test_ood"},
        {"bridge", "vanilla,discoloop", "bridge MODEL --data four-hop-SCALE --loops 3 --boundary 2 --split test_three_hop_id,test_three_hop_ood"},
        {"reset", "vanilla,discoloop", "eval MODEL --data four-hop-SCALE --loops 3 --do mix@h.1:position=3,target=input,alpha=1 "
                                       "--split test_three_hop_id,test_three_hop_ood"},
        {0},
    },
    .values = (const struct value[]){
        DEPTHS("vanilla", "vanilla", "2", "3 hops with a third loop, OOD: vanilla"),
        DEPTHS("DiscoLoop", "discoloop", "2", "DiscoLoop"),
        WAITING("vanilla", "vanilla"),
        WAITING("DiscoLoop", "discoloop"),
        DEPTHS("vanilla, three hops trained", "three-hop-vanilla", "3", NULL),
        DEPTHS("DiscoLoop, three hops trained", "three-hop-discoloop", "3", NULL),
        {0},
    },
    .claims = (const struct claim[]){
        {"trained on two hops, DiscoLoop has the second bridge of three hops after loop 2 (P above 0.9, ID)",
         {"bridge", "model=discoloop,split=test_three_hop_id,position=2", "p_bridge"}, 1, 0, .than = 0.9},
        {"what fails is the relation that has to wait: put back to its embedding after loop 1, three hops gain 20 points (DiscoLoop, ID)",
         {"reset", "model=discoloop,split=test_three_hop_id,stage=3", "accuracy"}, 1, 0.2, LOOPED("discoloop", "test_three_hop_id", "3")},
        {"the same for the vanilla loop (5 points)", {"reset", "model=vanilla,split=test_three_hop_id,stage=3", "accuracy"}, 1, 0.05,
         LOOPED("vanilla", "test_three_hop_id", "3")},
        {"one loop more than trained helps DiscoLoop out of distribution (two hops, 2 points)", LOOPED("discoloop", "test_two_hop_ood", "3"), 1, 0.02,
         LOOPED("discoloop", "test_two_hop_ood", "2")},
        {"trained on two hops, DiscoLoop answers three hops about graph A with a third loop (above 50 %)",
         LOOPED("discoloop", "test_three_hop_id", "3"), 1, 0, .than = 0.5},
        {"the vanilla loop does (above 50 %)", LOOPED("vanilla", "test_three_hop_id", "3"), 1, 0, .than = 0.5},
        {"the third loop is what answers three hops: more with three loops than with two (DiscoLoop)",
         LOOPED("discoloop", "test_three_hop_id", "3"), 1, 0.05, LOOPED("discoloop", "test_three_hop_id", "2")},
        {"more loops than needed do harm: two hops with six loops are 20 points below two loops (vanilla)",
         LOOPED("vanilla", "test_two_hop_id", "6"), -1, 0.2, LOOPED("vanilla", "test_two_hop_id", "2")},
        {"the same for DiscoLoop", LOOPED("discoloop", "test_two_hop_id", "6"), -1, 0.2, LOOPED("discoloop", "test_two_hop_id", "2")},
        {"trained on three hops, DiscoLoop answers four hops about graph A with a fourth loop (above 50 %)",
         LOOPED("three-hop-discoloop", "test_id", "4"), 1, 0, .than = 0.5},
        {0},
    },
    .pictures = (const struct picture[]){
        {"two-hop", "eval", "model=vanilla|discoloop", "curve", "stage", "accuracy", 4.6, 3.4,
         "Trained on two hops with two loops: two, three and (no depth named) four hops after each loop. ID solid, OOD dashed."},
        {"three-hop", "eval", "model=three-hop-vanilla|three-hop-discoloop", "curve", "stage", "accuracy", 4.6, 3.4,
         "Trained on up to three hops with three loops: two, three and (no depth named) four hops after each loop. ID solid, OOD dashed."},
        {0},
    },
    .example = "replicate depth --seeds 1",
};
