/* history: the accuracies that training wrote into its log, a row for each split, stage and evaluation, with intervals: what is drawn over epochs. */
#include "doing/command.h"
#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "learning/dataset.h"
#include "learning/recipe.h"
#include "results/stats.h"

#include <math.h>
#include <string.h>

struct history {
    const struct dataset *data;
    struct table *log;
    double rows; /* of a split, at most, that an evaluation read */
};

static bool open_history(struct history *me, struct session *session, const char *name, struct sink *sink, struct err *err)
{
    struct recipe recipe = {0};
    char *folder = share_find(session->share, "models", name), *path = path_join(folder ? folder : name, "recipe"), *log = NULL;
    bool ok = recipe_read(&recipe, path, err);
    if (ok) {
        me->data = session_data(session, NULL, args_text(&recipe.args, "data"), sink, err);
        me->rows = (double)args_int(&recipe.args, "eval_rows");
        log = path_join(folder ? folder : name, "log.tsv");
        ok = me->data && (me->log = table_read(log, err)) != NULL;
        recipe_clear(&recipe);
    }
    mem_free(folder), mem_free(path), mem_free(log);
    return ok;
}

/* "test_ood.stage_2" is a split of the dataset and its stage. */
static const struct split *column_split(const struct history *me, const char *column, double *stage)
{
    const char *end = strstr(column, ".stage_");
    char *name = end ? mem_text(column) : NULL;
    if (!name) return NULL;
    name[end - column] = 0;
    const struct split *split = dataset_split(me->data, name);
    mem_free(name);
    return parse_number(end + strlen(".stage_"), stage) ? split : NULL;
}

static bool named(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += size)
        if ((at == list || at[-1] == ',') && (!at[size] || at[size] == ',')) return true;
    return false;
}

static struct table *shape(const struct session *session, const struct history *me, const char *name)
{
    struct table *table = table_new("history");
    command_provenance(session, table);
    table_fact(table, "model", "%s", name);
    table_fact(table, "data", "%s", me->data->name);
    table_fact(table, "data_sha256", "%s", me->data->hash);
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "stage", ROLE_AXIS, "%.0f");
    table_column(table, "epoch", ROLE_AXIS, "%.0f");
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "correct", ROLE_COUNT, "%.0f");
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    return table;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct history me = {0};
    const char *name = args_word(args, 0), *splits = args_text(args, "split");
    (void)self;
    if (!open_history(&me, session, name, sink, err)) return table_free(me.log), false;
    struct table *table = shape(session, &me, name);
    sink_table(sink, table);
    table_free(table);
    size_t shown = 0;
    for (size_t c = 0; c < me.log->column_count; c++) {
        double stage = 0;
        const struct split *split = column_split(&me, me.log->columns[c].name, &stage);
        if (!split || (splits && !named(splits, split->name))) continue;
        double n = fmin((double)split->count, me.rows);
        for (size_t r = 0; r < me.log->row_count; r++, shown++) {
            double correct = floor(table_cell(me.log, r, c)->number * n + 0.5);
            struct interval interval = wilson(correct, n);
            sink_row(sink, (struct cell[]){cell_text(split->name), cell_number(stage), cell_number(table_number(me.log, r, "epoch")), cell_number(n),
                                           cell_number(correct), cell_number(correct / n), cell_number(interval.low), cell_number(interval.high)});
        }
    }
    bool empty = !me.log->row_count;
    table_free(me.log);
    return shown || empty || err_set(err, "%s/log.tsv: no columns of %s", text_show(name), splits ? text_show(splits) : me.data->name);
}

static const struct option options[] = {
    {"split", OPTION_TEXT, NULL, .help = "splits, joined by commas; default: all that the log has"},
    {0},
};

const struct command command_history = {
    .name = "history", .words = "RUN", .least = 1, .most = 1, .options = options, .run = run,
    .help = "accuracy over training by split and stage, from a run's log, with Wilson 95 % intervals",
    .more = "RUN is a folder that train made, or a bundled model. Evaluations during training read the first rows of each split (eval_rows of the recipe).",
    .example = "history models/vanilla --split test_id,test_ood",
};
