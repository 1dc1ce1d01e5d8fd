/* The card of a replication, in Markdown: what was measured beside the paper's numbers, and what follows by the row's own rules. */
#include "rep_result.h"

#include "ground/mem.h"

#include <string.h>

/* Accuracies in percent, everything else as it is. */
static void add_number(struct text *out, double x, bool percent)
{
    if (isnan(x)) text_add(out, "–");
    else if (percent) text_add(out, "%.1f %%", 100 * x);
    else text_add(out, fabs(x) >= 100 ? "%.0f" : fabs(x) >= 10 ? "%.1f" : "%.3f", x);
}

static void add_range(struct text *out, double low, double high, bool percent)
{
    text_add(out, " | ");
    if (isnan(low) && isnan(high)) {
        text_add(out, "–");
        return;
    }
    add_number(out, low, percent);
    text_add(out, " to ");
    add_number(out, high, percent);
}

static bool is_kind(const struct result *me, size_t row, const char *kind) { return !strcmp(table_text(me->numbers, row, "kind"), kind); }

static void add_values(const struct result *me, struct text *out)
{
    const struct table *t = me->numbers;
    text_add(out, "| | paper | ours | difference | 95 %% (Wilson) | over seeds | n | seeds |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t r = 0; r < t->row_count; r++) {
        if (!is_kind(me, r, "value")) continue;
        bool percent = !strcmp(table_text(t, r, "column"), "accuracy");
        double paper = table_number(t, r, "paper"), ours = table_number(t, r, "ours"), n = table_number(t, r, "n");
        text_add(out, "| %s | ", table_text(t, r, "what"));
        add_number(out, paper, percent);
        text_add(out, " | ");
        if (isnan(ours)) text_add(out, "not run");
        else add_number(out, ours, percent);
        text_add(out, isnan(ours - paper) ? " | –" : percent ? " | %+.1f points" : " | %+.3f", percent ? 100 * (ours - paper) : ours - paper);
        add_range(out, table_number(t, r, "low"), table_number(t, r, "high"), percent);
        bool several = table_number(t, r, "seeds") > 1;
        add_range(out, several ? table_number(t, r, "least") : NAN, several ? table_number(t, r, "most") : NAN, percent);
        text_add(out, isnan(n) ? " | –" : " | %.0f", n);
        text_add(out, " | %.0f |\n", isnan(ours) ? 0 : table_number(t, r, "seeds"));
    }
    bool any = false;
    for (const struct value *v = me->row->values; v && v->what; v++) {
        if (!v->remark) continue;
        text_add(out, any ? "- " : "\nThe paper's number for\n\n- ");
        text_add(out, "%s: %s.\n", v->what, v->remark);
        any = true;
    }
}

static void add_claims(const struct result *me, struct text *out)
{
    const struct table *t = me->numbers;
    for (size_t r = 0; r < t->row_count; r++) {
        if (!is_kind(me, r, "claim")) continue;
        const char *verdict = table_text(t, r, "verdict");
        bool percent = !strcmp(table_text(t, r, "column"), "accuracy"), measured = strcmp(verdict, "not measured") != 0;
        text_add(out, "- **%s**", verdict);
        if (measured) text_add(out, " (%.0f of %.0f seed%s)", table_number(t, r, "agrees"), table_number(t, r, "seeds"),
                               table_number(t, r, "seeds") == 1 ? "" : "s");
        text_add(out, ": %s", table_text(t, r, "what"));
        if (measured) {
            text_add(out, ". ");
            add_number(out, table_number(t, r, "ours"), percent);
            text_add(out, " against ");
            add_number(out, table_number(t, r, "than"), percent);
            text_add(out, ", all seeds together");
        }
        text_add(out, ".\n");
    }
}

static void add_time(struct text *out, double seconds)
{
    if (isnan(seconds)) text_add(out, "not recorded");
    else if (seconds < 100) text_add(out, "%.0f s", seconds);
    else text_add(out, "%.1f min", seconds / 60);
}

static void add_runs(const struct result *me, struct text *out)
{
    if (!me->run_count) {
        text_add(out, "None: measured live.\n");
        return;
    }
    text_add(out, "| training | seed | state | wall time |\n|---|---|---|---|\n");
    double sum = 0;
    for (size_t i = 0; i < me->run_count; i++) {
        const struct rep_run *run = &me->runs[i];
        text_add(out, "| %s | %ld | ", run->training, run->seed);
        if (run->finished) text_add(out, "%ld steps | ", run->steps);
        else text_add(out, "%s | ", run->other ? "another recipe's run: not used" : run->there ? "not finished: not used" : "not run");
        if (run->finished) add_time(out, run->seconds);
        else text_add(out, "–");
        text_add(out, " |\n");
        if (run->finished && !isnan(run->seconds)) sum += run->seconds;
    }
    text_add(out, "\nTogether ");
    add_time(out, sum);
    text_add(out, ", as it ran, with whatever else the machine was doing. Recipes: models/recipes/%s.\n", me->scale->recipes);
}

/* From one folder to another, both from the working folder: up as often as the first is deep. */
static void add_way(struct text *out, const char *from, const char *to)
{
    if (*to != '/' && strcmp(from, to))
        for (const char *c = from; *c; c++)
            if (*c != '/' && (c[1] == '/' || !c[1])) text_add(out, "../");
    if (strcmp(from, to)) text_add(out, "%s/", to);
}

static void add_picture(const struct result *me, const struct picture *picture, const struct table *table, struct text *out)
{
    const char *models = table_fact_get(table, "model");
    text_add(out, "\n![%s](", picture->caption);
    add_way(out, me->out, me->figures);
    text_add(out, "replicate-%s%s%s.png)\n\n%s", me->row->id, *picture->name ? "-" : "", picture->name, picture->caption);
    if (models) text_add(out, " Drawn from: %s.", models);
    text_add(out, "\n");
}

static void add_pictures(const struct result *me, struct text *out)
{
    bool any = false;
    for (const struct picture *p = me->row->pictures; p && p->name; p++) {
        struct table *table = result_picture(me, p);
        if (table && table->row_count) {
            if (!any) text_add(out, "\n## Figures\n");
            add_picture(me, p, table, out);
            any = true;
        }
        table_free(table);
    }
}

void result_card(const struct result *me, struct text *out)
{
    size_t finished = 0;
    for (size_t i = 0; i < me->run_count; i++) finished += me->runs[i].finished;
    text_add(out, "# %s: %s\n\n%s\n\n", me->row->id, me->row->help, me->row->paper);
    text_add(out, "    loopscope %s\n\n", me->command);
    text_add(out, "Scale %s: %s. ", me->scale->name, me->scale->help);
    if (me->run_count) text_add(out, "%zu of %zu trainings are finished and measured.", finished, me->run_count);
    text_add(out, "\n\n## Numbers\n\n");
    add_values(me, out);
    text_add(out, "\n## What agrees\n\nEach line is decided by its own rule, seed by seed; the setting is the scale's, not the paper's, unless the "
                  "scale is paper.\n\n");
    add_claims(me, out);
    add_pictures(me, out);
    text_add(out, "\n## Trainings\n\n");
    add_runs(me, out);
}
