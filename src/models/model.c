#include "models/model.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/match.h"
#include "registry.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 16 /* numbers: weights start 64-byte aligned */ };
static const size_t most_numbers = (size_t)1 << 33; /* what is worth trying to allocate: 32 GiB of f32 */

/* ------------------------------------------------------------------ declaring */

/* Sizes come from a config that nothing has checked yet, so sums saturate instead of wrapping. */
static size_t add(size_t a, size_t b) { return __builtin_add_overflow(a, b, &a) ? SIZE_MAX - STEP : a; }

static struct weight *declare(struct builder *builder, enum weight_use use, int dims, int rows, int cols, const char *format, va_list args)
{
    struct model *model = builder->model;
    struct weight *weight = build_new(builder, sizeof *weight);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    char *name = build_new(builder, (size_t)size + 1);
    vsnprintf(name, (size_t)size + 1, format, again);
    va_end(again);
    size_t numbers = (size_t)rows * (size_t)cols, offset = model->parameter_count;
    *weight = (struct weight){.name = name, .use = use, .dims = dims, .rows = rows, .cols = cols, .dtype = F32, .offset = offset};
    weight->shape[0] = dims == 1 ? cols : rows;
    weight->shape[1] = cols;
    model->parameter_count = add(offset, add(numbers, STEP - 1)) / STEP * STEP;
    mem_grow(&model->weights, &model->weight_room, model->weight_count + 1, sizeof *model->weights);
    model->weights[model->weight_count++] = weight;
    return weight;
}

const struct weight *build_weight(struct builder *builder, enum weight_use use, int rows, int cols, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    const struct weight *weight = declare(builder, use, 2, rows, cols, name, args);
    va_end(args);
    return weight;
}

const struct weight *build_vector(struct builder *builder, enum weight_use use, int size, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    const struct weight *weight = declare(builder, use, 1, 1, size, name, args);
    va_end(args);
    return weight;
}

void build_shape(struct builder *builder, const struct weight *weight, int dims, const int *shape)
{
    for (size_t i = 0; i < builder->model->weight_count; i++)
        if (builder->model->weights[i] == weight) {
            builder->model->weights[i]->dims = dims;
            memcpy(builder->model->weights[i]->shape, shape, sizeof *shape * (size_t)dims);
        }
}

void build_other_name(struct builder *builder, const struct weight *weight, const char *name)
{
    for (size_t i = 0; i < builder->model->weight_count; i++)
        if (builder->model->weights[i] == weight) builder->model->weights[i]->other = name;
}

void build_ignored(struct builder *builder, const char *pattern)
{
    struct model *model = builder->model;
    assert(model->ignored_count < (int)(sizeof model->ignored / sizeof *model->ignored));
    model->ignored[model->ignored_count++] = pattern;
}

void *build_new(struct builder *builder, size_t size) { return arena_zero(builder->model->arena, size); }

bool model_by_token(const struct model *model) { return !strcmp(model->family->boundary, "token"); }

size_t model_numbers(const struct model *model)
{
    size_t numbers = 0;
    for (size_t i = 0; i < model->weight_count; i++) numbers += (size_t)model->weights[i]->rows * (size_t)model->weights[i]->cols;
    return numbers;
}

/* ------------------------------------------------------------------ config and family */

static bool find_family(struct model *model)
{
    const struct json *node = config_json(model->config, "model_type");
    const char *type = json_string(node);
    struct text known = {0};
    for (size_t i = 0; families[i]; i++) {
        if (type && !strcmp(families[i]->model_type, type)) model->family = families[i];
        text_add(&known, "%s%s", i ? ", " : "", families[i]->model_type);
    }
    if (!node) config_wrong(model->config, "model_type", "is missing: one of %s is wanted", known.data);
    else if (!type) config_wrong(model->config, "model_type", "is %s: one of %s is wanted, as a string", json_kind(node), known.data);
    else if (!model->family) config_wrong(model->config, "model_type", "is \"%s\": known are %s", text_show(type), known.data);
    text_clear(&known);
    return model->family != NULL;
}

/* Takes the config; on failure everything is freed. */
static struct model *describe(struct config *config, struct sink *sink, struct err *err)
{
    if (!config) return NULL;
    struct model *model = mem_new(sizeof *model);
    model->config = config;
    model->arena = mem_new(sizeof *model->arena);
    if (find_family(model)) {
        struct builder builder = {model, config};
        model->family->declare(&builder);
        if (config_check(config, sink, err)) return model;
    } else {
        config_check(config, NULL, err); /* no notes: without a family every key is unknown */
    }
    model_free(model);
    return NULL;
}

/* ------------------------------------------------------------------ opening */

static char *name_of(const char *folder)
{
    char *full = realpath(folder, NULL), *name = mem_text(path_base(full ? full : folder));
    free(full);
    return name;
}

bool model_is_there(const char *folder, struct err *err)
{
    char *path = path_join(folder, "config.json");
    const char *shown = text_show(folder);
    bool there = false;
    if (!file_exists(folder)) err_set(err, "%s: no such folder: give the folder that holds config.json and model.safetensors", shown);
    else if (!file_is_folder(folder)) err_set(err, "%s: this is a file: give the folder that holds config.json and model.safetensors", shown);
    else if (!file_exists(path)) err_set(err, "%s: no such file: a model folder holds config.json and model.safetensors", text_show(path));
    else there = true;
    mem_free(path);
    return there;
}

static struct config *read_config(const char *folder, struct err *err)
{
    if (!model_is_there(folder, err)) return NULL;
    char *path = path_join(folder, "config.json");
    struct config *config = config_read(path, err);
    mem_free(path);
    return config;
}

struct model *model_open(const char *folder, struct sink *sink, struct err *err)
{
    struct model *model = describe(read_config(folder, err), sink, err);
    if (!model) return NULL;
    model->path = mem_text(folder);
    model->name = name_of(folder);
    model->set = tensor_set_open(folder, sink, err);
    if (model->set && match_weights(model, sink, err)) return model;
    model_free(model);
    return NULL;
}

/* ------------------------------------------------------------------ in memory */

static bool allocate(struct model *model, const char *label, struct err *err)
{
    if (model->parameter_count > most_numbers)
        return err_set(err, "%s: %zu parameters are more than fit into memory: check vocab_size, hidden_size and the other sizes", label,
                       model->parameter_count);
    model->block = arena_zero(model->arena, model->parameter_count * sizeof *model->block);
    for (size_t i = 0; i < model->weight_count; i++) {
        struct weight *weight = model->weights[i];
        weight->data = model->block + weight->offset;
        weight->aligned = true;
    }
    return true;
}

struct model *model_outline(const char *text, const char *label, struct sink *sink, struct err *err)
{
    struct model *model = describe(config_parse(text, label, err), sink, err);
    if (!model) return NULL;
    model->path = mem_text(label);
    model->name = mem_text(label);
    return model;
}

struct model *model_fresh(const char *text, const char *label, struct sink *sink, struct err *err)
{
    struct model *model = model_outline(text, label, sink, err);
    if (!model) return NULL;
    if (allocate(model, text_show(label), err)) return model;
    model_free(model);
    return NULL;
}

struct model *model_trainable(const struct model *model, struct err *err)
{
    /* No notes: what is odd about the config was said when it was opened. */
    struct model *copy = model_fresh(config_text(model->config), config_path(model->config), NULL, err);
    if (!copy) return NULL;
    mem_free(copy->path);
    mem_free(copy->name);
    copy->path = mem_text(model->path);
    copy->name = mem_text(model->name);
    for (size_t i = 0; i < copy->weight_count; i++) {
        const struct weight *from = model->weights[i];
        dtype_widen(from->dtype, from->data, copy->block + copy->weights[i]->offset, (size_t)from->rows * (size_t)from->cols);
    }
    return copy;
}

void model_free(struct model *model)
{
    if (!model) return;
    tensor_set_close(model->set);
    config_free(model->config);
    if (model->arena) arena_clear(model->arena);
    mem_free(model->arena);
    mem_free(model->weights);
    mem_free(model->path);
    mem_free(model->name);
    mem_free(model);
}

/* ------------------------------------------------------------------ saving */

/* The weight's numbers as dtype: in place when they already are, else a new block in the arena. */
static const void *converted(struct arena *arena, const struct weight *weight, enum dtype dtype, size_t numbers)
{
    if (weight->dtype == dtype) return weight->data;
    float *wide = arena_new(arena, numbers * sizeof *wide);
    dtype_widen(weight->dtype, weight->data, wide, numbers);
    if (dtype == F32) return wide;
    void *narrow = arena_new(arena, numbers * dtype_size(dtype));
    dtype_narrow(dtype, wide, narrow, numbers);
    return narrow;
}

static bool save_weights(const struct model *model, const char *path, enum dtype dtype, struct err *err)
{
    struct arena arena = {0};
    struct tensor_out *out = mem_new(model->weight_count * sizeof *out);
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        out[i] = (struct tensor_out){.name = w->name, .dtype = dtype, .dims = w->dims};
        for (int j = 0; j < w->dims; j++) out[i].shape[j] = w->shape[j];
        out[i].data = converted(&arena, w, dtype, (size_t)w->rows * (size_t)w->cols);
    }
    bool good = tensors_write(path, out, model->weight_count, err);
    mem_free(out);
    arena_clear(&arena);
    return good;
}

bool model_save(const struct model *model, const char *folder, enum dtype dtype, struct err *err)
{
    char *config = path_join(folder, "config.json"), *weights = path_join(folder, "model.safetensors");
    const char *text = config_text(model->config);
    bool good = folder_make(folder, err) && save_weights(model, weights, dtype, err) && file_write(config, text, strlen(text), err);
    mem_free(config);
    mem_free(weights);
    return good;
}

const char *model_hash(const struct model *model) { return model->set ? tensor_set_hash(model->set) : ""; }
