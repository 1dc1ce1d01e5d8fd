#include "learning/train.h"

#include "ground/clock.h"
#include "ground/file.h"
#include "learning/checkpoint.h"
#include "learning/optim.h"
#include "learning/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARD = 128 }; /* rows of a batch that share a tape */

struct trainer {
    const struct recipe *recipe;
    const struct dataset *data;
    struct pool *pool;
    char *folder;
    struct text recipe_text;
    struct model *model;
    struct optim optim;
    struct optim_settings settings;
    struct schedule schedule;
    uint64_t seed;
    float stage1;
    struct question *rows;     /* all training rows, sorted by their tokens */
    uint32_t *order;           /* of the epoch */
    long order_epoch;
    size_t row_count;
    long batch, per_epoch, steps, log_every, keep_every;
    struct arena *arenas;      /* one a thread */
    double *losses;            /* one a shard */
    double sums[2];            /* loss and steps since the last log line */
    struct table *log;
    double began;              /* of this process's first step */
    long began_step;
    double seconds;            /* spent by earlier processes, for timed steps */
    long timed;
    double shown;
};

static int compare_rows(const void *a, const void *b) { return question_compare(a, b); }

static bool collect_rows(struct trainer *me, struct err *err)
{
    char *list = mem_text(args_text(&me->recipe->args, "train")), *save = NULL;
    size_t room = 0;
    for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        const struct split *split = dataset_split(me->data, name);
        if (!split) {
            err_set(err, "%s: there is no split %s to train on", me->data->name, text_show(name));
            mem_free(list);
            return false;
        }
        mem_grow(&me->rows, &room, me->row_count + split->count, sizeof *me->rows);
        for (size_t i = 0; i < split->count; i++) me->rows[me->row_count++] = split->questions[i];
    }
    mem_free(list);
    if (me->row_count) qsort(me->rows, me->row_count, sizeof *me->rows, compare_rows);
    me->order = mem_new(sizeof *me->order * me->row_count);
    me->order_epoch = -1;
    return me->row_count > 0 || err_set(err, "%s: the training splits hold no rows", me->data->name);
}

static void read_settings(struct trainer *me)
{
    const struct args *args = &me->recipe->args;
    const char *kind = args_text(args, "schedule");
    me->seed = (uint64_t)args_int(args, "seed");
    me->batch = args_int(args, "batch");
    if ((size_t)me->batch > me->row_count) me->batch = (long)me->row_count;
    me->per_epoch = ((long)me->row_count + me->batch - 1) / me->batch;
    me->steps = args_int(args, "epochs") * me->per_epoch;
    me->log_every = args_int(args, "eval_every") * me->per_epoch;
    me->keep_every = args_int(args, "keep_every") * me->per_epoch;
    me->stage1 = (float)args_number(args, "stage1_atomic");
    me->settings = (struct optim_settings){args_number(args, "beta1"),        args_number(args, "beta2"),           args_number(args, "adam_eps"),
                                           args_number(args, "weight_decay"), args_number(args, "decay_embedding"), args_number(args, "clip")};
    me->schedule = (struct schedule){.lr = args_number(args, "lr"),
                                     .final = args_number(args, "lr_final"),
                                     .decay_from = args_number(args, "decay_from"),
                                     .warmup = args_int(args, "warmup"),
                                     .steps = me->steps};
    me->schedule.kind = !strcmp(kind, "linear") ? SCHEDULE_LINEAR : !strcmp(kind, "cosine") ? SCHEDULE_COSINE : SCHEDULE_CONSTANT;
}

static struct table *log_table(const struct trainer *me)
{
    struct table *log = table_new("log");
    struct text name = {0};
    table_column(log, "step", ROLE_AXIS, "%.0f");
    table_column(log, "epoch", ROLE_COUNT, "%.0f");
    table_column(log, "lr", ROLE_COUNT, "%.3g");
    table_column(log, "loss", ROLE_VALUE, "%.4f");
    table_column(log, "grad_norm", ROLE_COUNT, "%.3g");
    for (size_t s = 0; s < me->data->split_count; s++)
        for (int k = 1; k <= me->model->loops; k++) {
            name.size = 0;
            text_add(&name, "%s.stage_%d", me->data->splits[s].name, k);
            table_column(log, name.data, ROLE_VALUE, "%.4f");
        }
    text_clear(&name);
    table_fact(log, "data", "%s", me->data->name);
    table_fact(log, "data_sha256", "%s", me->data->hash);
    return log;
}

static bool fits(const struct trainer *me, struct err *err)
{
    int know = me->model->vocab_size, are = me->data->vocab_size;
    if (know < are) return err_set(err, "model.vocab_size %d is smaller than the %d of the dataset %s", know, are, me->data->name);
    bool ok = pass_fits(me->model, me->rows, me->row_count, err);
    for (size_t s = 0; ok && s < me->data->split_count; s++) ok = pass_fits(me->model, me->data->splits[s].questions, me->data->splits[s].count, err);
    return ok;
}

struct trainer *trainer_new(const struct recipe *recipe, const struct dataset *data, struct pool *pool, const char *folder, struct sink *sink,
                            struct err *err)
{
    struct trainer *me = mem_new(sizeof *me);
    struct text config = {0};
    me->recipe = recipe, me->data = data, me->pool = pool, me->folder = mem_text(folder);
    recipe_text(recipe, &me->recipe_text);
    recipe_config(recipe, data->vocab_size, &config);
    me->model = model_fresh(config.data, "the recipe's model.* keys", sink, err);
    text_clear(&config);
    if (!me->model || !collect_rows(me, err) || !fits(me, err)) return trainer_free(me), NULL;
    read_settings(me);
    weights_draw(me->model, me->seed, args_number(&recipe->args, "init_sd"), args_number(&recipe->args, "embedding_sd"));
    int shards = (int)((me->batch + SHARD - 1) / SHARD);
    optim_init(&me->optim, me->model, shards);
    me->arenas = mem_new(sizeof *me->arenas * (size_t)pool_threads(pool));
    me->losses = mem_new(sizeof *me->losses * (size_t)shards);
    me->log = log_table(me);
    return me;
}

void trainer_free(struct trainer *me)
{
    if (!me) return;
    optim_release(&me->optim);
    for (int t = 0; me->arenas && t < pool_threads(me->pool); t++) arena_clear(&me->arenas[t]);
    mem_free(me->arenas);
    mem_free(me->losses);
    mem_free(me->rows);
    mem_free(me->order);
    mem_free(me->folder);
    if (me->log) table_free(me->log);
    text_clear(&me->recipe_text);
    if (me->model) model_free(me->model);
    mem_free(me);
}

/* ---- one step ---- */

struct step { struct trainer *me; size_t first, count; };

/* The order of an epoch depends on seed and epoch alone. */
static void order_rows(struct trainer *me, long epoch)
{
    if (me->order_epoch == epoch) return;
    char purpose[48];
    snprintf(purpose, sizeof purpose, "order of epoch %ld", epoch);
    struct rng rng = rng_start(me->seed, purpose);
    for (size_t i = 0; i < me->row_count; i++) me->order[i] = (uint32_t)i;
    rng_shuffle(&rng, me->order, me->row_count);
    me->order_epoch = epoch;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Stage 1 of the rows without a bridge: their fact has to be there after the first loop. */
static void stage1_loss(struct run *run, const struct question *questions, const int *answers, int count, float weight, double *loss)
{
    struct arena *arena = run->tape->arena;
    int *rows = arena_new(arena, sizeof *rows * (size_t)count), *targets = arena_new(arena, sizeof *targets * (size_t)count), n = 0;
    float *weights = arena_new(arena, sizeof *weights * (size_t)count);
    for (int i = 0; i < count; i++)
        if (!questions[i].bridge_count) {
            rows[n] = run->states[1]->places->index[answers[i]];
            targets[n] = questions[i].answer;
            weights[n++] = weight;
        }
    if (n) op_cross_entropy(run->tape, run_decode(run, run_rows(run, run->states[1], rows, n), 1), targets, weights, loss);
}

static void shard_step(void *job, int i, int thread)
{
    const struct step *step = job;
    struct trainer *me = step->me;
    struct arena *arena = &me->arenas[thread];
    arena_reset(arena);
    size_t first = step->first + (size_t)i * SHARD, left = step->first + step->count - first;
    int count = left < SHARD ? (int)left : SHARD;
    struct question *questions = arena_new(arena, sizeof *questions * (size_t)count);
    int *answers = arena_new(arena, sizeof *answers * (size_t)count), *targets = arena_new(arena, sizeof *targets * (size_t)count);
    float *weights = arena_new(arena, sizeof *weights * (size_t)count), weight = 1 / (float)step->count;
    for (int q = 0; q < count; q++) {
        questions[q] = me->rows[me->order[first + (size_t)q]];
        targets[q] = questions[q].answer;
        weights[q] = weight;
    }
    struct batch *batch = pass_batch(arena, questions, count, !model_by_token(me->model), answers);
    struct tape tape = {.arena = arena, .records = true, .grads = me->optim.grads[i]};
    struct run run;
    run_init(&run, me->model, &tape, batch);
    run.wanted = places_new(arena, batch, count, answers);
    struct tensor *logits = run_forward(&run, NULL);
    me->losses[i] = 0;
    op_cross_entropy(&tape, logits, targets, weights, &me->losses[i]);
    if (me->stage1 > 0 && run.loops > 1) stage1_loss(&run, questions, answers, count, weight * me->stage1, &me->losses[i]);
    tape_backward(&tape);
}

static bool next_step(struct trainer *me, double *loss, double *norm, struct err *err)
{
    long step = me->optim.step, epoch = step / me->per_epoch, at = step % me->per_epoch;
    struct step work = {.me = me, .first = (size_t)(at * me->batch)};
    work.count = me->row_count - work.first < (size_t)me->batch ? me->row_count - work.first : (size_t)me->batch;
    order_rows(me, epoch);
    qsort(me->order + work.first, work.count, sizeof *me->order, compare_numbers); /* what begins alike comes into one shard, and shares places */
    int shards = (int)((work.count + SHARD - 1) / SHARD);
    pool_run(me->pool, shards, shard_step, &work);
    *loss = 0;
    for (int i = 0; i < shards; i++) *loss += me->losses[i];
    *norm = isfinite(*loss) ? optim_step(&me->optim, me->pool, &me->settings, schedule_lr(&me->schedule, step + 1)) : NAN;
    if (isfinite(*loss) && isfinite(*norm)) return true;
    return err_set(err, "step %ld (epoch %ld, rows %zu to %zu of its order): the loss is %g and the norm of its gradient %g: not finite. "
                        "The last checkpoint in %s is kept; a lower lr or clip usually helps",
                   step + 1, epoch + 1, work.first, work.first + work.count - 1, *loss, *norm, text_show(me->folder));
}

bool trainer_step(struct trainer *me, struct err *err)
{
    double loss, norm;
    return next_step(me, &loss, &norm, err);
}

/* ---- files ---- */

static char *file_in(const struct trainer *me, const char *name) { return path_join(me->folder, name); }

static bool write_text(const struct trainer *me, const char *name, const struct text *text, struct err *err)
{
    char *path = file_in(me, name);
    bool ok = file_write(path, text->data, text->size, err);
    mem_free(path);
    return ok;
}

/* Wall time so far, apart from everything that has to be the same bytes in every run. */
static bool write_time(const struct trainer *me, struct err *err)
{
    struct text text = {0};
    bool begun = me->began > 0;
    text_add(&text, "seconds = %.1f\nsteps = %ld\nthreads = %d\n", me->seconds + (begun ? clock_seconds() - me->began : 0),
             me->timed + (begun ? me->optim.step - me->began_step : 0), pool_threads(me->pool));
    bool ok = write_text(me, "time", &text, err);
    text_clear(&text);
    return ok;
}

static void read_time(struct trainer *me)
{
    char *path = file_in(me, "time"), *text = file_exists(path) ? file_read(path, 1 << 12, NULL, NULL) : NULL;
    if (!text || sscanf(text, "seconds = %lf steps = %ld", &me->seconds, &me->timed) != 2) me->seconds = 0, me->timed = 0;
    mem_free(text);
    mem_free(path);
}

static struct checkpoint checkpoint_of(struct trainer *me)
{
    return (struct checkpoint){me->recipe_text.data,       me->optim.step, {me->model->block, me->optim.m, me->optim.v},
                               me->model->parameter_count, me->sums};
}

/* The log goes first: a kill in between leaves a line too many, which a resume drops; a line too few could not be made up for. */
static bool save(struct trainer *me, struct err *err)
{
    struct checkpoint point = checkpoint_of(me);
    struct text log = {0};
    char *path = file_in(me, "state.safetensors");
    table_tsv(me->log, &log);
    bool ok = write_text(me, "recipe", &me->recipe_text, err) && write_text(me, "log.tsv", &log, err) && checkpoint_write(path, &point, err) &&
              model_save(me->model, me->folder, F32, err) && write_time(me, err);
    mem_free(path);
    text_clear(&log);
    return ok;
}

/* A checkpoint that stays: a model as it was at this step, to be measured later. */
static bool keep(const struct trainer *me, struct err *err)
{
    struct text name = {0};
    if (!me->keep_every || (me->optim.step % me->keep_every && me->optim.step != me->steps)) return true;
    text_add(&name, "checkpoints/step-%06ld", me->optim.step);
    char *folder = file_in(me, name.data);
    bool ok = folder_make(folder, err) && model_save(me->model, folder, F32, err);
    text_clear(&name);
    mem_free(folder);
    return ok;
}

bool trainer_has_state(const char *folder)
{
    char *path = path_join(folder, "state.safetensors");
    bool has = file_exists(path);
    mem_free(path);
    return has;
}

/* Log lines behind the saved step were written by a process that died later: they will be computed again. */
static bool read_log(struct trainer *me, struct err *err)
{
    char *path = file_in(me, "log.tsv");
    struct table *old = file_exists(path) ? table_read(path, err) : table_copy(me->log);
    mem_free(path);
    if (!old) return false;
    bool ok = old->column_count == me->log->column_count || err_set(err, "%s/log.tsv: has other columns than this run", text_show(me->folder));
    for (size_t i = 0; ok && i < old->row_count; i++)
        if (table_number(old, i, "step") <= (double)me->optim.step) table_row(me->log, table_cell(old, i, 0));
    table_free(old);
    return ok;
}

bool trainer_resume(struct trainer *me, struct err *err)
{
    struct checkpoint point = checkpoint_of(me);
    char *path = file_in(me, "state.safetensors");
    bool ok = checkpoint_read(path, &point, err);
    mem_free(path);
    me->optim.step = (long)point.step;
    read_time(me);
    return ok && read_log(me, err);
}

/* ---- the whole run ---- */

static bool log_line(struct trainer *me, double norm, struct sink *sink, struct err *err)
{
    struct cell *cells = mem_new(sizeof *cells * me->log->column_count);
    size_t at = 0, most = (size_t)args_int(&me->recipe->args, "eval_rows");
    bool ok = true;
    cells[at++] = cell_number((double)me->optim.step);
    cells[at++] = cell_number((double)(me->optim.step / me->per_epoch));
    cells[at++] = cell_number(schedule_lr(&me->schedule, me->optim.step));
    cells[at++] = cell_number(me->sums[0] / me->sums[1]);
    cells[at++] = cell_number(norm);
    for (size_t s = 0; ok && s < me->data->split_count; s++) {
        const struct split *split = &me->data->splits[s];
        struct accuracy accuracy;
        ok = pass_accuracy(me->model, me->pool, split->questions, split->count < most ? split->count : most, &accuracy, err);
        for (int k = 1; ok && k <= me->model->loops; k++) cells[at++] = cell_number((double)accuracy.correct[k] / (double)accuracy.n);
    }
    if (ok) {
        table_row(me->log, cells);
        sink_row(sink, cells);
        me->sums[0] = me->sums[1] = 0;
    }
    mem_free(cells);
    return ok;
}

/* "loss 0.812  train_atomic 98 99  test_ood 0 31": percent at each stage, from the last log line. */
static void add_accuracies(const struct trainer *me, struct text *out)
{
    const struct table *log = me->log;
    if (!log->row_count) return;
    size_t at = 5;
    for (size_t s = 0; s < me->data->split_count; s++) {
        text_add(out, "  %s", me->data->splits[s].name);
        for (int k = 1; k <= me->model->loops; k++) text_add(out, " %.1f", 100 * table_cell(log, log->row_count - 1, at++)->number);
    }
}

static bool show(struct trainer *me, double loss, struct sink *sink)
{
    double time = clock_seconds(), done = (double)(me->optim.step - me->began_step), seconds = time - me->began;
    if (time - me->shown < 0.2 && me->optim.step < me->steps) return true;
    me->shown = time;
    struct text detail = {0};
    text_add(&detail, "loss %.4f", loss);
    add_accuracies(me, &detail);
    double rate = seconds > 0 ? done / seconds : 0;
    struct progress progress = {.what = "train", .done = (double)me->optim.step, .total = (double)me->steps, .unit = "steps", .rate = rate,
                                .left = rate > 0 ? (double)(me->steps - me->optim.step) / rate : -1, .detail = detail.data};
    bool go_on = sink_progress(sink, &progress);
    text_clear(&detail);
    return go_on;
}

bool trainer_run(struct trainer *me, struct sink *sink, const atomic_bool *stop, long stop_after, struct err *err)
{
    if (!folder_make(me->folder, err)) return false;
    struct table *shape = table_shape(me->log);
    sink_table(sink, shape);
    table_free(shape);
    for (size_t i = 0; i < me->log->row_count; i++) sink_row(sink, table_cell(me->log, i, 0));
    me->began = clock_seconds();
    me->began_step = me->optim.step;
    if (me->optim.step == 0 && (!save(me, err) || !keep(me, err))) return false;
    while (me->optim.step < me->steps && (!stop_after || me->optim.step < stop_after)) {
        double loss, norm;
        if (!next_step(me, &loss, &norm, err)) return false;
        me->sums[0] += loss, me->sums[1] += 1;
        if (me->optim.step % me->log_every == 0 || me->optim.step == me->steps)
            if (!log_line(me, norm, sink, err) || !save(me, err)) return false;
        if (!keep(me, err)) return false;
        bool go_on = show(me, loss, sink);
        if ((stop && *stop) || !go_on || me->optim.step == stop_after) {
            if (!save(me, err)) return false;
            if (me->optim.step == stop_after || me->optim.step == me->steps) return true;
            return err_stop(err, "stopped at step %ld of %ld; saved: --resume continues", me->optim.step, me->steps);
        }
    }
    return true;
}
