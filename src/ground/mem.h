/* Memory: plain blocks that never fail, and arenas for what dies together.
 *
 *     struct arena arena = {0};
 *     float *x = arena_new(&arena, n * sizeof *x);   (64-byte aligned, not zeroed)
 *     struct arena_mark mark = arena_mark(&arena);
 *     ...
 *     arena_release(&arena, mark);                   (everything since the mark is free again)
 *     arena_clear(&arena);                           (the memory goes back to the system)
 *
 * When the system has no memory left the program ends through mem_failed, which main.c points at a function that gives the
 * terminal back first.
 */
#ifndef GROUND_MEM_H
#define GROUND_MEM_H

#include <stddef.h>

/* Zeroed; size 0 gives a block that can be freed. Frees with mem_free. */
void *mem_new(size_t size);
void *mem_resize(void *block, size_t size); /* what is added is not zeroed */
void mem_free(void *block);
char *mem_text(const char *text);           /* a copy; NULL stays NULL */
void *mem_copy(const void *block, size_t size);

/* Grows *block, an array of elements of `size` bytes, so that it holds at least `want`; *room is its capacity. */
void mem_grow(void *block, size_t *room, size_t want, size_t size);

extern void (*mem_failed)(size_t size);

struct arena_block;
struct arena {
    struct arena_block *first, *current;
    size_t used;      /* in the current block */
    size_t peak;      /* largest number of bytes handed out at once */
    size_t before;    /* bytes in the blocks before the current one */
};
struct arena_mark {
    struct arena_block *current;
    size_t used, before;
};

void *arena_new(struct arena *arena, size_t size);
void *arena_zero(struct arena *arena, size_t size);
struct arena_mark arena_mark(const struct arena *arena);
void arena_release(struct arena *arena, struct arena_mark mark);
void arena_reset(struct arena *arena); /* everything is free again; the memory stays for the next batch */
void arena_clear(struct arena *arena);

#endif
