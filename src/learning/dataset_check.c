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

/* What the row itself says stands at a position: a bridge, the answer, or -1. */
static int stated(const struct question *q, int position)
{
    if (position == q->answer_position) return q->answer;
    for (int j = 0; j < q->bridge_count; j++)
        if (q->bridges[j].position == position) return q->bridges[j].token;
    return -1;
}

/* Questions of one hop from the training splits, each as its entity and its relation: what the other rows are held against. */
struct facts {
    struct lookup lookup;
    struct known { struct question question; int tokens[2]; } *all;
};

static struct facts facts_new(const struct generator *generator, const struct dataset *data)
{
    struct facts facts = {0};
    size_t count = 0, room = 0, size = 16;
    struct hops hops;
    for (size_t i = 0; i < data->split_count; i++)
        for (size_t j = 0; is_training(&data->splits[i]) && j < data->splits[i].count; j++) {
            const struct question *q = &data->splits[i].questions[j];
            if (!generator->hops(data, q, &hops) || hops.count != 1) continue;
            mem_grow(&facts.all, &room, count + 1, sizeof *facts.all);
            facts.all[count++] = (struct known){{.length = 2, .answer = q->answer}, {hops.tokens[0], hops.tokens[1]}};
        }
    while (size < 2 * count + 2) size *= 2;
    facts.lookup = (struct lookup){mem_new(size * sizeof *facts.lookup.slots), size - 1};
    for (size_t i = 0; i < count; i++) {
        struct known *fact = &facts.all[i];
        fact->question.tokens = fact->tokens; /* here, when the array moves no more */
        size_t slot = slot_of(&facts.lookup, fact->tokens, 2);
        if (!facts.lookup.slots[slot]) facts.lookup.slots[slot] = &fact->question;
    }
    return facts;
}

static void facts_free(struct facts *facts)
{
    mem_free(facts->lookup.slots);
    mem_free(facts->all);
}

/* Follows the hops as far as the facts are known; true when one leads elsewhere than the row says. */
static bool contradicts(const struct question *q, const struct hops *hops, const struct facts *facts)
{
    int at = hops->tokens[0];
    for (int i = 1; i <= hops->count; i++) {
        const struct question *fact = lookup_find(&facts->lookup, (int[]){at, hops->tokens[i]}, 2);
        int says = stated(q, hops->positions[i]);
        if (!fact) return false;
        if (says >= 0 && says != fact->answer) return true;
        at = fact->answer;
    }
    return false;
}

static void note_contradictions(const struct dataset *data, const struct split *split, const struct generator *generator, const struct facts *facts,
                                struct sink *sink)
{
    size_t count = 0, first = 0;
    struct hops hops;
    for (size_t i = 0; i < split->count; i++)
        if (generator->hops(data, &split->questions[i], &hops) && contradicts(&split->questions[i], &hops, facts) && !count++) first = i + 1;
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
static const struct generator *find_kind(const struct dataset *data, struct sink *sink)
{
    for (size_t i = 0; generators[i]; i++)
        if (!strcmp(generators[i]->name, data->kind)) return generators[i];
    const char *near = text_nearest(data->kind, generator_name, NULL);
    sink_note(sink, "%s/dataset.json: kind '%s' is not one that this program makes, so only the form of its rows is checked%s%s%s",
              text_show(data->folder),
              text_show(data->kind), near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

void dataset_check(const struct dataset *data, struct sink *sink)
{
    const struct generator *kind = find_kind(data, sink);
    struct lookup training = training_rows(data);
    for (size_t i = 0; i < data->split_count; i++)
        if (!is_training(&data->splits[i])) note_overlap(data, &data->splits[i], &training, sink);
    mem_free(training.slots);
    if (!kind || !kind->hops) return;
    struct facts facts = facts_new(kind, data);
    for (size_t i = 0; i < data->split_count; i++) note_contradictions(data, &data->splits[i], kind, &facts, sink);
    facts_free(&facts);
}
