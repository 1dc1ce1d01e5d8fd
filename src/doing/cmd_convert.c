/* convert: a model in this program's own files, safetensors and config.json, in the same or a smaller type of numbers; and what that changed.
 *
 * A tensor is converted while it is written, so a large model needs no memory of its own. Config.json stays as it is, but for the type it may name.
 */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "models/model.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"dtype", OPTION_CHOICE, "stored", .choices = "stored|f32|bf16|f16", .help = "how weights are written; stored: each as it is"},
    {0},
};

/* What becomes of one weight. */
struct change {
    const struct weight *weight;
    const struct tensor_entry *from; /* where it was stored, maybe under the name of the head it is tied to */
    double worst;                    /* largest rounding error */
    size_t lost;                     /* numbers that were finite and are too large for the type */
};

struct conversion {
    const struct model *model;
    struct session *session;
    struct sink *sink;
    struct change *changes;          /* [weight_count] */
    struct tensor_out *out;          /* [weight_count] */
    double done;                     /* numbers */
};

/* ------------------------------------------------------------------ writing */

static void measure(struct change *change, const float *before, const float *after, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(before[i])) continue;
        double off = fabs((double)before[i] - (double)after[i]);
        if (!isfinite(after[i])) change->lost++;
        else if (off > change->worst) change->worst = off;
    }
}

static bool make(void *self, const struct tensor_out *tensor, size_t from, size_t count, void *out, struct err *err)
{
    enum { PIECE = 4096 };
    struct conversion *me = self;
    struct change *change = &me->changes[tensor - me->out];
    const struct weight *w = change->weight;
    size_t size = dtype_size(w->dtype), to = dtype_size(tensor->dtype);
    float before[PIECE], after[PIECE];
    for (size_t at = 0; at < count; at += PIECE) {
        size_t n = count - at < PIECE ? count - at : PIECE;
        const char *bytes = (const char *)w->data + (from + at) * size;
        char *written = (char *)out + at * to;
        if (w->dtype == tensor->dtype) {
            memcpy(written, bytes, n * size);
            continue;
        }
        dtype_widen(w->dtype, bytes, before, n);
        dtype_narrow(tensor->dtype, before, written, n);
        dtype_widen(tensor->dtype, written, after, n);
        measure(change, before, after, n);
    }
    me->done += (double)count;
    struct progress progress = {.what = "convert", .done = me->done, .total = (double)model_numbers(me->model), .unit = "numbers", .left = -1};
    return (!session_stopped(me->session) && sink_progress(me->sink, &progress)) || err_stop(err, "stopped");
}

static enum dtype wanted_dtype(const char *name, enum dtype stored)
{
    return !strcmp(name, "f32") ? F32 : !strcmp(name, "f16") ? F16 : !strcmp(name, "bf16") ? BF16 : stored;
}

static void plan(struct conversion *me, const char *dtype)
{
    const struct model *model = me->model;
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        const struct tensor_entry *own = tensor_set_find(model->set, w->name);
        me->changes[i] = (struct change){.weight = w, .from = own || !w->other ? own : tensor_set_find(model->set, w->other)};
        me->out[i] = (struct tensor_out){.name = w->name, .dtype = wanted_dtype(dtype, w->dtype), .dims = w->dims, .make = make, .self = me};
        for (int j = 0; j < w->dims; j++) me->out[i].shape[j] = w->shape[j];
    }
}

/* The config's text with the type of its weights renamed, appended. Where the key is not found as expected the text stays as it was. */
static void rename_dtype(const struct model *model, enum dtype dtype, struct text *out, struct sink *sink)
{
    static const char *const keys[] = {"\"torch_dtype\"", "\"dtype\""};
    const char *text = config_text(model->config), *name = dtype == BF16 ? "bfloat16" : dtype == F16 ? "float16" : "float32";
    for (size_t i = 0; i < 2; i++) {
        const char *key = strstr(text, keys[i]), *at = key ? key + strlen(keys[i]) : NULL;
        if (!at) continue;
        at += strspn(at, " \t\r\n:");
        const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
        if (!end || (strlen(name) == (size_t)(end - at - 1) && !strncmp(at + 1, name, strlen(name)))) continue;
        text_add_bytes(out, text, (size_t)(at + 1 - text));
        text_add(out, "%s%s", name, end);
        sink_note(sink, "config.json: %s is %s now", keys[i], name);
        return;
    }
    text_add_bytes(out, text, strlen(text));
}

/* A recipe names the dataset that measurements ask for. */
static bool copy_recipe(const char *from, const char *to, struct err *err)
{
    enum { RECIPE_MOST = 1 << 20 };
    char *source = path_join(from, "recipe"), *target = path_join(to, "recipe");
    size_t size;
    char *text = file_exists(source) ? file_read(source, RECIPE_MOST, &size, NULL) : NULL;
    bool ok = !text || file_write(target, text, size, err);
    mem_free(text);
    mem_free(source);
    mem_free(target);
    return ok;
}

/* config.json last: a folder that has one is whole. */
static bool write_folder(struct conversion *me, const char *folder, const char *dtype, struct err *err)
{
    char *config = path_join(folder, "config.json"), *weights = path_join(folder, "model.safetensors");
    struct text text = {0};
    bool ok = !file_exists(config) && !file_exists(weights);
    if (!ok) err_set(err, "%s: there is a model already: choose another folder", text_show(folder));
    ok = ok && folder_make(folder, err) && tensors_write(weights, me->out, me->model->weight_count, err) && copy_recipe(me->model->path, folder, err);
    if (ok) rename_dtype(me->model, wanted_dtype(dtype, me->model->weights[0]->dtype), &text, strcmp(dtype, "stored") ? me->sink : NULL);
    ok = ok && file_write(config, text.data, text.size, err);
    text_clear(&text);
    mem_free(config);
    mem_free(weights);
    return ok;
}

/* ------------------------------------------------------------------ what changed */

static struct table *make_table(const struct conversion *me)
{
    struct table *table = table_new("convert");
    command_provenance(me->session, table);
    table_fact(table, "model", "%s", text_show(session_brief(me->session, me->model->path)));
    table_fact(table, "model_sha256", "%s", model_hash(me->model));
    table_column(table, "tensor", ROLE_LABEL, NULL);
    table_column(table, "shape", ROLE_LABEL, NULL);
    table_column(table, "stored", ROLE_LABEL, NULL);
    table_column(table, "written", ROLE_LABEL, NULL);
    table_column(table, "rounding", ROLE_VALUE, "%.2e");
    table_column(table, "change", ROLE_LABEL, NULL);
    return table;
}

static void show_row(struct sink *sink, const char *name, const struct tensor_entry *entry, const char *written, double rounding, const char *change)
{
    sink_row(sink, (struct cell[]){cell_text(text_show(name)), cell_text(shape_show(entry->dims, entry->shape)), cell_text(dtype_name(entry->dtype)),
                                   cell_text(written), cell_number(rounding), cell_text(change)});
}

/* Where an entry of the file went; NULL: nowhere. */
static const struct change *used(const struct conversion *me, const struct tensor_entry *entry)
{
    for (size_t i = 0; i < me->model->weight_count; i++)
        if (me->changes[i].from == entry) return &me->changes[i];
    return NULL;
}

static const struct weight *tied_to(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (model->weights[i]->other && !strcmp(model->weights[i]->other, name)) return model->weights[i];
    return NULL;
}

struct summary { size_t renamed, dropped, rounded, lost; double worst; const char *where; };

static void show_entry(const struct conversion *me, const struct tensor_entry *entry, struct summary *sum)
{
    const struct change *change = used(me, entry);
    struct text what = {0};
    text_add(&what, "%s", "");
    if (!change) {
        const struct weight *tied = tied_to(me->model, entry->name);
        if (tied) text_add(&what, "dropped: tied to %s and equal to it", tied->name);
        else text_add(&what, "dropped: no part of the model, or computed anew");
        show_row(me->sink, entry->name, entry, "", NAN, what.data);
        sum->dropped++;
        text_clear(&what);
        return;
    }
    enum dtype to = me->out[change - me->changes].dtype;
    if (strcmp(entry->name, change->weight->name)) text_add(&what, "renamed to %s, to which it is tied", change->weight->name), sum->renamed++;
    if (change->lost) text_add(&what, "%s%zu numbers are infinite now", what.size ? "; " : "", change->lost);
    if (change->worst > 0) sum->rounded++;
    if (change->worst > sum->worst) sum->worst = change->worst, sum->where = change->weight->name;
    sum->lost += change->lost;
    show_row(me->sink, entry->name, entry, dtype_name(to), change->worst, what.data);
    text_clear(&what);
}

static void show_changes(const struct conversion *me, const char *folder)
{
    struct summary sum = {0};
    struct table *table = make_table(me);
    sink_table(me->sink, table);
    table_free(table);
    for (size_t i = 0; i < me->model->set->count; i++) show_entry(me, &me->model->set->entries[i], &sum);
    struct text line = {0};
    text_add(&line, "wrote %s: %zu tensors, %zu renamed, %zu dropped; ", text_show(folder), me->model->weight_count, sum.renamed, sum.dropped);
    if (sum.rounded) text_add(&line, "%zu rounded, by at most %.3g (%s)", sum.rounded, sum.worst, sum.where);
    else text_add(&line, "every number is what it was");
    sink_say(me->sink, "%s", line.data);
    text_clear(&line);
    if (sum.lost) sink_note(me->sink, "%zu numbers are too large for the type and infinite now: bf16 has the range of f32", sum.lost);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    const char *folder = args_word(args, 1), *dtype = args_text(args, "dtype");
    (void)self;
    struct conversion me = {.model = session_model(session, args_word(args, 0), sink, err), .session = session, .sink = sink};
    if (!me.model) return false;
    me.changes = mem_new(sizeof *me.changes * me.model->weight_count);
    me.out = mem_new(sizeof *me.out * me.model->weight_count);
    plan(&me, dtype);
    bool ok = write_folder(&me, folder, dtype, err);
    if (ok) show_changes(&me, folder);
    mem_free(me.changes);
    mem_free(me.out);
    return ok;
}

const struct command command_convert = {
    .name = "convert", .words = "IN OUT", .least = 2, .most = 2, .options = options,
    .help = "write a model as safetensors and config.json, also in a smaller type; says what that changed",
    .more = "IN is a model folder with safetensors, shards or a PyTorch checkpoint. A head that is tied to the embedding is written once, under the "
            "embedding's name; buffers that are computed from the config, and tensors that are no part of the model, are left out.",
    .example = "convert models/vanilla /tmp/vanilla-bf16 --dtype bf16", .run = run,
};
