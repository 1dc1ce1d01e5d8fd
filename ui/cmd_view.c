/* view: any view of the screen as text, or as a picture: for pipes, pages and the README. */
#include "tui.h"

#include "doing/command.h"
#include "ground/file.h"

static const struct option options[] = {
    {"rows", OPTION_INT, "24", .low = 1, .high = 1000, .help = "height of the page"},
    {"cols", OPTION_INT, "80", .low = 1, .high = 1000, .help = "width of the page"},
    {"press", OPTION_TEXT, NULL, .help = "keys to press first: letters, or <Down>, <Right>, <Enter>, <Tab> ...", .placeholder = "KEYS"},
    {"output", OPTION_TEXT, NULL, .help = "a picture of the screen instead of text", .placeholder = "FILE.svg", .letter = 'o'},
    {"plain", OPTION_FLAG, NULL, .help = "as text: what happens without -o"},
    {0},
};

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *file = args_text(args, "output");
    (void)self;
    struct page page = {.view = args_word(args, 0), .model = args_word(args, 1), .press = args_text(args, "press"),
                        .rows = (int)args_int(args, "rows"), .cols = (int)args_int(args, "cols"), .svg = file != NULL};
    struct text out = {0};
    if (file && !text_ends(file, ".svg")) return err_set(err, "-o %s: the name must end in .svg", text_show(file)), err_usage(err);
    bool good = view_plain(session, &page, &out, err);
    if (file) {
        good = good && file_write(file, out.data, out.size, err);
        if (good) sink_say(sink, "wrote %s", text_show(file));
    } else if (out.size) {
        out.data[out.size - 1] = '\0'; /* say ends the line itself */
        sink_say(sink, "%s", out.data);
    }
    text_clear(&out);
    return good;
}

const struct command command_view = {
    .name = "view", .words = "NAME [MODEL]", .least = 1, .most = 2, .options = options, .run = run,
    .help = "a view of the screen as text: models, loops, splits, grid, intervene, help",
    .more = "The same cells that the screen shows, computed first and then printed. With LC_ALL=C they are ASCII.",
    .example = "view loops models/vanilla",
};
