#include "numbers/blas.h"

#include "ground/file.h"
#include "ground/hash.h"
#include "ground/mem.h"
#include "ground/rng.h"
#include "ground/text.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
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
    static _Thread_local char name[128]; /* several threads may load models */
    char config[96];
    snprintf(config, sizeof config, "%s", openblas_get_config());
    char *second = strchr(config, ' ');
    if (second && (second = strchr(second + 1, ' '))) *second = 0;
    snprintf(name, sizeof name, "%s %s", config, openblas_get_corename());
    return name;
}

/* Full tiles and every kind of edge; long sums; one row, as when tokens are read one by one. */
static const int shapes[][3] = {{77, 77, 77}, {5, 64, 33}, {64, 3, 17}, {1, 70, 48}, {128, 96, 300}, {1, 301, 256}, {33, 130, 1}};
enum { LARGEST = 301 * 256 };

/* The largest error of one kind of product; a and b are stored as it wants them. */
static float worst_of(int which, int m, int n, int k, const float *a, const float *b, float *c, float beta)
{
    float most = 0;
    for (int i = 0; i < m * n; i++) c[i] = 0.5f;
    (which == 0 ? blas_nt : which == 1 ? blas_nn : blas_tn)(m, n, k, a, b, beta, c);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = beta * 0.5;
            for (int l = 0; l < k; l++) sum += (double)(which == 2 ? a[l * m + i] : a[i * k + l]) * (which == 0 ? b[j * k + l] : b[l * n + j]);
            float off = fabsf((float)sum - c[i * n + j]) / sqrtf((float)k);
            if (off > most || isnan(off)) most = off;
        }
    return most;
}

static float worst(int which)
{
    float *a = mem_new(sizeof *a * LARGEST), *b = mem_new(sizeof *b * LARGEST), *c = mem_new(sizeof *c * LARGEST), most = 0;
    struct rng rng = rng_start(1, "blas check");
    for (int i = 0; i < LARGEST; i++) a[i] = (float)rng_normal(&rng), b[i] = (float)rng_normal(&rng);
    for (unsigned s = 0; s < 2 * (sizeof shapes / sizeof *shapes); s++) {
        float off = worst_of(which, shapes[s / 2][0], shapes[s / 2][1], shapes[s / 2][2], a, b, c, (float)(s % 2));
        if (off > most || isnan(off)) most = off;
    }
    mem_free(a);
    mem_free(b);
    mem_free(c);
    return most;
}

/* What the system says of its first processor, but for what changes from minute to minute. */
static void add_processor(struct text *key)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[4096];
    while (file && fgets(line, sizeof line, file) && *line != '\n')
        if (!strstr(line, "MHz") && !strstr(line, "ogo")) text_add(key, "%s", line); /* bogomips, BogoMIPS */
    if (file) fclose(file);
}

/* What the kernels depend on, as the name of a file that says they are good; to free, NULL: there is no place for one. */
static char *known_good(void)
{
    char *folder = file_cache("kernels"), name[HASH_HEX];
    struct text key = {0};
    text_add(&key, "%s\n", blas_name());
    add_processor(&key);
    hash_bytes(name, key.data, key.size);
    char *path = folder ? path_join(folder, name) : NULL;
    text_clear(&key);
    mem_free(folder);
    return path;
}

static void note_good(const char *path)
{
    char *folder = file_cache("kernels");
    if (folder && path && folder_make(folder, NULL)) file_write(path, blas_name(), strlen(blas_name()), NULL);
    mem_free(folder);
}

static bool right_products(struct err *err)
{
    static const char *const kinds[] = {"A B^T", "A B", "A^T B"};
    for (int which = 0; which < 3; which++) {
        float off = worst(which);
        if (!(off < 1e-4f))
            return err_set(err, "%s: the product %s is wrong by %g on this processor: install a newer OpenBLAS, or choose an older kernel "
                           "(for example OPENBLAS_CORETYPE=Haswell) and start again", blas_name(), kinds[which], (double)off);
    }
    return true;
}

static sigjmp_buf illegal;

static void on_illegal(int number)
{
    (void)number;
    siglongjmp(illegal, 1);
}

/* A kernel can also be one that this processor has no instructions for. */
static bool good_products(struct err *err)
{
    struct sigaction catch = {.sa_handler = on_illegal}, before;
    sigaction(SIGILL, &catch, &before);
    bool ok = sigsetjmp(illegal, 1) ? err_set(err, "%s: uses instructions that this processor does not have: choose another kernel (for example "
                                              "OPENBLAS_CORETYPE=Haswell) and start again", blas_name())
                                    : right_products(err);
    sigaction(SIGILL, &before, NULL);
    return ok;
}

bool blas_check(struct err *err)
{
    static atomic_bool good; /* kernels do not change while the program runs */
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    if (good) return true;
    pthread_mutex_lock(&once); /* one checks, the others wait */
    openblas_set_num_threads(1);
    char *known = known_good();
    bool known_already = good || (known && file_exists(known));
    if (known_already || good_products(err)) good = true;
    if (good && !known_already) note_good(known);
    mem_free(known);
    pthread_mutex_unlock(&once);
    return good;
}
