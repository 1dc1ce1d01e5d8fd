/* The rows of a table that somebody asked for, by the values of its columns. */
#include "ground/mem.h"
#include "ground/option.h"
#include "results/table.h"

#include <string.h>

static const char *column_name(const void *table, size_t i)
{
    const struct table *t = table;
    return i < t->column_count ? t->columns[i].name : NULL;
}

int table_column_find(const struct table *table, const char *name, struct err *err)
{
    int column = table_find(table, name);
    if (column >= 0) return column;
    const char *nearest = text_nearest(name, column_name, table);
    err_set(err, "%s: there is no column '%s'", text_show(table->name), text_show(name));
    if (nearest) err_add(err, ": did you mean %s?", nearest);
    err_add(err, "%s columns are", nearest ? " The" : ": the");
    for (size_t i = 0; i < table->column_count; i++) err_add(err, " %s", text_show(table->columns[i].name));
    return -1;
}

static bool is_value(const struct cell *cell, const char *value, size_t size)
{
    char word[64];
    double number;
    if (cell->text) return strlen(cell->text) == size && !memcmp(cell->text, value, size);
    if (size >= sizeof word) return false;
    memcpy(word, value, size);
    word[size] = 0;
    if (!parse_number(word, &number) && !table_word_number(word, &number)) return false;
    return cell->number == number || (isnan(number) && isnan(cell->number));
}

/* values: "a|b|c" */
static bool is_among(const struct cell *cell, const char *values)
{
    for (const char *v = values; v; v = strchr(v, '|') ? strchr(v, '|') + 1 : NULL)
        if (is_value(cell, v, strcspn(v, "|"))) return true;
    return false;
}

/* What a column holds, for a message: each value once, in order of the rows, and not all of very many. */
static void add_values(const struct table *table, int column, struct err *err)
{
    enum { MOST = 12 };
    const char *seen[MOST];
    size_t count = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        struct text value = {0};
        bool is_new = true;
        const struct cell *cell = table_cell(table, r, (size_t)column);
        if (cell->text) text_add(&value, "%s", text_show(cell->text));
        else text_add(&value, "%.15g", cell->number);
        for (size_t i = 0; i < count; i++) is_new = is_new && strcmp(seen[i], value.data) != 0;
        if (is_new && count < MOST) err_add(err, "%s %s", count ? "," : "", value.data), seen[count++] = mem_text(value.data);
        else if (is_new) r = table->row_count, err_add(err, " ...");
        text_clear(&value);
    }
    for (size_t i = 0; i < count; i++) mem_free((char *)seen[i]);
}

/* Takes away the rows for which the column has another value. */
static struct table *keep(const struct table *table, int column, const char *values, struct err *err)
{
    struct table *kept = table_shape(table);
    for (size_t r = 0; r < table->row_count; r++)
        if (is_among(table_cell(table, r, (size_t)column), values)) table_row(kept, table_cell(table, r, 0));
    if (kept->row_count) return kept;
    table_free(kept);
    err_set(err, "%s: no row has %s=%s: it holds", text_show(table->name), text_show(table->columns[column].name), text_show(values));
    add_values(table, column, err);
    return NULL;
}

struct table *table_where(const struct table *table, const char *where, struct err *err)
{
    struct table *kept = table_copy(table);
    char *copy = mem_text(where), *save = NULL;
    for (char *part = strtok_r(copy, ",", &save); kept && part; part = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(part, '=');
        int column = -1;
        if (!equals || equals == part) {
            err_set(err, "'%s': the form is COLUMN=VALUE|VALUE,COLUMN=VALUE", text_show(part));
            err_usage(err);
        } else *equals = 0, column = table_column_find(kept, part, err);
        struct table *fewer = column < 0 ? NULL : keep(kept, column, equals + 1, err);
        table_free(kept);
        kept = fewer;
    }
    mem_free(copy);
    return kept;
}
