#include "models/torchfile.h"

#include "ground/mem.h"
#include "ground/text.h"
#include "models/pickle.h"
#include "models/report.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>

enum { PATH_MOST = 300 };

static const struct pickle_global globals[] = {
    {"collections.OrderedDict", PICKLE_IS_DICT},        {"torch._utils._rebuild_tensor_v2", PICKLE_IS_CALLED},
    {"torch._utils._rebuild_parameter", PICKLE_IS_CALLED}, {"torch.FloatStorage", PICKLE_IS_NAME},   {"torch.HalfStorage", PICKLE_IS_NAME},
    {"torch.BFloat16Storage", PICKLE_IS_NAME},          {"torch.DoubleStorage", PICKLE_IS_NAME}, {"torch.LongStorage", PICKLE_IS_NAME},
    {"torch.IntStorage", PICKLE_IS_NAME},               {"torch.ShortStorage", PICKLE_IS_NAME},  {"torch.CharStorage", PICKLE_IS_NAME},
    {"torch.ByteStorage", PICKLE_IS_NAME},              {"torch.BoolStorage", PICKLE_IS_NAME},   {"torch.ComplexFloatStorage", PICKLE_IS_NAME},
    {0},
};

static const struct { const char *name; enum dtype dtype; } storages[] = {
    {"torch.FloatStorage", F32}, {"torch.HalfStorage", F16}, {"torch.BFloat16Storage", BF16}, {"torch.DoubleStorage", F64},
    {"torch.LongStorage", I64},  {"torch.IntStorage", I32},  {"torch.ShortStorage", I16},     {"torch.CharStorage", I8},
    {"torch.ByteStorage", U8},   {"torch.BoolStorage", BOOL},
    {"torch.ComplexFloatStorage", C64},
};

/* One storage, read once however many tensors lie in it. */
struct storage { const char *key; enum dtype dtype; size_t count; const unsigned char *data; };

struct reader {
    struct tensor_file *file;
    struct report report;
    zip_t *zip;
    char folder[PATH_MOST]; /* of the pickle inside the archive, with its slash, or "" */
    struct storage *storages;
    size_t storage_count, storage_room, block_room;
};

/* Memory that lives as long as the file. */
static void *new_block(struct reader *r, size_t size)
{
    struct tensor_file *file = r->file;
    mem_grow(&file->blocks, &r->block_room, file->block_count + 1, sizeof *file->blocks);
    return file->blocks[file->block_count++] = mem_new(size);
}

/* ------------------------------------------------------------------ the archive */

static bool open_archive(struct reader *r)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(r->file->map.data, r->file->map.size, 0, &error);
    r->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (source && !r->zip) zip_source_free(source);
    if (!r->zip) report_wrong(&r->report, "this zip archive cannot be read (%s): an incomplete download?", zip_error_strerror(&error));
    zip_error_fini(&error);
    return r->zip != NULL;
}

/* torch.save puts everything into one folder of the archive, whose name is anybody's choice. */
static bool find_pickle(struct reader *r, zip_uint64_t *index)
{
    zip_int64_t count = zip_get_num_entries(r->zip, 0), found = 0;
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(r->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (!name || (strcmp(name, "data.pkl") && !text_ends(name, "/data.pkl"))) continue;
        size_t size = strlen(name) - strlen("data.pkl");
        if (found++) return report_wrong(&r->report, "two data.pkl stand in the archive: a PyTorch checkpoint has one");
        if (size >= sizeof r->folder) return report_wrong(&r->report, "the folder of data.pkl has a name of %zu bytes", size);
        memcpy(r->folder, name, size);
        r->folder[size] = 0;
        *index = (zip_uint64_t)i;
    }
    return found || report_wrong(&r->report, "no data.pkl in this zip archive: it is no PyTorch checkpoint");
}

/* All bytes of an entry, in a block of the file. want SIZE_MAX: however many there are. */
static bool read_entry(struct reader *r, zip_uint64_t index, const char *name, size_t want, const unsigned char **data, size_t *size)
{
    zip_stat_t stat;
    if (zip_stat_index(r->zip, index, 0, &stat) || !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_COMP_METHOD))
        return report_wrong(&r->report, "%s: the archive does not say how long it is", text_show(name));
    if (stat.comp_method != ZIP_CM_STORE || (stat.valid & ZIP_STAT_ENCRYPTION_METHOD && stat.encryption_method != ZIP_EM_NONE))
        return report_wrong(&r->report, "%s is compressed or encrypted: torch.save stores bytes as they are", text_show(name));
    if (stat.size > r->file->map.size)
        return report_wrong(&r->report, "%s: %llu bytes, more than the whole file", text_show(name), (unsigned long long)stat.size);
    if (want != SIZE_MAX && stat.size != want)
        return report_wrong(&r->report, "%s: %llu bytes, the storage it holds needs %zu", text_show(name), (unsigned long long)stat.size, want);
    zip_file_t *stream = zip_fopen_index(r->zip, index, 0);
    unsigned char *bytes = new_block(r, (size_t)stat.size + 1);
    zip_int64_t got = stream ? zip_fread(stream, bytes, stat.size) : -1;
    unsigned char end; /* the check sum is compared at the end of the entry */
    bool good = got == (zip_int64_t)stat.size && zip_fread(stream, &end, 1) == 0;
    if (stream) zip_fclose(stream);
    *data = bytes;
    *size = (size_t)stat.size;
    return good || report_wrong(&r->report, "%s: its bytes are damaged (length or check sum): an incomplete download?", text_show(name));
}

/* "byteorder" is written by newer versions. */
static bool check_byteorder(struct reader *r)
{
    char name[PATH_MOST + 16];
    const unsigned char *data;
    size_t size;
    snprintf(name, sizeof name, "%sbyteorder", r->folder);
    zip_int64_t index = zip_name_locate(r->zip, name, ZIP_FL_ENC_RAW);
    if (index < 0) return true;
    if (!read_entry(r, (zip_uint64_t)index, name, SIZE_MAX, &data, &size)) return false;
    return (size == 6 && !memcmp(data, "little", 6)) ||
           report_wrong(&r->report, "%s is not \"little\": only little-endian files are read", text_show(name));
}

/* ------------------------------------------------------------------ storages */

static bool key_is_plain(const char *key)
{
    return *key && strlen(key) < 64 && !strchr(key, '/') && !strchr(key, '\\') && strcmp(key, "..") && strcmp(key, ".");
}

/* ("storage", its type, its key, the device it was on, how many numbers) */
static const struct storage *read_storage(struct reader *r, const struct pickle_value *id)
{
    const struct pickle_value **part = id->items;
    if (id->kind != PICKLE_PERSISTENT || id->count != 5 || part[0]->kind != PICKLE_TEXT || strcmp(part[0]->text, "storage") ||
        part[1]->kind != PICKLE_GLOBAL || part[2]->kind != PICKLE_TEXT || part[4]->kind != PICKLE_INT || part[4]->number < 0)
        return report_wrong(&r->report, "data.pkl names it without a storage (type, key, device, count)"), NULL;
    enum dtype dtype = DTYPE_NONE;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (!strcmp(storages[i].name, part[1]->text)) dtype = storages[i].dtype;
    if (dtype == DTYPE_NONE) return report_wrong(&r->report, "data.pkl: %s is no storage", part[1]->text), NULL;
    const char *key = part[2]->text;
    size_t count = (size_t)part[4]->number, bytes, size;
    for (size_t i = 0; i < r->storage_count; i++) {
        const struct storage *old = &r->storages[i];
        if (strcmp(old->key, key)) continue;
        if (old->dtype != dtype || old->count != count)
            return report_wrong(&r->report, "data.pkl: storage %s has two types or two sizes", text_show(key)), NULL;
        return old;
    }
    if (!key_is_plain(key)) return report_wrong(&r->report, "data.pkl: a storage is called %s: a plain name is wanted", text_show(key)), NULL;
    char name[PATH_MOST + 80];
    struct storage storage = {.key = key, .dtype = dtype, .count = count};
    snprintf(name, sizeof name, "%sdata/%s", r->folder, key);
    zip_int64_t index = zip_name_locate(r->zip, name, ZIP_FL_ENC_RAW);
    if (__builtin_mul_overflow(count, dtype_size(dtype), &bytes))
        return report_wrong(&r->report, "data.pkl: storage %s of %zu numbers overflows", text_show(key), count), NULL;
    if (index < 0) return report_wrong(&r->report, "%s is not in the archive, data.pkl says it is: an incomplete file?", text_show(name)), NULL;
    if (!read_entry(r, (zip_uint64_t)index, name, bytes, &storage.data, &size)) return NULL;
    mem_grow(&r->storages, &r->storage_room, r->storage_count + 1, sizeof *r->storages);
    r->storages[r->storage_count] = storage;
    return &r->storages[r->storage_count++];
}

/* ------------------------------------------------------------------ tensors */

struct layout { size_t offset; size_t stride[TENSOR_DIMS]; bool contiguous; };

static bool read_layout(struct reader *r, struct tensor_entry *entry, const struct pickle_value *call, struct layout *layout)
{
    const struct pickle_value *offset = call->items[1], *sizes = call->items[2], *strides = call->items[3];
    bool tuples = sizes->kind == PICKLE_TUPLE && strides->kind == PICKLE_TUPLE && sizes->count == strides->count;
    if (offset->kind != PICKLE_INT || offset->number < 0 || !tuples)
        return report_wrong(&r->report, "offset, sizes and strides are wanted as whole numbers");
    if (sizes->count > TENSOR_DIMS)
        return report_wrong(&r->report, "%zu dimensions, at most %d are read", sizes->count, TENSOR_DIMS);
    *layout = (struct layout){.offset = (size_t)offset->number, .contiguous = true};
    entry->dims = (int)sizes->count;
    entry->count = 1;
    bool empty = false, huge = false;
    for (size_t i = 0; i < sizes->count; i++) {
        const struct pickle_value *size = sizes->items[i], *stride = strides->items[i];
        if (size->kind != PICKLE_INT || stride->kind != PICKLE_INT || size->number < 0 || stride->number < 0)
            return report_wrong(&r->report, "sizes and strides must be whole numbers, 0 or more");
        entry->shape[i] = size->number;
        layout->stride[i] = (size_t)stride->number;
        empty = empty || !size->number;
        huge = __builtin_mul_overflow(entry->count, (size_t)size->number, &entry->count) || huge;
    }
    if (empty) entry->count = 0;
    else if (huge) return report_wrong(&r->report, "shape %s overflows: no file holds so many numbers", shape_show(entry->dims, entry->shape));
    size_t step = 1;
    for (int i = entry->dims - 1; i >= 0 && !empty; i--) {
        if (entry->shape[i] != 1 && layout->stride[i] != step) layout->contiguous = false;
        step *= (size_t)entry->shape[i];
    }
    return true;
}

/* The last number it reads has to lie in the storage, and nothing may be read more often than it is there. */
static bool check_reach(struct reader *r, const struct tensor_entry *entry, const struct layout *layout, const struct storage *storage)
{
    size_t last = layout->offset, part;
    bool huge = false;
    if (!entry->count) return true;
    for (int i = 0; i < entry->dims; i++) {
        huge = __builtin_mul_overflow((size_t)entry->shape[i] - 1, layout->stride[i], &part) || huge;
        huge = __builtin_add_overflow(last, part, &last) || huge;
    }
    if (huge || last >= storage->count)
        return report_wrong(&r->report, "shape %s at offset %zu reads beyond its storage of %zu numbers",
                            shape_show(entry->dims, entry->shape), layout->offset, storage->count);
    if (entry->count > storage->count)
        return report_wrong(&r->report, "%zu numbers from a storage of %zu: an expanded tensor, save it with .contiguous()",
                            entry->count, storage->count);
    return true;
}

static const void *in_order(struct reader *r, const struct tensor_entry *entry, const struct layout *layout, const struct storage *storage)
{
    size_t size = dtype_size(entry->dtype), at[TENSOR_DIMS] = {0}, from = layout->offset;
    unsigned char *to = new_block(r, entry->count * size + 1);
    for (size_t n = 0; n < entry->count; n++) {
        memcpy(to + n * size, storage->data + from * size, size);
        for (int i = entry->dims - 1; i >= 0; i--) { /* the next place, last dimension first */
            from += layout->stride[i];
            if (++at[i] < (size_t)entry->shape[i]) break;
            from -= layout->stride[i] * at[i];
            at[i] = 0;
        }
    }
    return to;
}

/* _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks ...), maybe inside _rebuild_parameter(tensor, requires_grad, hooks) */
static const struct pickle_value *tensor_call(const struct pickle_value *value)
{
    if (value->kind == PICKLE_CALL && !strcmp(value->text, "torch._utils._rebuild_parameter") && value->count) value = value->items[0];
    return value->kind == PICKLE_CALL && !strcmp(value->text, "torch._utils._rebuild_tensor_v2") ? value : NULL;
}

static bool read_tensor(struct reader *r, const char *name, const struct pickle_value *call)
{
    struct tensor_entry *entry = r->file->entries + r->file->count++;
    struct layout layout = {0};
    *entry = (struct tensor_entry){.name = mem_text(name), .file = r->file->shown};
    r->report.tensor = entry->name;
    if (call->count < 4)
        return report_wrong(&r->report, "%zu arguments where storage, offset, sizes and strides are wanted", call->count);
    if (!read_layout(r, entry, call, &layout)) return false;
    const struct storage *storage = read_storage(r, call->items[0]);
    if (!storage || !check_reach(r, entry, &layout, storage)) return false;
    size_t size = dtype_size(storage->dtype);
    entry->dtype = storage->dtype;
    if (!entry->count) entry->data = storage->data;
    else if (layout.contiguous) entry->data = storage->data + layout.offset * size;
    else entry->data = in_order(r, entry, &layout, storage);
    entry->aligned = (uintptr_t)entry->data % size == 0;
    r->report.tensor = NULL;
    return true;
}

/* ------------------------------------------------------------------ the state dict */

static size_t tensors_in(const struct pickle_value *dict)
{
    size_t count = 0;
    for (size_t i = 0; dict && dict->kind == PICKLE_DICT && i < dict->count; i += 2) count += tensor_call(dict->items[i + 1]) != NULL;
    return count;
}

static const struct pickle_value *state_dict(struct reader *r, const struct pickle_value *root)
{
    static const char *const keys[] = {"model", "state_dict", "model_state_dict", "module"};
    if (root->kind != PICKLE_DICT)
        return report_wrong(&r->report, "data.pkl is no dict: a state dict of tensors is wanted (torch.save(model.state_dict(), ...))"), NULL;
    if (tensors_in(root)) return root;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tensors_in(pickle_get(root, keys[i]))) return pickle_get(root, keys[i]);
    return report_wrong(&r->report, "data.pkl: no tensors in it, nor in a dict under \"model\" or \"state_dict\""), NULL;
}

/* Wrappers for parallel training and compilation put a prefix before every name. */
static size_t common_prefix(struct reader *r, const struct pickle_value *dict)
{
    static const char *const prefixes[] = {"module.", "_orig_mod."};
    size_t skip = 0;
    for (size_t p = 0; p < 2; p++) {
        bool all = tensors_in(dict) > 0;
        for (size_t i = 0; i < dict->count; i += 2)
            if (tensor_call(dict->items[i + 1]))
                all = all && dict->items[i]->kind == PICKLE_TEXT && strlen(dict->items[i]->text) > skip &&
                      text_starts(dict->items[i]->text + skip, prefixes[p]);
        if (!all) continue;
        report_note(&r->report, "every name starts with %s: read without it", prefixes[p]);
        skip += strlen(prefixes[p]);
        p = (size_t)-1; /* both may stand, in either order */
    }
    return skip;
}

static bool read_state(struct reader *r, const struct pickle_value *dict)
{
    size_t skip = common_prefix(r, dict);
    r->file->entries = mem_new((tensors_in(dict) + 1) * sizeof *r->file->entries);
    for (size_t i = 0; i < dict->count; i += 2) {
        const struct pickle_value *key = dict->items[i], *call = tensor_call(dict->items[i + 1]);
        if (key->kind != PICKLE_TEXT) return report_wrong(&r->report, "data.pkl: a name in the state dict is no text");
        if (!call) {
            report_note(&r->report, "%s is no tensor: left out", text_show(key->text));
            continue;
        }
        if (!read_tensor(r, key->text + skip, call)) return false;
    }
    return true;
}

static bool read_archive(struct reader *r)
{
    zip_uint64_t index = 0;
    const unsigned char *bytes;
    struct pickle pickle;
    struct text label = {0};
    size_t size;
    if (!open_archive(r) || !find_pickle(r, &index) || !check_byteorder(r)) return false;
    if (!read_entry(r, index, "data.pkl", SIZE_MAX, &bytes, &size)) return false;
    text_add(&label, "%s: data.pkl", r->file->shown);
    bool good = pickle_read(&pickle, bytes, size, label.data, globals, r->report.err);
    text_clear(&label);
    if (!good) return false;
    const struct pickle_value *dict = state_dict(r, pickle.root);
    good = dict && read_state(r, dict);
    pickle_release(&pickle);
    return good;
}

/* ------------------------------------------------------------------ the file */

bool torch_file_name(const char *name) { return text_ends(name, ".pt") || text_ends(name, ".pth") || text_ends(name, ".bin"); }

static bool check_magic(const struct reader *r)
{
    const unsigned char *data = r->file->map.data;
    size_t size = r->file->map.size;
    if (!size) return report_wrong(&r->report, "the file is empty (0 bytes): an incomplete download?");
    if (size >= 4 && !memcmp(data, "PK\3\4", 4)) return true;
    if (size >= 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5)
        return report_wrong(&r->report, "a pickle without a zip archive, as PyTorch before 1.6 wrote: load it with torch and save it again");
    return report_wrong(&r->report, "no zip archive: a PyTorch checkpoint starts with PK");
}

bool torch_file_open(struct tensor_file *file, const char *path, struct sink *sink, struct err *err)
{
    *file = (struct tensor_file){0};
    if (!file_map(&file->map, path, err)) return false;
    file->name = mem_text(path_base(path));
    file->shown = mem_text(text_show(file->name));
    file->data_size = file->map.size;
    struct reader r = {.file = file, .report = {.shown = file->shown, .sink = sink, .err = err}};
    bool good = check_magic(&r) && read_archive(&r);
    if (r.zip) zip_discard(r.zip);
    mem_free(r.storages);
    if (!good) tensor_file_close(file);
    return good;
}
