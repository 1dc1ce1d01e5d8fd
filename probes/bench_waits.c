/* What users wait for: the program itself in a pseudo-terminal, a model that opens, a figure. */
#include "bench_work.h"

#include "figures/export.h"
#include "ground/clock.h"
#include "results/stats.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct terminal { pid_t child; int fd; };

static bool start(struct terminal *t, const char *model)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    t->child = forkpty(&t->fd, NULL, NULL, &size);
    if (t->child) return t->child > 0;
    setenv("TERM", "xterm-256color", 1);
    execl("/proc/self/exe", "loopscope", "tui", model, (char *)NULL);
    _exit(127);
}

/* Seconds until something is written; NaN when nothing comes in time. */
static double wait_output(struct terminal *t, double most)
{
    double began = clock_seconds();
    struct pollfd poller = {t->fd, POLLIN, 0};
    char bytes[65536];
    int ready;
    do ready = poll(&poller, 1, (int)(1e3 * (most - (clock_seconds() - began))) + 1);
    while (ready < 0 && errno == EINTR);
    double took = clock_seconds() - began;
    return ready > 0 && read(t->fd, bytes, sizeof bytes) > 0 ? took : NAN;
}

static void settle(struct terminal *t, double quiet)
{
    while (isfinite(wait_output(t, quiet))) continue;
}

static void stop(struct terminal *t)
{
    if (write(t->fd, "q", 1) < 0) kill(t->child, SIGTERM);
    settle(t, 0.2);
    kill(t->child, SIGTERM);
    waitpid(t->child, NULL, 0);
    close(t->fd);
}

double bench_first_screen(const char *model, struct err *err)
{
    struct terminal t;
    if (!start(&t, model)) return err_set(err, "no pseudo-terminal is to be had"), NAN;
    double took = wait_output(&t, 10);
    settle(&t, 0.3);
    stop(&t);
    return isnan(took) ? err_set(err, "the screen wrote nothing for 10 s"), NAN : took;
}

double bench_key(const char *model, struct err *err)
{
    enum { KEYS = 40 };
    struct text sweep = {0};
    struct terminal t;
    double seconds[KEYS];
    size_t n = 0;
    if (!start(&t, model)) return err_set(err, "no pseudo-terminal is to be had"), NAN;
    settle(&t, 0.5);
    text_add(&sweep, ":sweep %s --over alpha=0:1:0.0005\r", model);
    bool ok = write(t.fd, sweep.data, sweep.size) == (ssize_t)sweep.size;
    text_clear(&sweep);
    settle(&t, 0.1);
    for (int i = 0; ok && i < KEYS; i++) {
        settle(&t, 0.02); /* what the sweep itself wrote */
        ok = write(t.fd, i % 2 ? "2" : "1", 1) == 1;
        double took = wait_output(&t, 1);
        if (isfinite(took)) seconds[n++] = took;
    }
    stop(&t);
    if (n < KEYS / 2) return err_set(err, "only %zu of %d keys were answered", n, KEYS), NAN;
    return median(seconds, n);
}

double bench_load(const char *model, struct err *err)
{
    double began = clock_seconds();
    struct model *opened = model_open(model, NULL, err);
    double took = clock_seconds() - began;
    if (!opened) return NAN;
    model_free(opened);
    return took;
}

double bench_figure(const char *model, struct err *err)
{
    struct table *table = table_new("sweep");
    char path[] = "/tmp/loopscope-bench-XXXXXX.png";
    (void)model;
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "alpha", ROLE_AXIS, NULL);
    table_column(table, "accuracy", ROLE_VALUE, NULL);
    for (int i = 0; i < 42; i++)
        table_row(table, (struct cell[]){cell_text(i % 2 ? "test_ood" : "test_id"), cell_number(i / 2 / 20.0), cell_number(0.5 + 0.4 * sin(i))});
    int fd = mkstemps(path, 4);
    if (fd >= 0) close(fd), unlink(path);
    struct figure_options options = {.dpi = 300};
    double began = clock_seconds();
    bool ok = figure_export(table, &options, path, err);
    double took = clock_seconds() - began;
    for (const char *const *end = (const char *const[]){"png", "tsv", "txt", NULL}; *end; end++) {
        memcpy(strrchr(path, '.') + 1, *end, 3);
        unlink(path);
    }
    table_free(table);
    return ok ? took : NAN;
}
