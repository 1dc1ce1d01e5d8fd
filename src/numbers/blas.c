#include "numbers/blas.h"

#include "ground/rng.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void blas_nt_into(int m, int n, int k, const float *a, const float *b, float beta, float *c, int stride)
{
    if (m && n) cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, beta, c, stride);
}

void blas_nt(int m, int n, int k, const float *a, const float *b, float beta, float *c) { blas_nt_into(m, n, k, a, b, beta, c, n); }

void blas_nn(int m, int n, int k, const float *a, const float *b, float beta, float *c)
{
    if (m && n) cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, beta, c, n);
}

void blas_tn(int m, int n, int k, const float *a, const float *b, float beta, float *c)
{
    if (m && n) cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, m, b, n, beta, c, n);
}

const char *blas_name(void)
{
    static char name[128];
    char config[96];
    snprintf(config, sizeof config, "%s", openblas_get_config());
    config[strcspn(config, " ") + 1 < sizeof config ? strcspn(config, " ") : 0] = ' ';
    char *second = strchr(config, ' ');
    if (second && (second = strchr(second + 1, ' '))) *second = 0;
    snprintf(name, sizeof name, "%s %s", config, openblas_get_corename());
    return name;
}

enum { CHECK = 77 }; /* a prime-ish size: full tiles and every kind of edge */

static float worst(int which)
{
    static const int shapes[][3] = {{CHECK, CHECK, CHECK}, {5, 64, 33}, {64, 3, 17}, {1, 70, 48}};
    float a[CHECK * CHECK], b[CHECK * CHECK], c[CHECK * CHECK], most = 0;
    struct rng rng = rng_start(1, "blas check");
    for (int i = 0; i < CHECK * CHECK; i++) a[i] = (float)rng_normal(&rng), b[i] = (float)rng_normal(&rng);
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        (which == 0 ? blas_nt : which == 1 ? blas_nn : blas_tn)(m, n, k, a, b, 0, c);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int l = 0; l < k; l++) sum += (double)(which == 2 ? a[l * m + i] : a[i * k + l]) * (which == 0 ? b[j * k + l] : b[l * n + j]);
                float off = fabsf((float)sum - c[i * n + j]);
                if (!(off <= most)) most = off; /* NaN counts */
            }
    }
    return most;
}

bool blas_check(struct err *err)
{
    static const char *const kinds[] = {"A B^T", "A B", "A^T B"};
    static atomic_bool good; /* kernels do not change while the program runs */
    if (good) return true;
    openblas_set_num_threads(1);
    for (int which = 0; which < 3; which++) {
        float off = worst(which);
        if (!(off < 1e-3f))
            return err_set(err, "%s: the product %s is wrong by %g on this processor: install a newer OpenBLAS, or choose an older kernel "
                           "(for example OPENBLAS_CORETYPE=Haswell) and start again", blas_name(), kinds[which], (double)off);
    }
    return good = true;
}
