#include "ground/hash.h"

#include "ground/file.h"

#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t big_endian(const unsigned char *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

/* Blocks of 64 bytes into the state. */
static void add_plain(uint32_t s[8], const unsigned char *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++) w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (int i = 0; i < 64; i++) {
        uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

static void add_all_plain(uint32_t s[8], const unsigned char *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) add_plain(s, blocks + 64 * i);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

/* The same with the processor's own rounds, several times as fast: a model of some gigabytes is hashed for every table. The instructions want the
 * state as the words a b e f and c d g h, highest first. */
__attribute__((target("sha,sse4.1,ssse3"))) static void add_all_fast(uint32_t s[8], const unsigned char *blocks, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)s), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(s + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, cdab, 0xf0);
    for (size_t b = 0; b < count; b++) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4], back1 = w[(i + 3) % 4], back2 = w[(i + 2) % 4], back3 = w[(i + 1) % 4];
            if (i < 4) *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(blocks + 64 * b + 16 * i)), swap);
            else *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, back3), _mm_alignr_epi8(back1, back2, 4)), back1);
            __m128i k = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before), cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)s, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(s + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_rounds(void)
{
    unsigned a, b, c, d, features;
    if (!__get_cpuid(1, &a, &b, &features, &d) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return b & bit_SHA && features & bit_SSE4_1 && features & bit_SSSE3;
}

static void add_blocks(struct hash *hash, const unsigned char *blocks, size_t count)
{
    (has_rounds() ? add_all_fast : add_all_plain)(hash->state, blocks, count);
}
#else
static void add_blocks(struct hash *hash, const unsigned char *blocks, size_t count) { add_all_plain(hash->state, blocks, count); }
#endif

void hash_start(struct hash *hash)
{
    *hash = (struct hash){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void hash_add(struct hash *hash, const void *data, size_t size)
{
    const unsigned char *from = data;
    size_t held = hash->size % 64;
    hash->size += size;
    if (held) {
        size_t part = size < 64 - held ? size : 64 - held;
        memcpy(hash->block + held, from, part);
        if (held + part < 64) return;
        add_blocks(hash, hash->block, 1);
        from += part;
        size -= part;
    }
    if (size >= 64) add_blocks(hash, from, size / 64);
    if (size % 64) memcpy(hash->block, from + size / 64 * 64, size % 64);
}

void hash_end(struct hash *hash, char hex[HASH_HEX])
{
    unsigned char end[72] = {0x80}, *length;
    uint64_t bits = hash->size * 8;
    size_t held = hash->size % 64, zeros = held < 56 ? 56 - held : 120 - held; /* 0x80 and zeros up to the length's place */
    length = end + zeros;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    hash_add(hash, end, zeros + 8);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
}

void hash_bytes(char hex[HASH_HEX], const void *data, size_t size)
{
    struct hash hash;
    hash_start(&hash);
    hash_add(&hash, data, size);
    hash_end(&hash, hex);
}

bool hash_file(char hex[HASH_HEX], const char *path, struct err *err)
{
    struct file_map map;
    if (!file_map(&map, path, err)) return false;
    hash_bytes(hex, map.data, map.size);
    file_unmap(&map);
    return true;
}
