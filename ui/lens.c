#include "lens.h"

#include <string.h>

static int row_of(const struct lens *lens, int position, int boundary)
{
    for (size_t r = 0; lens->table && r < lens->table->row_count; r++)
        if ((int)table_number(lens->table, r, "position") == position && (int)table_number(lens->table, r, "boundary") == boundary) return (int)r;
    return -1;
}

double lens_number(const struct lens *lens, int position, int boundary, const char *column)
{
    int row = row_of(lens, position, boundary);
    return row < 0 ? NAN : table_number(lens->table, (size_t)row, column);
}

const char *lens_text(const struct lens *lens, int position, int boundary, const char *column)
{
    int row = row_of(lens, position, boundary);
    const char *text = row < 0 ? NULL : table_text(lens->table, (size_t)row, column);
    return text ? text : "";
}

const char *lens_fact(const struct lens *lens, const char *key)
{
    const char *value = lens->table ? table_fact_get(lens->table, key) : NULL;
    return value ? value : "";
}

bool lens_knows(const struct lens *lens, const char *key)
{
    const char *value = lens_fact(lens, key);
    return *value && strcmp(value, "unknown") != 0 && strcmp(value, "none") != 0;
}

bool lens_correct(const struct lens *lens)
{
    const char *value = lens_fact(lens, "correct");
    return !strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1");
}

static int fact_int(const struct lens *lens, const char *key, int otherwise)
{
    const char *value = lens_fact(lens, key), *digit = strpbrk(value, "0123456789");
    int number = 0;
    if (!digit || digit != value) return otherwise;
    while (*digit >= '0' && *digit <= '9') number = number * 10 + (*digit++ - '0');
    return number;
}

struct lens lens_of(const struct table *table)
{
    struct lens lens = {.table = table, .bridge_position = -1};
    for (size_t r = 0; table && r < table->row_count; r++) {
        double position = table_number(table, r, "position"), boundary = table_number(table, r, "boundary");
        if (position + 1 > lens.positions) lens.positions = (int)position + 1;
        if (boundary + 1 > lens.boundaries) lens.boundaries = (int)boundary + 1;
    }
    bool has_bridge = *lens_fact(&lens, "bridge") && strcmp(lens_fact(&lens, "bridge"), "none") != 0;
    lens.bridge_position = fact_int(&lens, "bridge_position", has_bridge && lens.positions > 1 ? 1 : -1);
    lens.answer_position = fact_int(&lens, "answer_position", lens.positions - 1);
    return lens;
}
