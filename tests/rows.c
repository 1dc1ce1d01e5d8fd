/* Every list of the program: each row says what it is and brings an example, and the examples work. */
#include "doing/command.h"
#include "doing/intervention.h"
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

static void run_line(struct session *session, const char *line)
{
    struct collector collector;
    struct err err = {0};
    collector_init(&collector);
    if (!command_line(session, line, &collector.sink, &err)) fail_msg("%s: %s", line, err.text);
    if (!collector.table_count && !collector.said.size) fail_msg("%s: shows nothing", line);
    for (size_t t = 0; t < collector.table_count; t++)
        if (!collector.tables[t]->row_count && strcmp(line, "runs")) fail_msg("%s: its table %s is empty", line, collector.tables[t]->name);
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

/* The benchmark's kinds of work, once each. */
static void every_kind_of_work_can_be_timed(void **state)
{
    (void)state;
    static const char *const lines[] = {"bench train-d64-discoloop --rounds 1", "bench sweep-d256-discoloop --rounds 1", "bench eval --rounds 1",
                                        "bench figure --rounds 1", "bench load --rounds 1"};
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
        if (!args_parse_pairs(&args, interventions[i]->options, interventions[i]->example, &err)) fail_msg("%s: %s", interventions[i]->name, err.text);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_bring_examples_that_run),
        cmocka_unit_test(every_kind_of_work_can_be_timed),
        cmocka_unit_test(interventions_bring_options_that_parse),
        cmocka_unit_test(families_and_generators_say_what_they_are),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
