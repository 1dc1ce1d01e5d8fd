#include "models/report.h"

#include <stdarg.h>
#include <stdio.h>

enum { NOTES = 10, MESSAGE = 1024 };

static void write_message(const struct report *report, char message[MESSAGE], const char *format, va_list args)
{
    const char *name = report->tensor ? text_show(report->tensor) : "";
    int size = snprintf(message, MESSAGE, "%s: %s%s%s", report->shown, *name ? "tensor " : "", name, *name ? ": " : "");
    if (size > 0 && size < MESSAGE) vsnprintf(message + size, (size_t)(MESSAGE - size), format, args);
}

bool report_wrong(const struct report *report, const char *format, ...)
{
    char message[MESSAGE];
    va_list args;
    va_start(args, format);
    write_message(report, message, format, args);
    va_end(args);
    return err_set(report->err, "%s", message);
}

void report_note(struct report *report, const char *format, ...)
{
    char message[MESSAGE];
    va_list args;
    va_start(args, format);
    write_message(report, message, format, args);
    va_end(args);
    if (++report->notes <= NOTES) sink_note(report->sink, "%s", message);
    else if (report->notes == NOTES + 1) sink_note(report->sink, "%s: and more of this kind", report->shown);
}
