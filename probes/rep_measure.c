#include "rep_measure.h"

#include "ground/mem.h"
#include "ground/option.h"
#include "results/stats.h"

#include <stdio.h>
#include <string.h>

enum { BEFORE = 2 }; /* model and seed */

static struct table *raw_shape(const struct table *table)
{
    struct table *raw = table_new(table->name);
    table_column(raw, "model", ROLE_LABEL, NULL);
    table_column(raw, "seed", ROLE_LABEL, NULL);
    for (size_t c = 0; c < table->column_count; c++) table_column(raw, table->columns[c].name, table->columns[c].role, table->columns[c].format);
    for (size_t i = 0; i < table->fact_count; i++)
        if (text_starts(table->facts[i].key, "data")) table_fact(raw, table->facts[i].key, "%s", table->facts[i].value);
    return raw;
}

bool rep_collect(struct table **raw, const struct table *table, const char *training, long seed, struct err *err)
{
    char number[32];
    if (!*raw) *raw = raw_shape(table);
    bool same = (*raw)->column_count == table->column_count + BEFORE;
    for (size_t c = 0; same && c < table->column_count; c++) same = !strcmp((*raw)->columns[c + BEFORE].name, table->columns[c].name);
    if (!same) return err_set(err, "%s: the table of %s, seed %ld, has other columns than the ones before", table->name, training, seed);
    snprintf(number, sizeof number, "%ld", seed);
    struct cell *cells = mem_new(sizeof *cells * (*raw)->column_count);
    cells[0] = cell_text(training);
    cells[1] = cell_text(number);
    for (size_t r = 0; r < table->row_count; r++) {
        if (table->column_count) memcpy(cells + BEFORE, table_cell(table, r, 0), sizeof *cells * table->column_count);
        table_row(*raw, cells);
    }
    mem_free(cells);
    return true;
}

/* ---- pooling ---- */

/* A value behind "correct" is correct / n, with low and high of Wilson behind it. */
static bool is_rate(const struct table *raw, size_t c)
{
    return raw->columns[c].role == ROLE_VALUE && c && !strcmp(raw->columns[c - 1].name, "correct") && table_find(raw, "n") >= 0;
}

static bool is_key(const struct column *column) { return column->role == ROLE_LABEL || column->role == ROLE_AXIS; }

static bool same_cell(const struct cell *a, const struct cell *b)
{
    if (a->text || b->text) return a->text && b->text && !strcmp(a->text, b->text);
    return a->number == b->number || (isnan(a->number) && isnan(b->number));
}

static bool same_group(const struct table *raw, size_t a, size_t b)
{
    for (size_t c = 0; c < raw->column_count; c++)
        if (c != 1 && is_key(&raw->columns[c]) && !same_cell(table_cell(raw, a, c), table_cell(raw, b, c))) return false;
    return true;
}

/* Each raw column, then the range over seeds behind every value (behind the interval of a rate), then the number of seeds. */
static struct table *pooled_shape(const struct table *raw)
{
    struct table *table = table_new(raw->name);
    for (size_t c = 0; c < raw->column_count; c++) {
        const struct column *column = &raw->columns[c];
        table_column(table, column->name, column->role, column->format);
        bool rate = is_rate(raw, c > 2 ? c - 2 : 0), high = rate && column->role == ROLE_HIGH;
        const struct column *value = high ? &raw->columns[c - 2] : column;
        if (!high && (column->role != ROLE_VALUE || is_rate(raw, c))) continue;
        struct text name = {0};
        for (int most = 0; most < 2; most++) {
            name.size = 0;
            text_add(&name, "%s_%s", value->name, most ? "most" : "least");
            table_column(table, name.data, high ? ROLE_COUNT : most ? ROLE_HIGH : ROLE_LOW, value->format);
        }
        text_clear(&name);
    }
    table_column(table, "seeds", ROLE_COUNT, "%.0f");
    for (size_t i = 0; i < raw->fact_count; i++) table_fact(table, raw->facts[i].key, "%s", raw->facts[i].value);
    return table;
}

struct pool_of { double sum, weights, least, most; };

static void widen(struct pool_of *pool, double value, double weight)
{
    if (isnan(value)) return;
    pool->sum += value * weight;
    pool->weights += weight;
    pool->least = fmin(pool->least, value); /* NaN gives way */
    pool->most = fmax(pool->most, value);
}

/* One row out of `count` raw rows that differ in their seed. */
static void pool_rows(struct table *table, const struct table *raw, const size_t *rows, size_t count, const char *seed)
{
    struct cell *cells = mem_new(sizeof *cells * table->column_count);
    int n_column = table_find(raw, "n");
    double n = 0, correct = 0;
    size_t at = 0;
    struct pool_of rate = {0};
    for (size_t c = 0; c < raw->column_count; c++) {
        const struct column *column = &raw->columns[c];
        struct pool_of pool = {.least = NAN, .most = NAN};
        double counted = 0;
        for (size_t i = 0; i < count && !is_key(column); i++) {
            double x = table_cell(raw, rows[i], c)->number, weight = n_column >= 0 ? table_cell(raw, rows[i], (size_t)n_column)->number : 1;
            counted += isnan(x) ? 0 : x;
            widen(&pool, x, weight);
        }
        if ((int)c == n_column) n = counted;
        if (!strcmp(column->name, "correct")) correct = counted;
        bool high = c > 2 && column->role == ROLE_HIGH && is_rate(raw, c - 2), low = c > 1 && column->role == ROLE_LOW && is_rate(raw, c - 1);
        double value = is_rate(raw, c) ? (n > 0 ? correct / n : NAN) : low ? wilson(correct, n).low : high ? wilson(correct, n).high
                       : column->role == ROLE_COUNT ? counted : pool.weights > 0 ? pool.sum / pool.weights : NAN;
        if (is_rate(raw, c)) rate = pool;
        cells[at++] = c == 1 ? cell_text(seed) : is_key(column) ? *table_cell(raw, rows[0], c) : cell_number(value);
        if (high || (column->role == ROLE_VALUE && !is_rate(raw, c))) {
            cells[at++] = cell_number(high ? rate.least : pool.least);
            cells[at++] = cell_number(high ? rate.most : pool.most);
        }
    }
    cells[at++] = cell_number((double)count);
    table_row(table, cells);
    mem_free(cells);
}

struct table *rep_pool(const struct table *raw)
{
    struct table *table = pooled_shape(raw);
    size_t *rows = mem_new(sizeof *rows * (raw->row_count + 1));
    bool *done = mem_new(sizeof *done * (raw->row_count + 1));
    for (size_t r = 0; r < raw->row_count; r++) {
        size_t count = 0;
        for (size_t i = r; i < raw->row_count && !done[r]; i++)
            if (!done[i] && same_group(raw, r, i)) rows[count++] = i;
        for (size_t i = 0; i < count; i++) done[rows[i]] = true;
        if (count) pool_rows(table, raw, rows, count, "all");
    }
    for (size_t r = 0; r < raw->row_count; r++) pool_rows(table, raw, &r, 1, table_cell(raw, r, 1)->text);
    mem_free(rows);
    mem_free(done);
    return table;
}

/* ---- picking ---- */

static double largest_of_model(const struct table *table, size_t row, size_t column)
{
    int model = table_find(table, "model");
    double most = NAN;
    for (size_t r = 0; r < table->row_count; r++)
        if (model < 0 || same_cell(table_cell(table, r, (size_t)model), table_cell(table, row, (size_t)model)))
            most = fmax(most, table_cell(table, r, column)->number);
    return most;
}

static bool fulfils(const struct table *table, size_t row, size_t column, const char *wish)
{
    const struct cell *cell = table_cell(table, row, column);
    double number;
    if (!strcmp(wish, "best")) return true;
    if (cell->text) return !strcmp(cell->text, wish);
    if (!strcmp(wish, "last")) return cell->number == largest_of_model(table, row, column);
    return parse_number(wish, &number) && fabs(cell->number - number) <= 1e-9 * (1 + fabs(number));
}

static bool one_matches(const struct table *table, size_t row, char *condition)
{
    char *equals = strchr(condition, '='), *save = NULL;
    if (!equals) return false;
    *equals = 0;
    int column = table_find(table, condition);
    if (column < 0) return false;
    for (char *wish = strtok_r(equals + 1, "|", &save); wish; wish = strtok_r(NULL, "|", &save))
        if (fulfils(table, row, (size_t)column, wish)) return true;
    return false;
}

bool rep_matches(const struct table *table, size_t row, const char *where)
{
    char *copy = mem_text(where ? where : ""), *save = NULL;
    bool ok = true;
    for (char *condition = strtok_r(copy, ",", &save); ok && condition; condition = strtok_r(NULL, ",", &save))
        ok = one_matches(table, row, condition);
    mem_free(copy);
    return ok;
}

/* A column that is not there is a mistake of the row, not a number that was not measured. */
static bool columns_there(const struct table *table, const char *where, const char *column, struct err *err)
{
    char *copy = mem_text(where), *save = NULL;
    const char *missing = table_find(table, column) < 0 ? column : NULL;
    for (char *condition = strtok_r(copy, ",", &save); !missing && condition; condition = strtok_r(NULL, ",", &save)) {
        condition[strcspn(condition, "=")] = 0;
        if (table_find(table, condition) < 0) missing = condition;
    }
    if (missing) err_set(err, "'%s': the table %s has no column '%s'", where, table->name, missing);
    mem_free(copy);
    return !missing;
}

long rep_pick(const struct table *table, const char *where, const char *column, struct err *err)
{
    if (!columns_there(table, where, column, err)) return -1;
    long found = -1;
    bool best = strstr(where, "=best") != NULL;
    for (size_t r = 0; r < table->row_count; r++) {
        if (!rep_matches(table, r, where)) continue;
        if (found >= 0 && !best) return err_set(err, "'%s' chooses several rows of the table %s: name more columns", where, table->name), -1;
        if (found < 0 || table_number(table, r, column) > table_number(table, (size_t)found, column)) found = (long)r;
    }
    return found;
}
