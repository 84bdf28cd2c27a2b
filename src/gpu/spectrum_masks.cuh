/* The search below sets of few windows. Each item that may be added has the windows of
   the set with it as a mask, so that a look at all pairs of items, a lane an item, tells
   which of them can lead to anything: very few. */
#ifndef SYN_GPU_SPECTRUM_MASKS_CUH
#define SYN_GPU_SPECTRUM_MASKS_CUH

#include "gpu/spectrum_node.cuh"

namespace gpu {

enum {
    MASK_WINDOWS = 256,   /* windows of sets that are searched by masks */
    MASK_STEPS = 256      /* between two looks at the clock */
};

constexpr uint32_t NO_NODE = 0xffffffffu;

template <int WORDS> struct alignas(WORDS == 1 ? 8 : 16) window_mask {
    uint64_t word[WORDS];

    __device__ uint32_t count() const
    {
        uint32_t n = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            n += __popcll(word[w]);
        return n;
    }

    __device__ window_mask operator&(const window_mask &other) const
    {
        window_mask both;
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            both.word[w] = word[w] & other.word[w];
        return both;
    }
};

/* A set of items and those that may be added; in the arena, before its list. */
struct mask_node {
    uint32_t before;          /* where the node before it is */
    uint32_t size, units, reach;
    uint32_t listed, room;    /* items there are, and that there is room for */
    uint32_t next;            /* the first item not yet looked at */
    uint32_t alive;           /* which of the 32 before that are still to be added */
};

template <int WORDS> struct mask_list {
    uint32_t *item;
    window_mask<WORDS> *mask;  /* windows of the set that have the item */
};

/* A list of `room` items after the node at `at`. */
template <int WORDS>
__device__ inline mask_list<WORDS> list_of(const searcher &s, uint32_t at, uint32_t room)
{
    uint32_t *item = s.arena + at + sizeof(mask_node) / 4;
    return {item, (window_mask<WORDS> *) (item + whole_words(room))};
}

/* Room for a node and a list; false when there is none. */
template <int WORDS>
__device__ inline bool take_node(const searcher &s, uint32_t *top, uint32_t room)
{
    uint64_t words = sizeof(mask_node) / 4 + whole_words(room) + 2ull * WORDS * room;
    return s.take(top, words) != nullptr;
}

/* Makes `node`, with its list at `at`, the deepest; the arena is taken up to `top`. */
__device__ inline void push_masks(const searcher &s, mask_node node, uint32_t at,
                                  uint32_t top)
{
    node.next = node.alive = 0;
    __syncwarp();
    if (s.lane == 0) {
        *(mask_node *) (s.arena + at) = node;
        s.my->deepest = at;
        s.my->top = top;
    }
    __syncwarp();
}

/* Of the 32 items from node.next on, which can lead to anything when they are added: so
   many of the items after them must share windows enough with them. */
template <int WORDS>
__device__ inline uint32_t look_ahead(const searcher &s, const mask_node &node,
                                      const mask_list<WORDS> &list)
{
    const uint32_t *least = s.my->least;
    uint32_t reach = node.size + node.listed - node.next, t = node.next + s.lane;
    reach = reach < node.reach ? reach : node.reach;
    uint32_t size = node.size + 1, z = s.needed(node.size, node.units);
    window_mask<WORDS> mine = list.mask[t < node.listed ? t : node.next];
    uint32_t windows = mine.count(), enough = least[reach], found = 0;
    z = z < size ? size : z;
    while (z <= reach && least[z] >= windows)
        z++;
    bool alive = t < node.listed && z <= reach;
    if (!__any_sync(WHOLE_WARP, alive))
        return 0;
#pragma unroll 4
    for (uint32_t u = node.next + 1; u < node.listed; u++)
        found += u > t && (mine & list.mask[u]).count() > enough;
    return __ballot_sync(WHOLE_WARP, alive && found >= z - size);
}

/* Drops the items in no more than `least` windows; returns how many stay. */
template <int WORDS>
__device__ inline uint32_t drop_masks(const searcher &s, const mask_list<WORDS> &list,
                                      uint32_t listed, uint32_t least)
{
    uint32_t kept = 0;
    for (uint32_t from = 0; from < listed; from += SPECTRUM_WARP) {
        uint32_t k = from + s.lane, at = k < listed ? k : from;
        window_mask<WORDS> mine = list.mask[at];
        uint32_t item = list.item[at];
        bool stays = k < listed && mine.count() > least;
        uint32_t stay = __ballot_sync(WHOLE_WARP, stays);
        __syncwarp();
        if (stays) {
            uint32_t to = kept + __popc(stay & lanes_below());
            list.mask[to] = mine;
            list.item[to] = item;
        }
        kept += __popc(stay);
        __syncwarp();
    }
    return kept;
}

/* Lists in `to` the items from `begin` on in more than `least` windows of `set`. Those in
   all of them join the child instead. */
template <int WORDS>
__device__ inline void list_shared(const searcher &s, const mask_list<WORDS> &from,
                                   uint32_t begin, uint32_t end,
                                   const window_mask<WORDS> &set, uint32_t least,
                                   const mask_list<WORDS> &to, mask_node *child)
{
    uint32_t all = set.count();
    child->listed = 0;
    for (; begin < end; begin += SPECTRUM_WARP) {
        uint32_t k = begin + s.lane, at = k < end ? k : begin;
        window_mask<WORDS> mine = from.mask[at] & set;
        uint32_t count = mine.count();
        bool stays = k < end && count > least && count < all;
        uint32_t full = __ballot_sync(WHOLE_WARP, k < end && count == all);
        uint32_t stay = __ballot_sync(WHOLE_WARP, stays);
        if (stays) {
            uint32_t place = child->listed + __popc(stay & lanes_below());
            to.mask[place] = mine;
            to.item[place] = from.item[at];
        }
        child->listed += __popc(stay);
        child->size += __popc(full);
        for (; full && child->units < s.task.min_units; full &= full - 1)
            child->units = s.add_unit(child->units, from.item[begin + __ffs(full) - 1]);
    }
    __syncwarp();
}

/* Where the windows of a set open. */
template <int WORDS>
__device__ inline const uint32_t *list_bins(const searcher &s,
                                            const window_mask<WORDS> &set)
{
    uint32_t n = 0;
#pragma unroll
    for (int half = 0; half < 2 * WORDS; half++) {
        uint32_t part = (uint32_t) (set.word[half / 2] >> half % 2 * 32);
        if (part >> s.lane & 1)
            s.my->some[n + __popc(part & lanes_below())] =
                s.my->bin[half * 32 + s.lane];
        n += __popc(part);
    }
    __syncwarp();
    return s.my->some;
}

/* Meets the child of the deepest node with its item `t`, and makes its node if anything
   is below it. */
template <int WORDS>
__device__ inline void mask_child(const searcher &s, const mask_node &node,
                                  const mask_list<WORDS> &list, uint32_t t)
{
    const uint32_t *least = s.my->least;
    window_mask<WORDS> set = list.mask[t];
    uint32_t windows = set.count(), reach = node.size + node.listed - t;
    mask_node child = {};
    child.before = s.my->deepest;
    child.size = node.size + 1;
    child.units = s.add_unit(node.units, list.item[t]);
    child.room = node.listed - t - 1;
    reach = reach < node.reach ? reach : node.reach;
    if (windows <= least[reach] || s.needed(child.size, child.units) > s.task.most)
        return;
    uint32_t at = s.my->top, top = at;
    if (!take_node<WORDS>(s, &top, child.room))
        return;
    mask_list<WORDS> to = list_of<WORDS>(s, at, child.room);
    list_shared(s, list, t + 1, node.listed, set, least[reach], to, &child);
    if (!s.visit(child.size, child.units, windows, [&] { return list_bins(s, set); }))
        return;
    while (child.size + child.listed < reach) {
        reach = child.size + child.listed;
        child.listed = drop_masks(s, to, child.listed, least[reach]);
    }
    child.reach = reach;
    if (reach > child.size && windows > least[reach] &&
        reach >= s.needed(child.size, child.units))
        push_masks(s, child, at, top);
}

/* One step: the next child of the deepest node, or a look at those that follow, or the
   end of the node. */
template <int WORDS> __device__ inline void step_masks(const searcher &s)
{
    warp_state *my = s.my;
    uint32_t at = my->deepest;
    mask_node *kept = (mask_node *) (s.arena + at);
    const mask_node node = *kept;
    mask_list<WORDS> list = list_of<WORDS>(s, at, node.room);
    __syncwarp();
    if (node.alive) {
        if (s.lane == 0)
            kept->alive = node.alive & (node.alive - 1);
        __syncwarp();
        mask_child(s, node, list, node.next - SPECTRUM_WARP + __ffs(node.alive) - 1);
    } else if (node.next < node.listed) {
        uint32_t alive = look_ahead(s, node, list), end = node.next + SPECTRUM_WARP;
        if (s.lane == 0) {
            kept->alive = alive;
            kept->next = end;
            my->sets += (end < node.listed ? end : node.listed) - node.next;
        }
    } else if (s.lane == 0) {
        my->deepest = node.before;
        my->top = at;
    }
    __syncwarp();
}

template <int WORDS> __device__ inline void step_masks_on(const searcher &s)
{
    for (int k = 0; k < MASK_STEPS && s.my->deepest != NO_NODE; k++)
        step_masks<WORDS>(s);
}

/* Goes on until all is done, or for some time. */
__device__ inline void search_masks(const searcher &s)
{
    warp_state *my = s.my;
    if (my->mask_words == 1)
        step_masks_on<1>(s);
    else if (my->mask_words == 2)
        step_masks_on<2>(s);
    else
        step_masks_on<4>(s);
    __syncwarp();
    if (s.lane == 0 && my->deepest == NO_NODE) {
        my->mask_words = 0;
        my->top = my->mark;
    }
    __syncwarp();
}

}  // namespace gpu

#endif
