/* The search below small nodes: all of it in registers, but for the way back. */
#ifndef SYN_GPU_SPECTRUM_SMALL_CUH
#define SYN_GPU_SPECTRUM_SMALL_CUH

#include "gpu/spectrum_node.cuh"

namespace gpu {

enum { SMALL_STEPS = 4096 };  /* between two looks at the clock */

/* The lanes whose items may lead to something: each counts the later ones that share
   enough windows with its own, all at once. */
__device__ inline uint32_t screen_small(const searcher &s, uint64_t mine,
                                        const small_node &at)
{
    uint32_t after = at.open & ~((2u << s.lane) - 1), n = 0;
    uint32_t reach = at.size + 1 + __popc(after);
    uint32_t least = s.my->least[reach < at.reach ? reach : at.reach];
    mine &= at.windows;
    for (uint32_t left = at.open & (at.open - 1); left; left &= left - 1) {
        uint32_t k = __ffs(left) - 1;
        uint64_t other = __shfl_sync(WHOLE_WARP, mine, k);
        n += k > s.lane && (uint32_t) __popcll(mine & other) > least;
    }
    bool is_open = at.open >> s.lane & 1;
    return __ballot_sync(WHOLE_WARP, is_open && s.matters(at, __popcll(mine), n));
}

/* Meets the child of `at` with the item of lane `t`, and makes its node; false when there
   is nothing below it. */
__device__ inline bool small_child(const searcher &s, const small_node &at, uint64_t mine,
                                   uint32_t t, small_node *child)
{
    const spectrum_task &task = s.task;
    uint64_t set = __shfl_sync(WHOLE_WARP, mine, t) & at.windows;
    uint32_t n = __popcll(set), open = at.open & ~((2u << t) - 1);
    if (!s.matters(at, n, __popc(open)))
        return false;
    uint32_t count = __popcll(mine & set);
    bool is_open = open >> s.lane & 1;
    uint32_t full = __ballot_sync(WHOLE_WARP, is_open && count == n);
    uint32_t size = at.size + 1, units = s.add_unit(at.units, s.my->item[t]);
    if (s.needed(size, units) > task.most)
        return false;
    size += __popc(full);
    for (uint32_t left = units < task.min_units ? full : 0; left; left &= left - 1)
        units = s.add_unit(units, s.my->item[__ffs(left) - 1]);
    const uint32_t *bin = s.my->wide[s.my->wides - 1].bin;
    s.visit(size, units, {bin, s.my->index, set, n});
    open &= ~full;
    is_open = open >> s.lane & 1;
    uint32_t most = size + __popc(open), lanes = 0;
    uint32_t reach = most < at.reach ? most : at.reach;
    while (reach > size) {
        lanes = __ballot_sync(WHOLE_WARP, is_open && count > s.my->least[reach]);
        most = size + __popc(lanes);
        if (most >= reach)
            break;
        reach = most;
    }
    if (reach <= size || n <= s.my->least[reach] || reach < s.needed(size, units))
        return false;
    *child = {set, lanes, 0, size, units, reach};
    child->todo = screen_small(s, mine, *child);
    return child->todo != 0;
}

/* Goes on until all is done, or for some time. */
__device__ inline void search_small(const searcher &s)
{
    warp_state *my = s.my;
    uint32_t depth = my->smalls - 1;
    uint64_t mine = my->mask[s.lane];
    small_node at = my->small[depth], child;
    uint32_t steps = 0;
    while (steps < SMALL_STEPS) {
        if (!at.todo) {
            if (depth == 0)
                break;
            at = my->small[--depth];
            continue;
        }
        steps++;
        uint32_t t = __ffs(at.todo) - 1;
        at.todo &= at.todo - 1;
        if (!small_child(s, at, mine, t, &child))
            continue;
        if (at.todo) {  /* else there is nothing to come back to */
            if (s.lane == 0)
                my->small[depth] = at;
            __syncwarp();
            depth++;
        }
        at = child;
    }
    __syncwarp();
    if (s.lane == 0) {
        my->small[depth] = at;
        my->smalls = depth > 0 || at.todo ? depth + 1 : 0;
        my->sets += steps;
    }
    __syncwarp();
}

}  // namespace gpu

#endif
