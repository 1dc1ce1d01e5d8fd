/* Reads the two file forms of a table back. */
#include "ground/file.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "results/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct reader {
    const char *label; /* what messages call the file */
    size_t line;
    struct table *table;
    char **roles, **formats; /* fields of the "# roles:" and "# formats:" lines */
    size_t role_count, format_count;
};

bool table_word_number(const char *word, double *number)
{
    static const struct { const char *word; double number; } words[] = {
        {"nan", NAN}, {"NaN", NAN}, {"NA", NAN}, {"n/a", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY},
        {"Infinity", INFINITY}, {"-Infinity", -INFINITY},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word)) return *number = words[i].number, true;
    return false;
}

/* Undoes the escapes in place, and the quotes when there are any. */
static void unescape(char *field, bool quoted)
{
    char *to = field;
    for (const char *s = quoted ? field + 1 : field; *s; s++) {
        if (quoted && *s == '"') {
            if (s[1] != '"') break;
            s++;
        } else if (*s == '\\' && s[1] && strchr("\\nrt", s[1])) {
            s++;
            *to++ = *s == 'n' ? '\n' : *s == 'r' ? '\r' : *s == 't' ? '\t' : '\\';
            continue;
        }
        *to++ = *s;
    }
    *to = 0;
}

static struct cell read_field(char *field)
{
    double number;
    if (!*field) return cell_number(NAN);
    if (*field == '"') return unescape(field, true), cell_text(field);
    if (parse_number(field, &number) || table_word_number(field, &number)) return cell_number(number);
    return unescape(field, false), cell_text(field);
}

/* Cuts a line at its tabs; the fields point into it. */
static char **split_line(char *line, size_t *count)
{
    char **fields = NULL;
    size_t room = 0;
    *count = 0;
    for (char *s = line; s;) {
        char *tab = strchr(s, '\t');
        if (tab) *tab = 0;
        mem_grow(&fields, &room, *count + 1, sizeof *fields);
        fields[(*count)++] = s;
        s = tab ? tab + 1 : NULL;
    }
    return fields;
}

static void read_fact(struct reader *reader, char *line)
{
    char *key = line + 1 + strspn(line + 1, " "), *value = strstr(key, ": ");
    if (!value) {
        size_t size = strlen(key);
        if (size < 2 || key[size - 1] != ':') return; /* a comment of someone's own */
        value = key + size;
        key[size - 1] = 0;
    } else {
        *value = 0;
        value += 2;
    }
    if (!strcmp(key, "roles") && !reader->roles) reader->roles = split_line(value, &reader->role_count);
    else if (!strcmp(key, "formats") && !reader->formats) reader->formats = split_line(value, &reader->format_count);
    else if (unescape(value, false), !strcmp(key, "table")) {
        mem_free(reader->table->name);
        reader->table->name = mem_text(value);
    } else table_fact(reader->table, key, "%s", value);
}

/* For tables that others made: what a column is probably for. */
static enum role guess_role(const struct table *table, const char *name)
{
    static const struct { const char *name; enum role role; } known[] = {
        {"low", ROLE_LOW}, {"high", ROLE_HIGH}, {"n", ROLE_COUNT}, {"correct", ROLE_COUNT}, {"excluded", ROLE_COUNT}, {"fired", ROLE_COUNT},
        {"undefined", ROLE_COUNT}, {"split", ROLE_LABEL}, {"model", ROLE_LABEL}, {"target", ROLE_LABEL}, {"control", ROLE_LABEL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].role;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].role == ROLE_AXIS) return ROLE_VALUE;
    return ROLE_AXIS;
}

static bool add_column(struct reader *reader, const char *name, const char *role_text, const char *format, struct err *err)
{
    enum role role = guess_role(reader->table, name);
    if (table_find(reader->table, name) >= 0)
        return err_set(err, "%s: line %zu: the column '%s' stands twice", reader->label, reader->line, text_show(name));
    if (role_text && !role_parse(role_text, &role))
        return err_set(err, "%s: column '%s': the role '%s' is none of axis, value, low, high, n, label", reader->label, text_show(name),
                       text_show(role_text));
    table_column(reader->table, name, role, format && table_format_good(format) ? format : NULL); /* a strange format never reaches printf */
    return true;
}

static bool read_head(struct reader *reader, char *line, struct err *err)
{
    size_t count;
    char **names = split_line(line, &count);
    bool ok = true;
    if (reader->roles && reader->role_count != count)
        ok = err_set(err, "%s: line %zu: %zu columns, but %zu roles", reader->label, reader->line, count, reader->role_count);
    for (size_t i = 0; ok && i < count; i++) {
        unescape(names[i], *names[i] == '"');
        ok = add_column(reader, names[i], reader->roles ? reader->roles[i] : NULL, i < reader->format_count ? reader->formats[i] : NULL, err);
    }
    mem_free(names);
    return ok;
}

static bool read_row(struct reader *reader, char *line, struct err *err)
{
    size_t count, columns = reader->table->column_count;
    char **fields = split_line(line, &count);
    bool ok = count == columns;
    if (!ok) err_set(err, "%s: line %zu: %zu fields, but the table has %zu columns", reader->label, reader->line, count, columns);
    else {
        struct cell *cells = mem_new(columns * sizeof *cells);
        for (size_t i = 0; i < columns; i++) cells[i] = read_field(fields[i]);
        table_row(reader->table, cells);
        mem_free(cells);
    }
    mem_free(fields);
    return ok;
}

/* Without roles a column of text is a label, whatever its name. */
static void label_texts(struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        for (size_t r = 0; r < table->row_count; r++)
            if (table_cell(table, r, c)->text) table->columns[c].role = ROLE_LABEL;
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].role == ROLE_AXIS) return;
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].role == ROLE_VALUE) {
            table->columns[c].role = ROLE_AXIS; /* the first column of numbers */
            return;
        }
}

static bool read_tsv(struct reader *reader, char *text, struct err *err)
{
    bool head = false, ok = true;
    for (char *line = text, *next; ok && *line; line = next) {
        size_t size = strcspn(line, "\n");
        next = line + size + (line[size] == '\n');
        line[size] = 0;
        reader->line++;
        if (size && line[size - 1] == '\r') line[--size] = 0;
        if (*line == '#') read_fact(reader, line);
        else if (!head && !size) continue;
        else if (!head) ok = head = read_head(reader, line, err);
        else if (size || reader->table->column_count == 1) ok = read_row(reader, line, err);
    }
    if (ok && !head) ok = err_set(err, "%s: no table: there is no line with column names", reader->label);
    if (ok && !reader->roles) label_texts(reader->table);
    mem_free(reader->roles);
    mem_free(reader->formats);
    return ok;
}

static bool read_json_facts(struct reader *reader, const struct json *facts)
{
    for (const struct json *fact = json_first(facts); fact; fact = json_next(fact)) {
        const char *value = json_string(fact);
        double number;
        struct text digits = {0};
        if (!value && json_number(fact, &number)) json_add_number(&digits, number), value = digits.data;
        if (value && !strcmp(json_key(fact), "table")) {
            mem_free(reader->table->name);
            reader->table->name = mem_text(value);
        } else if (value) table_fact(reader->table, json_key(fact), "%s", value);
        text_clear(&digits);
    }
    return true;
}

static bool read_json_row(struct reader *reader, const struct json *row, size_t index, struct err *err)
{
    size_t columns = reader->table->column_count, i = 0;
    if (!json_is_array(row) || json_count(row) != columns)
        return err_set(err, "%s: row %zu: not an array of %zu cells, one for each column", reader->label, index, columns);
    struct cell *cells = mem_new(columns * sizeof *cells);
    bool ok = true;
    for (const struct json *cell = json_first(row); ok && cell; cell = json_next(cell), i++) {
        double number = NAN;
        if (json_string(cell)) cells[i] = cell_text(json_string(cell));
        else if (json_is_null(cell) || json_number(cell, &number)) cells[i] = cell_number(number);
        else ok = err_set(err, "%s: row %zu: column '%s' is %s: a number, null or a string would be right", reader->label, index,
                          text_show(reader->table->columns[i].name), json_kind(cell));
    }
    if (ok) table_row(reader->table, cells);
    mem_free(cells);
    return ok;
}

static bool read_json(struct reader *reader, const struct json *root, struct err *err)
{
    const struct json *columns = json_get(root, "columns"), *rows = json_get(root, "rows");
    size_t index = 0;
    if (!json_is_array(columns) || !json_is_array(rows))
        return err_set(err, "%s: no table: {\"provenance\":{...},\"columns\":[...],\"rows\":[...]} would be right", reader->label);
    read_json_facts(reader, json_get(root, "provenance"));
    for (const struct json *column = json_first(columns); column; column = json_next(column)) {
        const char *name = json_string(json_get(column, "name"));
        if (!name) return err_set(err, "%s: columns: each needs a name and a role", reader->label);
        if (!add_column(reader, name, json_string(json_get(column, "role")), json_string(json_get(column, "format")), err)) return false;
    }
    for (const struct json *row = json_first(rows); row; row = json_next(row))
        if (!read_json_row(reader, row, ++index, err)) return false;
    return true;
}

/* All of stdin, unless a person would have to type it. */
static char *read_pipe(size_t most, size_t *size, struct err *err)
{
    struct text text = {0};
    char bytes[1 << 14];
    size_t count;
    bool typed = isatty(STDIN_FILENO);
    while (!typed && text.size <= most && (count = fread(bytes, 1, sizeof bytes, stdin)) > 0) text_add_bytes(&text, bytes, count);
    if (text.size && text.size <= most && !ferror(stdin)) return *size = text.size, text.data;
    text_clear(&text);
    err_set(err, "-: %s", typed ? "stdin is a terminal: pipe a table into it" : ferror(stdin) ? strerror(errno) : "nothing came through the pipe");
    return NULL;
}

struct table *table_read(const char *path, struct err *err)
{
    enum { MOST = 1 << 30 };
    size_t size;
    char *text = strcmp(path, "-") ? file_read(path, MOST, &size, err) : read_pipe(MOST, &size, err), *label = NULL;
    if (!text) return NULL;
    bool ok;
    struct reader reader = {.label = label = mem_text(text_show(path)), .table = table_new(path_base(path))};
    if (strlen(text) != size) ok = err_set(err, "%s: no table: byte %zu is NUL", reader.label, strlen(text) + 1);
    else if (text[strspn(text, " \t\r\n")] == '{') {
        struct json *root = json_parse(text, size, reader.label, err);
        ok = root && read_json(&reader, root, err);
        json_free(root);
    } else ok = read_tsv(&reader, text, err);
    mem_free(text);
    mem_free(label);
    if (ok) return reader.table;
    table_free(reader.table);
    return NULL;
}
