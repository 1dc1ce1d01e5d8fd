/* orbit: the path of every state through the loops: how far each takes it, which way it turns, and whether it comes to rest.
 *
 * Of one question: every position and boundary, with coordinates along the two directions in which the question's states (or those of its split)
 * spread most. Of a split: quantiles over its questions, the share of each kind of path, and where its states lie on average. Where the boundary is
 * the token, a question has one path, along its tokens.
 */
#include "orbit.h"

#include "measures.h"
#include "pca.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    PICK_OPTIONS(NULL),
    {"basis", OPTION_CHOICE, "question", .choices = "question|split", .help = "of one question: whose states give the coordinates their directions"},
    {0},
};

const char *const orbit_names[ORBIT_KINDS] = {"unknown", "settling", "drifting", "oscillating"};

/* ---- one path */

struct orbit orbit_new(struct arena *arena, int count)
{
    size_t size = sizeof(double) * (size_t)count;
    return (struct orbit){count, arena_new(arena, size), arena_new(arena, size), arena_new(arena, size), arena_new(arena, size), ORBIT_UNKNOWN};
}

/* Degrees between b - a and c - b. */
static double turn_angle(const float *a, const float *b, const float *c, int width)
{
    double xy = 0, xx = 0, yy = 0;
    for (int i = 0; i < width; i++) {
        double x = (double)b[i] - (double)a[i], y = (double)c[i] - (double)b[i];
        xy += x * y, xx += x * x, yy += y * y;
    }
    if (!(xx > 0) || !(yy > 0)) return NAN;
    return acos(fmax(-1, fmin(1, xy / sqrt(xx * yy)))) * 180 / acos(-1.0);
}

static enum orbit_kind kind_of(const struct orbit *me)
{
    double longest = 0, cosine = 0;
    int last = me->count - 1, turns = 0;
    if (last < 2) return ORBIT_UNKNOWN;
    for (int k = 1; k <= last; k++)
        if (!isfinite(me->step[k])) return ORBIT_UNKNOWN;
    for (int k = 1; k < last; k++) longest = fmax(longest, me->step[k]);
    if (me->step[last] <= 0.5 * longest || (me->step[last] == 0 && longest == 0)) return ORBIT_SETTLING;
    for (int k = last; k > last - 2 && k >= 2; k--)
        if (!isnan(me->angle[k])) cosine += cos(me->angle[k] * acos(-1.0) / 180), turns++;
    return turns && cosine / turns < -0.25 ? ORBIT_OSCILLATING : ORBIT_DRIFTING;
}

void orbit_measure(struct orbit *me, const float *const *states, int width)
{
    for (int k = 0; k < me->count; k++) {
        me->step[k] = k ? vector_distance(states[k], states[k - 1], width) : NAN;
        me->angle[k] = k > 1 ? turn_angle(states[k - 2], states[k - 1], states[k], width) : NAN;
        me->distance[k] = vector_distance(states[k], states[me->count - 1], width);
        me->norm[k] = vector_norm(states[k], width);
    }
    me->kind = kind_of(me);
}

/* ---- all paths of a list of questions */

struct walk { int paths, first; struct orbit *orbits; }; /* of one question: a path for each position, first: place of its states in `states` */

struct survey {
    const struct study *study;
    const struct question *questions;
    size_t count, kept;        /* kept: questions whose states stay, for the directions */
    struct walk *walks;        /* [count] */
    struct arena *arenas;      /* one a shard */
    float *states;             /* of the kept questions: path by path, boundary by boundary */
    size_t state_count;
    struct pca pca;
    size_t number;             /* of the first question inside its split */
};

static int paths_of(const struct survey *me, const struct question *q) { return model_by_token(me->study->model) ? 1 : q->length; }

static int steps_of(const struct survey *me, const struct question *q)
{
    return 1 + (model_by_token(me->study->model) ? q->length : me->study->loops);
}

static bool setup(struct pass *pass, struct shard *shard)
{
    const struct survey *me = pass->self;
    study_edit(me->study, shard, shard->questions, shard->first);
    return true;
}

/* The state of a path at boundary k. */
static const float *state_at(const struct run *run, int q, int path, int k)
{
    int start = run->batch->start[q], place = model_by_token(run->model) ? start + (k ? k - 1 : 0) : start + path;
    const struct tensor *state = run->states[k];
    return state->data + (size_t)state->places->index[place] * (size_t)state->cols;
}

static bool visit(struct pass *pass, struct shard *shard)
{
    struct survey *me = pass->self;
    struct arena *arena = &me->arenas[shard->index];
    int width = shard->run->model->width;
    for (int q = 0; q < shard->count; q++) {
        struct walk *walk = &me->walks[shard->first + (size_t)q];
        int count = steps_of(me, &shard->questions[q]);
        const float **states = arena_new(shard->arena, sizeof *states * (size_t)count);
        walk->paths = paths_of(me, &shard->questions[q]);
        walk->orbits = arena_new(arena, sizeof *walk->orbits * (size_t)walk->paths);
        for (int p = 0; p < walk->paths; p++) {
            for (int k = 0; k < count; k++) states[k] = state_at(shard->run, q, p, k);
            walk->orbits[p] = orbit_new(arena, count);
            orbit_measure(&walk->orbits[p], states, width);
            for (int k = 0; k < count && shard->first + (size_t)q < me->kept; k++)
                memcpy(me->states + ((size_t)walk->first + (size_t)(p * count + k)) * (size_t)width, states[k], sizeof(float) * (size_t)width);
        }
    }
    return true;
}

static bool go_on(void *self, size_t done)
{
    (void)done;
    return !session_stopped(((struct survey *)self)->study->session);
}

/* As many questions as 64 million numbers hold. */
static void make_room(struct survey *me)
{
    size_t most = ((size_t)1 << 26) / (size_t)me->study->model->width;
    for (me->kept = 0; me->kept < me->count; me->kept++) {
        const struct question *q = &me->questions[me->kept];
        size_t size = (size_t)(paths_of(me, q) * steps_of(me, q));
        if (me->state_count + size > most) break;
        me->walks[me->kept].first = (int)me->state_count;
        me->state_count += size;
    }
    me->states = mem_new(sizeof(float) * me->state_count * (size_t)me->study->model->width);
}

static bool survey_run(struct survey *me, const struct study *study, const struct question *questions, size_t count, struct err *err)
{
    *me = (struct survey){.study = study, .questions = questions, .count = count};
    struct pass pass = {.model = study->model, .questions = questions, .count = count, .pool = study->pool, .loops = study->loops,
                        .setup = setup, .visit = visit, .go_on = go_on, .self = me};
    me->walks = mem_new(sizeof *me->walks * (count + 1));
    me->arenas = mem_new(sizeof *me->arenas * (size_t)(pass_shards(&pass) + 1));
    make_room(me);
    if (!pass_run(&pass, err)) return false;
    pca_fit(&me->pca, me->states, me->state_count, study->model->width);
    return true;
}

static void survey_end(struct survey *me)
{
    size_t shards = (me->count + PASS_ROWS - 1) / PASS_ROWS;
    for (size_t i = 0; me->arenas && i < shards; i++) arena_clear(&me->arenas[i]);
    mem_free(me->arenas);
    mem_free(me->walks);
    mem_free(me->states);
    pca_release(&me->pca);
}

/* ---- one question */

/* Quantiles are the band of the value before them. */
static enum role role_of(const char *name, const char *format)
{
    if (!format) return ROLE_LABEL;
    if (!strcmp(name, "position") || !strcmp(name, "boundary")) return ROLE_AXIS;
    if (!strcmp(name, "n") || !strcmp(name, "undefined")) return ROLE_COUNT;
    return text_ends(name, "_10") ? ROLE_LOW : text_ends(name, "_90") ? ROLE_HIGH : ROLE_VALUE;
}

static struct table *begin(const struct study *study, const struct pca *pca, const char *const (*columns)[2])
{
    struct table *table = table_new("orbit");
    for (; (*columns)[0]; columns++) table_column(table, (*columns)[0], role_of((*columns)[0], (*columns)[1]), (*columns)[1]);
    study_provenance(study, table);
    table_fact(table, "pc1_share", "%.4g", pca->share[0]);
    table_fact(table, "pc2_share", "%.4g", pca->share[1]);
    if (pca->left_out) table_fact(table, "pca_left_out", "%zu states that are not finite", pca->left_out);
    if (study->pick.one) pick_facts(&study->pick, study->data, table);
    return table;
}

static void show_question(const struct survey *me, const struct pca *pca, struct sink *sink)
{
    static const char *const columns[][2] = {{"position", "%.0f"}, {"input", NULL},     {"boundary", "%.0f"}, {"step", "%.3f"}, {"angle", "%.1f"},
                                             {"distance", "%.3f"}, {"norm", "%.3f"},    {"pc1", "%.3f"},      {"pc2", "%.3f"},  {"kind", NULL},
                                             {NULL, NULL}};
    const struct question *q = me->questions;
    const struct walk *walk = me->walks;
    struct table *table = begin(me->study, pca, columns);
    sink_table(sink, table);
    table_free(table);
    for (int p = 0; p < walk->paths; p++)
        for (int k = 0; k < walk->orbits[p].count; k++) {
            const struct orbit *orbit = &walk->orbits[p];
            double at[PCA_AXES];
            pca_place(pca, me->states + ((size_t)walk->first + (size_t)(p * orbit->count + k)) * (size_t)pca->width, at);
            const struct cell cells[] = {
                cell_number(p), cell_text(dataset_token(me->study->data, q->tokens[p])), cell_number(k), cell_number(orbit->step[k]),
                cell_number(orbit->angle[k]), cell_number(orbit->distance[k]), cell_number(orbit->norm[k]), cell_number(at[0]), cell_number(at[1]),
                cell_text(orbit_names[orbit->kind]),
            };
            sink_row(sink, cells);
        }
}

static bool run_question(const struct study *study, const struct args *args, struct sink *sink, struct err *err)
{
    struct survey mine, all = {0};
    const struct split *split = dataset_split(study->data, study->pick.split.name);
    bool whole = !strcmp(args_text(args, "basis"), "split");
    if (whole && !split) return err_set(err, "--basis split: these tokens are no question of %s", study->data->name);
    bool ok = survey_run(&mine, study, &study->pick.question, 1, err) && (!whole || survey_run(&all, study, split->questions, split->count, err));
    if (ok) show_question(&mine, whole ? &all.pca : &mine.pca, sink);
    survey_end(&mine);
    survey_end(&all);
    return ok;
}

/* ---- a split */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two values next to the place q of n sorted ones; NaN for none. */
static double quantile(const double *sorted, size_t n, double q)
{
    if (!n) return NAN;
    double at = q * (double)(n - 1);
    size_t low = (size_t)floor(at);
    return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]) : sorted[low];
}

/* One of a path's lists of numbers over all questions that have such a place: half, 10 %, 90 %. */
static void spread_of(const struct survey *me, int path, int k, size_t offset, double *scratch, struct cell out[3])
{
    static const double parts[] = {0.5, 0.1, 0.9};
    size_t n = 0;
    for (size_t i = 0; i < me->count; i++) {
        if (path >= me->walks[i].paths || k >= me->walks[i].orbits[path].count) continue;
        double value = (*(double *const *)((const char *)&me->walks[i].orbits[path] + offset))[k];
        if (isfinite(value)) scratch[n++] = value;
    }
    qsort(scratch, n, sizeof *scratch, by_size);
    for (int i = 0; i < 3; i++) out[i] = cell_number(quantile(scratch, n, parts[i]));
}

static void show_place(const struct survey *me, const char *split, int path, int k, double *scratch, struct sink *sink)
{
    double n = 0, undefined = 0, kinds[ORBIT_KINDS] = {0}, sum[PCA_AXES] = {0}, kept = 0;
    for (size_t i = 0; i < me->count; i++) {
        const struct walk *walk = &me->walks[i];
        if (path >= walk->paths || k >= walk->orbits[path].count) continue;
        n++, kinds[walk->orbits[path].kind]++;
        undefined += !isfinite(walk->orbits[path].norm[k]);
        if (i >= me->kept) continue;
        double at[PCA_AXES];
        pca_place(&me->pca, me->states + ((size_t)walk->first + (size_t)(path * walk->orbits[path].count + k)) * (size_t)me->pca.width, at);
        if (isfinite(at[0]) && isfinite(at[1])) sum[0] += at[0], sum[1] += at[1], kept++;
    }
    if (!(n > 0)) return;
    struct cell cells[17] = {cell_text(split), cell_number(path), cell_number(k), cell_number(n)};
    spread_of(me, path, k, offsetof(struct orbit, step), scratch, cells + 4);
    spread_of(me, path, k, offsetof(struct orbit, angle), scratch, cells + 7);
    struct cell distance[3];
    spread_of(me, path, k, offsetof(struct orbit, distance), scratch, distance);
    cells[10] = distance[0];
    for (int i = ORBIT_SETTLING; i < ORBIT_KINDS; i++) cells[10 + i] = cell_number(kinds[i] / n);
    cells[14] = cell_number(kept > 0 ? sum[0] / kept : NAN), cells[15] = cell_number(kept > 0 ? sum[1] / kept : NAN);
    cells[16] = cell_number(undefined);
    sink_row(sink, cells);
}

static bool run_split(const struct study *study, const struct split *split, bool first, struct sink *sink, struct err *err)
{
    static const char *const columns[][2] = {
        {"split", NULL},      {"position", "%.0f"}, {"boundary", "%.0f"}, {"n", "%.0f"},        {"step", "%.3f"},     {"step_10", "%.3f"},
        {"step_90", "%.3f"},  {"angle", "%.1f"},    {"angle_10", "%.1f"}, {"angle_90", "%.1f"}, {"distance", "%.3f"}, {"settling", "%.3f"},
        {"drifting", "%.3f"}, {"oscillating", "%.3f"}, {"pc1", "%.3f"},   {"pc2", "%.3f"},      {"undefined", "%.0f"},
        {NULL, NULL},
    };
    struct survey me;
    bool ok = survey_run(&me, study, split->questions, split->count, err);
    int paths = 0, count = 0;
    for (size_t i = 0; ok && i < split->count; i++) {
        if (me.walks[i].paths > paths) paths = me.walks[i].paths;
        if (me.walks[i].orbits[0].count > count) count = me.walks[i].orbits[0].count;
    }
    if (ok && first) {
        struct table *table = begin(study, &me.pca, columns);
        sink_table(sink, table);
        table_free(table);
    }
    double *scratch = mem_new(sizeof *scratch * (split->count + 1));
    for (int p = 0; ok && p < paths; p++)
        for (int k = 0; k < count; k++) show_place(&me, split->name, p, k, scratch, sink);
    mem_free(scratch);
    survey_end(&me);
    return ok;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    (void)self;
    if (!study_open(&study, session, args, "test_id,test_ood", sink, err)) return false;
    bool ok = true;
    if (study.pick.one) ok = run_question(&study, args, sink, err);
    else for (int s = 0; ok && s < study.split_count; s++) ok = run_split(&study, &study.splits[s], s == 0, sink, err);
    study_close(&study);
    return ok;
}

const struct command command_orbit = {
    .name = "orbit",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "the path of each state through the loops: steps, turns, whether it comes to rest",
    .more = "Steps are |h.k - h.{k-1}|, angles are between an update and the one before, distance is to the last state. settling: the last step "
            "is at most half of the longest before it; oscillating: the last two updates turn back (mean cosine below -1/4); drifting: neither. "
            "pc1 and pc2 are coordinates along the two directions of largest spread. Over splits: the 10, 50 and 90 % quantiles, and the share of "
            "each kind. More loops: --loops 8.",
    .options = options,
    .example = "orbit models/vanilla --row test_ood:17",
    .run = run,
};
