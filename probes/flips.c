/* flips: which questions turn right or wrong while an option of an edit runs over its axis, and at which value.
 *
 * The cells are those of `sweep` (probes/replay.c); what is read of them is each question's answer instead of their number. A question has a row for
 * every value at which its answer turns right or wrong against the value before; the first value is compared with the untouched run. With several
 * axes answers are followed along the first, anew at each value of the others.
 */
#include "axes.h"
#include "replay.h"

#include "results/pace.h"

#include <string.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    AXES_OPTIONS,
    {0},
};

struct flips {
    const struct study *study;
    const struct axes *axes;
    struct replay *replay;
    size_t count;      /* questions of all splits */
    int *untouched;    /* answers: without the edit, */
    int *before, *now; /* of the value before, and [cells together, count] */
    long better, worse;
    struct sink *sink;
};

static struct table *shape(const struct flips *me)
{
    struct table *table = table_new("flips");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "row", ROLE_COUNT, "%.0f");
    table_column(table, "question", ROLE_LABEL, NULL);
    table_column(table, "answer", ROLE_LABEL, NULL);
    axes_columns(me->axes, table);
    table_column(table, "from", ROLE_LABEL, NULL);
    table_column(table, "to", ROLE_LABEL, NULL);
    table_column(table, "turns", ROLE_LABEL, NULL);
    study_provenance(me->study, table);
    return table;
}

static const char *name_of(const struct flips *me, int token) { return token < 0 ? "not finite" : dataset_token(me->study->data, token); }

static void show(const struct flips *me, const struct split *split, size_t row, size_t cell, int from, int to)
{
    const struct question *q = &split->questions[row];
    struct text question = {0};
    struct cell cells[AXES_MOST + 8] = {cell_text(split->name), cell_number((double)row)};
    size_t at = 4;
    for (int t = 0; t < q->length; t++) text_add(&question, "%s%s", t ? " " : "", dataset_token(me->study->data, q->tokens[t]));
    cells[2] = cell_text(question.data), cells[3] = cell_text(dataset_token(me->study->data, q->answer));
    at += axes_cells(me->axes, cell, cells + at);
    cells[at++] = cell_text(name_of(me, from));
    cells[at++] = cell_text(name_of(me, to));
    cells[at++] = cell_text(to == q->answer ? "right" : "wrong");
    sink_row(me->sink, cells);
    text_clear(&question);
}

/* What the answers of one cell are, against those before. */
static void compare(struct flips *me, size_t cell, const int *answers)
{
    size_t i = 0;
    if (cell % me->axes->axis[0].count == 0) memcpy(me->before, me->untouched, sizeof *me->before * me->count); /* the first axis begins again */
    for (int s = 0; s < me->study->split_count; s++)
        for (size_t row = 0; row < me->study->splits[s].count; row++, i++) {
            int right = me->study->splits[s].questions[row].answer;
            if ((me->before[i] == right) == (answers[i] == right)) continue;
            show(me, &me->study->splits[s], row, cell, me->before[i], answers[i]);
            *(answers[i] == right ? &me->better : &me->worse) += 1;
        }
    memcpy(me->before, answers, sizeof *answers * me->count);
}

static bool run_cells(struct flips *me, struct err *err)
{
    size_t edit_count = (size_t)me->study->edit_count, splits = (size_t)me->study->split_count;
    struct edit *edits = mem_new(sizeof *edits * edit_count * REPLAY_TOGETHER);
    struct outcome *outcomes = mem_new(sizeof *outcomes * REPLAY_TOGETHER * splits);
    struct pace pace = pace_start(me->sink, "flips", "cells", (double)me->axes->cells);
    bool ok = true;
    for (size_t from = 0, count; ok && from < me->axes->cells; from += count) {
        count = me->axes->cells - from < REPLAY_TOGETHER ? me->axes->cells - from : REPLAY_TOGETHER;
        for (size_t c = 0; ok && c < count; c++) ok = axes_edits(me->axes, me->study, from + c, edits + c * edit_count, err);
        ok = ok && replay_cells(me->replay, edits, count, outcomes, err);
        for (size_t c = 0; ok && c < count; c++) compare(me, from + c, me->now + c * me->count);
        for (size_t i = 0; i < count * edit_count; i++) edit_clear(&edits[i]);
        bool go_on = pace_show(&pace, (double)(from + count)) && !session_stopped(me->study->session);
        if (ok && !go_on && from + count < me->axes->cells) ok = err_stop(err, "stopped after %zu of %zu cells", from + count, me->axes->cells);
    }
    mem_free(edits);
    mem_free(outcomes);
    return ok;
}

static bool measure(const struct study *study, const struct axes *axes, struct sink *sink, struct err *err)
{
    struct flips me = {.study = study, .axes = axes, .replay = replay_open(study, err), .sink = sink};
    if (!me.replay) return false;
    me.count = replay_questions(me.replay);
    me.before = mem_new(sizeof *me.before * (me.count + 1));
    me.now = mem_new(sizeof *me.now * (me.count * REPLAY_TOGETHER + 1));
    me.untouched = mem_new(sizeof *me.untouched * (me.count + 1));
    replay_untouched(me.replay, me.untouched);
    replay_record(me.replay, me.now);
    struct table *table = shape(&me);
    sink_table(sink, table);
    table_free(table);
    bool ok = run_cells(&me, err);
    if (ok && !me.better && !me.worse) sink_note(sink, "no answer turns right or wrong");
    replay_close(me.replay);
    mem_free(me.untouched), mem_free(me.before), mem_free(me.now);
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    struct axes axes = {0};
    (void)self;
    if (!study_open(&study, session, args, "test_id,test_ood", sink, err)) return false;
    bool ok = axes_default_edit(&study, args, err) && axes_read(&axes, &study, args, "alpha=0:1:0.05", err);
    bool loops = ok && (!study.edit_count || axes_loops(&axes, &study, 0) != axes_loops(&axes, &study, axes.cells - 1));
    if (loops) ok = err_set(err, "--over loops: flips follow an option of an edit");
    ok = ok && measure(&study, &axes, sink, err);
    axes_clear(&axes);
    study_close(&study);
    return ok;
}

const struct command command_flips = {
    .name = "flips",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "which questions turn right or wrong while alpha runs over its axis, and where",
    .more = "A row for every value at which a question's answer turns: from one token to another, right or wrong, against the value before; the "
            "first value is compared with the untouched run. One question may turn several times. With several axes that is so along the first, at "
            "each value of the others.",
    .options = options,
    .example = "flips models/vanilla --split test_ood --over alpha=0:1:0.1",
    .run = run,
};
