/* The nearest neighbours of every point of a library, in all numbers of dimensions.

   A warp takes consecutive points. For each it reads all columns (the points that may be
   neighbours) once, adding a term for each dimension, and keeps in a pool those that are
   within a limit for any of them. The limits are known beforehand: the pool of the point
   before, one step on, has so many columns that near; for the first point any columns
   will do. A pool that is full drops all but the nearest so far, which give the new
   limits.

   Where more columns are equally far than are wanted, those of the least ranks count. A
   pool that is full of them gives limits of the rank as well, so that few of the columns
   that are read later pass. The point after that one begins with limits of both kinds.
   Those of the rank are guessed from how many have passed: should too few do now, columns
   are read again. */
#pragma once

#include "gpu/causal/pool.cuh"

namespace gpu {

/* One warp's search in one library. TOP is at least the largest E that is wanted. */
template <int TOP> struct searcher {
    const search_job &job;
    const float *x;        /* [place] from -SEARCH_FRONT on */
    const uint32_t *may;   /* a bit for each place */
    search_scratch &s;
    uint32_t lane;

    /* A pool: columns, 0 to POOL of them, or more than it has room for; and whether ties
       were dropped from it while it was filled. */
    struct pool {
        uint32_t n;
        bool tied;
    };

    __device__ static float none() { return __int_as_float(0x7fc00000); }

    __device__ bool may_be(int32_t column) const
    {
        return may[column / WARP] >> column % WARP & 1;
    }

    /* ---- filling the pool ---- */

    /* Values that a lane's four columns are compared by: of[i] is x[c + 3 - i]. */
    struct window {
        float of[TOP + 7];

        __device__ window(const float *x)
        {
#pragma unroll
            for (int i = 0; i < TOP + 4; i += 4) {
                float4 v = *(const float4 *) (x - i);
                of[i] = v.w;
                of[i + 1] = v.z;
                of[i + 2] = v.y;
                of[i + 3] = v.x;
            }
        }
    };

    /* Adds those of a lane's four columns from c on that pass; `all` and `passing` are
       those of the warp. Columns are in order. */
    __device__ void add(const bool (&pass)[4], const uint32_t (&all)[4], uint32_t n,
                        int32_t c) const
    {
        SYN_UNROLL(q, 4)
            n = place_in(n, all[q]);
        SYN_UNROLL(q, 4)
            if (pass[q])
                s.column[n++] = c + q;
    }

    /* Of a lane's four columns only those that may be neighbours pass; returns how many
       of the warp's do. */
    __device__ uint32_t sift(bool (&pass)[4], uint32_t (&all)[4], int32_t c) const
    {
        uint32_t bits = may[c / WARP] >> c % WARP, passing = 0;
        SYN_UNROLL(q, 4) {
            pass[q] = pass[q] && (bits >> q & 1);
            all[q] = __ballot_sync(WHOLE_WARP, pass[q]);
            passing += __popc(all[q]);
        }
        return passing;
    }

    /* Adds columns within the limit in any number of dimensions to the `n` in the pool,
       from block `base` on. Returns the first block that the pool has no room for. */
    __device__ uint32_t scan(int32_t row, uint32_t base, uint32_t *n) const
    {
        float of_row[TOP], limit[TOP];
        SYN_UNROLL(e, TOP) {
            of_row[e] = x[row - e];
            limit[e] = s.limit[e];
        }
        for (; base < job.places; base += SEARCH_STEP) {
            int32_t c = base + 4 * lane;
            window values(x + c);
            float d[4] = {0, 0, 0, 0};
            bool pass[4] = {false, false, false, false};
            SYN_UNROLL(e, TOP)
                SYN_UNROLL(q, 4) {
                    float gap = of_row[e] - values.of[3 - q + e];
                    d[q] = fmaf(gap, gap, d[q]);
                    pass[q] = pass[q] || d[q] <= limit[e];
                }
            uint32_t all[4], passing = sift(pass, all, c);
            if (*n + passing > POOL)
                break;
            if (passing > 0)
                add(pass, all, *n, c);
            *n += passing;
        }
        return base;
    }

    /* The pool of a row. */
    __device__ pool fill(int32_t row, int32_t step) const
    {
        uint32_t n = 0, kept = 0, base = 0;
        bool exact = false;  /* `kept` are no more than are needed */
        for (;;) {
            base = scan(row, base, &n);
            if (base >= job.places)
                break;
            if (n > kept) {
                n = kept = narrow(*this, n, row, step);
                exact = false;
                if (n <= POOL / 4 * 3)
                    continue;
            }
            if (exact)
                return {POOL + 1, true};
            pool left = compress(*this, n, row, step, job.wanted);
            if (left.tied)
                return fill_tied(*this, row, step, job.wanted, left.n, base);
            n = kept = left.n;
            exact = true;
        }
        __syncwarp();
        find_steps(n, step);
        return {n, false};
    }

    /* The same where ties are many: what is just at a limit needs a rank within one as
       well. Columns before `base` have been read, and `n` of them are in the pool. */
    static __device__ __noinline__ pool fill_tied(searcher self, int32_t row,
                                                  int32_t step, uint32_t wanted,
                                                  uint32_t n, uint32_t base)
    {
        const search_scratch &s = self.s;
        uint32_t kept = n, own = syn_row_rank(step);
        for (;;) {
            if (base >= self.job.places) {
                __syncwarp();
                self.find_steps(n, step);
                if (guess_ranks(self, n, row, own, wanted))
                    return {n, true};
                n = kept = base = 0;
            }
            int32_t c = base + 4 * self.lane;
            window values(self.x + c);
            int4 t = *(const int4 *) (self.job.step + c);
            uint32_t rank[4] = {syn_rank_after(t.x, own), syn_rank_after(t.y, own),
                                syn_rank_after(t.z, own), syn_rank_after(t.w, own)};
            float d[4] = {0, 0, 0, 0};
            bool pass[4] = {false, false, false, false};
            SYN_UNROLL(e, TOP) {
                float limit = s.limit[e], of_row = self.x[row - e];
                uint32_t last = s.last[e];
                SYN_UNROLL(q, 4) {
                    float gap = of_row - values.of[3 - q + e];
                    d[q] = fmaf(gap, gap, d[q]);
                    pass[q] = pass[q] || d[q] < limit ||
                              (d[q] == limit && rank[q] <= last);
                }
            }
            uint32_t all[4], passing = self.sift(pass, all, c);
            if (n + passing > POOL) {
                if (n == kept)
                    return {POOL + 1, true};
                n = kept = compress(self, n, row, step, wanted).n;
                continue;
            }
            if (passing > 0)
                self.add(pass, all, n, c);
            n += passing;
            base += SEARCH_STEP;
        }
    }

    /* Whether limits of the rank have left enough in the pool for each E in `wanted`: if
       so, they become those of the next point, such that twice as many ties pass as are
       needed now, and some more, if they are as dense; else those that were too low end
       to be. */
    static __device__ __noinline__ bool guess_ranks(searcher self, uint32_t n,
                                                    int32_t row, uint32_t own,
                                                    uint32_t wanted)
    {
        enum { ROUNDS = POOL / WARP, MORE = 12 };
        search_scratch &s = self.s;
        pool_distances<ROUNDS> of;
        of.load(s, n, self.lane);
        uint32_t rank[ROUNDS], next = UINT32_MAX, low = 0;
        SYN_UNROLL(r, ROUNDS)
            rank[r] = syn_rank_after(s.step[r * WARP + self.lane], own);
        for (uint32_t e = 0; wanted >> e; e++) {
            of.add(self.x, row, e);
            uint32_t last = s.last[e], less = 0, ties = 0, k = e + 2;
            if (!(wanted >> e & 1) || last == UINT32_MAX)
                continue;
            float limit = s.limit[e];
            SYN_UNROLL(r, ROUNDS) {
                bool tie = of.d[r] == limit && rank[r] <= last;
                less += __popc(__ballot_sync(WHOLE_WARP, of.d[r] < limit));
                ties += __popc(__ballot_sync(WHOLE_WARP, tie));
            }
            if (less + ties < k)
                low |= 1u << e;
            uint32_t want = 2 * (k - min(less, k - 1)) + MORE;
            uint64_t guess = (last / max(ties, 1u) + 1ull) * want;
            if (self.lane == e)
                next = min(guess, (uint64_t) UINT32_MAX);
        }
        __syncwarp();
        if (!low || low >> self.lane & 1)
            s.last[self.lane] = low ? UINT32_MAX : next;
        __syncwarp();
        return !low;
    }

    /* The steps of the pool; what may not be a neighbour of `step` gets no column. */
    __device__ void find_steps(uint32_t n, int32_t step) const
    {
        for (uint32_t i = lane; i < n; i += WARP) {
            int32_t c = s.column[i], t = c < 0 ? -1 : job.step[c];
            s.step[i] = t;
            if (t < 0 || (uint32_t) abs(t - step) <= job.exclusion)
                s.column[i] = -1;
        }
        __syncwarp();
    }

    /* ---- limits ---- */

    /* Limits for a row of which nothing is known: from columns at even distances. */
    static __device__ __noinline__ void guess_limits(searcher self, int32_t row,
                                                     int32_t step)
    {
        const search_job &job = self.job;
        search_scratch &s = self.s;
        uint32_t n = min((uint32_t) POOL, job.places), lane = self.lane;  /* each once */
        for (uint32_t i = lane; i < n; i += WARP) {
            int32_t c = (uint64_t) i * job.places / n;
            s.column[i] = self.may_be(c) ? c : -1;
        }
        __syncwarp();
        self.find_steps(n, step);
        pool_distances<POOL / WARP> of;
        of.load(s, n, lane);
        __syncwarp();  /* columns make room for bounds */
        for (uint32_t e = 0; job.wanted >> e; e++)
            s.least.of[e][lane] = upper_bits(of.add(self.x, row, e));
        __syncwarp();
        float limit = self.bounds();
        s.limit[lane] = job.wanted >> lane & 1 ? limit : -1;
        s.last[lane] = UINT32_MAX;
        __syncwarp();
    }

    /* In lane e the limit that the lanes' least distances give for E = e + 1. */
    __device__ float bounds() const
    {
        return __uint_as_float(bound_of_all(s.least, lane) << 16);
    }

    /* Drops what is beyond the limits that the pool itself gives. That takes little time,
       but of ties all stay. */
    static __device__ __noinline__ uint32_t narrow(searcher self, uint32_t n, int32_t row,
                                                   int32_t step)
    {
        enum { ROUNDS = POOL / WARP };
        search_scratch &s = self.s;
        uint32_t wanted = self.job.wanted, lane = self.lane, keep = 0;
        __syncwarp();
        self.find_steps(n, step);
        pool_distances<ROUNDS> of, again;
        of.load(s, n, lane);
        again = of;
        __syncwarp();  /* columns make room for bounds */
        for (uint32_t e = 0; wanted >> e; e++)
            s.least.of[e][lane] = upper_bits(of.add(self.x, row, e));
        __syncwarp();
        float limit = fminf(self.bounds(), s.limit[lane]);
        s.limit[lane] = limit;
        __syncwarp();
        for (uint32_t e = 0; wanted >> e; e++) {
            again.add(self.x, row, e);
            limit = s.limit[e];
            SYN_UNROLL(r, ROUNDS)
                keep |= (again.d[r] <= limit) << r;
        }
        return self.compact(again.column, keep);
    }

    /* Drops all of the pool but the nearest for each E in `wanted`, whose farthest become
       the limits. Of those just as far only so many stay as are needed; `tied` says
       whether that left any out. */
    static __device__ __noinline__ pool compress(searcher self, uint32_t n, int32_t row,
                                                 int32_t step, uint32_t wanted)
    {
        __syncwarp();
        self.find_steps(n, step);
        pool_distances<POOL / WARP> of;
        of.load(self.s, n, self.lane);
        uint32_t keep = 0;
        bool tied = false;
        for (uint32_t e = 0; wanted >> e; e++) {
            of.add(self.x, row, e);
            if (wanted >> e & 1)
                tied |= self.mark(of, e, step, &keep);
        }
        return {self.compact(of.column, keep), tied};
    }

    /* Keeps of a pool only those columns that have their round's bit. */
    template <int ROUNDS>
    __device__ uint32_t compact(const int32_t (&column)[ROUNDS], uint32_t keep) const
    {
        uint32_t kept = 0;
        __syncwarp();
        SYN_UNROLL(r, ROUNDS) {
            bool is = keep >> r & 1;
            uint32_t all = __ballot_sync(WHOLE_WARP, is);
            if (is)
                s.column[place_in(kept, all)] = column[r];
            kept += __popc(all);
        }
        __syncwarp();
        return kept;
    }

    /* Marks the k nearest of the pool, or a few more; the farthest of them is the new
       limit, if it is not larger than the one there is. Whether ties were left out. */
    template <int ROUNDS>
    __device__ bool mark(const pool_distances<ROUNDS> &of, uint32_t e, int32_t step,
                         uint32_t *keep) const
    {
        uint32_t k = e + 2, bits[ROUNDS], before = __float_as_uint(s.limit[e]);
        SYN_UNROLL(r, ROUNDS)
            bits[r] = __float_as_uint(of.d[r]);
        uint32_t limit = min(kth(bits, k, A_FEW), before), less = 0, most = 0;
        SYN_UNROLL(r, ROUNDS) {
            less += __popc(__ballot_sync(WHOLE_WARP, bits[r] < limit));
            most += __popc(__ballot_sync(WHOLE_WARP, bits[r] <= limit));
        }
        uint32_t last = limit == before ? s.last[e] : UINT32_MAX;
        bool tied = most > k + A_FEW;
        uint32_t rank[ROUNDS];
        SYN_UNROLL(r, ROUNDS) {
            int32_t t = tied ? s.step[r * WARP + lane] : 0;
            bool tie = bits[r] == limit && tied;
            rank[r] = tie ? syn_rank_after(t, syn_row_rank(step)) : NO_RANK;
        }
        if (tied)  /* others may be here for another E */
            last = min(last, kth<NO_RANK>(rank, k - less, 0));
        SYN_UNROLL(r, ROUNDS) {
            bool first = !tied || rank[r] <= last;
            bool is = bits[r] < limit || (bits[r] == limit && first);
            *keep |= is << r;
        }
        __syncwarp();
        if (lane == 0) {
            s.limit[e] = __uint_as_float(limit);
            s.last[e] = last;
        }
        __syncwarp();
        return tied;
    }

    /* A lane's least distance of `row` from some columns, in one dimension: so many more
       than the pool has that few pass the limit. Only where steps are in order, and none
       that may be excluded. */
    __device__ float sample(int32_t row) const
    {
        int32_t near = job.exclusion + SEARCH_FRONT + SEARCH_STEP;
        float of_row = x[row], least = none();
        for (int32_t base = 0; base < (int32_t) job.sample; base += SEARCH_STEP) {
            int32_t c = base + 4 * lane;
            if (abs(base - row) <= near)
                continue;
            float4 v = *(const float4 *) (x + c);
            uint32_t bits = may[c / WARP] >> c % WARP;
            float gap[4] = {of_row - v.x, of_row - v.y, of_row - v.z, of_row - v.w};
            SYN_UNROLL(q, 4)
                least = fminf(least, bits >> q & 1 ? gap[q] * gap[q] : none());
        }
        return least;
    }

    /* ---- a point ---- */

    /* Hands the neighbours in the pool to sink(E - 1, neighbour) for each number of
       dimensions in `wanted`. Gives the limits of the next row where there is one
       `ahead`, in lane e that of E = e + 1. */
    template <int ROUNDS, class F>
    __device__ float rank(uint32_t n, int32_t row, int32_t step, uint32_t wanted,
                          bool ahead, F &sink) const
    {
        pool_distances<ROUNDS> of;
        float next[ROUNDS];
        of.load(s, n, lane);
        SYN_UNROLL(r, ROUNDS) {
            float gap = x[row + 1] - x[of.column[r] + 1];
            bool is = ahead && may_be(of.column[r] + 1);
            next[r] = is ? fmaf(gap, gap, of.d[r]) : none();
        }
        __syncwarp();  /* columns make room for bounds */
        const float *lagged = x;
        for (uint32_t e = 0; wanted >> e; e++, lagged--) {
            uint32_t k = e + 2;
            float of_row = lagged[row], least = none();
            SYN_UNROLL(r, ROUNDS) {
                float gap = of_row - lagged[of.column[r]];
                of.d[r] = fmaf(gap, gap, of.d[r]);
                least = fminf(least, next[r]);
                next[r] = fmaf(gap, gap, next[r]);
            }
            if (!(wanted >> e & 1))
                continue;
            uint32_t listed = list(s, of, s.limit[e], lane);
            sink(e, select(s, lane, listed, k, step));
            s.least.of[e][lane] = upper_bits(least);
            __syncwarp();
        }
        if (!ahead)
            return none();
        float on = bounds();
        if (wanted & 1) {
            float nearer = second_least(sample(row + 1));
            on = lane == 0 ? fminf(on, nearer) : on;
        }
        return on;
    }

    /* Some of the E in `left` whose neighbours leave room for all that a warp looks at
       together. */
    __device__ static uint32_t share(uint32_t left)
    {
        uint32_t part = 0, room = POOL - SEARCH_STEP;
        for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
            if ((left >> e & 1) && room >= e + 2 + A_FEW) {
                part |= 1u << e;
                room -= e + 2 + A_FEW;
            }
        return part;
    }

    template <class F>
    __device__ float rank_all(uint32_t n, int32_t row, int32_t step, uint32_t wanted,
                              bool ahead, bool tied, F &sink) const
    {
        if (n > POOL / 2 && !tied) {
            n = narrow(*this, n, row, step);
            find_steps(n, step);
        }
        if (n <= POOL / 2)
            return rank<POOL / 2 / WARP>(n, row, step, wanted, ahead, sink);
        return rank<POOL / WARP>(n, row, step, wanted, ahead, sink);
    }

    /* All neighbours of a row: together, or, where that needs more than a pool, for so
       many E at a time as it has room for. `known` says whether there are limits, and
       `tied` whether they are of the rank as well; returns that of the next row. */
    template <class F>
    __device__ bool neighbours(int32_t row, int32_t step, bool known, bool tied,
                               bool ahead, F &sink) const
    {
        if (!known)
            guess_limits(*this, row, step);
        pool found = tied ? fill_tied(*this, row, step, job.wanted, 0, 0)
                          : fill(row, step);
        bool together = found.n <= POOL;
        float limit = s.limit[lane], next = -1;
        uint32_t last = s.last[lane];
        for (uint32_t left = job.wanted; left;) {
            uint32_t part = together ? left : share(left), n = found.n;
            bool mine = part >> lane & 1;
            left &= ~part;
            if (!together) {
                s.limit[lane] = mine ? limit : -1;
                s.last[lane] = last;
                __syncwarp();
                n = fill_tied(*this, row, step, part, 0, 0).n;
            }
            float on = rank_all(n, row, step, part, ahead, found.tied, sink);
            next = mine ? on : next;
            last = mine ? s.last[lane] : last;
            __syncwarp();
        }
        s.limit[lane] = next;
        s.last[lane] = last;
        __syncwarp();
        return found.tied;
    }
};

}  // namespace gpu
