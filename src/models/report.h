/* What a reader of weight files says about its file: refusals, and a few of the odd things it passed over. Every line begins with the file's name.
 *
 *     struct report report = {.shown = file->shown, .sink = sink, .err = err};
 *     report.tensor = name;                                                            (what is read now, or NULL)
 *     if (begin > end) return report_wrong(&report, "begin lies behind the end");      ("FILE: tensor NAME: begin lies ...")
 *     report_note(&report, "unknown key %s is ignored", key);                          (ten of them; then one line that there are more)
 */
#ifndef MODELS_REPORT_H
#define MODELS_REPORT_H

#include "ground/err.h"
#include "results/sink.h"

struct report {
    const char *shown; /* the file's name, fit to print; borrowed */
    const char *tensor; /* NULL, or the one that is being read, as the file calls it; borrowed */
    struct sink *sink;
    struct err *err;
    size_t notes;      /* so far */
};

bool report_wrong(const struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3))); /* false */
void report_note(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
