#include "base/digest.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH_BYTES = 8 }; /* of the length at the end of the last block */

/* The fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void expand(const unsigned char *block, uint32_t words[64])
{
    for (int i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
                   block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t near = words[i - 2];
        uint32_t far = words[i - 15];

        words[i] = words[i - 16] + words[i - 7] +
                   (rotate(near, 17) ^ rotate(near, 19) ^ near >> 10) +
                   (rotate(far, 7) ^ rotate(far, 18) ^ far >> 3);
    }
}

static void add_block(struct digest *digest, const unsigned char *block)
{
    uint32_t words[64];
    uint32_t s[8];

    expand(block, words);
    memcpy(s, digest->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                         round_constants[i] + words[i];
        uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;

        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        digest->state[i] += s[i];
}

void digest_init(struct digest *digest)
{
    /* The fractional parts of the square roots of the first 8 primes. */
    *digest = (struct digest){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void digest_add(struct digest *digest, const void *data, size_t length)
{
    const unsigned char *bytes = data;

    while (length > 0) {
        size_t used = digest->length % DIGEST_BLOCK_BYTES;
        size_t taken = DIGEST_BLOCK_BYTES - used < length ? DIGEST_BLOCK_BYTES - used : length;

        memcpy(digest->block + used, bytes, taken);
        bytes += taken;
        length -= taken;
        digest->length += taken;
        if (used + taken == DIGEST_BLOCK_BYTES)
            add_block(digest, digest->block);
    }
}

void digest_add_string(struct digest *digest, const char *string)
{
    digest_add(digest, string ? "+" : "-", 1);
    if (string)
        digest_add(digest, string, strlen(string) + 1);
}

void digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES])
{
    static const unsigned char padding[DIGEST_BLOCK_BYTES] = {0x80};
    const uint64_t bits = digest->length * 8;
    size_t used = (digest->length + LENGTH_BYTES) % DIGEST_BLOCK_BYTES;
    unsigned char length[LENGTH_BYTES];

    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    digest_add(digest, padding, DIGEST_BLOCK_BYTES - used);
    digest_add(digest, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(ret_text + 8 * i, 9, "%08x", digest->state[i]);
}
