/* Rows and how near they are, in an order with no ties, as in
   core/edm/neighbours/nearest.h; and the k nearest of a list. */
#pragma once

#include "core/base/seek.h"
#include "gpu/base/rank.cuh"
#include "gpu/base/warp.cuh"

namespace gpu {

struct near_place {
    double squared;  /* distance */
    uint32_t rank;   /* how far it comes after the predicted row (core/base/rank.h) */
    uint32_t place;  /* in the library */
};

__device__ inline bool before(const near_place &a, const near_place &b)
{
    return a.squared != b.squared ? a.squared < b.squared : a.rank < b.rank;
}

__device__ inline uint32_t rows_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Sorts a[0..n), n a power of two, by the lanes of a warp. */
__device__ inline void sort_near(near_place *a, uint32_t n)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t size = 2; size <= n; size *= 2)
        for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
            for (uint32_t i = lane; i < n / 2; i += WARP) {
                uint32_t low = 2 * i - (i & (stride - 1)), high = low + stride;
                near_place x = a[low], y = a[high];
                if (before(y, x) == ((low & size) == 0)) {
                    a[low] = y;
                    a[high] = x;
                }
            }
            __syncwarp();
        }
}

/* Sorts a[0..n), where there is room for the next power of two. */
__device__ inline void sort_any(near_place *a, uint32_t n)
{
    uint32_t all = n > 1 ? 1u << (32 - __clz(n - 1)) : 1;
    near_place never = {__longlong_as_double(0x7ff0000000000000ll), ~0u, ~0u};
    for (uint32_t i = n + threadIdx.x % WARP; i < all; i += WARP)
        a[i] = never;
    __syncwarp();
    sort_near(a, all);
}

/* Adds the square of a difference as the CPU does: rounded after each step. */
__device__ inline double add_square(double sum, double a, double b)
{
    double apart = __dsub_rn(a, b);
    return __dadd_rn(sum, __dmul_rn(apart, apart));
}

/* The first of n increasing rows that is `from` or later. */
__device__ inline uint32_t first_from(const uint32_t *row, uint32_t n, uint64_t from)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, n, row[at] < from);
    return low;
}

/* ---- the nearest of a list ---- */

/* The k nearest of a list of candidates, by a warp: first how near the k-th is, about, by
   halving; then the few that are as near are put in order. Lists with many ties are
   halved by the ranks of their rows as well. */

enum {
    FEW_MORE = 8,    /* than k that are put in order */
    NEAR_ROUNDS = 5  /* of a warp, with which most lists are gone through */
};

/* The same where the farthest of them is to stand for the k-th. */
__device__ inline uint32_t few_beyond(uint32_t k)
{
    return k / 4 + 1;
}

/* A list in shared memory, an array a part, as banks like it. */
template <class N> struct near_list {
    double *squared;
    N *place;
};

/* The parts of what rows are ordered by. Squared distances are positive, so that their
   bits are in their order. */
struct near_key {
    uint32_t high, low, rank;
};

/* The nearest of a list. What is listed may be places, or numbers of them: `at` gives the
   place, and `rank` how far its row comes after the predicted one (core/base/rank.h). */
template <class N, class P, class F> struct nearest_of {
    const near_list<N> &list;
    uint32_t n;
    P at;
    F rank;

    __device__ uint32_t rank_of(uint32_t i) const { return rank(at(list.place[i])); }

    /* Ranks are seldom asked for: rows come from the device's memory. */
    __device__ bool within(uint32_t i, const near_key &limit) const
    {
        double d = list.squared[i];
        uint32_t high = __double2hiint(d), low = __double2loint(d);
        if (high != limit.high)
            return high < limit.high;
        if (low != limit.low || limit.rank == ~0u)
            return low <= limit.low;
        return rank_of(i) <= limit.rank;
    }

    /* How many have keys up to `limit`. */
    __device__ uint32_t count(const near_key &limit) const
    {
        uint32_t lane = threadIdx.x % WARP, all = 0;
        for (uint32_t from = 0; from < n; from += WARP)
            all += __popc(__ballot_sync(WHOLE_WARP, from + lane < n &&
                                                        within(from + lane, limit)));
        return all;
    }

    /* The least value of one part of the key with which there are k; its bounds are
       known, and how_many(limit) counts. Ends as soon as there are no more than a few. */
    template <class C>
    __device__ uint32_t halve(near_key *limit, uint32_t near_key::*part, uint32_t low,
                              uint32_t high, uint32_t k, uint32_t few, C how_many) const
    {
        uint32_t there = n;
        limit->*part = high;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            limit->*part = middle;
            uint32_t some = how_many(*limit);
            if (some >= k) {
                high = middle;
                there = some;
                if (some <= k + few)
                    break;
            } else {
                low = middle + 1;
            }
        }
        limit->*part = high;
        return there;
    }

    /* A key up to which there are k, and no more than `few` beyond them. Of n > k. */
    __device__ near_key limit_for(uint32_t k, uint32_t few) const
    {
        uint32_t lane = threadIdx.x % WARP, low = ~0u, high = 0, last = 0;
        uint32_t first[NEAR_ROUNDS];  /* upper halves: those beyond are seldom there */
        SYN_UNROLL(r, NEAR_ROUNDS)
            first[r] = r * WARP + lane < n
                           ? __double2hiint(list.squared[r * WARP + lane]) : ~0u;
        for (uint32_t i = lane; i < n; i += WARP) {
            uint32_t a = __double2hiint(list.squared[i]);
            low = min(low, a);
            high = max(high, a);
        }
        auto counted = [&](const near_key &limit) { return count(limit); };
        auto fast = [&](const near_key &limit) {
            uint32_t all = 0;
            SYN_UNROLL(r, NEAR_ROUNDS)
                all += __popc(__ballot_sync(WHOLE_WARP, first[r] <= limit.high));
            return all;
        };
        near_key limit = {0, ~0u, ~0u};
        low = warp_least(low);
        high = warp_greatest(high);
        uint32_t there = n <= NEAR_ROUNDS * WARP
                             ? halve(&limit, &near_key::high, low, high, k, few, fast)
                             : halve(&limit, &near_key::high, low, high, k, few, counted);
        if (there <= k + few)
            return limit;
        there = halve(&limit, &near_key::low, 0, ~0u, k, few, counted);
        if (there <= k + few)
            return limit;
        for (uint32_t i = lane; i < n; i += WARP)
            last = max(last, rank_of(i));
        halve(&limit, &near_key::rank, 0, warp_greatest(last), k, few, counted);
        return limit;
    }

    /* Moves those within `limit` to the front. */
    __device__ uint32_t keep(const near_key &limit) const
    {
        uint32_t lane = threadIdx.x % WARP, kept = 0;
        for (uint32_t from = 0; from < n; from += WARP) {
            uint32_t i = from + lane;
            bool stays = i < n && within(i, limit);
            double d = stays ? list.squared[i] : 0;
            uint32_t place = stays ? list.place[i] : 0;
            uint32_t all = __ballot_sync(WHOLE_WARP, stays);
            __syncwarp();
            if (stays) {
                uint32_t at = kept + __popc(all & lanes_below());
                list.squared[at] = d;
                list.place[at] = place;
            }
            kept += __popc(all);
            __syncwarp();
        }
        return kept;
    }

    /* Leaves the nearest k, and `few` more at the most, in any order. */
    __device__ void cut(uint32_t k, uint32_t few)
    {
        if (n > k)
            n = keep(limit_for(k, few));
    }

    /* How far the farthest is that cut() has left; 0 where several are as far. */
    __device__ double farthest() const
    {
        double most = 0;
        uint32_t as_far = 0;
        for (uint32_t i = threadIdx.x % WARP; i < n; i += WARP)
            most = fmax(most, list.squared[i]);
        most = over_warp(most, [](double a, double b) { return fmax(a, b); });
        for (uint32_t i = threadIdx.x % WARP; i < n; i += WARP)
            as_far += list.squared[i] == most;
        return warp_sum(as_far) == 1 ? most : 0;
    }

    /* Of those that cut() has left, sink(number, near, listed) gets each of the nearest k
       and what was listed of it. How many these are. */
    template <class S> __device__ uint32_t each(uint32_t k, S sink) const
    {
        for (uint32_t from = 0; from < n; from += WARP) {
            uint32_t i = from + threadIdx.x % WARP, number = 0;
            uint32_t listed = list.place[min(i, n - 1)], place = at(listed);
            near_place mine = {list.squared[min(i, n - 1)], rank(place), place};
            for (uint32_t j = 0; j < n; j++) {
                double d = list.squared[j];
                number += d < mine.squared ||
                          (d == mine.squared && rank_of(j) < mine.rank);
            }
            if (i < n && number < k)
                sink(number, mine, listed);
        }
        __syncwarp();
        return min(n, k);
    }
};

template <class N, class P, class F>
nearest_of(const near_list<N> &, uint32_t, P, F) -> nearest_of<N, P, F>;

}  // namespace gpu
