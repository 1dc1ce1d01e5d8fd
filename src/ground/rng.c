#include "ground/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

struct rng rng_start(uint64_t seed, const char *purpose)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a of the purpose keeps streams apart */
    for (const char *s = purpose; *s; s++) hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
    uint64_t x = seed ^ hash;
    struct rng rng;
    for (int i = 0; i < 4; i++) rng.state[i] = splitmix(&x);
    return rng;
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    uint64_t least = -limit % limit, x; /* the lowest 2^64 mod limit values would be too many */
    do x = rng_next(rng);
    while (x < least);
    return x % limit;
}

/* [0, 1), 53 bits */
static double uniform(struct rng *rng) { return (double)(rng_next(rng) >> 11) * 0x1p-53; }

double rng_normal(struct rng *rng)
{
    double u = 1 - uniform(rng), v = uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}

void rng_shuffle(struct rng *rng, uint32_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}
