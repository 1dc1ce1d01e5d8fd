#include "results/sink.h"

#include "ground/mem.h"

#include <stdarg.h>
#include <stdio.h>

void sink_table(struct sink *sink, const struct table *shape)
{
    if (sink && sink->table) sink->table(sink, shape);
}

void sink_row(struct sink *sink, const struct cell *cells)
{
    if (sink && sink->row) sink->row(sink, cells);
}

bool sink_progress(struct sink *sink, const struct progress *progress)
{
    return !sink || !sink->progress || sink->progress(sink, progress);
}

static void send(struct sink *sink, void (*member)(struct sink *, const char *), const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *line = mem_new((size_t)(size > 0 ? size : 0) + 1);
    if (size > 0) vsnprintf(line, (size_t)size + 1, format, args);
    member(sink, line);
    mem_free(line);
}

void sink_note(struct sink *sink, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (sink && sink->note) send(sink, sink->note, format, args);
    va_end(args);
}

void sink_say(struct sink *sink, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (sink && sink->say) send(sink, sink->say, format, args);
    va_end(args);
}

static void collect_table(struct sink *sink, const struct table *shape)
{
    struct collector *collector = (struct collector *)sink;
    mem_grow(&collector->tables, &collector->table_room, collector->table_count + 1, sizeof *collector->tables);
    collector->tables[collector->table_count++] = table_shape(shape);
}

static void collect_row(struct sink *sink, const struct cell *cells)
{
    struct collector *collector = (struct collector *)sink;
    if (collector->table_count) table_row(collector->tables[collector->table_count - 1], cells);
}

static void collect_note(struct sink *sink, const char *line) { text_add(&((struct collector *)sink)->notes, "%s\n", line); }
static void collect_text(struct sink *sink, const char *text) { text_add(&((struct collector *)sink)->said, "%s\n", text); }

void collector_init(struct collector *collector)
{
    *collector = (struct collector){.sink = {.table = collect_table, .row = collect_row, .note = collect_note, .say = collect_text}};
}

void collector_release(struct collector *collector)
{
    for (size_t i = 0; i < collector->table_count; i++) table_free(collector->tables[i]);
    mem_free(collector->tables);
    text_clear(&collector->notes);
    text_clear(&collector->said);
    collector->table_count = collector->table_room = 0;
    collector->tables = NULL;
}
