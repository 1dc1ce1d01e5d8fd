/* How numbers are stored in files, and widening to f32.
 *
 *     enum dtype t = dtype_parse("BF16");        DTYPE_NONE: unknown name
 *     dtype_widen(t, bytes, out, n);             n numbers to f32; bytes need no alignment
 */
#ifndef NUMBERS_DTYPE_H
#define NUMBERS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype { DTYPE_NONE, F32, F16, BF16, F64, I64, I32, I16, I8, U8, BOOL, F8_E4M3, F8_E5M2, U64, U32, U16, F8_E8M0, C64, DTYPE_COUNT };

enum dtype dtype_parse(const char *name);
const char *dtype_name(enum dtype dtype);
size_t dtype_size(enum dtype dtype);    /* bytes of one number */
bool dtype_is_weight(enum dtype dtype); /* F32, F16, BF16: what a weight may be stored as */

void dtype_widen(enum dtype dtype, const void *bytes, float *out, size_t n);   /* weight types only */
void dtype_narrow(enum dtype dtype, const float *values, void *out, size_t n); /* round to nearest even */

#endif
