#include "pick.h"

#include "ground/mem.h"

#include <string.h>

static void make_split(struct pick *me, const char *name)
{
    me->one = true;
    me->split = (struct split){.name = mem_text(name), .questions = &me->question, .count = 1};
}

static bool same_tokens(const struct question *a, const struct question *b)
{
    return a->length == b->length && !memcmp(a->tokens, b->tokens, sizeof *a->tokens * (size_t)a->length);
}

/* Typed tokens that are a known question bring its answer and bridge along. */
static const char *recognise(struct pick *me, const struct dataset *data)
{
    for (size_t s = 0; s < data->split_count; s++)
        for (size_t i = 0; i < data->splits[s].count; i++)
            if (same_tokens(&data->splits[s].questions[i], &me->question)) {
                me->question = data->splits[s].questions[i];
                me->number = i;
                return data->splits[s].name;
            }
    return "tokens";
}

bool pick_tokens(struct pick *me, const struct dataset *data, int vocab_size, const char *text, struct err *err)
{
    char **words;
    size_t count;
    *me = (struct pick){0};
    if (!words_split(text, &words, &count, err)) return err_in(err, "--tokens"), err_usage(err);
    me->typed = mem_new(sizeof *me->typed * (count + 1));
    bool ok = count > 0 || (err_set(err, "--tokens: give at least one token"), err_usage(err));
    for (size_t i = 0; ok && i < count; i++) {
        me->typed[i] = dataset_id(data, words[i]);
        if (me->typed[i] < 0 || me->typed[i] >= vocab_size) ok = err_set(err, "--tokens: '%s' is no token of %s", text_show(words[i]), data->name);
    }
    words_free(words, count);
    me->question = (struct question){.length = (int)count, .tokens = me->typed, .answer = -1, .answer_position = (int)count - 1};
    if (ok) make_split(me, recognise(me, data));
    else pick_clear(me);
    return ok;
}

bool pick_row(struct pick *me, const struct dataset *data, const char *text, struct err *err)
{
    const char *colon = strrchr(text, ':');
    long number;
    *me = (struct pick){0};
    if (!colon || colon == text || !parse_int(colon + 1, &number)) {
        err_set(err, "--row %s: the form is SPLIT:NUMBER, for example test_ood:17", text_show(text));
        return err_usage(err);
    }
    struct text name = {0};
    text_add_bytes(&name, text, (size_t)(colon - text));
    const struct split *split = dataset_split(data, name.data);
    text_clear(&name);
    if (!split) {
        err_set(err, "--row %s: %s has no split of this name; it has", text_show(text), data->name);
        for (size_t i = 0; i < data->split_count; i++) err_add(err, "%s %s", i ? "," : "", text_show(data->splits[i].name));
        return false;
    }
    size_t last = split->count - 1;
    if (number < 0 || (size_t)number > last) return err_set(err, "--row %s: the split has the questions 0 to %zu", text_show(text), last);
    me->question = split->questions[number];
    me->number = (size_t)number;
    make_split(me, split->name);
    return true;
}

void pick_clear(struct pick *me)
{
    mem_free(me->split.name);
    mem_free(me->typed);
    *me = (struct pick){0};
}

void pick_facts(const struct pick *me, const struct dataset *data, struct table *table)
{
    const struct question *q = &me->question;
    struct text text = {0};
    for (int i = 0; i < q->length; i++) text_add(&text, "%s%s", i ? " " : "", dataset_token(data, q->tokens[i]));
    table_fact(table, "question", "%s", text.data);
    table_fact(table, "answer", "%s", q->answer < 0 ? "unknown" : dataset_token(data, q->answer));
    table_fact(table, "answer_position", "%d", q->answer_position);
    if (q->bridge_count) {
        table_fact(table, "bridge", "%s", dataset_token(data, q->bridges[0].token));
        table_fact(table, "bridge_position", "%d", q->bridges[0].position);
    }
    text_clear(&text);
}
