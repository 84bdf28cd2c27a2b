/* Bounds of all numbers of dimensions at once: for E = e + 1, a number that at least
   e + 2 of the lanes' least numbers do not exceed.

   Each lane writes its least number for every E; then lane e sorts the 32 for E = e + 1.
   Numbers have 16 bits, so that two are sorted by one instruction. Of a distance that is
   the upper half of its bits, rounded up. */
#ifndef SYN_GPU_CAUSAL_BOUNDS_CUH
#define SYN_GPU_CAUSAL_BOUNDS_CUH

#include "gpu/causal/types.cuh"

#include <cuda_runtime.h>

namespace gpu {

/* Words between the numbers for one E and those for the next: odd, so that lanes read
   from different banks. */
enum { LEAST_WORDS = WARP / 2 + 1 };

constexpr uint32_t MOST_16_BITS = 0xffff;

struct least_numbers {
    unsigned short of[SYN_MAP_DIMS][2 * LEAST_WORDS];
};

/* What is no distance counts as infinite. */
__device__ inline uint32_t upper_bits(float distance)
{
    uint32_t bits = min(__float_as_uint(distance), 0x7f800000u);
    return (bits + MOST_16_BITS) >> 16;
}

/* Puts the halves of two words in order: the lesser ones come first. */
__device__ inline void order_halves(uint32_t &first, uint32_t &second)
{
    uint32_t least = __vminu2(first, second);
    second = __vmaxu2(first, second);
    first = least;
}

/* A step of a bitonic sort of the low halves, and of the high ones: runs of SIZE words
   become sorted, up and down by turns. */
template <int SIZE, int APART>
__device__ inline void sort_step(uint32_t (&word)[16])
{
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int j = i | APART;
        if (i == j)
            continue;
        if (i & SIZE)
            order_halves(word[j], word[i]);
        else
            order_halves(word[i], word[j]);
    }
}

template <int SIZE> __device__ inline void sort_steps(uint32_t (&word)[16])
{
    if (SIZE > 8)
        sort_step<SIZE, 8>(word);
    if (SIZE > 4)
        sort_step<SIZE, 4>(word);
    if (SIZE > 2)
        sort_step<SIZE, 2>(word);
    sort_step<SIZE, 1>(word);
}

/* Of two sorted lists, in the low and in the high halves, the lesser 16 numbers go to the
   low halves and the others to the high ones, sorted. */
__device__ inline void merge_halves(uint32_t (&word)[16])
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint32_t least = word[i], most = __byte_perm(word[15 - i], 0, 0x1032);
        order_halves(least, most);
        word[i] = __byte_perm(least, most, 0x5410);
        word[15 - i] = __byte_perm(least, most, 0x7632);
    }
    sort_steps<16>(word);
}

/* Lane e gets the bound of E = e + 1. */
__device__ inline uint32_t bound_of_all(const least_numbers &least, uint32_t lane)
{
    const uint32_t *from = (const uint32_t *) least.of[min(lane, SYN_MAP_DIMS - 1u)];
    uint32_t word[16], place = lane + 1;  /* of the one that is wanted */
#pragma unroll
    for (int i = 0; i < 16; i++)
        word[i] = from[i];
    sort_steps<2>(word);
    sort_steps<4>(word);
    sort_steps<8>(word);
    sort_steps<16>(word);
    merge_halves(word);
    uint32_t found = word[place % 16];
    return place < 16 ? found & MOST_16_BITS : found >> 16;
}

}  // namespace gpu

#endif
