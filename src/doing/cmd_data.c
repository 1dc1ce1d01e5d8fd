#include "doing/command.h"
#include "ground/text.h"
#include "learning/dataset.h"
#include "registry.h"

#include <string.h>

static void add_facts(const struct session *session, const struct dataset *data, struct table *table)
{
    command_provenance(session, table);
    table_fact(table, "data", "%s", data->folder);
    table_fact(table, "data_sha256", "%s", data->hash);
}

static void show_splits(const struct session *session, const struct dataset *data, struct sink *sink)
{
    struct table *table = table_new("splits");
    add_facts(session, data, table);
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "rows", ROLE_COUNT, "%.0f");
    table_column(table, "tokens", ROLE_VALUE, "%.0f");
    table_column(table, "shortest", ROLE_VALUE, "%.0f");
    table_column(table, "longest", ROLE_VALUE, "%.0f");
    sink_table(sink, table);
    for (size_t i = 0; i < data->split_count; i++) {
        const struct split *split = &data->splits[i];
        double tokens = 0, shortest = NAN, longest = NAN;
        for (size_t j = 0; j < split->count; j++) {
            double length = split->questions[j].length;
            tokens += length;
            shortest = fmin(shortest, length); /* fmin takes the number when the other is NaN */
            longest = fmax(longest, length);
        }
        sink_row(sink, (struct cell[]){cell_text(split->name), cell_number((double)split->count), cell_number(tokens), cell_number(shortest),
                                       cell_number(longest)});
    }
    table_free(table);
}

static bool check(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    session_forget(session, args_word(args, 0)); /* checked as it is now */
    const struct dataset *data = session_data(session, NULL, args_word(args, 0), sink, err);
    if (!data) return false;
    show_splits(session, data, sink);
    return true;
}

static const char *split_name(const void *list, size_t i)
{
    const struct dataset *data = list;
    return i < data->split_count ? data->splits[i].name : NULL;
}

static const struct split *find_split(const struct dataset *data, const char *name, struct err *err)
{
    const struct split *split = dataset_split(data, name);
    const char *near = split ? NULL : text_nearest(name, split_name, data);
    if (split) return split;
    err_set(err, "%s: no split '%s'%s%s%s: it has", text_show(data->folder), text_show(name), near ? ", did you mean '" : "", near ? near : "",
            near ? "'?" : "");
    for (size_t i = 0; i < data->split_count; i++) err_add(err, "%s %s", i ? "," : "", text_show(data->splits[i].name));
    return NULL;
}

static void show_row(const struct dataset *data, const struct split *split, size_t i, struct sink *sink)
{
    const struct question *q = &split->questions[i];
    struct text tokens = {0}, bridges = {0};
    text_add(&bridges, "%s", "");
    for (int j = 0; j < q->length; j++) text_add(&tokens, "%s%s", j ? " " : "", dataset_token(data, q->tokens[j]));
    for (int j = 0; j < q->bridge_count; j++)
        text_add(&bridges, "%s%s at %d", j ? ", " : "", dataset_token(data, q->bridges[j].token), q->bridges[j].position);
    sink_row(sink, (struct cell[]){cell_number((double)i), cell_text(tokens.data), cell_text(dataset_token(data, q->answer)),
                                   cell_number(q->answer_position), cell_text(bridges.data)});
    text_clear(&tokens);
    text_clear(&bridges);
}

static bool rows(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    const struct dataset *data = session_data(session, NULL, args_word(args, 0), sink, err);
    const struct split *split = data ? find_split(data, args_word(args, 1), err) : NULL;
    size_t from = (size_t)args_int(args, "from"), count = (size_t)args_int(args, "count");
    if (!split) return false;
    if (from >= split->count) return err_set(err, "--from %zu: %s has %zu rows, the first is 0", from, text_show(split->name), split->count);
    struct table *table = table_new("rows");
    add_facts(session, data, table);
    table_fact(table, "split", "%s", split->name);
    table_column(table, "row", ROLE_AXIS, "%.0f");
    table_column(table, "tokens", ROLE_LABEL, NULL);
    table_column(table, "answer", ROLE_LABEL, NULL);
    table_column(table, "answer_position", ROLE_VALUE, "%.0f");
    table_column(table, "bridges", ROLE_LABEL, NULL);
    sink_table(sink, table);
    for (size_t i = from; i < split->count && i - from < count; i++) show_row(data, split, i, sink);
    table_free(table);
    return true;
}

static bool generate(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *out = args_text(args, "out");
    if (!out || !*out) return err_set(err, "--out DIR is missing: where the dataset should be written"), err_usage(err);
    if (!generator_make(self->about, args, out, sink, err)) return false;
    session_forget(session, out);
    const struct dataset *data = session_data(session, NULL, out, sink, err); /* read back: what is written is what a reader finds */
    if (!data) return false;
    show_splits(session, data, sink);
    sink_say(sink, "wrote %s", out);
    return true;
}

static const struct option row_options[] = {
    {"from", OPTION_INT, "0", .low = 0, .high = 1e9, .help = "the first row, counted from 0"},
    {"count", OPTION_INT, "20", .low = 1, .high = 1e9, .help = "how many"},
    {0},
};

static const struct command verbs[] = {
    {.name = "check", .words = "DIR", .least = 1, .most = 1, .help = "reads every row of a dataset and says what is wrong or odd",
     .more = "DIR is a folder, or the name of a set that comes along (help --names datasets). A folder holds dataset.json, vocab.json and a .jsonl "
             "file for each split, with rows such as\n"
             "{\"tokens\":[12,1003,1010],\"answer\":44,\"answer_position\":2,\"bridges\":[{\"position\":1,\"token\":7}]}",
     .example = "data check two-hop-small", .run = check},
    {.name = "rows", .words = "DIR SPLIT", .least = 2, .most = 2, .help = "questions of a split, with the names of their tokens",
     .options = row_options,
     .example = "data rows two-hop-small test_ood --from 17 --count 3", .run = rows},
};

static bool verb(const struct command *self, size_t i, struct command *out)
{
    enum { FIXED = sizeof verbs / sizeof *verbs };
    if (i < FIXED) {
        *out = verbs[i];
    } else {
        size_t j = 0;
        while (j < i - FIXED && generators[j]) j++;
        if (!generators[j]) return false;
        *out = (struct command){.name = generators[j]->name, .help = generators[j]->help, .options = generators[j]->options, .run = generate,
                                .about = generators[j]};
    }
    out->of = self;
    return true;
}

const struct command command_data = {
    .name = "data", .help = "makes and checks datasets, and shows their questions", .example = "data check two-hop-small", .verb = verb,
};
