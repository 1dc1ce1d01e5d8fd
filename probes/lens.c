/* lens: one question at every position and boundary: what the state decodes to, how sure, how aligned.
 *
 * The lens is the model's own decode (its norm and head) applied to h.k, so its last boundary equals the logits. Source of the idea: nostalgebraist,
 * "interpreting GPT: the logit lens", 2020. Where the boundary is the token, a position has one state, s.{position+1}, and its lens row is the logits.
 */
#include "measures.h"
#include "study.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    {"row", OPTION_TEXT, NULL, .help = "the question: SPLIT:NUMBER, numbers begin at 0", .placeholder = "SPLIT:N"},
    {"tokens", OPTION_TEXT, NULL, .help = "the question as token names or ids, for instance \"e1 r2 r3\"", .placeholder = "'T T T'"},
    {"top", OPTION_INT, "1", .low = 1, .high = 20, .help = "how many tokens to name at each place"},
    {0},
};

struct look {
    const struct study *study;
    struct question question;      /* the one looked at */
    size_t number;
    int answer, bridge;            /* token ids, -1: unknown */
    struct sink *sink;
    struct table *table;
    long top;
    int predicted;
    int *typed;                    /* owned: the tokens of --tokens */
};

static bool same_tokens(const struct question *a, const struct question *b)
{
    return a->length == b->length && !memcmp(a->tokens, b->tokens, sizeof *a->tokens * (size_t)a->length);
}

/* Typed tokens that are a known question bring its answer and bridge along. */
static void recognise(struct look *me)
{
    const struct dataset *data = me->study->data;
    for (size_t s = 0; s < data->split_count; s++)
        for (size_t i = 0; i < data->splits[s].count; i++)
            if (same_tokens(&data->splits[s].questions[i], &me->question)) {
                me->question = data->splits[s].questions[i];
                me->number = i;
                me->answer = me->question.answer;
                return;
            }
}

static bool from_tokens(struct look *me, const char *text, struct err *err)
{
    char **words;
    size_t count;
    if (!words_split(text, &words, &count, err)) return false;
    int *tokens = mem_new(sizeof *tokens * (count + 1));
    bool ok = count > 0 || err_set(err, "--tokens: give at least one token");
    for (size_t i = 0; ok && i < count; i++) {
        tokens[i] = dataset_id(me->study->data, words[i]);
        if (tokens[i] < 0 || tokens[i] >= me->study->model->vocab_size) ok = err_set(err, "--tokens: '%s' is no token of %s", text_show(words[i]), me->study->data->name);
    }
    words_free(words, count);
    me->typed = tokens;
    me->question = (struct question){.length = (int)count, .tokens = tokens, .answer_position = (int)count - 1};
    me->answer = -1;
    if (ok) recognise(me);
    return ok;
}

static bool from_row(struct look *me, const char *text, struct err *err)
{
    const char *colon = strrchr(text, ':');
    long number;
    if (!colon || !parse_int(colon + 1, &number)) return err_set(err, "--row %s: the form is SPLIT:NUMBER, for example test_ood:17", text_show(text));
    struct text name = {0};
    text_add_bytes(&name, text, (size_t)(colon - text));
    const struct split *split = dataset_split(me->study->data, name.data);
    bool ok = split || err_set(err, "--row %s: %s has no split of this name", text_show(text), me->study->data->name);
    text_clear(&name);
    if (!ok) return false;
    if (number < 0 || (size_t)number >= split->count) return err_set(err, "--row %s: the split has the questions 0 to %zu", text_show(text), split->count - 1);
    me->question = split->questions[number];
    me->number = (size_t)number;
    me->answer = me->question.answer;
    return true;
}

static void make_table(struct look *me)
{
    static const struct { const char *name; enum role role; const char *format; } columns[] = {
        {"position", ROLE_AXIS, "%.0f"},    {"input", ROLE_LABEL, NULL},         {"boundary", ROLE_AXIS, "%.0f"},     {"token", ROLE_LABEL, NULL},
        {"id", ROLE_COUNT, "%.0f"},         {"p", ROLE_VALUE, "%.3f"},           {"cosine", ROLE_VALUE, "%.3f"},      {"norm", ROLE_VALUE, "%.2f"},
        {"entropy", ROLE_VALUE, "%.2f"},    {"distance", ROLE_VALUE, "%.2f"},    {"p_answer", ROLE_VALUE, "%.3f"},    {"rank_answer", ROLE_VALUE, "%.0f"},
        {"cosine_answer", ROLE_VALUE, "%.3f"}, {"p_bridge", ROLE_VALUE, "%.3f"}, {"rank_bridge", ROLE_VALUE, "%.0f"}, {"cosine_bridge", ROLE_VALUE, "%.3f"},
    };
    struct text name = {0};
    me->table = table_new("lens");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) table_column(me->table, columns[i].name, columns[i].role, columns[i].format);
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
    struct text text = {0};
    for (int i = 0; i < me->question.length; i++) text_add(&text, "%s%s", i ? " " : "", dataset_token(data, me->question.tokens[i]));
    table_fact(me->table, "question", "%s", text.data);
    table_fact(me->table, "answer", "%s", me->answer < 0 ? "unknown" : dataset_token(data, me->answer));
    table_fact(me->table, "answer_position", "%d", me->question.answer_position);
    if (me->bridge >= 0) {
        table_fact(me->table, "bridge", "%s", dataset_token(data, me->bridge));
        table_fact(me->table, "bridge_position", "%d", me->question.bridges[0].position);
    }
    table_fact(me->table, "predicted", "%s", me->predicted < 0 ? "not finite" : dataset_token(data, me->predicted));
    table_fact(me->table, "correct", "%s", me->answer < 0 ? "unknown" : me->predicted == me->answer ? "yes" : "no");
    text_clear(&text);
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
struct spot { double norm, entropy, distance, cosine, p[TOP], answer[3], bridge[3]; int token[TOP]; };

static void watch(double *out, struct run *run, const float *h, const float *logits, int v, int token)
{
    out[0] = token < 0 ? NAN : logits_p(logits, v, token);
    out[1] = token < 0 ? NAN : logits_rank(logits, v, token);
    out[2] = token < 0 ? NAN : token_cosine(run, h, token);
}

static void measure(const struct look *me, struct run *run, int k, int p, const float *logits, int v, struct spot *out)
{
    struct tensor *state = run->states[k];
    int d = state->cols, row = run_state_row(run, p, &k);
    const float *h = state->data + (size_t)row * (size_t)d, *before = k ? run->states[k - 1]->data + (size_t)row * (size_t)d : NULL;
    out->token[0] = row_argmax(logits, v);
    bool finite = out->token[0] >= 0;
    for (int i = 1; i < me->top; i++) out->token[i] = best_but(logits, v, out->token, i);
    for (int i = 0; i < me->top; i++) out->p[i] = finite && out->token[i] >= 0 ? logits_p(logits, v, out->token[i]) : NAN;
    out->cosine = finite ? token_cosine(run, h, out->token[0]) : NAN;
    out->norm = vector_norm(h, d);
    out->entropy = finite ? logits_entropy(logits, v) : NAN;
    out->distance = before ? vector_distance(h, before, d) : NAN;
    watch(out->answer, run, h, logits, v, me->answer);
    watch(out->bridge, run, h, logits, v, me->bridge);
}

static void show(const struct look *me, int p, int k, const struct spot *spot)
{
    const struct dataset *data = me->study->data;
    bool finite = spot->token[0] >= 0;
    struct cell cells[16 + 2 * TOP] = {
        cell_number(p), cell_text(dataset_token(data, me->question.tokens[p])), cell_number(k),
        cell_text(finite ? dataset_token(data, spot->token[0]) : "not finite"), cell_number(finite ? spot->token[0] : NAN), cell_number(spot->p[0]),
        cell_number(spot->cosine), cell_number(spot->norm), cell_number(spot->entropy), cell_number(spot->distance),
    };
    for (int i = 0; i < 3; i++) cells[10 + i] = cell_number(spot->answer[i]), cells[13 + i] = cell_number(spot->bridge[i]);
    for (int i = 1; i < me->top; i++) {
        cells[14 + 2 * i] = cell_text(spot->token[i] >= 0 ? dataset_token(data, spot->token[i]) : "");
        cells[15 + 2 * i] = cell_number(spot->p[i]);
    }
    sink_row(me->sink, cells);
}

static bool setup(struct pass *pass, struct shard *shard)
{
    struct look *me = pass->self;
    study_edit(me->study, shard, shard->questions, me->number);
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
    int length = me->question.length, K = run->loops;
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

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    const char *row = args_text(args, "row"), *tokens = args_text(args, "tokens");
    (void)self;
    if (!study_open_bare(&study, session, args, sink, err)) return false;
    struct look look = {.study = &study, .sink = sink, .top = args_int(args, "top"), .bridge = -1};
    bool ok = false;
    if (tokens) ok = from_tokens(&look, tokens, err);
    else if (study.none) err_set(err, "%s: no recipe, so its dataset is not known: give --tokens 'ID ID ...' or --data DIR", text_show(study.model->path));
    else ok = from_row(&look, row ? row : "test_ood:0", err);
    for (int i = 0; ok && i < study.edit_count; i++) ok = edit_check(&study.edits[i], &look.question, 1, err);
    if (ok) {
        if (look.question.bridge_count) look.bridge = look.question.bridges[0].token;
        make_table(&look);
        struct pass pass = {.model = study.model, .questions = &look.question, .count = 1, .inner = study.pool, .loops = study.loops,
                            .setup = setup, .visit = visit, .self = &look};
        ok = pass_run(&pass, err);
        table_free(look.table);
    }
    mem_free(look.typed);
    study_close(&study);
    return ok;
}

const struct command command_lens = {
    .name = "lens",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "one question at every position and boundary: decoded token, P, rank, cosine",
    .more = "P, rank and cosine are given for the decoded token and, where they are known, for the answer and the bridge. Distances are from the boundary before.\n"
            "A model without a dataset works too: give its token ids, --tokens '17 4 250'.",
    .options = options,
    .example = "lens models/vanilla --row test_ood:17",
    .run = run,
};
