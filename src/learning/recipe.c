#include "learning/recipe.h"

#include "ground/file.h"
#include "ground/json.h"
#include "ground/mem.h"

#include <string.h>

const struct option recipe_options[] = {
    {"data", OPTION_TEXT, NULL, .help = "dataset: a folder, or the name of a bundled one"},
    {"train", OPTION_TEXT, "train_atomic,train_two_hop", .help = "splits to train on, joined by commas"},
    {"seed", OPTION_INT, "0", .help = "of the first weights and of the order of rows"},
    {"epochs", OPTION_INT, "100", .low = 1, .high = 1000000, .help = "passes over the training rows"},
    {"batch", OPTION_INT, "256", .low = 1, .high = 1 << 20, .help = "rows in a step"},
    {"lr", OPTION_NUMBER, "0.001", .low = 0, .high = 1e9, .help = "learning rate after warm-up"},
    {"warmup", OPTION_INT, "200", .low = 0, .high = 1 << 30, .help = "steps in which the learning rate rises from 0"},
    {"schedule", OPTION_CHOICE, "constant", .choices = "constant|linear|cosine", .help = "how the learning rate falls after decay_from"},
    {"decay_from", OPTION_NUMBER, "0", .low = 0, .high = 1, .help = "share of all steps after which the learning rate falls"},
    {"lr_final", OPTION_NUMBER, "0", .low = 0, .high = 1, .help = "share of lr that is left at the last step"},
    {"beta1", OPTION_NUMBER, "0.9", .low = 0, .high = 1, .help = "AdamW"},
    {"beta2", OPTION_NUMBER, "0.98", .low = 0, .high = 1, .help = "AdamW"},
    {"adam_eps", OPTION_NUMBER, "1e-8", .low = 0, .high = 1, .help = "AdamW"},
    {"weight_decay", OPTION_NUMBER, "0.1", .low = 0, .high = 100, .help = "of matrices; gains and biases do not decay"},
    {"decay_embedding", OPTION_NUMBER, "1", .low = 0, .high = 100, .help = "factor on weight_decay for the embedding (and an untied head)"},
    {"clip", OPTION_NUMBER, "1", .low = 0, .high = 1e9, .help = "largest norm of the gradient; 0: no clipping"},
    {"init_sd", OPTION_NUMBER, "0.02", .low = 0, .high = 100, .help = "standard deviation of the first matrices; outputs are divided by sqrt(2 L K)"},
    {"embedding_sd", OPTION_NUMBER, "1", .low = 0, .high = 100, .help = "standard deviation of the first embedding"},
    {"stage1_atomic", OPTION_NUMBER, "1", .low = 0, .high = 100, .help = "weight of the stage-1 loss on rows without a bridge"},
    {"eval_every", OPTION_INT, "5", .low = 1, .high = 1000000, .help = "epochs between evaluations, log lines and checkpoints"},
    {"keep_every", OPTION_INT, NULL, .low = 1, .high = 1000000,
     .help = "epochs between checkpoints that stay, in checkpoints/ of the run; without it only the last"},
    {"eval_rows", OPTION_INT, "1000", .low = 1, .high = 1 << 30, .help = "rows of each split that an evaluation reads, from the first"},
    {0},
};

static bool set(struct recipe *recipe, const char *key, const char *value, struct err *err)
{
    if (!text_starts(key, "model.")) return args_set(&recipe->args, key, value, err);
    key += 6;
    for (size_t i = 0; i < recipe->model_count; i++)
        if (!strcmp(recipe->model[i].key, key)) {
            mem_free(recipe->model[i].value);
            recipe->model[i].value = mem_text(value);
            return true;
        }
    mem_grow(&recipe->model, &recipe->model_room, recipe->model_count + 1, sizeof *recipe->model);
    recipe->model[recipe->model_count++] = (struct setting){mem_text(key), mem_text(value)};
    return true;
}

static char *trim(char *s)
{
    s += strspn(s, " \t\r");
    size_t size = strlen(s);
    while (size && strchr(" \t\r", s[size - 1])) s[--size] = 0;
    return s;
}

bool recipe_set(struct recipe *recipe, const char *assignment, struct err *err)
{
    char *copy = mem_text(assignment), *equals = strchr(copy, '=');
    bool ok = equals != NULL;
    if (!ok) err_set(err, "'%s': a setting is key=value", text_show(assignment));
    if (ok) {
        *equals = 0;
        ok = set(recipe, trim(copy), trim(equals + 1), err);
    }
    mem_free(copy);
    return ok;
}

bool recipe_read(struct recipe *recipe, const char *path, struct err *err)
{
    char *text = file_read(path, 1 << 20, NULL, err);
    *recipe = (struct recipe){.args.options = recipe_options};
    if (!text) return false;
    int number = 0;
    bool ok = true;
    for (char *line = text, *next; ok && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        number++;
        line[strcspn(line, "#")] = 0;
        line = trim(line);
        if (*line && !recipe_set(recipe, line, err)) ok = err_in(err, "%s: line %d", text_show(path), number);
    }
    mem_free(text);
    if (ok && !args_given(&recipe->args, "data")) ok = err_set(err, "%s: the key data is missing: data = FOLDER", text_show(path));
    if (!ok) recipe_clear(recipe);
    return ok;
}

void recipe_clear(struct recipe *recipe)
{
    args_clear(&recipe->args);
    for (size_t i = 0; i < recipe->model_count; i++) {
        mem_free(recipe->model[i].key);
        mem_free(recipe->model[i].value);
    }
    mem_free(recipe->model);
    *recipe = (struct recipe){0};
}

void recipe_text(const struct recipe *recipe, struct text *out)
{
    for (const struct option *o = recipe_options; o->name; o++)
        if (args_text(&recipe->args, o->name)) text_add(out, "%s = %s\n", o->name, args_text(&recipe->args, o->name));
    for (size_t i = 0; i < recipe->model_count; i++) text_add(out, "model.%s = %s\n", recipe->model[i].key, recipe->model[i].value);
}

static void add_value(struct text *out, const char *value)
{
    double number;
    if (parse_number(value, &number) || !strcmp(value, "true") || !strcmp(value, "false") || !strcmp(value, "null")) text_add(out, "%s", value);
    else json_add_string(out, value);
}

/* One nested object: its first key opens it, and collects all keys with the same start. */
static void add_object(const struct recipe *recipe, size_t first, struct text *out)
{
    const char *key = recipe->model[first].key, *dot = strchr(key, '.');
    size_t size = (size_t)(dot - key) + 1;
    for (size_t i = 0; i < first; i++)
        if (!strncmp(recipe->model[i].key, key, size)) return; /* written with the first of its keys */
    struct text name = {0};
    text_add_bytes(&name, key, size - 1);
    text_add(out, ",\n  ");
    json_add_string(out, name.data);
    text_add(out, ": {");
    const char *comma = "\n    ";
    for (size_t i = first; i < recipe->model_count; i++) {
        if (strncmp(recipe->model[i].key, key, size)) continue;
        text_add(out, "%s", comma);
        json_add_string(out, recipe->model[i].key + size);
        text_add(out, ": ");
        add_value(out, recipe->model[i].value);
        comma = ",\n    ";
    }
    text_add(out, "\n  }");
    text_clear(&name);
}

void recipe_config(const struct recipe *recipe, int vocab_size, struct text *out)
{
    bool vocab = false;
    for (size_t i = 0; i < recipe->model_count; i++) vocab = vocab || !strcmp(recipe->model[i].key, "vocab_size");
    const char *comma = "{\n  ";
    if (!vocab) text_add(out, "{\n  \"vocab_size\": %d", vocab_size), comma = ",\n  ";
    for (size_t i = 0; i < recipe->model_count; i++) {
        if (strchr(recipe->model[i].key, '.')) {
            add_object(recipe, i, out);
            continue;
        }
        text_add(out, "%s", comma);
        json_add_string(out, recipe->model[i].key);
        text_add(out, ": ");
        add_value(out, recipe->model[i].value);
        comma = ",\n  ";
    }
    text_add(out, "\n}\n");
}
