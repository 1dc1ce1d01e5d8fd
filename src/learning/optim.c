#include "learning/optim.h"

#include "ground/mem.h"
#include "numbers/kernel.h"

#include <math.h>

enum { CHUNK = 1 << 15 };

void optim_init(struct optim *optim, const struct model *model, int shards)
{
    size_t n = model->parameter_count, count = 0;
    *optim = (struct optim){.model = model, .shards = shards};
    optim->grads = mem_new(sizeof *optim->grads * (size_t)shards);
    for (int s = 0; s < shards; s++) optim->grads[s] = mem_new(sizeof(float) * n);
    optim->m = mem_new(sizeof(float) * n);
    optim->v = mem_new(sizeof(float) * n);
    for (size_t i = 0; i < model->weight_count; i++) count += (size_t)model->weights[i]->rows * (size_t)model->weights[i]->cols / CHUNK + 1;
    optim->chunks = mem_new(sizeof *optim->chunks * count);
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        size_t end = w->offset + (size_t)w->rows * (size_t)w->cols;
        for (size_t from = w->offset; from < end; from += CHUNK)
            optim->chunks[optim->chunk_count++] = (struct chunk){w, from, from + CHUNK < end ? from + CHUNK : end, 0};
    }
}

void optim_release(struct optim *optim)
{
    for (int s = 0; s < optim->shards; s++) mem_free(optim->grads[s]);
    mem_free(optim->grads);
    mem_free(optim->m);
    mem_free(optim->v);
    mem_free(optim->chunks);
    *optim = (struct optim){0};
}

struct update { struct optim *optim; const struct optim_settings *settings; double lr, scale, correct1, correct2; };

KERNEL static void gather(float *restrict into, float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) into[i] += from[i];
}

KERNEL static double sum_squares(const float *g, size_t n)
{
    double s[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; j++) s[j] += (double)g[i + (size_t)j] * (double)g[i + (size_t)j];
    for (; i < n; i++) s[0] += (double)g[i] * (double)g[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void sum_chunk(void *job, int i, int thread)
{
    (void)thread;
    struct optim *optim = ((struct update *)job)->optim;
    struct chunk *c = &optim->chunks[i];
    size_t n = c->to - c->from;
    for (int s = 1; s < optim->shards; s++) {
        gather(optim->grads[0] + c->from, optim->grads[s] + c->from, n);
        memset(optim->grads[s] + c->from, 0, sizeof(float) * n);
    }
    c->squares = sum_squares(optim->grads[0] + c->from, n);
}

KERNEL static void adam(float *restrict p, float *restrict g, float *restrict m, float *restrict v, size_t n, float scale, float beta1, float beta2,
                        float rate, float correct2, float eps, float keep)
{
    for (size_t i = 0; i < n; i++) {
        float gradient = g[i] * scale;
        m[i] = beta1 * m[i] + (1.0f - beta1) * gradient;
        v[i] = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
        p[i] = p[i] * keep - rate * m[i] / (__builtin_sqrtf(v[i] * correct2) + eps);
        g[i] = 0;
    }
}

static void update_chunk(void *job, int i, int thread)
{
    (void)thread;
    const struct update *u = job;
    const struct optim_settings *s = u->settings;
    struct chunk *c = &u->optim->chunks[i];
    enum weight_use use = c->weight->use;
    double decay = use == WEIGHT_GAIN || use == WEIGHT_BIAS ? 0 : use == WEIGHT_TABLE ? s->decay * s->decay_table : s->decay;
    adam(u->optim->model->block + c->from, u->optim->grads[0] + c->from, u->optim->m + c->from, u->optim->v + c->from, c->to - c->from,
         (float)u->scale, (float)s->beta1, (float)s->beta2, (float)(u->lr * u->correct1), (float)u->correct2, (float)s->eps,
         (float)(1 - u->lr * decay));
}

double optim_step(struct optim *optim, struct pool *pool, const struct optim_settings *settings, double lr)
{
    struct update u = {.optim = optim, .settings = settings, .lr = lr};
    double squares = 0;
    pool_run(pool, optim->chunk_count, sum_chunk, &u);
    for (int i = 0; i < optim->chunk_count; i++) squares += optim->chunks[i].squares;
    double norm = sqrt(squares);
    if (!isfinite(norm)) return norm;
    optim->step++;
    u.scale = settings->clip > 0 && norm > settings->clip ? settings->clip / norm : 1;
    u.correct1 = 1 / (1 - pow(settings->beta1, (double)optim->step));
    u.correct2 = 1 / (1 - pow(settings->beta2, (double)optim->step));
    pool_run(pool, optim->chunk_count, update_chunk, &u);
    return norm;
}

double schedule_lr(const struct schedule *s, long step)
{
    double from = s->decay_from * (double)s->steps, share = 1;
    if (step <= s->warmup) return s->lr * (double)step / (double)(s->warmup ? s->warmup : 1);
    if (from < (double)s->warmup) from = (double)s->warmup;
    if (s->kind != SCHEDULE_CONSTANT && (double)step > from && (double)s->steps > from) {
        double x = ((double)step - from) / ((double)s->steps - from);
        if (x > 1) x = 1;
        share = s->kind == SCHEDULE_LINEAR ? 1 - x : 0.5 + 0.5 * cos(3.14159265358979323846 * x);
        share = s->final + (1 - s->final) * share;
    }
    return s->lr * share;
}

void weights_draw(const struct model *model, uint64_t seed, double init_sd, double table_sd)
{
    double output = init_sd / sqrt(2.0 * model->blocks * model->loops);
    for (size_t i = 0; i < model->weight_count; i++) {
        const struct weight *w = model->weights[i];
        double sd = w->use == WEIGHT_TABLE ? table_sd : w->use == WEIGHT_OUTPUT ? output : w->use == WEIGHT_MATRIX ? init_sd : 0;
        struct rng rng = rng_start(seed, w->name);
        float *p = model->block + w->offset;
        for (size_t j = 0, n = (size_t)w->rows * (size_t)w->cols; j < n; j++)
            p[j] = w->use == WEIGHT_GAIN ? 1 : w->use == WEIGHT_BIAS ? 0 : (float)(sd * rng_normal(&rng));
    }
}
