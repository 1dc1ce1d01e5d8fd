#include "results/table.h"

#include "ground/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const role_names[] = {
    [ROLE_AXIS] = "axis", [ROLE_VALUE] = "value", [ROLE_LOW] = "low", [ROLE_HIGH] = "high", [ROLE_COUNT] = "n", [ROLE_LABEL] = "label",
};

const char *role_name(enum role role) { return role_names[role]; }

bool role_parse(const char *name, enum role *role)
{
    for (int i = ROLE_AXIS; i <= ROLE_LABEL; i++)
        if (!strcmp(role_names[i], name)) return *role = (enum role)i, true;
    return false;
}

struct table *table_new(const char *name)
{
    struct table *table = mem_new(sizeof *table);
    table->name = mem_text(name);
    return table;
}

void table_free(struct table *table)
{
    if (!table) return;
    for (size_t i = 0; i < table->row_count * table->column_count; i++) mem_free(table->cells[i].text);
    for (size_t i = 0; i < table->column_count; i++) {
        mem_free(table->columns[i].name);
        mem_free(table->columns[i].format);
    }
    for (size_t i = 0; i < table->fact_count; i++) {
        mem_free(table->facts[i].key);
        mem_free(table->facts[i].value);
    }
    mem_free(table->cells);
    mem_free(table->columns);
    mem_free(table->facts);
    mem_free(table->name);
    mem_free(table);
}

struct table *table_shape(const struct table *table)
{
    struct table *copy = table_new(table->name);
    for (size_t i = 0; i < table->column_count; i++) table_column(copy, table->columns[i].name, table->columns[i].role, table->columns[i].format);
    for (size_t i = 0; i < table->fact_count; i++) table_fact(copy, table->facts[i].key, "%s", table->facts[i].value);
    return copy;
}

struct table *table_copy(const struct table *table)
{
    struct table *copy = table_shape(table);
    for (size_t i = 0; i < table->row_count; i++) table_row(copy, table->cells + i * table->column_count);
    return copy;
}

bool table_format_good(const char *format)
{
    const char *s = strchr(format, '%');
    if (!s) return false;
    s += 1 + strspn(s + 1, "+- 0#");
    s += strspn(s, "0123456789");
    if (*s == '.') s += 1 + strspn(s + 1, "0123456789");
    return *s && strchr("feg", *s) && !strchr(s, '%') && strlen(format) < 16;
}

void table_column(struct table *table, const char *name, enum role role, const char *format)
{
    assert(!table->row_count && "columns come before the first row");
    assert(!format || table_format_good(format));
    mem_grow(&table->columns, &table->column_room, table->column_count + 1, sizeof *table->columns);
    table->columns[table->column_count++] = (struct column){mem_text(name), role, mem_text(format)};
}

void table_row(struct table *table, const struct cell *cells)
{
    size_t start = table->row_count * table->column_count;
    mem_grow(&table->cells, &table->cell_room, start + table->column_count, sizeof *table->cells);
    for (size_t i = 0; i < table->column_count; i++) table->cells[start + i] = (struct cell){mem_text(cells[i].text), cells[i].number};
    table->row_count++;
}

static struct fact *find_fact(const struct table *table, const char *key)
{
    for (size_t i = 0; i < table->fact_count; i++)
        if (!strcmp(table->facts[i].key, key)) return &table->facts[i];
    return NULL;
}

void table_fact(struct table *table, const char *key, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    char *value = mem_new((size_t)(size > 0 ? size : 0) + 1);
    if (size > 0) vsnprintf(value, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    struct fact *old = find_fact(table, key);
    if (old) {
        mem_free(old->value);
        old->value = value;
        return;
    }
    mem_grow(&table->facts, &table->fact_room, table->fact_count + 1, sizeof *table->facts);
    table->facts[table->fact_count++] = (struct fact){mem_text(key), value};
}

const char *table_fact_get(const struct table *table, const char *key)
{
    const struct fact *fact = find_fact(table, key);
    return fact ? fact->value : NULL;
}

int table_find(const struct table *table, const char *column)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (!strcmp(table->columns[i].name, column)) return (int)i;
    return -1;
}

const struct cell *table_cell(const struct table *table, size_t row, size_t column)
{
    assert(row < table->row_count && column < table->column_count);
    return &table->cells[row * table->column_count + column];
}

double table_number(const struct table *table, size_t row, const char *column)
{
    int i = table_find(table, column);
    const struct cell *cell = i < 0 ? NULL : table_cell(table, row, (size_t)i);
    return cell && !cell->text ? cell->number : NAN;
}

const char *table_text(const struct table *table, size_t row, const char *column)
{
    int i = table_find(table, column);
    return i < 0 ? NULL : table_cell(table, row, (size_t)i)->text;
}
