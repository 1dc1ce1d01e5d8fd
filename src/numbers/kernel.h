/* What the inner loops share: processor variants chosen when the program starts, an exponential that vectorises, and rows of numbers.
 *
 *     KERNEL static void scale(float *x, int n, float by) { for (int i = 0; i < n; i++) x[i] *= by; }
 *
 * KERNEL compiles a function for several x86-64 levels; the loader picks one. Sums use sixteen fixed partial sums, so a result does not depend on how
 * wide the processor is, as long as no multiply-add is fused: the Makefile says -ffp-contract=off, as not every compiler's C17 mode does.
 */
#ifndef NUMBERS_KERNEL_H
#define NUMBERS_KERNEL_H

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(PLAIN_KERNELS)
#define KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERNEL
#endif

/* Relative error below 1e-7 on [-87, 88], clamped outside; NaN stays NaN. Range reduction and polynomial: Cephes expf. */
static inline float fast_exp(float x)
{
    x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + 12582912.0f; /* 1.5 * 2^23 leaves no room for a fraction: its last bits are the nearest integer */
    float n = shifted - 12582912.0f;
    float f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * f + 1.3981999507e-3f;
    p = p * f + 8.3334519073e-3f;
    p = p * f + 4.1665795894e-2f;
    p = p * f + 1.6666665459e-1f;
    p = p * f + 5.0000001201e-1f;
    p = p * f * f + f + 1.0f;
    unsigned bits;
    float power;
    memcpy(&bits, &shifted, 4);
    bits = (bits + 127u) << 23;
    memcpy(&power, &bits, 4);
    return p * power;
}

static inline float fast_sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }

static inline float sum16(const float s[16])
{
    float t[8], u[4];
    for (int j = 0; j < 8; j++) t[j] = s[j] + s[j + 8];
    for (int j = 0; j < 4; j++) u[j] = t[j] + t[j + 4];
    return (u[0] + u[2]) + (u[1] + u[3]);
}

static inline float dot(const float *a, const float *b, int n)
{
    float s[16] = {0};
    int i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++) s[j] += a[i + j] * b[i + j];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return sum16(s);
}

/* to = exp(scale from - top); returns their sum. to may be from. */
static inline float exp_sum(const float *from, float *to, int n, float scale, float top)
{
    float s[16] = {0};
    int i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++) {
            float e = fast_exp(from[i + j] * scale - top);
            to[i + j] = e;
            s[j] += e;
        }
    for (; i < n; i++) {
        to[i] = fast_exp(from[i] * scale - top);
        s[0] += to[i];
    }
    return sum16(s);
}

int row_argmax(const float *row, int n); /* lowest index among equals; -1 when any number is NaN or +-inf is the largest */
void row_softmax(const float *logits, float *p, int n, float scale); /* p = softmax(logits * scale); p may be logits */
double row_log_sum_exp(const float *row, int n); /* of the row itself */
float row_dot(const float *a, const float *b, int n);
void row_add(float *restrict to, const float *restrict from, size_t n);                 /* to += from */
void row_add_times(float *restrict to, float by, const float *restrict from, size_t n); /* to += by from */

#endif
