#include "driver.h"

#include "axes.h"
#include "results/pace.h"
#include "results/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void findings_add(struct findings *findings, size_t question, const double *numbers)
{
    size_t width = (size_t)findings->width;
    mem_grow(&findings->cells, &findings->room, (findings->count + 1) * width, sizeof *findings->cells);
    double *to = findings->cells + findings->count++ * width;
    to[0] = (double)question;
    memcpy(to + 1, numbers, sizeof *numbers * (width - 1));
}

bool want_answers(const struct args *args, struct shard *shard)
{
    (void)args;
    shard->run->wanted = places_new(shard->arena, shard->run->batch, shard->count, shard->answers);
    return true;
}

struct survey {
    const struct probe *probe;
    const struct study *study;
    const struct args *args;
    struct sink *sink;
    struct findings *shards; /* one a shard of the split */
    struct edit_count *edits;
    size_t shown;            /* findings so far, of all splits */
    int width;
    struct pace pace;
    double before;           /* questions of the splits that are done */
    struct axes axes;        /* none without --over */
    size_t cell;             /* of the axes: the one that is measured */
    double moved;            /* the largest change by an edit, of all cells */
};

static bool setup(struct pass *pass, struct shard *shard)
{
    struct survey *me = pass->self;
    study_edit(me->study, shard, shard->questions, shard->first);
    return !me->probe->setup || me->probe->setup(me->args, shard); /* what the probe attaches sees what the edits left */
}

static bool visit(struct pass *pass, struct shard *shard)
{
    struct survey *me = pass->self;
    struct findings *mine = &me->shards[shard->index];
    mine->width = me->width;
    for (int i = 0; i < me->study->edit_count; i++) {
        struct edit_handler *handler = (struct edit_handler *)shard->run->handlers[i];
        edit_count_add(&me->edits[shard->index], &handler->total);
    }
    return me->probe->measure(me->args, shard, mine);
}

static bool go_on(void *self, size_t done)
{
    struct survey *me = self;
    return pace_show(&me->pace, me->before + (double)done) && !session_stopped(me->study->session);
}

static int count_columns(const struct probe *probe)
{
    int n = 0;
    while (probe->columns[n].name) n++;
    return n;
}

/* An axis and a key of the probe may have one name: what is edited, and what is measured. */
static void add_axes(const struct survey *me, struct table *table)
{
    size_t first = table->column_count;
    axes_columns(&me->axes, table);
    for (size_t c = first; c < table->column_count; c++)
        for (const struct finding_column *own = me->probe->columns; own->name; own++) {
            struct text name = {0};
            if (strcmp(own->name, table->columns[c].name) != 0) continue;
            text_add(&name, "edit_%s", own->name);
            mem_free(table->columns[c].name);
            table->columns[c].name = name.data;
        }
}

static struct table *shape(const struct survey *me, bool rows)
{
    struct table *table = table_new(me->probe->command.name);
    bool counted = false;
    table_column(table, "split", ROLE_LABEL, NULL);
    add_axes(me, table);
    if (rows) table_column(table, "row", ROLE_COUNT, "%.0f");
    for (const struct finding_column *c = me->probe->columns; c->name; c++) {
        if (rows || c->kind == FIND_KEY) {
            table_column(table, c->name, c->token ? ROLE_LABEL : c->kind == FIND_KEY ? ROLE_AXIS : ROLE_VALUE, c->format);
            continue;
        }
        if (c->kind == FIND_DETAIL) continue;
        if (!counted) table_column(table, "n", ROLE_COUNT, "%.0f");
        counted = true;
        if (c->kind == FIND_RATE) table_column(table, "correct", ROLE_COUNT, "%.0f");
        table_column(table, c->name, ROLE_VALUE, c->format);
        if (c->kind == FIND_RATE) {
            table_column(table, "low", ROLE_LOW, "%.3f");
            table_column(table, "high", ROLE_HIGH, "%.3f");
            table_column(table, "excluded", ROLE_COUNT, "%.0f");
        }
    }
    if (!rows && me->probe->undefined) table_column(table, me->probe->undefined, ROLE_COUNT, "%.0f");
    study_provenance(me->study, table);
    if (me->study->pick.one) pick_facts(&me->study->pick, me->study->data, table);
    return table;
}

static void show_rows(const struct survey *me, const char *split, const struct findings *all, struct sink *sink)
{
    struct cell *cells = mem_new(sizeof *cells * (size_t)(me->width + 1 + AXES_MOST));
    size_t at = 1 + axes_cells(&me->axes, me->cell, cells + 1);
    for (size_t i = 0; i < all->count; i++) {
        const double *numbers = all->cells + i * (size_t)me->width;
        cells[0] = cell_text(split);
        cells[at] = cell_number(numbers[0] + (double)me->study->pick.number);
        for (int c = 0; c + 1 < me->width; c++) {
            double x = numbers[c + 1];
            struct cell *cell = &cells[at + 1 + (size_t)c];
            *cell = !me->probe->columns[c].token ? cell_number(x) : cell_text(x >= 0 ? dataset_token(me->study->data, (int)x) : "not finite");
        }
        sink_row(sink, cells);
    }
    mem_free(cells);
}

static int by_keys(const void *a, const void *b, void *survey)
{
    const struct survey *me = survey;
    const double *x = a, *y = b;
    for (int c = 0; c + 1 < me->width; c++)
        if (me->probe->columns[c].kind == FIND_KEY && x[c + 1] != y[c + 1]) return x[c + 1] < y[c + 1] ? -1 : 1;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static void show_group(const struct survey *me, const char *split, const double *group, size_t n, struct sink *sink)
{
    struct cell cells[32];
    size_t at = 0, width = (size_t)me->width;
    bool counted = false;
    double undefined = 0;
    cells[at++] = cell_text(split);
    at += axes_cells(&me->axes, me->cell, cells + at);
    for (size_t c = 0; me->probe->columns[c].name; c++) {
        enum finding kind = me->probe->columns[c].kind;
        struct mean mean = {0};
        for (size_t i = 0; i < n; i++) mean_add(&mean, group[i * width + c + 1]);
        if (kind == FIND_KEY) cells[at++] = cell_number(group[c + 1]);
        if (kind == FIND_KEY || kind == FIND_DETAIL) continue;
        if (!counted) cells[at++] = cell_number(kind == FIND_RATE ? mean.n : (double)n);
        counted = true;
        if (kind != FIND_CHANGE && mean.skipped > undefined) undefined = mean.skipped;
        if (kind != FIND_RATE) {
            cells[at++] = cell_number(mean.n > 0 ? mean.mean : NAN);
            continue;
        }
        double correct = floor(mean.mean * mean.n + 0.5);
        struct interval interval = wilson(correct, mean.n);
        cells[at++] = cell_number(correct);
        cells[at++] = cell_number(mean.n > 0 ? correct / mean.n : NAN);
        cells[at++] = cell_number(interval.low);
        cells[at++] = cell_number(interval.high);
        cells[at++] = cell_number(mean.skipped);
    }
    if (me->probe->undefined) cells[at++] = cell_number(undefined);
    sink_row(sink, cells);
}

static void show_means(struct survey *me, const char *split, struct findings *all, struct sink *sink)
{
    size_t width = (size_t)me->width;
    if (all->count) qsort_r(all->cells, all->count, sizeof(double) * width, by_keys, me);
    for (size_t from = 0, to; from < all->count; from = to) {
        const double *first = all->cells + from * width;
        for (to = from + 1; to < all->count; to++) {
            bool same = true;
            for (size_t c = 0; me->probe->columns[c].name; c++)
                same = same && (me->probe->columns[c].kind != FIND_KEY || first[c + 1] == all->cells[to * width + c + 1]);
            if (!same) break;
        }
        show_group(me, split, first, to - from, sink);
    }
}

static void note_edits(struct survey *me, const char *split, const struct edit_count *total)
{
    bool last = me->cell + 1 >= me->axes.cells;
    if (!me->study->edit_count) return;
    me->moved = fmax(me->moved, total->moved);
    if (me->moved == 0 && last) sink_note(me->sink, "%s: the edit had no effect: %ld rows written, largest change 0", split, total->fired);
    if (total->skipped) sink_note(me->sink, "%s: the edit skipped %ld rows that lack its position or target", split, total->skipped);
}

static bool survey_split(struct survey *me, const struct split *split, struct sink *sink, struct err *err)
{
    struct pass pass = {.model = me->study->model, .questions = split->questions, .count = split->count, .pool = me->study->pool,
                        .loops = me->study->loops, .setup = setup, .visit = visit, .go_on = go_on, .stop = &me->study->session->stop,
                        .self = me};
    size_t shards = (size_t)pass_shards(&pass);
    struct findings all = {.width = me->width};
    struct edit_count total = {0};
    me->shards = mem_new(sizeof *me->shards * shards);
    me->edits = mem_new(sizeof *me->edits * shards);
    bool ok = pass_run(&pass, err);
    for (size_t i = 0; i < shards; i++) {
        for (size_t j = 0; ok && j < me->shards[i].count; j++) {
            const double *numbers = me->shards[i].cells + j * (size_t)me->width;
            findings_add(&all, (size_t)numbers[0], numbers + 1);
        }
        mem_free(me->shards[i].cells);
        edit_count_add(&total, &me->edits[i]);
    }
    if (ok && args_flag(me->args, "rows")) show_rows(me, split->name, &all, sink);
    else if (ok) show_means(me, split->name, &all, sink);
    me->shown += all.count;
    if (ok) note_edits(me, split->name, &total);
    me->before += (double)split->count;
    mem_free(all.cells);
    mem_free(me->shards);
    mem_free(me->edits);
    return ok;
}

static bool survey_splits(struct survey *me, struct err *err)
{
    bool ok = true;
    for (int s = 0; ok && s < me->study->split_count; s++) ok = survey_split(me, &me->study->splits[s], me->sink, err);
    return ok;
}

/* The splits at every combination of the axes' values. */
static bool survey_cells(struct survey *me, struct err *err)
{
    const struct study *whole = me->study;
    struct study study = *whole;
    bool ok = true;
    me->study = &study;
    for (me->cell = 0; ok && me->cell < me->axes.cells; me->cell++) {
        memset(study.edits, 0, sizeof study.edits);
        study.loops = axes_loops(&me->axes, whole, me->cell);
        ok = axes_edits(&me->axes, whole, me->cell, study.edits, err) && survey_splits(me, err);
        for (int i = 0; i < study.edit_count; i++) edit_clear(&study.edits[i]);
    }
    me->study = whole;
    return ok;
}

bool probe_command(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    if (!study_open(&study, session, args, NULL, sink, err)) return false;
    struct survey survey = {.probe = (const struct probe *)self, .study = &study, .args = args, .sink = sink, .axes.cells = 1};
    bool over = args_at(args, "over", 0);
    if (over && !axes_read(&survey.axes, &study, args, "", err)) return axes_clear(&survey.axes), study_close(&study), false;
    survey.width = count_columns(survey.probe) + 1;
    double total = 0;
    for (int s = 0; s < study.split_count; s++) total += (double)study.splits[s].count;
    survey.pace = pace_start(sink, self->name, "rows", total * (double)survey.axes.cells);
    struct table *table = shape(&survey, args_flag(args, "rows"));
    sink_table(sink, table);
    bool ok = over ? survey_cells(&survey, err) : survey_splits(&survey, err);
    if (ok && !survey.shown) sink_note(sink, "nothing to show: no question has what was asked for");
    table_free(table);
    axes_clear(&survey.axes);
    study_close(&study);
    return ok;
}
