/* Figures 4 and 6 of the paper: the two-hop questions in words, in both formats. One set of numbers, asked of two datasets. */
#include "replicate.h"

#include <math.h>

#define END(what, model, split, stage, paper, brief, remark) \
    {what, "eval", "model=" model ",split=" split ",stage=" stage, "accuracy", paper, brief, remark}
#define P_BRIDGE(what, where, model, split) {what, where, "model=" model ",split=" split ",boundary=1", "p_bridge", NAN, NULL, NULL}
#define PICK(model, split, stage) {"eval", "model=" model ",split=" split ",stage=" stage, "accuracy"}
#define SINGLE(model, epoch) {"log", "model=" model ",split=train_two_hop,stage=1,epoch=" epoch, "accuracy"}

/* LATER: the position behind the first hop's end, and WORD, which stands there. */
#define LANGUAGE(FORMAT, LATER, WORD) \
    .trainings = (const char *const[]){FORMAT "-gate", FORMAT "-vanilla", NULL}, \
    .measurements = (const struct measurement[]){ \
        {"log", NULL, "log MODEL"}, {"eval", NULL, "eval MODEL"}, {"bridge", NULL, "bridge MODEL --split test_id,test_ood"}, \
        {"later", NULL, "bridge MODEL --split test_id,test_ood --position " LATER}, {0}, \
    }, \
    .values = (const struct value[]){ \
        END("DiscoLoop with the gate, facts after loop 1", FORMAT "-gate", "train_atomic", "1", NAN, NULL, NULL), \
        END("DiscoLoop with the gate, ID", FORMAT "-gate", "test_id", "last", 1, "DiscoLoop ID", "about 100 % in the paper's figure"), \
        END("DiscoLoop with the gate, OOD", FORMAT "-gate", "test_ood", "last", 0.95, "OOD", "about 95 % in the paper's figure"), \
        END("vanilla, facts after loop 1", FORMAT "-vanilla", "train_atomic", "1", NAN, NULL, NULL), \
        END("vanilla, ID", FORMAT "-vanilla", "test_id", "last", 0.9, NULL, "about 90 % in the paper's figure"), \
        END("vanilla, OOD", FORMAT "-vanilla", "test_ood", "last", NAN, "vanilla OOD", "the paper says that it fails, without a number"), \
        END("DiscoLoop, two-hop training questions after one loop", FORMAT "-gate", "train_two_hop", "1", NAN, NULL, NULL), \
        END("vanilla, two-hop training questions after one loop", FORMAT "-vanilla", "train_two_hop", "1", NAN, NULL, NULL), \
        P_BRIDGE("DiscoLoop, P(bridge) at the first hop's end, ID", "bridge", FORMAT "-gate", "test_id"), \
        P_BRIDGE("DiscoLoop, P(bridge) behind it, at " WORD ", ID", "later", FORMAT "-gate", "test_id"), \
        P_BRIDGE("DiscoLoop, P(bridge) at the first hop's end, OOD", "bridge", FORMAT "-gate", "test_ood"), \
        P_BRIDGE("DiscoLoop, P(bridge) behind it, at " WORD ", OOD", "later", FORMAT "-gate", "test_ood"), \
        P_BRIDGE("vanilla, P(bridge) at the first hop's end, ID", "bridge", FORMAT "-vanilla", "test_id"), \
        P_BRIDGE("vanilla, P(bridge) behind it, at " WORD ", ID", "later", FORMAT "-vanilla", "test_id"), \
        P_BRIDGE("vanilla, P(bridge) at the first hop's end, OOD", "bridge", FORMAT "-vanilla", "test_ood"), \
        P_BRIDGE("vanilla, P(bridge) behind it, at " WORD ", OOD", "later", FORMAT "-vanilla", "test_ood"), \
        {0}, \
    }, \
    .claims = (const struct claim[]){ \
        {"DiscoLoop answers held-out questions about graph A (ID above 90 %)", PICK(FORMAT "-gate", "test_id", "last"), 1, 0, .than = 0.9}, \
        {"the vanilla loop does too (ID above 60 %)", PICK(FORMAT "-vanilla", "test_id", "last"), 1, 0, .than = 0.6}, \
        {"DiscoLoop is at least 20 points above the vanilla loop out of distribution", PICK(FORMAT "-gate", "test_ood", "last"), 1, 0.2, \
         PICK(FORMAT "-vanilla", "test_ood", "last")}, \
        {"DiscoLoop answers most questions about graph B (OOD above 50 %)", PICK(FORMAT "-gate", "test_ood", "last"), 1, 0, .than = 0.5}, \
        {"the vanilla loop fails out of distribution (OOD below 15 %)", PICK(FORMAT "-vanilla", "test_ood", "last"), -1, 0, .than = 0.15}, \
        {"DiscoLoop stops answering two-hop questions in one loop: its stage 1 falls from its highest by 5 points or more", \
         SINGLE(FORMAT "-gate", "best"), 1, 0.05, SINGLE(FORMAT "-gate", "last")}, \
        {0}, \
    }, \
    .pictures = (const struct picture[]){ \
        {"", "log", "split=test_id|test_ood,stage=2", "curve", "epoch", "accuracy", 0, 0, \
         "Answers after both loops, over training: ID solid, OOD dashed."}, \
        {"single-loop", "log", "split=train_two_hop,stage=1", "curve", "epoch", "accuracy", 0, 0, \
         "Training questions of two hops answered after one loop alone: what a model memorises instead of composing."}, \
        {0}, \
    }

const struct replication replication_figure_4 = {
    .id = "figure-4",
    .help = "questions in words, \"Suka 's daughter 's client is\": ID and OOD over training",
    .paper = "Word-level language, one token for every entity and relation, read at \"is\": the paper trains the gate for 5,000 "
             "epochs; DiscoLoop gets nearly all of both graphs, the vanilla loop graph A alone, and answers that need only one loop "
             "fade near epoch 400. How its facts are worded is not said. Here each stands as a sentence, \"Suka 's daughter is\", and as a phrase, "
             "\"Suka 's daughter\": with sentences alone P(bridge) stayed at 0.002, and DiscoLoop had ID 45.8 % and OOD 1.0 % (one seed, 70 epochs).",
    LANGUAGE("language-direct", "3", "the second 's"),
    .example = "replicate figure-4 --seeds 1",
};

const struct replication replication_figure_6 = {
    .id = "figure-6",
    .help = "the same with the last relation first, \"The client of Suka 's daughter is\"",
    .paper = "The reverse format: the second relation is read before the first. The paper reports what it reports for the direct "
             "one. Here each fact stands as a sentence, \"The daughter of Suka is\", and as a phrase, \"Suka 's daughter\".",
    LANGUAGE("language-reverse", "6", "\"is\""),
    .example = "replicate figure-6 --seeds 1",
};
