/* The search for maxima: warps take tasks, some children of a root each, and what is not
   done when a launch ends goes on in the next. Children of roots are taken by their
   number of windows, by a kernel for each length of masks: a multiprocessor waits longer
   for instructions than for anything else when its warps are all over a large kernel. */
#pragma once

#include "gpu/spectrum/masks.cuh"

namespace gpu {

/* ---- nodes with rows: a child's items are counted row by row ---- */

enum { ROWS_AHEAD = 8 };      /* that are read together */

/* A child in the making. */
struct wide_prospect {
    const wide_node *parent;
    uint32_t item;            /* that it adds, by where it stands in the parent's list */
    uint32_t windows, *index; /* [windows, and up to a whole ROWS_AHEAD more] which of the
                                 parent's they are */
    uint32_t begin;           /* word of the parent's rows where its own items begin */
    uint32_t *often;          /* [parent's words] its items there, as bits, */
    uint32_t listed, *at;     /* [listed] and as numbers */
    uint32_t size, units, reach;
    bool sets_duration;
};

/* Fills index[] with the parent's windows that have the item. */
__device__ inline void list_rows(const searcher &s, const wide_prospect &c)
{
    enum { AHEAD = 4 };
    const uint32_t *row = c.parent->row + c.item / 32;
    uint32_t n = 0, windows = c.parent->windows, words = c.parent->words;
    for (uint32_t from = 0; from < windows; from += AHEAD * WARP) {
        uint32_t word[AHEAD];
        SYN_UNROLL(k, AHEAD) {
            uint32_t i = from + k * WARP + s.lane;
            word[k] = i < windows ? row[(size_t) i * words] : 0;
        }
        SYN_UNROLL(k, AHEAD) {
            uint32_t there = word[k] >> c.item % 32 & 1;
            uint32_t found = __ballot_sync(WHOLE_WARP, there);
            if (there)
                c.index[n + __popc(found & lanes_below())] =
                    from + k * WARP + s.lane;
            n += __popc(found);
        }
    }
    if (s.lane < ROWS_AHEAD)
        c.index[n + s.lane] = 0;  /* read, but not counted */
    __syncwarp();
}

/* Word `word` of the parent's rows from the child's `i`th on, ROWS_AHEAD of them; zeros
   after the last. */
__device__ inline void read_rows(const wide_prospect &c, const uint32_t *row, uint32_t i,
                                 uint32_t *of)
{
    uint32_t stride = c.parent->words * 4, at[ROWS_AHEAD];
    for (int k = 0; k < ROWS_AHEAD; k += 4) {
        uint4 four = *(const uint4 *) (c.index + i + k);
        at[k] = four.x;
        at[k + 1] = four.y;
        at[k + 2] = four.z;
        at[k + 3] = four.w;
    }
    SYN_UNROLL(k, ROWS_AHEAD)
        of[k] = *(const uint32_t *) ((const char *) row + (uint64_t) at[k] * stride);
    if (c.windows - i < ROWS_AHEAD) {
        SYN_UNROLL(k, ROWS_AHEAD)
            of[k] = k < c.windows - i ? of[k] : 0;
    }
}

/* The items of a word that go with the child's, where that sets the duration: those with
   smaller lags, and of those with the same lag the later ones. */
__device__ inline uint32_t within_duration(uint32_t lag_bits, const wide_prospect &c,
                                           uint32_t word, uint32_t often)
{
    const uint32_t *item = c.parent->item;
    uint32_t lags = (1u << lag_bits) - 1, lag = item[c.item] & lags, kept = 0;
    for (; often; often &= often - 1) {
        uint32_t at = word * 32 + __ffs(often) - 1, other = item[at] & lags;
        if (other < lag || (other == lag && at > c.item))
            kept |= often & (0 - often);
    }
    return kept;
}

/* Marks the items of the parent after the child's own that are in more than `least` of
   its windows, all but its own when that sets the duration; returns how many. */
template <int PLANES>
__device__ __noinline__ uint32_t mark_often(wide_prospect c, uint32_t lag_bits,
                                            uint32_t least)
{
    uint32_t lane = threadIdx.x % WARP, found = 0, words = c.parent->words;
    for (uint32_t word = c.begin + lane; word < words; word += WARP) {
        const uint32_t *row = c.parent->row + word;
        bit_counters<PLANES> sum;
        sum.clear();
        for (uint32_t i = 0; i < c.windows; i += ROWS_AHEAD) {
            uint32_t of[ROWS_AHEAD];
            read_rows(c, row, i, of);
            sum.add_eight(of);
        }
        uint32_t often = sum.above(least);
        if (c.sets_duration)
            often = within_duration(lag_bits, c, word, often);
        else if (word == c.item / 32)
            often &= ~1u << c.item % 32;
        c.often[word] = often;
        found += __popc(often);
    }
    __syncwarp();
    return warp_sum(found);
}

template <int WORDS>
__device__ inline uint32_t mark_items(const searcher &s, const wide_prospect &c)
{
    auto mark = [&](auto planes) {
        return mark_often<decltype(planes)::value>(c, s.job.lag_bits,
                                                   s.my->least[c.reach]);
    };
    if constexpr (WORDS > 0)
        return mark(std::integral_constant<int, WORDS == MASK_WORDS ? 9 : 7>());
    else
        return with_number<7, 12, 31>(32 - __clz(c.windows), mark);
}

/* Lists the items that are marked. */
__device__ inline void list_marked(const searcher &s, const wide_prospect &c)
{
    uint32_t n = 0, words = c.parent->words;
    for (uint32_t from = c.begin; from < words; from += WARP) {
        uint32_t word = from + s.lane, often = word < words ? c.often[word] : 0, all;
        uint32_t k = n + sum_below(__popc(often), &all);
        for (; often; often &= often - 1)
            c.at[k++] = word * 32 + __ffs(often) - 1;
        n += all;
    }
    __syncwarp();
}

/* The child's row `i`, without the items that are not in its list. */
__device__ inline void make_row(const searcher &s, const wide_prospect &c, uint32_t i,
                                uint32_t words, uint32_t *row)
{
    const uint32_t *from_row = c.parent->row + (size_t) c.index[i] * c.parent->words;
    uint32_t mine = 0;
#pragma unroll 1
    for (uint32_t w = 0; w < words; w++) {
        uint32_t k = w * 32 + s.lane, there = 0;
        if (k < c.listed)
            there = from_row[c.at[k] / 32] >> c.at[k] % 32 & 1;
        uint32_t word = __ballot_sync(WHOLE_WARP, there);
        mine = w % WARP == s.lane ? word : mine;
        if (w % WARP == WARP - 1 || w + 1 == words) {
            uint32_t to = w / WARP * WARP + s.lane;
            if (to <= w)
                row[to] = mine;
        }
    }
}

/* Where the child's windows open. */
__device__ inline void fill_bins(const searcher &s, const wide_prospect &c, uint32_t *bin)
{
    for (uint32_t i = s.lane; i < c.windows; i += WARP)
        bin[i] = c.parent->bin[c.index[i]];
    __syncwarp();
}

/* Bit `bit` of the parent's rows that are the child's, 32 of them from `begin` on. */
__device__ inline uint32_t gather_bits(const wide_prospect &c, const uint32_t *row,
                                       uint32_t begin, uint32_t bit)
{
    uint32_t end = begin + 32 < c.windows ? begin + 32 : c.windows, bits = 0, i = begin;
#pragma unroll 1
    for (; i < end; i += ROWS_AHEAD) {
        uint32_t of[ROWS_AHEAD];
        read_rows(c, row, i, of);
        SYN_UNROLL(k, ROWS_AHEAD)
            bits = __funnelshift_r(bits, of[k] >> bit, 1);
    }
    return bits >> (begin + 32 - i);
}

/* Meets the child, and makes its node, with masks, if anything is below it. */
template <int WORDS>
__device__ inline void make_masks(const searcher &s, const wide_prospect &c, room_top top)
{
    mask_node node = {};
    node.before = NO_PLACE;
    node.size = c.size;
    node.units = c.units;
    node.reach = c.reach;
    node.room = c.listed;
    node.mark = s.my->top;
    uint32_t bins = s.reserve_far(&top, 2 * 64 * WORDS);
    uint32_t at = reserve_node<WORDS>(s, &top, node.room);
    if (bins == NO_PLACE || at == NO_PLACE)
        return;
    mask_list<WORDS> list = list_of<WORDS>(s, at, node.room);
    for (uint32_t from = 0; from < c.listed; from += WARP) {
        uint32_t k = from + s.lane, place = k < c.listed ? c.at[k] : c.at[from];
        const uint32_t *row = c.parent->row + place / 32;
        window_mask<WORDS> mask = {};
        SYN_UNROLL(half, 2 * WORDS)
            if (half * 32 < c.windows)
                mask.set_half(half, gather_bits(c, row, half * 32, place % 32));
        add_items(s, list, k < c.listed, mask, c.parent->item[place], c.windows, &node);
    }
    uint32_t *bin = s.words_at(bins);
    if (s.job.checked)
        fill_bins(s, c, bin);
    __syncwarp();
    if (!s.visit(node.size, node.units, c.windows, [&] { return bin; }) ||
        !s.leads_on(node.size, node.units, c.windows, node.reach))
        return;
    if (s.lane == 0) {
        *(mask_node *) s.words_at(at) = node;
        s.my->bin = bin;
        s.my->mask_words = WORDS;
        s.my->deepest = at;
        s.my->top = top;
    }
    __syncwarp();
}

/* Counts the windows that have each item of the list; those in all of them join the set
   instead. */
__device__ inline void count_items(const searcher &s, wide_prospect *c, uint32_t *count)
{
    uint32_t kept = 0;
    for (uint32_t from = 0; from < c->listed; from += WARP) {
        uint32_t k = from + s.lane, at = k < c->listed ? c->at[k] : c->at[from], n = 0;
        const uint32_t *row = c->parent->row + at / 32;
#pragma unroll 1
        for (uint32_t i = 0; i < c->windows; i++)
            n += row[(size_t) c->index[i] * c->parent->words] >> at % 32 & 1;
        uint32_t full = __ballot_sync(WHOLE_WARP, k < c->listed && n == c->windows);
        bool stays = k < c->listed && n < c->windows;
        uint32_t to = place_for(stays, &kept);
        __syncwarp();
        if (stays) {
            c->at[to] = at;
            count[to] = n;
        }
        s.join(full, c->parent->item[at], &c->size, &c->units);
        __syncwarp();
    }
    c->listed = kept;
}

/* Meets the child, and makes it the next wide node if anything is below it; without room
   the surrogate is given up. */
__device__ inline void make_wide(const searcher &s, wide_prospect c, room_top top)
{
    warp_state *my = s.my;
    uint64_t words = (c.listed + 31) / 32;
    uint32_t fixed = s.reserve_far(&top, c.windows + 2ull * c.listed);
    uint32_t rows = s.reserve_far(&top, words * c.windows);
    if (fixed == NO_PLACE || rows == NO_PLACE)
        return;
    uint32_t *bin = s.words_at(fixed), *item = bin + c.windows, *count = item + c.listed;
    uint32_t *row = s.words_at(rows);
    fill_bins(s, c, bin);
    count_items(s, &c, count);
    if (!s.visit(c.size, c.units, c.windows, [&] { return bin; }) ||
        !s.leads_on(c.size, c.units, c.windows, c.reach))
        return;
    if (my->wides == SPECTRUM_WIDE) {
        s.fail();
        return;
    }
    words = (c.listed + 31) / 32;
    for (uint32_t k = s.lane; k < c.listed; k += WARP)
        item[k] = c.parent->item[c.at[k]];
    for (uint32_t i = 0; i < c.windows; i++)
        make_row(s, c, i, words, row + i * words);
    wide_node node = {row, bin, item, count};
    node.windows = c.windows;
    node.words = words;
    node.listed = node.end = c.listed;
    node.size = c.size;
    node.units = c.units;
    node.reach = c.reach;
    node.mark = my->top;
    __syncwarp();
    if (s.lane == 0) {
        my->wide[my->wides] = node;
        my->wides++;
        my->top = top;
    }
    __syncwarp();
}

/* Looks whether anything can come of the child of the last wide node with its item `j`,
   in `windows` of its windows, and if so makes it. */
template <int WORDS>
__device__ inline void wide_child(const searcher &s, uint32_t j, uint32_t windows,
                                  uint32_t reach, bool sets_duration)
{
    const uint32_t *least = s.my->least;
    room_top top = s.my->top;
    wide_prospect c = {};
    c.parent = &s.my->wide[s.my->wides - 1];
    c.item = j;
    c.windows = windows;
    c.begin = sets_duration ? 0 : j / 32;
    c.size = c.parent->size + 1;
    c.units = s.add_unit(c.parent->units, c.parent->item[j]);
    c.reach = reach;
    c.sets_duration = sets_duration;
    uint32_t index = s.reserve(&top, windows + ROWS_AHEAD);
    uint32_t often = s.reserve(&top, c.parent->words);
    if (index == NO_PLACE || often == NO_PLACE)
        return;
    c.index = s.words_at(index);
    c.often = s.words_at(often);
    list_rows(s, c);
    while (windows > least[c.reach]) {
        uint32_t enough = least[c.reach];
        c.listed = mark_items<WORDS>(s, c);
        uint32_t most = c.size + c.listed;
        c.reach = most < c.reach ? most : c.reach;
        if (least[c.reach] == enough)
            break;
    }
    if (windows <= least[c.reach] || c.reach < s.needed(c.size, c.units))
        return;
    uint32_t at = s.reserve(&top, c.listed);
    if (at == NO_PLACE)
        return;
    c.at = s.words_at(at);
    list_marked(s, c);
    if constexpr (WORDS > 0)
        make_masks<WORDS>(s, c, top);
    else if (windows > 64 * MASK_WORDS)
        make_wide(s, c, top);
    else
        with_number<1, 2, MASK_WORDS>((windows + 63) / 64, [&](auto words) {
            make_masks<decltype(words)::value>(s, c, top);
        });
}

/* Whether a child of a root with so many windows is searched with masks of so many words;
   with 0, that it has too many for masks. */
template <int WORDS> __device__ inline bool is_for(uint32_t windows)
{
    if (WORDS == 0)
        return windows > 64 * MASK_WORDS;
    if (WORDS == 1)
        return windows <= 64;
    return WORDS == 2 ? windows > 64 && windows < 128
                      : windows >= 128 && windows <= 64 * MASK_WORDS;
}

/* One step: the next child of the last wide node, or its end. */
template <int WORDS> __device__ inline void step_wide(const searcher &s)
{
    warp_state *my = s.my;
    wide_node *node = &my->wide[my->wides - 1];
    uint32_t j = node->next, end = node->end;
    room_top mark = node->mark;
    __syncwarp();
    if (j >= end) {
        if (s.lane == 0) {
            my->wides--;
            my->top = mark;
        }
        __syncwarp();
        return;
    }
    uint32_t windows = node->count[j];
    bool mine = my->wides > 1 || is_for<WORDS>(windows);
    bool sets_duration = s.job.durations > 1 && my->wides == 1;
    if (s.lane == 0) {
        node->next = j + 1;
        if (sets_duration)
            my->duration = node->item[j] & ((1u << s.job.lag_bits) - 1);
    }
    __syncwarp();
    if (!mine)
        return;
    s.refresh();
    uint32_t reach = node->size + node->listed - (sets_duration ? 0 : j);
    reach = reach < node->reach ? reach : node->reach;
    if (windows > my->least[reach] && reach >= s.needed(node->size, node->units))
        wide_child<WORDS>(s, j, windows, reach, sets_duration);
}

/* ---- tasks ---- */

/* The root {unit}, which has no windows of its own to be checked against others, is met
   once. */
__device__ inline void begin_root(const searcher &s, uint32_t root, uint32_t part,
                                  bool met)
{
    const spectrum_task &task = s.job;
    const spectrum_batch &batch = s.batch;
    warp_state *my = s.my;
    size_t k = (size_t) my->surrogate * task.units + root;
    uint32_t first = task.plan.trains.first[task.unit[root]];
    size_t event = (size_t) my->surrogate * task.events + first;
    wide_node node;
    node.row = batch.row + event * task.row_words;
    node.bin = batch.bin + event;
    node.item = batch.item + k * task.row_words * 32;
    node.count = batch.count + k * task.row_words * 32;
    node.windows = batch.windows[k];
    node.listed = batch.listed[k];
    node.words = (node.listed + 31) / 32;
    node.size = 1;
    node.units = s.add_unit(0, root << task.lag_bits);
    node.reach = node.listed + 1 < task.most ? node.listed + 1 : task.most;
    node.next = part * SPECTRUM_TOGETHER;
    node.end = node.next + SPECTRUM_TOGETHER;
    node.end = node.end < node.listed ? node.end : node.listed;
    node.mark = {0, 0};
    if (s.lane == 0) {
        my->wide[0] = node;
        my->wides = 1;
        my->mask_words = 0;
        my->top = {0, 0};
        my->duration = 0;
    }
    __syncwarp();
    if (!met)
        return;
    s.refresh();
    const uint32_t *bin = node.bin;
    s.visit(1, node.units, node.windows, [&] { return bin; });
}

/* Takes the next task that has anything for the search with such masks; false when
   there are no more. The root itself goes with those that have too many windows for
   masks. Roots with most windows come first, so that all warps end at about the same
   time. */
template <int WORDS>
__device__ inline bool take_task(const searcher &s)
{
    const spectrum_task &task = s.job;
    uint32_t place = s.my->place;
    for (;;) {
        unsigned long long t = add_by_warp(s.queue.next, 1ull);
        if (t >= s.queue.first[task.units])
            return false;
        while (t >= s.queue.first[place + 1])
            place++;
        uint64_t within = t - s.queue.first[place];
        uint32_t parts = (uint32_t) (s.queue.first[place + 1] - s.queue.first[place]) /
                         s.batch.n;
        uint32_t surrogate = (uint32_t) (within / parts), root = task.units - 1 - place;
        uint32_t part = (uint32_t) (within % parts);
        size_t k = (size_t) surrogate * task.units + root;
        /* Another warp may be giving the surrogate up: all lanes must hear the same. */
        uint32_t j = part * SPECTRUM_TOGETHER + s.lane;
        bool mine = s.lane < SPECTRUM_TOGETHER && j < s.batch.listed[k] &&
                    is_for<WORDS>(s.batch.count[k * task.row_words * 32 + j]);
        bool itself = WORDS == 0 && part == 0 && s.batch.windows[k] >= task.min_count;
        if (!__any_sync(WHOLE_WARP, mine || itself) ||
            __any_sync(WHOLE_WARP, s.batch.failed[surrogate]))
            continue;
        __syncwarp();
        if (s.lane == 0) {
            s.my->surrogate = surrogate;
            s.my->place = place;
        }
        __syncwarp();
        begin_root(s, root, part, WORDS == 0 && part == 0);
        return true;
    }
}

template <int WORDS>
__global__ void __launch_bounds__(TREE_WARPS *WARP,
                                  WORDS == 0 ? SPECTRUM_BLOCKS : MASK_BLOCKS)
    search_maxima(SYN_GPU_JOB spectrum_task task,
                  SYN_GPU_JOB spectrum_batch batch, SYN_GPU_JOB spectrum_queue queue)
{
    extern __shared__ uint64_t spectrum_shared[];
    const long long begun = clock64();
    searcher s(task, batch, queue, spectrum_shared);
    warp_state *my = s.my;
    bool more = true;
    while (more) {
        if (my->mask_words > 0)
            search_masks<WORDS>(s);
        else if (my->wides > 0)
            step_wide<WORDS>(s);
        else
            more = take_task<WORDS>(s);
        if (s.is_late(begun))
            break;
    }
    __syncwarp();
    if (s.lane == 0) {
        if (more)
            atomicAdd(queue.busy, 1u);
        else
            my->place = 0;
    }
    s.leave();
}

/* What is found in many windows bounds the others, so it comes first. */
using search_kernel = void (*)(spectrum_task, spectrum_batch, spectrum_queue);
constexpr search_kernel SEARCHES[] = {search_maxima<0>, search_maxima<MASK_WORDS>,
                                      search_maxima<2>, search_maxima<1>};

}  // namespace gpu
