/* card: what a model is and what was measured of it, as Markdown; every number comes from the commands named above its table. */
#include "doing/command.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "models/model.h"

#include <math.h>
#include <string.h>

/* The rows of a table as Markdown; columns: their names, ended by NULL. */
static void add_table(struct text *out, const struct table *table, const char *const *columns)
{
    for (int i = 0; columns[i]; i++) text_add(out, "%s%s", i ? " | " : "| ", columns[i]);
    text_add(out, " |\n");
    for (int i = 0; columns[i]; i++) text_add(out, "%s", i ? " ---: |" : "| --- |");
    text_add(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        for (int i = 0; columns[i]; i++) {
            text_add(out, "%s", i ? " | " : "| ");
            int column = table_find(table, columns[i]);
            if (column >= 0) table_show(table, row, (size_t)column, out);
        }
        text_add(out, " |\n");
    }
}

static bool add_measurement(struct text *out, struct session *session, const char *line, const char *const *columns, struct err *err)
{
    struct collector collector;
    collector_init(&collector);
    bool ok = command_line(session, line, &collector.sink, err) && (collector.table_count || err_set(err, "%s: gave no table", line));
    if (ok) {
        text_add(out, "\n`loopscope %s`\n\n", line);
        add_table(out, collector.tables[0], columns);
    }
    collector_release(&collector);
    return ok;
}

static void add_head(struct text *out, const struct model *model)
{
    text_add(out, "# %s\n\n", model->name);
    text_add(out, "Family %s, interface %s, %d loops of %d blocks, width %d, vocabulary %d, %zu parameters. Weights SHA-256 `%s`.\n",
             model->family->model_type, model->interface ? model->interface : "none", model->loops, model->blocks, model->width, model->vocab_size,
             model_numbers(model), model_hash(model));
    text_add(out, "\nTrained from the file `recipe` beside this card; `log.tsv` is the training log. Intervals are Wilson 95 %% of n questions, one "
                  "seed.\n");
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    static const char *const accuracy[] = {"split", "stage", "n", "correct", "accuracy", "low", "high", NULL};
    static const char *const bridge[] = {"split", "boundary", "position", "n", "p_bridge", "cosine", "undefined", NULL};
    static const char *const sweep[] = {"split", "alpha", "n", "correct", "accuracy", "low", "high", "moved", NULL};
    static const struct { const char *form; const char *const *columns; } measured[] = {
        {"eval %s", accuracy}, {"bridge %s", bridge}, {"sweep %s --over alpha=0:1:0.1", sweep}};
    const char *path = args_word(args, 0);
    if (!command_says_text(self, session, err)) return false;
    const struct model *model = session_model(session, path, sink, err);
    struct text card = {0}, line = {0}, word = {0};
    if (!model) return false;
    add_head(&card, model);
    text_add_quoted(&word, path);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof measured / sizeof *measured; i++) {
        line.size = 0;
        const char *hole = strstr(measured[i].form, "%s");
        text_add_bytes(&line, measured[i].form, (size_t)(hole - measured[i].form));
        text_add(&line, "%s%s", word.data, hole + 2);
        ok = add_measurement(&card, session, line.data, measured[i].columns, err);
    }
    if (ok) card.data[card.size - 1] = 0, sink_say(sink, "%s", card.data);
    text_clear(&card);
    text_clear(&line);
    text_clear(&word);
    return ok;
}

const struct command command_card = {
    .name = "card",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "a model's card in Markdown: accuracy, bridge and alpha curve, measured now",
    .example = "card models/vanilla",
    .run = run,
};
