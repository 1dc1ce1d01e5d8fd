/* What measurements say about cases with a known answer: states on a line, a circle or at rest; rows along two known axes; models whose loops do
 * nothing or look at everything alike; and identities between commands. */
#include "doing/command.h"
#include "ground/file.h"
#include "ground/mem.h"
#include "learning/optim.h"
#include "models/model.h"
#include "orbit.h"
#include "pca.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "near.h"

static char folder[] = "/tmp/loopscope-measures-XXXXXX";
static struct session *session;

/* ---- orbits */

static struct orbit orbit_of(struct arena *arena, const float (*points)[2], int count)
{
    const float *states[16];
    for (int i = 0; i < count; i++) states[i] = points[i];
    struct orbit orbit = orbit_new(arena, count);
    orbit_measure(&orbit, states, 2);
    return orbit;
}

static void test_orbits_on_a_line(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct orbit orbit = orbit_of(&arena, (const float[][2]){{0, 0}, {3, 4}, {6, 8}, {9, 12}}, 4);
    for (int k = 1; k < 4; k++) assert_near(orbit.step[k], 5, 1e-9);
    assert_true(isnan(orbit.step[0]) && isnan(orbit.angle[0]) && isnan(orbit.angle[1]));
    assert_near(orbit.angle[2], 0, 1e-4);
    assert_near(orbit.distance[0], 15, 1e-9);
    assert_near(orbit.distance[3], 0, 0);
    assert_near(orbit.norm[2], 10, 1e-9);
    assert_int_equal(orbit.kind, ORBIT_DRIFTING);
    arena_clear(&arena);
}

static void test_orbits_that_turn_or_rest(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct orbit back = orbit_of(&arena, (const float[][2]){{0, 0}, {1, 0}, {0, 0}, {1, 0}, {0, 0}}, 5);
    assert_int_equal(back.kind, ORBIT_OSCILLATING);
    assert_near(back.angle[4], 180, 1e-4);
    struct orbit halved = orbit_of(&arena, (const float[][2]){{0, 0}, {8, 0}, {4, 0}, {6, 0}, {5, 0}}, 5); /* it swings, but comes to rest */
    assert_int_equal(halved.kind, ORBIT_SETTLING);
    struct orbit square = orbit_of(&arena, (const float[][2]){{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}, 5);
    assert_near(square.angle[3], 90, 1e-4);
    assert_int_equal(square.kind, ORBIT_DRIFTING);
    struct orbit still = orbit_of(&arena, (const float[][2]){{2, 1}, {2, 1}, {2, 1}}, 3);
    assert_int_equal(still.kind, ORBIT_SETTLING);
    assert_true(isnan(still.angle[2]));
    struct orbit brief = orbit_of(&arena, (const float[][2]){{0, 0}, {1, 0}}, 2);
    assert_int_equal(brief.kind, ORBIT_UNKNOWN);
    arena_clear(&arena);
}

/* Rows 3 a u + b v around a mean, with u and v at right angles: the axes are u and v, whatever the order of rows. */
static void test_components_of_a_plane(void **unused)
{
    (void)unused;
    enum { ROWS = 40, WIDTH = 3 };
    static const double u[WIDTH] = {2 / 3.0, 2 / 3.0, 1 / 3.0}, v[WIDTH] = {-1 / 3.0, 2 / 3.0, -2 / 3.0};
    float rows[ROWS * WIDTH];
    for (int r = 0; r < ROWS; r++) {
        double a = cos(2 * acos(-1.0) * r / ROWS), b = sin(2 * acos(-1.0) * r / ROWS);
        for (int i = 0; i < WIDTH; i++) rows[r * WIDTH + i] = (float)(5 + 3 * a * u[i] + b * v[i]);
    }
    struct pca pca;
    double at[PCA_AXES];
    pca_fit(&pca, rows, ROWS, WIDTH);
    assert_near(pca.share[0], 0.9, 1e-5);
    assert_near(pca.share[1], 0.1, 1e-5);
    for (int i = 0; i < WIDTH; i++) {
        assert_near(pca.mean[i], 5, 1e-5);
        assert_near(pca.axis[0][i], u[i], 1e-4);
        assert_near(pca.axis[1][i], v[i] * (v[2] < 0 && fabs(v[2]) >= fabs(v[1]) ? -1 : 1), 1e-4);
    }
    pca_place(&pca, rows, at);
    assert_near(at[0], 3, 1e-4);
    assert_near(at[1], 0, 1e-4);
    pca_release(&pca);
    float same[] = {1, 2, 1, 2, 1, 2}; /* no spread at all */
    pca_fit(&pca, same, 3, 2);
    pca_place(&pca, same, at);
    assert_true(at[0] == 0 && at[1] == 0 && isnan(pca.share[0]));
    pca_release(&pca);
}

/* ---- commands on planted models */

#define CONFIG(more)                                                                                                                                 \
    "{\"model_type\":\"looped\",\"vocab_size\":48,\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,\"num_loops\":3,"               \
    "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"head_dim\":4,\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-6,\"position_embedding\":"       \
    "\"rope\","                                                                                                                                      \
    "\"rope_theta\":10,\"tie_word_embeddings\":true,\"norm_each_loop\":false,\"loop_interface\":{\"kind\":\"none\"}" more "}"

static const struct table *run_line(struct collector *out, const char *format, ...)
{
    char line[1024];
    struct err err = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    collector_init(out);
    if (!command_line(session, line, &out->sink, &err)) fail_msg("%s: %s", line, err.text);
    return out->table_count ? out->tables[0] : NULL;
}

enum kind { STILL, DRAWN, BROKEN };

/* STILL: blocks of zeros do nothing: h.k = h.0 for every k. DRAWN: as a fresh model is. BROKEN: the same, but one token's embedding is not finite. */
static void write_model(const char *name, enum kind kind)
{
    struct err err = {0};
    struct model *model = model_fresh(CONFIG(""), "planted", NULL, &err);
    if (!model) fail_msg("%s", err.text);
    weights_draw(model, 3, 0.6, 1);
    for (size_t i = 0; kind == STILL && i < model->weight_count; i++)
        if (model->weights[i]->use == WEIGHT_OUTPUT || model->weights[i]->use == WEIGHT_MATRIX)
            memset(model->block + model->weights[i]->offset, 0, sizeof(float) * (size_t)model->weights[i]->rows * (size_t)model->weights[i]->cols);
    if (kind == BROKEN) model->block[model->table->offset + 3 * (size_t)model->width] = NAN;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(folder_make(path, &err) && model_save(model, path, F32, &err));
    model_free(model);
}

static int set_up(void **unused)
{
    (void)unused;
    struct collector out;
    if (!mkdtemp(folder)) return 1;
    session = session_new(2);
    run_line(&out, "data khop --entities 20 --relations 8 --out-degree 5 --train 300 --test 100 --seed 3 --out %s/data", folder);
    collector_release(&out);
    write_model("still", STILL);
    write_model("drawn", DRAWN);
    write_model("broken", BROKEN);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    session_free(session);
    return system(line);
}

static void test_nothing_fades_where_loops_do_nothing(void **unused)
{
    (void)unused;
    struct collector out;
    const char *edit = "mix@h.1:position=1,alpha=0.5,target=input";
    const struct table *t = run_line(&out, "fade %s/still --data %s/data --split test_id --do %s", folder, folder, edit);
    int at_edit = 0, behind = 0;
    for (size_t r = 0; r < t->row_count; r++) {
        bool here = table_number(t, r, "position") == 1;
        assert_near(table_number(t, r, "survives"), here, 1e-5);
        assert_near(table_number(t, r, "ratio"), here, 1e-5);
        assert_int_equal(table_number(t, r, "undefined"), here ? 0 : table_number(t, r, "n"));
        at_edit += here, behind += !here;
    }
    assert_int_equal(at_edit, 3); /* h.1, h.2, h.3 */
    assert_int_equal(behind, 3);
    collector_release(&out);
}

static void test_still_states_settle(void **unused)
{
    (void)unused;
    struct collector out;
    const struct table *t = run_line(&out, "orbit %s/still --data %s/data --row test_id:0", folder, folder);
    for (size_t r = 0; r < t->row_count; r++) {
        assert_string_equal(table_text(t, r, "kind"), "settling");
        assert_near(table_number(t, r, "distance"), 0, 0);
        if (table_number(t, r, "boundary") > 0) assert_near(table_number(t, r, "step"), 0, 0);
    }
    collector_release(&out);
    t = run_line(&out, "orbit %s/still --data %s/data --split test_id", folder, folder);
    for (size_t r = 0; r < t->row_count; r++) assert_near(table_number(t, r, "settling"), 1, 0);
    collector_release(&out);
}

/* Without queries and keys every key weighs the same, in every loop. */
static void test_attention_of_zeros_is_even(void **unused)
{
    (void)unused;
    struct collector out;
    const struct table *t = run_line(&out, "attention %s/still --data %s/data --row test_ood:5", folder, folder);
    assert_int_equal(t->row_count, 3 * 2 * 6); /* loops, heads, pairs of three tokens */
    for (size_t r = 0; r < t->row_count; r++) {
        assert_near(table_number(t, r, "weight"), 1 / (1 + table_number(t, r, "query")), 1e-6);
        if (table_number(t, r, "loop") > 1) assert_near(table_number(t, r, "change"), 0, 0);
        else assert_true(isnan(table_number(t, r, "change")));
    }
    collector_release(&out);
}

static void test_attention_sums_to_one(void **unused)
{
    (void)unused;
    struct collector out;
    const struct table *t = run_line(&out, "attention %s/drawn --data %s/data --row test_ood:5 --head 1", folder, folder);
    double sum[4][3] = {{0}};
    for (size_t r = 0; r < t->row_count; r++) sum[(int)table_number(t, r, "loop")][(int)table_number(t, r, "query")] += table_number(t, r, "weight");
    for (int k = 1; k < 4; k++)
        for (int q = 0; q < 3; q++) assert_near(sum[k][q], 1, 1e-5);
    collector_release(&out);
}

static double correct_at(const struct table *sweep, double alpha)
{
    for (size_t r = 0; r < sweep->row_count; r++)
        if (fabs(table_number(sweep, r, "alpha") - alpha) < 1e-9) return table_number(sweep, r, "correct");
    return NAN;
}

/* What turns right less what turns wrong is the difference of the accuracies. */
static void test_flips_add_up_to_the_sweep(void **unused)
{
    (void)unused;
    struct collector one, other;
    const char *edit = "--split test_ood --do mix@h.1:position=0,norm=rms,target=noise --over alpha=0:1:0.1";
    const struct table *sweep = run_line(&one, "sweep %s/drawn --data %s/data %s", folder, folder, edit);
    const struct table *flips = run_line(&other, "flips %s/drawn --data %s/data %s", folder, folder, edit);
    int turned = 0;
    for (int i = 0; i <= 10; i++) {
        double sum = correct_at(sweep, 0);
        for (size_t r = 0; r < flips->row_count; r++)
            if (table_number(flips, r, "alpha") <= i / 10.0 + 1e-9) sum += strcmp(table_text(flips, r, "turns"), "right") ? -1 : 1, turned++;
        assert_near(sum, correct_at(sweep, i / 10.0), 0);
    }
    assert_true(turned > 0);
    collector_release(&one), collector_release(&other);
}

/* Along the first axis anew at each value of the second: what each value gives alone. */
static void test_flips_over_two_axes(void **unused)
{
    (void)unused;
    struct collector both, one;
    const char *edit = "--split test_ood --do mix@h.1:norm=rms,target=noise --over alpha=0:1:0.25";
    const struct table *flips = run_line(&both, "flips %s/drawn --data %s/data %s --over position=0,2", folder, folder, edit);
    size_t at = 0;
    for (int position = 0; position <= 2; position += 2) {
        const struct table *alone = run_line(&one, "flips %s/drawn --data %s/data %s --over position=%d", folder, folder, edit, position);
        for (size_t r = 0; r < alone->row_count; r++, at++) {
            assert_true(at < flips->row_count);
            assert_near(table_number(flips, at, "row"), table_number(alone, r, "row"), 0);
            assert_near(table_number(flips, at, "alpha"), table_number(alone, r, "alpha"), 0);
            assert_string_equal(table_text(flips, at, "to"), table_text(alone, r, "to"));
        }
        collector_release(&one);
    }
    assert_true(at > 0 && at == flips->row_count);
    collector_release(&both);
}

/* Any probe over an axis is, at each value, what it is with that value in the edit. */
static void test_probes_over_an_axis(void **unused)
{
    (void)unused;
    struct collector all, one;
    const struct table *over = run_line(&all, "fade %s/drawn --data %s/data --split test_id --do mix@h.1:position=1 --over alpha=0.25,1 --over "
                                              "boundary=1,2", folder, folder);
    size_t at = 0;
    for (int boundary = 1; boundary <= 2; boundary++)
        for (int i = 0; i < 2; i++) {
            double alpha = i ? 1 : 0.25;
            const struct table *fade = run_line(&one, "fade %s/drawn --data %s/data --split test_id --do mix@h.%d:position=1,alpha=%g", folder,
                                                folder, boundary, alpha);
            for (size_t r = 0; r < fade->row_count; r++, at++) {
                assert_near(table_number(over, at, "alpha"), alpha, 0);
                assert_near(table_number(over, at, "edit_boundary"), boundary, 0);
                assert_near(table_number(over, at, "boundary"), table_number(fade, r, "boundary"), 0);
                assert_near(table_number(over, at, "survives"), table_number(fade, r, "survives"), 0);
            }
            collector_release(&one);
        }
    assert_int_equal(at, over->row_count);
    collector_release(&all);
}

/* Questions whose states are not finite are left out and counted, and spoil nothing for the others. */
static void test_what_is_not_finite_is_counted(void **unused)
{
    (void)unused;
    struct collector out;
    double undefined = 0;
    const struct table *t = run_line(&out, "attention %s/broken --data %s/data --split test_id", folder, folder);
    for (size_t r = 0; r < t->row_count; r++) {
        assert_true(isfinite(table_number(t, r, "weight")));
        undefined = fmax(undefined, table_number(t, r, "undefined"));
    }
    assert_true(undefined > 0 && undefined < table_number(t, 0, "n"));
    collector_release(&out);
    t = run_line(&out, "orbit %s/broken --data %s/data --split test_id", folder, folder);
    undefined = 0;
    for (size_t r = 0; r < t->row_count; r++) {
        assert_true(isfinite(table_number(t, r, "pc1")) && isfinite(table_number(t, r, "pc2")));
        undefined = fmax(undefined, table_number(t, r, "undefined"));
    }
    assert_true(undefined > 0);
    assert_non_null(strstr(table_fact_get(t, "pca_left_out"), "not finite"));
    collector_release(&out);
}

/* At the embedding the state is that of the token: as long as its row of W, and along it. Loops that do nothing leave it so. */
static void test_statistics_of_a_site(void **unused)
{
    (void)unused;
    struct collector out, again, unknown;
    struct err err = {0};
    struct text line = {0};
    const struct table *t = run_line(&out, "stats %s/still --data %s/data --split test_id --site h.0", folder, folder);
    const struct table *last = run_line(&again, "stats %s/still --data %s/data --split test_id --site loop.3.block.0.out", folder, folder);
    assert_int_equal(t->row_count, 3);
    for (size_t r = 0; r < 3; r++) {
        assert_near(table_number(t, r, "cosine_input"), 1, 1e-6);
        assert_true(table_number(t, r, "least") < table_number(t, r, "mean") && table_number(t, r, "mean") < table_number(t, r, "most"));
        double sd = table_number(t, r, "sd"), length = table_number(t, r, "length");
        assert_true(length > 0 && length >= sd * sqrt(8) * 0.99);
        static const char *const columns[] = {"length", "mean", "sd", "least", "most", "cosine_input"};
        for (size_t c = 0; c < 6; c++) assert_near(table_number(t, r, columns[c]), table_number(last, r, columns[c]), 1e-6);
    }
    collector_init(&unknown);
    text_add(&line, "stats %s/still --data %s/data --site loop.1.block.0.att.out", folder, folder);
    assert_false(command_line(session, line.data, &unknown.sink, &err));
    assert_non_null(strstr(err.text, "no site is called loop.1.block.0.att.out"));
    collector_release(&out), collector_release(&again), collector_release(&unknown);
    text_clear(&line);
}

/* Boundaries 1 to 2 at positions 0 and 2 are four edits; an axis moves all of them. */
static void test_edits_at_several_places(void **unused)
{
    (void)unused;
    struct collector one, many, sweep;
    struct err err = {0};
    struct text line = {0};
    const char *start = "eval %s/drawn --data %s/data --split test_ood";
    struct text several = {0}, each = {0};
    text_add(&several, "%s --do mix@h.1-2:alpha=0.7,position=0+2,target=noise", start);
    text_add(&each, "%s", start);
    for (int k = 1; k <= 2; k++)
        for (int p = 0; p <= 2; p += 2) text_add(&each, " --do mix@h.%d:alpha=0.7,position=%d,target=noise", k, p);
    const struct table *a = run_line(&one, several.data, folder, folder), *b = run_line(&many, each.data, folder, folder);
    const struct table *c = run_line(&sweep, "sweep %s/drawn --data %s/data --split test_ood --over alpha=0,0.7 "
                                             "--do mix@h.1-2:position=0+2,target=noise", folder, folder);
    size_t last = a->row_count - 1;
    for (size_t r = 0; r <= last; r++) assert_near(table_number(a, r, "correct"), table_number(b, r, "correct"), 0);
    assert_near(table_number(c, 1, "correct"), table_number(a, last, "correct"), 0);
    assert_near(table_number(c, 1, "fired"), 4 * table_number(a, last, "n"), 0);
    text_add(&line, "sweep %s/drawn --data %s/data --do mix@h.1-2 --over boundary=0,1", folder, folder);
    collector_release(&sweep), collector_init(&sweep);
    assert_false(command_line(session, line.data, &sweep.sink, &err));
    assert_non_null(strstr(err.text, "several places"));
    line.size = 0;
    text_add(&line, "eval %s/drawn --data %s/data --do mix@h.3-1", folder, folder);
    assert_false(command_line(session, line.data, &sweep.sink, &err));
    assert_non_null(strstr(err.text, "FIRST-LAST"));
    collector_release(&one), collector_release(&many), collector_release(&sweep);
    text_clear(&line), text_clear(&several), text_clear(&each);
}

/* What the last stage says of a question, in the rows of an evaluation. */
static int answer_of(const struct table *rows, int question)
{
    double last = table_number(rows, rows->row_count - 1, "stage");
    for (size_t r = 0; r < rows->row_count; r++)
        if (table_number(rows, r, "row") == question && table_number(rows, r, "stage") == last) return atoi(table_text(rows, r, "decoded") + 1);
    return -1;
}

/* Questions of unlike length, two with the same beginning; their answers are those of an evaluation's rows; NULL: the token 0. */
static void write_mixed(const char *name, const struct table *rows)
{
    enum { COUNT = 150, TOKENS = 48 };
    struct rng rng = rng_start(1, "mixed");
    struct text lines = {0}, vocab = {0};
    for (int i = 0; i < COUNT; i++) {
        int length = i % 2 ? 3 : 4 + (int)rng_below(&rng, 3);
        text_add(&lines, "{\"tokens\":[%d,%d", i / 2 % TOKENS, i / 2 % TOKENS);
        for (int t = 2; t < length; t++) text_add(&lines, ",%d", (int)rng_below(&rng, TOKENS));
        text_add(&lines, "],\"answer\":%d,\"answer_position\":%d,\"bridges\":[]}\n",
                 rows ? answer_of(rows, i) : 0, length - 1 - (int)rng_below(&rng, 2));
    }
    for (int t = 0; t < TOKENS; t++) text_add(&vocab, "%s\"t%d\":%d", t ? "," : "{", t, t);
    text_add(&vocab, "}");
    const char *meta = "{\"kind\":\"khop\",\"vocab_size\":48,\"files\":{\"test_mixed.jsonl\":{}}}";
    struct { const char *name, *text; } files[] = {{"dataset.json", meta}, {"vocab.json", vocab.data}, {"test_mixed.jsonl", lines.data}};
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(folder_make(path, NULL));
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", folder, name, files[i].name);
        assert_true(file_write(path, files[i].text, strlen(files[i].text), NULL));
    }
    text_clear(&lines), text_clear(&vocab);
}

/* Whatever is edited, and wherever: a replayed cell has the answers of a whole pass with the same edits. (Of the second shard's questions none share a
 * place at position -2, and their places are not in the order of the questions.) */
static void test_sweeps_are_passes(void **unused)
{
    (void)unused;
    static const char *const edits[] = {"mix@h.0:position=-2,alpha=1", "mix@h.1:position=-2,alpha=1", "mix@h.1:position=0,alpha=0.8",
                                        "mix@h.1:position=answer,alpha=1,target=second", "mix@h.2:position=answer,alpha=1,target=random",
                                        "mix@h.1:position=-1,alpha=1,target=noise --do mix@h.0:position=1,alpha=1",
                                        "mix@h.1:position=-2,alpha=1,target=soft --do mix@h.1:position=0+2,alpha=1"};
    struct collector one, other;
    write_mixed("blank", NULL);
    write_mixed("mixed", run_line(&one, "eval %s/drawn --data %s/blank --rows", folder, folder));
    collector_release(&one);
    const struct table *untouched = run_line(&one, "eval %s/drawn --data %s/mixed", folder, folder);
    size_t last = untouched->row_count - 1;
    assert_near(table_number(untouched, last, "accuracy"), 1, 0);
    collector_release(&one);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct table *eval = run_line(&one, "eval %s/drawn --data %s/mixed --do %s", folder, folder, edits[i]);
        const struct table *sweep = run_line(&other, "sweep %s/drawn --data %s/mixed --split test_mixed --do %s --over 1.seed=0", folder, folder,
                                             edits[i]);
        assert_near(table_number(sweep, 0, "correct"), table_number(eval, last, "correct"), 0);
        assert_true(table_number(eval, last, "accuracy") < 1);
        collector_release(&one), collector_release(&other);
    }
}

/* Cells of unlike boundaries in one call: each is what it is alone. */
static void test_boundaries_are_an_axis(void **unused)
{
    (void)unused;
    struct collector all, one;
    const char *words = "--split test_mixed --over alpha=0,1 --do mix@h.1:position=-2";
    const struct table *sweep = run_line(&all, "sweep %s/drawn --data %s/mixed %s --over boundary=2,0,1", folder, folder, words);
    static const int boundaries[] = {2, 0, 1};
    for (size_t r = 0; r < 6; r++) {
        const struct table *alone = run_line(&one, "sweep %s/drawn --data %s/mixed %s --over boundary=%d", folder, folder, words, boundaries[r / 2]);
        assert_near(table_number(sweep, r, "correct"), table_number(alone, r % 2, "correct"), 0);
        collector_release(&one);
    }
    collector_release(&all);
}

/* A sweep over loops is, at each number of them, what eval says. */
static void assert_sweeps_loops(const char *axes, const char *edit)
{
    struct collector one, other;
    const struct table *sweep = run_line(&one, "sweep %s/drawn --data %s/data --split test_ood %s", folder, folder, axes);
    static const int loops[] = {1, 2, 5};
    assert_string_equal(table_fact_get(sweep, "do"), edit);
    for (int i = 0; i < 3; i++) {
        const struct table *eval = run_line(&other, "eval %s/drawn --data %s/data --split test_ood --loops %d", folder, folder, loops[i]);
        assert_near(table_number(sweep, (size_t)i, "correct"), table_number(eval, eval->row_count - 1, "correct"), 0);
        assert_int_equal(table_number(sweep, (size_t)i, "loops"), loops[i]);
        collector_release(&other);
    }
    collector_release(&one);
}

/* With an edit that changes nothing, and without any: loops alone ask for none. */
static void test_loops_are_an_axis(void **unused)
{
    (void)unused;
    assert_sweeps_loops("--over alpha=0 --over loops=1,2,5", "mix@h.1:position=1,norm=rms");
    assert_sweeps_loops("--over loops=1,2,5", "none: no axis is an option of an edit");
}

/* A question by its row, by its tokens, and among all of its split. */
static void test_one_question_is_what_it_is_among_all(void **unused)
{
    (void)unused;
    struct collector all, one, typed;
    const struct table *rows = run_line(&all, "bridge %s/drawn --data %s/data --split test_ood --rows", folder, folder);
    const struct table *row = run_line(&one, "bridge %s/drawn --data %s/data --row test_ood:7 --rows", folder, folder);
    const char *tokens = table_fact_get(row, "question");
    const struct table *same = run_line(&typed, "bridge %s/drawn --data %s/data --tokens \"%s\" --rows", folder, folder, tokens);
    assert_int_equal(row->row_count, 1);
    assert_int_equal(table_number(row, 0, "row"), 7);
    for (size_t r = 0; r < rows->row_count; r++)
        if (table_number(rows, r, "row") == 7) assert_near(table_number(rows, r, "p_bridge"), table_number(row, 0, "p_bridge"), 1e-6);
    assert_near(table_number(same, 0, "p_bridge"), table_number(row, 0, "p_bridge"), 0);
    collector_release(&all), collector_release(&one), collector_release(&typed);
}

/* The watched token's numbers are those that it has as the answer; without --watch they are not there. */
static void test_any_token_is_watched(void **unused)
{
    (void)unused;
    static const char *const columns[][2] = {{"p_watch", "p_answer"}, {"rank_watch", "rank_answer"}, {"cosine_watch", "cosine_answer"}};
    struct collector plain, watched, unknown;
    struct err err = {0};
    struct text line = {0};
    const struct table *lens = run_line(&plain, "lens %s/drawn --data %s/data --row test_ood:3 --top 2", folder, folder);
    assert_int_equal(table_find(lens, "p_watch"), -1);
    const char *answer = table_fact_get(lens, "answer");
    const struct table *more = run_line(&watched, "lens %s/drawn --data %s/data --row test_ood:3 --top 2 --watch %s", folder, folder, answer);
    assert_string_equal(table_fact_get(more, "watch"), answer);
    assert_int_equal(more->row_count, lens->row_count);
    for (size_t r = 0; r < more->row_count; r++) {
        for (int c = 0; c < 3; c++) assert_near(table_number(more, r, columns[c][0]), table_number(lens, r, columns[c][1]), 0);
        assert_string_equal(table_text(more, r, "token_2"), table_text(lens, r, "token_2"));
        assert_near(table_number(more, r, "p_2"), table_number(lens, r, "p_2"), 0);
    }
    collector_init(&unknown);
    text_add(&line, "lens %s/drawn --data %s/data --row test_ood:3 --watch nobody", folder, folder);
    assert_false(command_line(session, line.data, &unknown.sink, &err));
    assert_non_null(strstr(err.text, "'nobody' is no token of"));
    collector_release(&plain), collector_release(&watched), collector_release(&unknown);
    text_clear(&line);
}

/* A model and itself: no difference, no disagreement. And what two models differ in is what each says alone. */
static void test_comparisons(void **unused)
{
    (void)unused;
    struct collector same, none, other, list, one;
    const struct table *t = run_line(&same, "compare %s/drawn %s/drawn --data %s/data", folder, folder, folder);
    assert_int_equal(same.table_count, 1);
    assert_int_equal(t->row_count, 6); /* two splits, three stages */
    for (size_t r = 0; r < t->row_count; r++) assert_near(table_number(t, r, "accuracy_change"), 0, 0);
    assert_int_equal(run_line(&none, "compare %s/drawn %s/drawn --questions --data %s/data", folder, folder, folder)->row_count, 0);
    t = run_line(&other, "compare %s/drawn %s/still bridge --data %s/data --split test_ood", folder, folder, folder);
    const struct table *alone = run_line(&one, "bridge %s/still --data %s/data --split test_ood", folder, folder);
    assert_near(table_number(t, 0, "p_bridge_b"), table_number(alone, 0, "p_bridge"), 0);
    assert_near(table_number(t, 0, "p_bridge_change"), table_number(t, 0, "p_bridge_b") - table_number(t, 0, "p_bridge_a"), 0);
    const struct table *apart = run_line(&list, "compare %s/drawn %s/still --questions --data %s/data --split test_ood", folder, folder, folder);
    assert_true(apart->row_count > 0);
    for (size_t r = 0; r < apart->row_count; r++) assert_string_not_equal(table_text(apart, r, "says_a"), table_text(apart, r, "says_b"));
    collector_release(&same), collector_release(&none), collector_release(&other), collector_release(&list), collector_release(&one);
}

/* A sink that stops after some reports, and remembers the first. */
struct impatient { struct collector collector; double first; int left; };

static bool is_patient(struct sink *sink, const struct progress *progress)
{
    struct impatient *me = (struct impatient *)sink;
    if (me->first == 0) me->first = progress->done;
    return me->left-- > 0;
}

static void test_a_stopped_sweep_goes_on(void **unused)
{
    (void)unused;
    static const char *const axes[] = {"0:1:0.02", "0:1:0.02", "0:1:0.04", "0:1:0.02 --limit 0"};
    struct impatient runs[4];
    struct err err = {0};
    for (int i = 0; i < 4; i++) {
        struct text line = {0};
        text_add(&line, "sweep %s/drawn --data %s/data --over alpha=%s", folder, folder, axes[i]);
        memset(&runs[i], 0, sizeof runs[i]);
        collector_init(&runs[i].collector);
        runs[i].collector.sink.progress = is_patient;
        runs[i].left = i ? 1 << 20 : 1;
        err = (struct err){0};
        assert_int_equal(command_line(session, line.data, &runs[i].collector.sink, &err), i > 0);
        text_clear(&line);
    }
    const struct table *part = runs[0].collector.tables[0], *whole = runs[1].collector.tables[0], *fresh = runs[3].collector.tables[0];
    size_t splits = 2, kept = part->row_count / splits;
    assert_true(kept > 0 && kept < 51);
    assert_true(runs[1].first >= (double)kept); /* it began behind what was there, */
    assert_true(runs[2].first < runs[1].first); /* and another sweep at its own beginning */
    assert_int_equal(whole->row_count, 51 * splits);
    for (size_t r = 0; r < whole->row_count; r++) assert_near(table_number(whole, r, "correct"), table_number(fresh, r, "correct"), 0);
    for (int i = 0; i < 4; i++) collector_release(&runs[i].collector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orbits_on_a_line), cmocka_unit_test(test_orbits_that_turn_or_rest), cmocka_unit_test(test_components_of_a_plane),
        cmocka_unit_test(test_nothing_fades_where_loops_do_nothing), cmocka_unit_test(test_still_states_settle),
        cmocka_unit_test(test_attention_of_zeros_is_even), cmocka_unit_test(test_attention_sums_to_one),
        cmocka_unit_test(test_flips_add_up_to_the_sweep), cmocka_unit_test(test_a_stopped_sweep_goes_on),
        cmocka_unit_test(test_flips_over_two_axes), cmocka_unit_test(test_edits_at_several_places),
        cmocka_unit_test(test_statistics_of_a_site), cmocka_unit_test(test_probes_over_an_axis), cmocka_unit_test(test_what_is_not_finite_is_counted),
        cmocka_unit_test(test_sweeps_are_passes), cmocka_unit_test(test_boundaries_are_an_axis),
        cmocka_unit_test(test_loops_are_an_axis), cmocka_unit_test(test_comparisons), cmocka_unit_test(test_one_question_is_what_it_is_among_all),
        cmocka_unit_test(test_any_token_is_watched),
    };
    return cmocka_run_group_tests_name("measures", tests, set_up, tear_down);
}
