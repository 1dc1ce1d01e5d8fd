/* replicate: the paper's tables and figures, from nothing to a card. One row of REPLICATIONS each (replicate.h). */
#include "replicate.h"

#include "doing/command.h"
#include "doing/detach.h"
#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "rep_measure.h"
#include "rep_result.h"
#include "rep_runs.h"
#include "registry.h"

#include <string.h>

static const struct option options[] = {
    {"seeds", OPTION_INT, "3", .low = 1, .high = 100, .help = "trainings of each recipe: seeds 0 to N-1"},
    {"scale", OPTION_CHOICE, "small", .choices = "small|paper|tiny",
     .help = "how large: minutes for a model, days, or seconds (which shows nothing)"},
    {"work", OPTION_TEXT, "runs/replicate", .help = "where the training runs are: WORK/SCALE/RECIPE-SEED", .placeholder = "DIR", .aside = true},
    {"out", OPTION_TEXT, NULL, .help = "where card, tables and figures go; default: WORK/SCALE/results", .placeholder = "DIR", .aside = true},
    {"figures", OPTION_TEXT, NULL, .help = "where the figures go instead", .placeholder = "DIR", .aside = true},
    {"measure-only", OPTION_FLAG, NULL, .help = "trains nothing: measures the runs that are finished", .aside = true},
    {"background", OPTION_FLAG, NULL, .aside = true,
     .help = "in a process of its own, which goes on when this one ends; `runs` lists its trainings, `pause` stops it"},
    {"show", OPTION_FLAG, NULL, .help = "what was measured before: the card, its numbers and the tables of its figures; runs nothing"},
    {"list", OPTION_FLAG, NULL, .help = "what there is and how far it is; also without ID"},
    {0},
};

static const char *replication_name(const void *unused, size_t i)
{
    (void)unused;
    return replications[i] ? replications[i]->id : NULL;
}

static const struct replication *find(const char *id, struct err *err)
{
    for (size_t i = 0; replications[i]; i++)
        if (!strcmp(replications[i]->id, id)) return replications[i];
    const char *near = text_nearest(id, replication_name, NULL);
    err_set(err, "there is no replication '%s'", text_show(id));
    if (near) err_add(err, ", did you mean '%s'?", near);
    err_add(err, ": there are");
    for (size_t i = 0; replications[i]; i++) err_add(err, "%s %s", i ? "," : "", replications[i]->id);
    return err_usage(err), NULL;
}

struct replicating {
    const struct replication *row;
    struct session *session;
    const struct args *args;
    struct sink *sink;
    const struct scale *scale;
    struct rep_run *runs;
    size_t run_count;
    struct table **tables;
    size_t table_count;
    char *out, *figures;
};

/* ---- runs ---- */

static bool look(struct replicating *me, struct err *err)
{
    size_t trainings = 0, seeds = (size_t)args_int(me->args, "seeds");
    while (me->row->trainings && me->row->trainings[trainings]) trainings++;
    me->runs = mem_new(sizeof *me->runs * (trainings * seeds + 1));
    for (size_t s = 0; s < seeds; s++) /* the first seed of everything first: a result early, intervals later */
        for (size_t t = 0; t < trainings; t++) {
            if (!rep_run_look(&me->runs[me->run_count], me->session, me->scale, args_text(me->args, "work"), me->row->trainings[t], (long)s,
                              err)) return false;
            me->run_count++;
        }
    return true;
}

static void forget(struct replicating *me)
{
    for (size_t i = 0; i < me->run_count; i++) rep_run_clear(&me->runs[i]);
    for (size_t i = 0; i < me->table_count; i++) table_free(me->tables[i]);
    mem_free(me->runs);
    mem_free(me->tables);
    mem_free(me->out);
    mem_free(me->figures);
}

/* The trainer's progress becomes that of the whole: which run it is, and the time until the last one is done. Its log stays in the run's folder. */
struct training_sink {
    struct sink sink; /* first */
    struct replicating *me;
    size_t run, number, count;
};

static bool training_progress(struct sink *sink, const struct progress *progress)
{
    struct training_sink *me = (struct training_sink *)sink;
    const struct rep_run *run = &me->me->runs[me->run];
    struct text what = {0};
    struct progress whole = *progress;
    text_add(&what, "%s-%ld (%zu of %zu)", run->training, run->seed, me->number, me->count);
    whole.what = what.data;
    whole.detail = NULL; /* losses and accuracies would leave no room for the time */
    if (progress->rate > 0) whole.left = progress->left + progress->total / progress->rate * (double)(me->count - me->number);
    bool go_on = sink_progress(me->me->sink, &whole);
    text_clear(&what);
    return go_on;
}

static void training_note(struct sink *sink, const char *line) { sink_note(((struct training_sink *)sink)->me->sink, "%s", line); }

static bool train(struct replicating *me, struct err *err)
{
    struct training_sink sink = {.sink = {.progress = training_progress, .note = training_note}, .me = me};
    for (size_t i = 0; i < me->run_count; i++) sink.count += !me->runs[i].finished;
    for (size_t i = 0; i < me->run_count; i++) {
        if (me->runs[i].finished) continue;
        struct rep_run *run = &me->runs[sink.run = i], again;
        sink.number++;
        if (!rep_run_train(run, me->session, &sink.sink, err)) return false;
        if (!rep_run_look(&again, me->session, me->scale, args_text(me->args, "work"), run->training, run->seed, err)) return false;
        rep_run_clear(run);
        *run = again;
    }
    return true;
}

/* ---- measuring ---- */

static bool concerns(const char *trainings, const char *name)
{
    size_t size = strlen(name);
    if (!trainings) return true;
    for (const char *at = trainings; (at = strstr(at, name)); at += size)
        if ((at == trainings || at[-1] == ',') && (!at[size] || at[size] == ',')) return true;
    return false;
}

/* The measurement's line with the run's folder for MODEL and the scale's name for SCALE, of datasets: "four-hop-SCALE". */
static void fill_line(const char *line, const char *folder, const char *scale, struct text *out)
{
    static const char model[] = "MODEL", size[] = "SCALE";
    while (*line) {
        if (text_starts(line, model)) text_add_quoted(out, folder), line += strlen(model);
        else if (text_starts(line, size)) text_add(out, "%s", scale), line += strlen(size);
        else text_add_bytes(out, line++, 1);
    }
}

static bool measure_one(struct replicating *me, const char *line, const struct rep_run *run, struct table **raw, struct err *err)
{
    struct collector collector;
    struct text text = {0};
    collector_init(&collector);
    fill_line(line, run ? run->folder : "", me->scale->name, &text);
    bool ok = command_line(me->session, text.data, &collector.sink, err);
    if (ok && !collector.table_count) ok = err_set(err, "%s: gave no table", text.data);
    if (ok && run) ok = rep_collect(raw, collector.tables[0], run->training, run->seed, err);
    if (ok && !run) *raw = table_copy(collector.tables[0]);
    if (!ok) err_in(err, "%s", text.data);
    text_clear(&text);
    collector_release(&collector);
    return ok;
}

static bool measure(struct replicating *me, const struct measurement *m, size_t done, size_t total, struct table **table, struct err *err)
{
    struct table *raw = NULL;
    bool by_run = strstr(m->line, "MODEL") != NULL, ok = true;
    for (size_t i = 0; ok && i < (by_run ? me->run_count : 1); i++) {
        const struct rep_run *run = by_run ? &me->runs[i] : NULL;
        struct text what = {0};
        text_add(&what, "measuring %s%s%s", m->name, run ? " of " : "", run ? run->training : "");
        struct progress progress = {.what = what.data, .done = (double)done, .total = (double)total, .unit = "measurements", .left = -1};
        if (!sink_progress(me->sink, &progress) || session_stopped(me->session)) ok = err_stop(err, "stopped while measuring %s", m->name);
        if (ok && (!run || (run->finished && concerns(m->trainings, run->training)))) ok = measure_one(me, m->line, run, &raw, err);
        text_clear(&what);
    }
    *table = ok && raw && by_run ? rep_pool(raw) : NULL;
    if (ok && raw && !by_run) *table = raw, raw = NULL;
    if (*table) {
        table_fact(*table, "measurement", "%s", m->line);
        table_fact(*table, "scale", "%s", me->scale->name);
    }
    table_free(raw);
    return ok;
}

static bool measure_all(struct replicating *me, struct err *err)
{
    while (me->row->measurements[me->table_count].name) me->table_count++;
    me->tables = mem_new(sizeof *me->tables * (me->table_count + 1));
    for (size_t i = 0; i < me->table_count; i++)
        if (!measure(me, &me->row->measurements[i], i, me->table_count, &me->tables[i], err)) return false;
    return true;
}

/* ---- one replication ---- */

static void name_folders(struct replicating *me)
{
    struct text out = {0};
    const char *given = args_text(me->args, "out"), *figures = args_text(me->args, "figures");
    if (given) text_add(&out, "%s", given);
    else text_add(&out, "%s/%s/results", args_text(me->args, "work"), me->scale->name);
    me->out = out.data;
    me->figures = mem_text(figures ? figures : me->out);
}

static void show_table(const struct table *table, struct sink *sink)
{
    struct table *shape = table_shape(table);
    sink_table(sink, shape);
    for (size_t i = 0; i < table->row_count; i++) sink_row(sink, table_cell(table, i, 0));
    table_free(shape);
}

/* A card of nothing would stand before one that was measured. */
static bool has_finished(const struct replicating *me, struct err *err)
{
    for (size_t i = 0; i < me->run_count; i++)
        if (me->runs[i].finished) return true;
    return !me->run_count || err_set(err, "%s: none of its trainings is finished in %s/%s: replicate %s trains them", me->row->id,
                                     args_text(me->args, "work"), me->scale->name, me->row->id);
}

static bool replicate(struct replicating *me, struct err *err)
{
    bool train_none = args_flag(me->args, "measure-only");
    struct result result = {.row = me->row, .scale = me->scale, .seeds = args_int(me->args, "seeds"), .command = command_text(me->session)};
    name_folders(me);
    if (!look(me, err) || !(train_none ? has_finished(me, err) : train(me, err)) || !measure_all(me, err)) return false;
    result.runs = me->runs, result.run_count = me->run_count, result.tables = me->tables, result.out = me->out, result.figures = me->figures;
    bool ok = result_compare(&result, err);
    if (ok) show_table(result.numbers, me->sink);
    ok = ok && result_write(&result, me->sink, err);
    result_clear(&result);
    return ok;
}

/* ---- what was measured before ---- */

static char *result_path(const struct replicating *me, const char *ending)
{
    struct text path = {0};
    text_add(&path, "%s/%s%s", me->out, me->row->id, ending);
    if (!file_exists(path.data) && me->scale == scale_find("small", NULL)) { /* what came with the program */
        path.size = 0;
        text_add(&path, "replications/%s%s", me->row->id, ending);
        char *shipped = share_find(me->session->share, "models", path.data);
        text_clear(&path);
        return shipped;
    }
    if (file_exists(path.data)) return path.data;
    text_clear(&path);
    return NULL;
}

/* The tables of the measurements, as far as they were written. */
static bool read_measurements(struct replicating *me, struct err *err)
{
    bool ok = true;
    while (me->row->measurements[me->table_count].name) me->table_count++;
    me->tables = mem_new(sizeof *me->tables * (me->table_count + 1));
    for (size_t i = 0; ok && i < me->table_count; i++) {
        struct text ending = {0};
        text_add(&ending, "-%s.tsv", me->row->measurements[i].name);
        char *path = result_path(me, ending.data);
        if (path) ok = (me->tables[i] = table_read(path, err)) != NULL;
        text_clear(&ending);
        mem_free(path);
    }
    return ok;
}

/* The rows of every figure, with what `plot` would have to be told to draw them. */
static void show_pictures(const struct replicating *me)
{
    struct result result = {.row = me->row, .scale = me->scale, .tables = me->tables};
    for (const struct picture *p = me->row->pictures; p && p->name; p++) {
        struct table *table = result_picture(&result, p);
        if (!table) continue;
        if (p->kind) table_fact(table, "figure_kind", "%s", p->kind);
        if (p->x) table_fact(table, "figure_x", "%s", p->x);
        if (p->y) table_fact(table, "figure_y", "%s", p->y);
        table_fact(table, "shows", "%s", p->caption ? p->caption : "");
        show_table(table, me->sink);
        table_free(table);
    }
}

static bool show(struct replicating *me, struct err *err)
{
    name_folders(me);
    char *path = result_path(me, ".md"), *numbers_path = result_path(me, ".tsv");
    char *card = path ? file_read(path, 1 << 20, NULL, err) : NULL;
    struct table *numbers = card && numbers_path ? table_read(numbers_path, err) : NULL;
    bool ok = numbers && read_measurements(me, err);
    if (!path || !numbers_path) err_set(err, "%s was not measured yet: replicate %s trains and measures", me->row->id, me->row->id);
    if (ok) {
        sink_say(me->sink, "%s", card);
        show_table(numbers, me->sink);
        show_pictures(me);
    }
    table_free(numbers);
    mem_free(path), mem_free(numbers_path), mem_free(card);
    return ok;
}

/* ---- in the background ---- */

/* The same line as another process: its messages go to WORK/SCALE/ID.err. */
static bool start(struct replicating *me, struct err *err)
{
    const char *words[16] = {"replicate", me->row->id, "--seeds", args_text(me->args, "seeds"), "--scale", me->scale->name, "--work",
                             args_text(me->args, "work"), "--quiet"};
    static const char *const folders[] = {"out", "figures"}, *const options_of[] = {"--out", "--figures"};
    size_t count = 9;
    struct text log = {0};
    long pid;
    if (!look(me, err)) return false;
    for (size_t i = 0; i < me->run_count; i++)
        if (me->runs[i].training_now) return err_set(err, "%s is being trained already", me->runs[i].folder);
    for (int i = 0; i < 2; i++)
        if (args_text(me->args, folders[i])) words[count++] = options_of[i], words[count++] = args_text(me->args, folders[i]);
    if (args_flag(me->args, "measure-only")) words[count++] = "--measure-only";
    text_add(&log, "%s/%s", args_text(me->args, "work"), me->scale->name);
    bool ok = folder_make(log.data, err);
    text_add(&log, "/%s.err", me->row->id);
    ok = ok && detach_run(words, count, log.data, &pid, err);
    if (ok) sink_say(me->sink, "replicating in process %ld: loopscope runs %s/%s shows its trainings, its messages go to %s", pid,
                     args_text(me->args, "work"), me->scale->name, log.data);
    text_clear(&log);
    return ok;
}

/* ---- the list ---- */

enum share { MEASURED_NOTHING, MEASURED_PART, MEASURED_ALL };

static enum share share_measured(const struct table *numbers)
{
    size_t measured = 0;
    for (size_t r = 0; numbers && r < numbers->row_count; r++) {
        const char *verdict = table_text(numbers, r, "verdict");
        measured += verdict && strcmp(verdict, "not measured") != 0;
    }
    return !measured ? MEASURED_NOTHING : measured < numbers->row_count ? MEASURED_PART : MEASURED_ALL;
}

/* "not run", "running: vanilla, seed 1, step 300 of 6400, 12 min left", "2 of 6 trainings done", "trained, not measured",
 * "measured in part", "done". */
static void add_state(const struct replicating *me, enum share share, struct text *out)
{
    bool measured = share != MEASURED_NOTHING;
    size_t finished = 0;
    bool any = false;
    for (size_t i = 0; i < me->run_count; i++) finished += me->runs[i].finished, any = any || me->runs[i].there;
    for (size_t i = 0; i < me->run_count; i++) {
        const struct rep_run *run = &me->runs[i];
        if (!run->training_now || run->finished) continue;
        text_add(out, "running: %s, seed %ld, step %ld of %ld", run->training, run->seed, run->step, run->steps);
        if (!isnan(rep_run_left(run))) text_add(out, ", %.0f min left", ceil(rep_run_left(run) / 60));
        return;
    }
    if (finished < me->run_count && (any || !measured)) text_add(out, any ? "%zu of %zu trainings done" : "not run", finished, me->run_count);
    else text_add(out, share == MEASURED_ALL ? "done" : measured ? "measured in part" : me->run_count ? "trained, not measured" : "not run");
}

/* "OOD 5.0 % (paper 8.3 %), ..." of the values that have a short name; the fewest seeds that any of them is of. */
static double add_headline(const struct table *numbers, struct text *out)
{
    double seeds = 0;
    for (size_t r = 0; r < numbers->row_count; r++) {
        const char *brief = table_text(numbers, r, "brief"), *column = table_text(numbers, r, "column");
        double ours = table_number(numbers, r, "ours"), paper = table_number(numbers, r, "paper"),
            by = column && !strcmp(column, "accuracy") ? 100 : 1;
        if (!brief || !*brief || isnan(ours)) continue;
        double of = table_number(numbers, r, "seeds");
        seeds = seeds > 0 ? fmin(seeds, of) : of;
        text_add(out, by > 1 ? "%s%s %.1f %%" : "%s%s %.3g", out->size ? ", " : "", brief, by * ours);
        if (!isnan(paper)) text_add(out, by > 1 ? " (paper %.1f)" : " (paper %.3g)", by * paper);
    }
    return seeds;
}

static bool list_one(struct replicating *me, struct err *err)
{
    struct text state = {0}, headline = {0}, figure = {0};
    struct err missing = {0};
    bool there = look(me, &missing);
    if (there) name_folders(me);
    char *card = there ? result_path(me, ".md") : NULL, *tsv = there ? result_path(me, ".tsv") : NULL;
    struct table *numbers = tsv ? table_read(tsv, err) : NULL;
    double seeds = numbers ? (text_add(&headline, "%s", ""), add_headline(numbers, &headline)) : 0;
    if (there) add_state(me, share_measured(numbers), &state);
    else text_add(&state, "no recipe at this scale");
    const struct picture *picture = me->row->pictures;
    if (card && picture && picture->name) {
        const char *folder = strncmp(card, me->out, strlen(me->out)) ? "screenshots" : me->figures;
        text_add(&figure, "%s/replicate-%s%s%s.png", folder, me->row->id, *picture->name ? "-" : "", picture->name);
    }
    sink_row(me->sink, (struct cell[]){cell_text(me->row->id), cell_text(state.data), cell_number(seeds),
                                       cell_text(headline.data ? headline.data : ""),
                                       cell_text(figure.data && file_exists(figure.data) ? figure.data : ""), cell_text(card ? card : ""),
                                           cell_text(me->row->help)});
    bool ok = !tsv || numbers;
    table_free(numbers);
    mem_free(card), mem_free(tsv);
    text_clear(&state), text_clear(&headline), text_clear(&figure);
    return ok;
}

static bool list(struct replicating *me, struct err *err)
{
    struct table *table = table_new("replications");
    command_provenance(me->session, table);
    table_column(table, "id", ROLE_LABEL, NULL);
    table_column(table, "state", ROLE_LABEL, NULL);
    table_column(table, "seeds", ROLE_COUNT, "%.0f");
    table_column(table, "headline", ROLE_LABEL, NULL);
    table_column(table, "figure", ROLE_LABEL, NULL);
    table_column(table, "card", ROLE_LABEL, NULL);
    table_column(table, "help", ROLE_LABEL, NULL);
    sink_table(me->sink, table);
    table_free(table);
    bool ok = true;
    for (size_t i = 0; ok && replications[i]; i++) {
        struct replicating one = *me;
        one.row = replications[i];
        ok = list_one(&one, err);
        forget(&one);
    }
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct replicating me = {.session = session, .args = args, .sink = sink, .scale = scale_find(args_text(args, "scale"), err)};
    const char *id = args_word(args, 0);
    (void)self;
    if (!me.scale) return false;
    if (!id || args_flag(args, "list")) return list(&me, err);
    me.row = find(id, err);
    bool ok = me.row && (args_flag(args, "show") ? show(&me, err) : args_flag(args, "background") ? start(&me, err) : replicate(&me, err));
    forget(&me);
    return ok;
}

const struct command command_replicate = {
    .name = "replicate",
    .words = "[ID]",
    .most = 1,
    .help = "the paper's tables and figures: trains what is missing, measures, writes table, figure and card",
    .more = "Without ID, or with --list: all of them with their state. Stopped by Ctrl-C it goes on from there when run again: finished "
            "trainings are kept, and\nbegun ones resumed. A card says what agrees with the paper by rules that stand beside the numbers, and "
            "never counts a run that is not finished.",
    .options = options,
    .example = "replicate --list",
    .run = run,
};
