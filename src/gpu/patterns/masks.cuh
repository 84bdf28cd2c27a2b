/* The search below a child of a root, in masks of windows: a lane an item. */
#pragma once

#include "gpu/patterns/node.cuh"

namespace gpu {

/* ---- windows that cannot lead to a pattern ---- */

/* What a set still needs: so many units that are new to it or, if that is more, items. */
struct pattern_lack {
    uint32_t n;
    bool of_units;
};

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
        uint32_t *to = entry + place_for(stays, &kept) * stride;
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
    uint32_t spikes = s.job.min_spikes > set.size ? s.job.min_spikes - set.size : 0;
    uint32_t units = s.job.min_units > set.units ? s.job.min_units - set.units : 0;
    pattern_lack lack = {units >= spikes ? units : spikes, units >= spikes};
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

/* ---- entries that share windows ---- */

__device__ inline uint32_t shared_windows(const uint32_t *a, const uint32_t *b,
                                          uint32_t words)
{
    uint32_t n = __popc(a[0] & b[0]);
    for (uint32_t w = 1; w < words; w++)
        n += __popc(a[w] & b[w]);
    return n;
}

/* Of the entries from `begin` on, those that share enough windows with the set. */
struct mask_filter {
    const uint32_t *entry;    /* the first of all */
    uint32_t begin, end;
    const uint32_t *set;      /* windows */
    uint32_t windows, words;  /* in it, and of the masks */
    uint32_t to_words;        /* of the masks that are written: fewer where the windows
                                 that are not in the set are left out */
};

/* An entry with the windows that are in the set, side by side where there are fewer
   words for them. */
__device__ inline void copy_entry(const mask_filter &f, const uint32_t *from,
                                  uint32_t *to)
{
    *to++ = *from++;
    if (f.to_words == f.words) {
        for (uint32_t w = 0; w < f.words; w++)
            to[w] = from[w] & f.set[w];
        return;
    }
    uint32_t out = 0, n = 0;
    for (uint32_t w = 0; w < f.words; w++) {
        uint32_t bits = from[w];
        for (uint32_t left = f.set[w]; left; left &= left - 1) {
            out |= (bits >> (__ffs(left) - 1) & 1) << n % 32;
            if (++n % 32 == 0) {
                to[n / 32 - 1] = out;
                out = 0;
            }
        }
    }
    if (n % 32)
        to[n / 32] = out;
}

/* Whether an entry is in all windows of the set; `n` gets how many are in enough. */
__device__ inline bool any_holds(const pattern_search &s, const mask_filter &f,
                                 uint32_t *n)
{
    uint32_t found = 0;
    bool holds = false;
    for (uint32_t k = f.begin + s.lane; k < f.end; k += WARP) {
        uint32_t shared =
            shared_windows(f.entry + k * (f.words + 1) + 1, f.set, f.words);
        found += shared >= s.job.min_count;
        holds |= shared == f.windows;
    }
    __syncwarp();
    *n += warp_sum(found);
    return __any_sync(WHOLE_WARP, holds);
}

/* Appends the entries that share enough to `to`, which has to->n of them. With `set`
   those in all windows join it instead; *holds says whether there are any. False without
   room. */
__device__ inline bool filter_entries(const pattern_search &s, const mask_filter &f,
                                      mask_entries *to, pattern_set *set, bool *holds)
{
    uint32_t *out = s.words_at(to->at);
    for (uint32_t from = f.begin; from < f.end; from += WARP) {
        uint32_t k = from + s.lane, shared = 0;
        const uint32_t *entry = f.entry + (k < f.end ? k : from) * (f.words + 1);
        if (k < f.end)
            shared = shared_windows(entry + 1, f.set, f.words);
        bool often = shared >= s.job.min_count, all = often && shared == f.windows;
        uint32_t full = __ballot_sync(WHOLE_WARP, all);
        bool stays = often && !(set && all);
        uint32_t place = place_for(stays, &to->n);
        if (stays)
            copy_entry(f, entry, out + place * (f.to_words + 1));
        *holds |= full != 0;
        for (; set && full; full &= full - 1)
            if (!s.extend(set, __shfl_sync(WHOLE_WARP, entry[0], __ffs(full) - 1)))
                return false;
    }
    __syncwarp();
    return true;
}

/* What follows an item in a list, as far as it has been looked at: how many items share
   enough windows with it, and of how many units. */
struct followers {
    uint32_t items, units;
    uint32_t unit_end;        /* the place after those of the last of these units */

    __device__ void add(const pattern_job &job, uint32_t place)
    {
        items++;
        if (place < unit_end)
            return;
        uint32_t rank = job.rank[place];
        units++;
        unit_end = place < job.units ? place + 1 : place_of(job, rank + 1, 1);
    }
};

/* Of the 32 open items from node.next on: those that can lead to a pattern when they are
   added, and those of them to which nothing can be added then. */
struct looked_ahead {
    uint32_t alive, leaves;
};

/* Whether all windows `own` of a lane are in one of the entries from `begin` up to `end`
   with masks of one word. With `before`, only entries before that one matter. */
__device__ inline bool is_held(const uint32_t *entry, uint32_t begin, uint32_t end,
                               uint32_t own, uint32_t before)
{
    bool held = false;
#pragma unroll 4
    for (uint32_t k = begin; k < end; k++)
        held |= k < before && (own & ~entry[2 * k + 1]) == 0;
    return held;
}

/* Whether looking ahead also tells which of those items are leaves, and drops those whose
   sets are not closed. */
__device__ inline bool tells_leaves(const pattern_job &job, uint32_t words)
{
    return words == 1 && job.closed && !job.maximal;
}

/* Enough of the items after one share enough windows with it; else it leads nowhere. */
template <bool ONE_WORD>
__device__ inline looked_ahead look_at_pairs(const pattern_search &s,
                                             const pattern_node &node)
{
    enum { TOGETHER = 8 };
    const pattern_job &job = s.job;
    const uint32_t words = ONE_WORD ? 1 : node.words, stride = words + 1;
    const uint32_t *entry = s.words_at(node.open.at);
    uint32_t t = node.next + s.lane, n = node.open.n;
    uint32_t size = node.size + 1, units = node.units + 1;
    bool there = t < node.until, leaves = tells_leaves(job, words);
    const uint32_t *mine = entry + (there ? t : node.next) * stride + 1;
    uint32_t own = mine[0];
    followers found = {0, 0, 0};
    /* The unit of the item itself may be known, and all that follow may be new. */
    auto enough = [&] {
        return size + found.items >= job.min_spikes &&
               units + found.units >= job.min_units;
    };
#pragma unroll 1
    for (uint32_t from = node.next + 1; from < n; from += TOGETHER) {
        bool known = !there || (enough() && (found.items > 0 || !leaves));
        if (__all_sync(WHOLE_WARP, known))
            break;
        uint32_t goes = 0;
        SYN_UNROLL(k, TOGETHER) {
            uint32_t u = from + k < n ? from + k : n - 1;
            const uint32_t *other = entry + u * stride + 1;
            uint32_t shared = ONE_WORD ? __popc(own & other[0])
                                       : shared_windows(mine, other, words);
            goes |= (from + k < n && u > t && shared >= job.min_count) << k;
        }
        for (; goes; goes &= goes - 1)
            found.add(job, entry[(from + __ffs(goes) - 1) * stride]);
        __syncwarp();
    }
    bool alive = there && enough();
    if (leaves && __any_sync(WHOLE_WARP, alive)) {
        uint32_t last = node.next + WARP < n ? node.next + WARP : n;
        bool held = is_held(entry, 0, last, own, t);
        held |= is_held(s.words_at(node.barred.at), 0, node.barred.n, own, NO_PLACE);
        alive = alive && !held;
    }
    __syncwarp();
    return {__ballot_sync(WHOLE_WARP, alive),
            __ballot_sync(WHOLE_WARP, alive && leaves && found.items == 0)};
}

/* Makes room for a node, fills it, and makes it the deepest. */
__device__ inline bool push_node(const pattern_search &s, const pattern_set &set,
                                 uint32_t words, mask_entries open, mask_entries barred,
                                 bool hidden, room_top top)
{
    room_top mark = s.my->top;
    uint32_t at = s.reserve(&top, sizeof(pattern_node) / 4);
    if (at == NO_PLACE)
        return false;
    __syncwarp();
    if (s.lane == 0) {
        pattern_node node = {};
        (pattern_set &) node = set;
        node.before = s.my->deepest;
        node.words = words;
        node.open = open;
        node.barred = barred;
        node.until = open.n;
        node.passed = hidden;
        node.stream = NO_PLACE;
        node.mark = mark;
        *(pattern_node *) s.words_at(at) = node;
        s.my->deepest = at;
        s.my->top = top;
    }
    __syncwarp();
    return true;
}

/* Lists of a child, in the making. */
struct child_lists {
    mask_entries open, barred;
    bool holds;      /* whether an item that must not be added is in all its windows, */
    bool open_holds; /* or one that can be */
    bool more;       /* whether any item is in enough of them */
};

/* Goes on with a child whose lists are there: keeps its set where nothing can be added,
   else makes its node. */
__device__ inline void enter(const pattern_search &s, const pattern_set &set,
                             const child_lists &lists, uint32_t words, room_top top)
{
    bool hidden = s.is_hidden(set, lists.holds || lists.open_holds, lists.more);
    if (lists.open.n > 0 && set.size < s.job.max_spikes)
        push_node(s, set, words, lists.open, lists.barred, hidden, top);
    else if (!hidden)
        s.keep(set);
}

/* Meets the child of a node with its open item `t`. */
__device__ inline void mask_child(const pattern_search &s, const pattern_node &node,
                                  uint32_t t)
{
    const pattern_job &job = s.job;
    const uint32_t stride = node.words + 1;
    const uint32_t *open = s.words_at(node.open.at);
    const uint32_t *barred = s.words_at(node.barred.at);
    const uint32_t *set_words = open + t * stride + 1;
    child_lists lists = {};
    pattern_set set = node;
    set.windows = shared_windows(set_words, set_words, node.words);
    uint32_t before = 0, words = (set.windows + 31) / 32;
    words = 2 * words <= node.words ? words : node.words;
    mask_filter of_barred = {barred, 0, node.barred.n, set_words, set.windows, node.words,
                             words};
    mask_filter of_earlier = of_barred, of_later = of_barred;
    of_earlier.entry = of_later.entry = open;
    of_earlier.end = t;
    of_later.begin = t + 1;
    of_later.end = node.open.n;
    if (tells_leaves(job, node.words)) {
        before = node.barred.n + t;  /* at the most; it is known that none holds */
    } else if (job.barred) {
        lists.holds = any_holds(s, of_barred, &before);
        lists.holds |= any_holds(s, of_earlier, &before);
        if (lists.holds && job.closed)
            return;
    }
    if (!s.extend(&set, open[t * stride]))
        return;
    room_top top = s.my->top;
    uint64_t most = (uint64_t) (of_later.end - of_later.begin) * (words + 1);
    lists.open.at = s.reserve(&top, most);
    if (lists.open.at == NO_PLACE)
        return;
    if (!filter_entries(s, of_later, &lists.open, job.closed ? &set : nullptr,
                        &lists.open_holds))
        return;
    s.keep_first(&top, lists.open.at, (uint64_t) lists.open.n * (words + 1));
    if (!s.leads_on(set, lists.open.n) ||
        !drop_windows(s, set, words, &lists.open, &top))
        return;
    lists.more = before + lists.open.n > 0;
    if (job.barred && lists.open.n > 0 && set.size < job.max_spikes) {
        bool ignored = false;
        lists.barred.at = s.reserve(&top, (uint64_t) before * (words + 1));
        if (lists.barred.at == NO_PLACE)
            return;
        filter_entries(s, of_barred, &lists.barred, nullptr, &ignored);
        filter_entries(s, of_earlier, &lists.barred, nullptr, &ignored);
        s.keep_first(&top, lists.barred.at, (uint64_t) lists.barred.n * (words + 1));
    }
    enter(s, set, lists, words, top);
}

/* Goes on to the next child that is no leaf, and keeps what comes before it: leaves, and
   the node's own set, which comes before the children after its last item. Returns the
   child, or NO_PLACE where none of those looked at is left. */
__device__ inline uint32_t next_child(const pattern_search &s, pattern_node *node)
{
    const uint32_t *open = s.words_at(node->open.at), stride = node->words + 1;
    for (; node->alive; node->alive &= node->alive - 1) {
        uint32_t k = __ffs(node->alive) - 1, t = node->base + k;
        if (!node->passed && open[t * stride] > node->last) {
            node->passed = 1;
            s.keep(*node);
        }
        if (!(node->leaves >> k & 1)) {
            node->alive &= node->alive - 1;
            return t;
        }
        pattern_set leaf = *node;
        leaf.windows = __popc(open[t * stride + 1]);
        if (s.extend(&leaf, open[t * stride]))
            s.keep(leaf);
    }
    return NO_PLACE;
}

/* One step: the next child of the deepest node, or a look at those that follow, or the
   end of the node. */
__device__ inline void step_masks(const pattern_search &s)
{
    pattern_warp *my = s.my;
    pattern_node *kept = (pattern_node *) s.words_at(my->deepest), node = *kept;
    __syncwarp();
    bool look = !node.alive && node.next < node.until;
    if (look && !node.passed &&
        s.words_at(node.open.at)[node.next * (node.words + 1)] > node.last) {
        node.passed = 1;
        s.keep(node);
    }
    if (look) {
        looked_ahead seen = node.words == 1 ? look_at_pairs<true>(s, node)
                                            : look_at_pairs<false>(s, node);
        node.base = node.next;
        node.alive = seen.alive;
        node.leaves = seen.leaves;
        node.next += WARP;
    }
    uint32_t t = next_child(s, &node);
    bool end = t == NO_PLACE && node.next >= node.until;
    if (end && !node.passed) {
        node.passed = 1;
        s.keep(node);
    }
    if (s.lane == 0) {
        *kept = node;
        if (end) {
            my->deepest = node.before;
            my->top = node.mark;
        }
    }
    __syncwarp();
    if (end && node.stream != NO_PLACE)
        s.go_to_stream(node.stream);
    if (t != NO_PLACE)
        mask_child(s, node, t);
}

}  // namespace gpu
