/* What may be wrong with a dataset whose rows are all well formed: test questions that stand in training, rows that contradict the facts.
 *
 *     dataset_check(data, sink);      (notes that name the split and say how many rows; dataset_open does this)
 */
#ifndef LEARNING_DATASET_CHECK_H
#define LEARNING_DATASET_CHECK_H

#include "learning/dataset.h"

void dataset_check(const struct dataset *data, struct sink *sink);

#endif
