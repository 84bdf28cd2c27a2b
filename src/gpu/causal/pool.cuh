/* What a search for neighbours works on: libraries on a device, a warp's pool of columns,
   bounds, and how a warp finds the k nearest of what its lanes have. */
#pragma once

#include "core/causal/map.h"
#include "gpu/base/rank.cuh"
#include "gpu/base/warp.cuh"

namespace gpu {

/* ---- bounds ---- */

/* Bounds of all numbers of dimensions at once: for E = e + 1, a number that at least
   e + 2 of the lanes' least numbers do not exceed.

   Each lane writes its least number for every E; then lane e sorts the 32 for E = e + 1.
   Numbers have 16 bits, so that two are sorted by one instruction. Of a distance that is
   the upper half of its bits, rounded up. */

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
    SYN_UNROLL(i, 16) {
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
    SYN_UNROLL(i, 8) {
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
    SYN_UNROLL(i, 16)
        word[i] = from[i];
    sort_steps<2>(word);
    sort_steps<4>(word);
    sort_steps<8>(word);
    sort_steps<16>(word);
    merge_halves(word);
    uint32_t found = word[place % 16];
    return place < 16 ? found & MOST_16_BITS : found >> 16;
}

/* ---- the pool ---- */

enum {
    POOL = 256,            /* columns of a pool */
    SEARCH_WARPS = 8,      /* of a block */
    SEARCH_BLOCKS = 3,     /* that a multiprocessor should have room for */
    SEARCH_ROWS = 16,      /* places that a warp takes: the first is dearer than others */
    SEARCH_FRONT = 32,     /* empty places in front of a library, for the first lags */
    SEARCH_STEP = 4 * WARP,  /* columns that a warp looks at together */
    A_FEW = 4,             /* more than are wanted, kept for the sake of time */
    SAMPLE = 1024          /* columns that the first threshold is taken from, at most */
};

/* Floats of a library in device memory: at least one empty place after the last. */
inline uint32_t placed_length(uint32_t places)
{
    return SEARCH_FRONT + (places / SEARCH_STEP + 1) * SEARCH_STEP;
}

struct search_job {
    uint32_t length;       /* floats of a library in `placed`, and bits of it in `may` */
    uint32_t places, steps, exclusion;
    int32_t Tp;
    uint32_t wanted;       /* bit E - 1 */
    uint32_t sample;       /* columns to take the first threshold from, too */
    float *placed;         /* [n][length] values in the order of the layout, else NaN */
    uint32_t *may;         /* [n][length / 32] a bit for each place: it may be a column */
    float *value;          /* [n][steps] */
    const int32_t *step;   /* [length] of each place; -1 where there is none */
    const unsigned char *use;  /* [places] */
};

/* What a warp uses over and over. The list is read 16 bytes at a time. */
struct alignas(16) search_scratch {
    float limit[WARP];        /* of the squared distance, by E - 1 */
    uint32_t last[WARP];      /* of what is at the limit: only up to this rank */
    float near[WARP];         /* the neighbours: squared distance ... */
    int32_t near_step[WARP];  /* ... and step */
    float list[POOL + 4];     /* squared distances within the limit ... */
    unsigned char slot[POOL];  /* ... and where in the pool */
    int32_t step[POOL];       /* the pool: step, and place or -1 for what may not be a */
    union {                   /* neighbour; while neighbours are found, bounds */
        int32_t column[POOL];
        least_numbers least;
    };
};

/* Values in the order of the layout, and which columns count. A warp writes a word of
   `may`. */
__global__ void lay_out(search_job job, const unsigned char *drawn)
{
    uint32_t at = blockIdx.x * blockDim.x + threadIdx.x, library = blockIdx.y;
    if (at >= job.length)  /* whole warps: the length is a multiple of theirs */
        return;
    float value = __int_as_float(0x7fc00000);
    bool column = false;
    uint32_t p = at - SEARCH_FRONT;
    if (at >= SEARCH_FRONT && p < job.places && job.step[p] >= 0) {
        size_t i = (size_t) library * job.steps + job.step[p];
        value = job.value[i];
        column = (job.use[p] & SYN_MAP_LIBRARY) && (!drawn || drawn[i]);
    }
    job.placed[(size_t) library * job.length + at] = value;
    uint32_t word = __ballot_sync(WHOLE_WARP, column);
    uint32_t words = job.length / WARP, front = SEARCH_FRONT / WARP;
    if (at % WARP == 0)
        job.may[(size_t) library * words + (at / WARP + words - front) % words] = word;
}

/* Where this lane's element goes after `n` others; `all` of the warp's do. */
__device__ inline uint32_t place_in(uint32_t n, uint32_t all)
{
    return n + __popc(all & lanes_below());
}

/* Bits of what is no distance, as a number: those of infinity. */
constexpr uint32_t NO_DISTANCE = 0x7f800000;

/* What has no rank: as what has the last of all, so that more than ranks must tell. */
constexpr uint32_t NO_RANK = UINT32_MAX;

/* The second least of the lanes' distances; infinite when there is only one. */
__device__ inline float second_least(float distance)
{
    uint32_t bits = min(__float_as_uint(distance), NO_DISTANCE);
    uint32_t first = warp_least(bits);
    if (__popc(__ballot_sync(WHOLE_WARP, bits == first)) > 1)
        return __uint_as_float(first);
    return __uint_as_float(warp_least(bits == first ? NO_DISTANCE : bits));
}

/* The k-th of a warp's numbers or, where `slack` allows, one of so many that follow it;
   NONE, as is what is no number, when there are fewer. The search ends soon where numbers
   are equal: its bounds are always among them. */
template <uint32_t NONE = NO_DISTANCE, int ROUNDS>
__device__ inline uint32_t kth(const uint32_t (&of)[ROUNDS], uint32_t k, uint32_t slack)
{
    uint32_t low = NONE, high = 0, n = 0;
    SYN_UNROLL(r, ROUNDS) {
        bool is = of[r] < NONE;
        low = min(low, of[r]);
        high = is ? max(high, of[r]) : high;
        n += __popc(__ballot_sync(WHOLE_WARP, is));
    }
    if (n < k)
        return NONE;
    low = warp_least(low);
    high = warp_greatest(high);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, below = 0, above = NONE;
        n = 0;
        SYN_UNROLL(r, ROUNDS) {
            bool in = of[r] <= middle;
            below = in ? max(below, of[r]) : below;
            above = in ? above : min(above, of[r]);
            n += __popc(__ballot_sync(WHOLE_WARP, in));
        }
        if (n < k) {
            low = warp_least(above);
            continue;
        }
        high = warp_greatest(below);
        if (n <= k + slack)
            break;
    }
    return high;
}

/* ---- the nearest of a pool ---- */

/* A pool of up to ROUNDS * WARP columns, whose squared distances from a row grow by a
   dimension at a time. Each lane has one column of every round. */
template <int ROUNDS> struct pool_distances {
    int32_t column[ROUNDS];  /* any where there is none */
    float d[ROUNDS];

    __device__ void load(const search_scratch &s, uint32_t n, uint32_t lane)
    {
        SYN_UNROLL(r, ROUNDS) {
            uint32_t i = r * WARP + lane;
            int32_t c = i < n ? s.column[i] : -1;
            column[r] = max(c, 0);
            d[r] = c < 0 ? __int_as_float(0x7fc00000) : 0;
        }
    }

    /* Adds dimension e + 1; returns this lane's least distance. */
    __device__ float add(const float *x, int32_t row, int32_t e)
    {
        float of_row = x[row - e], least = __int_as_float(0x7fc00000);
        SYN_UNROLL(r, ROUNDS) {
            float gap = of_row - x[column[r] - e];
            d[r] = fmaf(gap, gap, d[r]);
            least = fminf(least, d[r]);
        }
        return least;
    }
};

/* Lists the pool's columns within the limit. */
template <int ROUNDS>
__device__ inline uint32_t list(search_scratch &s, const pool_distances<ROUNDS> &pool,
                                float limit, uint32_t lane)
{
    uint32_t n = 0;
    SYN_UNROLL(r, ROUNDS) {
        bool in = pool.d[r] <= limit;
        uint32_t all = __ballot_sync(WHOLE_WARP, in);
        if (in) {
            uint32_t at = place_in(n, all);
            s.list[at] = pool.d[r];
            s.slot[at] = r * WARP + lane;
        }
        n += __popc(all);
    }
    __syncwarp();
    return n;
}

/* Adds element i of the list to the `found` nearest, of which there is room for 32. */
__device__ inline uint32_t take(search_scratch &s, uint32_t found, bool member,
                                uint32_t i)
{
    uint32_t members = __ballot_sync(WHOLE_WARP, member);
    uint32_t at = place_in(found, members);
    if (member && at < WARP) {
        s.near[at] = s.list[i];
        s.near_step[at] = s.step[s.slot[i]];
    }
    return found + __popc(members);
}

/* The k nearest of n in the list; of the farthest of these there may be more than are
   wanted, then those count whose ranks are least. */
template <int ROUNDS>
__device__ inline void choose_of(search_scratch &s, uint32_t lane, uint32_t n, uint32_t k,
                                 int32_t step)
{
    uint32_t bits[ROUNDS], rank[ROUNDS], less = 0, most = 0, found = 0;
    SYN_UNROLL(r, ROUNDS) {
        uint32_t i = r * WARP + lane;
        bits[r] = i < n ? __float_as_uint(s.list[i]) : UINT32_MAX;
    }
    uint32_t farthest = kth(bits, k, 0), last = 0;
    SYN_UNROLL(r, ROUNDS) {
        less += __popc(__ballot_sync(WHOLE_WARP, bits[r] < farthest));
        most += __popc(__ballot_sync(WHOLE_WARP, bits[r] <= farthest));
    }
    bool tied = most > k;
    SYN_UNROLL(r, ROUNDS) {
        bool tie = tied && bits[r] == farthest;
        int32_t t = tie ? s.step[s.slot[r * WARP + lane]] : 0;
        rank[r] = tie ? syn_rank_after(t, syn_row_rank(step)) : NO_RANK;
    }
    if (tied)
        last = kth<NO_RANK>(rank, k - less, 0);
    SYN_UNROLL(r, ROUNDS) {
        bool in = bits[r] == farthest && (!tied || rank[r] <= last);
        found = take(s, found, bits[r] < farthest || in, r * WARP + lane);
    }
}

/* The same, for lists longer than a warp or with ties at their end. */
static __device__ __noinline__ void choose(search_scratch &s, uint32_t lane, uint32_t n,
                                           uint32_t k, int32_t step)
{
    __syncwarp();
    if (n <= 2 * WARP)
        choose_of<2>(s, lane, n, k, step);
    else
        choose_of<POOL / WARP>(s, lane, n, k, step);
    __syncwarp();
}

/* What a lane has of the nearest: one of them, or nothing, infinitely far. */
struct neighbour {
    uint32_t found;  /* how many lanes have one */
    uint32_t place;  /* in the order of the pool; without one, an empty place or WARP */
    float d;         /* squared distance */
    int32_t step;    /* without one, any step of the series */

    __device__ bool is() const { return __float_as_uint(d) < NO_DISTANCE; }
};

/* How many of the list's n are nearer than `mine`. Bits of floats that are not negative
   are in their order. The loop is not unrolled: warps wait for instructions more than for
   what the loop costs. */
__device__ inline uint32_t count_nearer(const search_scratch &s, uint32_t n,
                                        uint32_t mine)
{
    uint32_t less = 0;
#pragma unroll 1
    for (uint32_t j = 0; j < n; j += 4) {
        uint4 v = *(const uint4 *) (s.list + j);
        less += ((v.x - mine) >> 31) + ((v.y - mine) >> 31) + ((v.z - mine) >> 31) +
                ((v.w - mine) >> 31);
    }
    return less;
}

/* The k nearest of the n in the list. */
__device__ inline neighbour select(search_scratch &s, uint32_t lane, uint32_t n,
                                   uint32_t k, int32_t step)
{
    const float infinite = __uint_as_float(NO_DISTANCE);
    if (n > k && lane < 4)
        s.list[n + lane] = infinite;
    __syncwarp();
    if (n <= WARP) {
        neighbour mine = {n, lane, lane < n ? s.list[lane] : infinite,
                          lane < n ? s.step[s.slot[lane]] : step};
        if (n <= k)
            return mine;
        bool member = lane < n && count_nearer(s, n, __float_as_uint(mine.d)) < k;
        uint32_t members = __ballot_sync(WHOLE_WARP, member);
        mine.found = __popc(members);
        mine.place = member ? place_in(0, members) : WARP;
        mine.d = member ? mine.d : infinite;
        if (mine.found == k)
            return mine;
    }
    choose(s, lane, n, k, step);
    if (lane >= k)
        return {k, WARP, infinite, step};
    return {k, lane, s.near[lane], s.near_step[lane]};
}

}  // namespace gpu
