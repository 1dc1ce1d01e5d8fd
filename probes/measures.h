/* Numbers that several probes report about one state or one row of logits. Accumulated in double.
 *
 *     double p = logits_p(row, vocabulary, token);      probability of the token; NaN when the logits are not finite
 *     double c = token_cosine(run, h, token);           cosine of a state with W[token]; NaN when either is zero
 */
#ifndef PROBES_MEASURES_H
#define PROBES_MEASURES_H

#include "models/run.h"

double logits_p(const float *logits, int n, int token);
int logits_rank(const float *logits, int n, int token); /* 1 is the best; among equals the lower index comes first */
double logits_entropy(const float *logits, int n);      /* in nats */
double vector_norm(const float *x, int n);
double vector_cosine(const float *x, const float *y, int n); /* in [-1, 1] */
double vector_distance(const float *x, const float *y, int n);
double token_cosine(struct run *run, const float *state, int token);

#endif
