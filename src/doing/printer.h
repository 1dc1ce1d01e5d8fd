/* A sink for people and pipes: the command's result on stdout, everything else on stderr.
 *
 *     struct printer printer;
 *     printer_init(&printer, PRINT_JSON, quiet, session);
 *     bool ok = command_words(session, count, words, &printer.sink, err);
 *     printer_end(&printer, ok);                    (the last table; a table of a failed command only if it has rows)
 *
 * PRINT_PEOPLE: aligned tables and what the command says. PRINT_TSV and PRINT_JSON: tables alone, one JSON object a line; what the command says
 * goes to stderr.
 * Notes are "warning: ..." on stderr. Progress is one line, rewritten in place, and only when stderr is a terminal; without escape sequences.
 */
#ifndef DOING_PRINTER_H
#define DOING_PRINTER_H

#include "doing/session.h"
#include "results/sink.h"

enum print_form { PRINT_PEOPLE, PRINT_TSV, PRINT_JSON };

struct printer {
    struct sink sink; /* first, so that a pointer to it is a pointer to the printer */
    enum print_form form;
    bool quiet;             /* no progress, no notes */
    bool live;              /* stderr is a terminal and progress may be shown */
    int shown;              /* columns of the progress line that stand on the terminal now */
    double last;            /* when it was written, in seconds */
    struct session *session;
    struct table *table;    /* the open one */
    size_t printed;         /* tables so far */
    struct text later;      /* what was said while a table was open */
};

void printer_init(struct printer *printer, enum print_form form, bool quiet, struct session *session);
void printer_end(struct printer *printer, bool ok);

#endif
