/* synth: a checkpoint with random weights in the shape of a public model, or of a family's tiny example: to try memory and time without a download.
 *
 * Weights are drawn while they are written, so a file of any size needs a few megabytes of memory. Each tensor has a stream of its own, named after
 * it: the same seed gives the same bytes.
 */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "ground/rng.h"
#include "models/model.h"
#include "registry.h"

#include <math.h>
#include <string.h>

/* The published config of each public size, as far as it says what is computed. */
static const struct size { const char *family, *name; enum dtype dtype; const char *config; } sizes[] = {
    /* ByteDance/Ouro-1.4B and Ouro-2.6B: config.json on the Hugging Face Hub, and arXiv 2510.25741 */
    {"ouro", "1.4b", BF16,
     "{\n  \"architectures\": [\"OuroForCausalLM\"],\n  \"model_type\": \"ouro\",\n  \"vocab_size\": 49152,\n  \"hidden_size\": 2048,\n"
     "  \"intermediate_size\": 5632,\n  \"num_hidden_layers\": 24,\n  \"num_attention_heads\": 16,\n  \"num_key_value_heads\": 16,\n"
     "  \"head_dim\": 128,\n  \"hidden_act\": \"silu\",\n  \"max_position_embeddings\": 65536,\n  \"rms_norm_eps\": 1e-06,\n"
     "  \"rope_theta\": 1000000.0,\n  \"tie_word_embeddings\": false,\n  \"total_ut_steps\": 4,\n  \"early_exit_threshold\": 1.0,\n"
     "  \"torch_dtype\": \"bfloat16\"\n}\n"},
    {"ouro", "2.6b", BF16,
     "{\n  \"architectures\": [\"OuroForCausalLM\"],\n  \"model_type\": \"ouro\",\n  \"vocab_size\": 49152,\n  \"hidden_size\": 2048,\n"
     "  \"intermediate_size\": 5632,\n  \"num_hidden_layers\": 48,\n  \"num_attention_heads\": 16,\n  \"num_key_value_heads\": 16,\n"
     "  \"head_dim\": 128,\n  \"hidden_act\": \"silu\",\n  \"max_position_embeddings\": 65536,\n  \"rms_norm_eps\": 1e-06,\n"
     "  \"rope_theta\": 1000000.0,\n  \"tie_word_embeddings\": false,\n  \"total_ut_steps\": 4,\n  \"early_exit_threshold\": 1.0,\n"
     "  \"torch_dtype\": \"bfloat16\"\n}\n"},
    /* tomg-group-umd/huginn-0125 (Geiping et al. 2025, arXiv 2502.05171) */
    {"huginn_raven", "3.5b", BF16,
     "{\n  \"architectures\": [\"RavenForCausalLM\"],\n  \"model_type\": \"huginn_raven\",\n  \"bias\": false,\n  \"block_size\": 4096,\n"
     "  \"head_dim\": 96,\n  \"injection_type\": \"linear\",\n  \"intermediate_size\": 17920,\n  \"mean_recurrence\": 32,\n"
     "  \"mlp_class_name\": \"GatedMLP\",\n  \"n_embd\": 5280,\n  \"n_heads\": 55,\n  \"num_key_value_heads\": 55,\n  \"n_layers\": 8,\n"
     "  \"n_layers_in_prelude\": 2,\n  \"n_layers_in_recurrent_block\": 4,\n  \"n_layers_in_coda\": 2,\n  \"nonlin_name\": \"SiLU\",\n"
     "  \"norm_class_name\": \"RMSNorm_llama\",\n  \"norm_eps\": 1e-06,\n  \"qk_bias\": true,\n  \"rope_base\": 50000,\n"
     "  \"state_init\": \"like-init\",\n  \"tie_embeddings\": true,\n  \"tie_word_embeddings\": true,\n  \"padded_vocab_size\": 65536,\n"
     "  \"vocab_size\": 65536,\n  \"torch_dtype\": \"bfloat16\"\n}\n"},
    /* the defaults of armenjeddi/loopformer: three blocks, eight loops */
    {"loopformer", "3x8", F32,
     "{\n  \"model_type\": \"loopformer\",\n  \"block_size\": 1024,\n  \"vocab_size\": 50304,\n  \"n_layer\": 3,\n  \"n_head\": 32,\n"
     "  \"n_embd\": 2048,\n  \"dropout\": 0.0,\n  \"bias\": false,\n  \"intermediate_dim\": 5120,\n  \"max_model_loops\": 8\n}\n"},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const struct option options[] = {
    {"out", OPTION_TEXT, NULL, .help = "the folder to write", .placeholder = "DIR"},
    {"seed", OPTION_INT, "0", .low = 0, .high = 9e15, .help = "of the random weights"},
    {"list", OPTION_FLAG, NULL, .help = "which families and sizes there are"},
    {"dtype", OPTION_CHOICE, "published", .choices = "published|f32|f16|bf16", .help = "how weights are stored; published: as the public files are"},
    {0},
};

struct writing {
    const struct model *model;
    struct session *session;
    struct sink *sink;
    uint64_t seed;
    struct rng rng;
    const struct weight *weight; /* the one being written */
    double done, total;          /* numbers */
};

static const struct weight *weight_named(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->weight_count; i++)
        if (!strcmp(model->weights[i]->name, name)) return model->weights[i];
    return NULL;
}

/* Uniform with a spread that keeps activations near 1: matrices by their width, gains around 1, biases near 0. */
static void draw(struct rng *rng, const struct weight *w, float *out, size_t n)
{
    bool gain = w->use == WEIGHT_GAIN;
    double deviation = gain || w->use == WEIGHT_BIAS ? 0.05 : 1 / sqrt(w->cols);
    float reach = (float)(deviation * sqrt(3.0) * 0x1p-31), shift = gain ? 1 : 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++, bits >>= 32) {
        if (i % 2 == 0) bits = rng_next(rng);
        out[i] = shift + reach * (float)(int32_t)(uint32_t)bits;
    }
}

static bool make(void *self, const struct tensor_out *tensor, size_t from, size_t count, void *out, struct err *err)
{
    enum { PIECE = 4096 };
    struct writing *me = self;
    float values[PIECE];
    if (!from) {
        me->weight = weight_named(me->model, tensor->name);
        me->rng = rng_start(me->seed, tensor->name);
    }
    for (size_t at = 0; at < count; at += PIECE) {
        size_t n = count - at < PIECE ? count - at : PIECE;
        draw(&me->rng, me->weight, values, n);
        dtype_narrow(tensor->dtype, values, (char *)out + at * dtype_size(tensor->dtype), n);
    }
    me->done += (double)count;
    struct progress progress = {.what = "synth", .done = me->done, .total = me->total, .unit = "numbers", .left = -1};
    return (!session_stopped(me->session) && sink_progress(me->sink, &progress)) || err_stop(err, "stopped");
}

static bool write_weights(struct writing *me, const char *folder, enum dtype dtype, struct err *err)
{
    const struct model *model = me->model;
    struct tensor_out *out = mem_new(model->weight_count * sizeof *out);
    char *path = path_join(folder, "model.safetensors");
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        out[i] = (struct tensor_out){.name = w->name, .dtype = dtype, .dims = w->dims, .make = make, .self = me};
        for (int j = 0; j < w->dims; j++) out[i].shape[j] = w->shape[j];
    }
    bool ok = tensors_write(path, out, model->weight_count, err);
    mem_free(out);
    mem_free(path);
    return ok;
}

/* config.json last: a folder that has one is whole. */
static bool write_folder(struct writing *me, const char *folder, enum dtype dtype, struct err *err)
{
    char *config = path_join(folder, "config.json");
    const char *text = config_text(me->model->config);
    bool ok = file_exists(config) ? err_set(err, "%s: there is a model already: choose another folder", text_show(folder))
                                  : folder_make(folder, err) && write_weights(me, folder, dtype, err) && file_write(config, text, strlen(text), err);
    mem_free(config);
    return ok;
}

static void list_sizes(const char *family, struct err *err)
{
    for (size_t f = 0; families[f]; f++) {
        const char *name = families[f]->model_type;
        if (family && strcmp(family, name)) continue;
        err_add(err, "\n  synth %s example", name);
        for (int i = 0; i < SIZES; i++)
            if (!strcmp(sizes[i].family, name)) err_add(err, "\n  synth %s %s", name, sizes[i].name);
    }
}

static bool find_size(const char *family, const char *name, struct size *found, struct err *err)
{
    const struct family *known = NULL;
    for (size_t f = 0; families[f]; f++)
        if (!strcmp(families[f]->model_type, family)) known = families[f];
    if (known && !strcmp(name, "example")) {
        *found = (struct size){family, name, F32, known->example};
        return true;
    }
    for (int i = 0; known && i < SIZES; i++)
        if (!strcmp(sizes[i].family, family) && !strcmp(sizes[i].name, name)) {
            *found = sizes[i];
            return true;
        }
    if (known) err_set(err, "synth %s %s: there is no such size; there are", family, text_show(name));
    else err_set(err, "synth %s: there is no such family; there are", text_show(family));
    list_sizes(known ? family : NULL, err);
    return err_usage(err);
}

static void show_sizes(const struct session *session, struct sink *sink)
{
    struct table *table = table_new("sizes");
    command_provenance(session, table);
    table_column(table, "family", ROLE_LABEL, NULL);
    table_column(table, "size", ROLE_LABEL, NULL);
    table_column(table, "published_as", ROLE_LABEL, NULL);
    sink_table(sink, table);
    table_free(table);
    for (size_t f = 0; families[f]; f++) {
        const char *family = families[f]->model_type;
        sink_row(sink, (struct cell[]){cell_text(family), cell_text("example"), cell_text(dtype_name(F32))});
        for (int i = 0; i < SIZES; i++)
            if (!strcmp(sizes[i].family, family))
                sink_row(sink, (struct cell[]){cell_text(family), cell_text(sizes[i].name), cell_text(dtype_name(sizes[i].dtype))});
    }
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct size size = {0};
    const char *folder = args_text(args, "out"), *dtype = args_text(args, "dtype");
    if (args_flag(args, "list")) return show_sizes(session, sink), true;
    if (!command_says_text(self, session, err)) return false;
    if (args->word_count < 2) return err_set(err, "FAMILY SIZE is missing: synth --list says what there is"), err_usage(err);
    if (!folder || !*folder) return err_set(err, "--out DIR is missing: the folder to write"), err_usage(err);
    if (!find_size(args_word(args, 0), args_word(args, 1), &size, err)) return false;
    struct model *model = model_outline(size.config, size.name, sink, err);
    if (!model) return false;
    if (strcmp(dtype, "published")) size.dtype = !strcmp(dtype, "f32") ? F32 : !strcmp(dtype, "f16") ? F16 : BF16;
    struct writing me = {.model = model, .session = session, .sink = sink, .seed = (uint64_t)args_int(args, "seed"),
                         .total = (double)model_numbers(model)};
    bool ok = write_folder(&me, folder, size.dtype, err);
    const struct model *written = ok ? session_model(session, folder, sink, err) : NULL; /* opened again: what was written is what any reader finds */
    if (written)
        sink_say(sink, "wrote %s: %s %s, %zu random weights as %s, sha256 %s", text_show(folder), size.family, size.name, model_numbers(model),
                 dtype_name(size.dtype), model_hash(written));
    model_free(model);
    return written != NULL;
}

const struct command command_synth = {
    .name = "synth", .words = "[FAMILY SIZE]", .least = 0, .most = 2, .options = options,
    .help = "write a checkpoint with random weights in the shape of a public model (ouro 1.4b), or of a family's example",
    .more = "--list says which sizes there are. The same seed writes the same bytes.",
    .example = "synth ouro example --out /tmp/ouro-example", .run = run,
};
