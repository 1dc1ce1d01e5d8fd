#include "rep_result.h"

#include "figures/export.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "rep_measure.h"

#include <string.h>

/* ---- numbers ---- */

static const struct table *table_of(const struct result *me, const char *measurement)
{
    for (size_t i = 0; me->row->measurements[i].name; i++)
        if (!strcmp(me->row->measurements[i].name, measurement)) return me->tables[i];
    return NULL;
}

/* The row of a pick for a seed ("all": pooled), or -1. */
static long row_of(const struct table *table, const struct pick *pick, const char *seed, struct err *err)
{
    struct text where = {0};
    bool seeds = table && table_find(table, "seed") >= 0;
    text_add(&where, "%s%s%s", pick->where, seeds && *pick->where ? "," : "", seeds ? "seed=" : "");
    if (seeds) text_add(&where, "%s", seed);
    long row = table ? rep_pick(table, where.data, pick->column, err) : -1;
    text_clear(&where);
    return row;
}

static double number_of(const struct result *me, const struct pick *pick, const char *seed, struct err *err)
{
    const struct table *table = table_of(me, pick->measurement);
    long row = row_of(table, pick, seed, err);
    return row < 0 ? NAN : table_number(table, (size_t)row, pick->column);
}

static struct table *numbers_shape(const struct result *me)
{
    static const struct { const char *name; enum role role; const char *format; } columns[] = {
        {"kind", ROLE_LABEL, NULL}, {"what", ROLE_LABEL, NULL}, {"brief", ROLE_LABEL, NULL}, {"column", ROLE_LABEL, NULL},
            {"paper", ROLE_VALUE, "%.3f"}, {"than", ROLE_VALUE, "%.3f"},
        {"ours", ROLE_VALUE, "%.3f"}, {"low", ROLE_LOW, "%.3f"}, {"high", ROLE_HIGH, "%.3f"}, {"least", ROLE_COUNT, "%.3f"},
            {"most", ROLE_COUNT, "%.3f"},
        {"n", ROLE_COUNT, "%.0f"}, {"agrees", ROLE_COUNT, "%.0f"}, {"seeds", ROLE_COUNT, "%.0f"}, {"verdict", ROLE_LABEL, NULL},
    };
    struct table *table = table_new(me->row->id);
    table_fact(table, "command", "%s", me->command);
    table_fact(table, "version", "%s", VERSION);
    table_fact(table, "scale", "%s", me->scale->name);
    table_fact(table, "seeds", "%ld", me->seeds);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) table_column(table, columns[i].name, columns[i].role, columns[i].format);
    return table;
}

static double side(const struct table *table, long row, const char *column, const char *ending)
{
    struct text name = {0};
    text_add(&name, "%s%s", column, ending);
    double x = row < 0 ? NAN : table_number(table, (size_t)row, name.data);
    text_clear(&name);
    return x;
}

static bool add_value(struct result *me, const struct value *value, struct err *err)
{
    struct pick pick = {value->measurement, value->where, value->column};
    struct err wrong = {0};
    const struct table *table = table_of(me, value->measurement);
    long row = row_of(table, &pick, "all", &wrong);
    bool rate = !strcmp(value->column, "accuracy");
    if (*wrong.text) return err_set(err, "%s, %s: %s", me->row->id, value->what, wrong.text);
    double ours = row < 0 ? NAN : table_number(table, (size_t)row, value->column), seeds = row < 0 ? 0 : table_number(table, (size_t)row, "seeds");
    table_row(me->numbers, (struct cell[]){
        cell_text("value"), cell_text(value->what), cell_text(value->brief ? value->brief : ""), cell_text(value->column), cell_number(value->paper),
        cell_number(NAN), cell_number(ours), cell_number(rate && row >= 0 ? table_number(table, (size_t)row, "low") : NAN),
        cell_number(rate && row >= 0 ? table_number(table, (size_t)row, "high") : NAN), cell_number(side(table, row, value->column, "_least")),
        cell_number(side(table, row, value->column, "_most")), cell_number(row < 0 ? NAN : table_number(table, (size_t)row, "n")), cell_number(NAN),
        cell_number(isnan(seeds) ? 1 : seeds), cell_text(isnan(ours) ? "not measured" : "measured")});
    return true;
}

static bool holds_for(const struct claim *claim, double difference)
{
    double least = 1e-9; /* a difference of 2 points is not more than 2 points, however it was rounded */
    return claim->sign ? claim->sign * difference > claim->margin + least : fabs(difference) < claim->margin - least;
}

static int holds(const struct result *me, const struct claim *claim, const char *seed, struct err *err)
{
    double left = number_of(me, &claim->left, seed, err), right = claim->right.measurement ? number_of(me, &claim->right, seed, err) : claim->than;
    return isnan(left) || isnan(right) ? -1 : holds_for(claim, left - right);
}

static bool add_claim(struct result *me, const struct claim *claim, struct err *err)
{
    struct err wrong = {0};
    long agrees = 0, seeds = 0;
    const struct table *table = table_of(me, claim->left.measurement);
    bool by_seed = table && table_find(table, "seed") >= 0;
    for (long s = 0; s < (by_seed ? me->seeds : 1); s++) {
        char seed[32];
        snprintf(seed, sizeof seed, "%ld", s);
        int one = holds(me, claim, seed, &wrong);
        agrees += one > 0, seeds += one >= 0;
    }
    if (*wrong.text) return err_set(err, "%s, %s: %s", me->row->id, claim->text, wrong.text);
    table_row(me->numbers, (struct cell[]){
        cell_text("claim"), cell_text(claim->text), cell_text(""), cell_text(claim->left.column), cell_number(NAN),
        cell_number(claim->right.measurement ? number_of(me, &claim->right, "all", NULL) : claim->than),
            cell_number(number_of(me, &claim->left, "all", NULL)),
        cell_number(NAN), cell_number(NAN), cell_number(NAN), cell_number(NAN), cell_number(NAN), cell_number((double)agrees),
            cell_number((double)seeds),
        cell_text(!seeds ? "not measured" : agrees == seeds ? "agrees" : agrees ? "mixed" : "does not agree")});
    return true;
}

bool result_compare(struct result *me, struct err *err)
{
    bool ok = true;
    me->numbers = numbers_shape(me);
    for (const struct value *v = me->row->values; ok && v && v->what; v++) ok = add_value(me, v, err);
    for (const struct claim *c = me->row->claims; ok && c && c->text; c++) ok = add_claim(me, c, err);
    return ok;
}

/* ---- figures ---- */

static char *figure_path(const struct result *me, const struct picture *picture, const char *ending)
{
    struct text path = {0};
    text_add(&path, "%s/replicate-%s%s%s%s", me->figures, me->row->id, *picture->name ? "-" : "", picture->name, ending);
    return path.data;
}

/* "vanilla (seeds 0, 1, 2), discoloop (seed 0)": whose rows a table holds. */
static void add_models(const struct table *table, struct text *out)
{
    for (size_t r = 0; r < table->row_count; r++) {
        const char *model = table_text(table, r, "model");
        bool before = false;
        for (size_t i = 0; model && i < r; i++) before = before || !strcmp(table_text(table, i, "model"), model);
        if (before || !model) continue;
        text_add(out, "%s%s, %.0f seed%s", out->size ? "; " : "", model, table_number(table, r, "seeds"),
                 table_number(table, r, "seeds") == 1 ? "" : "s");
    }
}

struct table *result_picture(const struct result *me, const struct picture *picture)
{
    const struct table *all = table_of(me, picture->measurement);
    if (!all) return NULL;
    struct table *table = table_shape(all);
    for (size_t c = 0; picture->x && c < table->column_count; c++) /* a named x is the only axis: others would tell series apart */
        if (table->columns[c].role == ROLE_AXIS && strcmp(table->columns[c].name, picture->x)) table->columns[c].role = ROLE_COUNT;
    struct text where = {0}, models = {0};
    bool seeds = table_find(all, "seed") >= 0;
    text_add(&where, "%s%s%s", picture->where, seeds && *picture->where ? "," : "", seeds ? "seed=all" : "");
    for (size_t r = 0; r < all->row_count; r++)
        if (rep_matches(all, r, where.data)) table_row(table, table_cell(all, r, 0));
    add_models(table, &models);
    if (models.size) table_fact(table, "model", "%s", models.data);
    table_fact(table, "scale", "%s", me->scale->name);
    text_clear(&where);
    text_clear(&models);
    return table;
}

static bool draw(const struct result *me, const struct picture *picture, struct sink *sink, struct err *err)
{
    struct table *table = result_picture(me, picture);
    if (!table) return true;
    struct figure_options options = {.kind = picture->kind, .x = picture->x, .y = picture->y, .width = picture->width, .height = picture->height};
    static const char *const endings[] = {".png", ".svg"};
    bool ok = true;
    for (int i = 0; ok && i < 2 && table->row_count; i++) {
        char *path = figure_path(me, picture, endings[i]);
        ok = figure_export(table, &options, path, err);
        if (ok) sink_say(sink, "wrote %s", path);
        mem_free(path);
    }
    table_free(table);
    return ok;
}

/* ---- files ---- */

static bool write_table(const struct result *me, const struct table *table, const char *name, struct sink *sink, struct err *err)
{
    struct text path = {0}, text = {0};
    text_add(&path, "%s/%s%s%s.tsv", me->out, me->row->id, name ? "-" : "", name ? name : "");
    table_tsv(table, &text);
    bool ok = file_write(path.data, text.data, text.size, err);
    if (ok) sink_say(sink, "wrote %s", path.data);
    text_clear(&path);
    text_clear(&text);
    return ok;
}

static bool write_card(const struct result *me, struct sink *sink, struct err *err)
{
    struct text path = {0}, text = {0};
    text_add(&path, "%s/%s.md", me->out, me->row->id);
    result_card(me, &text);
    bool ok = file_write(path.data, text.data, text.size, err);
    if (ok) sink_say(sink, "wrote %s", path.data);
    text_clear(&path);
    text_clear(&text);
    return ok;
}

bool result_write(struct result *me, struct sink *sink, struct err *err)
{
    bool ok = folder_make(me->out, err) && folder_make(me->figures, err) && write_table(me, me->numbers, NULL, sink, err);
    for (size_t i = 0; ok && me->row->measurements[i].name; i++)
        if (me->tables[i]) ok = write_table(me, me->tables[i], me->row->measurements[i].name, sink, err);
    for (const struct picture *p = me->row->pictures; ok && p && p->name; p++) ok = draw(me, p, sink, err);
    return ok && write_card(me, sink, err);
}

void result_clear(struct result *me)
{
    table_free(me->numbers);
    me->numbers = NULL;
}
