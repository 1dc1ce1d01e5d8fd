/* bench: how fast, as a ratio against the machine's own limit, measured in the same run and in turn.
 *
 * The limit of a training step is the time that its matrix products alone take, at the same shapes, on the same number of threads, counting the
 * plain, unpruned step; pruning may push the ratio past 100 %. For a sweep it is the products that the edits can reach. Machines are noisy: ours and
 * limit alternate, and the spread of the ratio is shown. With --growth rows, loops and alphas are doubled instead, to see cost grow in proportion.
 */
#include "bench_work.h"

#include "doing/share.h"
#include "ground/file.h"
#include "numbers/blas.h"
#include "results/stats.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

static const struct option options[] = {
    {"rounds", OPTION_INT, "7", .low = 1, .high = 1000, .help = "measurements of each row, ours and limit in turn"},
    {"growth", OPTION_FLAG, NULL, .help = "time against rows, loops and alphas, in powers of two (log2_size, log2_ms)"},
    {"history", OPTION_TEXT, NULL, .help = "append the figures to this file, so that a regression is seen", .placeholder = "FILE.tsv", .aside = true},
    {0},
};

enum { V = 1050, MOST_ROUNDS = 1000 };

static const struct bench_work works[] = {
    {"train-d64", BENCH_TRAIN, 64, 256, 2, 2, 512, V, "none", 0, 0},
    {"train-d128", BENCH_TRAIN, 128, 512, 2, 2, 512, V, "none", 0, 0},
    {"train-d256", BENCH_TRAIN, 256, 1024, 1, 2, 256, V, "none", 0, 0},
    {"train-d512", BENCH_TRAIN, 512, 2048, 1, 2, 256, V, "none", 0, 0},
    {"train-d128-4-blocks", BENCH_TRAIN, 128, 512, 4, 2, 512, V, "none", 0, 0},
    {"train-d128-4-loops", BENCH_TRAIN, 128, 512, 2, 4, 512, V, "none", 0, 0},
    {"train-d64-discoloop", BENCH_TRAIN, 64, 256, 2, 2, 512, V, "discoloop", 0, 0},
    {"train-d128-discoloop", BENCH_TRAIN, 128, 512, 2, 2, 512, V, "discoloop", 0, 0},
    {"train-d128-gate", BENCH_TRAIN, 128, 512, 2, 2, 512, V, "gate", 0, 0},
    {"eval-d256", BENCH_EVAL, 256, 1024, 1, 2, 4000, 250, "none", 0, 0},
    {"lens-d256", BENCH_LENS, 256, 1024, 1, 2, 4000, 250, "none", 0, 0},
    {"sweep-d256", BENCH_SWEEP, 256, 1024, 1, 2, 4000, 250, "none", 21, 0},
    {"sweep-d256-discoloop", BENCH_SWEEP, 256, 1024, 1, 2, 4000, 250, "discoloop", 21, 0},
    {"interface-v129280", BENCH_INTERFACE, 256, 256, 1, 2, 32, 129280, "discoloop", 0, 0},
    {"interface-v129280-top128", BENCH_INTERFACE, 256, 256, 1, 2, 32, 129280, "discoloop", 0, 128},
};

/* What has no limit to be compared with. */
static const struct wait { const char *name; double (*once)(const char *model, struct err *err); } waits[] = {
    {"load", bench_load}, {"figure-export", bench_figure}, {"first-screen", bench_first_screen}, {"key-while-sweeping", bench_key},
};

struct bench {
    struct session *session;
    const struct args *args;
    struct sink *sink;
    struct pool *pool;
    struct table *table;
};

/* Ours and the limit in turn; false with err. */
static bool measure(struct bench *me, const struct bench_work *work, double ours[], double limit[], double ratio[], int rounds, struct err *err)
{
    struct products products;
    struct subject subject;
    if (!subject_open(&subject, work, me->session, me->pool, err)) return false;
    products_of(&products, work, pool_threads(me->pool));
    double once = subject_time(&subject, 1, err);
    if (isfinite(once)) once = subject_time(&subject, 1, err); /* the first grows the memory */
    int repeats = once > 0 && once < 0.1 ? (int)(0.1 / once) + 1 : 1;
    bool ok = isfinite(once);
    for (int i = 0; ok && i < rounds; i++) {
        ours[i] = subject_time(&subject, repeats, err);
        limit[i] = products_time(&products, me->pool, repeats);
        ratio[i] = limit[i] / ours[i];
        ok = isfinite(ours[i]) && (!session_stopped(me->session) || err_stop(err, "stopped"));
    }
    products_release(&products);
    subject_close(&subject);
    return ok;
}

static void add_row(struct bench *me, const struct cell *cells)
{
    table_row(me->table, cells);
    sink_row(me->sink, cells);
}

static bool bench_row(struct bench *me, const struct bench_work *work, struct err *err)
{
    double ours[MOST_ROUNDS], limit[MOST_ROUNDS], ratio[MOST_ROUNDS];
    int rounds = (int)args_int(me->args, "rounds");
    struct rusage usage;
    if (!measure(me, work, ours, limit, ratio, rounds, err)) return false;
    getrusage(RUSAGE_SELF, &usage);
    double time = median(ours, (size_t)rounds), share = median(ratio, (size_t)rounds); /* sorts them */
    add_row(me, (struct cell[]){cell_text(work->name), cell_number(1e3 * time), cell_number(1e3 * median(limit, (size_t)rounds)), cell_number(share),
                                cell_number(ratio[0]), cell_number(ratio[rounds - 1]), cell_number(work->rows / time),
                                cell_number((double)usage.ru_maxrss / 1024)});
    return true;
}

static bool wait_row(struct bench *me, const struct wait *wait, const char *model, struct err *err)
{
    double ours[MOST_ROUNDS];
    int rounds = (int)args_int(me->args, "rounds");
    struct rusage usage;
    for (int i = 0; i < rounds; i++)
        if (isnan(ours[i] = wait->once(model, err))) return err_in(err, "bench %s", wait->name);
    getrusage(RUSAGE_SELF, &usage);
    struct cell none = cell_number(NAN);
    add_row(me, (struct cell[]){cell_text(wait->name), cell_number(1e3 * median(ours, (size_t)rounds)), none, none, none, none, none,
                                cell_number((double)usage.ru_maxrss / 1024)});
    return true;
}

/* One series of doubled sizes. */
static bool grow(struct bench *me, const char *over, struct bench_work work, int from, int to, struct err *err)
{
    double ours[MOST_ROUNDS], limit[MOST_ROUNDS], ratio[MOST_ROUNDS];
    int rounds = (int)args_int(me->args, "rounds");
    for (int n = from; n <= to; n *= 2) {
        struct bench_work now = work;
        if (!strcmp(over, "rows")) now.rows = n;
        else if (!strcmp(over, "loops")) now.loops = n;
        else now.alphas = n;
        if (!measure(me, &now, ours, limit, ratio, rounds, err)) return false;
        double ms = 1e3 * median(ours, (size_t)rounds);
        add_row(me, (struct cell[]){cell_text(over), cell_number(log2(n)), cell_number(n), cell_number(log2(ms)), cell_number(ms)});
    }
    return true;
}

static bool bench_growth(struct bench *me, struct err *err)
{
    struct bench_work rows = {"rows", BENCH_EVAL, 128, 512, 2, 2, 512, 250, "none", 0, 0}, loops = rows,
                      alphas = {"alphas", BENCH_SWEEP, 128, 512, 1, 2, 1024, 250, "none", 1, 0};
    return grow(me, "rows", rows, 512, 16384, err) && grow(me, "loops", loops, 2, 32, err) && grow(me, "alphas", alphas, 4, 128, err);
}

static bool append_history(const struct bench *me, struct err *err)
{
    const char *path = args_text(me->args, "history");
    if (!path) return true;
    struct text text = {0};
    char *old = file_exists(path) ? file_read(path, 1 << 24, NULL, err) : mem_text("version\twork\tours_ms\tlimit_ms\tratio\n");
    if (!old) return false;
    text_add(&text, "%s", old);
    for (size_t i = 0; i < me->table->row_count; i++)
        text_add(&text, "%s\t%s\t%.4g\t%.4g\t%.3f\n", VERSION, table_text(me->table, i, "work"), table_number(me->table, i, "ours_ms"),
                 table_number(me->table, i, "limit_ms"), table_number(me->table, i, "ratio"));
    bool ok = file_write(path, text.data, text.size, err);
    mem_free(old);
    text_clear(&text);
    return ok;
}

static struct table *shape(const struct bench *me, bool growth)
{
    struct table *table = table_new(growth ? "growth" : "bench");
    if (growth) {
        table_column(table, "over", ROLE_LABEL, NULL);
        table_column(table, "log2_size", ROLE_AXIS, "%.0f");
        table_column(table, "size", ROLE_COUNT, "%.0f");
        table_column(table, "log2_ms", ROLE_VALUE, "%.2f");
        table_column(table, "ms", ROLE_COUNT, "%.2f");
    } else {
        table_column(table, "work", ROLE_LABEL, NULL);
        table_column(table, "ours_ms", ROLE_VALUE, "%.2f");
        table_column(table, "limit_ms", ROLE_VALUE, "%.2f");
        table_column(table, "ratio", ROLE_VALUE, "%.2f");
        table_column(table, "low", ROLE_LOW, "%.2f");
        table_column(table, "high", ROLE_HIGH, "%.2f");
        table_column(table, "rows_per_s", ROLE_VALUE, "%.0f");
        table_column(table, "peak_mb", ROLE_VALUE, "%.0f");
    }
    command_provenance(me->session, table);
    table_fact(table, "blas", "%s", blas_name());
    table_fact(table, "threads", "%d", pool_threads(me->pool));
    return table;
}

static bool bench_rows(struct bench *me, const char *only, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (only && !strstr(works[i].name, only)) continue;
        any = true;
        if (!bench_row(me, &works[i], err)) return false;
    }
    char *model = share_find(me->session->share, "models", "vanilla");
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof waits / sizeof *waits; i++) {
        if (only && !strstr(waits[i].name, only)) continue;
        any = true;
        ok = model ? wait_row(me, &waits[i], model, err) : err_set(err, "bench %s: the bundled model vanilla is not here", waits[i].name);
    }
    mem_free(model);
    if (!ok) return false;
    return any || (err_set(err, "bench: no row has '%s' in its name", text_show(only)), err_usage(err));
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    if (!blas_check(err)) return false;
    struct bench me = {.session = session, .args = args, .sink = sink, .pool = pool_new(session->threads < 64 ? session->threads : 64)};
    bool growth = args_flag(args, "growth");
    me.table = shape(&me, growth);
    struct table *empty = table_shape(me.table);
    sink_table(sink, empty);
    table_free(empty);
    bool ok = growth ? bench_growth(&me, err) : bench_rows(&me, args_word(args, 0), err) && append_history(&me, err);
    table_free(me.table);
    pool_free(me.pool);
    return ok;
}

const struct command command_bench = {
    .name = "bench",
    .words = "[NAME]",
    .least = 0,
    .most = 1,
    .help = "time of training, evaluation, sweeps and the interface against the machine's own matrix products",
    .more = "ratio = limit / ours: 1 would be nothing but matrix products. low and high are its extremes over the rounds; peak_mb is the most memory "
            "so far.",
    .options = options,
    .example = "bench train-d64 --rounds 1",
    .run = run,
};
