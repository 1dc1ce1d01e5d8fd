#include "axes.h"

#include "replay.h"

#include <string.h>

static bool names_loops(const char *over) { return text_starts(over, "loops="); }

/* Axes that are no option of an edit ask for none. */
static bool needs_edit(const struct args *args)
{
    const char *over = args_at(args, "over", 0);
    bool needs = !over || (option_find(args->options, "controls") && args_flag(args, "controls"));
    for (size_t i = 0; (over = args_at(args, "over", i)); i++) needs = needs || !names_loops(over);
    return needs;
}

bool axes_default_edit(struct study *study, const struct args *args, struct err *err)
{
    const char *norm = args_text(args, "norm"), *position = args_text(args, "position");
    bool brief = norm || position || args_given(args, "boundary");
    if (study->edit_count && !brief) return true;
    if (study->edit_count) return err_set(err, "--norm, --position and --boundary belong into --do when --do is given"), err_usage(err);
    if (!brief && !needs_edit(args)) return true;
    struct text text = {0};
    text_add(&text, "mix@h.%ld:position=%s,norm=%s", args_given(args, "boundary") ? args_int(args, "boundary") : 1, position ? position : "1",
             norm ? norm : "rms");
    bool ok = edit_parse(&study->edits[0], text.data, study->model, err);
    text_clear(&text);
    if (ok) study->edit_count = 1;
    for (int s = 0; ok && s < study->split_count; s++) ok = edit_check(&study->edits[0], study->splits[s].questions, study->splits[s].count, err);
    return ok;
}

static bool parse_again(const struct study *study, int i, struct edit *edit, struct err *err)
{
    bool ok = edit_parse(edit, study->edits[i].text, study->model, err);
    edit->group = study->edits[i].group;
    return ok;
}

static bool is_loops(const struct over *axis) { return !strcmp(axis->name, "loops"); }

static bool check_loops(const struct study *study, const char *value, struct err *err)
{
    long loops;
    if (model_by_token(study->model)) return err_set(err, "the boundary of this model is the token: it has no number of loops");
    return (parse_int(value, &loops) && loops >= 1 && loops <= 64) || err_set(err, "loops: %s is outside 1 to 64", text_show(value));
}

/* A place that no question has makes no cell of a sweep; one that only some splits lack is left to their own rows. */
static bool acts_somewhere(const struct edit *edit, const struct study *study, struct err *err)
{
    bool acts = !study->split_count;
    for (int s = 0; s < study->split_count && !acts; s++) acts = edit_check(edit, study->splits[s].questions, study->splits[s].count, err);
    return acts;
}

bool axes_add(struct axes *me, const struct study *study, const char *text, struct err *err)
{
    struct over axis;
    if (me->count == AXES_MOST) return err_set(err, "--over: at most %d axes", AXES_MOST), err_usage(err);
    if (!over_parse(&axis, text, err)) return err_usage(err);
    bool ok = true, loops = is_loops(&axis);
    for (int a = 0; a < me->count; a++)
        if (!strcmp(me->axis[a].name, axis.name)) ok = err_set(err, "there is an axis of this name already");
    if (!ok) err_in(err, "--over %s", axis.name);
    for (size_t i = 0; ok && i < axis.count; i++) { /* every value has to be one that the option takes */
        if (loops) ok = check_loops(study, axis.values[i], err);
        else {
            struct edit edits[STUDY_EDITS] = {{0}};
            for (int e = 0; ok && e < study->edit_count; e++) ok = parse_again(study, e, &edits[e], err);
            ok = ok && edit_set(edits, study->edit_count, axis.name, axis.values[i], study->boundaries, err);
            for (int e = 0; ok && e < study->edit_count; e++) ok = acts_somewhere(&edits[e], study, err);
            for (int e = 0; e < study->edit_count; e++) edit_clear(&edits[e]);
        }
        if (!ok) err_in(err, "--over %s", axis.name);
    }
    if (!ok) return over_clear(&axis), err_usage(err);
    int at = me->count++;
    if (at && is_loops(&me->axis[at - 1])) me->axis[at] = me->axis[at - 1], at--;
    me->axis[at] = axis;
    me->cells *= axis.count;
    return true;
}

bool axes_read(struct axes *me, const struct study *study, const struct args *args, const char *fallback, struct err *err)
{
    const char *text;
    *me = (struct axes){.cells = 1};
    for (size_t i = 0; (text = args_at(args, "over", i)); i++)
        if (!axes_add(me, study, text, err)) return false;
    return me->count || axes_add(me, study, fallback, err);
}

void axes_clear(struct axes *me)
{
    for (int a = 0; a < me->count; a++) over_clear(&me->axis[a]);
    *me = (struct axes){0};
}

static size_t value_at(const struct axes *me, size_t cell, int axis)
{
    for (int a = 0; a < axis; a++) cell /= me->axis[a].count;
    return cell % me->axis[axis].count;
}

bool axes_edits(const struct axes *me, const struct study *study, size_t cell, struct edit *edits, struct err *err)
{
    int loops = axes_loops(me, study, cell);
    for (int i = 0; i < study->edit_count; i++)
        if (!parse_again(study, i, &edits[i], err)) return false;
    for (int a = 0; a < me->count; a++)
        if (!is_loops(&me->axis[a]) &&
            !edit_set(edits, study->edit_count, me->axis[a].name, me->axis[a].values[value_at(me, cell, a)], study->boundaries, err)) return false;
    for (int i = 0; i < study->edit_count && !model_by_token(study->model); i++)
        if (edits[i].boundary > loops) return err_set(err, "--do ...@h.%d: a run of %d loops has no such boundary", edits[i].boundary, loops);
    return true;
}

int axes_loops(const struct axes *me, const struct study *study, size_t cell)
{
    int last = me->count - 1;
    return last >= 0 && is_loops(&me->axis[last]) ? (int)me->axis[last].numbers[value_at(me, cell, last)] : study->loops;
}

void axes_columns(const struct axes *me, struct table *table)
{
    for (int a = 0; a < me->count; a++) table_column(table, me->axis[a].name, me->axis[a].numeric ? ROLE_AXIS : ROLE_LABEL, NULL);
}

size_t axes_cells(const struct axes *me, size_t cell, struct cell *cells)
{
    for (int a = 0; a < me->count; a++) {
        size_t i = value_at(me, cell, a);
        cells[a] = me->axis[a].numeric ? cell_number(me->axis[a].numbers[i]) : cell_text(me->axis[a].values[i]);
    }
    return (size_t)me->count;
}
