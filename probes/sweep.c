/* sweep: accuracy while any option of an edit runs over its axis.
 *
 * Everything before the edited boundary is computed once, for every shard of questions, and kept (run.keep). A cell of the sweep (one combination of axis
 * values) then edits copies of the states at its positions and replays only what those can reach; several cells go through the model together, as copies
 * of the batch. A cell whose edit leaves every bit alone (alpha 0) has the untouched run's answers by construction.
 */
#include "over.h"
#include "replay.h"

#include "figures/export.h"
#include "ground/file.h"
#include "results/stats.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    {"over", OPTION_TEXT, NULL, .help = "an axis: OPTION=FROM:TO:STEP or OPTION=A,B,C; may be given several times (default alpha=0:1:0.05)",
     .placeholder = "AXIS", .many = true},
    {"norm", OPTION_CHOICE, NULL, .choices = "rms|match|l2|none", .help = "short for norm in the edit mix@h.1"},
    {"position", OPTION_TEXT, NULL, .help = "short for position in the edit mix@h.1"},
    {"boundary", OPTION_INT, NULL, .low = 0, .high = 64, .help = "short for the boundary k in mix@h.k"},
    {"controls", OPTION_FLAG, NULL, .help = "short for --over target=decoded,second,random,noise,oracle"},
    {"save", OPTION_TEXT, NULL, .help = "table file that grows with every finished cell; run again, the same sweep goes on from there", .placeholder = "FILE.tsv",
     .aside = true},
    {"output", OPTION_TEXT, NULL, .letter = 'o', .many = true, .help = "figure of the result: FILE.png, .svg or .pdf", .placeholder = "FILE",
     .aside = true},
    {"dpi", OPTION_INT, "300", .low = 36, .high = 2400, .help = "of a PNG", .aside = true},
    {0},
};

enum { AXES = 4 };

struct sweep {
    struct session *session;
    const struct args *args;
    struct study study;
    struct over axes[AXES];
    int axis_count;
    size_t cell_count;
    struct table *table;   /* all rows so far */
    const char *save;
    struct sink *sink;
    double began;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The edit of the short options, unless --do gives one. */
static bool default_edit(struct sweep *me, struct err *err)
{
    const struct args *args = me->args;
    const char *norm = args_text(args, "norm"), *position = args_text(args, "position");
    bool brief = norm || position || args_given(args, "boundary");
    if (me->study.edit_count) return !brief || err_set(err, "--norm, --position and --boundary belong into --do when --do is given");
    struct text text = {0};
    text_add(&text, "mix@h.%ld:position=%s,norm=%s", args_given(args, "boundary") ? args_int(args, "boundary") : 1, position ? position : "1", norm ? norm : "rms");
    bool ok = edit_parse(&me->study.edits[0], text.data, me->study.model, err);
    text_clear(&text);
    if (ok) me->study.edit_count = 1;
    for (int s = 0; ok && s < me->study.split_count; s++)
        ok = edit_check(&me->study.edits[0], me->study.splits[s].questions, me->study.splits[s].count, err);
    return ok;
}

static bool add_axis(struct sweep *me, const char *text, struct err *err)
{
    if (me->axis_count == AXES) return err_set(err, "--over: at most %d axes", AXES);
    if (!over_parse(&me->axes[me->axis_count], text, err)) return false;
    struct over *axis = &me->axes[me->axis_count++];
    for (size_t i = 0; i < axis->count; i++) /* every value has to be one that the option takes */
        if (!replay_set(me->study.edits, me->study.edit_count, axis->name, axis->values[i], me->study.boundaries, err)) return err_in(err, "--over %s", axis->name);
    me->cell_count *= axis->count;
    return true;
}

static bool read_axes(struct sweep *me, struct err *err)
{
    const char *text;
    me->cell_count = 1;
    for (size_t i = 0; (text = args_at(me->args, "over", i)); i++)
        if (!add_axis(me, text, err)) return false;
    if (!me->axis_count && !add_axis(me, "alpha=0:1:0.05", err)) return false;
    return !args_flag(me->args, "controls") || add_axis(me, "target=decoded,second,random,noise,oracle", err);
}

/* Value of an axis in a cell: the first axis runs fastest. */
static size_t axis_at(const struct sweep *me, size_t cell, int axis)
{
    for (int a = 0; a < axis; a++) cell /= me->axes[a].count;
    return cell % me->axes[axis].count;
}

static struct table *shape(const struct sweep *me)
{
    struct table *table = table_new("sweep");
    table_column(table, "split", ROLE_LABEL, NULL);
    for (int a = 0; a < me->axis_count; a++) table_column(table, me->axes[a].name, me->axes[a].numeric ? ROLE_AXIS : ROLE_LABEL, NULL);
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "correct", ROLE_COUNT, "%.0f");
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    table_column(table, "excluded", ROLE_COUNT, "%.0f");
    table_column(table, "fired", ROLE_COUNT, "%.0f");
    table_column(table, "moved", ROLE_VALUE, "%.3g");
    study_provenance(&me->study, table);
    return table;
}

static bool save_table(const struct sweep *me, struct err *err)
{
    if (!me->save) return true;
    struct text text = {0};
    table_tsv(me->table, &text);
    bool ok = file_write(me->save, text.data, text.size, err);
    text_clear(&text);
    return ok;
}

static bool same_fact(const struct table *a, const struct table *b, const char *key)
{
    const char *x = table_fact_get(a, key), *y = table_fact_get(b, key);
    return x && y && !strcmp(x, y);
}

/* Rows that an earlier run of the same sweep finished; *cells says for how many cells. */
static bool resume(struct sweep *me, size_t *cells, struct err *err)
{
    *cells = 0;
    if (!me->save || !file_exists(me->save)) return true;
    struct table *old = table_read(me->save, err);
    if (!old) return err_in(err, "--save");
    static const char *const keys[] = {"command", "version", "model_sha256", "data_sha256"};
    bool same = old->column_count == me->table->column_count;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) same = same && same_fact(old, me->table, keys[i]);
    size_t splits = (size_t)me->study.split_count;
    for (size_t i = 0; same && i < old->row_count / splits * splits; i++) table_row(me->table, table_cell(old, i, 0));
    table_free(old);
    if (!same) return err_set(err, "--save %s: holds another sweep (command, model, data or version differ): name another file, or remove this one", me->save);
    *cells = me->table->row_count / splits;
    return true;
}

static void add_row(struct sweep *me, int split, size_t cell, const struct outcome *outcome)
{
    struct cell cells[AXES + 9];
    size_t at = 0;
    double n = (double)outcome->n, correct = (double)outcome->correct;
    struct interval interval = wilson(correct, n);
    cells[at++] = cell_text(me->study.splits[split].name);
    for (int a = 0; a < me->axis_count; a++) {
        size_t i = axis_at(me, cell, a);
        cells[at++] = me->axes[a].numeric ? cell_number(me->axes[a].numbers[i]) : cell_text(me->axes[a].values[i]);
    }
    cells[at++] = cell_number(n);
    cells[at++] = cell_number(correct);
    cells[at++] = cell_number(n > 0 ? correct / n : NAN);
    cells[at++] = cell_number(interval.low);
    cells[at++] = cell_number(interval.high);
    cells[at++] = cell_number((double)outcome->excluded);
    cells[at++] = cell_number((double)outcome->edits.fired);
    cells[at++] = cell_number(outcome->edits.moved);
    table_row(me->table, cells);
    sink_row(me->sink, cells);
}

/* The edits of one cell: the study's, with the axis values set. Cleared by the caller. */
static bool cell_edits(const struct sweep *me, size_t cell, struct edit *edits, struct err *err)
{
    for (int i = 0; i < me->study.edit_count; i++)
        if (!edit_parse(&edits[i], me->study.edits[i].text, me->study.model, err)) return false;
    for (int a = 0; a < me->axis_count; a++)
        if (!replay_set(edits, me->study.edit_count, me->axes[a].name, me->axes[a].values[axis_at(me, cell, a)], me->study.boundaries, err)) return false;
    return true;
}

static bool show_progress(struct sweep *me, size_t done, size_t already)
{
    double seconds = now() - me->began, cells = (double)(done - already);
    double rate = seconds > 0 ? cells / seconds : 0;
    struct progress progress = {.what = "sweep", .done = (double)done, .total = (double)me->cell_count, .unit = "cells", .rate = rate,
                                .left = rate > 0 ? (double)(me->cell_count - done) / rate : -1};
    return sink_progress(me->sink, &progress) && !session_stopped(me->session);
}

static bool run_cells(struct sweep *me, struct err *err)
{
    enum { TOGETHER = REPLAY_TOGETHER };
    size_t already, edit_count = (size_t)me->study.edit_count;
    if (!resume(me, &already, err)) return false;
    for (size_t i = 0; i < me->table->row_count; i++) sink_row(me->sink, table_cell(me->table, i, 0));
    struct replay *replay = already < me->cell_count ? replay_open(&me->study, err) : NULL;
    bool ok = already == me->cell_count || replay;
    struct edit *edits = mem_new(sizeof *edits * edit_count * TOGETHER);
    struct outcome *outcomes = mem_new(sizeof *outcomes * TOGETHER * (size_t)me->study.split_count);
    for (size_t from = already; ok && from < me->cell_count; from += TOGETHER) {
        size_t count = me->cell_count - from < TOGETHER ? me->cell_count - from : TOGETHER;
        for (size_t c = 0; ok && c < count; c++) ok = cell_edits(me, from + c, edits + c * edit_count, err);
        ok = ok && replay_cells(replay, edits, count, outcomes, err);
        for (size_t c = 0; ok && c < count; c++)
            for (int s = 0; s < me->study.split_count; s++) add_row(me, s, from + c, &outcomes[c * (size_t)me->study.split_count + (size_t)s]);
        for (size_t i = 0; i < count * edit_count; i++) edit_clear(&edits[i]);
        ok = ok && save_table(me, err);
        if (ok && !show_progress(me, from + count, already) && from + count < me->cell_count) ok = err_stop(err, "stopped after %zu of %zu cells", from + count, me->cell_count);
    }
    mem_free(edits);
    mem_free(outcomes);
    replay_close(replay);
    return ok;
}

static void note_effect(const struct sweep *me)
{
    double moved = 0;
    for (size_t i = 0; i < me->table->row_count; i++) moved = fmax(moved, table_number(me->table, i, "moved"));
    if (moved == 0) sink_note(me->sink, "no effect: no cell of this sweep changed a state");
}

static bool export_figures(const struct sweep *me, struct err *err)
{
    const char *path;
    struct figure_options figure = {.dpi = (int)args_int(me->args, "dpi")};
    for (size_t i = 0; (path = args_at(me->args, "output", i)); i++) {
        if (!figure_export(me->table, &figure, path, err)) return false;
        sink_say(me->sink, "wrote %s", path);
    }
    return true;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct sweep me = {.session = session, .args = args, .sink = sink, .save = args_text(args, "save"), .began = now()};
    (void)self;
    if (!study_open(&me.study, session, args, "test_id,test_ood", sink, err)) return false;
    bool ok = default_edit(&me, err) && read_axes(&me, err);
    if (ok) {
        me.table = shape(&me);
        sink_table(sink, me.table);
        ok = run_cells(&me, err);
        if (ok) note_effect(&me);
        ok = ok && export_figures(&me, err);
        table_free(me.table);
    }
    for (int a = 0; a < me.axis_count; a++) over_clear(&me.axes[a]);
    study_close(&me.study);
    return ok;
}

const struct command command_sweep = {
    .name = "sweep",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "accuracy while alpha (or any option of an edit) runs over its axis",
    .more = "The default is the paper's intervention: at boundary 1 and position 1, h <- (1-a) h + a Norm(W[argmax decode(h)]), for 21 alphas. alpha 0 is bit for bit "
            "the untouched run. fired counts rows written, moved is the largest change of a number, excluded counts rows whose logits are not finite.",
    .options = options,
    .example = "sweep models/vanilla --norm rms --over alpha=0:1:0.05",
    .run = run,
};
