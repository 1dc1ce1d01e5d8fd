/* lens: one question at every position and boundary: what the state decodes to, how sure, how aligned.
 *
 * The lens is the model's own decode (its norm and head) applied to h.k, so its last boundary equals the logits. Source of the idea: nostalgebraist,
 * "interpreting GPT: the logit lens", 2020. Where the boundary is the token, a position has one state, s.{position+1}, and its lens row is the
 * logits.
 */
#include "measures.h"
#include "numbers/kernel.h"
#include "study.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    STUDY_DATA, STUDY_RUN,
    PICK_OPTIONS("test_ood:0"),
    {"watch", OPTION_TEXT, NULL, .help = "one more token to follow, by its name or id: its P, rank and cosine", .placeholder = "TOKEN"},
    {"top", OPTION_INT, "1", .low = 1, .high = 20, .help = "how many tokens to name at each place"},
    {0},
};

struct look {
    const struct study *study;
    int answer, bridge, watched;   /* token ids, -1: unknown, or none */
    struct sink *sink;
    struct table *table;
    long top;
    int predicted;
};

static void make_table(struct look *me)
{
    static const struct { const char *name; enum role role; const char *format;
    } columns[] = {
        {"position", ROLE_AXIS, "%.0f"},       {"input", ROLE_LABEL, NULL},      {"boundary", ROLE_AXIS, "%.0f"},
        {"token", ROLE_LABEL, NULL},           {"id", ROLE_COUNT, "%.0f"},       {"p", ROLE_VALUE, "%.3f"},
        {"cosine", ROLE_VALUE, "%.3f"},        {"norm", ROLE_VALUE, "%.2f"},     {"entropy", ROLE_VALUE, "%.2f"},
        {"distance", ROLE_VALUE, "%.2f"},      {"p_answer", ROLE_VALUE, "%.3f"}, {"rank_answer", ROLE_VALUE, "%.0f"},
        {"cosine_answer", ROLE_VALUE, "%.3f"}, {"p_bridge", ROLE_VALUE, "%.3f"}, {"rank_bridge", ROLE_VALUE, "%.0f"},
        {"cosine_bridge", ROLE_VALUE, "%.3f"},
    };
    struct text name = {0};
    me->table = table_new("lens");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) table_column(me->table, columns[i].name, columns[i].role, columns[i].format);
    if (me->watched >= 0) {
        table_column(me->table, "p_watch", ROLE_VALUE, "%.3f");
        table_column(me->table, "rank_watch", ROLE_VALUE, "%.0f");
        table_column(me->table, "cosine_watch", ROLE_VALUE, "%.3f");
    }
    for (long i = 2; i <= me->top; i++) {
        name.size = 0;
        text_add(&name, "token_%ld", i);
        table_column(me->table, name.data, ROLE_LABEL, NULL);
        name.size = 0;
        text_add(&name, "p_%ld", i);
        table_column(me->table, name.data, ROLE_VALUE, "%.3f");
    }
    text_clear(&name);
    study_provenance(me->study, me->table);
}

static void add_facts(struct look *me)
{
    const struct dataset *data = me->study->data;
    pick_facts(&me->study->pick, data, me->table);
    if (me->watched >= 0) table_fact(me->table, "watch", "%s", dataset_token(data, me->watched));
    table_fact(me->table, "predicted", "%s", me->predicted < 0 ? "not finite" : dataset_token(data, me->predicted));
    table_fact(me->table, "correct", "%s", me->answer < 0 ? "unknown" : me->predicted == me->answer ? "yes" : "no");
}

static int best_but(const float *logits, int n, const int *taken, int count)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        bool used = false;
        for (int j = 0; j < count; j++) used = used || taken[j] == i;
        if (!used && (best < 0 || logits[i] > logits[best])) best = i;
    }
    return best;
}

/* What is kept of one state: the logits of a boundary go before those of the next are computed, so memory does not grow with the loops. */
enum { TOP = 20 };
struct spot { double norm, entropy, distance, cosine, p[TOP], answer[3], bridge[3], watched[3]; int token[TOP]; };

static void watch(double *out, struct run *run, const float *h, const float *logits, int v, int token)
{
    out[0] = token < 0 ? NAN : logits_p(logits, v, token);
    out[1] = token < 0 || row_argmax(logits, v) < 0 ? NAN : logits_rank(logits, v, token);
    out[2] = token < 0 ? NAN : token_cosine(run, h, token);
}

static void measure(const struct look *me, struct run *run, int k, int p, const float *logits, int v, struct spot *out)
{
    struct tensor *state = run->states[k];
    int d = state->cols, row = run_state_row(run, p, &k);
    const float *h = state->data + (size_t)row * (size_t)d, *before = k ? run->states[k - 1]->data + (size_t)row * (size_t)d : NULL;
    out->token[0] = row_argmax(logits, v);
    bool finite = out->token[0] >= 0;
    for (int i = 1; i < me->top; i++) out->token[i] = finite ? best_but(logits, v, out->token, i) : -1;
    for (int i = 0; i < me->top; i++) out->p[i] = finite && out->token[i] >= 0 ? logits_p(logits, v, out->token[i]) : NAN;
    out->cosine = finite ? token_cosine(run, h, out->token[0]) : NAN;
    out->norm = vector_norm(h, d);
    out->entropy = finite ? logits_entropy(logits, v) : NAN;
    out->distance = before ? vector_distance(h, before, d) : NAN;
    watch(out->answer, run, h, logits, v, me->answer);
    watch(out->bridge, run, h, logits, v, me->bridge);
    watch(out->watched, run, h, logits, v, me->watched);
}

static void show(const struct look *me, int p, int k, const struct spot *spot)
{
    const struct dataset *data = me->study->data;
    bool finite = spot->token[0] >= 0;
    struct cell cells[19 + 2 * TOP] = {
        cell_number(p), cell_text(dataset_token(data, me->study->pick.question.tokens[p])), cell_number(k),
        cell_text(finite ? dataset_token(data, spot->token[0]) : "not finite"), cell_number(finite ? spot->token[0] : NAN), cell_number(spot->p[0]),
        cell_number(spot->cosine), cell_number(spot->norm), cell_number(spot->entropy), cell_number(spot->distance),
    };
    for (int i = 0; i < 3; i++) cells[10 + i] = cell_number(spot->answer[i]), cells[13 + i] = cell_number(spot->bridge[i]);
    int at = 16;
    for (int i = 0; i < 3 && me->watched >= 0; i++) cells[at++] = cell_number(spot->watched[i]);
    for (int i = 1; i < me->top; i++) {
        cells[at++] = cell_text(spot->token[i] >= 0 ? dataset_token(data, spot->token[i]) : "");
        cells[at++] = cell_number(spot->p[i]);
    }
    sink_row(me->sink, cells);
}

static bool setup(struct pass *pass, struct shard *shard)
{
    struct look *me = pass->self;
    study_edit(me->study, shard, shard->questions, shard->first);
    return true;
}

static bool visit(struct pass *pass, struct shard *shard)
{
    struct look *me = pass->self;
    struct run *run = shard->run;
    int v = run->logits->cols;
    for (int i = 0; i < run->handler_count; i++) {
        const struct edit_count *total = &((struct edit_handler *)run->handlers[i])->total;
        if (total->moved == 0) sink_note(me->sink, "the edit had no effect: %ld rows written, largest change 0", total->fired);
    }
    me->predicted = row_argmax(run->logits->data + (size_t)shard->answers[0] * (size_t)v, v);
    add_facts(me);
    sink_table(me->sink, me->table);
    int length = me->study->pick.question.length, K = run->loops;
    for (int p = 0; p < length && model_by_token(run->model); p++) { /* a position has one state, the one behind its token */
        struct spot spot;
        measure(me, run, p + 1, p, run->logits->data + (size_t)p * (size_t)v, v, &spot);
        show(me, p, p + 1, &spot);
    }
    if (model_by_token(run->model)) return true;
    struct spot *spots = arena_new(shard->arena, sizeof *spots * (size_t)length * (size_t)(K + 1));
    for (int k = 0; k <= K; k++) {
        struct arena_mark mark = arena_mark(shard->arena);
        struct tensor *logits = run_decode(run, run->states[k], k);
        for (int p = 0; p < length; p++) measure(me, run, k, p, logits->data + (size_t)p * (size_t)v, v, &spots[p * (K + 1) + k]);
        arena_release(shard->arena, mark);
    }
    for (int p = 0; p < length; p++)
        for (int k = 0; k <= K; k++) show(me, p, k, &spots[p * (K + 1) + k]);
    return true;
}

static bool find_watched(struct look *me, const char *token, struct err *err)
{
    const struct dataset *data = me->study->data;
    me->watched = token ? dataset_id(data, token) : -1;
    if (token && (me->watched < 0 || me->watched >= me->study->model->vocab_size))
        return err_set(err, "--watch: '%s' is no token of %s", text_show(token), data->name);
    return true;
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    (void)self;
    if (!study_open(&study, session, args, NULL, sink, err)) return false;
    const struct question *question = &study.pick.question;
    struct look look = {.study = &study, .sink = sink, .top = args_int(args, "top"), .answer = question->answer,
                        .bridge = question->bridge_count ? question->bridges[0].token : -1};
    if (!find_watched(&look, args_text(args, "watch"), err)) {
        study_close(&study);
        return false;
    }
    make_table(&look);
    struct pass pass = {.model = study.model, .questions = question, .count = 1, .inner = study.pool, .loops = study.loops,
                        .setup = setup, .visit = visit, .self = &look};
    bool ok = pass_run(&pass, err);
    table_free(look.table);
    study_close(&study);
    return ok;
}

const struct command command_lens = {
    .name = "lens",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "one question at every position and boundary: decoded token, P, rank, cosine",
    .more = "P, rank and cosine are given for the decoded token and, where they are known, for the answer and the bridge. Distances are from the "
            "boundary before. "
            "A model without a dataset works too: give its token ids, --tokens '17 4 250'.",
    .options = options,
    .example = "lens models/vanilla --row test_ood:17",
    .run = run,
};
