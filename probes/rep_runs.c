#include "rep_runs.h"

#include "doing/command.h"
#include "doing/share.h"
#include "doing/spec.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "learning/recipe.h"
#include "models/safetensors.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const struct scale scales[] = {
    {"small", "100 + 100 entities, width 256: minutes for a model on two cores, and shows the effect", "small", (const char *const[]){NULL}, NULL},
    {"paper", "500 + 500 entities and 3,000 epochs: some 3 to 4 hours for a model on two idle cores, days for all models and seeds", "paper",
     (const char *const[]){NULL}, NULL},
    {"tiny", "seconds, to try out the way; shows nothing", "small",
     (const char *const[]){"epochs=4", "eval_every=2", "batch=64", "warmup=4", "model.hidden_size=16", "model.intermediate_size=32",
                           "model.num_attention_heads=2", "model.num_key_value_heads=2", "model.head_dim=8", NULL}, "-tiny"},
};

static const char *scale_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof scales / sizeof *scales ? scales[i].name : NULL;
}

const struct scale *scale_find(const char *name, struct err *err)
{
    for (size_t i = 0; scale_name(NULL, i); i++)
        if (!strcmp(scales[i].name, name)) return &scales[i];
    const char *near = text_nearest(name, scale_name, NULL);
    err_set(err, "--scale: there is no '%s'%s%s%s: small, paper or tiny", text_show(name), near ? ", did you mean '" : "", near ? near : "",
            near ? "'?" : "");
    return err_usage(err), NULL;
}

static void add_setting(struct rep_run *run, size_t *count, const char *key, const char *value)
{
    struct text text = {0};
    text_add(&text, "%s%s%s", key, value ? "=" : "", value ? value : "");
    run->settings = mem_resize(run->settings, sizeof *run->settings * (*count + 2));
    run->settings[(*count)++] = text.data;
    run->settings[*count] = NULL;
}

/* The recipe as it will be trained. */
static bool read_recipe(struct rep_run *run, const struct scale *scale, struct recipe *recipe, struct err *err)
{
    size_t count = 0;
    char number[32];
    if (!recipe_read(recipe, run->recipe, err)) return false;
    const char *data = args_text(&recipe->args, "data");
    if (scale->data_ending && text_ends(data, "-small")) {
        struct text name = {0};
        text_add(&name, "%.*s%s", (int)(strlen(data) - strlen("-small")), data, scale->data_ending);
        add_setting(run, &count, "data", name.data);
        text_clear(&name);
    }
    for (size_t i = 0; scale->settings[i]; i++) add_setting(run, &count, scale->settings[i], NULL);
    snprintf(number, sizeof number, "%ld", run->seed);
    add_setting(run, &count, "seed", number);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = recipe_set(recipe, run->settings[i], err);
    if (!ok) recipe_clear(recipe);
    return ok;
}

/* Both with all defaults written out: options that came later do not make an old run another one. */
static bool same_recipe(const struct recipe *recipe, const char *folder)
{
    struct recipe had;
    struct text a = {0}, b = {0};
    char *path = path_join(folder, "recipe");
    bool same = recipe_read(&had, path, NULL);
    mem_free(path);
    if (!same) return false;
    recipe_text(recipe, &a);
    recipe_text(&had, &b);
    same = !strcmp(a.data, b.data);
    recipe_clear(&had);
    text_clear(&a);
    text_clear(&b);
    return same;
}

static long state_step(const char *folder)
{
    char *path = path_join(folder, "state.safetensors");
    struct tensor_set *set = file_exists(path) ? tensor_set_open(path, NULL, NULL) : NULL;
    const struct tensor_entry *entry = set ? tensor_set_find(set, "step") : NULL;
    int64_t step = -1;
    if (entry && entry->dtype == I64 && entry->count == 1) memcpy(&step, entry->data, sizeof step);
    if (set) tensor_set_close(set);
    mem_free(path);
    return (long)step;
}

/* Steps of an epoch stand in the log: its lines have both. */
static long steps_of_epoch(const char *folder)
{
    char *path = path_join(folder, "log.tsv");
    struct table *log = file_exists(path) ? table_read(path, NULL) : NULL;
    double step = log && log->row_count ? table_number(log, 0, "step") : NAN, epoch = log && log->row_count ? table_number(log, 0, "epoch") : NAN;
    table_free(log);
    mem_free(path);
    return epoch >= 1 ? (long)(step / epoch + 0.5) : 0;
}

static bool is_locked(const char *folder)
{
    char *path = path_join(folder, ".lock");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB);
    if (fd >= 0) close(fd);
    mem_free(path);
    return locked;
}

static void read_time(struct rep_run *run)
{
    char *path = path_join(run->folder, "time"), *text = file_exists(path) ? file_read(path, 1 << 16, NULL, NULL) : NULL;
    char *seconds = text ? spec_value(text, "seconds") : NULL, *steps = text ? spec_value(text, "steps") : NULL;
    if (!seconds || !parse_number(seconds, &run->seconds)) run->seconds = NAN;
    if (!steps || !parse_int(steps, &run->seconds_steps)) run->seconds_steps = 0;
    mem_free(seconds), mem_free(steps), mem_free(text), mem_free(path);
}

static bool find_recipe(struct rep_run *run, const struct session *session, const struct scale *scale, struct err *err)
{
    struct text name = {0};
    text_add(&name, "recipes/%s/%s", scale->recipes, run->training);
    run->recipe = share_find(session->share, "models", name.data);
    if (!run->recipe) err_set(err, "models/%s: there is no such recipe: this replication cannot be run at the scale %s", name.data, scale->name);
    text_clear(&name);
    return run->recipe != NULL;
}

bool rep_run_look(struct rep_run *run, const struct session *session, const struct scale *scale, const char *work, const char *training, long seed,
                  struct err *err)
{
    struct recipe recipe;
    struct text folder = {0};
    *run = (struct rep_run){.training = mem_text(training), .seed = seed, .seconds = NAN};
    text_add(&folder, "%s/%s/%s-%ld", work, scale->name, training, seed);
    run->folder = folder.data;
    if (!find_recipe(run, session, scale, err) || !read_recipe(run, scale, &recipe, err)) return rep_run_clear(run), false;
    long step = state_step(run->folder);
    run->there = step >= 0;
    if (run->there) {
        run->step = step;
        run->steps = steps_of_epoch(run->folder) * args_int(&recipe.args, "epochs");
        run->other = !same_recipe(&recipe, run->folder);
        run->training_now = is_locked(run->folder);
        run->finished = !run->other && run->steps && step >= run->steps;
        read_time(run);
    }
    recipe_clear(&recipe);
    return true;
}

bool rep_run_train(struct rep_run *run, struct session *session, struct sink *sink, struct err *err)
{
    struct text line = {0};
    if (run->other)
        return err_set(err, "%s: holds a run of another recipe than %s: move it away, or choose another folder with --work", run->folder,
                       run->recipe);
    text_add(&line, "train ");
    text_add_quoted(&line, run->recipe);
    text_add(&line, " --out ");
    text_add_quoted(&line, run->folder);
    for (size_t i = 0; run->settings[i]; i++) {
        text_add(&line, " --set ");
        text_add_quoted(&line, run->settings[i]);
    }
    if (run->there) text_add(&line, " --resume");
    bool ok = command_line(session, line.data, sink, err);
    text_clear(&line);
    return ok;
}

double rep_run_left(const struct rep_run *run)
{
    if (run->finished) return 0;
    return run->steps > run->step && run->seconds_steps ? (double)(run->steps - run->step) * run->seconds / (double)run->seconds_steps : NAN;
}

void rep_run_clear(struct rep_run *run)
{
    for (size_t i = 0; run->settings && run->settings[i]; i++) mem_free(run->settings[i]);
    mem_free(run->settings);
    mem_free(run->training);
    mem_free(run->folder);
    mem_free(run->recipe);
    *run = (struct rep_run){0};
}
