#include "doing/runs.h"

#include "doing/spec.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/option.h"
#include "ground/text.h"
#include "models/tensor_file.h"
#include "results/table.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 4 };

static bool holds(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    bool there = file_exists(path);
    mem_free(path);
    return there;
}

static void find(const char *folder, int depth, char ***folders, size_t *count, size_t *room)
{
    char **names = NULL;
    size_t n = 0;
    if (holds(folder, "recipe") && holds(folder, "log.tsv")) {
        mem_grow(folders, room, *count + 1, sizeof **folders);
        (*folders)[(*count)++] = mem_text(folder);
        return;
    }
    if (depth > DEEPEST || !folder_list(folder, &names, &n, NULL)) return;
    for (size_t i = 0; i < n; i++) {
        char *path = path_join(folder, names[i]);
        if (file_is_folder(path)) find(path, depth + 1, folders, count, room);
        mem_free(path), mem_free(names[i]);
    }
    mem_free(names);
}

void runs_find(const char *folder, char ***folders, size_t *count)
{
    size_t room = 0;
    *folders = NULL, *count = 0;
    find(folder, 0, folders, count, &room);
}

/* The lock that a training holds says who it is, when it began, and at which step. */
struct began { double time, step; };

static struct began look_at_lock(struct run_state *me, const char *folder)
{
    char *path = path_join(folder, ".lock"), text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct began began = {NAN, NAN};
    struct stat about;
    mem_free(path);
    if (fd < 0) return began;
    me->training = flock(fd, LOCK_SH | LOCK_NB) != 0;
    ssize_t size = me->training ? read(fd, text, sizeof text - 1) : 0;
    text[size > 0 ? size : 0] = 0;
    char *step = text + strcspn(text, "\n");
    if (*step) *step++ = 0, step[strcspn(step, "\n")] = 0;
    if (!parse_int(text, &me->pid)) me->pid = 0;
    if (me->training && !fstat(fd, &about) && parse_number(step, &began.step)) began.time = (double)about.st_mtime;
    close(fd);
    return began;
}

/* From where it began to the last line of the log. */
static void find_rate(struct run_state *me, struct began began, double logged)
{
    size_t rows = me->log ? me->log->row_count : 0;
    double step = rows ? table_number(me->log, rows - 1, "step") : NAN, epoch = rows ? table_number(me->log, rows - 1, "epoch") : NAN;
    if (!(step > began.step && logged > began.time && epoch > 0)) return;
    me->rate = (step - began.step) / (logged - began.time);
    me->left = fmax(0, (me->epochs - epoch) * step / epoch / me->rate - me->age);
}

static void look_at_recipe(struct run_state *me, const char *folder)
{
    char *path = path_join(folder, "recipe"), *text = file_read(path, 1 << 20, NULL, NULL), *epochs = text ? spec_value(text, "epochs") : NULL;
    if (epochs) me->epochs = strtod(epochs, NULL);
    mem_free(epochs), mem_free(text), mem_free(path);
}

static void look_at_state(struct run_state *me, const char *folder)
{
    char *path = path_join(folder, "state.safetensors");
    struct tensor_set *set = file_exists(path) ? tensor_set_open(path, NULL, NULL) : NULL;
    const struct tensor_entry *step = set ? tensor_set_find(set, "step") : NULL;
    int64_t number;
    me->saved = NAN;
    if (step && step->dtype == I64 && step->count == 1) memcpy(&number, step->data, sizeof number), me->saved = (double)number;
    if (set) tensor_set_close(set);
    mem_free(path);
}

void runs_look(struct run_state *me, const char *folder)
{
    char *log = path_join(folder, "log.tsv"), *kept = path_join(folder, "checkpoints"), **names = NULL;
    struct stat about;
    size_t count = 0;
    *me = (struct run_state){.age = NAN, .epochs = NAN, .rate = NAN, .left = NAN};
    struct began began = look_at_lock(me, folder);
    look_at_recipe(me, folder);
    look_at_state(me, folder);
    bool there = !stat(log, &about);
    if (there) me->age = difftime(time(NULL), about.st_mtime);
    me->log = table_read(log, NULL);
    if (there) find_rate(me, began, (double)about.st_mtime);
    if (folder_list(kept, &names, &count, NULL))
        for (size_t i = 0; i < count; i++) me->checkpoints += text_starts(names[i], "step-"), mem_free(names[i]);
    mem_free(names), mem_free(log), mem_free(kept);
}

void runs_release(struct run_state *me)
{
    table_free(me->log);
    *me = (struct run_state){0};
}
