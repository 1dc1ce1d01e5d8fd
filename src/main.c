/* loopscope COMMAND WORDS --options, or the screen. The only file that sees src, probes and ui together, and the only one that ends the program.
 * Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. */
#include "doing/command.h"
#include "doing/printer.h"
#include "doing/share.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "ui/tui.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE, FAILED, USAGE, INTERRUPTED = 130 };

/* The options that every command has, and the words that are left for the command itself. */
struct wish {
    enum print_form form;
    bool quiet, version;
    long threads;
    char **words;
    size_t count;
};

static struct session *interrupted; /* what a signal handler may reach */

static void on_interrupt(int number)
{
    (void)number;
    if (interrupted->stop) _exit(INTERRUPTED); /* asked twice: at once */
    interrupted->stop = true;
}

static void out_of_memory(size_t size)
{
    fprintf(stderr, "loopscope: the system has no memory left (%zu bytes were wanted)\n", size);
    _exit(FAILED);
}

static bool take_threads(struct wish *wish, const char *value, struct err *err)
{
    if (value && parse_int(value, &wish->threads) && wish->threads >= 1 && wish->threads <= 1024) return true;
    return err_set(err, "--threads: '%s' is no number from 1 to 1024", value ? text_show(value) : ""), err_usage(err);
}

/* Takes the shared options out of the words, wherever they stand before a "--". */
static bool take_shared(struct wish *wish, int argc, char **argv, struct err *err)
{
    wish->words = mem_new((size_t)argc * sizeof *wish->words);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--")) {
            while (i < argc) wish->words[wish->count++] = argv[i++];
        } else if (!strcmp(argv[i], "--json")) {
            wish->form = PRINT_JSON;
        } else if (!strcmp(argv[i], "--tsv")) {
            wish->form = PRINT_TSV;
        } else if (!strcmp(argv[i], "--quiet")) {
            wish->quiet = true;
        } else if (!strcmp(argv[i], "--version") && !wish->count) {
            wish->version = true;
        } else if (!strcmp(argv[i], "--threads")) {
            if (!take_threads(wish, argv[++i < argc ? i : argc], err)) return false;
        } else if (text_starts(argv[i], "--threads=")) {
            if (!take_threads(wish, strchr(argv[i], '=') + 1, err)) return false;
        } else {
            wish->words[wish->count++] = argv[i];
        }
    }
    return true;
}

/* A first word that is no command but a model opens the screen on it. */
static bool names_model(const struct session *session, const char *word)
{
    if (command_find(word)) return false;
    if (strchr(word, '/') || file_is_folder(word)) return true;
    char *found = share_find(session->share, "models", word);
    bool yes = found && file_is_folder(found);
    mem_free(found);
    return yes;
}

static bool wants_help(const char *word) { return !strcmp(word, "--help") || !strcmp(word, "-h"); }

static const struct command screen = {
    .name = "tui", .words = "[MODEL]", .most = 1, .help = "opens the screen, on a model or on the list of models",
    .more = "`loopscope` and `loopscope MODEL` do the same.", .example = "tui models/vanilla",
};

static bool opens_screen(const struct session *session, const struct wish *wish)
{
    return !wish->count || !strcmp(wish->words[0], "tui") || (!wants_help(wish->words[0]) && names_model(session, wish->words[0]));
}

static int open_screen(struct session *session, const struct wish *wish, struct sink *sink, struct err *err)
{
    size_t first = wish->count && !strcmp(wish->words[0], "tui");
    struct text usage = {0};
    for (size_t i = first; i < wish->count; i++) {
        if (!wants_help(wish->words[i])) continue;
        command_usage(&screen, &usage);
        sink_say(sink, "%s", usage.data);
        text_clear(&usage);
        return DONE;
    }
    if (wish->count > first + 1) return err_set(err, "'%s' is one word too many: tui [MODEL]", text_show(wish->words[first + 1])), USAGE;
    if (!command_says_text(&screen, session, err)) return USAGE;
    return tui_main(session, wish->count > first ? wish->words[first] : NULL);
}

static int run_command(struct session *session, const struct wish *wish, struct sink *sink, struct err *err)
{
    char *help = "help";
    bool only_help = wants_help(wish->words[0]);
    if (command_words(session, only_help ? 1 : wish->count, only_help ? &help : wish->words, sink, err)) return DONE;
    return err->usage ? USAGE : err->stopped || session_stopped(session) ? INTERRUPTED : FAILED;
}

static void print_error(const struct err *err)
{
    struct text shown = {0};
    text_add(&shown, "loopscope: ");
    text_add_shown(&shown, err->text);
    fprintf(stderr, "%s\n", shown.data);
    text_clear(&shown);
}

/* What stdout could not take is a failure; a reader that went away (| head) has seen enough and needs no message. */
static int check_stdout(int code)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout)) return code;
    if (errno != EPIPE && errno) fprintf(stderr, "loopscope: stdout: %s\n", strerror(errno));
    return code ? code : FAILED;
}

static int run(const struct wish *wish, struct session *session, struct err *err)
{
    struct printer printer;
    printer_init(&printer, wish->form, wish->quiet, session);
    session->tables_only = wish->form != PRINT_PEOPLE;
    bool screen_wanted = opens_screen(session, wish);
    int code = screen_wanted ? open_screen(session, wish, &printer.sink, err) : run_command(session, wish, &printer.sink, err);
    printer_end(&printer, code == DONE);
    return check_stdout(code);
}

int main(int argc, char **argv)
{
    static struct err err; /* 8 KB, empty */
    struct wish wish = {0};
    int code = USAGE;
    setlocale(LC_CTYPE, "");
    mem_failed = out_of_memory;
    signal(SIGPIPE, SIG_IGN);
    if (take_shared(&wish, argc, argv, &err)) {
        struct session *session = interrupted = session_new((int)wish.threads);
        sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, NULL);
        if (wish.version) code = check_stdout(printf("loopscope %s\n", VERSION) < 0 ? FAILED : DONE);
        else code = run(&wish, session, &err);
        signal(SIGINT, SIG_DFL);
        session_free(session);
    }
    if (code != DONE && *err.text) print_error(&err);
    mem_free(wish.words);
    return code;
}
