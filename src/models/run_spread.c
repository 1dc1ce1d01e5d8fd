#include "models/run.h"

#include <assert.h>
#include <string.h>

/* One kept tensor, its rows copied to all places that share them. */
struct spread {
    struct arena *arena;
    const struct batch *shared, *flat;
    const struct places *from, *to; /* of the last tensor: mostly those of the next */
    struct pair { const struct tensor *from; struct tensor *to; } *done; /* h.k can be x.k+1 and a block's input: copied once */
    size_t count;
};

static const struct places *spread_places(struct spread *me, const struct places *from)
{
    if (me->to && me->from == from) return me->to;
    int *at = arena_new(me->arena, sizeof *at * (size_t)(me->flat->size + 1)), n = 0;
    for (int i = 0; i < me->flat->size; i++)
        if (!from || from->index[me->shared->path[i]] >= 0) at[n++] = i;
    me->from = from;
    return me->to = places_new(me->arena, me->flat, n, at);
}

static struct tensor *spread(struct spread *me, const struct tensor *t)
{
    if (!t) return NULL;
    for (size_t i = 0; i < me->count; i++)
        if (me->done[i].from == t) return me->done[i].to;
    struct tape tape = {.arena = me->arena};
    const struct places *places = spread_places(me, t->places);
    struct tensor *y = tape_tensor(&tape, places->count, t->cols);
    size_t d = (size_t)t->cols;
    for (int i = 0; i < places->count; i++) {
        int shared = me->shared->path[places->at[i]], row = t->places ? t->places->index[shared] : shared;
        memcpy(y->data + (size_t)i * d, t->data + (size_t)row * d, d * sizeof(float));
    }
    y->places = places;
    me->done[me->count++] = (struct pair){t, y};
    return y;
}

static struct rope rope_copy(struct arena *arena, const struct rope *rope, int positions)
{
    size_t n = (size_t)positions * (size_t)rope->half;
    float *both = arena_new(arena, 2 * sizeof *both * (n + 1));
    if (n) memcpy(both, rope->cos, sizeof *both * n), memcpy(both + n, rope->sin, sizeof *both * n);
    return (struct rope){rope->half, both, both + n, rope->pairs};
}

void run_spread(struct run *run, const struct run *from, struct tape *tape, const struct batch *flat)
{
    struct arena *arena = tape->arena;
    const struct model *model = from->model;
    size_t states = (size_t)run_boundaries(from) + 1, inputs = (size_t)from->loops + 1;
    size_t stages = (size_t)model->prelude + (size_t)from->loops * (size_t)model->blocks + (size_t)model->coda;
    struct spread me = {.arena = arena, .shared = from->batch, .flat = flat};
    me.done = mem_new(sizeof *me.done * (states + inputs + 4 * stages + 1));
    assert(from->keep && !model_by_token(model) && flat->size == from->batch->start[from->batch->rows]);
    *run = *from;
    run->tape = tape, run->batch = flat, run->all = places_all(arena, flat), run->logits = NULL, run->last_slot = NULL;
    run->wanted = from->wanted ? spread_places(&me, from->wanted) : NULL;
    run->rope = rope_copy(arena, &from->rope, flat->longest);
    run_make_room(run);
    for (size_t k = 0; k < states; k++) run->states[k] = spread(&me, from->states[k]);
    for (size_t k = 0; k < inputs; k++) run->inputs[k] = spread(&me, from->inputs[k]);
    for (size_t i = 0; i < stages; i++) {
        const struct slot *slot = &from->slots[i];
        run->slots[i] = (struct slot){spread(&me, slot->input), spread(&me, slot->q), spread(&me, slot->k), spread(&me, slot->v)};
    }
    run->encoded = spread(&me, from->encoded);
    mem_free(me.done);
}
