/* A model: a family's architecture with weights, read-only while it is used. Loaded from a folder, or fresh for training.
 *
 *     struct model *model = model_open("models/vanilla", sink, err);
 *     ... run it (models/run.h) ...
 *     model_free(model);
 *
 * A weight stays as its file stores it, mapped; bf16 and f16 are widened where they are used. A model made for training (model_trainable) owns one
 * block of f32 parameters, in which weight->offset is a weight's place; optimiser state and gradients are blocks of the same layout.
 */
#ifndef MODELS_MODEL_H
#define MODELS_MODEL_H

#include "ground/rng.h"
#include "models/config.h"
#include "models/safetensors.h"
#include "numbers/weight.h"

struct model;

/* What a family's declare uses. Weights are declared once, here; the pointer stays good as long as the model. */
struct builder {
    struct model *model;
    struct config *config;
};
const struct weight *build_weight(struct builder *builder, enum weight_use use, int rows, int cols, const char *name, ...)
    __attribute__((format(printf, 5, 6)));  /* a matrix (rows, cols) */
const struct weight *build_vector(struct builder *builder, enum weight_use use, int size, const char *name, ...)
    __attribute__((format(printf, 4, 5)));  /* stored as (size) */
void build_other_name(struct builder *builder, const struct weight *weight, const char *name); /* tied: may be stored under this name (too) */
void build_shape(struct builder *builder, const struct weight *weight, int dims,
                 const int *shape);                               /* stored with other dims (up to 4) than declared */
void build_ignored(struct builder *builder, const char *pattern); /* "*.inv_freq": what files hold and is computed here: no note about it */
void *build_new(struct builder *builder, size_t size); /* zeroed, dies with the model */

struct run;
struct tensor;

/* A family of looped transformers: one file in src/arch. */
struct family {
    const char *model_type;     /* in config.json */
    const char *help;           /* one line */
    const char *boundary;       /* "loop" or "token" */
    const char *example;        /* a tiny config.json text: what tests build and run */
    /* Reads the config, declares every parameter, sets the sizes in builder->model; mistakes go to config_wrong. */
    void (*declare)(struct builder *builder);
    struct tensor *(*forward)(struct run *run);                                    /* -> logits at the wanted places */
    struct tensor *(*decode)(struct run *run, struct tensor *state, int boundary); /* a state -> logits: the head and every lens */
};

struct model {
    char *path, *name;
    const struct family *family;
    struct config *config;
    struct tensor_set *set;     /* NULL for a fresh model */
    void *arch;                 /* the family's own description, made by declare */
    struct weight **weights;
    size_t weight_count, weight_room;
    size_t parameter_count;     /* numbers in a block of all weights; each starts at a multiple of 16, so there are gaps (see model_numbers) */
    float *block;               /* trainable: all parameters; NULL for a mapped model */
    struct arena *arena;        /* what declare made */
    const char *ignored[8];     /* patterns of build_ignored */
    int ignored_count;
    /* Set by declare: */
    int vocab_size, width, loops, blocks;
    int longest;                /* tokens a sequence may have (learned positions); 0: any number */
    int prelude, coda;          /* unshared blocks before and behind the loops; with a coda, decode reads whole sequences */
    bool blends;                /* the logits decode a blend of h.1 ... h.K, not h.K alone */
    bool exits;                 /* has a gate that lets positions leave early: run->exit_threshold means something */
    const struct weight *table; /* W: the embedding */
    const char *interface;      /* in words, for lists */
    const char *start;          /* h.0 in words, where it is not the embedding; NULL: it is */
    bool start_drawn;           /* h.0 is drawn from run->seed unless it is given */
    double eps;                 /* of the RMS norm: interventions norm with the same */
};

/* Refuses what cannot be right; notes what is odd: unknown keys and tensors, defaults, NaN ... */
struct model *model_open(const char *folder, struct sink *sink, struct err *err);
bool model_is_there(const char *folder, struct err *err); /* a folder that could be one; nothing is read */

/* From a config text alone, weights not drawn yet (all zero), trainable. label: what messages call the text. */
struct model *model_fresh(const char *config_text, const char *label, struct sink *sink, struct err *err);

/* The same without memory for the weights: what it declares, for sizes that are only written. */
struct model *model_outline(const char *config_text, const char *label, struct sink *sink, struct err *err);

/* A trainable f32 copy of an opened model. */
struct model *model_trainable(const struct model *model, struct err *err);
void model_free(struct model *model);

/* Writes config.json and model.safetensors (weights as dtype) into the folder, each atomically. */
bool model_save(const struct model *model, const char *folder, enum dtype dtype, struct err *err);

bool model_by_token(const struct model *model); /* the boundary is the token: states are s.0 ... s.T, not h.0 ... h.K */
size_t model_numbers(const struct model *model); /* parameters: numbers in all weights, without gaps */

/* SHA-256 of the weights file(s), 64 hex digits; "" for a fresh model. */
const char *model_hash(const struct model *model);

#endif
