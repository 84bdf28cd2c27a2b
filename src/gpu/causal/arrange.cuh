/* How the lookup wants the entries of a table that the search has written as packed ones.

   Eight lanes that read 16 bytes each from shared memory do so at once where these lie in
   different bank groups, which follow each other every 16 bytes of a plane. So the points
   of a block of 32 are dealt to its four groups of eight such that a group's neighbours
   are spread evenly over bank groups, and each point's neighbours are put in an order in
   which those that are read together lie apart. A point keeps its number modulo 8: what
   is observed at the points of a group then lies apart as well.

   In random data a group takes 2.6 times as long as without conflicts when nothing is
   done about them, 1.55 times with the order alone, and 1.33 times with both. */
#pragma once

#include "gpu/causal/lookup.cuh"

#include <cuda_fp16.h>

namespace gpu {

enum {
    ARRANGE_WARPS = 7,     /* of a block, as its memory allows: a warp 32 points, and
                              then a thread a group of eight */
    BANK_GROUPS = 8,
    ARRANGE_ROUNDS = 2,    /* of swaps between all groups */
    MOST_K = SYN_MAP_DIMS + 1
};

/* 32 points: their entries, which of them lie in each bank group (a bit an entry), and
   what becomes of them. An odd number of words a point, so that lanes do not collide. */
struct arrange_room {
    uint32_t entry[WARP][MOST_K + 2];
    uint32_t of_bank[WARP][BANK_GROUPS + 1];
    unsigned char order[WARP][MOST_K + 1];  /* [point][turn] which entry */
    unsigned char member[WARP];             /* [lane] which point */
};

/* Eight small numbers, one for each bank group. */
struct bank_counts {
    uint32_t low, high;

    __device__ int at(int bank) const
    {
        return (bank < 4 ? low : high) >> 8 * (bank % 4) & 255;
    }

    __device__ void add(int bank)
    {
        low += bank < 4 ? 1u << 8 * (bank % 4) : 0;
        high += bank < 4 ? 0 : 1u << 8 * (bank % 4);
    }

    __device__ bank_counts of(int lane_bits) const
    {
        return {__shfl_xor_sync(WHOLE_WARP, low, lane_bits),
                __shfl_xor_sync(WHOLE_WARP, high, lane_bits)};
    }

    /* The sum of a group's, in all of its lanes. */
    __device__ bank_counts of_group() const
    {
        bank_counts sum = *this;
        for (int o = 1; o < 8; o *= 2) {
            bank_counts other = sum.of(o);
            sum.low += other.low;
            sum.high += other.high;
        }
        return sum;
    }
};

/* Swaps points of groups whose numbers differ by `bits` of a lane: the best one for each
   pair of groups, if it evens them out. */
__device__ inline void swap_points(int bits, uint32_t lane, bank_counts *mine,
                                   uint32_t *point)
{
    bank_counts load = mine->of_group(), other_load = load.of(bits);
    bank_counts other = mine->of(bits);
    int gain = 0;
    SYN_UNROLL(b, BANK_GROUPS) {
        int more = other.at(b) - mine->at(b);
        gain += more * (load.at(b) - other_load.at(b) + more);
    }
    /* The least, and which of the eight points has it: both groups see the same. */
    int best = gain * 8 + (int) (lane % 8);
    for (int o = 1; o < 8; o *= 2)
        best = min(best, __shfl_xor_sync(WHOLE_WARP, best, o));
    uint32_t other_point = __shfl_xor_sync(WHOLE_WARP, *point, bits);
    if (best < 0 && (best & 7) == (int) (lane % 8)) {
        *mine = other;
        *point = other_point;
    }
}

/* Eight numbers below 16. */
__device__ inline uint32_t nibble(uint32_t of, uint32_t i) { return of >> 4 * i & 15; }

__device__ inline uint32_t with_nibble(uint32_t of, uint32_t i, uint32_t value)
{
    return (of & ~(15u << 4 * i)) | value << 4 * i;
}

/* The order of a group's neighbours, turn by turn: in each as many points as possible get
   a bank group of their own, by augmenting paths, and bank groups that have most
   neighbours left come first. */
struct turn_matching {
    uint64_t has = 0;      /* 8 bits a point: the bank groups it has neighbours left in */
    uint64_t left = 0;     /* 8 bits a bank group: neighbours left */
    uint32_t owner;        /* a nibble a bank group: the point that has it this turn */
    uint32_t bank;         /* a nibble a point: the bank group it has, or 15 */

    __device__ uint32_t most_left(uint32_t banks) const
    {
        uint32_t best = 0, most = 0;
        for (; banks; banks &= banks - 1) {
            uint32_t b = __ffs(banks) - 1, n = (left >> 8 * b & 255) + 1;
            best = n > most ? b : best;
            most = max(most, n);
        }
        return best;
    }

    /* Finds a bank group for a point, which others may make room for. */
    __device__ void find(uint32_t point, uint32_t *taken)
    {
        uint32_t seen = 0, queue = point, ends = 1, from = 0;
        for (uint32_t at = 0; at < ends; at++) {
            uint32_t p = nibble(queue, at);
            uint32_t banks = (uint32_t) (has >> 8 * p) & 255 & ~seen;
            if (uint32_t open = banks & ~*taken) {
                uint32_t b = most_left(open);
                *taken |= 1u << b;
                for (;;) {
                    uint32_t before = nibble(bank, p);
                    bank = with_nibble(bank, p, b);
                    owner = with_nibble(owner, b, p);
                    if (p == point)
                        return;
                    b = before;
                    p = nibble(from, b);
                }
            }
            seen |= banks;
            for (; banks; banks &= banks - 1) {
                uint32_t b = __ffs(banks) - 1;
                from = with_nibble(from, b, p);
                queue = with_nibble(queue, ends++, nibble(owner, b));
            }
        }
    }
};

/* Orders the entries of the points of a group. */
__device__ inline void order_group(arrange_room &room, uint32_t group, uint32_t k)
{
    turn_matching match;
    const unsigned char *member = room.member + 8 * group;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t b = 0; b < BANK_GROUPS; b++) {
            uint32_t n = __popc(room.of_bank[member[i]][b]);
            match.has |= (uint64_t) (n > 0) << (8 * i + b);
            match.left += (uint64_t) n << 8 * b;
        }
    for (uint32_t turn = 0; turn < k; turn++) {
        uint32_t taken = 0;
        match.owner = match.bank = ~0u;
        for (uint32_t i = 0; i < 8; i++)  /* all have the first choice in turn */
            match.find((i + turn) & 7, &taken);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t b = nibble(match.bank, i);
            if (b == 15)
                b = match.most_left((uint32_t) (match.has >> 8 * i) & 255);
            uint32_t *bits = &room.of_bank[member[i]][b];
            room.order[member[i]][turn] = __ffs(*bits) - 1;
            *bits &= *bits - 1;
            match.left -= 1ull << 8 * b;
            if (!*bits)
                match.has &= ~(1ull << (8 * i + b));
        }
    }
}

/* Reads a lane's packed entries; returns how they lie in bank groups. A lane beyond the
   last point gets some that weigh nothing. */
__device__ inline bank_counts read_entries(arrange_room &room, const uint32_t *at,
                                           uint32_t lane, uint32_t k, bool is)
{
    bank_counts counts = {0, 0};
    for (uint32_t b = 0; b < BANK_GROUPS; b++)
        room.of_bank[lane][b] = 0;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t word = is ? at[j * WARP + lane] : (lane + j) % BANK_GROUPS;
        uint32_t b = word % BANK_GROUPS;
        room.entry[lane][j] = word;
        room.order[lane][j] = j;
        room.of_bank[lane][b] |= 1u << j;
        counts.add(b);
    }
    room.entry[lane][k] = 0;
    room.order[lane][k] = k;
    room.member[lane] = lane;
    return counts;
}

/* What a lane's weights add up to, one over it: NaN where the point has no neighbours.
   With `halves` weights become halves. */
__device__ inline float scale_entries(uint32_t *entry, uint32_t k, bool halves)
{
    float sum = 0;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t bits = entry[j] >> 16;
        float weight = bits == NO_POINT_16 ? 0 : whole(bits);
        if (halves) {
            __half rounded = __float2half(weight * (1.0f / MOST_16));
            weight = __half2float(rounded);
            bits = __half_as_ushort(rounded);
        }
        sum += weight;
        entry[j] = (entry[j] & 0xffff) | bits << 16;
    }
    return sum > 0 ? 1 / sum : __int_as_float(0x7fc00000);
}

/* Entries for a lane a point, as they were, in their new order: four of a point side by
   side, or the last two. */
__device__ inline void write_entries(const arrange_room &room, uint32_t *at,
                                     uint32_t lane, uint32_t k)
{
    uint32_t point = room.member[lane], words = (k + 1) / 2 * 2;
    for (uint32_t j = 0; j < k; j++) {
        uint32_t quad = j / 4 * 4, together = words - quad < 4 ? 2 : 4;
        at[quad * WARP + lane * together + j % 4] =
            room.entry[point][room.order[point][j]];
    }
}

/* Entries for tensor cores, two neighbours at a time, as entry_pair reads them: words
   2 r and 2 r + 1 hold the steps of the first neighbour that are row r of groups 0 and 2,
   1 and 3, and the same words from 16 on those of the second; then come the weights of a
   point for each lane. */
__device__ inline void write_pairs(const arrange_room &room, uint32_t *at, uint32_t lane,
                                   uint32_t k)
{
    auto entry = [&](uint32_t group, uint32_t place, uint32_t turn) {
        uint32_t point = room.member[8 * group + place];
        return room.entry[point][room.order[point][turn]];
    };
    uint32_t low = lane % 2, row = lane / 2 % 8, second = lane / 16;
    uint32_t g = lane / 4, of = lane % 4 ^ g / 2;
    for (uint32_t j = 0; j < k; j += 2, at += 2 * WARP) {
        /* The one after the last is 0. */
        at[lane] = __byte_perm(entry(low, row ^ 2 * low, j + second),
                               entry(low + 2, row ^ 2 * (low + 2), j + second), 0x5410);
        at[WARP + lane] = __byte_perm(entry(of, g, j), entry(of, g, j + 1), 0x7632);
    }
}

/* A warp 32 points; grid: (blocks, E wanted, libraries). PAIRS: for tensor cores; SPREAD:
   over bank groups. */
template <bool PAIRS, bool SPREAD>
__global__ void __launch_bounds__(ARRANGE_WARPS *WARP)
arrange_entries(SYN_GPU_JOB table_shape shape, uint32_t *table)
{
    __shared__ arrange_room rooms[ARRANGE_WARPS];
    uint32_t e = __fns(shape.wanted, 0, blockIdx.y + 1), k = e + 2;
    uint32_t rows = shape.to[e] - shape.from[e];
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t block = blockIdx.x * ARRANGE_WARPS + warp;
    uint32_t *at = table + (size_t) blockIdx.z * shape.size + shape.offset[e] +
                   (size_t) block * row_words(entries::packed, k) * WARP;
    arrange_room &room = rooms[warp];
    bool is = block * WARP < rows;
    float scale = 0;
    if (is) {
        bank_counts counts = read_entries(room, at, lane, k, block * WARP + lane < rows);
        scale = scale_entries(room.entry[lane], k, PAIRS);
        if (SPREAD) {
            /* Deals the points of a block to its groups: which point a lane gets. */
            uint32_t point = lane;
            for (int round = 0; round < ARRANGE_ROUNDS; round++)
                for (int bits = 8; bits < WARP; bits += 8)
                    swap_points(bits, lane, &counts, &point);
            room.member[lane] = point;
        }
    }
    if (SPREAD) {
        __syncthreads();
        if (threadIdx.x < ARRANGE_WARPS * GROUPS &&
            (blockIdx.x * ARRANGE_WARPS + threadIdx.x / GROUPS) * WARP < rows)
            order_group(rooms[threadIdx.x / GROUPS], threadIdx.x % GROUPS, k);
        __syncthreads();
    } else {
        __syncwarp();
    }
    if (!is)
        return;
    /* The scale of point g of group t is word 4 g + t, and has the group that it came
       from in its last two bits. */
    uint32_t point = room.member[lane % 4 * 8 + lane / 4];
    float its = __shfl_sync(WHOLE_WARP, scale, point);
    at[lane] = (__float_as_uint(its) & ~3u) | point / 8;
    if (PAIRS)
        write_pairs(room, at + WARP, lane, k);
    else
        write_entries(room, at + WARP, lane, k);
}

}  // namespace gpu
