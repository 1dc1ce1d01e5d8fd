/* Not in the paper: what the interfaces cost, and what they give at equal cost. */
#include "replicate.h"

#define COST(name, shape, interface, column, brief) {name, "cost", "shape=" shape ",interface=" interface, column, NAN, brief, NULL}
#define TIME(interface) {"cost", "shape=small,interface=" interface, "train_time"}

const struct replication replication_overhead = {
    .id = "overhead",
    .help = "throughput, memory and equal-compute quality of each interface; 129,280 tokens",
    .paper = "The paper does not report what the return costs; full decode and mix take O(T V d) operations. Times are relative to the plain "
             "loop at the same shape, medians of interleaved rounds, processor time of one thread, measured live (so these numbers, unlike all "
             "others, differ a little each time). Equal-compute quality comes from the training runs' logs: accuracy against matrix products "
             "spent.",
    .trainings = (const char *const[]){"vanilla", "discoloop", NULL},
    .measurements = (const struct measurement[]){{"cost", NULL, "overhead"}, {"log", NULL, "log MODEL"}, {0}},
    .values = (const struct value[]){
        COST("plain loop, V = 250: rows/s forward", "small", "none", "rows_per_s", NULL),
        COST("DiscoLoop, V = 250: forward time", "small", "discoloop", "time", NULL),
        COST("DiscoLoop, V = 250: training time", "small", "discoloop", "train_time", "training time"),
        COST("gate, V = 250: training time", "small", "gate", "train_time", NULL),
        COST("top 8, V = 250: training time", "small", "top-8", "train_time", NULL),
        COST("ponder_sum, V = 250: training time", "small", "ponder_sum", "train_time", NULL),
        COST("residual control, V = 250: training time", "small", "residual", "train_time", NULL),
        COST("plain loop, V = 250: training memory, MB", "small", "none", "train_memory_mb", NULL),
        COST("DiscoLoop, V = 250: training memory, MB", "small", "discoloop", "train_memory_mb", NULL),
        COST("DiscoLoop, V = 129,280: forward time", "vocabulary", "discoloop", "time", "V = 129,280: forward time"),
        COST("top 128, V = 129,280: forward time", "vocabulary", "top-128", "time", "top 128"),
        COST("DiscoLoop, V = 129,280: training time", "vocabulary", "discoloop", "train_time", NULL),
        COST("top 128, V = 129,280: training time", "vocabulary", "top-128", "train_time", NULL),
        COST("plain loop, V = 129,280: training memory, MB", "vocabulary", "none", "train_memory_mb", NULL),
        COST("DiscoLoop, V = 129,280: training memory, MB", "vocabulary", "discoloop", "train_memory_mb", NULL),
        COST("top 128, V = 129,280: training memory, MB", "vocabulary", "top-128", "train_memory_mb", NULL),
        {"vanilla, OOD at the end", "log", "model=vanilla,split=test_ood,stage=last,epoch=last", "accuracy", NAN, NULL, NULL},
        {"vanilla, compute at the end, TFLOP", "log", "model=vanilla,split=test_ood,stage=last,epoch=last", "tflop", NAN, NULL, NULL},
        {"DiscoLoop, OOD at 145 epochs", "log", "model=discoloop,split=test_ood,stage=last,epoch=145", "accuracy", NAN, NULL, NULL},
        {"DiscoLoop, compute at 145 epochs, TFLOP", "log", "model=discoloop,split=test_ood,stage=last,epoch=145", "tflop", NAN, NULL, NULL},
        {0},
    },
    .claims = (const struct claim[]){
        {"with a small vocabulary DiscoLoop trains at less than 1.3 times the plain loop's time", TIME("discoloop"), -1, 0, .than = 1.3},
        {"with 129,280 tokens the return dominates (more than twice the plain loop's forward time)",
         {"cost", "shape=vocabulary,interface=discoloop", "time"}, 1, 0, .than = 2},
        {"cutting to 128 of 129,280 tokens saves forward time", {"cost", "shape=vocabulary,interface=top-128", "time"}, -1, 0,
         {"cost", "shape=vocabulary,interface=discoloop", "time"}},
        {"at no more compute than the vanilla loop's whole training (145 epochs) DiscoLoop answers more OOD questions (more than 10 points)",
         {"log", "model=discoloop,split=test_ood,stage=last,epoch=145", "accuracy"}, 1, 0.1,
         {"log", "model=vanilla,split=test_ood,stage=last,epoch=last", "accuracy"}},
        {0},
    },
    .pictures = (const struct picture[]){
        {"", "log", "split=test_id|test_ood,stage=last", "curve", "tflop", "accuracy", 4.6, 3.2,
         "Accuracy against the matrix products spent on training."}, {0}},
    .example = "replicate overhead --seeds 1",
};
