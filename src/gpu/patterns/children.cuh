/* The children of a root. Rows tell which units may have an item in enough of a child's
   windows: those are few, and only of them the items are looked at one by one. */
#ifndef SYN_GPU_PATTERNS_CHILDREN_CUH
#define SYN_GPU_PATTERNS_CHILDREN_CUH

#include "gpu/base/bit_counters.cuh"
#include "gpu/patterns/masks.cuh"

namespace gpu {

/* A child in the making: its windows, by their numbers among the root's. */
struct root_child {
    uint32_t place, rank, lag;
    const uint32_t *bin;      /* where the root's windows open */
    const uint32_t *row;      /* the rows of the root */
    uint32_t *index;          /* [windows] */
    uint32_t windows, words;  /* of a mask */
    uint32_t *often;          /* [row_words] units and strips that may be in enough */
    uint32_t known;           /* places of the path that are in the root's set, or are its
                                 own item */
};

/* Fills index[] with the root's windows that have the item. */
__device__ inline void list_windows(const pattern_search &s, const root_child &c,
                                    uint32_t windows)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < windows; from += WARP) {
        uint32_t i = from + s.lane;
        bool there = i < windows && (bins_from(s.job, c.rank, c.bin[i] + c.lag) & 1);
        uint32_t found = __ballot_sync(WHOLE_WARP, there);
        if (there)
            c.index[n + __popc(found & lanes_below())] = i;
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

/* What is done with items that are in enough of the child's windows. */
struct child_sink {
    mask_entries *to;
    uint32_t room;      /* words there */
    pattern_set *set;   /* gets those in all windows, or NULL */
    bool after;         /* which items: those after the child's own, or before */
    bool holds;
};

/* Whether the item at a place may be added to the sink. */
__device__ inline bool wanted(const pattern_search &s, const root_child &c, bool after,
                              uint32_t place)
{
    return (after ? place > c.place : place < c.place) && !s.in_path(c.known, place);
}

/* Gives out entries to the lanes whose item is in enough windows: NULL to the others.
   False without room. */
__device__ inline bool take_entries(const pattern_search &s, const root_child &c,
                                    child_sink *sink, uint32_t place, uint32_t count,
                                    uint32_t **entry)
{
    bool often = count >= s.job.min_count, all = often && count == c.windows;
    uint32_t full = __ballot_sync(WHOLE_WARP, all);
    uint32_t stay = __ballot_sync(WHOLE_WARP, often && !(sink->set && all));
    uint32_t n = __popc(stay), stride = c.words + 1;
    *entry = nullptr;
    sink->holds |= full != 0;
    if (sink->set && !s.extend_all(sink->set, full, place))
        return false;
    if ((uint64_t) (sink->to->n + n) * stride > sink->room) {
        s.fail();
        return false;
    }
    if (stay >> s.lane & 1) {
        *entry = s.words_at(sink->to->at) +
                 (size_t) (sink->to->n + __popc(stay & lanes_below())) * stride;
        **entry = place;
    }
    sink->to->n += n;
    return true;
}

/* Lane l gets which of 32 windows, from number `i` on, have lag l of the strip. */
__device__ inline uint32_t turn_strip(const pattern_search &s, const root_child &c,
                                      uint32_t rank, uint32_t strip, uint32_t lags,
                                      uint32_t i)
{
    uint32_t field = 0, mine = 0;
    if (i + s.lane < c.windows)
        field = strip_of(s.job, rank, c.bin[c.index[i + s.lane]], strip);
    for (uint32_t l = 0; l < lags; l++) {
        uint32_t with = __ballot_sync(WHOLE_WARP, field >> l & 1);
        mine = l == s.lane ? with : mine;
    }
    return mine;
}

/* The items of a strip: a lane a lag. */
__device__ inline bool add_strip(const pattern_search &s, const root_child &c,
                                 uint32_t rank, uint32_t strip, child_sink *sink)
{
    const pattern_job &job = s.job;
    uint32_t lags = strip_lags(job, strip), count = 0, mask = 0, *entry;
    uint32_t place = place_of(job, rank, 1 + strip * job.strip + s.lane);
    for (uint32_t i = 0; i < c.windows; i += WARP) {
        mask = turn_strip(s, c, rank, strip, lags, i);
        count += __popc(mask);
    }
    if (s.lane >= lags || !wanted(s, c, sink->after, place))
        count = 0;
    __syncwarp();
    if (!take_entries(s, c, sink, place, count, &entry))
        return false;
    if (!__any_sync(WHOLE_WARP, entry != nullptr))
        return true;
    for (uint32_t w = 0; w < c.words; w++) {
        if (c.words > 1)
            mask = turn_strip(s, c, rank, strip, lags, w * WARP);
        if (entry)
            entry[1 + w] = mask;
    }
    __syncwarp();
    return true;
}

/* The items at lag 0 of the units of a word of the rows: a lane a unit. */
__device__ inline bool add_first(const pattern_search &s, const root_child &c, uint32_t w,
                                 uint32_t units, child_sink *sink)
{
    uint32_t place = w * 32 + s.lane, count = 0, *entry;
    const uint32_t *row = c.row + w;
    bool asked = (units >> s.lane & 1) && wanted(s, c, sink->after, place);
    for (uint32_t i = 0; i < c.windows; i++)
        count += row[(size_t) c.index[i] * s.job.row_words] >> s.lane & 1;
    __syncwarp();
    if (!take_entries(s, c, sink, place, asked ? count : 0, &entry))
        return false;
    for (uint32_t i = 0, mask = 0; i < c.windows && entry; i++) {
        uint32_t bit = row[(size_t) c.index[i] * s.job.row_words] >> s.lane & 1;
        mask |= bit << i % 32;
        if (i % 32 == 31 || i + 1 == c.windows) {
            entry[1 + i / 32] = mask;
            mask = 0;
        }
    }
    __syncwarp();
    return true;
}

/* The items that are marked, in the order of their places: the strips of a rank follow
   each other. */
__device__ inline bool add_marked(const pattern_search &s, const root_child &c,
                                  child_sink *sink)
{
    const pattern_job &job = s.job;
    for (uint32_t w = 0; w < job.unit_words; w++)
        if (c.often[w] && !add_first(s, c, w, c.often[w], sink))
            return false;
    for (uint32_t w = 0; w < job.unit_words; w++) {
        uint32_t any = 0;
        for (uint32_t k = 1; k <= job.strips; k++)
            any |= c.often[k * job.unit_words + w];
        for (; any; any &= any - 1) {
            uint32_t bit = __ffs(any) - 1;
            for (uint32_t k = 0; k < job.strips; k++)
                if (c.often[(k + 1) * job.unit_words + w] >> bit & 1)
                    if (!add_strip(s, c, w * 32 + bit, k, sink))
                        return false;
        }
    }
    __syncwarp();  /* what is marked may change now */
    return true;
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

/* Meets a child of the root whose set is in the path. */
__device__ inline void meet_child(const pattern_search &s, pattern_set set, root_child c)
{
    const pattern_job &job = s.job;
    room_top top = s.my->top;
    child_lists lists = {};
    uint32_t index = s.reserve(&top, c.windows);
    uint32_t often = s.reserve(&top, job.row_words);
    if (index == NO_PLACE || often == NO_PLACE)
        return;
    c.index = s.words_at(index);
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
    if (!s.leads_on(set, later * (job.strips > 0 ? job.strip : 1)))
        return;
    child_sink sink = begin_list(s, &top, &lists.open, job.closed ? &set : nullptr, true);
    if (later > 0 && !add_marked(s, c, &sink))
        return;
    end_list(s, &top, sink, c.words);
    lists.open_holds = sink.holds;
    if (!s.leads_on(set, lists.open.n) ||
        !drop_windows(s, set, c.words, &lists.open, &top))
        return;
    if (job.barred && mark(s, c, false) > 0) {
        sink = begin_list(s, &top, &lists.barred, nullptr, false);
        if (!add_marked(s, c, &sink))
            return;
        end_list(s, &top, sink, c.words);
        lists.holds = sink.holds;
        if (lists.holds && job.closed)
            return;
    }
    lists.more = lists.open.n + lists.barred.n > 0;
    enter(s, set, lists, c.words, top);
}

}  // namespace gpu

#endif
