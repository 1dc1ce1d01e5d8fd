/* pause: asks the process that trains in a folder to save and end; --resume continues it, bit for bit. */
#include "doing/command.h"
#include "doing/runs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool has_ended(const char *folder)
{
    struct run_state state;
    runs_look(&state, folder);
    bool ended = !state.training;
    runs_release(&state);
    return ended;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    enum { LOOKS = 200, MS = 50 };
    const char *folder = args_word(args, 0);
    struct run_state state;
    if (!command_says_text(self, session, err)) return false;
    runs_look(&state, folder);
    long pid = state.pid;
    bool training = state.training;
    runs_release(&state);
    if (!training) return err_set(err, "%s: nothing is training there", text_show(folder));
    if (!pid) return err_set(err, "%s: the process that trains there does not say which it is: Ctrl-C stops it where it runs", text_show(folder));
    if (pid == (long)getpid()) return err_set(err, "%s: it trains in this very program: Ctrl-C or x stops it", text_show(folder));
    if (kill((pid_t)pid, SIGINT)) return err_set(err, "%s: process %ld: %s", text_show(folder), pid, strerror(errno));
    for (int i = 0; i < LOOKS && !session_stopped(session); i++) { /* until it has saved */
        if (has_ended(folder)) return sink_say(sink, "%s: saved and paused", text_show(folder)), true;
        nanosleep(&(struct timespec){.tv_nsec = MS * 1000000L}, NULL);
    }
    sink_note(sink, "%s: process %ld was asked to save and end; it has not yet", text_show(folder), pid);
    return true;
}

const struct command command_pause = {
    .name = "pause", .words = "RUN", .least = 1, .most = 1, .run = run,
    .help = "stops the training in a run folder once it has saved; train --resume continues it",
    .example = "pause runs/vanilla",
};
