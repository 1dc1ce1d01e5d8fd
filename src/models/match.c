#include "models/match.h"

#include "ground/mem.h"
#include "ground/text.h"
#include "models/tensor_file.h"
#include "numbers/kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 7000 /* bytes of one message */, NAMED = 4000 /* of names in one note */, EXPLAINED = 12, CHUNK = 4096 };

/* Misfits, one line each; what no longer fits into a message is counted. */
struct misfits { struct text lines; size_t left_out; };

static void misfit(struct misfits *misfits, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void misfit(struct misfits *misfits, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (misfits->lines.size + strlen(line) > LISTED) misfits->left_out++;
    else text_add(&misfits->lines, "%s%s", misfits->lines.size ? "\n" : "", line);
}

/* The file that a message about the whole set names. */
static const char *label(const struct tensor_set *set)
{
    return set->index ? set->index : set->files[0].shown;
}

/* ------------------------------------------------------------------ one weight */

/* As the file has to store it; one of four rotating shapes. */
static const int64_t *stored_shape(const struct weight *weight)
{
    static _Thread_local int64_t shapes[4][4];
    static _Thread_local int turn;
    int64_t *shape = shapes[turn++ % 4];
    for (int i = 0; i < weight->dims; i++) shape[i] = weight->shape[i];
    return shape;
}

static void explain_missing(const struct model *model, const struct weight *weight, struct misfits *misfits)
{
    struct text why = {0};
    text_add(&why, "config.json asks for it, %s", shape_show(weight->dims, stored_shape(weight)));
    if (weight->use == WEIGHT_TABLE && weight != model->table && config_has(model->config, "tie_word_embeddings"))
        text_add(&why, " because tie_word_embeddings is false: store the head, or set tie_word_embeddings to true if it is the embedding table");
    if (weight->other) text_add(&why, "; %s would do as well", weight->other);
    misfit(misfits, "%s: tensor %s is missing: %s", label(model->set), weight->name, why.data);
    text_clear(&why);
}

static bool is_missing(const struct model *model, const struct weight *weight)
{
    return !tensor_set_find(model->set, weight->name) && !(weight->other && tensor_set_find(model->set, weight->other));
}

/* A few with their shapes and reasons, many as one list of names. */
static void list_missing(const struct model *model, struct misfits *misfits)
{
    size_t count = 0, listed = 0, left_out = 0;
    struct text names = {0};
    for (size_t i = 0; i < model->weight_count; i++) count += is_missing(model, model->weights[i]);
    for (size_t i = 0; count && i < model->weight_count; i++) {
        const struct weight *weight = model->weights[i];
        bool head = weight->use == WEIGHT_TABLE && weight != model->table;
        if (!is_missing(model, weight)) continue;
        if (count <= EXPLAINED || head) explain_missing(model, weight, misfits);
        else if (names.size + strlen(weight->name) > LISTED - 600) left_out++;
        else text_add(&names, "%s%s", listed++ ? ", " : "", weight->name);
    }
    if (left_out) text_add(&names, " and %zu more", left_out);
    if (listed)
        text_add(&misfits->lines, "%s%s: %zu tensors that config.json asks for are missing: %s", misfits->lines.size ? "\n" : "", label(model->set),
                 listed + left_out, names.data);
    text_clear(&names);
}

static bool fits(const struct weight *weight, const struct tensor_entry *entry, struct misfits *misfits)
{
    const int64_t *shape = stored_shape(weight);
    bool same = entry->dims == weight->dims;
    for (int i = 0; same && i < weight->dims; i++) same = entry->shape[i] == shape[i];
    if (!same)
        misfit(misfits, "%s: tensor %s has shape %s, config.json asks for %s", entry->file, text_show(entry->name),
               shape_show(entry->dims, entry->shape), shape_show(weight->dims, shape));
    bool weights = dtype_is_weight(entry->dtype);
    if (!weights)
        misfit(misfits, "%s: tensor %s is %s: a weight must be F32, F16 or BF16", entry->file, text_show(entry->name), dtype_name(entry->dtype));
    return same && weights;
}

/* Largest |a - b|; NaN when only one of two numbers is one. */
static double difference(const struct tensor_entry *a, const struct tensor_entry *b)
{
    float x[CHUNK], y[CHUNK];
    double most = 0;
    for (size_t at = 0; at < a->count; at += CHUNK) {
        size_t n = a->count - at < CHUNK ? a->count - at : CHUNK;
        dtype_widen(a->dtype, (const char *)a->data + at * dtype_size(a->dtype), x, n);
        dtype_widen(b->dtype, (const char *)b->data + at * dtype_size(b->dtype), y, n);
        for (size_t i = 0; i < n; i++) {
            bool same = x[i] == y[i] || (isnan(x[i]) && isnan(y[i]));
            if (!same && isnan(x[i] - y[i])) return NAN;
            if (!same && fabs((double)x[i] - y[i]) > most) most = fabs((double)x[i] - y[i]);
        }
    }
    return most;
}

/* A tied weight that is stored under both names, as torch state dicts do, must be the same twice. */
static void compare(const struct tensor_entry *one, const struct tensor_entry *other, struct misfits *misfits)
{
    double most = difference(one, other);
    if (most == 0) return;
    misfit(misfits,
           "%s: %s and %s differ (largest difference %g), but config.json ties them: set tie_word_embeddings to false, or store one of them",
           other->file, other->name, one->name, most);
}

static void match(const struct model *model, struct weight *weight, struct misfits *misfits)
{
    const struct tensor_entry *entry = tensor_set_find(model->set, weight->name);
    const struct tensor_entry *other = weight->other ? tensor_set_find(model->set, weight->other) : NULL;
    bool both = entry && other;
    if (!entry) entry = other;
    if (!entry || !fits(weight, entry, misfits)) return;
    if (both && fits(weight, other, misfits)) compare(entry, other, misfits);
    weight->dtype = entry->dtype;
    weight->data = entry->data;
    weight->aligned = entry->aligned;
}

/* ------------------------------------------------------------------ what is odd */

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool is_ignored(const struct model *model, const char *name)
{
    for (int i = 0; i < model->ignored_count; i++)
        if (text_matches(model->ignored[i], name)) return true;
    return false;
}

static void note_undeclared(const struct model *model, struct sink *sink)
{
    const struct tensor_set *set = model->set;
    const char **declared = mem_new((2 * model->weight_count + 1) * sizeof *declared);
    size_t count = 0, odd = 0, listed = 0;
    struct text names = {0};
    for (size_t i = 0; i < model->weight_count; i++) {
        declared[count++] = model->weights[i]->name;
        if (model->weights[i]->other) declared[count++] = model->weights[i]->other;
    }
    if (count) qsort(declared, count, sizeof *declared, by_name);
    for (size_t i = 0; i < set->count; i++) {
        const struct tensor_entry *entry = set->entries + i;
        const char *name = entry->name;
        if (is_ignored(model, name) || (count && bsearch(&name, declared, count, sizeof *declared, by_name))) continue;
        odd++;
        if (names.size < NAMED) text_add(&names, "%s%s %s", listed++ ? ", " : "", text_show(name), shape_show(entry->dims, entry->shape));
    }
    if (odd > listed) text_add(&names, " and %zu more", odd - listed);
    if (odd) sink_note(sink, "%s: %s no part of this model, ignored: %s", label(set), odd > 1 ? "tensors are" : "a tensor is", names.data);
    text_clear(&names);
    mem_free(declared);
}

/* Does any of n numbers have all exponent bits set, as NaN and infinities have? The largest exponent says so, at the speed of memory. */
KERNEL static bool odd_words(const uint32_t *bits, unsigned n)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t exponent = bits[i] & 0x7f800000;
        most = exponent > most ? exponent : most;
    }
    return most == 0x7f800000;
}

KERNEL static bool odd_halves(const uint16_t *bits, unsigned n, uint16_t mask)
{
    uint16_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        uint16_t exponent = bits[i] & mask;
        most = exponent > most ? exponent : most;
    }
    return most == mask;
}

static size_t count_odd(const struct tensor_entry *entry)
{
    union { float values[CHUNK]; uint32_t words[CHUNK]; uint16_t halves[CHUNK]; } x;
    size_t odd = 0, size = dtype_size(entry->dtype);
    for (size_t at = 0; at < entry->count; at += CHUNK) {
        const unsigned char *data = (const unsigned char *)entry->data + at * size;
        unsigned n = (unsigned)(entry->count - at < CHUNK ? entry->count - at : CHUNK);
        memcpy(&x, data, n * size); /* the file's data need not be aligned */
        if (!(entry->dtype == F32 ? odd_words(x.words, n) : odd_halves(x.halves, n, entry->dtype == BF16 ? 0x7f80 : 0x7c00))) continue;
        dtype_widen(entry->dtype, data, x.values, n);
        for (unsigned i = 0; i < n; i++) odd += !isfinite(x.values[i]);
    }
    return odd;
}

static size_t count_nan(const struct tensor_entry *entry)
{
    float x[CHUNK];
    size_t count = 0;
    for (size_t at = 0; at < entry->count; at += CHUNK) {
        size_t n = entry->count - at < CHUNK ? entry->count - at : CHUNK;
        dtype_widen(entry->dtype, (const char *)entry->data + at * dtype_size(entry->dtype), x, n);
        for (size_t i = 0; i < n; i++) count += isnan(x[i]) != 0;
    }
    return count;
}

static void note_not_finite(const struct tensor_set *set, struct sink *sink)
{
    size_t tensors = 0, listed = 0;
    struct text names = {0};
    for (size_t i = 0; i < set->count; i++) {
        const struct tensor_entry *entry = set->entries + i;
        size_t odd = dtype_is_weight(entry->dtype) ? count_odd(entry) : 0, nan;
        if (!odd) continue;
        if (++tensors > EXPLAINED) {
            if (names.size < NAMED) text_add(&names, "%s%s", listed++ ? ", " : "", text_show(entry->name));
            continue;
        }
        nan = count_nan(entry);
        sink_note(sink, "%s: tensor %s: %zu of %zu numbers are not finite (%zu NaN, %zu infinite)", entry->file, text_show(entry->name), odd,
                  entry->count, nan, odd - nan);
    }
    if (tensors > EXPLAINED)
        sink_note(sink, "%s: %zu more tensors hold numbers that are not finite (NaN or infinite): %s%s", label(set), tensors - EXPLAINED, names.data,
                  tensors - EXPLAINED > listed ? " ..." : "");
    text_clear(&names);
}

bool match_weights(struct model *model, struct sink *sink, struct err *err)
{
    struct misfits misfits = {0};
    list_missing(model, &misfits);
    for (size_t i = 0; i < model->weight_count; i++) match(model, model->weights[i], &misfits);
    bool good = !misfits.lines.size;
    if (!good) err_set(err, "%s", misfits.lines.data);
    if (misfits.left_out) err_add(err, "\n%s: %zu more of this kind", label(model->set), misfits.left_out);
    text_clear(&misfits.lines);
    if (!good) return false;
    note_undeclared(model, sink);
    note_not_finite(model->set, sink);
    return true;
}
