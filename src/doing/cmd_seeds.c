/* seeds: runs whose recipes differ in the seed alone: after how many epochs each had learned a split, and the middle and range over the seeds. */
#include "doing/command.h"
#include "doing/runs.h"
#include "doing/spec.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "results/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"split", OPTION_TEXT, "test_id", .help = "the split, by its name in the log"},
    {"level", OPTION_NUMBER, "0.99", .low = 0, .high = 1, .help = "the accuracy at the last stage that counts as learned"},
    {0},
};

struct one {
    char *folder, *recipe, *seed; /* recipe: without its seed */
    double epoch;                 /* infinite: not yet; NaN: its log does not have the split */
};

/* The first line of the log at which the last stage of the split is there. */
static double reached(const struct table *log, const char *split, double level)
{
    int column = -1;
    for (size_t c = 0; log && c < log->column_count; c++)
        if (text_starts(log->columns[c].name, split) && text_starts(log->columns[c].name + strlen(split), ".stage_")) column = (int)c;
    for (size_t r = 0; column >= 0 && r < log->row_count; r++)
        if (table_cell(log, r, (size_t)column)->number >= level) return table_number(log, r, "epoch");
    return column < 0 ? NAN : INFINITY;
}

static char *without_seed(const char *text)
{
    struct text out = {0};
    text_add(&out, "%s", "");
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        const char *rest = text_starts(line, "seed") ? line + 4 + strspn(line + 4, " \t") : "";
        if (*rest != '=') text_add_bytes(&out, line, size), text_add(&out, "\n");
        line += size + (line[size] == '\n');
    }
    return out.data;
}

static void look(struct one *one, char *folder, const char *split, double level)
{
    char *path = path_join(folder, "recipe"), *text = file_read(path, 1 << 20, NULL, NULL);
    struct run_state state;
    runs_look(&state, folder);
    char *seed = text ? spec_value(text, "seed") : NULL;
    *one = (struct one){folder, without_seed(text ? text : ""), seed ? seed : mem_text("0"), reached(state.log, split, level)};
    runs_release(&state);
    mem_free(text), mem_free(path);
}

/* "runs/vanilla-*": how the names of all of them begin. */
static void add_common(const struct one *list, size_t count, size_t first, struct text *out)
{
    size_t size = strlen(list[first].folder);
    bool others = false;
    for (size_t i = first + 1; i < count; i++) {
        size_t n = 0;
        if (strcmp(list[i].recipe, list[first].recipe) != 0) continue;
        while (n < size && list[i].folder[n] == list[first].folder[n]) n++;
        size = n, others = true;
    }
    text_add_bytes(out, list[first].folder, size);
    text_add(out, "%s", others ? "*" : "");
}

static void show_group(const struct one *list, size_t count, size_t first, struct sink *sink)
{
    struct text name = {0}, seeds = {0}, epochs = {0};
    double *values = mem_new(sizeof *values * count), low = INFINITY, high = -INFINITY;
    size_t n = 0, done = 0;
    add_common(list, count, first, &name);
    for (size_t i = first; i < count; i++) {
        if (strcmp(list[i].recipe, list[first].recipe) != 0) continue;
        double epoch = isnan(list[i].epoch) ? INFINITY : list[i].epoch;
        const char *between = n ? " " : "";
        text_add(&seeds, "%s%s", between, list[i].seed);
        if (isfinite(epoch)) text_add(&epochs, "%s%.0f", between, epoch);
        else text_add(&epochs, "%s-", between);
        values[n++] = epoch;
        done += isfinite(epoch), low = fmin(low, epoch), high = fmax(high, epoch);
    }
    double middle = median(values, n);
    sink_row(sink, (struct cell[]){cell_text(name.data), cell_number((double)n), cell_number((double)done),
                                   cell_number(isfinite(middle) ? middle : NAN), cell_number(isfinite(low) ? low : NAN),
                                   cell_number(isfinite(high) ? high : NAN), cell_text(seeds.data), cell_text(epochs.data)});
    mem_free(values);
    text_clear(&name), text_clear(&seeds), text_clear(&epochs);
}

static struct table *shape(const struct session *session)
{
    struct table *table = table_new("seeds");
    table_column(table, "runs", ROLE_LABEL, NULL);
    table_column(table, "n", ROLE_COUNT, "%.0f");
    table_column(table, "reached", ROLE_COUNT, "%.0f");
    table_column(table, "median", ROLE_VALUE, "%.6g");
    table_column(table, "first", ROLE_LOW, "%.6g");
    table_column(table, "last", ROLE_HIGH, "%.6g");
    table_column(table, "seeds", ROLE_LABEL, NULL);
    table_column(table, "epochs", ROLE_LABEL, NULL);
    command_provenance(session, table);
    return table;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *folder = args_word(args, 0) ? args_word(args, 0) : "runs", *split = args_text(args, "split");
    char **folders;
    size_t count, known = 0;
    (void)self;
    if (args_word(args, 0) && !file_is_folder(folder)) return err_set(err, "%s: no such folder", text_show(folder));
    struct table *table = shape(session);
    sink_table(sink, table);
    table_free(table);
    runs_find(folder, &folders, &count);
    struct one *list = mem_new(sizeof *list * count);
    for (size_t i = 0; i < count; i++) look(&list[i], folders[i], split, args_number(args, "level")), known += !isnan(list[i].epoch);
    for (size_t i = 0, before; known && i < count; i++) {
        for (before = 0; before < i && strcmp(list[before].recipe, list[i].recipe) != 0; before++) continue;
        if (before == i) show_group(list, count, i, sink);
    }
    for (size_t i = 0; i < count; i++) mem_free(list[i].folder), mem_free(list[i].recipe), mem_free(list[i].seed);
    mem_free(list), mem_free(folders);
    if (!count) sink_note(sink, "%s: no training runs: loopscope train RECIPE --out %s/NAME begins one", text_show(folder), text_show(folder));
    return known || !count || err_set(err, "--split %s: no log has that split", text_show(split));
}

const struct command command_seeds = {
    .name = "seeds", .words = "[FOLDER]", .least = 0, .most = 1, .run = run, .options = options,
    .help = "runs whose recipes differ in the seed alone: the epoch at which each reached 99 %, the median and the range",
    .more = "One row for every recipe. epochs: for each seed the first line of the log at which the split has reached the level, - where it has not; "
            "median, first and last are over the seeds, and one that has not reached it counts as later than all others: n/a when it is in the "
            "middle, or the last. How finely is a matter of eval_every.",
    .example = "seeds",
};
