/* Table 1 of the paper: the vanilla loop, by stage and split, and what stands at the bridge position between its loops. */
#include "replicate.h"

#define ROW(what, split, stage, paper, brief) {what, "eval", "split=" split ",stage=" stage, "accuracy", paper, brief}

const struct replication replication_table_1a = {
    .id = "table-1a",
    .help = "the vanilla loop: accuracy by split and stage",
    .paper = "The paper's vanilla loop knows all facts after one loop, answers its training questions and most held-out questions about graph A "
             "(ID) after two, and almost none about graph B (OOD), of which it has seen the facts alone.",
    .trainings = (const char *const[]){"vanilla", NULL},
    .measurements = (const struct measurement[]){{"eval", NULL, "eval MODEL"}, {0}},
    .values = (const struct value[]){
        ROW("stage 1, facts", "train_atomic", "1", 1, NULL),
        ROW("stage 1, two-hop training", "train_two_hop", "1", 0.088, NULL),
        ROW("stage 1, ID", "test_id", "1", 0.009, NULL),
        ROW("stage 1, OOD", "test_ood", "1", 0, NULL),
        ROW("stage 2, facts", "train_atomic", "2", 1, NULL),
        ROW("stage 2, two-hop training", "train_two_hop", "2", 1, NULL),
        ROW("stage 2, ID", "test_id", "2", 0.711, "ID"),
        ROW("stage 2, OOD", "test_ood", "2", 0.083, "OOD"),
        {0},
    },
    .claims = (const struct claim[]){
        {"all facts are known after loop 1 (above 98 %)", {"eval", "split=train_atomic,stage=1", "accuracy"}, 1, 0, .than = 0.98},
        {"two-hop training questions are not answered after loop 1 (below 20 %)", {"eval", "split=train_two_hop,stage=1", "accuracy"}, -1, 0,
         .than = 0.2},
        {"two-hop training questions are answered after loop 2 (above 98 %)", {"eval", "split=train_two_hop,stage=2", "accuracy"}, 1, 0,
         .than = 0.98},
        {"held-out questions about graph A are answered (ID above 60 %)", {"eval", "split=test_id,stage=2", "accuracy"}, 1, 0, .than = 0.6},
        {"questions about graph B are not (OOD below 15 %)", {"eval", "split=test_ood,stage=2", "accuracy"}, -1, 0, .than = 0.15},
        {0},
    },
    .example = "replicate table-1a --seeds 1",
};

const struct replication replication_table_1b = {
    .id = "table-1b",
    .help = "the vanilla loop after loop 1: P(bridge) and its cosine with W[bridge]",
    .paper = "At position 1 the state after loop 1 decodes to the bridge with certainty, on both graphs, and yet points elsewhere than the "
             "bridge's embedding: decodable, not aligned.",
    .trainings = (const char *const[]){"vanilla", NULL},
    .measurements = (const struct measurement[]){{"bridge", NULL, "bridge MODEL --split test_id,test_ood"}, {0}},
    .values = (const struct value[]){
        {"P(bridge), ID", "bridge", "split=test_id,boundary=1,position=1", "p_bridge", 1, NULL},
        {"P(bridge), OOD", "bridge", "split=test_ood,boundary=1,position=1", "p_bridge", 1, "P OOD"},
        {"cosine with W[bridge], ID", "bridge", "split=test_id,boundary=1,position=1", "cosine", 0.327, NULL},
        {"cosine with W[bridge], OOD", "bridge", "split=test_ood,boundary=1,position=1", "cosine", 0.266, "cosine OOD"},
        {0},
    },
    .claims = (const struct claim[]){
        {"the bridge is decodable, ID (P above 0.95)", {"bridge", "split=test_id,boundary=1,position=1", "p_bridge"}, 1, 0, .than = 0.95},
        {"the bridge is decodable, OOD (P above 0.95)", {"bridge", "split=test_ood,boundary=1,position=1", "p_bridge"}, 1, 0, .than = 0.95},
        {"the state is not aligned, ID (cosine below 0.5)", {"bridge", "split=test_id,boundary=1,position=1", "cosine"}, -1, 0, .than = 0.5},
        {"the state is not aligned, OOD (cosine below 0.5)", {"bridge", "split=test_ood,boundary=1,position=1", "cosine"}, -1, 0, .than = 0.5},
        {"the OOD bridge is less aligned than the ID bridge", {"bridge", "split=test_ood,boundary=1,position=1", "cosine"}, -1, 0,
         {"bridge", "split=test_id,boundary=1,position=1", "cosine"}},
        {0},
    },
    .example = "replicate table-1b --seeds 1",
};
