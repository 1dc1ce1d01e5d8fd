/* session: the screen, as a saved session left it. */
#include "tui.h"

#include "doing/command.h"

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self, (void)sink;
    return tui_open_saved(session, args_word(args, 0), err);
}

const struct command command_session = {
    .name = "session",
    .words = "FILE",
    .least = 1,
    .most = 1,
    .run = run,
    .help = "opens the screen as a saved session left it",
    .more =
        "S in the screen, or :save FILE, writes such a file: lines 'set NAME VALUE' with the model, the view, the question and the settings of every "
        "view.",
    .example = "session loopscope.session",
};
