/* The nearest neighbours of every point of a library, in all numbers of dimensions.

   A warp takes consecutive points. For each it reads all columns (the points that may be
   neighbours) once, adding a term for each dimension, and keeps in a pool those that are
   within a limit for any of them. The limits are known beforehand: the pool of the point
   before, one step on, has so many columns that near; for the first point any columns
   will do. A pool that is full drops all but the nearest so far, which give the new
   limits. Where so many columns are equally far that this makes no room, the point is
   searched outward in time instead: later columns lose such ties and need not be kept. */
#ifndef SYN_GPU_CAUSAL_SEARCH_CUH
#define SYN_GPU_CAUSAL_SEARCH_CUH

#include "gpu/causal/pool.cuh"

namespace gpu {

/* What is done with the pool, E by E. */
enum class rank_for {
    limits,      /* take limits from it */
    compression, /* mark the nearest, whose farthest is the limit */
    neighbours   /* hand the nearest on */
};

/* One warp's search in one library. TOP is at least the largest E that is wanted. */
template <int TOP> struct searcher {
    const search_job &job;
    const float *x;        /* [place] from -SEARCH_FRONT on */
    const float *start;
    search_scratch &s;
    uint32_t lane;

    __device__ static float infinite() { return __int_as_float(0x7f800000); }
    __device__ static float none() { return __int_as_float(0x7fc00000); }

    __device__ static uint32_t apart(int32_t a, int32_t b)
    {
        return a > b ? a - b : b - a;
    }

    /* Where this lane's element goes after `n` others; `all` of the warp's do. */
    __device__ static uint32_t place_in(uint32_t n, uint32_t all)
    {
        return n + __popc(all & lanes_below());
    }

    /* ---- the pool ---- */

    /* Columns within the limit in any number of dimensions; more than POOL where many
       are equally far. */
    __device__ uint32_t scan(int32_t row, int32_t step) const
    {
        float of_row[TOP], limit[TOP];
#pragma unroll
        for (int e = 0; e < TOP; e++) {
            of_row[e] = x[row - e];
            limit[e] = s.limit[e];
        }
        uint32_t n = 0;
        for (uint32_t base = 0; base < job.places; base += SEARCH_STEP) {
            int32_t c = base + 4 * lane;
            float4 begin = *(const float4 *) (start + c);
            float d[4] = {begin.x, begin.y, begin.z, begin.w};
            bool pass[4] = {false, false, false, false};
            float window[TOP + 7];  /* window[i] is x[c + 3 - i] */
#pragma unroll
            for (int i = 0; i < TOP + 4; i += 4) {
                float4 v = *(const float4 *) (x + c - i);
                window[i] = v.w;
                window[i + 1] = v.z;
                window[i + 2] = v.y;
                window[i + 3] = v.x;
            }
#pragma unroll
            for (int e = 0; e < TOP; e++)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    float gap = of_row[e] - window[3 - q + e];
                    d[q] = fmaf(gap, gap, d[q]);
                    pass[q] = pass[q] || d[q] <= limit[e];
                }
            uint32_t all[4], passing = 0;
#pragma unroll
            for (int q = 0; q < 4; q++) {
                all[q] = __ballot_sync(~0u, pass[q]);
                passing += __popc(all[q]);
            }
            if (passing == 0)
                continue;
            if (n + passing > POOL) {
                n = compress(*this, n, row, step);
                if (n + passing > POOL)
                    return POOL + 1;
#pragma unroll
                for (int e = 0; e < TOP; e++)
                    limit[e] = s.limit[e];
            }
#pragma unroll
            for (int q = 0; q < 4; q++) {
                if (pass[q])
                    s.column[place_in(n, all[q])] = c + q;
                n += __popc(all[q]);
            }
        }
        __syncwarp();
        find_steps(n, step);
        return n;
    }

    /* The steps of the pool; what may not be a neighbour of `step` gets no column. */
    __device__ void find_steps(uint32_t n, int32_t step) const
    {
        for (uint32_t i = lane; i < n; i += WARP) {
            int32_t c = s.column[i];
            int32_t t = c < 0 ? -1 : job.step[c];
            s.step[i] = t;
            if (t < 0 || apart(t, step) <= job.exclusion)
                s.column[i] = INT32_MIN;
        }
        __syncwarp();
    }

    /* Limits for a row of which nothing is known: from columns at even distances. */
    static __device__ __noinline__ void guess_limits(searcher self, int32_t row,
                                                     int32_t step)
    {
        uint32_t n = min((uint32_t) POOL, self.job.places);  /* each once */
        for (uint32_t i = self.lane; i < n; i += WARP)
            self.s.column[i] = (uint64_t) i * self.job.places / n;
        __syncwarp();
        self.find_steps(n, step);
        self.template rank<rank_for::limits>(n, row, step, self.job.wanted, false, false,
                                             false, [](uint32_t, uint32_t) {});
    }

    /* Drops all of the pool but the nearest for each E, whose farthest become the limits,
       and those just as far. */
    static __device__ __noinline__ uint32_t compress(searcher self, uint32_t n,
                                                     int32_t row, int32_t step)
    {
        __syncwarp();
        self.find_steps(n, step);
        return self.compress_for(n, row, step, self.job.wanted, false);
    }

    __device__ uint32_t compress_for(uint32_t n, int32_t row, int32_t step,
                                     uint32_t wanted, bool outward) const
    {
        for (uint32_t i = lane; i < POOL; i += WARP)
            s.keep[i] = 0;
        __syncwarp();
        rank<rank_for::compression>(n, row, step, wanted, false, false, outward,
                                    [](uint32_t, uint32_t) {});
        uint32_t kept = 0;
        for (uint32_t i = lane; i - lane < n; i += WARP) {
            bool keep = i < n && s.keep[i];
            int32_t column = keep ? s.column[i] : 0, t = keep ? s.step[i] : 0;
            uint32_t all = __ballot_sync(~0u, keep);
            if (keep) {
                uint32_t at = place_in(kept, all);  /* <= i, and all lanes have read */
                s.column[at] = column;
                s.step[at] = t;
            }
            kept += __popc(all);
            __syncwarp();
        }
        return kept;
    }

    /* Marks the k nearest of the pool; the k-th distance is the new limit, if it is not
       larger than the one there is. Of those just as far all are kept or, in a pool
       filled `outward`, the first. */
    __device__ void mark(const float (&d)[POOL_ROUNDS], uint32_t rounds, float least,
                         uint32_t e, bool outward) const
    {
        uint32_t k = e + 2;
        float limit = fminf(nearest(d, rounds, least, k), s.limit[e]);
        uint32_t less = count(d, rounds, [&](float v) { return v < limit; });
        uint32_t ties = outward && less < k ? k - less : POOL, seen = 0;
#pragma unroll
        for (int r = 0; r < POOL_ROUNDS; r++)
            if (r < rounds) {
                uint32_t tied = __ballot_sync(~0u, d[r] == limit);
                if (d[r] < limit || (d[r] == limit && place_in(seen, tied) < ties))
                    s.keep[r * WARP + lane] = 1;
                seen += __popc(tied);
            }
        __syncwarp();
        if (lane == 0)
            s.limit[e] = limit;
    }

    /* How many of the pool's distances are so. */
    template <class F>
    __device__ static uint32_t count(const float (&d)[POOL_ROUNDS], uint32_t rounds, F is)
    {
        uint32_t n = 0;
#pragma unroll
        for (int r = 0; r < POOL_ROUNDS; r++)
            if (r < rounds)
                n += __popc(__ballot_sync(~0u, is(d[r])));
        return n;
    }

    /* The k-th distance of the pool, or one a few places on; infinity when there are
       fewer than k. `least` is each lane's least. The search ends soon where distances
       are tied: its bounds are always distances of the pool. */
    __device__ static float nearest(const float (&d)[POOL_ROUNDS], uint32_t rounds,
                                    float least, uint32_t k)
    {
        if (count(d, rounds, [](float v) { return v < infinite(); }) < k)
            return infinite();
        uint32_t low = warp_least(__float_as_uint(fminf(least, infinite())));
        uint32_t high = __float_as_uint(bound_of(least, k));
        while (low < high) {
            float middle = __uint_as_float(low + (high - low) / 2);
            float below = 0, above = infinite();
            uint32_t n = 0;
#pragma unroll
            for (int r = 0; r < POOL_ROUNDS; r++)
                if (r < rounds) {
                    bool in = d[r] <= middle;
                    below = in ? fmaxf(below, d[r]) : below;
                    above = d[r] > middle ? fminf(above, d[r]) : above;
                    n += __popc(__ballot_sync(~0u, in));
                }
            if (n < k) {
                low = warp_least(__float_as_uint(above));
                continue;
            }
            high = warp_greatest(__float_as_uint(below));
            if (n <= k + A_FEW)
                break;
        }
        return __uint_as_float(high);
    }

    /* Fills the pool with what is nearest in `wanted` dimensions, outward from the row.
       As many as all E together have neighbours must leave room for a warp more. */
    static __device__ __noinline__ uint32_t search_outward(searcher self, int32_t row,
                                                           int32_t step, uint32_t wanted)
    {
        const search_job &job = self.job;
        search_scratch &s = self.s;
        s.limit[self.lane] = infinite();
        __syncwarp();
        uint32_t n = 0;
        int32_t steps = job.steps, far = max(step, steps - 1 - step);
        uint32_t open = wanted;  /* E for which a column may still be nearer */
        for (int32_t a = job.exclusion + 1; a <= far && open; a += WARP / 2) {
            int32_t away = a + (int32_t) (self.lane >> 1);
            int32_t t = self.lane & 1 ? step + away : step - away;
            bool in = t >= 0 && t < steps;
            int32_t c = in ? job.place[t] : 0;
            bool pass = in && self.within(row, c, open);
            uint32_t all = __ballot_sync(~0u, pass);
            if (pass) {
                uint32_t at = place_in(n, all);
                s.column[at] = c;
                s.step[at] = t;
            }
            n += __popc(all);
            __syncwarp();
            if (n > POOL - WARP) {
                n = self.compress_for(n, row, step, wanted, true);
                open = __ballot_sync(~0u, s.limit[self.lane] > 0) & wanted;
            }
        }
        return n;
    }

    /* Whether a column is nearer than the limit in any of `wanted` dimensions. */
    __device__ bool within(int32_t row, int32_t column, uint32_t wanted) const
    {
        float d = start[column];
        bool pass = false;
        for (int32_t e = 0; wanted >> e; e++) {
            float gap = x[row - e] - x[column - e];
            d = fmaf(gap, gap, d);
            pass = pass || ((wanted >> e & 1) && d < s.limit[e]);
        }
        return pass;
    }

    /* ---- the nearest of it ---- */

    /* Goes through the pool E by E: sink(E - 1, found) gets each number of dimensions in
       `wanted` once the nearest are in `near`. What is within the limit is looked at, or,
       if that is not `known`, within one that the pool gives. With `ahead`, limits become
       those of the next point. In a pool filled `outward` the first of ties are first. */
    template <rank_for WHAT, class F>
    __device__ void rank(uint32_t n, int32_t row, int32_t step, uint32_t wanted,
                         bool known, bool ahead, bool outward, F sink) const
    {
        int32_t column[POOL_ROUNDS];
        float d[POOL_ROUNDS], next[POOL_ROUNDS];
        uint32_t rounds = (n + WARP - 1) / WARP;
#pragma unroll
        for (int r = 0; r < POOL_ROUNDS; r++) {
            uint32_t i = r * WARP + lane;
            column[r] = i < n ? s.column[i] : INT32_MIN;
            bool is = column[r] != INT32_MIN;
            column[r] = is ? column[r] : 0;
            d[r] = is ? start[column[r]] : none();
            if (WHAT == rank_for::neighbours) {
                float gap = x[row + 1] - x[column[r] + 1];
                next[r] = is && ahead ? fmaf(gap, gap, start[column[r] + 1]) : none();
            }
        }
        for (uint32_t e = 0; wanted >> e; e++) {
            bool want = wanted >> e & 1;
            float of_row = x[row - (int32_t) e];
            float least = none(), least_next = none();
#pragma unroll
            for (int r = 0; r < POOL_ROUNDS; r++)
                if (r < rounds) {
                    float gap = of_row - x[column[r] - (int32_t) e];
                    d[r] = fmaf(gap, gap, d[r]);
                    least = fminf(least, d[r]);
                    if (WHAT == rank_for::neighbours) {
                        least_next = fminf(least_next, next[r]);
                        next[r] = fmaf(gap, gap, next[r]);
                    }
                }
            if (!want)
                continue;
            if (WHAT == rank_for::compression) {
                mark(d, rounds, least, e, outward);
                continue;
            }
            uint32_t k = e + 2;
            float limit = known ? s.limit[e] : bound_of(least, k);
            if (WHAT == rank_for::limits) {
                if (lane == 0)
                    s.limit[e] = limit;
                continue;
            }
            uint32_t listed = list(d, rounds, limit, outward ? k : POOL);
            sink(e, select(listed, k, step, outward));
            if (ahead) {
                float on = bound_of(least_next, k);
                if (e == 0)
                    on = fminf(on, bound_of(sample(row + 1), k));
                if (lane == 0)
                    s.limit[e] = on;
            }
            __syncwarp();
        }
        __syncwarp();
    }

    /* A lane's least distance of `row` from some columns, in one dimension: so many more
       than the pool has that few pass the limit. Only where steps are in order, and none
       that may be excluded. */
    __device__ float sample(int32_t row) const
    {
        float least = none();
        for (int32_t c = lane; c < (int32_t) job.sample; c += WARP) {
            float gap = x[row] - x[c];
            if (apart(c, row) > job.exclusion + SEARCH_FRONT)
                least = fminf(least, fmaf(gap, gap, start[c]));
        }
        return least;
    }

    /* Lists the pool's columns within the limit, at most `most` of those just at it. */
    __device__ uint32_t list(const float (&d)[POOL_ROUNDS], uint32_t rounds, float limit,
                             uint32_t most) const
    {
        uint32_t n = 0, at_limit = 0;
#pragma unroll
        for (int r = 0; r < POOL_ROUNDS; r++)
            if (r < rounds) {
                bool in = d[r] <= limit;
                if (most < POOL) {
                    uint32_t equal = __ballot_sync(~0u, d[r] == limit);
                    in = in && (d[r] < limit || place_in(at_limit, equal) < most);
                    at_limit += __popc(equal);
                }
                uint32_t all = __ballot_sync(~0u, in);
                if (in) {
                    uint32_t at = place_in(n, all);
                    s.list[at] = d[r];
                    s.slot[at] = r * WARP + lane;
                }
                n += __popc(all);
            }
        __syncwarp();
        return n;
    }

    /* The k nearest of the n in the list go to `near`; returns how many there are. Ties
       are settled, or, `in_order`, stand as they go. */
    __device__ uint32_t select(uint32_t n, uint32_t k, int32_t step, bool in_order) const
    {
        if (n <= k) {
            if (lane < n) {
                s.near[lane] = s.list[lane];
                s.near_slot[lane] = s.slot[lane];
            }
            __syncwarp();
            return n;
        }
        if (lane < 4)
            s.list[n + lane] = infinite();
        __syncwarp();
        uint32_t found = 0;
        float farthest = 0;
        for (uint32_t i = lane; i - lane < n; i += WARP) {
            float mine = s.list[i < n ? i : 0];
            uint32_t less = 0;
            for (uint32_t j = 0; j < n; j += 4) {
                float4 v = *(const float4 *) (s.list + j);
                less += (v.x < mine) + (v.y < mine) + (v.z < mine) + (v.w < mine);
            }
            bool member = i < n && less < k;
            farthest = member ? fmaxf(farthest, mine) : farthest;
            found = take(s, found, member, i);
        }
        if (found > k) {
            uint32_t bits = warp_greatest(__float_as_uint(farthest));
            settle(s, lane, n, k, __uint_as_float(bits), in_order, step);
            found = k;
        }
        __syncwarp();
        return found;
    }

    /* Adds to the `found` nearest, of which there is room for 32. */
    __device__ static uint32_t take(search_scratch &s, uint32_t found, bool member,
                                    uint32_t i)
    {
        uint32_t members = __ballot_sync(~0u, member);
        uint32_t at = place_in(found, members);
        if (member && at < WARP) {
            s.near[at] = s.list[i];
            s.near_slot[at] = s.slot[i];
        }
        return found + __popc(members);
    }

    /* select() where the k nearest end among ties, at the distance `tie`. The first of
       these by distance in time and then by time are taken: if they are not in that order
       already, one by one. */
    static __device__ __noinline__ void settle(search_scratch &s, uint32_t lane,
                                               uint32_t n, uint32_t k, float tie,
                                               bool in_order, int32_t step)
    {
        __syncwarp();
        uint32_t found = 0;
        for (uint32_t i = lane; i - lane < n; i += WARP)
            found = take(s, found, i < n && s.list[i] < tie, i);
        for (uint32_t i = lane; in_order && i - lane < n; i += WARP) {
            bool tied = i < n && s.list[i] == tie;
            uint32_t all = __ballot_sync(~0u, tied);
            found = take(s, found, tied && place_in(found, all) < k, i);
        }
        uint32_t after = 0;  /* keys up to this one are taken; all are larger */
        for (; found < k; found++) {
            uint32_t first = UINT32_MAX, of = 0;
            for (uint32_t i = lane; i < n; i += WARP) {
                uint32_t key = s.list[i] == tie ? time_key(s.step[s.slot[i]], step) : 0;
                if (key > after && key < first) {
                    first = key;
                    of = i;
                }
            }
            after = warp_least(first);
            if (first == after && first != UINT32_MAX) {
                s.near[found] = tie;
                s.near_slot[found] = s.slot[of];
            }
        }
        __syncwarp();
    }

    /* Orders steps by how far they are, then by time. */
    __device__ static uint32_t time_key(int32_t t, int32_t step)
    {
        return 2 * apart(t, step) + (t > step);
    }

    /* ---- a point ---- */

    /* Some of the E in `left` whose neighbours fill no more than half of the pool. */
    __device__ static uint32_t share(uint32_t left)
    {
        uint32_t part = 0, room = POOL / 2;
        for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
            if ((left >> e & 1) && room >= e + 2) {
                part |= 1u << e;
                room -= e + 2;
            }
        return part;
    }

    /* All neighbours of a row: within the limits, or, where there are many ties, outward
       for so many E together as the pool has room for. */
    template <class F>
    __device__ void neighbours(int32_t row, int32_t step, bool known, bool ahead,
                               F sink) const
    {
        if (!known)
            guess_limits(*this, row, step);
        uint32_t n = scan(row, step);
        bool outward = n > POOL;
        float next = -1;
        for (uint32_t left = job.wanted; left;) {
            uint32_t part = outward ? share(left) : left;
            left &= ~part;
            if (outward)
                n = search_outward(*this, row, step, part);
            rank<rank_for::neighbours>(n, row, step, part, !outward, ahead, outward,
                                       sink);
            if (part >> lane & 1)
                next = s.limit[lane];
            __syncwarp();
        }
        s.limit[lane] = next;
        __syncwarp();
    }
};

}  // namespace gpu

#endif
