/* What keeps large models fast and small in memory: panels, widening, tensors made while they are written. */
#include "ground/file.h"
#include "ground/rng.h"
#include "models/safetensors.h"
#include "numbers/blas.h"
#include "numbers/op.h"
#include "numbers/pool.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "near.h"

enum { ROWS = 3, IN = 700, OUT = 1901 /* no multiple of a panel */ };

static void product(float *y, enum dtype dtype, const void *data, const float *x, bool add, struct pool *pool)
{
    struct arena arena = {0};
    struct tape tape = {.arena = &arena, .pool = pool};
    struct weight w = {.name = "w", .dims = 2, .rows = OUT, .cols = IN, .dtype = dtype, .data = data, .aligned = true};
    struct tensor *in = tape_tensor(&tape, ROWS, IN), *residual = add ? tape_tensor(&tape, ROWS, OUT) : NULL;
    memcpy(in->data, x, sizeof(float) * ROWS * IN);
    for (int i = 0; add && i < ROWS * OUT; i++) residual->data[i] = (float)i;
    memcpy(y, op_linear(&tape, in, &w, residual)->data, sizeof(float) * ROWS * OUT);
    if (dtype == BF16) assert_true(arena.peak < sizeof(float) * OUT * IN); /* never the whole weight at once */
    arena_clear(&arena);
}

/* A large bf16 matrix gives the bits of the widened one, with any number of threads, and those of a plain sum up to rounding. */
static void panels_do_not_change_products(void **state)
{
    (void)state;
    float *values = malloc(sizeof(float) * OUT * IN), *x = malloc(sizeof(float) * ROWS * IN), *y[4];
    uint16_t *brains = malloc(sizeof *brains * OUT * IN);
    struct rng rng = rng_start(1, "panels");
    for (int i = 0; i < OUT * IN; i++) values[i] = (float)rng_normal(&rng);
    for (int i = 0; i < ROWS * IN; i++) x[i] = (float)rng_normal(&rng);
    dtype_narrow(BF16, values, brains, OUT * IN);
    dtype_widen(BF16, brains, values, OUT * IN);
    struct pool *pool = pool_new(3);
    for (int i = 0; i < 4; i++) {
        y[i] = malloc(sizeof(float) * ROWS * OUT);
        product(y[i], i % 2 ? F32 : BF16, i % 2 ? (const void *)values : brains, x, true, i < 2 ? NULL : pool);
        assert_memory_equal(y[i], y[0], sizeof(float) * ROWS * OUT);
    }
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < OUT; j++) {
            double sum = r * OUT + j;
            for (int k = 0; k < IN; k++) sum += (double)x[r * IN + k] * (double)values[j * IN + k];
            assert_near(y[0][r * OUT + j], sum, 1e-3);
        }
    for (int i = 0; i < 4; i++) free(y[i]);
    pool_free(pool);
    free(values);
    free(brains);
    free(x);
}

/* Every half by its definition. */
static void halves_widen_exactly(void **state)
{
    (void)state;
    for (int bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        float got;
        int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double want = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        dtype_widen(F16, &half, &got, 1);
        if (exponent == 31 && fraction) assert_true(isnan(got));
        else assert_true(got == (float)((bits >> 15 ? -1 : 1) * (exponent == 31 ? (double)INFINITY : want)) && !signbit(got) == !(bits >> 15));
    }
}

static bool count_up(void *self, const struct tensor_out *tensor, size_t from, size_t count, void *out, struct err *err)
{
    int *calls = self;
    (void)tensor;
    if (++*calls > 6) return err_stop(err, "stopped");
    for (size_t i = 0; i < count; i++) ((float *)out)[i] = (float)(from + i);
    return true;
}

static void tensors_are_made_while_they_are_written(void **state)
{
    (void)state;
    char path[] = "/tmp/loopscope-scale-XXXXXX";
    int calls = 0;
    close(mkstemp(path));
    struct tensor_out out[] = {{"b", F32, 2, {1024, 1024}, .make = count_up, .self = &calls}, {"a", F32, 1, {2}, .data = (float[]){5, 6}}};
    struct err err = {0};
    assert_true(tensors_write(path, out, 2, &err));
    struct tensor_set *set = tensor_set_open(path, NULL, &err);
    if (!set) fail_msg("%s", err.text);
    const struct tensor_entry *b = tensor_set_find(set, "b");
    for (size_t i = 0; i < b->count; i += 4099) {
        float value;
        memcpy(&value, (const char *)b->data + 4 * i, 4);
        assert_true(value == (float)i);
    }
    tensor_set_close(set);
    assert_false(tensors_write(path, out, 2, &err)); /* stopped in the middle: the old file stays, whole */
    set = tensor_set_open(path, NULL, &err);
    assert_non_null(set);
    tensor_set_close(set);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_do_not_change_products),
        cmocka_unit_test(halves_widen_exactly),
        cmocka_unit_test(tensors_are_made_while_they_are_written),
    };
    struct err err = {0};
    if (!blas_check(&err)) return 1;
    return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
