/* Every list of the program: each row says what it is and brings an example, and the examples work. */
#include "view.h"

#include "doing/command.h"
#include "doing/completion.h"
#include "doing/intervention.h"
#include "doing/manual.h"
#include "figures/figure.h"
#include "ground/mem.h"
#include "learning/dataset.h"
#include "models/model.h"
#include "registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Examples that train, wait for a run that is not here, or are the business of another test. */
static bool runs_elsewhere(const char *name)
{
    static const char *const names[] = {"train", "timeline", "pause", "session", "replicate", "overhead", "convert", "synth", NULL};
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* What a message recommends behind `option`, up to the end of the word. */
static char *recommended(const char *message, const char *option)
{
    const char *at = strstr(message, option);
    struct text word = {0};
    if (!at) return NULL;
    at += strlen(option);
    size_t quoted = *at == '\'';
    text_add_bytes(&word, at + quoted, strcspn(at + quoted, quoted ? "'" : " \n"));
    return word.data;
}

/* A table has a figure, or the refusal says what of it has one, or that there is nothing. */
static void plot(const char *line, const struct table *table)
{
    struct err err = {0};
    struct figure *figure = figure_from(table, NULL, &err);
    if (!figure) {
        char *where = recommended(err.text, "--where "), *x = recommended(err.text, "--x "), *y = recommended(err.text, "--y ");
        struct table *some = where ? table_where(table, where, &err) : table_copy(table);
        if (where || x) figure = some ? figure_from(some, &(struct figure_options){.x = x, .y = y}, &err) : NULL;
        if ((where || x) && !figure) fail_msg("%s: plotted as recommended: %s", line, err.text);
        if (!where && !x && !strstr(err.text, "it needs")) fail_msg("%s: %s", line, err.text);
        table_free(some);
        mem_free(where), mem_free(x), mem_free(y);
    }
    static const char *const curves[] = {"eval", "sweep", "bridge", "drift", "fade", "orbit", "lens", "questions", "compare", "log"};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        if (!strcmp(curves[i], table->name) && !figure) fail_msg("%s: has no figure: %s", line, err.text);
    figure_free(figure);
}

static void run_line(struct session *session, const char *line)
{
    struct collector collector;
    struct err err = {0};
    collector_init(&collector);
    if (!command_line(session, line, &collector.sink, &err)) fail_msg("%s: %s", line, err.text);
    if (!collector.table_count && !collector.said.size) fail_msg("%s: shows nothing", line);
    for (size_t t = 0; t < collector.table_count; t++)
        if (!collector.tables[t]->row_count && strcmp(line, "runs") && strcmp(line, "seeds"))
            fail_msg("%s: its table %s is empty", line, collector.tables[t]->name);
    for (size_t t = 0; t < collector.table_count; t++) plot(line, collector.tables[t]);
    collector_release(&collector);
}

static void commands_bring_examples_that_run(void **state)
{
    (void)state;
    struct session *session = session_new(2);
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        assert_non_null(command->help);
        assert_non_null(command->example);
        if (strncmp(command->example, command->name, strlen(command->name))) fail_msg("%s: its example is '%s'", command->name, command->example);
        if (!runs_elsewhere(command->name)) run_line(session, command->example);
    }
    session_free(session);
}

/* More than the examples: whole splits, at which there are more series than can be told apart. */
static void tables_of_splits_can_be_plotted(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "attention models/vanilla --limit 20", "orbit models/vanilla --limit 20 --loops 4", "lens models/vanilla --row test_ood:0",
        "fade models/vanilla --do mix@h.1:position=1 --limit 20", "timeline models/vanilla", "drift models/vanilla --limit 20",
        "sweep models/vanilla --limit 20 --controls --over alpha=0:1:0.5 --over norm=rms,match,l2",
        "compare models/vanilla models/discoloop --limit 20", "bridge models/vanilla --limit 20 --rows",
        "compare models/vanilla models/discoloop orbit --limit 20",
    };
    struct session *session = session_new(2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) run_line(session, lines[i]);
    session_free(session);
}

/* The benchmark's kinds of work, once each. */
static void every_kind_of_work_can_be_timed(void **state)
{
    (void)state;
    static const char *const lines[] = {"bench train-d64-discoloop --rounds 1", "bench sweep-d256-discoloop --rounds 1", "bench eval --rounds 1",
                                        "bench figure --rounds 1", "bench load --rounds 1", "bench overhead-d128 --rounds 1"};
    struct session *session = session_new(2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) run_line(session, lines[i]);
    session_free(session);
}

static void interventions_bring_options_that_parse(void **state)
{
    (void)state;
    for (size_t i = 0; interventions[i]; i++) {
        struct args args;
        struct err err = {0};
        assert_non_null(interventions[i]->help);
        if (!args_parse_pairs(&args, interventions[i]->options, interventions[i]->example, &err))
            fail_msg("%s: %s", interventions[i]->name, err.text);
        assert_non_null(args_text(&args, "position"));
        args_clear(&args);
    }
}

static void families_and_generators_say_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; families[i]; i++) {
        assert_non_null(families[i]->help);
        assert_non_null(strstr(families[i]->example, families[i]->model_type));
    }
    for (size_t i = 0; generators[i]; i++) {
        assert_non_null(generators[i]->help);
        assert_non_null(generators[i]->example);
    }
}

static void manual_and_completion_name_every_row(void **state)
{
    (void)state;
    struct text page = {0}, bash = {0}, zsh = {0};
    manual_page(&page);
    assert_true(completion_script("bash", &bash) && completion_script("zsh", &zsh));
    assert_false(completion_script("fish", &bash));
    const char *name;
    for (size_t i = 0; (name = command_name(NULL, i)); i++) {
        struct text heading = {0};
        text_add(&heading, "\n.SS loopscope ");
        manual_add(&heading, name);
        assert_non_null(strstr(page.data, heading.data));
        assert_non_null(strstr(bash.data, name));
        assert_non_null(strstr(zsh.data, name));
        text_clear(&heading);
    }
    for (size_t v = 0; views[v]; v++) assert_non_null(strstr(page.data, views[v]->title));
    text_clear(&page), text_clear(&bash), text_clear(&zsh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manual_and_completion_name_every_row),
        cmocka_unit_test(commands_bring_examples_that_run),
        cmocka_unit_test(tables_of_splits_can_be_plotted),
        cmocka_unit_test(every_kind_of_work_can_be_timed),
        cmocka_unit_test(interventions_bring_options_that_parse),
        cmocka_unit_test(families_and_generators_say_what_they_are),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
