/* sites: the address and shape of every value in a forward pass, listed by running one, so the list cannot be wrong. */
#include "doing/command.h"
#include "models/run.h"
#include "numbers/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct listing { struct sink *sink; int tokens; bool by_token; };

static void visit(void *self, const char *site, const struct tensor *value)
{
    struct listing *me = self;
    const char *loop = strstr(site, "loop."), *block = strstr(site, "block."), *dot = strchr(site, '.');
    int k = -1, i = -1;
    char shape[64];
    if (me->by_token) (void)(sscanf(site, "token.%d", &k) == 1 || sscanf(site, "s.%d", &k) == 1 || sscanf(site, "encoder.%d", &i) == 1);
    else if (loop) sscanf(loop, "loop.%d", &k);
    else if (dot) sscanf(dot, ".%d", &k);
    if (block) sscanf(block, "block.%d", &i);
    if (strstr(site, "pattern")) snprintf(shape, sizeof shape, "[heads x keys of each query]");
    else
        snprintf(shape, sizeof shape, value->rows == me->tokens ? "[N, %d]" : "[%d, %d]", value->rows == me->tokens ? value->cols : value->rows,
                 value->cols);
    sink_row(me->sink, (struct cell[]){cell_text(site), cell_text(shape), cell_number(k < 0 ? NAN : k), cell_number(i < 0 ? NAN : i)});
}

static bool run(const struct command *self, struct session *session, const struct args *args, struct sink *sink, struct err *err)
{
    (void)self;
    enum { TOKENS = 3 };
    const struct model *model = session_model(session, args_word(args, 0), sink, err);
    if (!model || !blas_check(err)) return false;
    struct table *table = table_new("sites");
    table_column(table, "site", ROLE_LABEL, NULL);
    table_column(table, "shape", ROLE_LABEL, NULL);
    table_column(table, model->family->boundary, ROLE_AXIS, "%.0f");
    table_column(table, "block", ROLE_AXIS, "%.0f");
    command_provenance(session, table);
    table_fact(table, "model", "%s", session_brief(session, model->path));
    sink_table(sink, table);
    table_free(table);
    struct arena arena = {0};
    struct tape tape = {.arena = &arena};
    int tokens[TOKENS] = {0, 1 % model->vocab_size, 2 % model->vocab_size}, length = TOKENS;
    struct run pass;
    struct listing listing = {sink, TOKENS, model_by_token(model)};
    run_init(&pass, model, &tape, batch_new(&arena, 1, &length, (const int *const[]){tokens}));
    pass.visit = visit;
    pass.visitor = &listing;
    bool ok = run_forward(&pass, err) != NULL;
    arena_clear(&arena);
    return ok;
}

const struct command command_sites = {
    .name = "sites",
    .words = "MODEL",
    .least = 1,
    .most = 1,
    .help = "every site of a forward pass with its shape (N: tokens of the batch)",
    .example = "sites models/vanilla",
    .run = run,
};
