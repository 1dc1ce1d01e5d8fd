#include "doing/command.h"
#include "doing/detach.h"
#include "doing/runs.h"

#include "ground/file.h"
#include "ground/mem.h"
#include "learning/train.h"
#include "numbers/blas.h"
#include "numbers/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const struct option options[] = {
    {"out", OPTION_TEXT, NULL, .help = "the run folder: model, state and log", .placeholder = "RUN"},
    {"resume", OPTION_FLAG, NULL, .help = "continue the run in RUN, bit-exactly"},
    {"set", OPTION_TEXT, NULL, .help = "change a line of the recipe: key=value", .placeholder = "KEY=VALUE", .many = true},
    {"background", OPTION_FLAG, NULL, .help = "train in a process of its own, which goes on when this one ends; `runs` lists it, `pause` stops it"},
    {"stop-after", OPTION_INT, "0", .low = 0, .high = 1e9, .help = "save and end after this step; 0: at the end"},
    {0},
};

/* Two trainings in one folder would overwrite each other. The lock says who holds it, for `pause`, and at which step it began, for `runs`: with the
 * time it was written at, that gives a rate. */
static int lock_folder(const char *folder, double step, struct err *err)
{
    char *path = path_join(folder, ".lock");
    int fd = folder_make(folder, err) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    char holder[64];
    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
        int size = snprintf(holder, sizeof holder, "%ld\n%.0f\n", (long)getpid(), step);
        if (ftruncate(fd, 0) || pwrite(fd, holder, (size_t)size, 0) != size) {
            err_set(err, "%s: %s", text_show(path), strerror(errno));
            close(fd);
            fd = -1;
        }
    } else if (fd >= 0) {
        close(fd);
        fd = -1;
        err_set(err, "%s: another training is running in this folder", text_show(folder));
    } else if (fd < 0 && !*err->text) {
        err_set(err, "%s: %s", text_show(path), strerror(errno));
    }
    mem_free(path);
    return fd;
}

static bool train(struct session *session, const struct args *args, const struct recipe *recipe, const char *folder, struct sink *sink,
                  struct err *err)
{
    const struct dataset *data = session_data(session, NULL, args_text(&recipe->args, "data"), sink, err);
    if (!data || !blas_check(err)) return false;
    struct pool *pool = pool_new(session->threads);
    struct trainer *trainer = trainer_new(recipe, data, pool, folder, sink, err);
    bool ok = trainer != NULL;
    if (ok && args_flag(args, "resume")) ok = trainer_resume(trainer, err);
    if (ok) ok = trainer_run(trainer, sink, &session->stop, args_int(args, "stop-after"), err);
    trainer_free(trainer);
    pool_free(pool);
    session_forget(session, folder);
    return ok;
}

static double saved_step(const char *folder)
{
    struct run_state state;
    runs_look(&state, folder);
    double step = isnan(state.saved) ? 0 : state.saved;
    runs_release(&state);
    return step;
}

/* The same training as another process: its messages go to RUN/train.err. */
static bool start(const struct args *args, const char *folder, struct sink *sink, struct err *err)
{
    const char *words[64] = {"train", args_word(args, 0), "--out", folder, "--quiet"}, *one;
    size_t count = 5;
    long pid;
    char *log = path_join(folder, "train.err");
    if (args_flag(args, "resume")) words[count++] = "--resume";
    if (args_int(args, "stop-after")) words[count++] = "--stop-after", words[count++] = args_text(args, "stop-after");
    for (size_t i = 0; (one = args_at(args, "set", i)) && count + 2 < 64; i++) words[count++] = "--set", words[count++] = one;
    int lock = lock_folder(folder, 0, err); /* taken once to see that nobody else holds it */
    bool ok = lock >= 0;
    if (ok) close(lock);
    ok = ok && detach_run(words, count, log, &pid, err);
    if (ok) sink_say(sink, "training in process %ld: loopscope runs shows it, loopscope pause %s stops it", pid, text_show(folder));
    mem_free(log);
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    struct recipe recipe;
    const char *folder = args_text(args, "out"), *one;
    if (!folder || !*folder) return err_set(err, "--out RUN is missing: the folder for model, state and log"), err_usage(err);
    char *path = session_file(session, args_word(args, 0));
    bool ok = file_exists(path) && !file_is_folder(path);
    if (!ok) err_set(err, "%s: no such recipe: `loopscope help --names recipes` lists those that come along", text_show(path));
    ok = ok && recipe_read(&recipe, path, err);
    mem_free(path);
    if (!ok) return false;
    for (size_t i = 0; ok && (one = args_at(args, "set", i)); i++) ok = recipe_set(&recipe, one, err);
    bool there = trainer_has_state(folder), resume = args_flag(args, "resume");
    if (ok && there && !resume) ok = err_set(err, "%s: holds a training run: --resume continues it; or choose another folder", text_show(folder));
    char *weights = path_join(folder, "model.safetensors");
    if (ok && !there && file_exists(weights))
        ok = err_set(err, "%s: there is a model already, which no training run left: choose another folder", text_show(folder));
    mem_free(weights);
    if (ok && !there && resume) ok = err_set(err, "%s: there is no state to resume from", text_show(folder));
    if (ok && args_flag(args, "background")) {
        recipe_clear(&recipe);
        return start(args, folder, sink, err);
    }
    int lock = ok ? lock_folder(folder, resume ? saved_step(folder) : 0, err) : -1;
    ok = ok && lock >= 0 && train(session, args, &recipe, folder, sink, err);
    if (lock >= 0) close(lock);
    recipe_clear(&recipe);
    return ok;
}

const struct command command_train = {
    .name = "train",
    .words = "RECIPE",
    .least = 1,
    .most = 1,
    .help = "train a model from a recipe; Ctrl-C saves, --resume continues",
    .more = "A recipe is a text file of lines key = value: data, the trainer's options (lr, epochs, batch, embedding_sd, ...) and the model's "
            "config with model. in front; models/recipes has those of the paper. Results are the same bytes for any number of threads.",
    .options = options,
    .example = "train models/vanilla/recipe --out runs/vanilla",
    .run = run,
};
