/* The cipher of philox.h for many counters side by side, for files that are compiled once
   for each kind of processor (see kinds.h). */
#ifndef SYN_BASE_PHILOX_LANES_H
#define SYN_BASE_PHILOX_LANES_H

#include <stdint.h>

/* Blocks side by side, each number in 64 bits, as products need them. */
enum { SYN_PHILOX_LANES = 16 };

/* What syn_philox() makes of the counters, in place. */
static inline void syn_philox_lanes(uint64_t c[4][SYN_PHILOX_LANES],
                                    const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        for (int l = 0; l < SYN_PHILOX_LANES; l++) {
            uint64_t p0 = (c[0][l] & 0xFFFFFFFFu) * 0xD2511F53u;
            uint64_t p1 = (c[2][l] & 0xFFFFFFFFu) * 0xCD9E8D57u;
            c[0][l] = (p1 >> 32) ^ c[1][l] ^ k0;
            c[1][l] = p1 & 0xFFFFFFFFu;
            c[2][l] = (p0 >> 32) ^ c[3][l] ^ k1;
            c[3][l] = p0 & 0xFFFFFFFFu;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

#endif
