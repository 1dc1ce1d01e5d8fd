/* A table: the one form of every result. Columns have a name and a role; rows are cells; provenance says where it came from.
 *
 *     struct table *table = table_new("bridge");
 *     table_column(table, "split", ROLE_LABEL, NULL);
 *     table_column(table, "p_bridge", ROLE_VALUE, "%.3f");     (the format is for people; files get every digit)
 *     table_row(table, (struct cell[]){cell_text("test_id"), cell_number(0.999)});
 *     table_free(table);
 *
 * A table owns all its text. NaN is a legal number: printed as "n/a", written as null or an empty field, drawn as a gap.
 */
#ifndef RESULTS_TABLE_H
#define RESULTS_TABLE_H

#include "ground/err.h"
#include "ground/text.h"

#include <math.h>
#include <stddef.h>

enum role { ROLE_AXIS = 1, ROLE_VALUE, ROLE_LOW, ROLE_HIGH, ROLE_COUNT, ROLE_LABEL };
const char *role_name(enum role role); /* "axis", "value", "low", "high", "n", "label" */
bool role_parse(const char *name, enum role *role);

struct column {
    char *name;
    enum role role;
    char *format; /* printf format for one double, or NULL: %.6g */
};

struct cell {
    char *text;   /* NULL: a number */
    double number;
};

struct table {
    char *name;
    struct column *columns;
    size_t column_count, column_room;
    struct cell *cells; /* row_count x column_count */
    size_t row_count, cell_room;
    struct fact { char *key, *value; } *facts; /* provenance in order: command, version, model, data ... */
    size_t fact_count, fact_room;
};

struct table *table_new(const char *name);
void table_free(struct table *table);
struct table *table_copy(const struct table *table);
struct table *table_shape(const struct table *table); /* a copy of name, columns and facts, without rows */

void table_column(struct table *table, const char *name, enum role role, const char *format); /* before the first row */
void table_row(struct table *table, const struct cell *cells);                                /* texts are copied */
void table_fact(struct table *table, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *table_fact_get(const struct table *table, const char *key);                       /* NULL: absent */

static inline struct cell cell_number(double number) { return (struct cell){NULL, number}; }
static inline struct cell cell_text(const char *text) { return (struct cell){(char *)text, NAN}; }

int table_find(const struct table *table, const char *column); /* -1: no such column */
int table_column_find(const struct table *table, const char *name, struct err *err); /* the same; err says which columns there are */
const struct cell *table_cell(const struct table *table, size_t row, size_t column);
double table_number(const struct table *table, size_t row, const char *column);      /* NaN: no such column, or text */
const char *table_text(const struct table *table, size_t row, const char *column);   /* NULL: no such column, or a number */

/* A copy with the rows that have these values: "split=test_id|test_ood,stage=2". NULL: no such column, or no row is left. */
struct table *table_where(const struct table *table, const char *where, struct err *err);

/* The cell as people read it, appended. */
void table_show(const struct table *table, size_t row, size_t column, struct text *out);

/* The three printed forms, appended: aligned columns for people; TSV with "# key: value" lines in front; one JSON object
 * {"provenance":{...},"columns":[{"name","role"}],"rows":[[...]]}. */
void table_print(const struct table *table, struct text *out);
void table_tsv(const struct table *table, struct text *out);
void table_json(const struct table *table, struct text *out);

/* Reads either of the two file forms back (by content), and plain TSV of others, whose roles are guessed. "-" is stdin, if
 * that is a pipe. NULL on failure; messages name file and line. */
struct table *table_read(const char *path, struct err *err);

bool table_format_good(const char *format);                   /* one %f, %e or %g for a double, short, nothing else */
bool table_word_number(const char *word, double *number);     /* "nan", "inf" ...: words that a TSV field may hold as a number */

#endif
