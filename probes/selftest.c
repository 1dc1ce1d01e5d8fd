/* selftest: a model's own numbers against a reference, tensor by tensor.
 *
 * CASE_DIR holds config.json, model.safetensors, reference.safetensors (tokens, h.k, x.k, lens.k, logits ... as recorded from the original code)
 * and, where gradients are given, gradients.safetensors. Every tensor of the reference has to be produced: one that nobody knows is a failure, not a
 * gap. Tolerances: 2e-4 absolutely for states and logits, 1e-4 of a tensor's largest entry for gradients.
 */
#include "doing/command.h"
#include "edit.h"
#include "numbers/blas.h"
#include "numbers/kernel.h"
#include "tokens.h"

#include "ground/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SITES = 1 << 16, MOST_LOOPS = 4096 };
static const double state_tolerance = 2e-4, gradient_tolerance = 1e-4;

/* Copies of every site's value in one run. */
struct seen { char *name; float *data; size_t count; };
struct record {
    struct handler handler;
    struct arena *arena;
    struct seen sites[MOST_SITES];
    int count;
};

struct comparison {
    const struct model *model;
    struct tensor_set *reference, *gradients;
    struct arena arena;
    struct arena kept;             /* copies of sites: a run gives back what it no longer needs, together with all that was made since */
    struct batch *batch;
    struct tensor *start;          /* h.0 of the reference, for families whose start state is not the embedding */
    struct record *plain;
    struct run run;                /* the untouched one */
    struct sink *sink;
    int compared, wrong;
};

static void remember(struct handler *base, struct run *run, const char *site, struct tensor *value)
{
    struct record *me = (struct record *)base;
    (void)run;
    if (me->count == MOST_SITES) return;
    size_t size = sizeof(float) * tensor_size(value);
    struct seen *seen = &me->sites[me->count++];
    *seen = (struct seen){arena_new(me->arena, strlen(site) + 1), arena_new(me->arena, size), tensor_size(value)};
    strcpy(seen->name, site);
    memcpy(seen->data, value->data, size);
}

static struct record *record_new(struct arena *arena)
{
    struct record *record = arena_zero(arena, sizeof *record);
    record->handler = (struct handler){.pattern = "*", .fire = remember};
    record->arena = arena;
    return record;
}

static const struct seen *find_site(const struct record *record, const char *name)
{
    for (int i = 0; i < record->count; i++)
        if (!strcmp(record->sites[i].name, name)) return &record->sites[i];
    return NULL;
}

/* "loop 2, row 0, position 3, dimension 17" for a flat place in a tensor of this shape. */
static void place_text(const struct tensor_entry *entry, size_t at, const char *name, struct text *out)
{
    static const char *const words[] = {"row", "position", "dimension"};
    const char *number = strchr(name, '.');
    int k;
    if (!entry->count) {
        text_add(out, "empty");
        return;
    }
    if (number && sscanf(number, ".%d", &k) == 1) text_add(out, "boundary %d, ", k);
    size_t rest = at, size = entry->count;
    for (int i = 0; i < entry->dims; i++) {
        size /= (size_t)entry->shape[i];
        text_add(out, "%s%s %zu", i ? ", " : "", i < 3 ? words[i] : "axis", rest / size);
        rest %= size;
    }
}

static void report(struct comparison *me, const struct tensor_entry *entry, const char *name, double tolerance, double worst, size_t at, float ours,
                   float theirs, const char *why)
{
    bool ok = !why && worst <= tolerance;
    struct text place = {0};
    me->compared++;
    me->wrong += !ok;
    if (!why) place_text(entry, at, name, &place);
    else text_add(&place, "%s", why);
    struct cell cells[] = {cell_text(name),       cell_text(shape_show(entry->dims, entry->shape)),
                           cell_number(worst),    cell_number(tolerance),
                           cell_text(place.data), cell_number(ours),
                           cell_number(theirs),   cell_text(ok ? "ok" : "FAILED")};
    sink_row(me->sink, cells);
    text_clear(&place);
}

static void widen_whole(const struct tensor_entry *entry, float *to)
{
    for (size_t i = 0; i < entry->count; i++) {
        int64_t number;
        memcpy(&number, (const char *)entry->data + 8 * i, 8);
        to[i] = (float)number;
    }
}

/* ours NULL or of another size: failed, with why. scale: what the difference is divided by. */
static void compare(struct comparison *me, const struct tensor_entry *entry, const float *ours, size_t count, double tolerance, bool relative)
{
    bool whole = entry->dtype == I64; /* loops, choices: exactly equal */
    if (!ours || count != entry->count || (entry->dtype != F32 && !whole)) {
        report(me, entry, entry->name, tolerance, NAN, 0, NAN, NAN, !ours ? "this program has no such value" : count != entry->count
               ? "this program's value has another size" : "the reference is neither F32 nor I64");
        return;
    }
    if (whole) tolerance = 0;
    float *theirs = arena_new(&me->arena, sizeof(float) * (entry->count + 1));
    if (whole) widen_whole(entry, theirs);
    else dtype_widen(F32, entry->data, theirs, entry->count);
    double worst = 0, scale = relative ? 0 : 1;
    size_t at = 0;
    for (size_t i = 0; relative && i < count; i++) scale = fmax(scale, fabs((double)theirs[i]));
    if (scale == 0) scale = 1;
    for (size_t i = 0; i < count; i++) {
        double off = fabs((double)ours[i] - (double)theirs[i]) / scale;
        if (!(off <= worst)) worst = off, at = i;
        if (isnan(off)) break;
    }
    if (isnan(worst)) worst = INFINITY;
    report(me, entry, entry->name, tolerance, worst, at, count ? ours[at] : 0, count ? theirs[at] : 0, NULL);
}

static bool read_tokens(struct comparison *me, const char *path, struct err *err)
{
    const struct tensor_entry *tokens = tensor_set_find(me->reference, "tokens");
    if (!tokens || tokens->dtype != I64 || tokens->dims != 2)
        return err_set(err, "%s: the tensor tokens should be I64 [B, T]", path);
    int rows = (int)tokens->shape[0], length = (int)tokens->shape[1];
    int *lengths = arena_new(&me->arena, sizeof *lengths * (size_t)rows), *all = arena_new(&me->arena, sizeof *all * tokens->count);
    const int **starts = arena_new(&me->arena, sizeof *starts * (size_t)rows);
    for (size_t i = 0; i < tokens->count; i++) {
        int64_t token;
        memcpy(&token, (const char *)tokens->data + 8 * i, 8);
        if (token < 0 || token >= me->model->vocab_size) return err_set(err, "%s: tokens: %lld is outside the vocabulary", path, (long long)token);
        all[i] = (int)token;
    }
    for (int b = 0; b < rows; b++) lengths[b] = length, starts[b] = all + b * length;
    me->batch = batch_new(&me->arena, rows, lengths, starts);
    return true;
}

/* The recorded start state, where the model would draw its own. */
static bool read_start(struct comparison *me, const char *path, struct err *err)
{
    const struct tensor_entry *h = me->model->start ? tensor_set_find(me->reference, "h.0") : NULL;
    size_t d = (size_t)me->model->width;
    if (!h) return true;
    if (h->dtype != F32 || h->count != (size_t)me->batch->size * d)
        return err_set(err, "%s: h.0, the start state, should be F32 [B, T, %zu]", path, d);
    struct tape tape = {.arena = &me->arena};
    me->start = tape_tensor(&tape, me->batch->size, (int)d);
    dtype_widen(F32, h->data, me->start->data, h->count);
    return true;
}

/* The last boundary of the reference: it may have been recorded with more or fewer loops than the model was trained with. 0: not recorded. */
static int recorded_loops(const struct comparison *me)
{
    int k, most = 0;
    for (size_t i = 0; i < me->reference->count; i++)
        if (sscanf(me->reference->entries[i].name, "h.%d", &k) == 1 && k > most && k <= MOST_LOOPS) most = k;
    return most;
}

static void begin_run(const struct comparison *me, struct run *run, const struct model *model, struct tape *tape)
{
    int loops = recorded_loops(me);
    run_init(run, model, tape, me->batch);
    run->start = me->start;
    if (loops && !strcmp(model->family->boundary, "loop")) run->loops = loops;
}

static bool run_plain(struct comparison *me, struct tape *tape, struct err *err)
{
    *tape = (struct tape){.arena = &me->arena};
    me->plain = record_new(&me->kept);
    begin_run(me, &me->run, me->model, tape);
    run_attach(&me->run, &me->plain->handler);
    return run_forward(&me->run, err) != NULL;
}

/* seen: what our run has there, or NULL. */
static void compare_seen(struct comparison *me, const struct tensor_entry *entry, const struct seen *seen)
{
    compare(me, entry, seen ? seen->data : NULL, seen ? seen->count : 0, state_tolerance, false);
}

/* "logits.rms.0.5": the run with the paper's edit at boundary 1, position 1. Returns the recorded site, or NULL. */
static const struct seen *run_edited(struct comparison *me, const char *site, const char *norm, const char *alpha, struct err *err)
{
    struct text text = {0};
    struct edit edit;
    text_add(&text, "mix@h.1:position=1,norm=%s,alpha=%s", norm, alpha);
    bool ok = edit_parse(&edit, text.data, me->model, err);
    text_clear(&text);
    if (!ok) return NULL;
    struct question *questions = arena_zero(&me->arena, sizeof *questions * (size_t)me->batch->rows);
    for (int b = 0; b < me->batch->rows; b++) questions[b].length = me->batch->start[b + 1] - me->batch->start[b];
    struct tape *tape = arena_zero(&me->arena, sizeof *tape);
    struct run *run = arena_zero(&me->arena, sizeof *run);
    struct record *record = record_new(&me->kept);
    struct edit_handler handler;
    tape->arena = &me->arena;
    begin_run(me, run, me->model, tape);
    edit_attach(&handler, &edit, run, questions, 0);
    run_attach(run, &record->handler);
    const struct seen *seen = run_forward(run, err) ? find_site(record, site) : NULL;
    edit_clear(&edit);
    return seen;
}

static bool split_edit_name(const char *name, char *site, char *norm, char *alpha)
{
    return (sscanf(name, "logits.%7[a-z0-9].%15[0-9.]", norm, alpha) == 2 && strcpy(site, "logits")) ||
           (sscanf(name, "x.2.%7[a-z0-9].%15[0-9.]", norm, alpha) == 2 && strcpy(site, "x.2"));
}

static void compare_edited(struct comparison *me, const struct tensor_entry *entry, const char *site, const char *norm, const char *alpha)
{
    struct err err = {0};
    const struct seen *seen = run_edited(me, site, norm, alpha, &err);
    if (!seen && !strcmp(site, "x.2")) seen = run_edited(me, "h.1", norm, alpha, &err); /* no interface: x.2 is h.1 */
    compare_seen(me, entry, seen);
    const struct seen *plain = find_site(me->plain, site);
    if (seen && plain && !strcmp(alpha, "0") && memcmp(seen->data, plain->data, sizeof(float) * seen->count))
        report(me, entry, entry->name, 0, NAN, 0, NAN, NAN, "alpha 0 is not bit for bit the untouched run");
}

/* "logits.threshold.0.5", "exit_step.threshold.0.5": the run with another exit threshold. */
static bool split_threshold_name(const char *name, char *site, double *threshold)
{
    return sscanf(name, "%15[a-z_].threshold.%lf", site, threshold) == 2;
}

static void compare_threshold(struct comparison *me, const struct tensor_entry *entry, const char *site, double threshold)
{
    struct tape tape = {.arena = &me->arena};
    struct run run;
    struct record *record = record_new(&me->kept);
    begin_run(me, &run, me->model, &tape);
    run.exit_threshold = threshold;
    run_attach(&run, &record->handler);
    compare_seen(me, entry, run_forward(&run, NULL) ? find_site(record, site) : NULL);
}

/* The token that the edit mixes in, by row. */
static void compare_token(struct comparison *me, const struct tensor_entry *entry)
{
    struct tensor *h = me->run.states[1];
    double worst = 0;
    size_t at = 0;
    for (int b = 0; b < me->batch->rows; b++) {
        int row = me->batch->start[b] + 1;
        struct tensor *logits = run_decode(&me->run, run_rows(&me->run, h, &row, 1), 1);
        int64_t theirs;
        memcpy(&theirs, (const char *)entry->data + 8 * b, 8);
        if (row_argmax(logits->data, logits->cols) != theirs) worst = 1, at = (size_t)b;
    }
    report(me, entry, entry->name, 0, worst, at, NAN, NAN, NULL);
}

static void compare_reference(struct comparison *me)
{
    for (size_t i = 0; i < me->reference->count; i++) {
        const struct tensor_entry *entry = &me->reference->entries[i];
        char site[16], norm[8], alpha[16];
        double threshold;
        int k;
        if (!strcmp(entry->name, "tokens") || !strcmp(entry->name, "targets") || !strcmp(entry->name, "loss")) continue;
        if (!strcmp(entry->name, "intervene.token")) {
            compare_token(me, entry);
        } else if (split_threshold_name(entry->name, site, &threshold)) {
            compare_threshold(me, entry, site, threshold);
        } else if (split_edit_name(entry->name, site, norm, alpha)) {
            compare_edited(me, entry, site, norm, alpha);
        } else if (sscanf(entry->name, "lens.%d", &k) == 1 && k >= 0 && k <= me->run.loops) {
            struct tensor *logits = run_decode(&me->run, me->run.states[k], k);
            compare(me, entry, logits->data, tensor_size(logits), state_tolerance, false);
        } else {
            compare_seen(me, entry, find_site(me->plain, entry->name));
        }
    }
}

static bool compare_gradients(struct comparison *me, struct err *err)
{
    const struct tensor_entry *targets = tensor_set_find(me->reference, "targets"), *loss = tensor_set_find(me->reference, "loss");
    if (!targets || targets->dtype != I64 || targets->count != (size_t)me->batch->rows)
        return err_set(err, "%s: gradients need targets, I64 [B]", me->reference->path);
    struct model *model = model_trainable(me->model, err);
    if (!model) return false;
    int rows = me->batch->rows;
    float *grads = mem_new(sizeof(float) * model->parameter_count), *weights = arena_new(&me->arena, sizeof *weights * (size_t)rows);
    int *last = arena_new(&me->arena, sizeof *last * (size_t)rows), *wanted = arena_new(&me->arena, sizeof *wanted * (size_t)rows);
    for (int b = 0; b < rows; b++) {
        int64_t target;
        memcpy(&target, (const char *)targets->data + 8 * b, 8);
        last[b] = me->batch->start[b + 1] - 1, wanted[b] = (int)target, weights[b] = 1 / (float)rows;
    }
    struct tape tape = {.arena = &me->arena, .records = true, .grads = grads};
    struct run run;
    double sum = 0;
    begin_run(me, &run, model, &tape);
    run.wanted = places_new(&me->arena, me->batch, rows, last);
    struct tensor *logits = run_forward(&run, err);
    if (logits) {
        op_cross_entropy(&tape, logits, wanted, weights, &sum);
        tape_backward(&tape);
        float total = (float)sum;
        if (loss) compare(me, loss, &total, 1, state_tolerance, false);
        for (size_t i = 0; i < me->gradients->count; i++) {
            const struct weight *w = NULL;
            for (size_t j = 0; j < model->weight_count && !w; j++)
                if (!strcmp(model->weights[j]->name, me->gradients->entries[i].name)) w = model->weights[j];
            compare(me, &me->gradients->entries[i], w ? grads + w->offset : NULL, w ? (size_t)w->rows * (size_t)w->cols : 0, gradient_tolerance,
                    true);
        }
    }
    mem_free(grads);
    model_free(model);
    return logits != NULL;
}

/* Where the boundary is the token: one pass, token by token, and once more must agree. */
static bool compare_passages(struct comparison *me, struct err *err)
{
    struct token_check checks[TOKEN_CHECKS];
    if (!tokens_check(checks, me->model, me->batch, &me->arena, err)) return false;
    for (int i = 0; i < TOKEN_CHECKS; i++) {
        const struct token_check *check = &checks[i];
        bool ok = check->worst <= check->tolerance;
        me->compared++;
        me->wrong += !ok;
        sink_row(me->sink, (struct cell[]){cell_text(check->name), cell_text(check->what), cell_number(check->worst), cell_number(check->tolerance),
                                           cell_text(check->worst > 0 ? check->where : "equal to the last bit"),
                                           cell_number(check->worst > 0 ? check->ours : NAN), cell_number(check->worst > 0 ? check->theirs : NAN),
                                           cell_text(ok ? "ok" : "FAILED")});
    }
    return true;
}

static bool open_files(struct comparison *me, const char *folder, struct err *err)
{
    char *reference = path_join(folder, "reference.safetensors"), *gradients = path_join(folder, "gradients.safetensors");
    me->reference = tensor_set_open(reference, NULL, err);
    bool ok = me->reference && read_tokens(me, reference, err) && read_start(me, reference, err);
    if (ok && file_exists(gradients)) ok = (me->gradients = tensor_set_open(gradients, NULL, err)) != NULL;
    mem_free(reference);
    mem_free(gradients);
    return ok;
}

static void begin_table(struct comparison *me, struct session *session)
{
    struct table *table = table_new("selftest");
    table_column(table, "tensor", ROLE_LABEL, NULL);
    table_column(table, "shape", ROLE_LABEL, NULL);
    table_column(table, "worst", ROLE_VALUE, "%.2e");
    table_column(table, "tolerance", ROLE_VALUE, "%.0e");
    table_column(table, "where", ROLE_LABEL, NULL);
    table_column(table, "ours", ROLE_VALUE, "%.6g");
    table_column(table, "reference", ROLE_VALUE, "%.6g");
    table_column(table, "result", ROLE_LABEL, NULL);
    command_provenance(session, table);
    table_fact(table, "model", "%s", session_brief(session, me->model->path));
    table_fact(table, "model_sha256", "%s", model_hash(me->model));
    sink_table(me->sink, table);
    table_free(table);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    struct comparison me = {.sink = sink};
    struct tape tape;
    me.model = session_model(session, args_word(args, 0), sink, err);
    bool ok = me.model && blas_check(err) && open_files(&me, me.model->path, err) && run_plain(&me, &tape, err);
    if (ok) {
        begin_table(&me, session);
        compare_reference(&me);
        ok = (!me.gradients || compare_gradients(&me, err)) && (!model_by_token(me.model) || compare_passages(&me, err));
        if (ok && me.wrong) ok = err_set(err, "%s: %d of %d tensors are outside the tolerance", args_word(args, 0), me.wrong, me.compared);
    }
    tensor_set_close(me.reference);
    tensor_set_close(me.gradients);
    arena_clear(&me.arena);
    arena_clear(&me.kept);
    return ok;
}

const struct command command_selftest = {
    .name = "selftest",
    .words = "CASE_DIR",
    .least = 1,
    .most = 1,
    .help = "compare a model's states, logits, edits and gradients with a recorded reference",
    .example = "selftest tests/golden/looped_grad_vanilla",
    .run = run,
};
