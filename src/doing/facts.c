#include "doing/facts.h"

#include "doing/spec.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "models/model.h"
#include "models/tensor_file.h"

char *facts_data(const char *folder)
{
    enum { RECIPE_MOST = 1 << 20 };
    char *path = path_join(folder, "recipe"), *data = NULL;
    char *text = file_exists(path) ? file_read(path, RECIPE_MOST, NULL, NULL) : NULL;
    if (text) data = spec_value(text, "data");
    mem_free(text);
    mem_free(path);
    return data;
}

void facts_dtypes(const struct model *model, struct text *out)
{
    bool used[DTYPE_COUNT] = {false};
    for (size_t i = 0; i < model->weight_count; i++) used[model->weights[i]->dtype] = true;
    for (int i = 0, first = 1; i < DTYPE_COUNT; i++)
        if (used[i]) text_add(out, "%s%s", first ? "" : ", ", dtype_name((enum dtype)i)), first = 0;
}

size_t facts_bytes(const struct model *model)
{
    size_t bytes = 0;
    for (size_t i = 0; model->set && i < model->set->file_count; i++) bytes += model->set->files[i].map.size;
    return bytes;
}

bool facts_tied(const struct model *model)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (model->weights[i]->use == WEIGHT_TABLE && model->weights[i] != model->table) return false;
    return true;
}
