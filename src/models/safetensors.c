#include "models/safetensors.h"

#include "ground/hash.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/known_hash.h"
#include "models/tensor_file.h"
#include "models/torchfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char single[] = "model.safetensors", safe_index[] = "model.safetensors.index.json";
static const char torch_single[] = "pytorch_model.bin", torch_index[] = "pytorch_model.bin.index.json";

enum { INDEX_MOST = 64 << 20, LISTED = 6000 /* bytes of names in one message */, NAMED = 16 /* in one note, or notes of one kind */ };

/* What the index says: a tensor and the file it should be in. Sorted by name. */
struct place { const char *tensor, *shard; };

struct index {
    const char *name; /* of the file */
    struct json *json;
    struct place *places;
    size_t place_count;
    const char **shards; /* each name once, sorted */
    size_t shard_count;
};

const char *shape_show(int dims, const int64_t *shape)
{
    static _Thread_local char buffers[8][TENSOR_DIMS * 22 + 3];
    static _Thread_local int turn;
    char *out = buffers[turn++ % 8], *at = out;
    *at++ = '[';
    for (int i = 0; i < dims; i++) at += sprintf(at, "%s%lld", i ? ", " : "", (long long)shape[i]);
    strcpy(at, "]");
    return out;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int by_tensor(const void *a, const void *b) { return strcmp(((const struct place *)a)->tensor, ((const struct place *)b)->tensor); }

static int by_name(const void *a, const void *b) { return strcmp(((const struct tensor_entry *)a)->name, ((const struct tensor_entry *)b)->name); }

static const struct place *index_find(const struct index *index, const char *tensor)
{
    struct place key = {tensor, NULL};
    return index->place_count ? bsearch(&key, index->places, index->place_count, sizeof key, by_tensor) : NULL;
}

/* ------------------------------------------------------------------ the index */

/* Only names of files in the same folder: an index must not lead anywhere else. */
static bool shard_name_wrong(const char *shard)
{
    return !*shard || strchr(shard, '/') || strchr(shard, '\\') || !strcmp(shard, ".") || !strcmp(shard, "..");
}

static bool index_read_map(struct index *index, const struct json *map, struct err *err)
{
    if (!json_is_object(map))
        return err_set(err, "%s: weight_map is %s: an object of tensor names and file names is wanted", index->name, json_kind(map));
    size_t count = json_count(map);
    if (!count) return err_set(err, "%s: weight_map is empty: it should name the file of every tensor", index->name);
    index->places = mem_new(count * sizeof *index->places);
    index->shards = mem_new(count * sizeof *index->shards);
    for (const struct json *node = json_first(map); node; node = json_next(node)) {
        const char *tensor = json_key(node), *shard = json_string(node);
        if (!shard)
            return err_set(err, "%s: weight_map: %s is %s: the name of a file is wanted", index->name, text_show(tensor), json_kind(node));
        if (shard_name_wrong(shard))
            return err_set(err, "%s: weight_map: %s stands in \"%s\": the name of a file in the same folder is wanted, without a path", index->name,
                           text_show(tensor), text_show(shard));
        index->places[index->place_count] = (struct place){tensor, shard};
        index->shards[index->place_count++] = shard;
    }
    qsort(index->places, count, sizeof *index->places, by_tensor);
    qsort(index->shards, count, sizeof *index->shards, by_text);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(index->shards[i], index->shards[index->shard_count - 1])) index->shards[index->shard_count++] = index->shards[i];
    return true;
}

static bool index_read(struct index *index, const char *path, struct sink *sink, struct err *err)
{
    index->json = json_read(path, INDEX_MOST, err);
    if (!index->json) return false;
    if (!json_is_object(index->json)) return err_set(err, "%s: %s where an object with weight_map should stand", index->name, json_kind(index->json));
    for (const struct json *node = json_first(index->json); node; node = json_next(node))
        if (strcmp(json_key(node), "metadata") && strcmp(json_key(node), "weight_map"))
            sink_note(sink, "%s: unknown key %s is ignored", index->name, text_show(json_key(node)));
    return index_read_map(index, json_get(index->json, "weight_map"), err);
}

static void index_clear(struct index *index)
{
    json_free(index->json);
    mem_free(index->places);
    mem_free(index->shards);
}

/* ------------------------------------------------------------------ files that an index names */

/* Adds one more entry to a list that goes into a message of limited size; what no longer fits is counted. */
static void list_add(struct text *list, size_t *left_out, const char *between, const char *entry)
{
    if (*left_out || list->size + strlen(entry) > LISTED) ++*left_out;
    else text_add(list, "%s%s", list->size ? between : "", entry);
}

static bool check_shards_there(const struct index *index, const char *folder, struct err *err)
{
    struct text list = {0};
    size_t missing = 0, left_out = 0;
    for (size_t i = 0; i < index->shard_count; i++) {
        char *path = path_join(folder, index->shards[i]);
        if (!file_exists(path)) {
            missing++;
            list_add(&list, &left_out, ", ", text_show(index->shards[i]));
        }
        mem_free(path);
    }
    if (missing)
        err_set(err, "%s: of the %zu files it names %zu are missing from the folder (incomplete download?): %s", index->name,
                index->shard_count, missing, list.data);
    if (left_out) err_add(err, " and %zu more", left_out);
    text_clear(&list);
    return !missing;
}

static const struct tensor_file *holder(const struct tensor_set *set, const char *tensor)
{
    for (size_t i = 0; i < set->file_count; i++)
        for (size_t j = 0; j < set->files[i].count; j++)
            if (!strcmp(set->files[i].entries[j].name, tensor)) return set->files + i;
    return NULL;
}

/* Every tensor of the index must be in the set by now; the message says where it really is. */
static bool check_promises(const struct tensor_set *set, const struct index *index, struct err *err)
{
    struct text list = {0};
    size_t left_out = 0;
    for (size_t i = 0; i < index->place_count; i++) {
        const struct place *place = index->places + i;
        if (tensor_set_find(set, place->tensor)) continue;
        const struct tensor_file *other = left_out ? NULL : holder(set, place->tensor);
        const char *where = other ? other->shown : "";
        char line[1200];
        snprintf(line, sizeof line, "%s: tensor %s should be in %s, which does not hold it%s%s%s: index and shards do not fit together",
                 index->name, text_show(place->tensor), text_show(place->shard), other ? " (it is in " : "", where, other ? ")" : "");
        list_add(&list, &left_out, "\n", line);
    }
    bool good = !list.size;
    if (!good) err_set(err, "%s", list.data);
    if (left_out) err_add(err, "\n%s: %zu more of this kind", index->name, left_out);
    text_clear(&list);
    return good;
}

/* What `selftest` reads: nobody takes them for weights. */
static bool is_reference(const char *name) { return !strcmp(name, "reference.safetensors") || !strcmp(name, "gradients.safetensors"); }

/* Files beside the index that it does not name are not read; saying so tells apart "ignored" and "used". */
static void note_strays(const struct index *index, const char *folder, struct sink *sink)
{
    char **names;
    size_t count, strays = 0;
    struct text list = {0};
    if (!folder_list(folder, &names, &count, NULL)) return;
    for (size_t i = 0; i < count; i++) {
        const char *kind = index->name == torch_index ? ".bin" : ".safetensors";
        bool named = bsearch(&names[i], index->shards, index->shard_count, sizeof *index->shards, by_text) != NULL;
        if (!named && text_ends(names[i], kind) && !is_reference(names[i]) && ++strays <= NAMED)
            text_add(&list, "%s%s", list.size ? ", " : "", text_show(names[i]));
        mem_free(names[i]);
    }
    mem_free(names);
    if (strays > NAMED) text_add(&list, " and %zu more", strays - NAMED);
    if (strays) sink_note(sink, "%s: the index does not name %s: not read", index->name, list.data);
    text_clear(&list);
}

static void note_size(const struct tensor_set *set, const struct index *index, struct sink *sink)
{
    int64_t said, is = 0;
    const struct json *node = json_get(json_get(index->json, "metadata"), "total_size");
    for (size_t i = 0; i < set->file_count; i++) is += (int64_t)set->files[i].data_size;
    if (!node || index->name == torch_index) return; /* a PyTorch file is more than its storages */
    if (!json_int(node, &said)) sink_note(sink, "%s: metadata.total_size is %s, not a whole number: ignored", index->name, json_kind(node));
    else if (said != is)
        sink_note(sink, "%s: metadata.total_size is %lld, the files it names hold %lld bytes", index->name, (long long)said, (long long)is);
}

/* ------------------------------------------------------------------ the set */

static bool open_file(struct tensor_set *set, const char *folder, const char *name, struct sink *sink, struct err *err)
{
    char *path = path_join(folder, name);
    set->files = mem_resize(set->files, (set->file_count + 1) * sizeof *set->files);
    bool good = (torch_file_name(name) ? torch_file_open : tensor_file_open)(set->files + set->file_count, path, sink, err);
    if (good) set->file_count++;
    mem_free(path);
    return good;
}

/* Takes the entries of all files; with an index, one that stands elsewhere by the index is passed over, and one it does not know is taken. */
static void gather(struct tensor_set *set, const struct index *index, struct sink *sink)
{
    size_t room = 0, unknown = 0, copies = 0;
    for (size_t i = 0; i < set->file_count; i++) room += set->files[i].count;
    set->entries = mem_new(room * sizeof *set->entries);
    for (size_t i = 0; i < set->file_count; i++) {
        const struct tensor_file *file = set->files + i;
        for (size_t j = 0; j < file->count; j++) {
            const struct place *place = index ? index_find(index, file->entries[j].name) : NULL;
            const char *name = text_show(file->entries[j].name);
            if (index && !place && ++unknown <= NAMED) sink_note(sink, "%s: tensor %s is not in the index: read all the same", file->shown, name);
            if (place && strcmp(place->shard, file->name)) {
                if (++copies <= NAMED)
                    sink_note(sink, "%s: tensor %s is not read: the index says it is in %s", file->shown, name, text_show(place->shard));
                continue;
            }
            set->entries[set->count++] = file->entries[j];
        }
    }
    if (unknown > NAMED) sink_note(sink, "%s: %zu more tensors are not in the index", index->name, unknown - NAMED);
    if (copies > NAMED) sink_note(sink, "%s: %zu more tensors are not where the index says", index->name, copies - NAMED);
    if (set->count) qsort(set->entries, set->count, sizeof *set->entries, by_name);
}

/* Two shards may hold the same name without the index knowing it: then nobody can say which one is meant. */
static bool check_twice(const struct tensor_set *set, struct err *err)
{
    for (size_t i = 1; i < set->count; i++)
        if (!strcmp(set->entries[i - 1].name, set->entries[i].name))
            return err_set(err, "%s: tensor %s stands twice: in %s and in %s", text_show(path_base(set->path)), text_show(set->entries[i].name),
                           set->entries[i - 1].file, set->entries[i].file);
    return true;
}

static bool open_indexed(struct tensor_set *set, const char *folder, const char *path, struct sink *sink, struct err *err)
{
    struct index index = {.name = strstr(path, torch_index) ? torch_index : safe_index};
    set->index = index.name;
    bool good = index_read(&index, path, sink, err) && check_shards_there(&index, folder, err);
    for (size_t i = 0; good && i < index.shard_count; i++) good = open_file(set, folder, index.shards[i], sink, err);
    if (good) {
        gather(set, &index, sink);
        good = check_promises(set, &index, err) && check_twice(set, err);
    }
    if (good) {
        note_strays(&index, folder, sink);
        note_size(set, &index, sink);
    }
    index_clear(&index);
    return good;
}

static bool no_weights(const char *folder, struct err *err)
{
    char **names;
    size_t count, listed = 0;
    err_set(err, "%s/%s: no such file: a model folder holds config.json and %s, or shards with %s", text_show(folder), single, single, safe_index);
    if (!folder_list(folder, &names, &count, NULL)) return false;
    for (size_t i = 0; i < count; i++) {
        bool weights = text_ends(names[i], ".safetensors") || torch_file_name(names[i]);
        if (weights && ++listed <= NAMED) err_add(err, "%s%s", listed == 1 ? "; there is " : ", ", text_show(names[i]));
        mem_free(names[i]);
    }
    mem_free(names);
    return false;
}

/* What training leaves beside a model: PyTorch files that hold no weights. */
static bool is_other_state(const char *name)
{
    static const char *const starts[] = {"training_args", "optimizer", "scheduler", "rng_state", "scaler", "trainer_state"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text_starts(name, starts[i])) return true;
    return false;
}

/* The only PyTorch file of the folder, to free; NULL when there is none, or several (then with a message). */
static char *only_torch_file(const char *folder, bool *several, struct err *err)
{
    char **names, *only = NULL;
    size_t count, found = 0;
    struct text list = {0};
    if (!folder_list(folder, &names, &count, NULL)) return NULL;
    for (size_t i = 0; i < count; i++) {
        bool weights = torch_file_name(names[i]) && !is_other_state(names[i]);
        if (weights && ++found <= NAMED) text_add(&list, "%s%s", list.size ? ", " : "", text_show(names[i]));
        if (weights && !only) only = names[i];
        else mem_free(names[i]);
    }
    mem_free(names);
    *several = found > 1;
    if (*several) {
        err_set(err, "%s: several PyTorch files (%s): keep one, or call the right one %s", text_show(folder), list.data, torch_single);
        mem_free(only);
        only = NULL;
    }
    text_clear(&list);
    return only;
}

static bool open_single(struct tensor_set *set, const char *name, struct sink *sink, struct err *err)
{
    if (!open_file(set, set->path, name, sink, err)) return false;
    gather(set, NULL, sink);
    return check_twice(set, err);
}

static bool has(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    bool there = file_exists(path);
    mem_free(path);
    return there;
}

/* safetensors come first: where both kinds stand, they hold the same. */
static bool open_folder(struct tensor_set *set, struct sink *sink, struct err *err)
{
    static const char *const indexes[] = {safe_index, torch_index}, *const files[] = {single, torch_single};
    for (size_t i = 0; i < 2; i++) {
        char *index = path_join(set->path, indexes[i]);
        bool indexed = file_exists(index), good = indexed && open_indexed(set, set->path, index, sink, err);
        mem_free(index);
        if (indexed) return good;
        if (has(set->path, files[i])) return open_single(set, files[i], sink, err);
    }
    bool several = false;
    char *torch = only_torch_file(set->path, &several, err);
    bool good = torch ? open_single(set, torch, sink, err) : several ? false : no_weights(set->path, err);
    mem_free(torch);
    return good;
}

struct tensor_set *tensor_set_open(const char *path, struct sink *sink, struct err *err)
{
    struct tensor_set *set = mem_new(sizeof *set);
    bool good;
    set->path = mem_text(path);
    if (file_is_folder(path)) {
        good = open_folder(set, sink, err);
    } else {
        good = open_file(set, ".", path, sink, err);
        if (good) gather(set, NULL, sink);
        good = good && check_twice(set, err);
    }
    if (good) return set;
    tensor_set_close(set);
    return NULL;
}

void tensor_set_close(struct tensor_set *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->file_count; i++) tensor_file_close(set->files + i);
    mem_free(set->files);
    mem_free(set->entries);
    mem_free(set->path);
    mem_free(set);
}

const struct tensor_entry *tensor_set_find(const struct tensor_set *set, const char *name)
{
    struct tensor_entry key = {.name = (char *)name};
    return set->count ? bsearch(&key, set->entries, set->count, sizeof key, by_name) : NULL;
}

const char *tensor_set_hash(struct tensor_set *set)
{
    struct hash hash;
    if (*set->hash || known_hash_get(set, set->hash)) return set->hash;
    hash_start(&hash);
    for (size_t i = 0; i < set->file_count; i++) hash_add(&hash, set->files[i].map.data, set->files[i].map.size);
    hash_end(&hash, set->hash);
    known_hash_put(set);
    return set->hash;
}
