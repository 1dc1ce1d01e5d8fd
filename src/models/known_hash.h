/* Hashes of large weight files, remembered: every table names its model by its hash, and reading gigabytes for that takes seconds.
 *
 *     if (known_hash_get(set, hex)) return hex;      ... compute ...      known_hash_put(set);
 *
 * One small file for each set in the cache folder, named after the marks of the set's files (ground/file.h): a file that was written or replaced has
 * another mark, so it is read again. Small sets are not remembered; where nothing can be written, nothing is.
 */
#ifndef MODELS_KNOWN_HASH_H
#define MODELS_KNOWN_HASH_H

#include "ground/hash.h"
#include "models/safetensors.h"

bool known_hash_get(const struct tensor_set *set, char hex[HASH_HEX]);
void known_hash_put(const struct tensor_set *set); /* set->hash */

#endif
