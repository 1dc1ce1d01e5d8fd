#include "learning/checkpoint.h"

#include "ground/text.h"
#include "models/safetensors.h"

#include <string.h>

static const char *const names[] = {"parameters", "moment_1", "moment_2"};

bool checkpoint_write(const char *path, const struct checkpoint *point, struct err *err)
{
    struct tensor_out out[6];
    for (int i = 0; i < 3; i++) out[i] = (struct tensor_out){names[i], F32, 1, {(int64_t)point->size}, point->block[i]};
    out[3] = (struct tensor_out){"step", I64, 1, {1}, &point->step};
    out[4] = (struct tensor_out){"sums", F64, 1, {2}, point->sums};
    out[5] = (struct tensor_out){"recipe", U8, 1, {(int64_t)strlen(point->recipe)}, point->recipe};
    return tensors_write(path, out, 6, err);
}

static bool fetch(const struct tensor_set *set, const char *name, enum dtype dtype, void *to, size_t count, const char *path, struct err *err)
{
    const struct tensor_entry *entry = tensor_set_find(set, name);
    if (!entry || entry->dtype != dtype || entry->count != count)
        return err_set(err, "%s: '%s' should hold %zu numbers of type %s: this state belongs to another model", text_show(path), name, count,
                       dtype_name(dtype));
    memcpy(to, entry->data, count * dtype_size(dtype));
    return true;
}

static bool same_recipe(const struct tensor_set *set, const char *recipe, const char *path, struct err *err)
{
    const struct tensor_entry *entry = tensor_set_find(set, "recipe");
    if (entry && entry->count == strlen(recipe) && !memcmp(entry->data, recipe, entry->count)) return true;
    return err_set(err, "%s: was trained with another recipe: resume with that one (RUN/recipe), or train into another folder", text_show(path));
}

bool checkpoint_read(const char *path, struct checkpoint *point, struct err *err)
{
    struct tensor_set *set = tensor_set_open(path, NULL, err);
    if (!set) return false;
    bool ok = same_recipe(set, point->recipe, path, err);
    for (int i = 0; ok && i < 3; i++) ok = fetch(set, names[i], F32, point->block[i], point->size, path, err);
    ok = ok && fetch(set, "step", I64, &point->step, 1, path, err) && fetch(set, "sums", F64, point->sums, 2, path, err);
    tensor_set_close(set);
    return ok;
}
