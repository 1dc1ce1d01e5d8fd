#include "signals.h"

#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static const int told[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { TOLD = sizeof told / sizeof *told, DEADLY = sizeof deadly / sizeof *deadly };

/* Handlers have no argument of ours, so what they reach is global. */
static int pipe_ends[2] = {-1, -1};
static struct sigaction told_before[TOLD], deadly_before[DEADLY];
static char *stack; /* a crash by stack overflow needs another stack for its handler */

static void tell(int signal)
{
    int kept = errno;
    char byte = (char)signal;
    if (write(pipe_ends[1], &byte, 1) < 0) errno = kept; /* the pipe is full of signals already */
    errno = kept;
}

static void die(int signal)
{
    term_give_back();
    raise(signal); /* SA_RESETHAND: the default action, so the exit status shows the signal */
}

int signals_start(void)
{
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) abort();
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    for (int i = 0; i < TOLD; i++) sigaction(told[i], &action, &told_before[i]);
    stack = malloc(65536);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 65536}, NULL);
    action = (struct sigaction){.sa_handler = die, .sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
    for (int i = 0; i < DEADLY; i++) sigaction(deadly[i], &action, &deadly_before[i]);
    return pipe_ends[0];
}

int signals_take(void)
{
    char byte;
    return read(pipe_ends[0], &byte, 1) == 1 ? byte : 0;
}

void signals_end(void)
{
    for (int i = 0; i < TOLD; i++) sigaction(told[i], &told_before[i], NULL);
    for (int i = 0; i < DEADLY; i++) sigaction(deadly[i], &deadly_before[i], NULL);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
    stack = NULL;
    close(pipe_ends[0]), close(pipe_ends[1]);
    pipe_ends[0] = pipe_ends[1] = -1;
}
