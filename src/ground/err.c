#include "ground/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct err *err, size_t at, const char *format, va_list args)
{
    if (at + 1 < sizeof err->text) vsnprintf(err->text + at, sizeof err->text - at, format, args);
}

bool err_set(struct err *err, const char *format, ...)
{
    if (!err) return false;
    va_list args;
    va_start(args, format);
    put(err, 0, format, args);
    va_end(args);
    err->stopped = err->usage = false;
    return false;
}

bool err_in(struct err *err, const char *format, ...)
{
    if (!err) return false;
    char rest[sizeof err->text];
    memcpy(rest, err->text, sizeof rest);
    va_list args;
    va_start(args, format);
    put(err, 0, format, args);
    va_end(args);
    return err_add(err, ": %s", rest);
}

bool err_add(struct err *err, const char *format, ...)
{
    if (!err) return false;
    va_list args;
    va_start(args, format);
    put(err, strlen(err->text), format, args);
    va_end(args);
    return false;
}

bool err_usage(struct err *err)
{
    if (err) err->usage = true;
    return false;
}

bool err_stop(struct err *err, const char *format, ...)
{
    if (!err) return false;
    va_list args;
    va_start(args, format);
    put(err, 0, format, args);
    va_end(args);
    err->stopped = true, err->usage = false;
    return false;
}
