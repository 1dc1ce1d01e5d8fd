/* runs: the training runs of a folder: which of them train now, how far they are, and what they have reached. */
#include "doing/command.h"
#include "doing/runs.h"

#include "ground/file.h"
#include "ground/mem.h"

#include <stdio.h>
#include <string.h>

/* The last stage of the split whose name ends so, in the last line of the log. */
static double reached(const struct table *log, const char *ending)
{
    double best = NAN;
    long last = 0;
    for (size_t c = 0; log && log->row_count && c < log->column_count; c++) {
        const char *stage = strstr(log->columns[c].name, ".stage_");
        struct text split = {0};
        long k;
        text_add_bytes(&split, log->columns[c].name, stage ? (size_t)(stage - log->columns[c].name) : 0);
        if (stage && text_ends(split.data, ending) && parse_int(stage + 7, &k) && k > last)
            last = k, best = table_cell(log, log->row_count - 1, c)->number;
        text_clear(&split);
    }
    return best;
}

static void show(const char *folder, struct sink *sink)
{
    struct run_state state;
    runs_look(&state, folder);
    size_t last = state.log && state.log->row_count ? state.log->row_count - 1 : 0;
    bool any = state.log && state.log->row_count;
    double epoch = any ? table_number(state.log, last, "epoch") : 0;
    const char *standing = state.training ? "training" : epoch >= state.epochs ? "done" : "paused";
    const struct cell cells[] = {
        cell_text(folder), cell_text(standing), cell_number(epoch), cell_number(state.epochs),
        cell_number(any ? table_number(state.log, last, "step") : 0), cell_number(state.saved),
        cell_number(any ? table_number(state.log, last, "loss") : NAN),
        cell_number(reached(state.log, "_id")), cell_number(reached(state.log, "_ood")), cell_number((double)state.checkpoints),
        cell_number(state.age), cell_number(state.rate), cell_number(state.left), cell_number(state.pid ? (double)state.pid : NAN),
    };
    sink_row(sink, cells);
    runs_release(&state);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    static const struct { const char *name; enum role role; const char *format; } columns[] = {
        {"run", ROLE_LABEL, NULL},      {"state", ROLE_LABEL, NULL},   {"epoch", ROLE_COUNT, "%.0f"},       {"epochs", ROLE_COUNT, "%.0f"},
        {"step", ROLE_COUNT, "%.0f"},   {"saved", ROLE_COUNT, "%.0f"}, {"loss", ROLE_VALUE, "%.4f"},        {"id", ROLE_VALUE, "%.3f"},
        {"ood", ROLE_VALUE, "%.3f"},    {"checkpoints", ROLE_COUNT, "%.0f"}, {"age", ROLE_COUNT, "%.0f"},
        {"rate", ROLE_VALUE, "%.1f"},   {"left", ROLE_VALUE, "%.0f"},  {"pid", ROLE_COUNT, "%.0f"},
    };
    const char *folder = args_word(args, 0) ? args_word(args, 0) : "runs";
    char **folders;
    size_t count;
    (void)self;
    if (args_word(args, 0) && !file_is_folder(folder)) return err_set(err, "%s: no such folder", text_show(folder));
    struct table *table = table_new("runs");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) table_column(table, columns[i].name, columns[i].role, columns[i].format);
    command_provenance(session, table);
    sink_table(sink, table);
    table_free(table);
    runs_find(folder, &folders, &count);
    for (size_t i = 0; i < count; i++) show(folders[i], sink), mem_free(folders[i]);
    mem_free(folders);
    if (!count) sink_note(sink, "%s: no training runs: loopscope train RECIPE --out %s/NAME begins one", text_show(folder), text_show(folder));
    return true;
}

const struct command command_runs = {
    .name = "runs", .words = "[FOLDER]", .least = 0, .most = 1, .run = run,
    .help = "training runs of a folder: which train now, how far they are, what they have reached",
    .more = "epoch, step, loss, id and ood (accuracies at the last stage) are those of the last line of the log; saved: the step that --resume goes "
            "on from, which may lie behind it; age: seconds since the log was written; rate: steps a second since it began or "
            "went on; left: seconds to its end; pid: of the process that trains.",
    .example = "runs",
};
