#include "bench_history.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "results/stats.h"

#include <string.h>
#include <time.h>

enum { LAST = 5 };

static const struct { const char *name; enum role role; } columns[] = {
    {"date", ROLE_LABEL},     {"version", ROLE_LABEL},  {"blas", ROLE_LABEL},  {"threads", ROLE_COUNT}, {"work", ROLE_LABEL},
    {"ours_ms", ROLE_VALUE},  {"limit_ms", ROLE_VALUE}, {"ratio", ROLE_VALUE}, {"low", ROLE_LOW},       {"high", ROLE_HIGH},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct table *without_rows(void)
{
    struct table *table = table_new("bench_history");
    for (size_t c = 0; c < COLUMNS; c++) table_column(table, columns[c].name, columns[c].role, NULL);
    return table;
}

/* Its columns, and texts where texts belong. */
static bool is_history(const struct table *table, const char *path, struct err *err)
{
    bool ok = table->column_count == COLUMNS;
    for (size_t c = 0; ok && c < COLUMNS; c++) ok = !strcmp(table->columns[c].name, columns[c].name);
    if (!ok) {
        err_set(err, "%s: not a history of this benchmark, whose columns are", text_show(path));
        for (size_t c = 0; c < COLUMNS; c++) err_add(err, " %s", columns[c].name);
        return err_add(err, ": move it away, or give another name");
    }
    for (size_t r = 0; r < table->row_count; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (!table_cell(table, r, c)->text != (columns[c].role != ROLE_LABEL))
                return err_set(err, "%s: row %zu: %s: a %s would be right: mend it, or move the file away", text_show(path), r + 1, columns[c].name,
                               columns[c].role == ROLE_LABEL ? "text" : "number");
    return true;
}

static struct table *history_read(const char *path, struct err *err)
{
    struct table *table = file_exists(path) ? table_read(path, err) : without_rows();
    if (!table || is_history(table, path, err)) return table;
    table_free(table);
    return NULL;
}

bool bench_history_check(const char *path, struct err *err)
{
    struct table *table = history_read(path, err);
    bool ok = table && file_may_write(path, err);
    table_free(table);
    return ok;
}

static bool is_like(const struct table *history, size_t row, const struct bench_figure *f)
{
    return !strcmp(table_text(history, row, "work"), f->work) && !strcmp(table_text(history, row, "blas"), f->blas) &&
           table_number(history, row, "threads") == f->threads;
}

static double compare(const struct table *history, const struct bench_figure *f, struct sink *sink)
{
    bool alone = isnan(f->ratio);
    const char *what = alone ? "ours_ms" : "ratio";
    double last[LAST], now = alone ? f->ours_ms : f->ratio, spread = f->high - f->low;
    size_t n = 0;
    for (size_t row = history->row_count; row-- > 0 && n < LAST;) {
        double then = table_number(history, row, what);
        if (!is_like(history, row, f) || isnan(then)) continue;
        last[n++] = then;
        spread = fmax(spread, table_number(history, row, "high") - table_number(history, row, "low"));
    }
    double was = median(last, n); /* sorts them */
    if (n == LAST && (alone ? now - last[LAST - 1] : last[0] - now) > spread)
        sink_note(sink, "%s: %s is %.3g (%.3g to %.3g), worse than all of the last five (%.3g to %.3g, median %.3g) by more than the spread", f->work,
                  what, now, f->low, f->high, last[0], last[LAST - 1], was);
    return was;
}

/* The figure as a file of its own. */
static void add_file(struct text *out, const struct bench_figure *f)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", gmtime_r(&now, &utc));
    struct table *table = without_rows();
    table_row(table, (struct cell[]){cell_text(date), cell_text(VERSION), cell_text(f->blas), cell_number(f->threads), cell_text(f->work),
                                     cell_number(f->ours_ms), cell_number(f->limit_ms), cell_number(f->ratio), cell_number(f->low),
                                     cell_number(f->high)});
    table_tsv(table, out);
    table_free(table);
}

/* What stands there stays byte for byte, comments too. */
static bool append(const char *path, const struct bench_figure *f, struct err *err)
{
    struct text text = {0}, line = {0};
    if (file_exists(path)) {
        char *old = file_read(path, 1 << 30, NULL, err);
        if (!old) return false;
        text_add(&text, "%s%s", old, text_ends(old, "\n") ? "" : "\n");
        mem_free(old);
    }
    add_file(&line, f);
    line.data[--line.size] = 0; /* its line end */
    text_add(&text, "%s\n", text.size ? strrchr(line.data, '\n') + 1 : line.data);
    bool ok = file_write(path, text.data, text.size, err);
    text_clear(&text);
    text_clear(&line);
    return ok;
}

bool bench_history_add(const char *path, const struct bench_figure *figure, double *was, struct sink *sink, struct err *err)
{
    struct table *history = history_read(path, err);
    if (!history) return false;
    *was = compare(history, figure, sink);
    table_free(history);
    return append(path, figure, err);
}
