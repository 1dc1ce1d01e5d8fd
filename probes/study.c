#include "study.h"

#include "ground/file.h"
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
    if (me->split_count == STUDY_SPLITS) return err_set(err, "--split: at most %d splits at once", STUDY_SPLITS), err_usage(err);
    for (int i = 0; i < me->split_count; i++)
        if (!strcmp(me->splits[i].name, name)) return err_set(err, "--split: %s stands there twice", text_show(name)), err_usage(err);
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

static bool add_edit(struct study *me, const char *text, int group, struct err *err)
{
    struct edit *edit = &me->edits[me->edit_count];
    if (!edit_parse(edit, text, me->model, err)) return false;
    me->edit_count++;
    edit->group = group;
    if (!model_by_token(me->model) && edit->boundary > me->loops)
        return err_set(err, "--do ...@h.%d: an intervention edits a boundary state, h.0 ... h.%d: the run has %d loops", edit->boundary, me->loops,
                       me->loops),
               err_usage(err);
    for (int s = 0; s < me->split_count; s++)
        if (!edit_check(edit, me->splits[s].questions, me->splits[s].count, err)) return err_in(err, "%s", me->splits[s].name);
    return true;
}

static bool parse_edits(struct study *me, const struct args *args, struct err *err)
{
    const char *text;
    for (size_t i = 0; (text = args_at(args, "do", i)); i++) {
        char *texts[STUDY_EDITS];
        if (me->edit_count == STUDY_EDITS) return err_set(err, "--do: at most %d edits at once", STUDY_EDITS), err_usage(err);
        int count = edit_expand(text, texts, STUDY_EDITS - me->edit_count, err);
        bool ok = count > 0;
        for (int e = 0; e < count; e++) {
            ok = ok && add_edit(me, texts[e], (int)i, err);
            mem_free(texts[e]);
        }
        if (!ok) return false;
    }
    return true;
}

/* The value of an option that not every command has. */
static const char *text_if_any(const struct args *args, const char *name) { return option_find(args->options, name) ? args_text(args, name) : NULL; }

static bool open_data(struct study *me, const struct args *args, struct sink *sink, struct err *err)
{
    const char *name = args_text(args, "data");
    char *recipe = path_join(me->model->path, "recipe");
    if (text_if_any(args, "tokens") && !name && !file_exists(recipe)) me->data = me->none = dataset_none(me->model->vocab_size);
    else me->data = session_data(me->session, me->model, name, sink, err);
    mem_free(recipe);
    return me->data != NULL;
}

/* What is measured: one question, or splits. */
static bool choose_questions(struct study *me, const struct args *args, const char *fallback, struct err *err)
{
    const char *tokens = text_if_any(args, "tokens"), *row = text_if_any(args, "row");
    if (!tokens && !row) return choose_splits(me, args, fallback, err);
    if (tokens && !pick_tokens(&me->pick, me->data, me->model->vocab_size, tokens, err)) return false;
    if (!tokens && !pick_row(&me->pick, me->data, row, err)) return false;
    me->splits[me->split_count++] = me->pick.split;
    return true;
}

static bool read_exit(struct study *me, const struct args *args, struct err *err)
{
    me->exit_given = args_given(args, "exit-threshold");
    if (!me->exit_given) return true;
    me->exit_threshold = args_number(args, "exit-threshold");
    return me->model->exits || err_set(err, "--exit-threshold: models of the family %s have no exit gate", me->model->family->model_type);
}

static bool read_start(struct study *me, const struct args *args, struct err *err)
{
    me->start_seed = (uint64_t)args_int(args, "start-seed");
    return me->model->start_drawn || !args_given(args, "start-seed") ||
           err_set(err, "--start-seed: h.0 of the model %s is not drawn", me->model->name);
}

static bool knows_tokens(const struct study *me, struct err *err)
{
    return me->data->vocab_size <= me->model->vocab_size ||
           err_set(err, "%s has %d tokens, the model %s knows %d: choose its own dataset with --data", me->data->name, me->data->vocab_size,
                   me->model->name, me->model->vocab_size);
}

/* Tokens of the longest question, in the shard where that is least. */
static int shortest_shard(const struct study *me)
{
    int least = 1 << 24;
    for (int s = 0; s < me->split_count; s++)
        for (size_t first = 0; first < me->splits[s].count; first += PASS_ROWS) {
            int longest = 0;
            for (size_t i = first; i < me->splits[s].count && i < first + PASS_ROWS; i++)
                if (me->splits[s].questions[i].length > longest) longest = me->splits[s].questions[i].length;
            if (longest < least) least = longest;
        }
    return least;
}

bool study_open(struct study *me, struct session *session, const struct args *args, const char *fallback, struct sink *sink, struct err *err)
{
    *me = (struct study){.session = session};
    me->model = session_model(session, args_word(args, 0), sink, err);
    if (!me->model || !open_data(me, args, sink, err)) return false;
    me->loops = args_int(args, "loops") ? (int)args_int(args, "loops") : me->model->loops;
    bool ok = blas_check(err) && knows_tokens(me, err) && read_start(me, args, err) && read_exit(me, args, err) &&
              choose_questions(me, args, fallback, err) && parse_edits(me, args, err);
    for (int s = 0; ok && s < me->split_count; s++) ok = pass_fits(me->model, me->splits[s].questions, me->splits[s].count, err);
    me->boundaries = model_by_token(me->model) ? shortest_shard(me) : me->loops;
    me->pool = ok ? pool_new(session->threads) : NULL;
    if (!ok) study_close(me);
    return ok;
}

void study_close(struct study *me)
{
    for (int i = 0; i < me->edit_count; i++) edit_clear(&me->edits[i]);
    pool_free(me->pool);
    dataset_free(me->none);
    pick_clear(&me->pick);
    *me = (struct study){0};
}

void study_provenance(const struct study *me, struct table *table)
{
    command_provenance(me->session, table);
    table_fact(table, "model", "%s", session_brief(me->session, me->model->path));
    table_fact(table, "model_sha256", "%s", model_hash(me->model));
    table_fact(table, "data", "%s", me->data->name);
    table_fact(table, "data_sha256", "%s", me->data->hash);
    table_fact(table, "loops", "%d", me->loops);
    if (me->model->start_drawn) table_fact(table, "start_seed", "%llu", (unsigned long long)me->start_seed);
    if (me->exit_given) table_fact(table, "exit_threshold", "%g", me->exit_threshold);
    for (int i = 0; i < me->edit_count; i++) table_fact(table, "do", "%s", me->edits[i].text);
}

struct edit_handler *study_edit(const struct study *me, struct shard *shard, const struct question *questions, size_t first)
{
    shard->run->seed = me->start_seed;
    if (me->exit_given) shard->run->exit_threshold = me->exit_threshold;
    struct edit_handler *handlers = arena_zero(shard->arena, sizeof *handlers * (size_t)(me->edit_count + 1));
    for (int i = 0; i < me->edit_count; i++) edit_attach(&handlers[i], &me->edits[i], shard->run, questions, first + me->pick.number);
    return handlers;
}
