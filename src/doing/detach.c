#include "doing/detach.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the grandchild: only what is safe between fork and exec of a process with threads. */
static void become(const char *program, char *const *words, int log, int answer)
{
    int nothing = open("/dev/null", O_RDWR);
    pid_t pid = getpid();
    sigset_t none; /* a worker of the screen blocks the signals that `pause` sends */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(127);
    if (write(answer, &pid, sizeof pid) != sizeof pid) _exit(127);
    execv(program, words);
    _exit(127);
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

/* Ended within a moment: then something was wrong with what it was asked, and the file says what. */
static bool watch(pid_t pid, const char *log, struct err *err)
{
    enum { LOOKS = 20, MS = 25 };
    for (int i = 0; i < LOOKS; i++) {
        if (kill(pid, 0) && errno == ESRCH) {
            char *text = file_read(log, 1 << 16, NULL, NULL);
            if (!text || !*text) return mem_free(text), true; /* it was quick */
            text[strcspn(text, "\n")] = 0;
            err_set(err, "%s", text_starts(text, "loopscope: ") ? text + strlen("loopscope: ") : text);
            return mem_free(text), false;
        }
        pause_ms(MS);
    }
    return true;
}

bool detach_run(const char *const *words, size_t count, const char *log, long *pid, struct err *err)
{
    char program[4096], **copy = mem_new(sizeof *copy * (count + 2));
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), ends[2] = {-1, -1};
    pid_t child = -1, grandchild = 0;
    copy[0] = (char *)"loopscope";
    for (size_t i = 0; i < count; i++) copy[i + 1] = (char *)words[i];
    if (size > 0) program[size] = 0;
    if (size > 0 && file >= 0 && !pipe2(ends, O_CLOEXEC)) child = fork();
    if (child == 0) { /* the child ends at once, so that the grandchild is nobody's to wait for */
        setsid();
        if (fork() == 0) become(program, copy, file, ends[1]);
        _exit(0);
    }
    int wrong = errno;
    if (child > 0) {
        close(ends[1]);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
        if (read(ends[0], &grandchild, sizeof grandchild) != sizeof grandchild) grandchild = 0;
        close(ends[0]);
    }
    if (file >= 0) close(file);
    mem_free(copy);
    *pid = grandchild;
    if (grandchild <= 0) return err_set(err, "%s: no process could be started: %s", text_show(log), strerror(wrong));
    return watch(grandchild, log, err);
}
