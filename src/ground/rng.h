/* Random numbers: xoshiro256** seeded by splitmix64; always passed in, never global.
 *
 *     struct rng rng = rng_start(seed, "init");     (the same seed and purpose give the same stream, everywhere)
 *     uint64_t die = 1 + rng_below(&rng, 6);
 *
 * Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018.
 */
#ifndef GROUND_RNG_H
#define GROUND_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

struct rng rng_start(uint64_t seed, const char *purpose);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t limit); /* 0 ... limit-1, without bias; limit > 0 */
double rng_normal(struct rng *rng);                  /* mean 0, standard deviation 1; two uniforms each, nothing kept back */
void rng_shuffle(struct rng *rng, uint32_t *items, size_t n);

#endif
