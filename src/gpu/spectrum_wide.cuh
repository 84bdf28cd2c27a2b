/* The search below wide nodes. Children of a root have their items counted row by row;
   below, children are screened 32 at a time. */
#ifndef SYN_GPU_SPECTRUM_WIDE_CUH
#define SYN_GPU_SPECTRUM_WIDE_CUH

#include "gpu/spectrum_node.cuh"

namespace gpu {

/* A child in the making: its windows among the parent's, and the items that may be added
   to it, by where they stand in the parent's list. */
struct child_list {
    uint32_t *index;          /* [windows] */
    uint32_t *at, *count;     /* [listed] */
    uint32_t windows, listed;
};

/* Words from the arena, on whole 8 bytes; NULL when there are no more. */
__device__ inline uint32_t *take_words(const searcher &s, uint32_t *top, uint64_t words)
{
    words = (words + 1) / 2 * 2;
    if (words > s.room - *top)
        return nullptr;
    uint32_t *out = s.arena + *top;
    *top += (uint32_t) words;
    return out;
}

/* Fills index[] with the parent's windows that have item `j`. */
__device__ inline void list_rows(const searcher &s, const wide_node &parent, uint32_t j,
                                 uint32_t *index)
{
    uint32_t n = 0;
    for (uint32_t from = 0; from < parent.windows; from += SPECTRUM_WARP) {
        uint32_t i = from + s.lane, there = 0;
        if (i < parent.windows)
            there = parent.has(i, j);
        uint32_t found = __ballot_sync(WHOLE_WARP, there);
        if (there)
            index[n + __popc(found & lanes_below())] = i;
        n += __popc(found);
    }
    __syncwarp();
}

/* The rows of a root, and how its children are listed. */
struct row_source {
    const uint32_t *row;
    uint32_t words;
    const uint32_t *item;     /* NULL unless the first item added sets the duration */
    uint32_t lags;            /* the bits of an item that are its lag */
};

/* The items of a word that go with item `j`, where it sets the duration: those with
   smaller lags, and of those with the same lag the later ones. */
__device__ inline uint32_t within_duration(const row_source &from, uint32_t j,
                                           uint32_t word, uint32_t often)
{
    uint32_t lag = from.item[j] & from.lags, kept = 0;
    for (; often; often &= often - 1) {
        uint32_t at = word * 32 + __ffs(often) - 1, other = from.item[at] & from.lags;
        if (other < lag || (other == lag && at > j))
            kept |= often & (0 - often);
    }
    return kept;
}

/* Lists the items of a root after `j` that are in more than `least` of the child's
   windows; of all but `j` when it sets the duration. Returns how many. Not inlined:
   the rarer kinds have many counters, and nothing else should make room for them. */
template <int PLANES>
__device__ __noinline__ uint32_t list_often(row_source from, uint32_t j, uint32_t least,
                                            const uint32_t *index, uint32_t n,
                                            uint32_t *at, uint32_t *count)
{
    uint32_t listed = 0, words = from.words, lane = threadIdx.x % SPECTRUM_WARP;
    for (uint32_t w = from.item ? 0 : j / 32; w < words; w += SPECTRUM_WARP) {
        uint32_t word = w + lane, often = 0, all;
        bit_counters<PLANES> sum;
        if (word < words) {
            const uint32_t *row = from.row + word;
            sum.clear();
            uint32_t i = 0;
            for (; i + 4 <= n; i += 4)
                sum.add_four(row[(size_t) index[i] * words],
                             row[(size_t) index[i + 1] * words],
                             row[(size_t) index[i + 2] * words],
                             row[(size_t) index[i + 3] * words]);
            for (; i < n; i++)
                sum.add(row[(size_t) index[i] * words]);
            often = sum.above(least);
            if (from.item)
                often = within_duration(from, j, word, often);
            else if (word == j / 32)
                often &= ~1u << j % 32;
        }
        uint32_t k = listed + sum_before(__popc(often), &all);
        for (; often; often &= often - 1, k++) {
            uint32_t bit = __ffs(often) - 1;
            at[k] = word * 32 + bit;
            count[k] = sum.at(bit);
        }
        listed += all;
    }
    __syncwarp();
    return listed;
}

/* The same below a root, where items have masks. */
__device__ inline void list_shared(const searcher &s, const wide_node &parent, uint32_t j,
                                   uint32_t least, child_list *child)
{
    uint32_t listed = 0;
    for (uint32_t from = j / 32 * 32; from < parent.listed; from += SPECTRUM_WARP) {
        uint32_t k = from + s.lane, shared = 0;
        if (k > j && k < parent.listed)
            for (uint32_t w = 0; w < parent.words; w++) {
                const uint32_t *mask = parent.bits + (size_t) w * parent.stride;
                shared += __popc(mask[k] & mask[j]);
            }
        uint32_t often = __ballot_sync(WHOLE_WARP, shared > least);
        if (often >> s.lane & 1) {
            uint32_t to = listed + __popc(often & lanes_below());
            child->at[to] = k;
            child->count[to] = shared;
        }
        listed += __popc(often);
    }
    child->listed = listed;
    __syncwarp();
}

__device__ inline void list_child(const searcher &s, const wide_node &parent, uint32_t j,
                                  bool sets_duration, uint32_t least, child_list *child)
{
    if (parent.stride > 0) {
        list_shared(s, parent, j, least, child);
        return;
    }
    row_source from = {parent.bits, parent.words, sets_duration ? parent.item : nullptr,
                       (1u << s.task.lag_bits) - 1};
    uint32_t n = child->windows, *at = child->at, *count = child->count;
    if (n < 1u << 7)
        child->listed = list_often<7>(from, j, least, child->index, n, at, count);
    else if (n < 1u << 12)
        child->listed = list_often<12>(from, j, least, child->index, n, at, count);
    else
        child->listed = list_often<31>(from, j, least, child->index, n, at, count);
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

/* Gives each lane the child's windows with its item. */
__device__ inline void make_small(const searcher &s, const wide_node &parent,
                                  const child_list &child, small_node node)
{
    uint64_t mine = 0;
    uint32_t item = 0;
    if (s.lane < child.listed) {
        uint32_t at = child.at[s.lane];
        item = parent.item[at];
        for (uint32_t i = 0; i < child.windows; i++)
            mine |= (uint64_t) parent.has(child.index[i], at) << i;
    }
    node.todo = screen_small(s, mine, node);
    s.my->mask[s.lane] = mine;
    s.my->item[s.lane] = item;
    if (s.lane == 0) {
        s.my->small[0] = node;
        s.my->smalls = node.todo ? 1 : 0;
    }
    __syncwarp();
}

/* Fills the masks of the child's items. */
__device__ inline void make_masks(const searcher &s, const wide_node &parent,
                                  const child_list &child, uint32_t stride,
                                  uint32_t *mask)
{
    for (uint32_t k = s.lane; k < child.listed; k += SPECTRUM_WARP) {
        uint32_t at = child.at[k];
        for (uint32_t from = 0; from < child.windows; from += 32) {
            uint32_t word = 0, n = child.windows - from < 32 ? child.windows - from : 32;
            for (uint32_t i = 0; i < n; i++)
                word |= parent.has(child.index[from + i], at) << i;
            mask[(size_t) (from / 32) * stride + k] = word;
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
    node.words = (child.windows + 31) / 32;
    node.stride = (child.listed + 31) / 32 * 32;
    node.next = node.todo = 0;
    uint32_t *bin = take_words(s, &top, node.windows);
    uint32_t *item = bin ? take_words(s, &top, node.listed) : nullptr;
    uint32_t *count = item ? take_words(s, &top, node.listed) : nullptr;
    uint32_t *mask =
        count ? take_words(s, &top, (uint64_t) node.words * node.stride) : nullptr;
    if (!mask || my->wides == SPECTRUM_WIDE) {
        s.fail();
        return;
    }
    for (uint32_t i = s.lane; i < node.windows; i += SPECTRUM_WARP)
        bin[i] = parent.bin[child.index[i]];
    for (uint32_t k = s.lane; k < node.listed; k += SPECTRUM_WARP) {
        item[k] = parent.item[child.at[k]];
        count[k] = child.count[k];
    }
    make_masks(s, parent, child, node.stride, mask);
    node.bin = bin;
    node.item = item;
    node.count = count;
    node.bits = mask;
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
    child_list child = {my->index, my->at, my->count, windows, 0};
    if (windows > 64)
        child.index = take_words(s, &top, windows);
    uint32_t most = parent.listed - (sets_duration ? 0 : j);
    if (most > SPECTRUM_FEW) {
        child.at = take_words(s, &top, most);
        child.count = child.at ? take_words(s, &top, most) : nullptr;
    }
    if (!child.index || !child.count) {
        s.fail();
        return;
    }
    list_rows(s, parent, j, child.index);
    list_child(s, parent, j, sets_duration, my->least[reach], &child);
    drop_items(s, parent, my->least[reach], &child, &size, &units);
    s.visit(size, units, {parent.bin, child.index, 0, windows});
    for (;;) {
        most = size + child.listed;
        if (most >= reach)
            break;
        reach = most;
        if (reach <= size)
            return;
        drop_items(s, parent, my->least[reach], &child, &size, &units);
    }
    if (reach <= size || windows <= my->least[reach] || reach < s.needed(size, units))
        return;
    if (child.listed <= SPECTRUM_WARP && windows <= 64) {
        uint64_t all = windows == 64 ? ~(uint64_t) 0 : ((uint64_t) 1 << windows) - 1;
        uint32_t open = child.listed == 32 ? ~0u : (1u << child.listed) - 1;
        make_small(s, parent, child, {all, open, 0, size, units, reach});
        return;
    }
    wide_node node = {};
    node.size = size;
    node.units = units;
    node.reach = reach;
    make_wide(s, parent, child, top, node);
}

/* The children among the 32 from `from` on that may lead to something: each lane counts,
   for its own, the later items that share enough windows with it. */
__device__ inline uint32_t screen_wide(const searcher &s, const wide_node &node,
                                       uint32_t from)
{
    uint32_t j = from + s.lane, n = 0, last = node.listed - 1;
    bool there = j <= last;
    uint32_t me = there ? j : last, reach = node.size + 1 + last - me;
    uint32_t least = s.my->least[reach < node.reach ? reach : node.reach];
    for (uint32_t k = from + 1; k <= last; k++) {
        uint32_t shared = 0;
        for (uint32_t w = 0; w < node.words; w++) {
            const uint32_t *mask = node.bits + (size_t) w * node.stride;
            shared += __popc(mask[me] & mask[k]);
        }
        n += k > me && shared > least;
    }
    return __ballot_sync(WHOLE_WARP, there && s.matters(node, node.count[me], n));
}

/* Ends the last wide node. */
__device__ inline void end_wide(const searcher &s)
{
    uint32_t mark = s.my->wide[s.my->wides - 1].mark;
    __syncwarp();
    if (s.lane == 0) {
        s.my->wides--;
        s.my->top = mark;
    }
    __syncwarp();
}

/* One step below a root: the next child of the last wide node, or which of the next 32
   are worth a visit, or the node's end. */
__device__ inline void step_wide(const searcher &s)
{
    warp_state *my = s.my;
    wide_node *node = &my->wide[my->wides - 1];
    uint32_t todo = node->todo, next = node->next;
    if (!todo && next >= node->end) {
        end_wide(s);
        return;
    }
    s.refresh();
    if (!todo) {
        todo = screen_wide(s, *node, next);
        __syncwarp();
        if (s.lane == 0) {
            node->todo = todo;
            node->next = next + SPECTRUM_WARP;
        }
        __syncwarp();
        return;
    }
    uint32_t j = next - SPECTRUM_WARP + __ffs(todo) - 1;
    __syncwarp();
    if (s.lane == 0) {
        node->todo = todo & (todo - 1);
        my->sets++;
    }
    __syncwarp();
    uint32_t windows = node->count[j], reach = node->size + node->listed - j;
    reach = reach < node->reach ? reach : node->reach;
    if (windows > my->least[reach])
        wide_child(s, j, windows, reach, false);
}

/* One step at a root: its next child, or its end. */
__device__ inline void step_root(const searcher &s)
{
    warp_state *my = s.my;
    wide_node *node = &my->wide[0];
    uint32_t j = node->next;
    bool sets_duration = s.task.durations > 1;
    if (j >= node->end) {
        end_wide(s);
        return;
    }
    __syncwarp();
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
