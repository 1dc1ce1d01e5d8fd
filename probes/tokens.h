/* One sequence, three ways through a model whose boundary is the token: all tokens in one pass (prefill), one token at a time with kept caches
 * (incremental), and the prefill once more (replay). With equal weights all give the same states: to the last bit where the arithmetic is the same.
 *
 *     struct passage whole, steps;
 *     bool ok = tokens_prefill(&whole, model, batch, arena, err) && tokens_incremental(&steps, model, batch, NULL, arena, err);
 *     steps.states[3]                       (s.3 of every sequence of at least 3 tokens)
 *     exp(whole.logp[i] - steps.logp[i])    (probability ratio of the token at place i; NaN at first tokens, which nothing predicts)
 *
 * Everything lives in the arena.
 */
#ifndef PROBES_TOKENS_H
#define PROBES_TOKENS_H

#include "models/run.h"

enum { TOKENS_GIVEN = 64 };

struct passage {
    const struct batch *batch;
    struct tensor **states;   /* [longest+1] */
    double *logp;             /* [N] log P(token | those before it) */
    struct { const char *site; struct tensor *value; } given[TOKENS_GIVEN]; /* prefill: e and the memory, [N, D] */
    int given_count;
};

bool tokens_prefill(struct passage *passage, const struct model *model, const struct batch *batch, struct arena *arena, struct err *err);

/* given: the prefill whose e and memory are used instead of the model's own, or NULL. The encoder multiplies other sizes of matrices in a prefill
 * than token by token; from a given e on the arithmetic is the same. */
bool tokens_incremental(struct passage *passage, const struct model *model, const struct batch *batch, const struct passage *given,
                        struct arena *arena, struct err *err);

/* What selftest reports, and where the worst was. */
struct token_check { const char *name, *what; double worst, tolerance; char where[64]; double ours, theirs; };
enum { TOKEN_CHECKS = 4 };
bool tokens_check(struct token_check checks[TOKEN_CHECKS], const struct model *model, const struct batch *batch, struct arena *arena,
                  struct err *err);

#endif
