/* What the kernels of causal maps share: where a library's neighbours are kept. */
#ifndef SYN_GPU_CAUSAL_TYPES_CUH
#define SYN_GPU_CAUSAL_TYPES_CUH

#include "core/causal/map.h"
#include "gpu/base/warp.cuh"

#include <cstdint>

namespace gpu {

enum {
    ROW_BYTES = 128        /* of a step in a tile of whole rows */
};

/* How the neighbours of a point are written down. A wide entry is a weight and where the
   neighbour's row begins in a tile, in a word (4 bytes) each; a narrow one has 21 bits of
   weight and 11 of the neighbour's step in one word, and one over the sum of the weights
   goes before them. A point fills 16 bytes or several. Packed entries have 16 bits of
   each, and those of 32 points are side by side. */
enum class entries { wide, narrow, packed };

constexpr uint32_t MOST_21 = 0x1fffff, MOST_16 = 0xfffe;  /* weights of the nearest */

enum {
    NARROW_DIMS = 22,    /* most dimensions with narrow entries: 96 bytes of them */
    NARROW_STEPS = 2048  /* and most steps */
};

/* A point without neighbours has NaN for wide weights, or before narrow ones, and this
   for packed ones. */
constexpr uint32_t NO_POINT_16 = 0xffff;

/* Words of a point with k neighbours. */
__host__ __device__ inline uint32_t row_words(entries kind, uint32_t k)
{
    if (kind == entries::packed)
        return 1 + (k + 1) / 2 * 2;  /* room for what arrange_entries() makes of it */
    return ((kind == entries::wide ? 2 * k : k + 1) + 3) & ~3u;
}

/* The table of a library: one part for each E that is wanted. */
struct table_shape {
    uint32_t wanted;                    /* bit E - 1 */
    uint32_t size;                      /* words of a library */
    uint32_t from[SYN_MAP_DIMS];        /* points from this step ... */
    uint32_t to[SYN_MAP_DIMS];          /* ... to before this one */
    uint32_t offset[SYN_MAP_DIMS];      /* where the part begins, in words */
    uint32_t words[SYN_MAP_DIMS];       /* of a point */
};

/* Where word `i` of a point in E = e + 1 dimensions is. */
__host__ __device__ inline size_t table_word(const table_shape &shape, entries kind,
                                             uint32_t e, uint32_t row, uint32_t i)
{
    /* Of packed entries so many points are side by side, of others one. */
    uint32_t together = kind == entries::packed ? WARP : 1, within = row & (together - 1);
    return shape.offset[e] + (size_t) (row - within) * shape.words[e] + i * together +
           within;
}

}  // namespace gpu

#endif
