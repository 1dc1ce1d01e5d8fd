/* Matrix products, through CBLAS; single-threaded, so that callers may run many at once. Row-major.
 *
 *     blas_nt(m, n, k, a, b, 0, c);     c[m,n] = a[m,k] b[n,k]^T            (a linear layer)
 *     blas_nn(m, n, k, a, b, 1, c);     c[m,n] += a[m,k] b[k,n]             (its input's gradient)
 *     blas_tn(m, n, k, a, b, 1, c);     c[m,n] += a[k,m]^T b[k,n]           (its weight's gradient)
 *
 *     blas_nt_into(m, n, k, a, b, 0, c, 640);    the same, the rows of c 640 apart  (some columns of a wider matrix)
 *
 * beta 0 stores, 1 adds. blas_check compares small products with a plain loop: some old builds pick wrong kernels on new processors. What has
 * passed is remembered in the cache folder, for this processor, library version and kernel.
 */
#ifndef NUMBERS_BLAS_H
#define NUMBERS_BLAS_H

#include "ground/err.h"

void blas_nt(int m, int n, int k, const float *a, const float *b, float beta, float *c);
void blas_nt_into(int m, int n, int k, const float *a, const float *b, float beta, float *c, int stride);
void blas_nn(int m, int n, int k, const float *a, const float *b, float beta, float *c);
void blas_tn(int m, int n, int k, const float *a, const float *b, float beta, float *c);

/* Once before the first product: one thread for each call, kernels checked. The message names the library, its kernel and what helps. */
bool blas_check(struct err *err);
const char *blas_name(void); /* "OpenBLAS 0.3.21 Haswell" */

#endif
