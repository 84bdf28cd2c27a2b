/* Windows that cannot lead to a pattern: too few of the items that can be added are in
   them to complete the set. A lane a window. */
#ifndef SYN_GPU_PATTERNS_WINDOWS_CUH
#define SYN_GPU_PATTERNS_WINDOWS_CUH

#include "gpu/patterns/node.cuh"

namespace gpu {

/* What a set still needs: so many units that are new to it or, if that is more, items. */
struct pattern_lack {
    uint32_t n;
    bool of_units;
};

__device__ inline pattern_lack what_lacks(const pattern_job &job, const pattern_set &set)
{
    uint32_t spikes = job.min_spikes > set.size ? job.min_spikes - set.size : 0;
    uint32_t units = job.min_units > set.units ? job.min_units - set.units : 0;
    return {units >= spikes ? units : spikes, units >= spikes};
}

/* Of 32 entries, those that count, and those of them that begin a unit: a bit each. */
struct counted_entries {
    uint32_t counts, begins;
};

/* Entries of units that are in the set count for nothing where units lack. Beyond 32
   places of the set its units are taken for new ones: more may stay then, never less. */
__device__ inline counted_entries entries_that_count(const pattern_search &s,
                                                     const pattern_set &set,
                                                     bool of_units,
                                                     const uint32_t *entry,
                                                     uint32_t stride, uint32_t from,
                                                     uint32_t n, uint32_t *unit_before)
{
    const pattern_job &job = s.job;
    uint32_t k = from + s.lane;
    bool there = k < n;
    if (!of_units)
        return {__ballot_sync(WHOLE_WARP, there), ~0u};
    uint32_t in_set = s.lane < set.size ? job.rank[s.my->path[s.lane]] : NO_PLACE;
    uint32_t place = there ? entry[k * stride] : 0, rank = job.rank[place];
    /* Items at lag 0 come first: those of the same unit at other lags are apart. */
    uint32_t unit = place < job.units ? rank : job.units + rank;
    bool is_new = there;
    for (uint32_t j = 0; j < set.size && j < WARP; j++) {
        uint32_t other = __shfl_sync(WHOLE_WARP, in_set, j);
        is_new = is_new && rank != other;
    }
    uint32_t before = __shfl_up_sync(WHOLE_WARP, unit, 1);
    before = s.lane == 0 ? *unit_before : before;
    *unit_before = __shfl_sync(WHOLE_WARP, unit, WARP - 1);
    return {__ballot_sync(WHOLE_WARP, is_new),
            __ballot_sync(WHOLE_WARP, unit != before)};
}

/* Which of 32 windows, those of word `w`, have enough to complete the set. */
__device__ inline uint32_t windows_that_do(const pattern_search &s,
                                           const pattern_set &set,
                                           pattern_lack lack, const mask_entries &list,
                                           uint32_t words, uint32_t w)
{
    const uint32_t *entry = s.words_at(list.at), stride = words + 1;
    uint32_t units = 0, here = 0, before = NO_PLACE;
    for (uint32_t from = 0; from < list.n; from += WARP) {
        counted_entries of = entries_that_count(s, set, lack.of_units, entry, stride,
                                                from, list.n, &before);
        for (; of.counts; of.counts &= of.counts - 1) {
            uint32_t k = __ffs(of.counts) - 1;
            uint32_t mask = entry[(from + k) * stride + 1 + w];
            if (of.begins >> k & 1) {
                units += here;
                here = 0;
            }
            here |= mask >> s.lane & 1;
        }
    }
    return __ballot_sync(WHOLE_WARP, units + here >= lack.n);
}

/* Leaves only the windows in the lanes' words `good` to all entries of a list, and only
   the entries that are in enough of them. */
__device__ inline void restrict_entries(const pattern_search &s, uint32_t good,
                                        uint32_t words, mask_entries *list)
{
    const uint32_t stride = words + 1;
    uint32_t *entry = s.words_at(list->at), kept = 0;
    for (uint32_t from = 0; from < list->n; from += WARP) {
        bool there = from + s.lane < list->n;
        uint32_t *mine = entry + (there ? from + s.lane : from) * stride, windows = 0;
        for (uint32_t w = 0; w < words; w++)
            windows += __popc(mine[1 + w] & __shfl_sync(WHOLE_WARP, good, w));
        bool stays = there && windows >= s.job.min_count;
        uint32_t stay = __ballot_sync(WHOLE_WARP, stays);
        uint32_t *to = entry + (kept + __popc(stay & lanes_below())) * stride;
        /* Word by word: an entry is written over one that others may still have to
           read. */
        for (uint32_t w = 0; w < stride; w++) {
            uint32_t left = w == 0 ? ~0u : __shfl_sync(WHOLE_WARP, good, w - 1);
            left &= mine[w];
            __syncwarp();
            if (stays)
                to[w] = left;
            __syncwarp();
        }
        kept += __popc(stay);
    }
    list->n = kept;
}

/* Drops windows that cannot lead to a pattern, and the entries that are in too few of
   those left, until all that is left may: false if that is nothing. The set's own windows
   are of no use then: it is no pattern itself. Lists of very many windows stay as they
   are. */
__device__ inline bool drop_windows(const pattern_search &s, const pattern_set &set,
                                    uint32_t words, mask_entries *list, room_top *top)
{
    pattern_lack lack = what_lacks(s.job, set);
    if (lack.n == 0 || (lack.n == 1 && !lack.of_units) || words > WARP)
        return true;
    uint32_t windows = set.windows;
    for (;;) {
        uint32_t good = 0, left = 0;
        for (uint32_t w = 0; w < words; w++) {
            uint32_t some = windows_that_do(s, set, lack, *list, words, w);
            good = w == s.lane ? some : good;
            left += __popc(some);
        }
        if (left < s.job.min_count)
            return false;
        if (left == windows)
            break;
        uint32_t n = list->n;
        windows = left;
        restrict_entries(s, good, words, list);
        if (list->n == n)
            break;
        if (!s.leads_on(set, list->n))
            return false;
    }
    s.keep_first(top, list->at, (uint64_t) list->n * (words + 1));
    return true;
}

}  // namespace gpu

#endif
