/* Work that warps give away once there are no more tasks: what is left of a node's open
   items. Who takes it makes the node again. */
#ifndef SYN_GPU_PATTERNS_SHARE_CUH
#define SYN_GPU_PATTERNS_SHARE_CUH

#include "gpu/patterns/children.cuh"

namespace gpu {

enum {
    SHARE_DEPTH = 10,   /* nodes below a child of a root that can be made again */
    SHARE_PIECES = 32   /* that what is given away is cut into */
};

/* Open items of a node, or children of a root, that are to be looked at. */
struct pattern_share {
    uint32_t root, child;       /* the root in the batch, and the index of its child */
    uint32_t depth;             /* nodes from that child's on; 0 for the root itself */
    uint32_t index[SHARE_DEPTH]; /* [depth - 1] of the items they added */
    uint32_t from, until, step; /* a piece has so many of them */
    uint32_t pieces;
    uint32_t stream;            /* of the first piece; the others' follow */
    uint32_t taken;             /* pieces */
    uint32_t ready;             /* whether all this is written */
};

/* The queue, and where warps keep what they have under way. */
struct pattern_queue {
    unsigned long long *next;  /* task to be taken */
    pattern_warp *state;       /* [warps] */
    uint32_t *arena;           /* [warps][room] */
    uint32_t room;
    uint32_t shares;           /* that there is room for */
    pattern_share *share;      /* [shares] */
    uint32_t *first, *end;     /* those that may have pieces left */
    uint32_t *active;          /* warps that have a task, and so may give some away; one
                                  that has just taken it may not be counted yet */
    long long cycles;          /* a launch goes on for */
};

__device__ inline uint32_t look_at(const uint32_t *what)
{
    return *(const volatile uint32_t *) what;
}

__device__ inline uint64_t tasks_of(const pattern_batch &batch)
{
    return (uint64_t) batch.roots * batch.parts;
}

__device__ inline uint32_t shares_end(const pattern_queue &queue)
{
    uint32_t end = look_at(queue.end);
    return end < queue.shares ? end : queue.shares;
}

/* ---- giving ---- */

/* Streams for `pieces` of what is left after the stream at hand, and one for what comes
   after them; the first, or NO_PLACE where there are no more. For lane 0. */
__device__ inline uint32_t take_streams(const pattern_search &s, uint32_t pieces)
{
    const pattern_batch &batch = s.batch;
    uint32_t first = atomicAdd(batch.used + USED_STREAMS, pieces + 1);
    if (first > batch.streams || batch.streams - first < pieces + 1)
        return NO_PLACE;
    for (uint32_t k = 0; k < pieces; k++)
        batch.after[first + k] = first + k + 1;
    volatile uint32_t *after = batch.after;
    after[first + pieces] = after[s.my->stream];
    after[s.my->stream] = first;
    return first;
}

/* Gives open items away: returns the stream for what comes after them, or NO_PLACE where
   there is no room for more shares. For lane 0. */
__device__ inline uint32_t give(const pattern_search &s, const pattern_queue &queue,
                                pattern_share share)
{
    uint32_t n = share.until - share.from;
    share.step = (n + SHARE_PIECES - 1) / SHARE_PIECES;
    share.pieces = (n + share.step - 1) / share.step;
    uint32_t at = atomicAdd(queue.end, 1u);
    if (at >= queue.shares)
        return NO_PLACE;
    share.stream = take_streams(s, share.pieces);
    bool there = share.stream != NO_PLACE;
    if (!there)
        share.pieces = 0;  /* nothing to take */
    share.taken = share.ready = 0;
    queue.share[at] = share;
    __threadfence();
    *(volatile uint32_t *) &queue.share[at].ready = 1;
    return there ? share.stream + share.pieces : NO_PLACE;
}

/* The first node from the child of the root on that has open items left and has passed
   its own set; how many nodes there are down to it. For lane 0. */
__device__ inline pattern_node *node_to_share(const pattern_search &s, uint32_t *depth)
{
    pattern_node *found = nullptr;
    uint32_t below = 0, n = 0;
    for (uint32_t at = s.my->deepest; at != NO_PLACE; n++) {
        pattern_node *node = (pattern_node *) s.words_at(at);
        if (node->passed && (node->alive || node->next < node->until)) {
            found = node;
            below = n;
        }
        at = node->before;
    }
    *depth = n - below;
    return found;
}

/* Gives away what is left of a node, or of the task's children of the root. For
   lane 0. */
__device__ inline void give_some(const pattern_search &s, const pattern_queue &queue)
{
    pattern_warp *my = s.my;
    pattern_share share = {};
    share.root = my->root;
    share.child = my->child;
    if (my->root_at == NO_PLACE && my->next < my->end) {
        share.from = my->next;
        share.until = my->end;
        if (give(s, queue, share) != NO_PLACE)
            my->end = my->next;
        return;
    }
    pattern_node *node = node_to_share(s, &share.depth);
    if (!node || share.depth > SHARE_DEPTH)
        return;
    share.from = node->alive ? node->base + __ffs(node->alive) - 1 : node->next;
    share.until = node->until;
    pattern_node *up = node;
    for (uint32_t k = share.depth - 1; k > 0; k--) {
        share.index[k - 1] = up->index;
        up = (pattern_node *) s.words_at(up->before);
    }
    uint32_t after = give(s, queue, share);
    if (after == NO_PLACE)
        return;
    /* Where it was shared before, what comes after its end has a stream already, which
       follows this one. */
    if (node->stream == NO_PLACE)
        node->stream = after;
    node->alive = 0;
    node->next = node->until;
}

/* Whether other warps wait for something to take, and there is nothing. */
__device__ inline bool others_wait(const pattern_search &s, const pattern_queue &queue)
{
    if (*(const volatile unsigned long long *) queue.next < tasks_of(s.batch) ||
        look_at(queue.active) >= gridDim.x * PATTERN_WARPS)
        return false;
    return look_at(queue.first) >= shares_end(queue);
}

/* ---- taking ---- */

/* A piece of a share, which is copied past the near cache, as another multiprocessor may
   just have written it: false where there is none. */
__device__ inline bool take_piece(const pattern_search &s, const pattern_queue &queue,
                                  pattern_share *share, uint32_t *piece)
{
    uint32_t at = NO_PLACE, k = 0;
    while (s.lane == 0) {
        uint32_t first = look_at(queue.first);
        if (first >= shares_end(queue) || !look_at(&queue.share[first].ready))
            break;
        __threadfence();
        k = atomicAdd(&queue.share[first].taken, 1u);
        if (k < look_at(&queue.share[first].pieces)) {
            at = first;
            break;
        }
        atomicCAS(queue.first, first, first + 1);
    }
    at = __shfl_sync(WHOLE_WARP, at, 0);
    *piece = __shfl_sync(WHOLE_WARP, k, 0);
    if (at == NO_PLACE)
        return false;
    const uint32_t *from = (const uint32_t *) (queue.share + at);
    for (uint32_t w = 0; w < sizeof *share / 4; w++)
        ((uint32_t *) share)[w] = __ldcg(from + w);
    return true;
}

/* The deepest node, which was made again, has nothing left but what is below it. */
__device__ inline void close_node(const pattern_search &s, uint32_t from, uint32_t until)
{
    if (s.lane == 0) {
        pattern_node *node = (pattern_node *) s.words_at(s.my->deepest);
        node->passed = 1;
        node->next = from;
        node->until = until;
    }
    __syncwarp();
}

}  // namespace gpu

#endif
