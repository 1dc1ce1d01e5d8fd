#include "search.h"

#include <string.h>

bool search_row(const struct table *table, size_t row, const char *text)
{
    struct text line = {0};
    for (size_t c = 0; c < table->column_count; c++) {
        table_show(table, row, c, &line);
        text_add(&line, " ");
    }
    bool holds = line.data && strstr(line.data, text);
    text_clear(&line);
    return holds;
}

int search_table(const struct table *table, const char *text, int from, int step)
{
    int count = table ? (int)table->row_count : 0;
    for (int i = 1; i <= count; i++) {
        int at = ((from + step * i) % count + count) % count;
        if (search_row(table, (size_t)at, text)) return at;
    }
    return -1;
}

/* Both ways in one walk: the nearest behind `from`, or before it, and the first or last of all for the way around the end. */
int search_lines(const char *lines, const char *text, int from, int step)
{
    int before = -1, behind = -1, first = -1, last = -1;
    for (int n = 0; *lines; n++) {
        size_t size = strcspn(lines, "\n");
        if (memmem(lines, size, text, strlen(text))) {
            if (first < 0) first = n;
            last = n;
            if (n < from) before = n;
            if (n > from && behind < 0) behind = n;
        }
        lines += size + (lines[size] != 0);
    }
    return step > 0 ? (behind >= 0 ? behind : first) : before >= 0 ? before : last;
}
