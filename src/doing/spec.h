/* A dataset's spec: a text file with the command line that makes the set and the hash of its dataset.json, for sets that are made when needed.
 *
 *     data khop --entities 100 --relations 50 --seed 0
 *     sha256 = 5f2c...
 *
 *     struct dataset *data = spec_open("datasets/two-hop-small.spec", "two-hop-small", sink, err);
 *
 * The set is kept in $XDG_CACHE_HOME/loopscope/datasets (or ~/.cache/...), and made once; a note says so.
 */
#ifndef DOING_SPEC_H
#define DOING_SPEC_H

#include "ground/err.h"
#include "results/sink.h"

struct dataset;

struct dataset *spec_open(const char *path, const char *name, struct sink *sink, struct err *err);

/* The value of a line "key = value" or "key value" (# starts a comment) in a spec or recipe, to free; NULL: no such line. */
char *spec_value(const char *text, const char *key);

#endif
