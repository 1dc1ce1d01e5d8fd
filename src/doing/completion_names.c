/* The names that a shell's completion asks for while the user types. Quick: opens no model and reads no rows. */
#include "doing/completion.h"

#include "doing/command.h"
#include "doing/facts.h"
#include "doing/intervention.h"
#include "doing/runs.h"
#include "doing/share.h"
#include "doing/spec.h"
#include "figures/figure.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "models/model.h"
#include "registry.h"

#include <string.h>

static void add_list(const struct share_list *list, struct text *out)
{
    for (size_t i = 0; i < list->count; i++)
        if (share_name(list, i)) text_add(out, "%s\n", share_name(list, i));
}

static void add_models(struct session *session, struct text *out)
{
    struct share_list list = share_list(session->share, "models", "config.json", NULL);
    add_list(&list, out);
    share_list_free(&list);
}

static void add_datasets(struct session *session, struct text *out)
{
    struct share_list list = share_list(session->share, "datasets", "dataset.json", ".spec");
    add_list(&list, out);
    share_list_free(&list);
}

/* models/NAME/recipe and what stands below models/recipes, called so that they are found from any folder. */
static void add_recipes(struct session *session, struct text *out)
{
    struct share_list models = share_list(session->share, "models", "recipe", NULL);
    for (size_t i = 0; i < models.count; i++)
        if (share_name(&models, i)) text_add(out, "models/%s/recipe\n", share_name(&models, i));
    share_list_free(&models);
    char *recipes = path_join(session->share, "models/recipes"), **scales, **names;
    size_t scale_count = 0, count;
    if (!folder_list(recipes, &scales, &scale_count, NULL)) scales = NULL, scale_count = 0;
    for (size_t s = 0; s < scale_count; s++) {
        char *folder = path_join(recipes, scales[s]);
        if (!folder_list(folder, &names, &count, NULL)) names = NULL, count = 0;
        for (size_t i = 0; i < count; i++) text_add(out, "models/recipes/%s/%s\n", scales[s], names[i]), mem_free(names[i]);
        mem_free(names), mem_free(folder), mem_free(scales[s]);
    }
    mem_free(scales), mem_free(recipes);
}

static void add_runs(struct text *out)
{
    char **folders;
    size_t count;
    runs_find("runs", &folders, &count);
    for (size_t i = 0; i < count; i++) text_add(out, "%s\n", folders[i]), mem_free(folders[i]);
    mem_free(folders);
}

/* The folder of a dataset as far as it is there already: its splits are its files. */
static char *data_folder(struct session *session, const char *name)
{
    char *folder = share_find(session->share, "datasets", name);
    if (folder && file_is_folder(folder)) return folder;
    mem_free(folder);
    char *cache = file_cache("datasets"), *made = cache ? path_join(cache, path_base(name)) : NULL;
    mem_free(cache);
    return made;
}

static void add_splits(struct session *session, const char *model, const char *data, const char *behind, struct text *out)
{
    static const char *const usual[] = {"train_atomic", "train_two_hop", "test_id", "test_ood"};
    static const char ending[] = ".jsonl";
    char *found = model && !data ? share_find(session->share, "models", model) : NULL, *named = found ? facts_data(found) : NULL;
    char *folder = data || named || model ? data_folder(session, data ? data : named ? named : model) : NULL, **names = NULL;
    size_t count = 0, before = out->size;
    if (folder && !folder_list(folder, &names, &count, NULL)) names = NULL, count = 0;
    for (size_t i = 0; i < count; i++) {
        if (text_ends(names[i], ending)) text_add(out, "%.*s%s\n", (int)(strlen(names[i]) - strlen(ending)), names[i], behind);
        mem_free(names[i]);
    }
    bool none = out->size == before; /* not made yet */
    for (size_t i = 0; none && i < sizeof usual / sizeof *usual; i++) text_add(out, "%s%s\n", usual[i], behind);
    mem_free(names), mem_free(folder), mem_free(named), mem_free(found);
}

/* A column of the table that a command prints, of rows that begin with `first` (NULL: all): of what only its own side of the house knows. */
static bool add_column(struct session *session, const char *line, size_t column, const char *first, struct text *out, struct err *err)
{
    struct collector collector;
    collector_init(&collector);
    bool ok = command_line(session, line, &collector.sink, err);
    for (size_t r = 0; ok && collector.table_count && r < collector.tables[0]->row_count; r++)
        if (!first || !strcmp(table_cell(collector.tables[0], r, 0)->text, first))
            text_add(out, "%s\n", table_cell(collector.tables[0], r, column)->text);
    collector_release(&collector);
    return ok;
}

static void add_edits(struct text *out)
{
    for (size_t i = 0; interventions[i]; i++) {
        const char *name = interventions[i]->name;
        text_add(out, "%s@h.1:\n%s@h.1:%s\n", name, name, interventions[i]->example);
    }
}

static void add_axes(struct text *out)
{
    for (size_t i = 0; interventions[i]; i++)
        for (const struct option *o = interventions[i]->options; o && o->name; o++) text_add(out, "%s=\n", o->name);
    text_add(out, "boundary=\nloops=\n");
}

/* Commands that measure a model over questions: those that take edits. */
static void add_commands(bool measurements, struct text *out)
{
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (!measurements || (command->words && text_starts(command->words, "MODEL") && option_find(command->options, "do")))
            text_add(out, "%s\n", command->name);
}

bool completion_names(struct session *session, const char *kind, const char *model, const char *data, struct text *out, struct err *err)
{
    if (!strcmp(kind, "models")) add_models(session, out);
    else if (!strcmp(kind, "datasets")) add_datasets(session, out);
    else if (!strcmp(kind, "splits")) add_splits(session, model, data, "", out);
    else if (!strcmp(kind, "rows")) add_splits(session, model, data, ":", out);
    else if (!strcmp(kind, "recipes")) add_recipes(session, out);
    else if (!strcmp(kind, "runs")) add_runs(out);
    else if (!strcmp(kind, "views")) return add_column(session, "view", 0, NULL, out, err);
    else if (!strcmp(kind, "replications")) return add_column(session, "replicate --list", 0, NULL, out, err);
    else if (!strcmp(kind, "commands") || !strcmp(kind, "measurements")) add_commands(*kind == 'm', out);
    else if (!strcmp(kind, "edits")) add_edits(out);
    else if (!strcmp(kind, "axes")) add_axes(out);
    else if (!strcmp(kind, "sizes")) return add_column(session, "synth --list", 1, model, out, err);
    for (size_t i = 0; !strcmp(kind, "families") && families[i]; i++) text_add(out, "%s\n", families[i]->model_type);
    for (size_t i = 0; !strcmp(kind, "figures") && figure_kinds[i]; i++) text_add(out, "%s\n", figure_kinds[i]->name);
    return true;
}
