#include "edit.h"

#include "registry.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_name(const void *unused, size_t i)
{
    (void)unused;
    return interventions[i] ? interventions[i]->name : NULL;
}

static const struct intervention *find_kind(const char *name, struct err *err)
{
    for (size_t i = 0; interventions[i]; i++)
        if (!strcmp(interventions[i]->name, name)) return interventions[i];
    const char *near = text_nearest(name, kind_name, NULL);
    err_set(err, "--do %s: there is no such intervention", text_show(name));
    if (near) err_add(err, ": did you mean %s?", near);
    return NULL;
}

static bool parse_site(const char *site, const struct model *model, int *boundary, struct err *err)
{
    long k;
    if (model_by_token(model)) {
        if (site[0] != 's' || site[1] != '.' || !parse_int(site + 2, &k) || k < 0 || k > 1 << 24)
            return err_set(err, "--do ...@%s: an intervention edits a boundary state: s.0, s.1 ... (this model hands a state from token to token)",
                           text_show(site));
        *boundary = (int)k;
        return true;
    }
    if (site[0] != 'h' || site[1] != '.' || !parse_int(site + 2, &k) || k < 0 || k > 4096) /* how many loops a run has is not known here */
        return err_set(err, "--do ...@%s: an intervention edits a boundary state: h.0 ... h.%d (this model has %d loops)", text_show(site),
                       model->loops, model->loops);
    *boundary = (int)k;
    return true;
}

bool edit_parse(struct edit *edit, const char *text, const struct model *model, struct err *err)
{
    *edit = (struct edit){0};
    char *copy = mem_text(text), *site = strchr(copy, '@'), *pairs = strchr(copy, ':');
    bool ok = site && (!pairs || site < pairs), alien = false; /* the line may be right and the model the wrong one */
    if (!ok) err_set(err, "--do %s: the form is KIND@SITE:OPTIONS, for example mix@h.1:position=1,alpha=0.5", text_show(text));
    if (ok) {
        *site++ = 0;
        if (pairs) *pairs++ = 0;
        edit->kind = find_kind(copy, err);
        edit->by_token = model_by_token(model);
        if (edit->kind && edit->kind->decodes && model->table->cols != model->width) {
            err_set(err, "--do %s: states of this model have %d dimensions, embeddings %d: none can be mixed in", edit->kind->name, model->width,
                    model->table->cols);
            edit->kind = NULL;
            alien = true;
        }
        ok = edit->kind && parse_site(site, model, &edit->boundary, err);
        if (ok && !args_parse_pairs(&edit->args, edit->kind->options, pairs, err)) ok = err_in(err, "--do %s", edit->kind->name);
    }
    mem_free(copy);
    if (!ok && !alien) err_usage(err);
    edit->text = ok ? mem_text(text) : NULL;
    return ok;
}

/* The parts of a text around what may name several: "mix@h." 1-3 ":alpha=1,position=" 0+2 ",norm=rms". No range: last is -1; no list: count 0. */
struct several {
    const char *range, *behind, *list, *rest; /* behind the range; behind the list */
    long first, last;
};

static struct several several_of(const char *text)
{
    struct several s = {.last = -1};
    const char *at = strchr(text, '@'), *dot = at ? strchr(at, '.') : NULL, *pairs = strchr(text, ':');
    char *end, *last;
    s.range = dot && (!pairs || dot < pairs) ? dot + 1 : text + strlen(text);
    s.first = strtol(s.range, &end, 10);
    s.behind = end;
    if (end > s.range && *end == '-') s.last = strtol(end + 1, &last, 10), s.behind = last;
    for (const char *p = pairs; p && *p && !s.list; p += strcspn(p, ",")) {
        p++; /* behind the colon or a comma */
        if (text_starts(p, "position=")) s.list = p + strlen("position=");
    }
    if (!s.list) s.list = text + strlen(text);
    s.rest = s.list + strcspn(s.list, ",");
    return s;
}

int edit_expand(const char *text, char **texts, int most, struct err *err)
{
    struct several s = several_of(text);
    int count = 0;
    bool range = s.last >= 0;
    if (range && (s.last < s.first || s.last - s.first > 4096))
        return err_set(err, "--do %s: a range is FIRST-LAST, h.1-3", text_show(text)), err_usage(err), 0;
    for (long k = s.first; k <= (range ? s.last : s.first); k++)
        for (const char *p = s.list;; p += strcspn(p, "+,") + 1) {
            struct text one = {0};
            size_t size = strcspn(p, "+,");
            if (count == most) {
                while (count) mem_free(texts[--count]);
                return err_set(err, "--do %s: at most %d edits at once", text_show(text), most), err_usage(err), 0;
            }
            text_add_bytes(&one, text, (size_t)(s.range - text));
            if (range) text_add(&one, "%ld", k);
            text_add_bytes(&one, range ? s.behind : s.range, (size_t)(s.list - (range ? s.behind : s.range)));
            text_add_bytes(&one, p, size);
            text_add(&one, "%s", s.rest);
            texts[count++] = one.data;
            if (p[size] != '+') break;
        }
    return count;
}

void edit_clear(struct edit *edit)
{
    args_clear(&edit->args);
    mem_free(edit->text);
    *edit = (struct edit){0};
}

/* An option of one edit. A boundary or position is said once: those that were made of a range or a list keep theirs. */
static bool set_one(struct edit *edits, int count, int i, const char *option, const char *value, int loops, struct err *err)
{
    long k;
    bool place = !strcmp(option, "boundary") || !strcmp(option, "position");
    bool several = (i > 0 && edits[i - 1].group == edits[i].group) || (i + 1 < count && edits[i + 1].group == edits[i].group);
    if (place && several) return err_set(err, "%s: the edit is at several places: give --do one boundary and one position", option);
    if (strcmp(option, "boundary") != 0) return args_set(&edits[i].args, option, value, err);
    if (!parse_int(value, &k) || k < 0 || k > loops) return err_set(err, "boundary: %s is outside 0 to %d", value, loops);
    edits[i].boundary = (int)k;
    return true;
}

bool edit_set(struct edit *edits, int count, const char *name, const char *value, int loops, struct err *err)
{
    int only = isdigit((unsigned char)*name) && strchr(name, '.') ? atoi(name) : 0, group = only ? only - 1 : -1;
    const char *option = only ? strchr(name, '.') + 1 : name;
    bool found = false;
    if (count && only > edits[count - 1].group + 1) return err_set(err, "there are only %d edits", edits[count - 1].group + 1);
    for (int i = 0; i < count; i++) {
        bool has = !strcmp(option, "boundary") || option_find(edits[i].kind->options, option);
        if (!has || (group >= 0 && edits[i].group != group)) continue;
        group = edits[i].group, found = true;
        if (!set_one(edits, count, i, option, value, loops, err)) return false;
    }
    return found || args_set(&edits[0].args, option, value, err); /* says what is near */
}

static int position_in(const struct args *args, const struct question *question)
{
    const char *where = args_text(args, "position");
    long p;
    if (!strcmp(where, "answer")) return question->answer_position;
    if (!strcmp(where, "bridge")) return question->bridge_count ? question->bridges[0].position : -1;
    if (!parse_int(where, &p)) return -1;
    if (p < 0) p += question->length;
    return p >= 0 && p < question->length ? (int)p : -1;
}

int edit_place(const struct edit *edit, const struct question *question)
{
    int before = edit->boundary ? edit->boundary - 1 : 0;
    if (!edit->by_token) return position_in(&edit->args, question);
    return before < question->length ? before : -1;
}

bool edit_check(const struct edit *edit, const struct question *questions, size_t count, struct err *err)
{
    const char *where = args_text(&edit->args, "position");
    long p;
    if (strcmp(where, "answer") && strcmp(where, "bridge") && !parse_int(where, &p))
        return err_set(err, "--do %s: position: '%s' is no whole number, \"bridge\" or \"answer\"", edit->kind->name, text_show(where)),
               err_usage(err);
    for (size_t i = 0; i < count; i++)
        if (edit_place(edit, &questions[i]) >= 0) return true;
    if (edit->by_token) return err_set(err, "--do %s@s.%d: no question of this split has so many tokens", edit->kind->name, edit->boundary);
    return err_set(err, "--do %s: no question of this split has a position %s", edit->kind->name, text_show(where));
}

void edit_count_add(struct edit_count *total, const struct edit_count *more)
{
    total->fired += more->fired;
    total->skipped += more->skipped;
    if (more->moved > total->moved) total->moved = more->moved;
}

void edit_rows(const struct edit *edit, struct run *run, int count, const struct question *const *questions, const size_t *number,
               const int *positions, float *rows, struct decoded *decoded, struct edit_count *total)
{
    size_t d = (size_t)run->model->width;
    float *original = arena_new(run->tape->arena, sizeof(float) * d * (size_t)count);
    memcpy(original, rows, sizeof(float) * d * (size_t)count);
    struct operation op = {.args = &edit->args, .run = run, .count = count, .questions = questions, .number = number,
                           .positions = positions, .state = rows, .original = original, .decoded = decoded};
    edit->kind->apply(&op);
    total->fired += op.fired;
    total->skipped += op.skipped;
    for (size_t i = 0; i < d * (size_t)count; i++) {
        double change = fabs((double)rows[i] - (double)original[i]);
        if (isnan(change)) change = memcmp(&rows[i], &original[i], sizeof rows[i]) ? INFINITY : 0; /* NaN written is a change, NaN left is none */
        if (change > total->moved) total->moved = change;
    }
}

static void fire(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct edit_handler *me = (struct edit_handler *)base;
    struct arena *arena = run->tape->arena;
    size_t n = (size_t)run->batch->rows, d = (size_t)value->cols;
    const struct question **questions = arena_new(arena, sizeof *questions * n);
    size_t *number = arena_new(arena, sizeof *number * n);
    int *positions = arena_new(arena, sizeof *positions * n), *rows = arena_new(arena, sizeof *rows * n), count = 0;
    (void)site;
    for (int q = 0; q < run->batch->rows; q++) {
        int position = edit_place(me->edit, &me->questions[q]);
        int row = position < 0 ? -1 : value->places->index[run->batch->start[q] + position];
        if (row < 0) {
            me->total.skipped++;
            continue;
        }
        questions[count] = &me->questions[q], number[count] = me->first + (size_t)q;
        positions[count] = position, rows[count++] = row;
    }
    struct tensor *state = run_rows(run, value, rows, count);
    bool decodes = me->edit->kind->decodes && me->edit->kind->decodes(&me->edit->args);
    struct tensor *logits = decodes && count ? run_decode(run, state, me->edit->boundary) : NULL;
    struct decoded decoded = {logits ? logits->data : NULL, NULL};
    if (count) edit_rows(me->edit, run, count, questions, number, positions, state->data, decodes ? &decoded : NULL, &me->total);
    for (int i = 0; i < count; i++) memcpy(value->data + (size_t)rows[i] * d, state->data + (size_t)i * d, d * sizeof(float));
}

void edit_attach(struct edit_handler *me, const struct edit *edit, struct run *run, const struct question *questions, size_t first)
{
    *me = (struct edit_handler){.edit = edit, .questions = questions, .first = first};
    snprintf(me->pattern, sizeof me->pattern, edit->by_token ? "s.%d" : "h.%d", edit->boundary);
    me->handler.pattern = me->pattern;
    me->handler.fire = fire;
    run_attach(run, &me->handler);
}
