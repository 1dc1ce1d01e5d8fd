#include "doing/printer.h"

#include "ground/clock.h"
#include "ground/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct printer *printer_of(struct sink *sink) { return (struct printer *)sink; }

static void wipe(struct printer *printer)
{
    if (printer->shown) fprintf(stderr, "\r%*s\r", printer->shown, "");
    printer->shown = 0;
}

static void write_out(struct printer *printer, const struct text *text)
{
    if (!text->size) return;
    wipe(printer);
    fwrite(text->data, 1, text->size, stdout);
    if (text->data[text->size - 1] != '\n') fputc('\n', stdout);
}

/* One object a line, so that a reader of several tables can take them line by line. Line ends stand only between values, never inside strings. */
static void join_lines(struct text *text)
{
    size_t size = 0;
    for (size_t i = 0; i < text->size; i++)
        if (text->data[i] != '\n') text->data[size++] = text->data[i];
    text->data[text->size = size] = 0;
}

static void close_table(struct printer *printer)
{
    struct text text = {0};
    if (!printer->table) return;
    if (printer->form == PRINT_JSON) table_json(printer->table, &text), join_lines(&text);
    else if (printer->form == PRINT_TSV) table_tsv(printer->table, &text);
    else table_print(printer->table, &text);
    if (printer->printed++ && printer->form != PRINT_JSON) fputc('\n', stdout);
    write_out(printer, &text);
    write_out(printer, &printer->later);
    text_clear(&text);
    text_clear(&printer->later);
    table_free(printer->table);
    printer->table = NULL;
}

static void print_table(struct sink *sink, const struct table *shape)
{
    struct printer *printer = printer_of(sink);
    close_table(printer);
    printer->table = table_copy(shape);
}

static void print_row(struct sink *sink, const struct cell *cells)
{
    if (printer_of(sink)->table) table_row(printer_of(sink)->table, cells);
}

static void print_note(struct sink *sink, const char *line)
{
    struct printer *printer = printer_of(sink);
    struct text shown = {0};
    if (printer->quiet) return;
    wipe(printer);
    text_add(&shown, "warning: ");
    text_add_shown(&shown, line);
    fprintf(stderr, "%s\n", shown.data);
    text_clear(&shown);
}

static void print_say(struct sink *sink, const char *text)
{
    struct printer *printer = printer_of(sink);
    struct text shown = {0};
    text_add_shown(&shown, text);
    if (shown.size && shown.data[shown.size - 1] != '\n') text_add(&shown, "\n");
    if (printer->form != PRINT_PEOPLE) {
        wipe(printer);
        if (!printer->quiet) fputs(shown.data, stderr);
    } else if (printer->table) {
        text_add(&printer->later, "%s", shown.data);
    } else {
        write_out(printer, &shown);
        fflush(stdout);
    }
    text_clear(&shown);
}

static void add_time(struct text *line, double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s < 100) text_add(line, "%ld s", s);
    else if (s < 6000) text_add(line, "%ld min %02ld s", s / 60, s % 60);
    else text_add(line, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

static void describe(const struct progress *p, struct text *line)
{
    text_add(line, "%s %.0f", p->what, p->done);
    if (p->total > 0) text_add(line, " of %.0f %s  %.0f %%", p->total, p->unit, 100 * p->done / p->total);
    else text_add(line, " %s", p->unit);
    if (p->detail) text_add(line, "  %s", p->detail);
    if (p->rate > 0) text_add(line, p->rate < 10 ? "  %.1f %s/s" : "  %.0f %s/s", p->rate, p->unit);
    if (p->left >= 0 && p->total > 0) text_add(line, "  "), add_time(line, p->left), text_add(line, " left");
}

/* Ten times a second at most, and never wider than the terminal, where a second line could not be rewritten. */
static void show_progress(struct printer *printer, const struct progress *progress)
{
    struct winsize size = {0};
    double time = clock_seconds();
    bool last = progress->total > 0 && progress->done >= progress->total;
    if (!printer->live || (printer->shown && time - printer->last < 0.1 && !last)) return;
    struct text line = {0}, shown = {0};
    describe(progress, &line);
    text_add_shown(&shown, line.data);
    int most = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 79 : size.ws_col - 1;
    int width = shown.size < (size_t)most ? (int)shown.size : most;
    while (width && (shown.data[width] & 0xc0) == 0x80) width--; /* not inside a character */
    fprintf(stderr, "\r%-*.*s", printer->shown, width, shown.data);
    if (printer->shown > width) fprintf(stderr, "\r%.*s", width, shown.data);
    printer->shown = width;
    printer->last = time;
    text_clear(&line);
    text_clear(&shown);
}

static bool print_progress(struct sink *sink, const struct progress *progress)
{
    struct printer *printer = printer_of(sink);
    show_progress(printer, progress);
    return !session_stopped(printer->session);
}

void printer_init(struct printer *printer, enum print_form form, bool quiet, struct session *session)
{
    *printer = (struct printer){
        .sink = {.table = print_table, .row = print_row, .progress = print_progress, .note = print_note, .say = print_say},
        .form = form, .quiet = quiet, .session = session,
        .live = !quiet && isatty(STDERR_FILENO),
    };
}

void printer_end(struct printer *printer, bool ok)
{
    if (printer->table && (ok || printer->table->row_count)) close_table(printer);
    wipe(printer);
    table_free(printer->table);
    printer->table = NULL;
    text_clear(&printer->later);
}
