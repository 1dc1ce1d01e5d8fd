#include "study.h"

#include "numbers/blas.h"

#include <string.h>

static bool add_split(struct study *me, const char *name, long limit, struct err *err)
{
    const struct split *split = dataset_split(me->data, name);
    if (!split) {
        err_set(err, "%s: there is no split %s; it has", me->data->name, text_show(name));
        for (size_t i = 0; i < me->data->split_count; i++) err_add(err, " %s", me->data->splits[i].name);
        return false;
    }
    if (me->split_count == STUDY_SPLITS) return err_set(err, "--split: at most %d splits at once", STUDY_SPLITS);
    me->splits[me->split_count] = *split;
    if (limit && (size_t)limit < split->count) me->splits[me->split_count].count = (size_t)limit;
    me->split_count++;
    return true;
}

static bool choose_splits(struct study *me, const struct args *args, const char *fallback, struct err *err)
{
    const char *list = args_text(args, "split");
    long limit = args_int(args, "limit");
    bool ok = true, given = list != NULL;
    if (!list) list = fallback;
    if (!list) {
        for (size_t i = 0; ok && i < me->data->split_count; i++) ok = add_split(me, me->data->splits[i].name, limit, err);
        return ok;
    }
    char *copy = mem_text(list), *save = NULL;
    for (char *name = strtok_r(copy, ",", &save); ok && name; name = strtok_r(NULL, ",", &save))
        if (given || dataset_split(me->data, name)) ok = add_split(me, name, limit, err);
    mem_free(copy);
    return ok && (me->split_count || err_set(err, "%s: none of the splits %s is there: choose with --split", me->data->name, list));
}

static bool parse_edits(struct study *me, const struct args *args, struct err *err)
{
    const char *text;
    for (size_t i = 0; (text = args_at(args, "do", i)); i++) {
        if (me->edit_count == STUDY_EDITS) return err_set(err, "--do: at most %d edits at once", STUDY_EDITS);
        if (!edit_parse(&me->edits[me->edit_count], text, me->model, err)) return false;
        me->edit_count++;
        for (int s = 0; s < me->split_count; s++)
            if (!edit_check(&me->edits[i], me->splits[s].questions, me->splits[s].count, err)) return err_in(err, "%s", me->splits[s].name);
    }
    return true;
}

bool study_open(struct study *me, struct session *session, const struct args *args, const char *fallback, struct sink *sink, struct err *err)
{
    *me = (struct study){.session = session};
    me->model = session_model(session, args_word(args, 0), sink, err);
    me->data = me->model ? session_data(session, me->model, args_text(args, "data"), sink, err) : NULL;
    if (!me->data || !blas_check(err)) return false;
    if (me->data->vocab_size > me->model->vocab_size)
        return err_set(err, "%s has %d tokens, the model %s knows %d: choose its own dataset with --data", me->data->name, me->data->vocab_size,
                       me->model->name, me->model->vocab_size);
    me->loops = args_int(args, "loops") ? (int)args_int(args, "loops") : me->model->loops;
    bool ok = choose_splits(me, args, fallback, err) && parse_edits(me, args, err);
    me->pool = ok ? pool_new(session->threads) : NULL;
    if (!ok) study_close(me);
    return ok;
}

void study_close(struct study *me)
{
    for (int i = 0; i < me->edit_count; i++) edit_clear(&me->edits[i]);
    pool_free(me->pool);
    *me = (struct study){0};
}

void study_provenance(const struct study *me, struct table *table)
{
    command_provenance(me->session, table);
    table_fact(table, "model", "%s", me->model->path);
    table_fact(table, "model_sha256", "%s", model_hash(me->model));
    table_fact(table, "data", "%s", me->data->name);
    table_fact(table, "data_sha256", "%s", me->data->hash);
    table_fact(table, "loops", "%d", me->loops);
    for (int i = 0; i < me->edit_count; i++) table_fact(table, "do", "%s", me->edits[i].text);
}

struct edit_handler *study_edit(const struct study *me, struct shard *shard, const struct question *questions, size_t first)
{
    struct edit_handler *handlers = arena_zero(shard->arena, sizeof *handlers * (size_t)(me->edit_count + 1));
    for (int i = 0; i < me->edit_count; i++) edit_attach(&handlers[i], &me->edits[i], shard->run, questions, first);
    return handlers;
}
