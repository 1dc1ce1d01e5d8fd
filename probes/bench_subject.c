#include "bench_work.h"

#include "ground/clock.h"
#include "learning/optim.h"
#include "learning/train.h"

#include <math.h>
#include <string.h>

/* Random questions of the usual length: what they ask does not matter for time. */
static struct dataset *random_data(int rows, int vocabulary)
{
    static const struct bridge bridge = {1, 0};
    struct dataset *data = dataset_none(vocabulary);
    struct rng rng = rng_start(1, "bench");
    int *tokens = arena_new(data->arena, sizeof *tokens * BENCH_LENGTH * (size_t)rows);
    struct question *questions = arena_new(data->arena, sizeof *questions * (size_t)rows);
    data->split_count = 1;
    data->splits = mem_new(sizeof *data->splits);
    data->splits[0] = (struct split){mem_text("train"), questions, (size_t)rows};
    for (int i = 0; i < rows * BENCH_LENGTH; i++) tokens[i] = (int)rng_below(&rng, (uint64_t)vocabulary);
    for (int i = 0; i < rows; i++)
        questions[i] = (struct question){.length = BENCH_LENGTH,
                                         .tokens = tokens + i * BENCH_LENGTH,
                                         .answer = (int)rng_below(&rng, (uint64_t)vocabulary),
                                         .answer_position = BENCH_LENGTH - 1,
                                         .bridge_count = 1,
                                         .bridges = &bridge};
    return data;
}

static bool set(struct recipe *recipe, const char *key, int number, struct err *err)
{
    struct text line = {0};
    text_add(&line, "%s = %d", key, number);
    bool ok = recipe_set(recipe, line.data, err);
    text_clear(&line);
    return ok;
}

static bool make_recipe(struct recipe *recipe, const struct bench_work *w, struct err *err)
{
    static const char *const fixed[] = {"data = random",
                                        "train = train",
                                        "model.model_type = looped",
                                        "model.num_attention_heads = 4",
                                        "model.position_embedding = rope",
                                        "model.rope_theta = 10000",
                                        "model.rms_norm_eps = 1e-6",
                                        "model.tie_word_embeddings = true",
                                        "model.norm_each_loop = true"};
    bool gate = !strcmp(w->interface, "gate"), ok = true;
    struct text kind = {0};
    *recipe = (struct recipe){.args.options = recipe_options};
    for (size_t i = 0; ok && i < sizeof fixed / sizeof *fixed; i++) ok = recipe_set(recipe, fixed[i], err);
    text_add(&kind, "model.loop_interface.kind = %s", gate ? "discoloop" : w->interface);
    ok = ok && recipe_set(recipe, kind.data, err) && (!gate || recipe_set(recipe, "model.loop_interface.alpha = gate", err));
    text_clear(&kind);
    if (w->top_k) ok = ok && set(recipe, "model.loop_interface.top_k", w->top_k, err);
    return ok && set(recipe, "batch", w->rows, err) && set(recipe, "model.hidden_size", w->d, err) &&
           set(recipe, "model.intermediate_size", w->ff, err) && set(recipe, "model.num_hidden_layers", w->blocks, err) &&
           set(recipe, "model.num_loops", w->loops, err);
}

static bool open_model(struct subject *s, struct err *err)
{
    struct text config = {0};
    recipe_config(&s->recipe, s->work->vocabulary, &config);
    s->model = model_fresh(config.data, "bench", NULL, err);
    text_clear(&config);
    if (!s->model) return false;
    weights_draw(s->model, 1, 0.02, 1);
    s->study = (struct study){.session = s->study.session,
                              .model = s->model,
                              .data = s->data,
                              .pool = s->pool,
                              .split_count = 1,
                              .edit_count = 1,
                              .loops = s->model->loops,
                              .boundaries = s->model->loops};
    s->study.splits[0] = s->data->splits[0];
    return true;
}

bool subject_open(struct subject *s, const struct bench_work *work, struct session *session, struct pool *pool, struct err *err)
{
    *s = (struct subject){.work = work, .study.session = session, .pool = pool, .data = random_data(work->rows, work->vocabulary)};
    bool ok = make_recipe(&s->recipe, work, err);
    if (ok && work->kind == BENCH_TRAIN) ok = (s->trainer = trainer_new(&s->recipe, s->data, pool, "bench", NULL, err)) != NULL;
    else if (ok) ok = open_model(s, err);
    if (!ok) subject_close(s);
    return ok;
}

void subject_close(struct subject *s)
{
    trainer_free(s->trainer);
    recipe_clear(&s->recipe);
    if (s->model) model_free(s->model);
    dataset_free(s->data);
    arena_clear(&s->arena);
    *s = (struct subject){0};
}

static bool sweep_once(struct subject *s, struct err *err)
{
    struct replay *replay = replay_open(&s->study, err);
    struct edit edits[REPLAY_TOGETHER];
    struct outcome outcomes[REPLAY_TOGETHER];
    int alphas = s->work->alphas;
    bool ok = replay != NULL;
    for (int from = 0; ok && from < alphas; from += REPLAY_TOGETHER) {
        int count = alphas - from < REPLAY_TOGETHER ? alphas - from : REPLAY_TOGETHER;
        for (int c = 0; c < count; c++) {
            struct text text = {0};
            text_add(&text, "mix@h.1:position=1,alpha=%.6f", (double)(from + c) / (alphas > 1 ? alphas - 1 : 1));
            ok = edit_parse(&edits[c], text.data, s->model, err) && ok;
            text_clear(&text);
        }
        ok = ok && replay_cells(replay, edits, (size_t)count, outcomes, err);
        for (int c = 0; c < count; c++) edit_clear(&edits[c]);
    }
    replay_close(replay);
    return ok;
}

/* The interface alone, at a vocabulary of a real language model. */
static bool interface_once(struct subject *s, struct err *err)
{
    struct tape tape = {.arena = &s->arena};
    arena_reset(&s->arena);
    struct tensor *x = tape_tensor(&tape, s->work->rows, s->work->d);
    for (int i = 0; i < x->rows * x->cols; i++) x->data[i] = (float)(i % 13 - 6) * 0.1f;
    struct soft soft = {.tau = 1, .top_k = s->work->top_k};
    return isfinite(op_soft_embed(&tape, x, s->model->table, s->model->table, soft)->data[0]) || err_set(err, "the mixture is not finite");
}

/* Every state of every question decoded. */
static bool decode_all(struct pass *pass, struct shard *shard)
{
    (void)pass;
    for (int k = 0; k < shard->run->loops; k++) run_decode(shard->run, shard->run->states[k], k);
    return true;
}

static bool lens_once(struct subject *s, struct err *err)
{
    struct pass pass = {
        .model = s->model, .questions = s->study.splits[0].questions, .count = s->study.splits[0].count, .pool = s->pool, .visit = decode_all};
    return pass_run(&pass, err);
}

static bool once(struct subject *s, struct err *err)
{
    struct accuracy accuracy;
    switch (s->work->kind) {
    case BENCH_TRAIN: return trainer_step(s->trainer, err);
    case BENCH_SWEEP: return sweep_once(s, err);
    case BENCH_INTERFACE: return interface_once(s, err);
    case BENCH_LENS: return lens_once(s, err);
    case BENCH_EVAL: break;
    }
    return pass_accuracy(s->model, s->pool, s->study.splits[0].questions, s->study.splits[0].count, &accuracy, err);
}

double subject_time(struct subject *s, int repeats, struct err *err)
{
    double began = clock_seconds();
    for (int i = 0; i < repeats; i++)
        if (!once(s, err)) return NAN;
    return (clock_seconds() - began) / repeats;
}
