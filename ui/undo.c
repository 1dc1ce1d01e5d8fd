#include "undo.h"

#include "ground/mem.h"

#include <string.h>

static void push(struct moment *list, int *count, const char *settings, const char *view)
{
    if (*count == UNDO_MOST) { /* the oldest goes */
        mem_free(list[0].settings);
        memmove(list, list + 1, sizeof *list * (UNDO_MOST - 1));
        --*count;
    }
    list[(*count)++] = (struct moment){mem_text(settings), view};
}

static void empty(struct moment *list, int *count)
{
    while (*count) mem_free(list[--*count].settings);
}

static const struct moment *hold(struct undo *undo, struct moment *list, int *count)
{
    mem_free(undo->held.settings);
    undo->held = list[--*count];
    return &undo->held;
}

void undo_note(struct undo *undo, const char *before, const char *view, bool moved)
{
    bool within = moved && undo->moving && undo->past_count && undo->past[undo->past_count - 1].view == view;
    empty(undo->future, &undo->future_count);
    if (!within) push(undo->past, &undo->past_count, before, view);
    undo->moving = moved;
}

const struct moment *undo_back(struct undo *undo, const char *now, const char *view)
{
    undo->moving = false;
    if (!undo->past_count) return NULL;
    push(undo->future, &undo->future_count, now, view);
    return hold(undo, undo->past, &undo->past_count);
}

const struct moment *undo_on(struct undo *undo, const char *now, const char *view)
{
    undo->moving = false;
    if (!undo->future_count) return NULL;
    push(undo->past, &undo->past_count, now, view);
    return hold(undo, undo->future, &undo->future_count);
}

void undo_clear(struct undo *undo)
{
    empty(undo->past, &undo->past_count);
    empty(undo->future, &undo->future_count);
    mem_free(undo->held.settings);
    undo->held = (struct moment){0};
}
