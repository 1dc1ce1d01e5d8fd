/* sweep: accuracy while any option of an edit runs over its axis.
 *
 * Everything before the edited boundary is computed once, for every shard of questions, and kept (run.keep). A cell of the sweep (one combination of
 * axis values) then edits copies of the states at its positions and replays only what those can reach; several cells go through the model together,
 * as copies of the batch. A cell whose edit leaves every bit alone (alpha 0) has the untouched run's answers by construction.
 */
#include "axes.h"
#include "replay.h"

#include "figures/export.h"
#include "ground/file.h"
#include "results/pace.h"
#include "results/stats.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    AXES_OPTIONS,
    {"controls", OPTION_FLAG, NULL, .help = "short for --over target=decoded,second,random,noise,oracle"},
    {"save", OPTION_TEXT, NULL, .help = "table file that grows with every finished cell; run again, the same sweep goes on from there",
     .placeholder = "FILE.tsv", .aside = true},
    {"output", OPTION_TEXT, NULL, .letter = 'o', .many = true, .help = "figure of the result: FILE.png, .svg or .pdf", .placeholder = "FILE",
     .aside = true},
    {"dpi", OPTION_INT, "300", .low = 36, .high = 2400, .help = "of a PNG", .aside = true},
    {0},
};

struct sweep {
    struct session *session;
    const struct args *args;
    struct study study;
    struct axes axes;
    struct table *table;   /* all rows so far */
    const char *save;
    struct sink *sink;
    struct pace pace;
};

static bool read_axes(struct sweep *me, struct err *err)
{
    if (!axes_read(&me->axes, &me->study, me->args, "alpha=0:1:0.05", err)) return false;
    return !args_flag(me->args, "controls") || axes_add(&me->axes, &me->study, "target=decoded,second,random,noise,oracle", err);
}

static struct table *shape(const struct sweep *me)
{
    struct table *table = table_new("sweep");
    table_column(table, "split", ROLE_LABEL, NULL);
    axes_columns(&me->axes, table);
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "correct", ROLE_COUNT, "%.0f");
    table_column(table, "accuracy", ROLE_VALUE, "%.3f");
    table_column(table, "low", ROLE_LOW, "%.3f");
    table_column(table, "high", ROLE_HIGH, "%.3f");
    table_column(table, "excluded", ROLE_COUNT, "%.0f");
    table_column(table, "fired", ROLE_COUNT, "%.0f");
    table_column(table, "moved", ROLE_VALUE, "%.3g");
    study_provenance(&me->study, table);
    if (!me->study.edit_count) table_fact(table, "do", "none: no axis is an option of an edit");
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

static bool is_same(const struct sweep *me, const struct table *old)
{
    static const char *const keys[] = {"command", "version", "model_sha256", "data_sha256"};
    bool same = old->column_count == me->table->column_count;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) same = same && same_fact(old, me->table, keys[i]);
    return same;
}

/* Rows that an earlier run of the same sweep finished, in its file or, where it was stopped without one, in the session; *cells says for how many
 * cells. */
static bool resume(struct sweep *me, size_t *cells, struct err *err)
{
    size_t splits = (size_t)me->study.split_count;
    const struct table *left = me->session->left;
    struct table *old = NULL;
    *cells = 0;
    if (me->save && file_exists(me->save) && !(old = table_read(me->save, err))) return err_in(err, "--save");
    const struct table *from = me->save ? old : left && is_same(me, left) ? left : NULL;
    bool same = !from || is_same(me, from);
    for (size_t i = 0; from && same && i < from->row_count / splits * splits; i++) table_row(me->table, table_cell(from, i, 0));
    table_free(old);
    if (!same)
        return err_set(err, "--save %s: holds another sweep (command, model, data or version differ): name another file, or remove this one",
                       me->save);
    *cells = me->table->row_count / splits;
    return true;
}

/* A sweep that the user stopped is often asked for again. */
static void leave(struct sweep *me)
{
    if (me->save || !me->table->row_count) return;
    table_free(me->session->left);
    me->session->left = me->table;
    me->table = NULL;
}

static void add_row(struct sweep *me, int split, size_t cell, const struct outcome *outcome)
{
    struct cell cells[AXES_MOST + 10];
    size_t at = 0;
    double n = (double)outcome->n, correct = (double)outcome->correct;
    struct interval interval = wilson(correct, n);
    cells[at++] = cell_text(me->study.splits[split].name);
    at += axes_cells(&me->axes, cell, cells + at);
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

static bool show_progress(struct sweep *me, size_t done) { return pace_show(&me->pace, (double)done) && !session_stopped(me->session); }

/* The cells from `from` on that one call computes: they have the same number of loops. */
static size_t together(const struct sweep *me, size_t from)
{
    size_t count = 1;
    int loops = axes_loops(&me->axes, &me->study, from);
    while (count < REPLAY_TOGETHER && from + count < me->axes.cells && axes_loops(&me->axes, &me->study, from + count) == loops) count++;
    return count;
}

/* The base runs belong to a number of loops. */
static bool set_loops(struct sweep *me, int loops, struct replay **replay, struct err *err)
{
    if (*replay && me->study.loops == loops) return true;
    replay_close(*replay);
    if (!model_by_token(me->study.model)) me->study.boundaries = loops;
    me->study.loops = loops;
    *replay = replay_open(&me->study, err);
    return *replay != NULL;
}

/* The user stopped it: how far it came, and what of that is left. */
static void say_kept(const struct sweep *me, struct err *err)
{
    size_t done = me->table->row_count / (size_t)me->study.split_count;
    err_stop(err, "stopped after %zu of %zu cells", done, me->axes.cells);
    if (!me->save) err_add(err, done ? ": nothing is saved (--save FILE.tsv would keep them)" : "");
    else if (done) err_add(err, ": %s holds them, and the same line goes on from there", text_show(me->save));
}

static bool run_cells(struct sweep *me, struct err *err)
{
    size_t already, edit_count = (size_t)me->study.edit_count, splits = (size_t)me->study.split_count;
    if (!resume(me, &already, err)) return false;
    for (size_t i = 0; i < me->table->row_count; i++) sink_row(me->sink, table_cell(me->table, i, 0));
    me->pace = pace_start(me->sink, "sweep", "cells", (double)me->axes.cells);
    me->pace.from = (double)already;
    if (already) show_progress(me, already); /* they are seen before the next is computed */
    struct replay *replay = NULL;
    bool ok = true;
    struct edit *edits = mem_new(sizeof *edits * edit_count * REPLAY_TOGETHER);
    struct outcome *outcomes = mem_new(sizeof *outcomes * REPLAY_TOGETHER * splits);
    for (size_t from = already, count; ok && from < me->axes.cells; from += count) {
        count = together(me, from);
        ok = set_loops(me, axes_loops(&me->axes, &me->study, from), &replay, err);
        for (size_t c = 0; ok && c < count; c++) ok = axes_edits(&me->axes, &me->study, from + c, edits + c * edit_count, err);
        ok = ok && replay_cells(replay, edits, count, outcomes, err);
        for (size_t c = 0; ok && c < count; c++)
            for (size_t s = 0; s < splits; s++) add_row(me, (int)s, from + c, &outcomes[c * splits + s]);
        for (size_t i = 0; i < count * edit_count; i++) edit_clear(&edits[i]);
        ok = ok && save_table(me, err);
        if (ok && !show_progress(me, from + count) && from + count < me->axes.cells)
            ok = err_stop(err, "stopped");
        if (!ok && err->stopped) say_kept(me, err);
    }
    mem_free(edits);
    mem_free(outcomes);
    replay_close(replay);
    return ok;
}

static void note_effect(const struct sweep *me)
{
    double moved = 0;
    if (!me->study.edit_count) {
        sink_say(me->sink, "no edit: no axis is an option of one (--do gives one)");
        return;
    }
    if (!args_at(me->args, "do", 0)) sink_say(me->sink, "edit: %s (--do gives another)", me->study.edits[0].text);
    for (size_t i = 0; i < me->table->row_count; i++) moved = fmax(moved, table_number(me->table, i, "moved"));
    if (moved == 0) sink_note(me->sink, "no effect: no cell of this sweep changed a state");
    for (int s = 0; s < me->study.split_count; s++) {
        size_t idle = 0, step = (size_t)me->study.split_count;
        for (size_t i = (size_t)s; i < me->table->row_count; i += step) idle += table_number(me->table, i, "fired") == 0;
        if (idle) sink_note(me->sink, "%s: %zu of %zu cells wrote no row: no question has their position or target", me->study.splits[s].name, idle,
                            me->axes.cells);
    }
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

/* Where results are to go, before hours are spent on them. */
static bool may_write(const struct args *args, struct err *err)
{
    const char *path, *save = args_text(args, "save");
    for (size_t i = 0; (path = args_at(args, "output", i)); i++)
        if (!figure_may_export(path, err)) return err_in(err, "--output");
    return !save || file_may_write(save, err) || err_in(err, "--save");
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct sweep me = {.session = session, .args = args, .sink = sink, .save = args_text(args, "save")};
    (void)self;
    if (!may_write(args, err)) return false;
    if (!study_open(&me.study, session, args, "test_id,test_ood", sink, err)) return false;
    bool ok = axes_default_edit(&me.study, args, err) && read_axes(&me, err);
    if (ok) {
        me.table = shape(&me);
        sink_table(sink, me.table);
        ok = run_cells(&me, err);
        if (ok) note_effect(&me);
        ok = ok && export_figures(&me, err);
        if (!ok && err->stopped) leave(&me);
        table_free(me.table);
    }
    axes_clear(&me.axes);
    study_close(&me.study);
    return ok;
}

const struct command command_sweep = {
    .name = "sweep",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "accuracy while alpha (or any option of an edit) runs over its axis",
    .more =
        "The default is the paper's intervention: at boundary 1 and position 1, h <- (1-a) h + a Norm(W[argmax decode(h)]), for 21 alphas. alpha 0 "
        "is bit for bit "
        "the untouched run. --over loops alone edits nothing. fired counts rows written, moved is the largest change of a number, excluded counts "
        "rows whose logits are not finite.",
    .options = options,
    .example = "sweep models/vanilla --norm rms --over alpha=0:1:0.05",
    .run = run,
};
