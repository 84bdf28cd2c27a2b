/* Counting all episodes in all surrogates of a batch: a warp takes (surrogate, root) and
   walks through the tree below the root, a lane a child. A node's list is made by all
   lanes, each a part of its parent's, when the walk comes to it: only the lists from the
   root down to it are there at a time, and none is longer than its unit has events.

   For R surrogates of N events a lane looks at each end of a prefix once for each of its
   children, some 40 instructions a warp for 32 children. Sym26 at 300 (1,094 episodes, of
   which 637 pairs; N = 49,510) takes 65,000 such steps a surrogate, and 1,000 surrogates
   2.6e9 instructions of warps, 3 ms on 132 multiprocessors that issue 4 a cycle. */
#ifndef SYN_GPU_NULL_WALK_CUH
#define SYN_GPU_NULL_WALK_CUH

#include "gpu/null/lanes.cuh"
#include "gpu/base/warp.cuh"

namespace gpu {

constexpr uint32_t NULL_WARPS = 4;  /* of a block */

/* The batch, and the memory of the warps. */
struct null_batch {
    null_tree tree;
    null_keys keys;
    uint32_t n;                /* surrogates */
    const uint64_t *key;       /* [n][events] */
    const uint32_t *by_unit;   /* [n][events] */
    const uint32_t *beyond;    /* [n][bounds][events] */
    uint32_t *count;           /* [n][nodes] zero before */
    uint32_t *next;            /* the next (surrogate, root) to take; zero before */
    uint32_t levels;           /* of nodes with children */
    const uint32_t *place;     /* [levels] where a level's list begins in a warp's room */
    uint32_t room;             /* ends */
    null_end *ends;            /* [warps][room] */
    const volatile int *stop;  /* set by the host */
};

__device__ inline null_line line_of(const null_batch &b, uint32_t surrogate)
{
    size_t before = (size_t) surrogate * b.keys.events;
    return {b.key + before, b.by_unit + before, b.beyond + before * b.keys.bounds};
}

__device__ inline uint32_t list_root(const null_batch &b, const null_line &line,
                                     uint32_t node, uint32_t lane, null_end *to)
{
    uint32_t begin = b.keys.first[b.tree.unit[node]];
    uint32_t n = b.keys.first[b.tree.unit[node] + 1] - begin;
    for (uint32_t i = lane; i < n; i += WARP)
        to[i] = single_end(b.keys, line, line.by_unit[begin + i]);
    return n;
}

/* Behind the list of its parent, of n ends. */
__device__ inline uint32_t list_child(const null_batch &b, const null_line &line,
                                      uint32_t node, uint32_t lane, const null_end *list,
                                      uint32_t n, null_end *to)
{
    null_edge edge = edge_to(b.tree, b.keys, line, node);
    uint32_t all, mine = count_part(edge, list, n, lane, WARP);
    uint32_t below = sum_below(mine, &all);
    write_part(edge, list, n, lane, WARP, to + below);
    return all;
}

/* Counts the children of a node whose list is there. */
__device__ inline void count_children(const null_batch &b, const null_line &line,
                                      uint32_t node, uint32_t lane, const null_end *list,
                                      uint32_t n, uint32_t *count)
{
    for (uint32_t c = b.tree.child[node] + lane; c < b.tree.child[node + 1];
         c += WARP) {
        uint32_t child = b.tree.of[c];
        count[child] = count_edge(edge_to(b.tree, b.keys, line, child), list, n);
    }
}

/* Goes through the nodes below `root`, each after its parent. `length` keeps the lengths
   of the lists on the way down, one a level. */
__device__ inline void walk_root(const null_batch &b, uint32_t surrogate, uint32_t root,
                                 uint32_t lane, null_end *ends, uint32_t *length)
{
    null_line line = line_of(b, surrogate);
    uint32_t *count = b.count + (size_t) surrogate * b.tree.nodes;
    atomicAdd(&count[root], count_single(b.keys, line, b.tree.unit[root], lane,
                                         WARP));
    for (uint32_t node = root; node < b.tree.after[root];) {
        if (b.tree.child[node] == b.tree.child[node + 1]) {
            node++;
            continue;
        }
        uint32_t level = b.tree.level[node], n;
        null_end *list = ends + b.place[level];
        n = level == 0 ? list_root(b, line, node, lane, list)
                       : list_child(b, line, node, lane, ends + b.place[level - 1],
                                    length[level - 1], list);
        __syncwarp();
        if (lane == 0)
            length[level] = n;
        if (n > 0)
            count_children(b, line, node, lane, list, n, count);
        __syncwarp();
        node = n > 0 ? node + 1 : b.tree.after[node];
    }
}

/* `lengths` is [warps][levels + 1]. */
__global__ void __launch_bounds__(WARP * NULL_WARPS)
count_null(null_batch b, uint32_t *lengths)
{
    uint32_t lane = threadIdx.x % WARP;
    uint32_t warp = blockIdx.x * NULL_WARPS + threadIdx.x / WARP;
    null_end *ends = b.ends + (size_t) warp * b.room;
    uint32_t *length = lengths + (size_t) warp * (b.levels + 1);
    for (;;) {
        /* One lane asks, so that all hear the same. */
        uint32_t item = UINT32_MAX;
        if (lane == 0 && !*b.stop)
            item = atomicAdd(b.next, 1);
        item = __shfl_sync(0xffffffffu, item, 0);
        if (item >= b.n * b.tree.roots)
            return;
        walk_root(b, item / b.tree.roots, b.tree.root[item % b.tree.roots], lane, ends,
                  length);
    }
}

/* count[s][i] = that of the node of episode i. */
__global__ void gather_null(const uint32_t *of_node, uint32_t nodes, const uint32_t *node,
                            size_t episodes, size_t cells, uint32_t *count)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += step)
        count[i] = of_node[i / episodes * nodes + node[i % episodes]];
}

}  // namespace gpu

#endif
