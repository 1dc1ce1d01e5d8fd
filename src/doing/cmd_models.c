#include "doing/command.h"
#include "doing/facts.h"
#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "models/model.h"

#include <string.h>

enum { COLUMNS = 13 };

static struct table *shape(const struct session *session)
{
    static const struct { const char *name; enum role role; } columns[COLUMNS] = {
        {"name", ROLE_LABEL}, {"path", ROLE_LABEL}, {"family", ROLE_LABEL}, {"interface", ROLE_LABEL}, {"loops", ROLE_VALUE}, {"blocks", ROLE_VALUE},
        {"width", ROLE_VALUE}, {"vocab", ROLE_VALUE}, {"parameters", ROLE_VALUE}, {"dtype", ROLE_LABEL}, {"bytes", ROLE_VALUE}, {"data", ROLE_LABEL},
        {"problem", ROLE_LABEL},
    };
    struct table *table = table_new("models");
    command_provenance(session, table);
    for (int i = 0; i < COLUMNS; i++) table_column(table, columns[i].name, columns[i].role, columns[i].role == ROLE_VALUE ? "%.0f" : NULL);
    return table;
}

/* One model; its notes are what `info` is for, so they are not passed on. */
static void show(const char *path, struct sink *sink)
{
    struct err err = {0};
    struct text dtypes = {0};
    struct model *model = model_open(path, NULL, &err);
    char *data = facts_data(path);
    text_add(&dtypes, "%s", "");
    if (model) facts_dtypes(model, &dtypes);
    err.text[strcspn(err.text, "\n")] = 0;
    sink_row(sink, (struct cell[COLUMNS]){
        cell_text(text_show(path_base(path))), cell_text(text_show(path)), cell_text(model ? model->family->model_type : ""),
        cell_text(model && model->interface ? model->interface : ""), cell_number(model ? model->loops : NAN),
        cell_number(model ? model->blocks : NAN), cell_number(model ? model->width : NAN), cell_number(model ? model->vocab_size : NAN),
        cell_number(model ? (double)model_numbers(model) : NAN),
        cell_text(dtypes.data), cell_number(model ? (double)facts_bytes(model) : NAN), cell_text(data ? text_show(data) : ""),
        cell_text(model ? "" : err.text),
    });
    model_free(model);
    mem_free(data);
    text_clear(&dtypes);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct share_list list = session_models(session);
    (void)self, (void)args;
    struct table *table = shape(session);
    sink_table(sink, table);
    table_free(table);
    bool stopped = false;
    for (size_t i = 0; i < list.count; i++) {
        struct progress progress = {.what = "models", .done = (double)i, .total = (double)list.count, .unit = "models", .left = -1};
        stopped = stopped || session_stopped(session) || !sink_progress(sink, &progress);
        if (!stopped) show(list.names[i], sink);
    }
    share_list_free(&list);
    return stopped ? err_stop(err, "stopped") : true;
}

const struct command command_models = {
    .name = "models", .help = "the models under models/: what they are, what they were trained on, and what is wrong with them",
    .example = "models", .run = run,
};
