/* The weights a family declared against the tensors its file holds: every declared weight is found with the right shape and a type that can hold
 * weights, or all misfits are named in one message. What is odd but harmless becomes notes: tensors nobody asked for, numbers that are not finite.
 */
#ifndef MODELS_MATCH_H
#define MODELS_MATCH_H

#include "models/model.h"

/* Points the weights of an opened model into model->set. Reads every number once. */
bool match_weights(struct model *model, struct sink *sink, struct err *err);

#endif
