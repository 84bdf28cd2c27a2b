/* The children of a root. Rows tell which units may have an item in enough of a child's
   windows: those are few, and only of them the items are looked at one by one. */
#ifndef SYN_GPU_PATTERNS_CHILDREN_CUH
#define SYN_GPU_PATTERNS_CHILDREN_CUH

#include "gpu/patterns/strips.cuh"

namespace gpu {

/* Fills index[] and opens[] with the root's windows that have the item. */
__device__ inline void list_windows(const pattern_search &s, const root_child &c,
                                    uint32_t windows)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < windows; from += WARP) {
        uint32_t i = from + s.lane;
        uint32_t bin = i < windows ? c.bin[i] : 0;
        bool there = i < windows && (bins_from(s.job, c.rank, bin + c.lag) & 1);
        uint32_t found = __ballot_sync(WHOLE_WARP, there);
        uint32_t to = n + __popc(found & lanes_below());
        if (there) {
            c.index[to] = i;
            c.opens[to] = bin;
        }
        n += __popc(found);
    }
    __syncwarp();
}

/* The units of word `w` of a row that have items after the child's own, or before it. A
   unit can have both. */
__device__ inline uint32_t units_beside(const pattern_job &job, const root_child &c,
                                        uint32_t w, bool after)
{
    uint32_t from = w % job.unit_words * 32, strip = w / job.unit_words;
    uint32_t below = c.rank <= from ? 0 : low_bits(c.rank - from);  /* ranks below */
    uint32_t own = c.rank >= from && c.rank < from + 32 ? 1u << (c.rank - from) : 0;
    if (c.lag == 0 && strip > 0)
        return after ? ~0u : 0;
    if (c.lag > 0 && strip == 0)
        return after ? 0 : ~0u;
    bool with_own = c.lag > 0;
    return after ? ~below & (with_own ? ~0u : ~own) : below | (with_own ? own : 0);
}

/* Marks what may be in at least min_count of the child's windows; returns how many. */
template <int PLANES>
__device__ __noinline__ uint32_t mark_units(const pattern_search &s, root_child c,
                                            bool after)
{
    enum { AHEAD = 8 };
    const pattern_job &job = s.job;
    uint32_t found = 0;
#pragma unroll 1
    for (uint32_t w = s.lane; w < job.row_words; w += WARP) {
        uint32_t beside = units_beside(job, c, w, after), often = 0;
        bit_counters<PLANES> sum;
        sum.clear();
#pragma unroll 1
        for (uint32_t i = 0; i < c.windows && beside; i += AHEAD) {
            uint32_t of[AHEAD];
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++) {
                uint32_t at = c.index[i + k < c.windows ? i + k : i];
                of[k] = i + k < c.windows ? c.row[(size_t) at * job.row_words + w] : 0;
            }
            sum.add_eight(of);
        }
        if (beside)
            often = sum.above(job.min_count - 1) & beside;
        c.often[w] = often;
        found += __popc(often);
    }
    __syncwarp();
    return warp_sum(found);
}

__device__ inline uint32_t mark(const pattern_search &s, const root_child &c, bool after)
{
    if (c.windows < 1u << 5)
        return mark_units<5>(s, c, after);
    if (c.windows < 1u << 8)
        return mark_units<8>(s, c, after);
    if (c.windows < 1u << 12)
        return mark_units<12>(s, c, after);
    return mark_units<31>(s, c, after);
}

/* All that is left of the warp's room, as a list that begins to be filled. */
__device__ inline child_sink begin_list(const pattern_search &s, room_top *top,
                                        mask_entries *to, pattern_set *set, bool after)
{
    to->at = PATTERN_NEAR + top->far;
    to->n = 0;
    return {to, s.room - top->far, set, after, false};
}

__device__ inline void end_list(const pattern_search &s, room_top *top,
                                const child_sink &sink, uint32_t words)
{
    s.keep_first(top, sink.to->at, (uint64_t) sink.to->n * (words + 1));
}

/* Lists the items that are marked, `n` units and strips, which may be in enough of the
   child's windows; false without room. */
__device__ inline bool list_items(const pattern_search &s, const root_child &c,
                                  uint32_t n,
                                  bool after, pattern_set *set, room_top *top,
                                  mask_entries *to, bool *holds)
{
    uint32_t at = s.reserve(top, n);
    if (at == NO_PLACE)
        return false;
    uint32_t *marked = s.words_at(at);
    list_marked(s, c, marked);
    child_sink sink = begin_list(s, top, to, set, after);
    if (!add_marked(s, c, marked, n, &sink))
        return false;
    end_list(s, top, sink, c.words);
    *holds = sink.holds;
    return true;
}

/* Lists the items of a child, whose set is in the path and `later` units and strips are
   marked after its own item, and goes on with it. By itself, so that the search below has
   registers enough. */
__device__ __noinline__ void list_child(const pattern_search &s, pattern_set set,
                                        root_child c, uint32_t later, room_top top)
{
    const pattern_job &job = s.job;
    child_lists lists = {};
    if (later > 0 && !list_items(s, c, later, true, job.closed ? &set : nullptr, &top,
                                 &lists.open, &lists.open_holds))
        return;
    if (!s.leads_on(set, lists.open.n) ||
        !drop_windows(s, set, c.words, &lists.open, &top))
        return;
    uint32_t earlier = job.barred ? mark(s, c, false) : 0;
    if (earlier > 0 && !list_items(s, c, earlier, false, nullptr, &top, &lists.barred,
                                   &lists.holds))
        return;
    if (lists.holds && job.closed)
        return;
    lists.more = lists.open.n + lists.barred.n > 0;
    top.near = s.my->top.near;  /* where there is nothing of what is kept */
    enter(s, set, lists, c.words, top);
}

/* Meets a child of the root whose set is in the path. */
__device__ inline void meet_child(const pattern_search &s, pattern_set set, root_child c)
{
    const pattern_job &job = s.job;
    room_top top = s.my->top;
    uint32_t index = s.reserve(&top, c.windows), opens = s.reserve(&top, c.windows);
    uint32_t often = s.reserve(&top, job.row_words);
    if (index == NO_PLACE || opens == NO_PLACE || often == NO_PLACE)
        return;
    c.index = s.words_at(index);
    c.opens = s.words_at(opens);
    c.often = s.words_at(often);
    c.words = (c.windows + 31) / 32;
    c.known = set.size + 1;
    uint32_t windows = set.windows;
    set.windows = c.windows;
    list_windows(s, c, windows);
    if (!s.extend(&set, c.place))
        return;
    uint32_t later = mark(s, c, true);
    /* A strip has at most so many items. */
    if (s.leads_on(set, later * (job.strips > 0 ? job.strip : 1)))
        list_child(s, set, c, later, top);
}

}  // namespace gpu

#endif
