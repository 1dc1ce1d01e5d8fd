#include "doing/command.h"
#include "figures/cells.h"
#include "figures/export.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <langinfo.h>
#include <string.h>

static const struct option options[] = {
    {"out", OPTION_TEXT, .placeholder = "FILE", .letter = 'o', .many = true,
     .help = "write FILE.png, .svg or .pdf, with FILE.tsv and FILE.txt beside it"},
    {"kind", OPTION_TEXT, .placeholder = "KIND", .help = "curve or scatter; otherwise chosen by the columns"},
    {"x", OPTION_TEXT, .placeholder = "COLUMN", .help = "what runs to the right; otherwise the first axis along which there are few enough lines"},
    {"y", OPTION_TEXT, .placeholder = "COLUMN[,COLUMN]", .help = "what runs upwards; otherwise the values with a band, or the probabilities, or all"},
    {"where", OPTION_TEXT, .placeholder = "COLUMN=VALUE[|VALUE]",
     .help = "only rows with these values; several columns are joined by commas: 'split=test_id|test_ood,position=1'"},
    {"size", OPTION_TEXT, "3.4x2.55", .placeholder = "WxH", .help = "in inches; 3.4 is one column of a page"},
    {"dpi", OPTION_NUMBER, "300", .low = 10, .high = 2400, .help = "pixels in an inch, for PNG"},
    {"debug-layout", OPTION_FLAG, .help = "print the box of every text, in pixels"},
    {0},
};

static bool read_size(const char *text, struct figure_options *wish, struct err *err)
{
    char *copy = mem_text(text), *cross = strchr(copy, 'x');
    if (text_ends(copy, "in")) copy[strlen(copy) - 2] = 0;
    if (cross) *cross = 0;
    bool ok = cross && parse_number(copy, &wish->width) && parse_number(cross + 1, &wish->height) && wish->width > 0 && wish->height > 0;
    mem_free(copy);
    if (!ok) err_set(err, "--size: '%s' is no size: WIDTHxHEIGHT in inches would be right, such as 6.4x4.8", text_show(text)), err_usage(err);
    return ok;
}

/* Without a file the figure is shown in characters. */
static bool show(const struct table *table, const struct figure_options *wish, struct sink *sink, struct err *err)
{
    enum { ROWS = 22, COLS = 78 };
    struct figure *figure = figure_from(table, wish, err);
    if (!figure) return false;
    struct cells *cells = cells_new(ROWS, COLS);
    struct text page = {0};
    cells->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    figure_draw_cells(figure, cells, 0, 0, ROWS, COLS);
    cells_page(cells, &page);
    text_add(&page, "\n%s", figure->caption);
    sink_say(sink, "%s", page.data);
    text_clear(&page);
    cells_free(cells);
    figure_free(figure);
    return true;
}

static bool print_layout(const struct table *table, const struct figure_options *wish, struct sink *sink, struct err *err)
{
    struct table *boxes = figure_layout(table, wish, err);
    if (!boxes) return false;
    struct table *shape = table_shape(boxes);
    sink_table(sink, shape);
    table_free(shape);
    for (size_t i = 0; i < boxes->row_count; i++) sink_row(sink, table_cell(boxes, i, 0));
    table_free(boxes);
    return true;
}

static bool plot(const struct table *table, const struct figure_options *wish, const struct args *args, struct sink *sink, struct err *err)
{
    const char *path;
    for (size_t i = 0; (path = args_at(args, "out", i)); i++) {
        if (!figure_export(table, wish, path, err)) return false;
        sink_say(sink, "wrote %s, with %.*s.tsv and .txt beside it", path, (int)strlen(path) - 4, path);
    }
    if (args_flag(args, "debug-layout")) return print_layout(table, wish, sink, err);
    return args_given(args, "out") || show(table, wish, sink, err);
}

/* What was wished for beyond the table, so that the figure says how it came about. */
static void add_wish(const struct args *args, struct table *table)
{
    static const char *const names[] = {"kind", "x", "y", "where"};
    struct text wish = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!args_given(args, names[i])) continue;
        text_add(&wish, "%s--%s ", wish.size ? " " : "", names[i]);
        text_add_quoted(&wish, args_text(args, names[i]));
    }
    if (wish.size) table_fact(table, "plot", "%s", wish.data);
    text_clear(&wish);
}

static struct table *read_rows(const char *path, const struct args *args, struct err *err)
{
    struct table *all = table_read(path, err), *some = NULL;
    if (!all || !args_given(args, "where")) return all;
    if (!(some = table_where(all, args_text(args, "where"), err))) err_in(err, "--where");
    table_free(all);
    return some;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct figure_options wish = {
        .kind = args_text(args, "kind"), .x = args_text(args, "x"), .y = args_text(args, "y"), .dpi = args_number(args, "dpi"),
    };
    if (!args_flag(args, "debug-layout") && !command_says_text(self, session, err)) return false;
    if (!read_size(args_text(args, "size"), &wish, err)) return false;
    char *path = session_file(session, args_word(args, 0));
    struct table *table = read_rows(path, args, err);
    wish.source = path;
    if (table) add_wish(args, table);
    bool ok = table && plot(table, &wish, args, sink, err);
    table_free(table);
    mem_free(path);
    return ok;
}

const struct command command_plot = {
    .name = "plot",
    .words = "TABLE",
    .least = 1,
    .most = 1,
    .help = "draw a figure of a table",
    .more = "TABLE is a file with what a measuring command printed with --json or --tsv (sweep, eval, bridge, drift, fade, orbit, attention, lens, "
            "questions, compare, log, timeline, bench ...), or other tab-separated values with one line of column names; - reads it from a pipe. "
            "Its columns have roles: an axis runs to the right, a value upwards, low and high are its band, labels and further axes make lines of "
            "their own, at most 14. Without -o the figure is shown in characters. The same table gives the same bytes on every machine; fonts come "
            "with the program.",
    .options = options,
    .example = "plot models/vanilla/log.tsv --y test_id.stage_2,test_ood.stage_2",
    .run = run,
};
