/* questions: a split as a list: what was asked, what the model says, and the bridge's numbers, one line a question. */
#include "measures.h"
#include "numbers/kernel.h"
#include "study.h"

#include "results/pace.h"

#include <math.h>

static const struct option options[] = {
    STUDY_OPTIONS,
    {"wrong", OPTION_FLAG, NULL, .help = "only questions whose answer is wrong"},
    {"boundary", OPTION_INT, "1", .low = 0, .high = 64,
     .help = "where P(bridge) and cosine are measured: after which loop; by token always the bridge's own"},
    {0},
};

struct line { int predicted; double p_bridge, cosine; };

struct list {
    const struct study *study;
    int boundary;
    struct line *lines; /* one a question of the split */
    struct pace *pace;
    double before;      /* questions of the splits that are done */
};

static bool setup(struct pass *pass, struct shard *shard)
{
    study_edit(((struct list *)pass->self)->study, shard, shard->questions, shard->first);
    return true;
}

static bool visit(struct pass *pass, struct shard *shard)
{
    const struct list *me = pass->self;
    struct line *lines = me->lines + shard->first;
    struct run *run = shard->run;
    int v = run->logits->cols, n = 0, *rows = arena_new(shard->arena, sizeof *rows * (size_t)(shard->count + 1));
    for (int q = 0; q < shard->count; q++) {
        const struct question *question = &shard->questions[q];
        lines[q] = (struct line){row_argmax(run->logits->data + (size_t)shard->answers[q] * (size_t)v, v), NAN, NAN};
        if (question->bridge_count && run->loops > 0) rows[n++] = run->batch->start[q] + question->bridges[0].position;
    }
    if (!n) return true;
    struct tensor *h = run_states_at(run, me->boundary, rows, n), *logits = run_decode(run, h, me->boundary);
    for (int q = 0, at = 0; q < shard->count; q++) {
        if (!shard->questions[q].bridge_count) continue;
        int token = shard->questions[q].bridges[0].token;
        lines[q].p_bridge = logits_p(logits->data + (size_t)at * (size_t)logits->cols, logits->cols, token);
        lines[q].cosine = token_cosine(run, h->data + (size_t)at++ * (size_t)h->cols, token);
    }
    return true;
}

static bool go_on(void *self, size_t done)
{
    struct list *me = self;
    return pace_show(me->pace, me->before + (double)done) && !session_stopped(me->study->session);
}

static void show(const struct list *me, const struct split *split, bool wrong, struct sink *sink)
{
    const struct dataset *data = me->study->data;
    struct text question = {0};
    for (size_t i = 0; i < split->count; i++) {
        const struct question *q = &split->questions[i];
        const struct line *line = &me->lines[i];
        if (wrong && line->predicted == q->answer) continue;
        question.size = 0;
        for (int t = 0; t < q->length; t++) text_add(&question, "%s%s", t ? " " : "", dataset_token(data, q->tokens[t]));
        sink_row(sink,
                 (struct cell[]){cell_text(split->name), cell_number((double)i), cell_text(question.data), cell_text(dataset_token(data, q->answer)),
                                 cell_text(line->predicted < 0 ? "not finite" : dataset_token(data, line->predicted)),
                                 cell_number(line->predicted == q->answer), cell_number(line->p_bridge), cell_number(line->cosine)});
    }
    text_clear(&question);
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    struct study study;
    (void)self;
    if (!study_open(&study, session, args, "test_ood,test_id", sink, err)) return false;
    int boundary = (int)args_int(args, "boundary"), last = study.loops;
    if (boundary > last) return study_close(&study), err_set(err, "--boundary %d: the model runs %d loops", boundary, last);
    struct table *table = table_new("questions");
    table_column(table, "split", ROLE_LABEL, NULL);
    table_column(table, "row", ROLE_COUNT, "%.0f");
    table_column(table, "question", ROLE_LABEL, NULL);
    table_column(table, "answer", ROLE_LABEL, NULL);
    table_column(table, "predicted", ROLE_LABEL, NULL);
    table_column(table, "correct", ROLE_COUNT, "%.0f");
    table_column(table, "p_bridge", ROLE_VALUE, "%.3f");
    table_column(table, "cosine", ROLE_VALUE, "%.3f");
    study_provenance(&study, table);
    sink_table(sink, table);
    table_free(table);
    bool ok = true;
    double total = 0, before = 0;
    for (int s = 0; s < study.split_count; s++) total += (double)study.splits[s].count;
    struct pace pace = pace_start(sink, "questions", "rows", total);
    for (int s = 0; ok && s < study.split_count; s++) {
        const struct split *split = &study.splits[s];
        struct list list = {&study, boundary, mem_new(sizeof *list.lines * (split->count + 1)), &pace, before};
        struct pass pass = {.model = study.model, .questions = split->questions, .count = split->count, .pool = study.pool, .loops = study.loops,
                            .setup = setup, .visit = visit, .go_on = go_on, .stop = &session->stop, .self = &list};
        ok = pass_run(&pass, err);
        if (ok) show(&list, split, args_flag(args, "wrong"), sink);
        mem_free(list.lines);
        before += (double)split->count;
    }
    study_close(&study);
    return ok;
}

const struct command command_questions = {
    .name = "questions",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "a split's questions with answer, prediction, P(bridge) and cosine, one a line",
    .more = "P(bridge) and cosine are those of --boundary, after loop 1 unless it is given, at the first bridge position.",
    .options = options,
    .example = "questions models/vanilla --split test_ood --wrong",
    .run = run,
};
