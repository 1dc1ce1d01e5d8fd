#include "doing/session.h"

#include "doing/share.h"
#include "doing/spec.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "learning/dataset.h"
#include "models/model.h"
#include "results/table.h"

#include <sched.h>
#include <string.h>

struct session_entry {
    char *path; /* as resolved: the key */
    struct model *model;
    struct dataset *data; /* one of the two */
};

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

struct session *session_new(int threads)
{
    struct session *session = mem_new(sizeof *session);
    session->threads = threads > 0 ? threads : processors();
    session->share = share_folder();
    return session;
}

static void close_entry(struct session_entry *entry)
{
    if (entry->model) model_free(entry->model);
    if (entry->data) dataset_free(entry->data);
    mem_free(entry->path);
}

void session_free(struct session *session)
{
    if (!session) return;
    for (size_t i = 0; i < session->entry_count; i++) close_entry(&session->entries[i]);
    mem_free(session->entries);
    mem_free(session->share);
    mem_free(session->command);
    table_free(session->left);
    mem_free(session);
}

static struct session_entry *entry_find(struct session *session, const char *path, bool is_data)
{
    for (size_t i = 0; i < session->entry_count; i++)
        if (!strcmp(session->entries[i].path, path) && is_data == (session->entries[i].data != NULL)) return &session->entries[i];
    return NULL;
}

static void entry_keep(struct session *session, char *path, struct model *model, struct dataset *data)
{
    mem_grow(&session->entries, &session->entry_room, session->entry_count + 1, sizeof *session->entries);
    session->entries[session->entry_count++] = (struct session_entry){path, model, data};
}

static void forget(struct session *session, const char *path, bool is_data)
{
    struct session_entry *entry = entry_find(session, path, is_data);
    if (!entry) return;
    close_entry(entry);
    *entry = session->entries[--session->entry_count];
}

void session_forget(struct session *session, const char *path)
{
    char *found = share_find(session->share, "models", path);
    forget(session, found ? found : path, false);
    forget(session, path, true);
    mem_free(found);
}

const char *session_brief(const struct session *session, const char *path)
{
    size_t size = strlen(session->share);
    return !strncmp(path, session->share, size) && path[size] == '/' ? path + size + 1 : path;
}

struct share_list session_models(const struct session *session) { return share_list(session->share, "models", "config.json", NULL); }

static char *find_model(const struct session *session, const char *path, struct err *err)
{
    char *found = share_find(session->share, "models", path);
    if (found) return found;
    struct share_list list = session_models(session);
    share_missing(&list, path, "model", err);
    share_list_free(&list);
    return NULL;
}

bool session_has_model(const struct session *session, const char *path, struct err *err)
{
    char *found = find_model(session, path, err);
    bool has = found && model_is_there(found, err);
    mem_free(found);
    return has;
}

const struct model *session_model(struct session *session, const char *path, struct sink *sink, struct err *err)
{
    char *found = find_model(session, path, err);
    if (!found) return NULL;
    struct session_entry *entry = entry_find(session, found, false);
    struct model *model = entry ? entry->model : model_open(found, sink, err);
    if (entry || !model) mem_free(found);
    else entry_keep(session, found, model, NULL);
    return model;
}

char *session_file(const struct session *session, const char *path)
{
    char *bundled = *path && *path != '/' && !file_exists(path) ? path_join(session->share, path) : NULL;
    if (bundled && file_exists(bundled)) return bundled;
    mem_free(bundled);
    return mem_text(path);
}

static char *recipe_data(const struct model *model, struct err *err)
{
    char *path = path_join(model->path, "recipe"), *text, *data = NULL;
    if (!file_exists(path)) {
        err_set(err, "%s: no recipe, so the dataset it was trained on is not known: give --data DIR", text_show(model->path));
    } else if ((text = file_read(path, 1 << 20, NULL, err))) {
        data = spec_value(text, "data");
        if (!data) err_set(err, "%s: no line 'data = DATASET': give --data DIR", text_show(path));
        mem_free(text);
    }
    mem_free(path);
    return data;
}

/* A folder, or else a file that says how to make one. */
static bool find_data(const struct session *session, const char *name, char **folder, char **spec, struct err *err)
{
    struct text file = {0};
    text_add(&file, "%s.spec", name);
    *folder = share_find(session->share, "datasets", name);
    *spec = *folder ? NULL : share_find(session->share, "datasets", file.data);
    text_clear(&file);
    if (*folder || *spec) return true;
    struct share_list list = share_list(session->share, "datasets", "dataset.json", ".spec");
    share_missing(&list, name, "dataset", err);
    share_list_free(&list);
    return false;
}

bool session_has_data(const struct session *session, const char *path, struct err *err)
{
    char *folder, *spec;
    bool has = find_data(session, path, &folder, &spec, err);
    mem_free(folder), mem_free(spec);
    return has;
}

static struct dataset *open_named(struct session *session, const char *name, struct sink *sink, struct err *err)
{
    char *folder, *spec;
    if (!find_data(session, name, &folder, &spec, err)) return NULL;
    struct dataset *data = folder ? dataset_open(folder, sink, err) : spec_open(spec, path_base(name), sink, err);
    mem_free(folder), mem_free(spec);
    return data;
}

const struct dataset *session_data(struct session *session, const struct model *model, const char *path, struct sink *sink, struct err *err)
{
    char *name = path ? mem_text(path) : model ? recipe_data(model, err) : NULL;
    if (!path && !model) err_set(err, "no dataset: give --data DIR");
    if (!name) return NULL;
    struct session_entry *entry = entry_find(session, name, true);
    struct dataset *data = entry ? entry->data : open_named(session, name, sink, err);
    if (!data && !path) err_in(err, "%s/recipe", text_show(model->path));
    if (data && model && data->vocab_size > model->vocab_size) {
        err_set(err, "%s: its vocabulary has %d tokens, the model %s only %d: give --data with the set it was trained on", text_show(data->folder),
                data->vocab_size, text_show(model->path), model->vocab_size);
        if (!entry) dataset_free(data);
        data = NULL;
    } else if (data && !entry) {
        entry_keep(session, name, NULL, data);
        name = NULL;
    }
    mem_free(name);
    return data;
}
