#include "numbers/dtype.h"

#include "numbers/kernel.h"

#include <assert.h>
#include <string.h>

static const struct { const char *name; size_t size; } kinds[DTYPE_COUNT] = {
    [DTYPE_NONE] = {"?", 0}, [F32] = {"F32", 4}, [F16] = {"F16", 2}, [BF16] = {"BF16", 2}, [F64] = {"F64", 8}, [I64] = {"I64", 8}, [I32] = {"I32", 4},
    [I16] = {"I16", 2}, [I8] = {"I8", 1}, [U8] = {"U8", 1}, [BOOL] = {"BOOL", 1}, [F8_E4M3] = {"F8_E4M3", 1}, [F8_E5M2] = {"F8_E5M2", 1},
    [U64] = {"U64", 8}, [U32] = {"U32", 4}, [U16] = {"U16", 2}, [F8_E8M0] = {"F8_E8M0", 1}, [C64] = {"C64", 8},
};

enum dtype dtype_parse(const char *name)
{
    for (int i = 1; i < DTYPE_COUNT; i++)
        if (!strcmp(kinds[i].name, name)) return (enum dtype)i;
    return DTYPE_NONE;
}

const char *dtype_name(enum dtype dtype) { return kinds[dtype].name; }
size_t dtype_size(enum dtype dtype) { return kinds[dtype].size; }
bool dtype_is_weight(enum dtype dtype) { return dtype == F32 || dtype == F16 || dtype == BF16; }

static inline float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* Exponent and fraction moved into place stand for a number 2^112 times too small, subnormals included; infinities and NaN are set apart. */
static inline float widen_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = (uint32_t)(h & 0x7fff) << 13;
    uint32_t bits = to_bits(from_bits(magnitude) * 0x1p112f);
    return from_bits(sign | (magnitude >= 0x0f800000 ? 0x7f800000 | magnitude : bits));
}

KERNEL static void widen_halves(const unsigned char *from, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, 2);
        out[i] = widen_half(half);
    }
}

KERNEL static void widen_brains(const unsigned char *from, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, from + 2 * i, 2);
        out[i] = from_bits((uint32_t)half << 16);
    }
}

static uint16_t narrow_half(float value)
{
    uint32_t bits = to_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* rounds to 65536 or more */
    if (magnitude < 0x38800000) {                                  /* subnormal: a multiple of 2^-24, rounded by the addition */
        float shifted = from_bits(magnitude) + 0.5f;               /* ulp of 0.5 is 2^-24 */
        return (uint16_t)(sign | (to_bits(shifted) - to_bits(0.5f)));
    }
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (magnitude - 0x38000000) >> 13);
}

static uint16_t narrow_bf16(float value)
{
    uint32_t bits = to_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void dtype_widen(enum dtype dtype, const void *bytes, float *out, size_t n)
{
    const unsigned char *from = bytes;
    assert(dtype_is_weight(dtype));
    if (dtype == F32) {
        memcpy(out, bytes, n * 4);
    } else {
        (dtype == BF16 ? widen_brains : widen_halves)(from, out, n);
    }
}

void dtype_narrow(enum dtype dtype, const float *values, void *out, size_t n)
{
    unsigned char *to = out;
    assert(dtype_is_weight(dtype));
    if (dtype == F32) {
        memcpy(out, values, n * 4);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t half = dtype == BF16 ? narrow_bf16(values[i]) : narrow_half(values[i]);
        memcpy(to + 2 * i, &half, 2);
    }
}
