/* view: any view of the screen as text, for pipes, pages and screenshots. */
#include "tui.h"

#include "doing/command.h"

static const struct option options[] = {
    {"rows", OPTION_INT, "24", .low = 1, .high = 1000, .help = "height of the page"},
    {"cols", OPTION_INT, "80", .low = 1, .high = 1000, .help = "width of the page"},
    {"press", OPTION_TEXT, NULL, .help = "keys to press first: letters, or <Down>, <Right>, <Enter>, <Tab> ...", .placeholder = "KEYS"},
    {"plain", OPTION_FLAG, NULL, .help = "as text; there is no other form"},
    {0},
};

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    struct page page = {.view = args_word(args, 0), .model = args_word(args, 1), .press = args_text(args, "press"),
                        .rows = (int)args_int(args, "rows"), .cols = (int)args_int(args, "cols")};
    struct text out = {0};
    bool good = view_plain(session, &page, &out, err);
    if (out.size) {
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
