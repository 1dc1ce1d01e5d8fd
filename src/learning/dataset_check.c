#include "learning/dataset_check.h"

#include "ground/mem.h"
#include "ground/text.h"
#include "registry.h"

#include <stdint.h>
#include <string.h>

/* Questions by their tokens: open addressing, at most half full. */
struct lookup {
    const struct question **slots;
    size_t mask;
};

static size_t slot_of(const struct lookup *lookup, const int *tokens, int length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < length; i++) hash = (hash ^ (uint64_t)tokens[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    size_t slot = (size_t)hash & lookup->mask;
    for (const struct question *q; (q = lookup->slots[slot]); slot = (slot + 1) & lookup->mask)
        if (q->length == length && !memcmp(q->tokens, tokens, (size_t)length * sizeof *tokens)) break;
    return slot;
}

static const struct question *lookup_find(const struct lookup *lookup, const int *tokens, int length)
{
    return lookup->slots[slot_of(lookup, tokens, length)];
}

static bool is_training(const struct split *split) { return text_starts(split->name, "train"); }

static struct lookup training_rows(const struct dataset *data)
{
    size_t rows = 0, size = 16;
    for (size_t i = 0; i < data->split_count; i++)
        if (is_training(&data->splits[i])) rows += data->splits[i].count;
    while (size < 2 * rows + 2) size *= 2;
    struct lookup lookup = {mem_new(size * sizeof *lookup.slots), size - 1};
    for (size_t i = 0; i < data->split_count; i++)
        for (size_t j = 0; is_training(&data->splits[i]) && j < data->splits[i].count; j++) {
            const struct question *q = &data->splits[i].questions[j];
            size_t slot = slot_of(&lookup, q->tokens, q->length);
            if (!lookup.slots[slot]) lookup.slots[slot] = q;
        }
    return lookup;
}

static void note_overlap(const struct dataset *data, const struct split *split, const struct lookup *training, struct sink *sink)
{
    size_t count = 0, first = 0;
    for (size_t i = 0; i < split->count; i++)
        if (lookup_find(training, split->questions[i].tokens, split->questions[i].length) && !count++) first = i + 1;
    if (count)
        sink_note(sink, "%s/%s.jsonl: %zu of %zu rows overlap with the training rows (first: row %zu)", text_show(data->folder),
                  text_show(split->name), count,
                  split->count, first);
}

/* What the row itself says stands behind hop i (from 1): a bridge, the answer, or -1. */
static int stated(const struct question *q, int i)
{
    if (i == q->answer_position) return q->answer;
    for (int j = 0; j < q->bridge_count; j++)
        if (q->bridges[j].position == i) return q->bridges[j].token;
    return -1;
}

/* Follows the hops as far as the facts are known; true when one leads elsewhere than the row says. */
static bool contradicts(const struct question *q, const struct lookup *facts)
{
    int at = q->tokens[0];
    for (int i = 1; i < q->length; i++) {
        const struct question *fact = lookup_find(facts, (int[]){at, q->tokens[i]}, 2);
        int says = stated(q, i);
        if (!fact) return false;
        if (says >= 0 && says != fact->answer) return true;
        at = fact->answer;
    }
    return false;
}

static void note_contradictions(const struct dataset *data, const struct split *split, const struct lookup *facts, struct sink *sink)
{
    size_t count = 0, first = 0;
    for (size_t i = 0; i < split->count; i++)
        if (contradicts(&split->questions[i], facts) && !count++) first = i + 1;
    if (count)
        sink_note(sink, "%s/%s.jsonl: %zu of %zu rows contradict the atomic facts, in their bridges or their answer (first: row %zu)",
                  text_show(data->folder), text_show(split->name), count, split->count, first);
}

static const char *generator_name(const void *unused, size_t i)
{
    (void)unused;
    return generators[i] ? generators[i]->name : NULL;
}

/* A kind of one's own is fine, a kind that was meant to be another one is not; only the user can tell. */
static void note_kind(const struct dataset *data, struct sink *sink)
{
    for (size_t i = 0; generators[i]; i++)
        if (!strcmp(generators[i]->name, data->kind)) return;
    const char *near = text_nearest(data->kind, generator_name, NULL);
    sink_note(sink, "%s/dataset.json: kind '%s' is not one that this program makes, so only the form of its rows is checked%s%s%s",
              text_show(data->folder),
              text_show(data->kind), near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

void dataset_check(const struct dataset *data, struct sink *sink)
{
    note_kind(data, sink);
    struct lookup training = training_rows(data);
    for (size_t i = 0; i < data->split_count; i++) {
        if (!is_training(&data->splits[i])) note_overlap(data, &data->splits[i], &training, sink);
        if (!strcmp(data->kind, "khop")) note_contradictions(data, &data->splits[i], &training, sink); /* facts are training rows of two tokens */
    }
    mem_free(training.slots);
}
