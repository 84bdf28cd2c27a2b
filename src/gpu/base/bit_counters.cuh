/* Counting bits of many words at a time. */
#pragma once

#include "gpu/base/warp.cuh"

namespace gpu {

/* 32 counters, one a bit: bit k of each is in plane[k]. */
template <int PLANES> struct bit_counters {
    uint32_t plane[PLANES];

    __device__ void clear()
    {
        SYN_UNROLL(k, PLANES)
            plane[k] = 0;
    }

    /* Adds to plane[from] and those above. */
    __device__ void add(uint32_t carry, int from = 0)
    {
        SYN_UNROLL(k, PLANES) {
            if (k < from)
                continue;
            uint32_t both = plane[k] & carry;
            plane[k] ^= carry;
            carry = both;
        }
    }

    __device__ static uint32_t three(uint32_t *sum, uint32_t a, uint32_t b)
    {
        uint32_t carry = (*sum & a) | (*sum & b) | (a & b);
        *sum ^= a ^ b;
        return carry;
    }

    __device__ void add_eight(const uint32_t *of)
    {
        uint32_t two = three(&plane[0], of[0], of[1]);
        uint32_t twos = three(&plane[0], of[2], of[3]);
        uint32_t four = three(&plane[1], two, twos);
        two = three(&plane[0], of[4], of[5]);
        twos = three(&plane[0], of[6], of[7]);
        uint32_t fours = three(&plane[1], two, twos);
        add(three(&plane[2], four, fours), 3);
    }

    /* The counters above `least`. */
    __device__ uint32_t above(uint32_t least) const
    {
        uint32_t more = 0, same = PLANES < 32 && least >> PLANES ? 0 : ~0u;
#pragma unroll
        for (int k = PLANES - 1; k >= 0; k--) {
            uint32_t one = 0 - (least >> k & 1);
            more |= same & plane[k] & ~one;
            same &= ~(plane[k] ^ one);
        }
        return more;
    }

    __device__ uint32_t at(uint32_t bit) const
    {
        uint32_t value = 0;
        SYN_UNROLL(k, PLANES)
            value |= (plane[k] >> bit & 1) << k;
        return value;
    }
};

}  // namespace gpu
