/* The children of a root. Rows tell which units may have an item in enough of a child's
   windows: those are few, and only of them the items are looked at one by one. */
#pragma once

#include "gpu/base/bit_counters.cuh"
#include "gpu/patterns/masks.cuh"

namespace gpu {

/* ---- items of a child: lags of units that are marked ---- */

/* A child in the making: its windows, by their numbers among the root's. */
struct root_child {
    uint32_t place, rank, lag;
    const uint32_t *bin;      /* where the root's windows open */
    const uint32_t *row;      /* the rows of the root */
    uint32_t *index;          /* [windows] */
    uint32_t *opens;          /* [windows] their bins */
    uint32_t windows, words;  /* of a mask */
    uint32_t *often;          /* [row_words] units and strips that may be in enough */
    uint32_t known;           /* places of the path that are in the root's set, or are its
                                 own item */
};

/* What is done with items that are in enough of the child's windows. */
struct child_sink {
    mask_entries *to;
    uint32_t room;      /* words there */
    pattern_set *set;   /* gets those in all windows, or NULL */
    bool after;         /* which items: those after the child's own, or before */
    bool holds;
};

/* Lags of a unit from `first` on: the strip, or lag 0 alone. */
struct unit_strip {
    uint32_t rank, first, lags;
};

/* Numbers of what is marked, in the order of the places. Returns how many. */
__device__ inline uint32_t list_marked(const pattern_search &s, const root_child &c,
                                       uint32_t *to)
{
    const pattern_job &job = s.job;
    const uint32_t each = job.strips + 1;
    uint32_t n = 0, all;
    for (uint32_t w = 0; w < job.unit_words; w++) {
        bool marked = c.often[w] >> s.lane & 1;
        uint32_t place = place_for(marked, &n);
        if (marked)
            to[place] = (w * 32 + s.lane) * each;
    }
    for (uint32_t w = 0; w < job.unit_words && job.strips > 0; w++) {
        const uint32_t *often = c.often + w;
        uint32_t mine = 0;
        for (uint32_t k = 1; k < each; k++)
            mine += often[k * job.unit_words] >> s.lane & 1;
        uint32_t at = n + sum_below(mine, &all);
        for (uint32_t k = 1; k < each; k++)
            if (often[k * job.unit_words] >> s.lane & 1)
                to[at++] = (w * 32 + s.lane) * each + k;
        n += all;
    }
    __syncwarp();
    return n;
}

/* Lags of a strip, a bit each: in enough windows, and in all of them. */
struct strip_lags_found {
    uint32_t often, all;
};

/* A lane a strip. */
template <int PLANES>
__device__ __noinline__ strip_lags_found count_lags(pattern_search s,
                                                    root_child c, unit_strip strip)
{
    enum { AHEAD = 8 };
    bit_counters<PLANES> sum;
    sum.clear();
    for (uint32_t i = 0; i < c.windows; i += AHEAD) {
        uint32_t of[AHEAD];
        SYN_UNROLL(k, AHEAD) {
            uint32_t bin = c.opens[i + k < c.windows ? i + k : i] + strip.first;
            of[k] = i + k < c.windows ? bins_from(s.job, strip.rank, bin) : 0;
        }
        sum.add_eight(of);
    }
    uint32_t lags = low_bits(strip.lags);
    return {sum.above(s.job.min_count - 1) & lags, sum.above(c.windows - 1) & lags};
}

/* Of the 32 places from `base` on, those that may be added to the sink. */
__device__ inline uint32_t wanted_lags(const pattern_search &s, const root_child &c,
                                       bool after, uint32_t base)
{
    uint32_t bits = after ? ~0u : 0;
    if (c.place >= base)
        bits = after ? ~low_bits(c.place - base + 1) : low_bits(c.place - base);
    for (uint32_t k = 0; k < c.known; k++) {
        uint32_t at = s.my->path[k] - base;
        bits &= at < 32 ? ~(1u << at) : ~0u;
    }
    return bits;
}

/* Adds the items in all windows, those of all lanes, to a set; false without room. */
__device__ inline bool join_lags(const pattern_search &s, pattern_set *set, uint32_t base,
                                 uint32_t all)
{
    for (uint32_t left = __ballot_sync(WHOLE_WARP, all != 0); left; left &= left - 1) {
        uint32_t lane = __ffs(left) - 1, first = __shfl_sync(WHOLE_WARP, base, lane);
        uint32_t bits = __shfl_sync(WHOLE_WARP, all, lane);
        for (; bits; bits &= bits - 1)
            if (!s.extend(set, first + __ffs(bits) - 1))
                return false;
    }
    return true;
}

/* The masks of the items `often` of the lanes' strips: a lane a window. They go to
   entries in order, a lane's own from number `at` on. */
__device__ inline void fill_masks(const pattern_search &s, const root_child &c,
                                  unit_strip strip, uint32_t often, uint32_t at,
                                  uint32_t *entry)
{
    const uint32_t stride = c.words + 1;
    const uint32_t some = __ballot_sync(WHOLE_WARP, often != 0);
    for (uint32_t w = 0; w < c.words; w++) {
        uint32_t i = w * WARP + s.lane, bin = i < c.windows ? c.opens[i] : 0;
        for (uint32_t left = some; left; left &= left - 1) {
            uint32_t lane = __ffs(left) - 1;
            uint32_t rank = __shfl_sync(WHOLE_WARP, strip.rank, lane);
            uint32_t first = __shfl_sync(WHOLE_WARP, strip.first, lane);
            uint32_t bits = __shfl_sync(WHOLE_WARP, often, lane);
            uint32_t to = __shfl_sync(WHOLE_WARP, at, lane);
            uint32_t field = i < c.windows ? bins_from(s.job, rank, bin + first) : 0;
            for (; bits; bits &= bits - 1, to++) {
                uint32_t with = __ballot_sync(WHOLE_WARP, field >> (__ffs(bits) - 1) & 1);
                if (s.lane == 0)
                    entry[(size_t) to * stride + 1 + w] = with;
            }
        }
    }
}

/* Adds the items of 32 strips, a lane each. */
__device__ inline bool add_strips(const pattern_search &s, const root_child &c,
                                  unit_strip strip, bool there, child_sink *sink)
{
    uint32_t base = place_of(s.job, strip.rank, strip.first), all_lanes;
    auto found = with_number<5, 8, 12, 31>(32 - __clz(c.windows), [&](auto planes) {
        return count_lags<decltype(planes)::value>(s, c, strip);
    });
    uint32_t often = there ? found.often & wanted_lags(s, c, sink->after, base) : 0;
    uint32_t all = often & found.all;
    __syncwarp();
    sink->holds |= __any_sync(WHOLE_WARP, all != 0);
    if (sink->set && !join_lags(s, sink->set, base, all))
        return false;
    often &= sink->set ? ~all : ~0u;
    uint32_t at = sum_below(__popc(often), &all_lanes), stride = c.words + 1;
    if ((uint64_t) (sink->to->n + all_lanes) * stride > sink->room) {
        s.fail();
        return false;
    }
    uint32_t *entry = s.words_at(sink->to->at) + (size_t) sink->to->n * stride;
    uint32_t to = at;
    for (uint32_t bits = often; bits; bits &= bits - 1)
        entry[(size_t) to++ * stride] = base + __ffs(bits) - 1;
    __syncwarp();
    fill_masks(s, c, strip, often, at, entry);
    sink->to->n += all_lanes;
    __syncwarp();
    return true;
}

/* ---- units that are marked ---- */

/* Fills index[] and opens[] with the root's windows that have the item. */
__device__ inline void list_windows(const pattern_search &s, const root_child &c,
                                    uint32_t windows)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < windows; from += WARP) {
        uint32_t i = from + s.lane;
        uint32_t bin = i < windows ? c.bin[i] : 0;
        bool there = i < windows && (bins_from(s.job, c.rank, bin + c.lag) & 1);
        uint32_t to = place_for(there, &n);
        if (there) {
            c.index[to] = i;
            c.opens[to] = bin;
        }
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
__device__ __noinline__ uint32_t mark_units(pattern_search s, root_child c,
                                            bool after)
{
    enum { AHEAD = 8 };
    const pattern_job &job = s.job;
    uint32_t found = 0;
    for (uint32_t w = s.lane; w < job.row_words; w += WARP) {
        uint32_t beside = units_beside(job, c, w, after), often = 0;
        bit_counters<PLANES> sum;
        sum.clear();
#pragma unroll 1
        for (uint32_t i = 0; i < c.windows && beside; i += AHEAD) {
            uint32_t of[AHEAD];
            SYN_UNROLL(k, AHEAD) {
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
    return with_number<5, 8, 12, 31>(32 - __clz(c.windows), [&](auto planes) {
        return mark_units<decltype(planes)::value>(s, c, after);
    });
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
    /* The list may take all that is left of the warp's room. */
    to->at = PATTERN_NEAR + top->far;
    to->n = 0;
    child_sink sink = {to, s.queue.room - top->far, set, after, false};
    for (uint32_t from = 0; from < n; from += WARP) {
        bool there = from + s.lane < n;
        uint32_t number = marked[there ? from + s.lane : from];
        uint32_t rank = number / (s.job.strips + 1), k = number % (s.job.strips + 1);
        unit_strip strip = {rank, 0, 1};
        if (k > 0)
            strip = {rank, 1 + (k - 1) * s.job.strip, strip_lags(s.job, k - 1)};
        if (!add_strips(s, c, strip, there, &sink))
            return false;
    }
    s.keep_first(top, to->at, (uint64_t) to->n * (c.words + 1));
    *holds = sink.holds;
    return true;
}

/* Lists the items of a child, whose set is in the path and `later` units and strips are
   marked after its own item, and goes on with it. By itself, so that the search below has
   registers enough. */
__device__ __noinline__ void list_child(pattern_search s, pattern_set set,
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
