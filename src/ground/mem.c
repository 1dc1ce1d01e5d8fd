#include "ground/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20, BLOCK = 2 * HUGE_PAGE };

static void failed(size_t size)
{
    fprintf(stderr, "loopscope: out of memory (%zu bytes more)\n", size);
    abort();
}

void (*mem_failed)(size_t size) = failed;

static void *sure(void *block, size_t size)
{
    if (!block) mem_failed(size);
    return block;
}

void *mem_new(size_t size) { return sure(calloc(1, size ? size : 1), size); }
void *mem_resize(void *block, size_t size) { return sure(realloc(block, size ? size : 1), size); }
void mem_free(void *block) { free(block); }
char *mem_text(const char *text) { return text ? mem_copy(text, strlen(text) + 1) : NULL; }

void *mem_copy(const void *block, size_t size)
{
    void *copy = mem_new(size);
    if (size) memcpy(copy, block, size);
    return copy;
}

void mem_grow(void *block, size_t *room, size_t want, size_t size)
{
    if (want <= *room) return;
    size_t next = *room ? *room : 8;
    while (next < want) next += next / 2 + 8;
    void **array = block;
    *array = mem_resize(*array, next * size);
    *room = next;
}

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(64) unsigned char data[];
};

/* Blocks come from the system and go back to it: through malloc their alignment would leave holes that no later block fits into. */
static struct arena_block *block_new(size_t size)
{
    size = (size + sizeof(struct arena_block) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (size < BLOCK) size = BLOCK;
    char *room = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) mem_failed(size);
    size_t before = (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE) % HUGE_PAGE;
    struct arena_block *block = (void *)(room + before);
    if (before) munmap(room, before);
    munmap(room + before + size, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(block, size, MADV_HUGEPAGE); /* a wish: first touches cost less, and so do walks through long rows */
#endif
    block->size = size - sizeof *block;
    return block;
}

/* Moves to a block that has room for size bytes; blocks that stay behind unused are smaller than what was asked for. */
static void step(struct arena *arena, size_t size)
{
    struct arena_block *next = arena->current ? arena->current->next : arena->first;
    if (!next || next->size < size) {
        struct arena_block *fresh = block_new(size);
        fresh->next = next;
        if (arena->current) arena->current->next = fresh;
        else arena->first = fresh;
        next = fresh;
    }
    arena->before += arena->used;
    arena->current = next;
    arena->used = 0;
}

void *arena_new(struct arena *arena, size_t size)
{
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!arena->current || arena->used + size > arena->current->size) step(arena, size);
    void *data = arena->current->data + arena->used;
    arena->used += size;
    if (arena->before + arena->used > arena->peak) arena->peak = arena->before + arena->used;
    return data;
}

void *arena_zero(struct arena *arena, size_t size)
{
    return memset(arena_new(arena, size), 0, size);
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->current, arena->used, arena->before};
}

void arena_release(struct arena *arena, struct arena_mark mark)
{
    arena->current = mark.current;
    arena->used = mark.used;
    arena->before = mark.before;
}

void arena_reset(struct arena *arena) { arena_release(arena, (struct arena_mark){0}); }

void arena_clear(struct arena *arena)
{
    for (struct arena_block *block = arena->first, *next; block; block = next) {
        next = block->next;
        munmap(block, sizeof *block + block->size);
    }
    *arena = (struct arena){0};
}
