#include "models/safetensors.h"

#include "ground/file.h"
#include "ground/json.h"
#include "ground/mem.h"
#include "ground/text.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const struct tensor_out *tensor)
{
    size_t bytes = dtype_size(tensor->dtype);
    for (int i = 0; i < tensor->dims; i++) bytes *= (size_t)tensor->shape[i];
    return bytes;
}

/* Large elements first, so that every tensor stands at a multiple of its element size. */
static int by_size_and_name(const void *a, const void *b)
{
    const struct tensor_out *x = *(const struct tensor_out *const *)a, *y = *(const struct tensor_out *const *)b;
    size_t m = dtype_size(x->dtype), n = dtype_size(y->dtype);
    return m != n ? (m < n ? 1 : -1) : strcmp(x->name, y->name);
}

static void add_header(const struct tensor_out *const *tensors, size_t count, struct text *out)
{
    size_t at = 0;
    text_add(out, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < count; i++) {
        const struct tensor_out *tensor = tensors[i];
        text_add(out, ",");
        json_add_string(out, tensor->name);
        text_add(out, ":{\"dtype\":\"%s\",\"shape\":[", dtype_name(tensor->dtype));
        for (int j = 0; j < tensor->dims; j++) text_add(out, "%s%lld", j ? "," : "", (long long)tensor->shape[j]);
        text_add(out, "],\"data_offsets\":[%zu,%zu]}", at, at + bytes_of(tensor));
        at += bytes_of(tensor);
    }
    text_add(out, "}");
    while (out->size % 64 != 56) text_add(out, " "); /* the data start 64-byte aligned, so they are read in place */
}

enum { PIECE = 1 << 18 /* numbers made at once */ };

static bool put_made(struct file_writer *out, const struct tensor_out *tensor, void *piece, struct err *err)
{
    size_t size = dtype_size(tensor->dtype), count = bytes_of(tensor) / size;
    for (size_t from = 0; from < count && !out->wrong; from += PIECE) {
        size_t n = count - from < PIECE ? count - from : PIECE;
        if (!tensor->make(tensor->self, tensor, from, n, piece, err)) return false;
        file_put(out, piece, n * size);
    }
    return true;
}

static bool put_tensors(struct file_writer *out, const struct tensor_out *const *tensors, size_t count, struct err *err)
{
    enum { LARGEST = 8 /* bytes of a number */ };
    void *piece = mem_new((size_t)PIECE * LARGEST);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        if (tensors[i]->make && !tensors[i]->data) ok = put_made(out, tensors[i], piece, err);
        else file_put(out, tensors[i]->data, bytes_of(tensors[i]));
    }
    mem_free(piece);
    return ok;
}

bool tensors_write(const char *path, const struct tensor_out *tensors, size_t count, struct err *err)
{
    struct file_writer out;
    struct text header = {0};
    unsigned char length[8];
    if (!file_begin(&out, path, err)) return false;
    const struct tensor_out **order = mem_new(count * sizeof *order);
    for (size_t i = 0; i < count; i++) order[i] = tensors + i;
    if (count) qsort(order, count, sizeof *order, by_size_and_name);
    add_header(order, count, &header);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)header.size >> 8 * i);
    file_put(&out, length, sizeof length);
    file_put(&out, header.data, header.size);
    bool ok = put_tensors(&out, order, count, err);
    text_clear(&header);
    mem_free(order);
    if (ok) return file_commit(&out, err);
    file_abandon(&out);
    return false;
}
