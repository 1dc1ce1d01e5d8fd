/* The screen in a real pseudo-terminal: it starts, answers keys, is silent when nothing happens, and leaves the terminal as it found it, however it
 * ends. The program is $LOOPSCOPE, or build/loopscope; without it, or without a pseudo-terminal, the tests are skipped. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

/* Where the program keeps what it keeps: not at home. */
static char folder[] = "/tmp/loopscope-terminal-XXXXXX";

struct term {
    int fd;
    pid_t pid;
    struct termios before;
    char *out;
    size_t size;
    int status;
};

static const char *program(void)
{
    const char *path = getenv("LOOPSCOPE");
    return path && *path ? path : "build/loopscope";
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads until nothing has come for `quiet` seconds, at most `most` in all. */
static size_t read_quiet(struct term *t, double quiet, double most)
{
    size_t before = t->size;
    double end = now() + most, last = now();
    while (now() < end && now() - last < quiet) {
        struct pollfd p = {t->fd, POLLIN, 0};
        if (poll(&p, 1, 10) <= 0) continue;
        t->out = realloc(t->out, t->size + 65537);
        ssize_t n = read(t->fd, t->out + t->size, 65536);
        if (n <= 0) break;
        t->size += (size_t)n;
        t->out[t->size] = '\0';
        last = now();
    }
    return t->size - before;
}

static bool shows(const struct term *t, const char *text) { return t->out && strstr(t->out, text); }

static void start_on(struct term *t, const char *type, const char *locale, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    int slave;
    *t = (struct term){0};
    if (access(program(), X_OK) != 0 || openpty(&t->fd, &slave, NULL, NULL, &size) != 0) skip();
    tcgetattr(slave, &t->before);
    t->pid = fork();
    if (t->pid == 0) {
        setenv("TERM", type, 1), setenv("LC_ALL", locale, 1);
        unsetenv("NO_COLOR");
        setenv("XDG_STATE_HOME", folder, 1), setenv("XDG_CONFIG_HOME", folder, 1);
        close(t->fd);
        login_tty(slave);
        execl(program(), program(), "tui", (char *)NULL);
        _exit(127);
    }
    close(slave);
    read_quiet(t, 0.4, 8);
}

static void start(struct term *t) { start_on(t, "xterm-256color", "C.UTF-8", 24, 80); }

static bool ended(struct term *t, double seconds)
{
    for (double end = now() + seconds; now() < end; read_quiet(t, 0.02, 0.05))
        if (waitpid(t->pid, &t->status, WNOHANG) == t->pid) {
            read_quiet(t, 0.05, 0.5);
            t->pid = 0;
            return true;
        }
    return false;
}

static void finish(struct term *t)
{
    if (t->pid) kill(t->pid, SIGKILL), waitpid(t->pid, NULL, 0);
    close(t->fd);
    free(t->out);
}

static const char *last_of(const struct term *t, const char *text)
{
    const char *found = NULL;
    for (const char *at = t->out; (at = strstr(at, text)); at++) found = at;
    return found;
}

static void assert_restored(struct term *t)
{
    struct termios after;
    assert_int_equal(tcgetattr(t->fd, &after), 0);
    assert_int_equal(after.c_lflag, t->before.c_lflag);
    assert_int_equal(after.c_iflag, t->before.c_iflag);
    assert_int_equal(after.c_oflag, t->before.c_oflag);
    assert_non_null(last_of(t, "\033[?1049l"));                              /* the alternate screen is left */
    assert_true(last_of(t, "\033[?1049l") > last_of(t, "\033[?1049h"));
    assert_true(last_of(t, "\033[?25h") > last_of(t, "\033[?25l"));          /* the cursor is seen */
    assert_true(last_of(t, "\033[?1l") > last_of(t, "\033[?1h"));            /* cursor keys are as before */
}

static void test_quit(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    assert_true(shows(&t, "loopscope"));
    assert_int_equal(write(t.fd, "q", 1), 1);
    assert_true(ended(&t, 3));
    assert_true(WIFEXITED(t.status) && WEXITSTATUS(t.status) == 0);
    assert_restored(&t);
    finish(&t);
}

static void test_signals(void **unused)
{
    (void)unused;
    static const int signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct term t;
        start(&t);
        kill(t.pid, signals[i]);
        assert_true(ended(&t, 3));
        /* a sanitizer takes crashes for itself and ends with a code; the terminal is back all the same */
        assert_true((WIFSIGNALED(t.status) && WTERMSIG(t.status) == signals[i]) || (WIFEXITED(t.status) && WEXITSTATUS(t.status) != 0));
        if (WIFSIGNALED(t.status)) assert_restored(&t);
        finish(&t);
    }
}

static void test_stop_and_continue(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    kill(t.pid, SIGTSTP);
    read_quiet(&t, 0.3, 2);
    assert_int_equal(waitpid(t.pid, &t.status, WUNTRACED | WNOHANG), t.pid);
    assert_true(WIFSTOPPED(t.status));
    assert_restored(&t);
    size_t before = t.size;
    kill(t.pid, SIGCONT);
    read_quiet(&t, 0.3, 3);
    assert_non_null(strstr(t.out + before, "loopscope")); /* all of it again */
    assert_int_equal(write(t.fd, "q", 1), 1);
    assert_true(ended(&t, 3));
    assert_restored(&t);
    finish(&t);
}

static void test_idle_is_silent(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    read_quiet(&t, 0.5, 3);
    assert_int_equal(read_quiet(&t, 1.5, 1.5), 0);
    finish(&t);
}

static void test_resize(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    ioctl(t.fd, TIOCSWINSZ, &(struct winsize){.ws_row = 5, .ws_col = 20});
    read_quiet(&t, 0.3, 2);
    assert_true(shows(&t, "need 60x16"));
    size_t before = t.size;
    ioctl(t.fd, TIOCSWINSZ, &(struct winsize){.ws_row = 40, .ws_col = 120});
    read_quiet(&t, 0.3, 2);
    assert_non_null(strstr(t.out + before, "loopscope"));
    finish(&t);
}

static void test_ascii(void **unused)
{
    (void)unused;
    struct term t;
    start_on(&t, "xterm-256color", "C", 24, 80);
    assert_int_equal(write(t.fd, "\t\t\t\t?", 5), 5);
    read_quiet(&t, 0.5, 5);
    for (size_t i = 0; i < t.size; i++) assert_true((unsigned char)t.out[i] < 0x80);
    finish(&t);
}

/* The mouse is asked for and given back; a click on a tab goes there; :set mouse off gives it back at once. */
static void test_mouse(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    assert_non_null(last_of(&t, "1000h"));
    static const char click[] = "\033[<0;11;3M\033[<0;11;3m", wheel[] = "\033[<65;11;9M";
    assert_int_equal(write(t.fd, "1", 1), 1);
    read_quiet(&t, 0.3, 3);
    assert_int_equal(write(t.fd, click, sizeof click - 1), sizeof click - 1);
    assert_int_equal(write(t.fd, wheel, sizeof wheel - 1), sizeof wheel - 1);
    read_quiet(&t, 0.3, 3);
    static const char off[] = ":set mouse off\r";
    assert_int_equal(write(t.fd, off, sizeof off - 1), sizeof off - 1);
    read_quiet(&t, 0.3, 3);
    assert_true(last_of(&t, "1000l") > last_of(&t, "1000h"));
    static const char on[] = ":set mouse on\r";
    assert_int_equal(write(t.fd, on, sizeof on - 1), sizeof on - 1);
    read_quiet(&t, 0.3, 3);
    assert_true(last_of(&t, "1000h") > last_of(&t, "1000l"));
    kill(t.pid, SIGSEGV);
    assert_true(ended(&t, 3));
    if (WIFSIGNALED(t.status)) assert_true(last_of(&t, "1000l") > last_of(&t, "1000h"));
    finish(&t);
}

/* y hands the command line to the terminal's clipboard: "loopscope" is no part of it, base64 begins with that of "sites" or "info" ... */
static void test_copy(void **unused)
{
    (void)unused;
    struct term t;
    start(&t);
    read_quiet(&t, 0.5, 3);
    assert_int_equal(write(t.fd, "y", 1), 1);
    read_quiet(&t, 0.3, 3);
    assert_non_null(last_of(&t, "\033]52;c;"));
    assert_true(shows(&t, "copied: "));
    finish(&t);
}

static void test_no_terminal(void **unused)
{
    (void)unused;
    struct term t;
    start_on(&t, "dumb", "C.UTF-8", 24, 80);
    assert_true(ended(&t, 10));
    assert_true(WIFEXITED(t.status));
    assert_true(shows(&t, "loopscope view"));
    assert_null(memchr(t.out, '\033', t.size));
    finish(&t);
}

static int tear_down(void **unused)
{
    char line[128];
    (void)unused;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

/* Crash handlers are tested with real signals, so nothing here may be inherited from the runner. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quit),           cmocka_unit_test(test_signals), cmocka_unit_test(test_stop_and_continue),
        cmocka_unit_test(test_idle_is_silent), cmocka_unit_test(test_resize),  cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_no_terminal),    cmocka_unit_test(test_mouse),   cmocka_unit_test(test_copy),
    };
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder)) return 1;
    return cmocka_run_group_tests_name("terminal", tests, NULL, tear_down);
}
