/* replay: the lines of a log or a script, run again one after the other. */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"

#include <string.h>

static const struct option options[] = {
    {"from", OPTION_INT, "1", .low = 1, .high = 1e9, .help = "the first line to run; earlier ones are passed over", .placeholder = "LINE"},
    {"list", OPTION_FLAG, NULL, .help = "says what would be run, and runs nothing"},
    {0},
};

/* A log that replays itself would never end. */
static bool is_replay(const char *line) { return text_starts(line, "replay") && (line[6] == ' ' || !line[6]); }

static bool run_line(struct session *session, const char *line, bool only_list, struct sink *sink, struct err *err)
{
    sink_say(sink, "$ loopscope %s", line);
    if (only_list) return true;
    if (is_replay(line)) return err_set(err, "a replay cannot be part of another");
    if (session_stopped(session)) return err_stop(err, "stopped");
    return command_line(session, line, sink, err);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    char *path = session_file(session, args_word(args, 0)), *text = file_read(path, 1 << 26, NULL, err), *next = text;
    long from = args_int(args, "from"), lines = 0;
    bool ok = text != NULL;
    if (ok && args_flag(args, "list")) ok = command_says_text(self, session, err);
    for (long number = 1; ok && next && *next; number++) {
        char *line = next, *end = line + strcspn(line, "\n");
        next = *end ? end + 1 : end;
        *end = '\0';
        if (end > line && end[-1] == '\r') end[-1] = '\0';
        line += strspn(line, " \t");
        if (text_starts(line, "$ ")) line += 2; /* as the screen and this command show them */
        if (text_starts(line, "loopscope ")) line += strlen("loopscope ");
        if (!*line || *line == '#' || number < from) continue;
        ok = run_line(session, line, args_flag(args, "list"), sink, err) || err_in(err, "%s:%ld", text_show(path), number);
        lines += ok;
    }
    if (ok && !lines) sink_note(sink, "%s: no line to run", text_show(path));
    mem_free(text);
    mem_free(path);
    return ok;
}

const struct command command_replay = {
    .name = "replay", .words = "LOG", .least = 1, .most = 1, .options = options, .run = run,
    .help = "runs every line of a log or script file again, and stops at the first error",
    .more = "The screen writes a log of each session into $XDG_STATE_HOME/loopscope/log, and :save-log FILE saves one. A line is a command as after "
            "'loopscope'; what begins with # is passed over. The same models and data give the same tables and figures, byte for byte: add --tsv "
            "or --json to compare.",
    .example = "replay --list models/tour.log",
};
