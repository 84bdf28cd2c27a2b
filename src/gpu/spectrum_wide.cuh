/* The search below nodes with rows: a child's items are counted row by row. */
#ifndef SYN_GPU_SPECTRUM_WIDE_CUH
#define SYN_GPU_SPECTRUM_WIDE_CUH

#include "gpu/spectrum_masks.cuh"

namespace gpu {

/* A child in the making: its windows among the parent's, and the items that may be added
   to it, by where they stand in the parent's list. */
struct child_list {
    uint32_t *index, *bin;    /* [windows] which they are, and where they open */
    uint32_t *at, *count;     /* [listed] */
    uint32_t windows, listed;
};

/* Fills index[] and bin[] with the parent's windows that have item `j`. */
__device__ inline void list_rows(const searcher &s, const wide_node &parent, uint32_t j,
                                 const child_list &child)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < parent.windows; from += SPECTRUM_WARP) {
        uint32_t i = from + s.lane, there = 0;
        if (i < parent.windows)
            there = parent.row[(size_t) i * parent.words + j / 32] >> j % 32 & 1;
        uint32_t found = __ballot_sync(WHOLE_WARP, there), k = n;
        k += __popc(found & lanes_below());
        if (there) {
            child.index[k] = i;
            child.bin[k] = parent.bin[i];
        }
        n += __popc(found);
    }
    __syncwarp();
}

/* The items of a word that go with item `j`, where the first item sets the duration:
   those with smaller lags, and of those with the same lag the later ones. */
__device__ inline uint32_t within_duration(const searcher &s, const wide_node &parent,
                                           uint32_t j, uint32_t word, uint32_t often)
{
    uint32_t lags = (1u << s.task.lag_bits) - 1, lag = parent.item[j] & lags, kept = 0;
    for (; often; often &= often - 1) {
        uint32_t at = word * 32 + __ffs(often) - 1, other = parent.item[at] & lags;
        if (other < lag || (other == lag && at > j))
            kept |= often & (0 - often);
    }
    return kept;
}

/* Lists the items of the parent after `j` that are in more than `least` of the child's
   windows; of all but `j` when it sets the duration. */
template <int PLANES>
__device__ __noinline__ void list_often(const searcher &s, const wide_node &parent,
                                        uint32_t j, bool sets_duration, uint32_t least,
                                        child_list *child)
{
    uint32_t listed = 0, n = child->windows, words = parent.words;
    uint32_t begin = sets_duration ? 0 : j / 32;
    for (uint32_t from = begin; from < words; from += SPECTRUM_WARP) {
        uint32_t word = from + s.lane, often = 0, all;
        bit_counters<PLANES> sum;
        if (word < words) {
            const uint32_t *row = parent.row + word;
            sum.clear();
            uint32_t i = 0;
            for (; i + 4 <= n; i += 4)
                sum.add_four(row[(size_t) child->index[i] * words],
                             row[(size_t) child->index[i + 1] * words],
                             row[(size_t) child->index[i + 2] * words],
                             row[(size_t) child->index[i + 3] * words]);
            for (; i < n; i++)
                sum.add(row[(size_t) child->index[i] * words]);
            often = sum.above(least);
            if (sets_duration)
                often = within_duration(s, parent, j, word, often);
            else if (word == j / 32)
                often &= ~1u << j % 32;
        }
        uint32_t k = listed + sum_before(__popc(often), &all);
        for (; often; often &= often - 1, k++) {
            uint32_t bit = __ffs(often) - 1;
            child->at[k] = word * 32 + bit;
            child->count[k] = sum.at(bit);
        }
        listed += all;
    }
    child->listed = listed;
    __syncwarp();
}

__device__ inline void list_child(const searcher &s, const wide_node &parent, uint32_t j,
                                  bool sets_duration, uint32_t least, child_list *child)
{
    if (child->windows < 1u << 7)
        list_often<7>(s, parent, j, sets_duration, least, child);
    else if (child->windows < 1u << 12)
        list_often<12>(s, parent, j, sets_duration, least, child);
    else
        list_often<31>(s, parent, j, sets_duration, least, child);
}

/* Drops the items in no more than `least` windows of the child; those in all of them join
   the set instead. */
__device__ inline void drop_items(const searcher &s, const wide_node &parent,
                                  uint32_t least, child_list *child, uint32_t *size,
                                  uint32_t *units)
{
    uint32_t kept = 0;
    for (uint32_t from = 0; from < child->listed; from += SPECTRUM_WARP) {
        uint32_t k = from + s.lane;
        bool there = k < child->listed;
        uint32_t at = there ? child->at[k] : 0, count = there ? child->count[k] : 0;
        uint32_t full = __ballot_sync(WHOLE_WARP, there && count == child->windows);
        bool stays = there && count > least && count < child->windows;
        uint32_t stay = __ballot_sync(WHOLE_WARP, stays);
        *size += __popc(full);
        for (; full && *units < s.task.min_units; full &= full - 1) {
            uint32_t other = __shfl_sync(WHOLE_WARP, at, __ffs(full) - 1);
            *units = s.add_unit(*units, parent.item[other]);
        }
        if (stays) {
            uint32_t to = kept + __popc(stay & lanes_below());
            child->at[to] = at;
            child->count[to] = count;
        }
        kept += __popc(stay);
        __syncwarp();
    }
    child->listed = kept;
}

/* Makes the child a node with masks. */
template <int WORDS>
__device__ inline void make_masks(const searcher &s, const wide_node &parent,
                                  const child_list &child, uint32_t top, mask_node node)
{
    uint32_t at = top;
    if (!take_node<WORDS>(s, &top, node.room))
        return;
    mask_list<WORDS> list = list_of<WORDS>(s, at, node.room);
    for (uint32_t k = s.lane; k < child.listed; k += SPECTRUM_WARP) {
        uint32_t place = child.at[k];
        const uint32_t *row = parent.row + place / 32;
        window_mask<WORDS> mine = {};
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
#pragma unroll 4
            for (uint32_t i = w * 64; i < (w + 1) * 64 && i < child.windows; i++) {
                uint32_t word = row[(size_t) child.index[i] * parent.words];
                mine.word[w] |= (uint64_t) (word >> place % 32 & 1) << i % 64;
            }
        list.mask[k] = mine;
        list.item[k] = parent.item[place];
    }
    if (s.lane == 0)
        s.my->mask_words = WORDS;
    push_masks(s, node, at, top);
}

__device__ inline void choose_masks(const searcher &s, const wide_node &parent,
                                    const child_list &child, uint32_t top,
                                    const mask_node &node)
{
    uint32_t mark = s.my->top, *some = s.take(&top, child.windows);
    if (!some)
        return;
    __syncwarp();
    if (s.lane == 0) {
        s.my->bin = child.bin;
        s.my->some = some;
        s.my->mark = mark;
    }
    if (child.windows <= 64)
        make_masks<1>(s, parent, child, top, node);
    else if (child.windows <= 128)
        make_masks<2>(s, parent, child, top, node);
    else
        make_masks<4>(s, parent, child, top, node);
}

/* The child's row `i`, without the items that are not in its list. */
__device__ inline void make_row(const searcher &s, const wide_node &parent,
                                const child_list &child, uint32_t i, uint32_t words,
                                uint32_t *row)
{
    const uint32_t *from_row = parent.row + (size_t) child.index[i] * parent.words;
    uint32_t mine = 0;
    for (uint32_t c = 0; c < words; c++) {
        uint32_t k = c * 32 + s.lane, there = 0;
        if (k < child.listed)
            there = from_row[child.at[k] / 32] >> child.at[k] % 32 & 1;
        uint32_t word = __ballot_sync(WHOLE_WARP, there);
        mine = c % SPECTRUM_WARP == s.lane ? word : mine;
        if (c % SPECTRUM_WARP == SPECTRUM_WARP - 1 || c + 1 == words) {
            uint32_t to = c / SPECTRUM_WARP * SPECTRUM_WARP + s.lane;
            if (to <= c)
                row[to] = mine;
        }
    }
}

/* Makes the child the next wide node; without room the surrogate is given up. */
__device__ inline void make_wide(const searcher &s, const wide_node &parent,
                                 const child_list &child, uint32_t top, wide_node node)
{
    warp_state *my = s.my;
    node.windows = child.windows;
    node.listed = node.end = child.listed;
    node.words = (child.listed + 31) / 32;
    node.next = 0;
    uint32_t *item = s.take(&top, node.listed);
    uint32_t *row = item ? s.take(&top, (uint64_t) node.windows * node.words) : nullptr;
    if (!row || my->wides == SPECTRUM_WIDE) {
        s.fail();
        return;
    }
    for (uint32_t k = s.lane; k < node.listed; k += SPECTRUM_WARP)
        item[k] = parent.item[child.at[k]];
    for (uint32_t i = 0; i < node.windows; i++)
        make_row(s, parent, child, i, node.words, row + (size_t) i * node.words);
    node.bin = child.bin;
    node.item = item;
    node.count = child.count;
    node.row = row;
    node.mark = my->top;
    __syncwarp();
    if (s.lane == 0) {
        my->wide[my->wides] = node;
        my->wides++;
        my->top = top;
    }
    __syncwarp();
}

/* Meets the child of the last wide node with its item `j`, in `windows` of its windows,
   and makes its node if anything is below it. */
__device__ inline void wide_child(const searcher &s, uint32_t j, uint32_t windows,
                                  uint32_t reach, bool sets_duration)
{
    warp_state *my = s.my;
    const wide_node &parent = my->wide[my->wides - 1];
    uint32_t top = my->top;
    uint32_t size = parent.size + 1, units = s.add_unit(parent.units, parent.item[j]);
    if (s.needed(size, units) > s.task.most)
        return;
    uint32_t most = (parent.words - (sets_duration ? 0 : j / 32)) * 32;
    uint32_t *room = s.take(&top, 2 * (whole_words(windows) + most));
    if (!room)
        return;
    child_list child = {};
    child.windows = windows;
    child.index = room;
    child.bin = child.index + whole_words(windows);
    child.at = child.bin + whole_words(windows);
    child.count = child.at + most;
    list_rows(s, parent, j, child);
    list_child(s, parent, j, sets_duration, my->least[reach], &child);
    drop_items(s, parent, my->least[reach], &child, &size, &units);
    if (!s.visit(size, units, windows, [&] { return child.bin; }))
        return;
    while (size + child.listed < reach) {
        reach = size + child.listed;
        drop_items(s, parent, my->least[reach], &child, &size, &units);
    }
    if (reach <= size || windows <= my->least[reach] || reach < s.needed(size, units))
        return;
    if (windows <= MASK_WINDOWS) {
        mask_node node = {};
        node.before = NO_NODE;
        node.size = size;
        node.units = units;
        node.reach = reach;
        node.listed = node.room = child.listed;
        choose_masks(s, parent, child, top, node);
        return;
    }
    wide_node node = {};
    node.size = size;
    node.units = units;
    node.reach = reach;
    make_wide(s, parent, child, top, node);
}

/* One step: the next child of the last wide node, or its end. */
__device__ inline void step_wide(const searcher &s)
{
    warp_state *my = s.my;
    wide_node *node = &my->wide[my->wides - 1];
    uint32_t j = node->next, end = node->end, mark = node->mark;
    __syncwarp();
    if (j >= end) {
        if (s.lane == 0) {
            my->wides--;
            my->top = mark;
        }
        __syncwarp();
        return;
    }
    bool sets_duration = s.task.durations > 1 && my->wides == 1;
    if (s.lane == 0) {
        node->next = j + 1;
        my->sets++;
        if (sets_duration)
            my->duration = node->item[j] & ((1u << s.task.lag_bits) - 1);
    }
    __syncwarp();
    s.refresh();
    uint32_t windows = node->count[j];
    uint32_t reach = node->size + node->listed - (sets_duration ? 0 : j);
    reach = reach < node->reach ? reach : node->reach;
    if (windows > my->least[reach] && reach >= s.needed(node->size, node->units))
        wide_child(s, j, windows, reach, sets_duration);
}

}  // namespace gpu

#endif
