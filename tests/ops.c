/* Ops against finite differences and closed forms; families check the others (engine.c). */
#include "ground/rng.h"
#include "numbers/blas.h"
#include "numbers/op.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

enum { N = 4, D = 6, MOST = 8, ROOM = 256 };

/* What an op reads: tensors and weights, filled from one seed. block holds the weights, each in ROOM numbers. */
struct world {
    struct arena arena;
    struct tape tape;
    struct tensor *x[MOST];
    int sizes[MOST][2], count;
    struct weight weights[MOST];
    float block[MOST * ROOM], grads[MOST * ROOM], values[MOST][ROOM];
};

typedef struct tensor *(*apply)(struct world *me); /* one op over the world's tensors and weights */

static void fill(float *x, int n, const char *what)
{
    struct rng rng = rng_start(3, what);
    for (int i = 0; i < n; i++) x[i] = (float)rng_normal(&rng);
}

static void add_input(struct world *me, int rows, int cols)
{
    char name[16];
    snprintf(name, sizeof name, "x%d", me->count);
    me->sizes[me->count][0] = rows, me->sizes[me->count][1] = cols;
    fill(me->values[me->count++], rows * cols, name);
}

static void add_weight(struct world *me, int i, int rows, int cols)
{
    char name[16];
    snprintf(name, sizeof name, "w%d", i);
    me->weights[i] = (struct weight){.name = "w", .dims = 2, .rows = rows, .cols = cols, .data = me->block + i * ROOM, .aligned = true,
                                     .offset = (size_t)(i * ROOM)};
    me->weights[i].dtype = F32;
    fill(me->block + i * ROOM, rows * cols, name);
}

/* sum of c y, with c fixed; records: its gradients are left in x[i]->grad and grads. */
static double value(struct world *me, apply op, bool records)
{
    arena_reset(&me->arena);
    memset(me->grads, 0, sizeof me->grads);
    me->tape = (struct tape){.arena = &me->arena, .records = records, .grads = me->grads};
    for (int i = 0; i < me->count; i++) {
        me->x[i] = tape_tensor(&me->tape, me->sizes[i][0], me->sizes[i][1]);
        memcpy(me->x[i]->data, me->values[i], sizeof(float) * (size_t)(me->x[i]->rows * me->x[i]->cols));
    }
    struct tensor *y = op(me);
    float c[ROOM];
    double sum = 0;
    fill(c, y->rows * y->cols, "c");
    for (int i = 0; i < y->rows * y->cols; i++) sum += (double)c[i] * y->data[i];
    if (records) {
        memcpy(tensor_grad(&me->tape, y), c, sizeof(float) * (size_t)(y->rows * y->cols));
        tape_backward(&me->tape);
    }
    return sum;
}

static double slope(struct world *me, apply op, float *number)
{
    float was = *number, step = 1e-2f;
    double at[4];
    static const int sides[] = {-2, -1, 1, 2};
    for (int s = 0; s < 4; s++) {
        *number = was + (float)sides[s] * step;
        at[s] = value(me, op, false);
    }
    *number = was;
    return (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * (double)step);
}

/* Every entry of every tensor and weight. */
static void check(struct world *me, apply op)
{
    float tensor_grads[MOST][ROOM] = {{0}}, weight_grads[MOST * ROOM];
    value(me, op, true);
    memcpy(weight_grads, me->grads, sizeof weight_grads);
    for (int i = 0; i < me->count; i++)
        if (me->x[i]->grad) memcpy(tensor_grads[i], me->x[i]->grad, sizeof(float) * (size_t)(me->x[i]->rows * me->x[i]->cols));
    for (int i = 0; i < me->count; i++)
        for (int j = 0; j < me->sizes[i][0] * me->sizes[i][1]; j++) assert_near(tensor_grads[i][j], slope(me, op, &me->values[i][j]), 2e-3);
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < me->weights[i].rows * me->weights[i].cols; j++)
            assert_near(weight_grads[i * ROOM + j], slope(me, op, &me->block[i * ROOM + j]), 2e-3);
    arena_clear(&me->arena);
}

/* ------------------------------------------------------------------ heads */

static struct tensor *cut(struct world *me) { return op_cut_heads(&me->tape, me->x[0], 2, 1, 2); }
static struct tensor *join(struct world *me) { return op_join_heads(&me->tape, me->x[0], me->x[1], 2, 2); }

static void cut_takes_columns_of_every_head(void **state)
{
    (void)state;
    struct world me = {0};
    add_input(&me, N, D);
    check(&me, cut);
    for (int j = 0; j < D; j++) me.values[0][j] = (float)j;
    value(&me, cut, false);
    const float want[] = {1, 2, 4, 5};
    assert_memory_equal(cut(&me)->data, want, sizeof want);
    arena_clear(&me.arena);
}

static void join_shares_one_head_or_takes_each(void **state)
{
    (void)state;
    struct world own = {0}, shared = {0};
    add_input(&own, N, D), add_input(&own, N, 4);
    check(&own, join);
    add_input(&shared, N, D), add_input(&shared, N, 2);
    check(&shared, join);
    for (int j = 0; j < D; j++) shared.values[0][j] = (float)j;
    shared.values[1][0] = 8, shared.values[1][1] = 9;
    value(&shared, join, false);
    const float want[] = {0, 1, 2, 8, 9, 3, 4, 5, 8, 9};
    assert_memory_equal(join(&shared)->data, want, sizeof want);
    arena_clear(&shared.arena);
}

/* Three keys of 4 numbers a head, values of 3; the last query sees all, the first only itself. */
static struct tensor *attend(struct world *me)
{
    static const int first[] = {0, 1, 3, 6}, kv[] = {0, 0, 1, 0, 1, 2};
    struct reach reach = {first, kv, NULL, NULL};
    return op_attention(&me->tape, me->x[0], me->x[1], me->x[2], &reach, (struct heads){.count = 2, .kv_count = 1, .size = 4, .value = 3}, NULL);
}

static void values_have_their_own_size(void **state)
{
    (void)state;
    struct world me = {0};
    add_input(&me, 3, 8), add_input(&me, 3, 4), add_input(&me, 3, 3);
    check(&me, attend);
    value(&me, attend, false);
    struct tensor *y = attend(&me);
    assert_int_equal(y->cols, 6);
    for (int e = 0; e < 6; e++) assert_near(y->data[e], me.x[2]->data[e % 3], 1e-6); /* one key: its value */
    arena_clear(&me.arena);
}

static struct tensor *turn(struct world *me)
{
    static const int positions[] = {0, 3, 1, 7};
    struct rope *rope = arena_new(&me->arena, sizeof *rope);
    *rope = rope_new(&me->arena, 8, 2, 100);
    rope->pairs = true;
    return op_rope(&me->tape, me->x[0], rope, positions);
}

static void neighbours_turn(void **state)
{
    (void)state;
    struct world me = {0};
    add_input(&me, N, D);
    float before[N * D];
    memcpy(before, me.values[0], sizeof before);
    value(&me, turn, false);
    for (int j = 0; j < 3; j++) { /* row 1 stands at position 3; heads of one pair turn by 3 radians */
        const float *from = before + D + 2 * j, *to = me.x[0]->data + D + 2 * j;
        assert_near(to[0], from[0] * cosf(3) - from[1] * sinf(3), 1e-6);
        assert_near(to[1], from[1] * cosf(3) + from[0] * sinf(3), 1e-6);
    }
    arena_clear(&me.arena);
}

/* ------------------------------------------------------------------ loops */

static struct tensor *shift(struct world *me)
{
    static const float row[D] = {1, 2, 3};
    return op_shift(&me->tape, me->x[0], row);
}

static struct tensor *lora(struct world *me)
{
    struct lora lora = {&me->weights[0], &me->weights[1], &me->weights[2]};
    return op_lora(&me->tape, me->x[0], &lora, 1);
}

static struct tensor *inject(struct world *me)
{
    struct inject inject = {&me->weights[0], &me->weights[1], &me->weights[2]};
    return op_inject(&me->tape, me->x[0], me->x[1], me->x[2], &inject);
}

static void what_loops_add_has_its_gradient(void **state)
{
    (void)state;
    struct world shifted = {0}, adapted = {0}, injected = {0};
    add_input(&shifted, N, D);
    check(&shifted, shift);
    add_input(&adapted, N, D);
    add_weight(&adapted, 0, 3, D), add_weight(&adapted, 1, 2, 3), add_weight(&adapted, 2, 3, D);
    check(&adapted, lora);
    for (int i = 0; i < 3; i++) add_input(&injected, N, D);
    add_weight(&injected, 0, 1, D), add_weight(&injected, 1, 1, 1), add_weight(&injected, 2, 1, D);
    check(&injected, inject);
}

static void injection_is_clamped(void **state)
{
    (void)state;
    struct world me = {0};
    for (int i = 0; i < 3; i++) add_input(&me, N, D);
    add_weight(&me, 0, 1, D), add_weight(&me, 1, 1, 1), add_weight(&me, 2, 1, D);
    me.block[0] = 300, me.block[1] = -300;
    value(&me, inject, true);
    assert_near(me.grads[0], 0, 0);
    assert_near(me.grads[1], 0, 0);
    struct tensor *y = inject(&me);
    assert_near(y->data[0], me.block[2 * ROOM] * me.x[1]->data[0] + me.x[2]->data[0], 1e-6); /* A = exp(-exp(20)) = 0 */
    assert_near(y->data[1], me.x[0]->data[1] + me.block[2 * ROOM + 1] * me.x[1]->data[1] + me.x[2]->data[1], 1e-5);
    arena_clear(&me.arena);
}

static struct tensor *halt(struct world *me)
{
    struct tensor **w = arena_new(&me->arena, sizeof *w * 3);
    op_halt(&me->tape, me->x, 3, 0.9f, w);
    return op_weigh(&me->tape, me->x + 3, w, 3);
}

static void set_halting(struct world *me)
{
    static const float p[3][N] = {{0.3f, 0.95f, 0.1f, 0.5f}, {0.7f, 0.5f, 0.2f, 0.3f}, {0.4f, 0.5f, 0.3f, 0.6f}};
    for (int i = 0; i < 3; i++) add_input(me, N, 1);
    for (int i = 0; i < 3; i++) add_input(me, N, D);
    for (int i = 0; i < 3; i++) memcpy(me->values[i], p[i], sizeof p[i]);
}

static void halting_weights_are_those_of_the_definition(void **state)
{
    (void)state;
    struct world me = {0};
    set_halting(&me);
    check(&me, halt);
    value(&me, halt, false);
    static const float loops[N] = {2, 1, 0, 3}, want[3][N] = {{0.3f, 1, 0.1f, 0.5f}, {0.7f, 0, 0.2f, 0.3f}, {0, 0, 0.3f, 0.2f}};
    struct tensor *w[3], *halted = op_halt(&me.tape, me.x, 3, 0.9f, w);
    assert_memory_equal(halted->data, loops, sizeof loops);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < N; i++) assert_near(w[k]->data[i], want[k][i], 1e-6);
    arena_clear(&me.arena);
}

/* ------------------------------------------------------------------ experts */

enum { EXPERTS = 4, CHOSEN = 2 };

/* x[0] router logits [N, EXPERTS], x[1] the residual [N, D], x[2 + e] what expert e would say about every row */
static struct tensor *mix_experts(struct world *me)
{
    struct tape *t = &me->tape;
    const int *chosen;
    struct tensor *gates = op_route(t, me->x[0], &me->weights[0], CHOSEN, &chosen);
    struct part *parts = arena_zero(&me->arena, sizeof *parts * EXPERTS);
    for (int e = 0; e < EXPERTS; e++) {
        int *rows = arena_new(&me->arena, sizeof *rows * N), *places = arena_new(&me->arena, sizeof *places * N), n = 0;
        for (int i = 0; i < N * CHOSEN; i++)
            if (chosen[i] == e) rows[n] = i / CHOSEN, places[n++] = i;
        parts[e] = (struct part){op_select(t, me->x[2 + e], rows, n), rows, places};
    }
    return op_combine(t, me->x[1], gates, parts, EXPERTS);
}

static void experts_have_their_gradient(void **state)
{
    (void)state;
    struct world me = {0};
    add_input(&me, N, EXPERTS), add_input(&me, N, D);
    for (int e = 0; e < EXPERTS; e++) add_input(&me, N, D);
    add_weight(&me, 0, 1, EXPERTS);
    for (int i = 0; i < N * EXPERTS; i++) me.values[0][i] = (float)((i * 7 + i / EXPERTS) % 5) * 0.3f; /* no near ties within a step */
    memset(me.block, 0, sizeof(float) * EXPERTS);
    me.block[2] = 0.1f;
    check(&me, mix_experts);
}

static void the_bias_chooses_and_does_not_weigh(void **state)
{
    (void)state;
    struct world me = {0};
    add_input(&me, 2, EXPERTS);
    add_weight(&me, 0, 1, EXPERTS);
    const float logits[] = {1, 2, 3, 0, 1, 1, 1, 1}, bias[] = {0, 0, 0, 9};
    memcpy(me.values[0], logits, sizeof logits);
    memcpy(me.block, bias, sizeof bias);
    me.tape = (struct tape){.arena = &me.arena};
    me.x[0] = tape_tensor(&me.tape, 2, EXPERTS);
    memcpy(me.x[0]->data, logits, sizeof logits);
    const int *chosen, want[] = {2, 3, 0, 3};
    struct tensor *gates = op_route(&me.tape, me.x[0], &me.weights[0], CHOSEN, &chosen);
    assert_memory_equal(chosen, want, sizeof want); /* rising; a tie goes to the lower number */
    assert_near(gates->data[0], 1 / (1 + exp(-3)), 1e-6);
    assert_near(gates->data[2], 0.5, 1e-6);
    arena_clear(&me.arena);
}

/* Without a gradient a large vocabulary goes through in panels: the mixture is the one that a recording tape makes all at once, cut or not, over one
 * matrix or two, in place or widened. */
static void a_large_vocabulary_streams(void **unused)
{
    (void)unused;
    enum { V = 9001, WIDTH = 40, ROWS = 131 }; /* two tiles of rows; panels that do not divide V */
    static float head[V * WIDTH], table[V * WIDTH], rows[ROWS * WIDTH];
    static uint16_t narrow[V * WIDTH];
    fill(head, V * WIDTH, "head");
    fill(table, V * WIDTH, "table");
    fill(rows, ROWS * WIDTH, "rows");
    memcpy(head + 77 * WIDTH, head + 8000 * WIDTH, sizeof *head * WIDTH); /* a tie, in panels far apart */
    dtype_narrow(BF16, head, narrow, V * WIDTH);
    struct weight weights[] = {{.name = "head", .dims = 2, .rows = V, .cols = WIDTH, .dtype = F32, .data = head, .aligned = true},
                               {.name = "table", .dims = 2, .rows = V, .cols = WIDTH, .dtype = F32, .data = table, .aligned = true},
                               {.name = "narrow", .dims = 2, .rows = V, .cols = WIDTH, .dtype = BF16, .data = narrow}};
    static const struct soft softs[] = {{1, 0, false}, {0.3f, 7, false}, {3, 200, true}, {1, 1, true}, {1, V, true}};
    for (int i = 0; i < 15; i++) {
        const struct weight *from = &weights[i % 3 == 2 ? 2 : 0], *to = &weights[i % 3];
        struct arena arena = {0};
        struct tape records = {.arena = &arena, .records = true}, reads = {.arena = &arena};
        struct tensor x = {.data = rows, .rows = ROWS, .cols = WIDTH};
        struct tensor *want = op_soft_embed(&records, &x, from, to, softs[i / 3]), *got = op_soft_embed(&reads, &x, from, to, softs[i / 3]);
        for (int j = 0; j < ROWS * WIDTH; j++) assert_near(got->data[j], want->data[j], 1e-4);
        rows[5] = NAN; /* what is not finite stays seen */
        assert_true(isnan(op_soft_embed(&reads, &x, from, to, softs[i / 3])->data[0]));
        fill(rows, ROWS * WIDTH, "rows");
        arena_clear(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_takes_columns_of_every_head),             cmocka_unit_test(join_shares_one_head_or_takes_each),
        cmocka_unit_test(values_have_their_own_size),                  cmocka_unit_test(neighbours_turn),
        cmocka_unit_test(what_loops_add_has_its_gradient),             cmocka_unit_test(injection_is_clamped),
        cmocka_unit_test(halting_weights_are_those_of_the_definition), cmocka_unit_test(experts_have_their_gradient),
        cmocka_unit_test(the_bias_chooses_and_does_not_weigh),         cmocka_unit_test(a_large_vocabulary_streams),
    };
    struct err err = {0};
    if (!blas_check(&err)) return 1;
    return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
