#include "doing/command.h"
#include "doing/facts.h"
#include "ground/mem.h"
#include "models/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void property(struct sink *sink, const char *name, const char *source, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void property(struct sink *sink, const char *name, const char *source, const char *format, ...)
{
    char value[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    sink_row(sink, (struct cell[]){cell_text(name), cell_text(value), cell_text(source)});
}

static void begin(const struct session *session, const struct model *model, struct sink *sink)
{
    struct table *table = table_new("info");
    command_provenance(session, table);
    table_fact(table, "model", "%s", text_show(session_brief(session, model->path)));
    table_fact(table, "model_sha256", "%s", model_hash(model));
    table_column(table, "property", ROLE_LABEL, NULL);
    table_column(table, "value", ROLE_LABEL, NULL);
    table_column(table, "source", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
}

static void show_model(const struct model *model, struct sink *sink)
{
    struct text dtypes = {0};
    facts_dtypes(model, &dtypes);
    property(sink, "name", "folder", "%s", text_show(model->name));
    property(sink, "family", "config", "%s", model->family->model_type);
    property(sink, "boundary", "family", "%s", model->family->boundary);
    property(sink, "loops", model_by_token(model) ? "family" : "config", "%d", model->loops); /* by token: one pass, which is the sequence */
    property(sink, "blocks", "config", "%d", model->blocks);
    property(sink, "width", "config", "%d", model->width);
    property(sink, "vocab", "config", "%d", model->vocab_size);
    property(sink, "interface", "config", "%s", model->interface ? model->interface : "none");
    if (model->start)
        property(sink, "start", "config", model->start_drawn ? "%s, drawn from a seed (--start-seed, default 0) or given" : "%s", model->start);
    property(sink, "head", "config", "%s", facts_tied(model) ? "tied to the embedding table" : "a table of its own");
    property(sink, "parameters", "weights", "%zu", model_numbers(model));
    property(sink, "tensors", "weights", "%zu", model->weight_count);
    property(sink, "dtype", "weights", "%s", dtypes.data);
    property(sink, "bytes", "weights", "%zu", facts_bytes(model));
    property(sink, "sha256", "weights", "%s", model_hash(model));
    text_clear(&dtypes);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const struct config_fact *facts;
    const struct model *model = session_model(session, args_word(args, 0), sink, err);
    (void)self;
    if (!model) return false;
    begin(session, model, sink);
    show_model(model, sink);
    size_t count = config_facts(model->config, &facts);
    for (size_t i = 0; i < count; i++) property(sink, facts[i].key, facts[i].source, "%s", facts[i].value);
    char *data = facts_data(model->path);
    if (data) property(sink, "data", "recipe", "%s", text_show(data));
    mem_free(data);
    return true;
}

const struct command command_info = {
    .name = "info", .words = "MODEL", .least = 1, .most = 1, .help = "what a model is: sizes, interface, every config value and where it comes from",
    .more = "Reads the whole model, every tensor and every number, and warns of what is odd: unknown keys and tensors, defaults, "
            "numbers that are not finite. A broken model is refused with the file, the tensor or key, and what would be right.",
    .example = "info models/vanilla", .run = run,
};
