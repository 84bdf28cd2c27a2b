/* The device's data structures of the episode miner. */
#ifndef SYN_GPU_EPISODES_TYPES_CUH
#define SYN_GPU_EPISODES_TYPES_CUH

#include "gpu/base/warp.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {

constexpr uint32_t ALL = 0xffffffffu;      /* every lane */
constexpr uint32_t NOTHING = 0xffffffffu;  /* no event, no symbol */
constexpr uint16_t RARE = 0xffff;          /* the symbol of infrequent units */

/* The frequent units are numbered as symbols, in order, and cut into pages of one width.
   Each of a warp's lanes holds K neighbouring symbols of a page, K a power of two:
   symbol = page * width + lane * K + j. A set of a page's symbols is K words, word j of
   which has a bit for each lane. A column is an interval and a page, in this order. */
struct events_view {
    uint32_t n;
    const int64_t *tick;
    const uint32_t *group, *by_unit, *row;  /* as in syn_recording */
    const uint16_t *symbol;                 /* [n] */
    const uint32_t *row_begin, *row_end;    /* [symbols] rows of the unit's events */
    const uint32_t *unit;                   /* [symbols] */
};

struct columns_view {
    uint32_t n, pages, width;
};

/* A lane's share of a row of the next-occurrence table: where each of its symbols first
   occurs inside the window, counted from 1 at the event that the window opens with; 0
   where it does not occur. The table is [columns][events + 1][WARP]; rows follow by_unit,
   the last one is all 0. The last lane has no symbols of a page: it counts the events
   themselves, as the spare symbol, which occurs at each. T is uint8_t or uint16_t. */
template <int K, class T> struct row_pack {
    static constexpr int BYTES = K * sizeof(T), WORDS = (BYTES + 3) / 4;
    static constexpr int EACH = 4 / sizeof(T), BITS = 8 * sizeof(T);
    uint32_t word[WORDS];  /* unpacked late, which saves registers */

    __device__ uint32_t next(int j) const
    {
        uint32_t above = word[j / EACH] >> j % EACH * BITS;
        return BYTES < 4 && j == K - 1 ? above : above & ((1u << BITS) - 1);
    }

    __device__ void set(int j, uint32_t value)
    {
        word[j / EACH] |= value << j % EACH * BITS;
    }
};

template <int K, class T> struct row_bytes {
    static constexpr uint32_t lane = sizeof(T) * K, row = WARP * lane;
};

/* Values of so many bytes, as they are loaded and stored at once. */
template <int BYTES> struct bytes_at_once { typedef uint2 type; };
template <> struct bytes_at_once<1> { typedef uint8_t type; };
template <> struct bytes_at_once<2> { typedef uint16_t type; };
template <> struct bytes_at_once<4> { typedef uint32_t type; };

template <int K, class T>
__device__ inline row_pack<K, T> load_pack(const unsigned char *from)
{
    typedef row_pack<K, T> pack_type;
    typedef typename bytes_at_once<pack_type::BYTES>::type some;
    pack_type pack;
    if constexpr (sizeof(some) <= 4) {
        pack.word[0] = *(const some *) from;
    } else {
#pragma unroll
        for (int i = 0; i < pack_type::WORDS / 2; i++) {
            uint2 two = ((const uint2 *) from)[i];
            pack.word[2 * i] = two.x;
            pack.word[2 * i + 1] = two.y;
        }
    }
    return pack;
}

template <int K, class T>
__device__ inline void store_pack(unsigned char *to, row_pack<K, T> pack)
{
    typedef typename bytes_at_once<row_pack<K, T>::BYTES>::type some;
    if constexpr (sizeof(some) <= 4)
        *(some *) to = (some) pack.word[0];
    else
#pragma unroll
        for (int i = 0; i < row_pack<K, T>::WORDS; i++)
            ((uint32_t *) to)[i] = pack.word[i];
}

/* An event of a row, and where its window opens and shuts, counted from it. T is
   uint16_t, or uint32_t where windows hold more events than that can number. */
template <class T> struct place {
    uint32_t event;
    T open, shut;
};

/* An event's row, and the next event of its unit. */
struct link {
    uint32_t row, next;
};

/* What the device knows of a level, and tells the host. */
struct header {
    unsigned long long candidates;  /* children of its nodes that are counted */
    unsigned long long own;         /* those of them that this device counts */
    unsigned long long list_ends;   /* ends that the lists made of it need */
    uint32_t lists;                 /* lists made */
    uint32_t tasks, segments;       /* planned for counting along them */
    uint32_t taken;                 /* tasks begun beyond the first of each warp */
    uint32_t found;                 /* frequent children counted */
    uint32_t reach;                 /* farthest event of any window */
    uint32_t widest;                /* most events of a window */
};

/* Ends that the lists of `nodes` nodes will need: mostly lists get shorter. */
__host__ __device__ inline unsigned long long ends_expected(const header &below,
                                                            uint32_t nodes)
{
    return below.lists > 0 ? below.list_ends / below.lists * nodes : 0;
}

/* A level on the device. A node is an episode, an item a node and a column. What items
   hold describes the node's children in that column. */
struct level_view {
    uint32_t n;                                /* nodes, where the host knows */
    uint32_t room;                             /* for nodes */
    uint32_t *nodes;                           /* how many there are; it comes first */
    uint32_t *parent, *suffix, *unit, *interval, *count;  /* [n] as on the host */
    uint32_t *step;                            /* [n] symbol in the page + 256 * column */
    uint32_t *length;                          /* [n] valid ends in the node's list */
    unsigned long long *offset;                /* [n] where the list begins */
    uint32_t *child;                           /* [n + 1] */
    uint32_t *mask;                            /* [items][K] symbols that follow */
    uint32_t *children;                        /* [items] how many */
    uint32_t *base;                            /* [items + 1] first one's number */
    uint32_t *slot;                            /* [items] first one's place in `counts`,
                                                  and whose: device << SLOT_BITS */
    uint32_t *done;                            /* [items] finished segments, 0 at rest */
};

/* What a warp counts at a time: an item, or where its list is long a segment of it, whose
   states are left at number `first` + segment for the others. */
struct task {
    uint32_t item, segment, segments, first;
};

__device__ inline uint32_t max_of_warp(uint32_t x)
{
    for (int step = WARP / 2; step > 0; step /= 2)
        x = max(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

__device__ inline uint32_t sum_of_warp(uint32_t x)
{
    for (int step = WARP / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(ALL, x, step);
    return x;
}

/* How many symbols of an item's set come before this lane's first one. */
template <int K> __device__ inline uint32_t rank_of_lane(const uint32_t *mask)
{
    uint32_t lower = (1u << threadIdx.x % WARP) - 1, rank = 0;
    for (int j = 0; j < K; j++)
        rank += __popc(mask[j] & lower);
    return rank;
}

}  // namespace gpu

#endif
