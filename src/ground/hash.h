/* SHA-256 (FIPS 180-4), of memory and of files.
 *
 *     char hex[HASH_HEX];
 *     hash_bytes(hex, data, size);
 *
 * or piece by piece: struct hash h; hash_start(&h); hash_add(&h, ...); hash_end(&h, hex).
 */
#ifndef GROUND_HASH_H
#define GROUND_HASH_H

#include "ground/err.h"

#include <stddef.h>
#include <stdint.h>

enum { HASH_HEX = 65 };

struct hash {
    uint32_t state[8];
    uint64_t size;
    unsigned char block[64];
};

void hash_start(struct hash *hash);
void hash_add(struct hash *hash, const void *data, size_t size);
void hash_end(struct hash *hash, char hex[HASH_HEX]);
void hash_bytes(char hex[HASH_HEX], const void *data, size_t size);
bool hash_file(char hex[HASH_HEX], const char *path, struct err *err);

#endif
