/* compare: two models, or two edits, under the same measurement: both tables side by side with their differences; or the questions that get different
 * answers. One table each time, so that a file or a pipe holds one. */
#include "doing/command.h"
#include "ground/mem.h"

#include <string.h>

static const struct option options[] = {
    {"data", OPTION_TEXT, NULL, .help = "dataset for both: a folder or a name; default: what each was trained on", .placeholder = "DIR"},
    {"split", OPTION_TEXT, "test_id,test_ood", .help = "splits, joined by commas", .placeholder = "NAME[,NAME]"},
    {"limit", OPTION_INT, NULL, .low = 1, .high = 1e9, .help = "the first N questions of each split"},
    {"loops", OPTION_INT, NULL, .low = 1, .high = 64, .help = "loops to run, for both"},
    {"do-a", OPTION_TEXT, NULL, .help = "an edit of A", .placeholder = "EDIT", .many = true},
    {"do-b", OPTION_TEXT, NULL, .help = "an edit of B", .placeholder = "EDIT", .many = true},
    {"questions", OPTION_FLAG, NULL, .help = "instead: the questions that A and B answer differently"},
    {0},
};

enum { SIDES = 2 };
static const char *const sides[SIDES] = {"a", "b"};

struct compare {
    struct session *session;
    const struct args *args;
    const char *probe;
    struct sink *sink;
};

/* "bridge --boundary 1" and a model -> "bridge MODEL --boundary 1 --split ... --do ..." */
static void add_line(const struct compare *me, const char *probe, int side, struct text *out)
{
    static const char *const shared[] = {"data", "split", "limit", "loops"}, *const edits[SIDES] = {"do-a", "do-b"};
    size_t name = strcspn(probe, " ");
    const char *text;
    struct text first = {0};
    text_add_bytes(&first, probe, name);
    const struct command *command = command_find(first.data); /* an unknown one is refused when the line is run */
    text_clear(&first);
    text_add(out, "%.*s ", (int)name, probe);
    text_add_quoted(out, args_word(me->args, (size_t)side));
    text_add(out, "%s", probe + name);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        struct text option = {0};
        text_add(&option, "--%s ", shared[i]);
        text = !command || option_find(command->options, shared[i]) ? args_text(me->args, shared[i]) : NULL;
        if (text && !strstr(probe, option.data)) text_add(out, " %s", option.data), text_add_quoted(out, text);
        text_clear(&option);
    }
    for (size_t i = 0; (text = args_at(me->args, edits[side], i)); i++) text_add(out, " --do "), text_add_quoted(out, text);
}

/* The measurement of one side; NULL with err. */
static const struct table *measure(const struct compare *me, const char *probe, int side, struct collector *out, struct err *err)
{
    struct text line = {0};
    collector_init(out);
    add_line(me, probe, side, &line);
    bool ok = command_line(me->session, line.data, &out->sink, err);
    if (ok && !out->table_count) ok = err_set(err, "%s: it gives no table", text_show(probe));
    for (const char *note = out->notes.data; ok && note && *note; note += strcspn(note, "\n") + (strchr(note, '\n') != NULL))
        sink_note(me->sink, "%s: %.*s", sides[side], (int)strcspn(note, "\n"), note);
    text_clear(&line);
    return ok ? out->tables[0] : NULL;
}

static void add_facts(const struct compare *me, const struct table *const tables[SIDES], struct table *table)
{
    command_provenance(me->session, table);
    for (int side = 0; side < SIDES; side++)
        for (size_t f = 0; f < tables[side]->fact_count; f++) {
            const struct fact *fact = &tables[side]->facts[f];
            if (!strcmp(fact->key, "version") || !strcmp(fact->key, "command")) continue;
            const char *other = table_fact_get(tables[!side], fact->key);
            if (other && !strcmp(other, fact->value)) { /* the same for both is said once */
                if (!side) table_fact(table, fact->key, "%s", fact->value);
                continue;
            }
            struct text key = {0};
            text_add(&key, "%s_%s", fact->key, sides[side]);
            table_fact(table, key.data, "%s", fact->value);
            text_clear(&key);
        }
}

/* ---- the measurement, side by side */

static bool is_key(const struct column *column) { return column->role == ROLE_LABEL || column->role == ROLE_AXIS; }

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->text && b->text ? !strcmp(a->text, b->text) : !a->text && !b->text && a->number == b->number;
}

/* The row of `other` with the keys of row r; -1: there is none. */
static long partner(const struct table *table, size_t r, const struct table *other)
{
    for (size_t i = 0; i < other->row_count; i++) {
        bool same = true;
        for (size_t c = 0; same && c < table->column_count; c++)
            if (is_key(&table->columns[c])) same = same_cell(table_cell(table, r, c), table_cell(other, i, c));
        if (same) return (long)i;
    }
    return -1;
}

static struct table *shape(const struct compare *me, const struct table *const tables[SIDES])
{
    static const char *const endings[] = {"a", "b", "change"};
    struct table *table = table_new("compare");
    for (size_t c = 0; c < tables[0]->column_count; c++) {
        const struct column *column = &tables[0]->columns[c];
        if (is_key(column)) table_column(table, column->name, column->role, column->format);
        if (!strcmp(column->name, "n"))
            table_column(table, "n_a", ROLE_COUNT, column->format), table_column(table, "n_b", ROLE_COUNT, column->format);
        for (int i = 0; column->role == ROLE_VALUE && i < 3; i++) {
            struct text name = {0};
            text_add(&name, "%s_%s", column->name, endings[i]);
            table_column(table, name.data, ROLE_VALUE, column->format);
            text_clear(&name);
        }
    }
    add_facts(me, tables, table);
    return table;
}

/* a, b NULL: that side has no such row. */
static void show_pair(const struct compare *me, const struct table *table, const struct cell *a, const struct cell *b)
{
    struct cell cells[128];
    size_t at = 0;
    for (size_t c = 0; c < table->column_count && at + 3 < 128; c++) {
        double x = a ? a[c].number : NAN, y = b ? b[c].number : NAN;
        if (is_key(&table->columns[c])) cells[at++] = a ? a[c] : b[c];
        else if (!strcmp(table->columns[c].name, "n")) cells[at++] = cell_number(x), cells[at++] = cell_number(y);
        else if (table->columns[c].role == ROLE_VALUE) cells[at++] = cell_number(x), cells[at++] = cell_number(y), cells[at++] = cell_number(y - x);
    }
    sink_row(me->sink, cells);
}

static bool same_columns(const struct table *a, const struct table *b)
{
    bool same = a->column_count == b->column_count;
    for (size_t c = 0; same && c < a->column_count; c++) same = !strcmp(a->columns[c].name, b->columns[c].name);
    return same;
}

static bool compare_tables(const struct compare *me, struct err *err)
{
    struct collector out[SIDES];
    const struct table *tables[SIDES] = {NULL, NULL};
    collector_init(&out[1]);
    tables[0] = measure(me, me->probe, 0, &out[0], err);
    if (tables[0]) tables[1] = measure(me, me->probe, 1, &out[1], err);
    bool ok = tables[0] && tables[1];
    if (ok && !same_columns(tables[0], tables[1])) ok = err_set(err, "%s: the two tables have other columns", text_show(me->probe));
    if (ok) {
        struct table *table = shape(me, tables);
        sink_table(me->sink, table);
        table_free(table);
        for (size_t r = 0; r < tables[0]->row_count; r++) {
            long other = partner(tables[0], r, tables[1]);
            show_pair(me, tables[0], table_cell(tables[0], r, 0), other >= 0 ? table_cell(tables[1], (size_t)other, 0) : NULL);
        }
        for (size_t r = 0; r < tables[1]->row_count; r++)
            if (partner(tables[1], r, tables[0]) < 0) show_pair(me, tables[1], NULL, table_cell(tables[1], r, 0));
    }
    collector_release(&out[0]), collector_release(&out[1]);
    return ok;
}

/* ---- the questions that they answer differently */

static void show_question(const struct compare *me, const struct table *const tables[SIDES], size_t r)
{
    const struct table *a = tables[0], *b = tables[1];
    bool right_a = table_number(a, r, "correct") != 0, right_b = table_number(b, r, "correct") != 0;
    const struct cell cells[] = {
        cell_text(table_text(a, r, "split")), cell_number(table_number(a, r, "row")), cell_text(table_text(a, r, "question")),
        cell_text(table_text(a, r, "answer")), cell_text(table_text(a, r, "predicted")), cell_text(table_text(b, r, "predicted")),
        cell_text(right_a ? "a" : right_b ? "b" : "neither"),
        cell_number(table_number(a, r, "p_bridge")), cell_number(table_number(b, r, "p_bridge")),
        cell_number(table_number(a, r, "cosine")), cell_number(table_number(b, r, "cosine")),
    };
    sink_row(me->sink, cells);
}

static bool same_questions(const struct table *a, const struct table *b)
{
    bool same = a->row_count == b->row_count;
    for (size_t r = 0; same && r < a->row_count; r++) same = !strcmp(table_text(a, r, "question"), table_text(b, r, "question"));
    return same;
}

static bool list_disagreements(const struct compare *me, struct err *err)
{
    static const struct { const char *name; enum role role; const char *format; } columns[] = {
        {"split", ROLE_LABEL, NULL},       {"row", ROLE_COUNT, "%.0f"},       {"question", ROLE_LABEL, NULL},    {"answer", ROLE_LABEL, NULL},
        {"says_a", ROLE_LABEL, NULL},      {"says_b", ROLE_LABEL, NULL},      {"right", ROLE_LABEL, NULL},       {"p_bridge_a", ROLE_VALUE, "%.3f"},
        {"p_bridge_b", ROLE_VALUE, "%.3f"}, {"cosine_a", ROLE_VALUE, "%.3f"}, {"cosine_b", ROLE_VALUE, "%.3f"},
    };
    struct collector out[SIDES];
    const struct table *tables[SIDES] = {NULL, NULL};
    collector_init(&out[1]);
    tables[0] = measure(me, "questions", 0, &out[0], err);
    if (tables[0]) tables[1] = measure(me, "questions", 1, &out[1], err);
    bool ok = tables[0] && tables[1];
    if (ok && !same_questions(tables[0], tables[1]))
        ok = err_set(err, "a and b are asked different questions, so they cannot disagree: --data gives both the same");
    if (ok) {
        struct table *table = table_new("disagreements");
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) table_column(table, columns[i].name, columns[i].role, columns[i].format);
        add_facts(me, tables, table);
        sink_table(me->sink, table);
        table_free(table);
        for (size_t r = 0; r < tables[0]->row_count; r++)
            if (strcmp(table_text(tables[0], r, "predicted"), table_text(tables[1], r, "predicted")) != 0) show_question(me, tables, r);
    }
    collector_release(&out[0]), collector_release(&out[1]);
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct compare me = {.session = session, .args = args, .probe = args_word(args, 2) ? args_word(args, 2) : "eval", .sink = sink};
    bool list = args_flag(args, "questions");
    (void)self;
    if (list && args_word(args, 2)) {
        err_set(err, "--questions: the list needs no measurement: leave '%s' out", text_show(me.probe));
        return err_usage(err);
    }
    if (list) return list_disagreements(&me, err);
    if (!compare_tables(&me, err)) return false;
    sink_say(sink, "with --questions: where a and b disagree");
    return true;
}

const struct command command_compare = {
    .name = "compare",
    .words = "A B ['PROBE ...']",
    .least = 2,
    .most = 3,
    .help = "two models, or two edits of one, under the same measurement, or where they disagree",
    .more = "The measurement stands without its model: eval (the default), 'bridge --boundary 1', 'orbit --loops 8'. Every value has three "
            "columns: of A, of B, and B less A. With --questions the table has the questions that A and B answer differently.",
    .options = options,
    .example = "compare models/vanilla models/discoloop 'bridge --boundary 1'",
    .run = run,
};
