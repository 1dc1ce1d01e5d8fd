/* bench: how fast, as a ratio against the machine's own limit, measured in the same run and in turn.
 *
 * The limit of a training step is the time that its matrix products alone take, at the same shapes, on the same number of threads, counting the
 * plain, unpruned step; pruning may push the ratio past 100 %. For a sweep it is the products that the edits can reach. For what an interface costs
 * it is the plain loop. Machines are noisy: ours and limit alternate, and the spread of the ratio is shown. With --growth rows, loops and alphas are
 * doubled instead, to see cost grow in proportion.
 */
#include "bench_history.h"
#include "bench_work.h"

#include "doing/share.h"
#include "numbers/blas.h"
#include "results/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const struct option options[] = {
    {"rounds", OPTION_INT, "7", .low = 1, .high = 1000, .help = "measurements of each row, ours and limit in turn"},
    {"growth", OPTION_FLAG, NULL, .help = "time against rows, loops and alphas, in powers of two (log2_size, log2_ms)"},
    {"history", OPTION_TEXT, NULL, .help = "compare with the last figures in this file, and append", .placeholder = "FILE.tsv", .aside = true},
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
    {"overhead-d128", BENCH_TRAIN, 128, 512, 2, 2, 512, V, "discoloop", 0, 0, "none"},
    {"overhead-v129280", BENCH_EVAL, 256, 1024, 1, 2, 32, 129280, "discoloop", 0, 0, "none"},
    {"overhead-v129280-top128", BENCH_EVAL, 256, 1024, 1, 2, 32, 129280, "discoloop", 0, 128, "none"},
};
enum { WORKS = sizeof works / sizeof *works };

/* What has no limit to be compared with. */
static const struct wait {
    const char *name;
    double (*once)(const char *model, struct err *err);
    bool apart; /* in a process of its own, whose memory is not seen here */
} waits[] = {
    {"load", bench_load}, {"figure-export", bench_figure}, {"first-screen", bench_first_screen, true}, {"key-while-sweeping", bench_key, true},
};
enum { WAITS = sizeof waits / sizeof *waits };

struct bench {
    struct session *session;
    const struct args *args;
    struct sink *sink;
    struct pool *pool;
};

/* From here on the peak is that of what follows; where the system cannot forget, it stays that of all so far. */
static void peak_reset(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) fputs("5", file), fclose(file);
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Ours and the limit in turn; false with err. */
static bool measure(struct bench *me, const struct bench_work *work, double ours[], double limit[], double ratio[], int rounds, struct err *err)
{
    struct limit other = {0};
    struct subject subject;
    if (!subject_open(&subject, work, me->session, me->pool, err)) return false;
    bool ok = limit_open(&other, work, me->session, me->pool, err) && isfinite(subject_time(&subject, 1, err)) &&
              isfinite(limit_time(&other, 1, err)); /* the first grows the memory */
    double once = ok ? subject_time(&subject, 1, err) : NAN;
    int repeats = once > 0 && once < 0.1 ? (int)(0.1 / once) + 1 : 1;
    for (int i = 0; ok && i < rounds; i++) {
        ours[i] = subject_time(&subject, repeats, err);
        limit[i] = limit_time(&other, repeats, err);
        ratio[i] = limit[i] / ours[i];
        ok = isfinite(ratio[i]) && (!session_stopped(me->session) || err_stop(err, "stopped"));
    }
    limit_close(&other);
    subject_close(&subject);
    return ok;
}

/* One line of the table, and of the history. */
static bool report(struct bench *me, struct bench_figure f, double rows_per_s, double peak, struct err *err)
{
    const char *history = args_text(me->args, "history");
    double was = NAN;
    f.blas = blas_name(), f.threads = pool_threads(me->pool);
    if (history && !bench_history_add(history, &f, &was, me->sink, err)) return false;
    sink_row(me->sink, (struct cell[]){cell_text(f.work), cell_number(f.ours_ms), cell_number(f.limit_ms), cell_number(f.ratio), cell_number(f.low),
                                       cell_number(f.high), cell_number(rows_per_s), cell_number(peak), cell_number(was)});
    return true;
}

static bool bench_row(struct bench *me, const struct bench_work *work, struct err *err)
{
    double ours[MOST_ROUNDS], limit[MOST_ROUNDS], ratio[MOST_ROUNDS];
    size_t rounds = (size_t)args_int(me->args, "rounds");
    peak_reset();
    if (!measure(me, work, ours, limit, ratio, (int)rounds, err)) return false;
    double time = median(ours, rounds), share = median(ratio, rounds); /* sorts them */
    struct bench_figure figure = {work->name, .ours_ms = 1e3 * time, .limit_ms = 1e3 * median(limit, rounds), .ratio = share,
                                  .low = ratio[0], .high = ratio[rounds - 1]};
    return report(me, figure, work->rows / time, peak_mb(), err);
}

static bool wait_row(struct bench *me, const struct wait *wait, const char *model, struct err *err)
{
    double ours[MOST_ROUNDS];
    size_t rounds = (size_t)args_int(me->args, "rounds");
    peak_reset();
    for (size_t i = 0; i < rounds; i++)
        if (isnan(ours[i] = 1e3 * wait->once(model, err))) return err_in(err, "bench %s", wait->name);
    double time = median(ours, rounds);
    struct bench_figure figure = {wait->name, .ours_ms = time, .limit_ms = NAN, .ratio = NAN, .low = ours[0], .high = ours[rounds - 1]};
    return report(me, figure, NAN, wait->apart ? NAN : peak_mb(), err);
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
        sink_row(me->sink, (struct cell[]){cell_text(over), cell_number(log2(n)), cell_number(n), cell_number(log2(ms)), cell_number(ms)});
    }
    return true;
}

static bool bench_growth(struct bench *me, struct err *err)
{
    struct bench_work rows = {"rows", BENCH_EVAL, 128, 512, 2, 2, 512, 250, "none", 0, 0}, loops = rows,
                      alphas = {"alphas", BENCH_SWEEP, 128, 512, 1, 2, 1024, 250, "none", 1, 0};
    return grow(me, "rows", rows, 512, 16384, err) && grow(me, "loops", loops, 2, 32, err) && grow(me, "alphas", alphas, 4, 128, err);
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
        if (args_given(me->args, "history")) table_column(table, "was", ROLE_VALUE, "%.2f");
    }
    command_provenance(me->session, table);
    table_fact(table, "blas", "%s", blas_name());
    table_fact(table, "threads", "%d", pool_threads(me->pool));
    return table;
}

static bool no_such(const char *name, struct err *err)
{
    err_set(err, "bench: no row has '%s' in its name: there are", text_show(name));
    for (size_t i = 0; i < WORKS; i++) err_add(err, " %s,", works[i].name);
    for (size_t i = 0; i < WAITS; i++) err_add(err, " %s%s", waits[i].name, i + 1 < WAITS ? "," : "");
    return err_usage(err);
}

static bool bench_rows(struct bench *me, const char *only, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < WORKS; i++) {
        if (only && !strstr(works[i].name, only)) continue;
        any = true;
        if (!bench_row(me, &works[i], err)) return false;
    }
    char *model = share_find(me->session->share, "models", "vanilla");
    bool ok = true;
    for (size_t i = 0; ok && i < WAITS; i++) {
        if (only && !strstr(waits[i].name, only)) continue;
        any = true;
        ok = model ? wait_row(me, &waits[i], model, err) : err_set(err, "bench %s: the bundled model vanilla is not here", waits[i].name);
    }
    mem_free(model);
    if (!ok) return false;
    return any || no_such(only, err);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    bool growth = args_flag(args, "growth");
    const char *history = args_text(args, "history");
    if (growth && (args_word(args, 0) || history))
        return err_set(err, "bench: --growth measures series of its own, which have no history: leave out NAME and --history"), err_usage(err);
    if (!blas_check(err) || (history && !bench_history_check(history, err))) return false;
    struct bench me = {.session = session, .args = args, .sink = sink, .pool = pool_new(session->threads < 64 ? session->threads : 64)};
    struct table *empty = shape(&me, growth);
    sink_table(sink, empty);
    table_free(empty);
    bool ok = growth ? bench_growth(&me, err) : bench_rows(&me, args_word(args, 0), err);
    pool_free(me.pool);
    return ok;
}

const struct command command_bench = {
    .name = "bench",
    .words = "[NAME]",
    .least = 0,
    .most = 1,
    .help = "time of training, evaluation, sweeps and the interface against the machine's own matrix products",
    .more = "ratio = limit / ours: 1 would be nothing but matrix products; of the rows named overhead the limit is the same work with the plain "
            "loop. low and high are the ratio's extremes over the rounds, or those of the ms where there is no limit. peak_mb is the most memory "
            "meanwhile, the limit's included (so far, where the system cannot say it of one row). was is the median ratio, or ms, of the last "
            "five in the history.",
    .options = options,
    .example = "bench train-d64 --rounds 1",
    .run = run,
};
