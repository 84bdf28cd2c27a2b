/* Bounds of all numbers of dimensions at once: for E = e + 1, a distance that at least
   e + 2 of the lanes' least distances do not exceed.

   Each lane writes its least distance of every E; then lane e sorts the 32 of E = e + 1.
   They are rounded up to 16 bits, so that two are sorted by one instruction. */
#ifndef SYN_GPU_CAUSAL_BOUNDS_CUH
#define SYN_GPU_CAUSAL_BOUNDS_CUH

#include "gpu/causal/types.cuh"

#include <cuda_runtime.h>

namespace gpu {

/* Words between the least distances of one E and those of the next: odd, so that lanes
   read from different banks. */
enum { LEAST_WORDS = WARP / 2 + 1 };

struct least_distances {
    unsigned short of[SYN_MAP_DIMS][2 * LEAST_WORDS];

    /* What is no number counts as infinite. */
    __device__ void put(uint32_t e, uint32_t lane, float least)
    {
        uint32_t bits = min(__float_as_uint(least), 0x7f800000u);
        of[e][lane] = (bits + 0xffff) >> 16;
    }
};

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

/* Lane e gets the bound of E = e + 1; infinite where fewer than e + 2 lanes have a
   distance. */
__device__ inline float bound_of_all(const least_distances &least, uint32_t lane)
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
    return __uint_as_float(place < 16 ? found << 16 : found & 0xffff0000);
}

}  // namespace gpu

#endif
