/* Options and command lines: what is accepted, what is refused and with which words, and that a line survives being quoted and read again. */
#include "doing/command.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "ground/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

static const struct option options[] = {
    {"alpha", OPTION_NUMBER, "0.5", .low = 0, .high = 1, .help = "weight"},
    {"norm", OPTION_CHOICE, "rms", .choices = "rms|match|l2|none", .help = "length"},
    {"rows", OPTION_INT, NULL, .low = 1, .high = 100, .help = "how many"},
    {"out", OPTION_TEXT, NULL, .letter = 'o', .help = "file"},
    {"do", OPTION_TEXT, NULL, .many = true, .help = "edit"},
    {"fast", OPTION_FLAG, .help = "less exact"},
    {0},
};

static bool parse(struct args *args, const char *line, struct err *err)
{
    char **words;
    size_t count;
    assert_true(words_split(line, &words, &count, err));
    bool ok = args_parse(args, options, count, words, err);
    words_free(words, count);
    return ok;
}

static void accepts(void **state)
{
    (void)state;
    struct args args;
    struct err err = {0};
    assert_true(parse(&args, "models/x --alpha 0.25 --norm=l2 -o 'a b' --do p --do q --fast -3 -- --rows", &err));
    assert_near(args_number(&args, "alpha"), 0.25, 0);
    assert_string_equal(args_text(&args, "norm"), "l2");
    assert_string_equal(args_text(&args, "out"), "a b");
    assert_string_equal(args_at(&args, "do", 0), "p");
    assert_string_equal(args_at(&args, "do", 1), "q");
    assert_null(args_at(&args, "do", 2));
    assert_true(args_flag(&args, "fast"));
    assert_int_equal(args.word_count, 3); /* a number is a word, and so is everything behind -- */
    assert_string_equal(args_word(&args, 1), "-3");
    assert_string_equal(args_word(&args, 2), "--rows");
    args_clear(&args);
    assert_true(parse(&args, "", &err));
    assert_near(args_number(&args, "alpha"), 0.5, 0); /* the default */
    assert_null(args_text(&args, "rows"));
    args_clear(&args);
}

static void refuses(void **state)
{
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        {"--alhpa 1", "did you mean --alpha?"}, {"--alpha 1.5", "outside 0 to 1"}, {"--alpha -0.1", "outside 0 to 1"},
        {"--alpha nan", "not a number"},
        {"--alpha 0,5", "not a number"}, {"--alpha ''", "not a number"}, {"--rows 0", "outside 1 to 100"}, {"--rows 1.0", "not a whole number"},
        {"--rows 1e1", "not a whole number"}, {"--rows 99999999999999999999", "not a whole number"}, {"--norm RMS", "none of rms|match|l2|none"},
        {"--norm r", "none of"}, {"--out", "needs a value"}, {"--fast=1", "takes no value"}, {"-x 3", "unknown option -x"},
        {"--zzzzzzzz 1", "there are --"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct args args;
        struct err err = {0};
        assert_false(parse(&args, cases[i].line, &err));
        if (!strstr(err.text, cases[i].says)) fail_msg("%s: '%s' does not say '%s'", cases[i].line, err.text, cases[i].says);
    }
}

static void pairs(void **state)
{
    (void)state;
    struct args args;
    struct err err = {0};
    assert_true(args_parse_pairs(&args, options, "alpha=1,norm=none,fast", &err));
    assert_near(args_number(&args, "alpha"), 1, 0);
    assert_true(args_flag(&args, "fast"));
    assert_true(args_set(&args, "alpha", "0", &err));
    assert_near(args_number(&args, "alpha"), 0, 0);
    assert_false(args_set(&args, "alpha", "2", &err));
    assert_near(args_number(&args, "alpha"), 0, 0); /* as it was */
    args_clear(&args);
    assert_false(args_parse_pairs(&args, options, "alpha", &err));
    assert_non_null(strstr(err.text, "needs a value"));
    assert_true(args_parse_pairs(&args, options, NULL, &err));
    args_clear(&args);
}

static void quoting(void **state)
{
    (void)state;
    static const char *const words[] = {"plain", "", " ", "a b", "it's", "\"", "\\", "a\\'b", "\t\n", "$HOME", "*", "#", "é", "--x=1", "'", "''",
        ";|&<>"};
    enum { COUNT = sizeof words / sizeof *words };
    struct text line = {0};
    struct err err = {0};
    char **back;
    size_t count;
    for (size_t i = 0; i < COUNT; i++) text_add(&line, i ? " " : ""), text_add_quoted(&line, words[i]);
    assert_true(words_split(line.data, &back, &count, &err));
    assert_int_equal(count, COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_string_equal(back[i], words[i]);
    words_free(back, count);
    text_clear(&line);
    assert_false(words_split("eval 'models", &back, &count, &err));
    assert_non_null(strstr(err.text, "not closed"));
    assert_true(!back && !count);
}

/* A stop is no mistake in the command line, whatever was said before. */
static void marks(void **state)
{
    struct err err = {0};
    (void)state;
    assert_false(err_usage(&err) || err_stop(&err, "stopped at %d", 7));
    assert_true(err.stopped && !err.usage);
    assert_string_equal(err.text, "stopped at 7");
    assert_false(err_set(&err, "broken"));
    assert_false(err.stopped || err.usage);
}

/* ------------------------------------------------------------------ commands */

static bool run_line(const char *line, struct collector *out, struct err *err)
{
    struct session *session = session_new(1);
    collector_init(out);
    bool ok = command_line(session, line, &out->sink, err);
    session_free(session);
    return ok;
}

static void usage_errors(void **state)
{
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        {"dta", "did you mean 'data'?"}, {"", "help lists all"}, {"data", "needs a verb"}, {"data chek x", "did you mean 'check'?"},
        {"data check", "DIR is missing"}, {"data check a b", "one word too many"}, {"data khop --entitys 3", "did you mean --entities?"},
        {"data khop --hops 9", "outside 2 to 4"}, {"data khop", "--out DIR is missing"}, {"help 'x", "not closed"},
        {"help nosuchthing", "unknown command"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collector out;
        struct err err = {0};
        assert_false(run_line(cases[i].line, &out, &err));
        if (!err.usage || !strstr(err.text, cases[i].says))
            fail_msg("%s: usage %d, '%s' does not say '%s'", cases[i].line, err.usage, err.text, cases[i].says);
        collector_release(&out);
    }
}

static void world_errors(void **state)
{
    (void)state;
    struct collector out;
    struct err err = {0};
    assert_false(run_line("data check /nosuch/folder", &out, &err));
    assert_false(err.usage);
    assert_non_null(strstr(err.text, "/nosuch/folder"));
    collector_release(&out);
}

/* Lines wrapped anywhere are the same words. */
static char *words_of(const char *text)
{
    struct text out = {0};
    for (; *text; text++) {
        bool blank = strchr(" \n", *text) != NULL;
        if (!blank || (out.size && out.data[out.size - 1] != ' ')) text_add(&out, "%c", blank ? ' ' : *text);
    }
    return out.data;
}

static int widest_line(const char *text)
{
    int most = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int size = (int)strcspn(line, "\n");
        bool whole = text_starts(line, "  loopscope ") || text_starts(line, "usage: ") || text_starts(line, "{\""); /* to be copied as they are */
        size_t indent = strspn(line, " ");
        whole = whole || strcspn(line + indent, " \n") + indent == (size_t)size; /* one long word */
        if (!whole && size > most) most = size;
    }
    return most;
}

static void every_command_explains_itself(void **state)
{
    (void)state;
    setenv("COLUMNS", "70", 1);
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        struct collector out;
        struct err err = {0};
        struct text line = {0};
        text_add(&line, "%s --help", command->name);
        assert_true(run_line(line.data, &out, &err));
        assert_non_null(strstr(out.said.data, command->name));
        char *words = words_of(out.said.data);
        if (!strstr(words, command->help)) fail_msg("%s: its help is not in %s", command->name, words);
        if (widest_line(out.said.data) > 70) fail_msg("%s: a line of its help is %d columns wide", command->name, widest_line(out.said.data));
        mem_free(words);
        for (const struct option *o = command->options; o && o->name; o++) {
            assert_non_null(strstr(out.said.data, o->name));
            if (o->fallback && o->kind == OPTION_CHOICE) assert_non_null(strstr(o->choices, o->fallback));
        }
        assert_non_null(command->example);
        assert_ptr_equal(command_find(command->name), command); /* no name stands twice */
        text_clear(&line);
        collector_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts), cmocka_unit_test(refuses), cmocka_unit_test(pairs), cmocka_unit_test(quoting), cmocka_unit_test(marks),
        cmocka_unit_test(usage_errors), cmocka_unit_test(world_errors), cmocka_unit_test(every_command_explains_itself),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
