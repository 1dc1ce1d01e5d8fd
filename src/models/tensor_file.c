#include "models/tensor_file.h"

#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"
#include "models/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8, HEADER_MOST = 100 << 20 };

/* Where a tensor lies, kept beside its entry while the file is checked. */
struct range { size_t begin, end; const struct tensor_entry *entry; };

struct reader {
    struct tensor_file *file;
    struct report report;
    const unsigned char *data;
};

/* ------------------------------------------------------------------ the frame */

/* What people hand over instead: first bytes, and what that is. */
static const struct { const char *start; size_t size; const char *is; } others[] = {
    {"PK\3\4", 4, "this is a PyTorch .bin/.pt file (zip), not safetensors: save it with safetensors.torch.save_file"},
    {"\x80\2", 2, "this is a pickle (old PyTorch file), not safetensors: save it with safetensors.torch.save_file"},
    {"GGUF", 4, "this is a GGUF file, not safetensors"},
    {"\x89HDF", 4, "this is an HDF5 file, not safetensors"},
    {"\x93NUMPY", 6, "this is a NumPy file, not safetensors"},
    {"\x1f\x8b", 2, "this is a gzip file: unpack it first"},
    {"<!DOCTYPE", 9, "this is a web page, not the weights: the download went wrong"},
    {"<!doctype", 9, "this is a web page, not the weights: the download went wrong"},
    {"<html", 5, "this is a web page, not the weights: the download went wrong"},
};

static bool looks_like_text(const unsigned char *data)
{
    for (int i = 0; i < LENGTH; i++)
        if ((data[i] < 0x20 && data[i] != '\n' && data[i] != '\r' && data[i] != '\t') || data[i] >= 0x7f) return false;
    return true;
}

/* The header's length, or 0 with the reason in err. */
static size_t read_length(const struct tensor_file *file, struct err *err)
{
    const unsigned char *data = file->map.data;
    size_t size = file->map.size;
    uint64_t length = 0;
    if (!size) return err_set(err, "%s: the file is empty (0 bytes): an incomplete download?", file->shown);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (size >= others[i].size && !memcmp(data, others[i].start, others[i].size)) return err_set(err, "%s: %s", file->shown, others[i].is);
    if (size < LENGTH) return err_set(err, "%s: %zu bytes, too short for the 8 bytes of the header length: incomplete?", file->shown, size);
    for (int i = LENGTH - 1; i >= 0; i--) length = length << 8 | data[i];
    if (length > size - LENGTH)
        return err_set(err, "%s: header length %llu is larger than the file (%zu bytes): %s", file->shown, (unsigned long long)length, size,
                       looks_like_text(data) ? "this is text, not safetensors" : "an incomplete download, or not safetensors");
    if (length > HEADER_MOST)
        return err_set(err, "%s: a header of %llu bytes, at most %d make sense", file->shown, (unsigned long long)length, HEADER_MOST);
    if (length < 2)
        return err_set(err, "%s: header length %llu: the header is empty, at least {} is wanted", file->shown, (unsigned long long)length);
    if (data[LENGTH] != '{') return err_set(err, "%s: the header does not start with {: it should be a JSON object", file->shown);
    return (size_t)length;
}

/* ------------------------------------------------------------------ one entry */

static bool read_range(const struct reader *r, const struct tensor_entry *entry, const struct json *node, struct range *range)
{
    const struct json *first = json_first(node), *second = first ? json_next(first) : NULL;
    int64_t begin, end;
    if (!json_is_array(node)) return report_wrong(&r->report, "data_offsets is %s: [begin, end] is wanted", json_kind(node));
    if (json_count(node) != 2) return report_wrong(&r->report, "data_offsets has %zu entries: [begin, end] is wanted", json_count(node));
    if (!json_int(first, &begin) || !json_int(second, &end) || begin < 0 || end < 0)
        return report_wrong(&r->report, "data_offsets must be two whole numbers from 0 to %zu", r->file->data_size);
    if (begin > end) return report_wrong(&r->report, "data_offsets [%lld, %lld]: begin lies behind the end", (long long)begin, (long long)end);
    if ((uint64_t)end > r->file->data_size) {
        uint64_t needs = r->file->map.size - r->file->data_size + (uint64_t)end;
        return report_wrong(&r->report,
                            "data_offsets [%lld, %lld] lie beyond the end: the file has %zu bytes, the header needs %llu: incomplete download?",
                            (long long)begin, (long long)end, r->file->map.size, (unsigned long long)needs);
    }
    *range = (struct range){(size_t)begin, (size_t)end, entry};
    return true;
}

static bool read_dtype(const struct reader *r, struct tensor_entry *entry, const struct json *node)
{
    struct text names = {0};
    const char *name = json_string(node);
    if (!name) return report_wrong(&r->report, "dtype is %s: a name such as \"F32\" is wanted", json_kind(node));
    entry->dtype = dtype_parse(name);
    if (entry->dtype != DTYPE_NONE) return true;
    for (int i = 1; i < DTYPE_COUNT; i++) text_add(&names, "%s%s", i > 1 ? " " : "", dtype_name((enum dtype)i));
    report_wrong(&r->report, "unknown dtype %s: known are %s", text_show(name), names.data);
    text_clear(&names);
    return false;
}

static bool read_shape(const struct reader *r, struct tensor_entry *entry, const struct json *node)
{
    bool empty = false, huge = false;
    if (!json_is_array(node)) return report_wrong(&r->report, "shape is %s: a list of whole numbers is wanted", json_kind(node));
    entry->count = 1;
    for (const struct json *size = json_first(node); size; size = json_next(size)) {
        int64_t value;
        if (!json_int(size, &value) || value < 0) return report_wrong(&r->report, "shape: every dimension must be a whole number, 0 or more");
        if (entry->dims == TENSOR_DIMS)
            return report_wrong(&r->report, "shape has %zu dimensions, at most %d are read", json_count(node), TENSOR_DIMS);
        entry->shape[entry->dims++] = value;
        empty = empty || !value;
        huge = __builtin_mul_overflow(entry->count, (size_t)value, &entry->count) || huge;
    }
    if (empty) entry->count = 0;
    else if (huge) return report_wrong(&r->report, "shape %s overflows: no file holds so many numbers", shape_show(entry->dims, entry->shape));
    return true;
}

/* Bounds come first: they hold whatever the type may be. */
static bool read_entry(struct reader *r, struct tensor_entry *entry, const struct json *node, struct range *range)
{
    size_t bytes;
    r->report.tensor = entry->name;
    if (!json_is_object(node))
        return report_wrong(&r->report, "its header entry is %s: an object with dtype, shape and data_offsets is wanted", json_kind(node));
    if (!read_range(r, entry, json_get(node, "data_offsets"), range)) return false;
    if (!read_dtype(r, entry, json_get(node, "dtype"))) return false;
    if (!read_shape(r, entry, json_get(node, "shape"))) return false;
    if (__builtin_mul_overflow(entry->count, dtype_size(entry->dtype), &bytes))
        return report_wrong(&r->report, "shape %s overflows: no file holds so many bytes", shape_show(entry->dims, entry->shape));
    if (bytes != range->end - range->begin)
        return report_wrong(&r->report, "shape %s of %s needs %zu bytes, data_offsets give %zu", shape_show(entry->dims, entry->shape),
                            dtype_name(entry->dtype), bytes, range->end - range->begin);
    for (const struct json *key = json_first(node); key; key = json_next(key))
        if (strcmp(json_key(key), "dtype") && strcmp(json_key(key), "shape") && strcmp(json_key(key), "data_offsets"))
            report_note(&r->report, "unknown key %s is ignored", text_show(json_key(key)));
    entry->file = r->file->shown;
    entry->data = r->data + range->begin;
    size_t align = dtype_size(entry->dtype);
    entry->aligned = (uintptr_t)entry->data % align == 0;
    r->report.tensor = NULL;
    return true;
}

static void read_metadata(struct reader *r, const struct json *node)
{
    if (!json_is_object(node)) report_note(&r->report, "__metadata__ is %s, not an object of texts: ignored", json_kind(node));
    for (const struct json *value = json_is_object(node) ? json_first(node) : NULL; value; value = json_next(value))
        if (!json_string(value)) report_note(&r->report, "__metadata__: %s is %s, not a text: ignored", text_show(json_key(value)), json_kind(value));
}

/* ------------------------------------------------------------------ covered exactly once */

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Ranges without bytes may stand anywhere; the others must join without overlap and without a gap. */
static bool check_cover(const struct reader *r, struct range *ranges, size_t count)
{
    const struct range *last = NULL;
    size_t gap = SIZE_MAX, gap_end = 0, covered = 0;
    if (count) qsort(ranges, count, sizeof *ranges, by_begin);
    for (size_t i = 0; i < count; i++) {
        const struct range *range = ranges + i;
        if (range->begin == range->end) continue;
        if (last && range->begin < last->end)
            return report_wrong(&r->report, "tensors %s and %s overlap: data_offsets [%zu, %zu] and [%zu, %zu] share bytes",
                                text_show(last->entry->name), text_show(range->entry->name), last->begin, last->end, range->begin, range->end);
        if (range->begin > covered && gap == SIZE_MAX) gap = covered, gap_end = range->begin;
        covered = range->end;
        last = range;
    }
    if (gap != SIZE_MAX)
        return report_wrong(&r->report, "a hole: bytes %zu to %zu of the data (%zu bytes) belong to no tensor", gap, gap_end, gap_end - gap);
    if (covered < r->file->data_size)
        return report_wrong(&r->report, "%zu trailing bytes behind the last tensor%s%s belong to no tensor", r->file->data_size - covered,
                            last ? " " : "", last ? text_show(last->entry->name) : "");
    return true;
}

/* ------------------------------------------------------------------ the file */

static bool read_header(struct reader *r, const struct json *header)
{
    struct tensor_file *file = r->file;
    size_t most = json_count(header);
    struct range *ranges = mem_new(most * sizeof *ranges);
    bool good = true;
    file->entries = mem_new(most * sizeof *file->entries);
    for (const struct json *node = json_first(header); node && good; node = json_next(node)) {
        if (!strcmp(json_key(node), "__metadata__")) {
            read_metadata(r, node);
            continue;
        }
        struct tensor_entry *entry = file->entries + file->count;
        *entry = (struct tensor_entry){.name = mem_text(json_key(node))};
        good = read_entry(r, entry, node, ranges + file->count++);
    }
    good = good && check_cover(r, ranges, file->count);
    mem_free(ranges);
    return good;
}

bool tensor_file_open(struct tensor_file *file, const char *path, struct sink *sink, struct err *err)
{
    *file = (struct tensor_file){0};
    if (!file_map(&file->map, path, err)) return false;
    file->name = mem_text(path_base(path));
    file->shown = mem_text(text_show(file->name));
    size_t length = read_length(file, err);
    struct text label = {0};
    text_add(&label, "%s: header", file->shown);
    struct json *header = length ? json_parse((const char *)file->map.data + LENGTH, length, label.data, err) : NULL;
    struct reader r = {.file = file, .report = {.shown = file->shown, .sink = sink, .err = err}, .data = file->map.data + LENGTH + length};
    if (header) file->data_size = file->map.size - LENGTH - length;
    bool good = header && read_header(&r, header);
    json_free(header);
    text_clear(&label);
    if (!good) tensor_file_close(file);
    return good;
}

void tensor_file_close(struct tensor_file *file)
{
    for (size_t i = 0; i < file->count; i++) mem_free(file->entries[i].name);
    for (size_t i = 0; i < file->block_count; i++) mem_free(file->blocks[i]);
    mem_free(file->blocks);
    mem_free(file->entries);
    mem_free(file->name);
    mem_free(file->shown);
    file_unmap(&file->map);
    *file = (struct tensor_file){.map = file->map};
}
