/* log: what a training run wrote about itself, as a long table: a line for each epoch, split and stage, so that curves of several runs can be
 * compared.
 *
 * tflop counts the matrix products of training up to there, in 10^12 operations: 2 for each weight of a block, loop and token, the interface's
 * decode and mix, and the head at the answer, three times (forward, and backward to inputs and weights). Attention between a question's few
 * tokens is left out.
 */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "learning/dataset.h"
#include "learning/recipe.h"
#include "models/model.h"
#include "results/stats.h"

#include <stdio.h>
#include <string.h>

struct log {
    const struct model *model;
    const struct dataset *data;
    struct recipe recipe;
    struct table *lines;
};

static bool read_run(struct log *me, struct session *session, const char *name, struct sink *sink, struct err *err)
{
    me->model = session_model(session, name, sink, err);
    me->data = me->model ? session_data(session, me->model, NULL, sink, err) : NULL;
    if (!me->data) return false;
    char *log = path_join(me->model->path, "log.tsv"), *recipe = path_join(me->model->path, "recipe");
    bool ok = recipe_read(&me->recipe, recipe, err);
    me->lines = ok ? table_read(log, err) : NULL;
    mem_free(log);
    mem_free(recipe);
    return me->lines != NULL;
}

/* Operations of a pass over the training rows; NaN for families whose blocks are not all looped alike. */
static double epoch_flops(const struct log *me)
{
    const struct model *m = me->model;
    double tokens = 0, rows = 0, block = 0, table = (double)m->vocab_size * m->width;
    char *list = mem_text(args_text(&me->recipe.args, "train")), *save = NULL;
    for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        const struct split *split = dataset_split(me->data, name);
        for (size_t i = 0; split && i < split->count; i++) tokens += split->questions[i].length, rows += 1;
    }
    mem_free(list);
    for (size_t i = 0; i < m->weight_count; i++)
        if (m->weights[i]->use == WEIGHT_MATRIX || m->weights[i]->use == WEIGHT_OUTPUT) block += (double)m->weights[i]->rows * m->weights[i]->cols;
    double mixes = m->interface && strcmp(m->interface, "none") ? m->loops - 1 : 0;
    if (m->prelude || m->coda || model_by_token(m)) return NAN;
    return 3 * 2 * (tokens * (block * m->loops + 2 * table * mixes) + rows * table);
}

static bool show_split(const struct log *me, size_t line, const struct split *split, double tflop, struct sink *sink)
{
    size_t most = (size_t)args_int(&me->recipe.args, "eval_rows");
    double n = (double)(split->count < most ? split->count : most);
    for (int k = 1; k <= me->model->loops; k++) {
        struct text name = {0};
        text_add(&name, "%s.stage_%d", split->name, k);
        double correct = floor(table_number(me->lines, line, name.data) * n + 0.5);
        text_clear(&name);
        if (isnan(correct)) continue;
        struct interval interval = wilson(correct, n);
        sink_row(sink, (struct cell[]){cell_text(split->name), cell_number(k), cell_number(table_number(me->lines, line, "epoch")),
                                       cell_number(tflop), cell_number(n), cell_number(correct), cell_number(correct / n),
                                       cell_number(interval.low), cell_number(interval.high)});
    }
    return true;
}

static struct table *shape(const struct session *session, const struct log *me)
{
    struct table *table = table_new("log");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "stage", ROLE_AXIS, "%.0f");
    table_column(table, "epoch", ROLE_AXIS, "%.0f");
    table_column(table, "tflop", ROLE_VALUE, "%.3g");
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "correct", ROLE_COUNT, "%.0f");
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    command_provenance(session, table);
    table_fact(table, "model", "%s", session_brief(session, me->model->path));
    table_fact(table, "model_sha256", "%s", model_hash(me->model));
    table_fact(table, "data", "%s", me->data->name);
    table_fact(table, "data_sha256", "%s", me->data->hash);
    return table;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct log me = {0};
    (void)self;
    bool ok = read_run(&me, session, args_word(args, 0), sink, err);
    if (ok) {
        double flops = epoch_flops(&me);
        struct table *table = shape(session, &me);
        sink_table(sink, table);
        table_free(table);
        for (size_t i = 0; i < me.lines->row_count; i++)
            for (size_t s = 0; s < me.data->split_count; s++)
                show_split(&me, i, &me.data->splits[s], flops * table_number(me.lines, i, "epoch") / 1e12, sink);
    }
    table_free(me.lines);
    recipe_clear(&me.recipe);
    return ok;
}

const struct command command_log = {
    .name = "log",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "accuracy over training by split and stage, from the model's own log",
    .more = "n: rows of the split that an evaluation during training reads. tflop: matrix products of training so far, in 10^12 operations.",
    .example = "log models/vanilla",
    .run = run,
};
