#include "doing/command.h"
#include "learning/dataset.h"
#include "models/model.h"

static const struct option options[] = {
    {"data", OPTION_TEXT, NULL, .help = "dataset: a folder or a name; default: what the model was trained on", .placeholder = "DIR"},
    {0},
};

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    const struct model *model = session_model(session, args_word(args, 0), sink, err);
    const struct dataset *data = model ? session_data(session, model, args_text(args, "data"), sink, err) : NULL;
    if (!data) return false;
    struct table *table = table_new("vocab");
    command_provenance(session, table);
    table_fact(table, "data", "%s", data->name);
    table_fact(table, "data_sha256", "%s", data->hash);
    table_column(table, "id", ROLE_AXIS, "%.0f");
    table_column(table, "token", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
    for (int i = 0; i < data->vocab_size; i++)
        if (data->tokens[i]) sink_row(sink, (struct cell[]){cell_number(i), cell_text(data->tokens[i])});
    return true;
}

const struct command command_vocab = {
    .name = "vocab", .words = "MODEL", .least = 1, .most = 1, .options = options, .run = run,
    .help = "the tokens that a model's questions are made of, by their names",
    .example = "vocab models/vanilla",
};
