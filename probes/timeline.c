/* timeline: any measurement at all checkpoints of a training run; without one, what the run wrote about itself.
 *
 * Checkpoints stay when the recipe says keep_every. Each is opened as a model of its own, measured with the run's dataset, and closed again.
 */
#include "doing/command.h"
#include "doing/spec.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"probe", OPTION_TEXT, NULL, .help = "a measurement with its options, without the model: 'bridge --split test_ood'",
     .placeholder = "'PROBE ...'"},
    {0},
};

struct timeline {
    struct session *session;
    const char *run, *probe;
    char *data;          /* of the recipe; NULL: it names none */
    struct table *shape; /* of the result; NULL: not known yet */
    struct sink *sink;
};

static bool show_log(struct timeline *me, struct err *err)
{
    char *path = path_join(me->run, "log.tsv");
    struct table *log = table_read(path, err);
    mem_free(path);
    if (!log) return false;
    struct table *shape = table_new("timeline");
    for (size_t c = 0; c < log->column_count; c++) table_column(shape, log->columns[c].name, log->columns[c].role, log->columns[c].format);
    command_provenance(me->session, shape);
    table_fact(shape, "run", "%s", me->run);
    sink_table(me->sink, shape);
    for (size_t r = 0; r < log->row_count; r++) sink_row(me->sink, table_cell(log, r, 0));
    table_free(shape), table_free(log);
    return true;
}

/* "bridge --split test_ood" -> "bridge CHECKPOINT --split test_ood --data SET" */
static void add_line(const struct timeline *me, const char *checkpoint, struct text *out)
{
    size_t name = strcspn(me->probe, " ");
    text_add(out, "%.*s ", (int)name, me->probe);
    text_add_quoted(out, checkpoint);
    text_add(out, "%s", me->probe + name);
    if (me->data && !strstr(me->probe, "--data")) text_add(out, " --data "), text_add_quoted(out, me->data);
}

static void make_shape(struct timeline *me, const struct table *first)
{
    static const char *const own[] = {"command", "version", "model", "model_sha256", NULL}; /* of one checkpoint alone */
    me->shape = table_new("timeline");
    table_column(me->shape, "step", ROLE_AXIS, "%.0f");
    for (size_t c = 0; c < first->column_count; c++) {
        const struct column *column = &first->columns[c];
        table_column(me->shape, column->name, column->role, column->format);
    }
    command_provenance(me->session, me->shape);
    table_fact(me->shape, "run", "%s", me->run);
    for (size_t f = 0; f < first->fact_count; f++) {
        bool skip = false;
        for (int i = 0; own[i]; i++) skip = skip || !strcmp(first->facts[f].key, own[i]);
        if (!skip) table_fact(me->shape, first->facts[f].key, "%s", first->facts[f].value);
    }
    sink_table(me->sink, me->shape);
}

static bool measure(struct timeline *me, const char *checkpoint, double step, struct err *err)
{
    struct collector out;
    struct text line = {0};
    collector_init(&out);
    add_line(me, checkpoint, &line);
    bool ok = command_line(me->session, line.data, &out.sink, err);
    const struct table *table = ok && out.table_count ? out.tables[0] : NULL;
    if (ok && !table) ok = err_set(err, "--probe %s: it gives no table", text_show(me->probe));
    if (ok && !me->shape) make_shape(me, table);
    bool same = ok && table->column_count + 1 == me->shape->column_count;
    if (ok && !same) ok = err_set(err, "%s: its table has other columns than the one before", text_show(checkpoint));
    struct cell *cells = mem_new(sizeof *cells * (table ? table->column_count + 1 : 1));
    for (size_t r = 0; ok && r < table->row_count; r++) {
        cells[0] = cell_number(step);
        memcpy(cells + 1, table_cell(table, r, 0), sizeof *cells * table->column_count);
        sink_row(me->sink, cells);
    }
    mem_free(cells);
    collector_release(&out);
    text_clear(&line);
    session_forget(me->session, checkpoint);
    return ok;
}

static bool measure_all(struct timeline *me, struct err *err)
{
    char *folder = path_join(me->run, "checkpoints"), **names = NULL;
    size_t count = 0, done = 0, all = 0;
    if (!folder_list(folder, &names, &count, NULL)) count = 0;
    for (size_t i = 0; i < count; i++) all += text_starts(names[i], "step-");
    bool ok = all > 0 || err_set(err, "%s: no checkpoints were kept: train with keep_every = EPOCHS in the recipe", text_show(me->run));
    for (size_t i = 0; i < count; i++) { /* sorted by name, and so by step */
        char *checkpoint = path_join(folder, names[i]);
        if (ok && text_starts(names[i], "step-")) {
            ok = measure(me, checkpoint, strtod(names[i] + 5, NULL), err);
            struct progress progress = {.what = "timeline", .done = (double)++done, .total = (double)all, .unit = "checkpoints", .left = -1};
            bool go_on = sink_progress(me->sink, &progress) && !session_stopped(me->session);
            if (ok && !go_on && done < all) ok = err_stop(err, "stopped after %zu of %zu checkpoints", done, all);
        }
        mem_free(checkpoint), mem_free(names[i]);
    }
    mem_free(names), mem_free(folder);
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct timeline me = {.session = session, .run = args_word(args, 0), .probe = args_text(args, "probe"), .sink = sink};
    (void)self;
    if (!file_is_folder(me.run)) return err_set(err, "%s: no such run: `loopscope runs` lists the folders of trainings", text_show(me.run));
    char *path = path_join(me.run, "recipe"), *recipe = file_exists(path) ? file_read(path, 1 << 20, NULL, NULL) : NULL;
    if (recipe) me.data = spec_value(recipe, "data");
    bool ok = me.probe ? measure_all(&me, err) : show_log(&me, err);
    table_free(me.shape);
    mem_free(me.data), mem_free(recipe), mem_free(path);
    return ok;
}

const struct command command_timeline = {
    .name = "timeline",
    .words = "RUN",
    .least = 1,
    .most = 1,
    .help = "any measurement at all checkpoints of a training run; without one, the run's own log",
    .more = "Checkpoints are there when the recipe has keep_every = EPOCHS. The table is that of the measurement, with the step in front.",
    .options = options,
    .example = "timeline runs/vanilla --probe 'bridge --split test_id,test_ood'",
    .run = run,
};
