/* The search for patterns: warps take tasks, some children of a root each, and what is
   not done when a launch ends goes on in the next. */
#pragma once

#include "gpu/patterns/children.cuh"

namespace gpu {

/* ---- work that warps give away ----

   There is some once there are no more tasks to take: what is left of a node's open
   items. The node is lent with it: its set and its lists, which whoever takes a piece
   copies. To make the node again from its root would take longer than most pieces do. */

enum {
    SHARE_PIECES = 32,  /* that what is given away is cut into */
    SHARE_LEAST = 6     /* items that a node is shared for: fewer are soon done */
};

__device__ inline uint32_t look_at(const uint32_t *what)
{
    return *(const volatile uint32_t *) what;
}

__device__ inline uint64_t tasks_of(const pattern_batch &batch)
{
    return (uint64_t) batch.roots * batch.parts;
}

__device__ inline uint32_t shares_end(const pattern_search &s)
{
    uint32_t end = look_at(s.queue.end);
    return end < s.queue.shares ? end : s.queue.shares;
}

/* ---- giving ---- */

/* Words of a node that is lent, in whole 16 bytes each. */
struct lent_node {
    uint32_t path, open, barred, end;  /* where they begin after the node's own place */

    __device__ explicit lent_node(const pattern_node &node)
    {
        path = whole_words(sizeof node / 4);
        open = path + whole_words(node.size);
        barred = open + whole_words(node.open.n * (node.words + 1));
        end = barred + whole_words(node.barred.n * (node.words + 1));
    }
};

__device__ inline void lend_words(const pattern_search &s, uint32_t *to,
                                  const uint32_t *from, uint32_t n)
{
    for (uint32_t k = s.lane; k < n; k += WARP)
        to[k] = from[k];
}

/* Takes words that were lent past the near cache, as another multiprocessor wrote
   them. */
__device__ inline void take_words(const pattern_search &s, uint32_t *to,
                                  const uint32_t *from, uint32_t n)
{
    for (uint32_t k = s.lane; k < n; k += WARP)
        to[k] = __ldcg(from + k);
}

__device__ inline uint32_t *lent_by(const pattern_search &s, uint32_t warp)
{
    return s.queue.lent + (size_t) warp * s.queue.words_lent;
}

__device__ inline void lend(const pattern_search &s, const pattern_node &node)
{
    const lent_node where(node);
    uint32_t *to = lent_by(s, s.number());
    lend_words(s, to, (const uint32_t *) &node, sizeof node / 4);
    lend_words(s, to + where.path, s.my->path, node.size);
    lend_words(s, to + where.open, s.words_at(node.open.at),
               node.open.n * (node.words + 1));
    lend_words(s, to + where.barred, s.words_at(node.barred.at),
               node.barred.n * (node.words + 1));
    __threadfence();
    __syncwarp();
}

/* The first node from the child of the root on that has passed its own set, has enough
   open items left, and is no larger than what can be lent; or NULL. */
__device__ inline pattern_node *node_to_share(const pattern_search &s)
{
    pattern_node *found = nullptr;
    for (uint32_t at = s.my->deepest; at != NO_PLACE;) {
        pattern_node *node = (pattern_node *) s.words_at(at);
        uint32_t next = node->alive ? node->base + __ffs(node->alive) - 1 : node->next;
        bool some = node->alive || node->next < node->until;
        if (node->passed && some && node->open.n - next >= SHARE_LEAST &&
            lent_node(*node).end <= s.queue.words_lent)
            found = node;
        at = node->before;
    }
    return found;
}

/* Gives away what is left of a node, unless there is no room for more shares. The pieces'
   streams follow the stream at hand, and after them comes one for what follows. */
__device__ inline void give_node(const pattern_search &s, pattern_node *node)
{
    lend(s, *node);
    if (s.lane > 0)
        return;
    const pattern_batch &batch = s.batch;
    pattern_share share = {};
    share.root = s.my->root;
    share.giver = s.number();
    share.from = node->alive ? node->base + __ffs(node->alive) - 1 : node->next;
    share.until = node->until;
    uint32_t n = share.until - share.from;
    share.step = (n + SHARE_PIECES - 1) / SHARE_PIECES;
    uint32_t pieces = (n + share.step - 1) / share.step;
    uint32_t at = atomicAdd(s.queue.end, 1u);
    if (at >= s.queue.shares)
        return;
    uint32_t first = atomicAdd(batch.used + USED_STREAMS, pieces + 1),
             after = first + pieces;
    bool there = first <= batch.streams && batch.streams - first >= pieces + 1;
    if (there) {
        volatile uint32_t *follows = batch.after;
        for (uint32_t k = 0; k < pieces; k++)
            batch.after[first + k] = first + k + 1;
        follows[after] = follows[s.my->stream];
        follows[s.my->stream] = first;
    }
    share.stream = there ? first : NO_PLACE;
    share.pieces = there ? pieces : 0;  /* nothing to take */
    s.queue.share[at] = share;
    __threadfence();
    *(volatile uint32_t *) &s.queue.share[at].ready = 1;
    if (!there)
        return;
    s.my->lent = at + 1;
    /* Where it was shared before, what comes after its end has a stream already, which
       follows this one. */
    if (node->stream == NO_PLACE)
        node->stream = after;
    node->alive = 0;
    node->next = node->until;
}

/* Gives away what is left of a node, if there is one, and if all who took a piece of the
   node that this warp lent last have copied it. */
__device__ inline void give_some(const pattern_search &s)
{
    const pattern_share *last = s.queue.share + (s.my->lent - 1);
    bool may = s.my->lent == 0 || look_at(&last->copied) >= look_at(&last->pieces);
    may = __all_sync(WHOLE_WARP, may);
    pattern_node *node = may ? node_to_share(s) : nullptr;
    __syncwarp();
    if (node)
        give_node(s, node);
    __syncwarp();
}

/* Whether other warps wait for something to take, and there is nothing. */
__device__ inline bool others_wait(const pattern_search &s)
{
    const volatile unsigned long long *next = s.queue.next;
    bool wait = *next >= tasks_of(s.batch) &&
                look_at(s.queue.active) < gridDim.x * TREE_WARPS &&
                look_at(s.queue.first) >= shares_end(s) &&
                look_at(s.queue.end) < s.queue.shares;
    return __all_sync(WHOLE_WARP, wait);
}

/* ---- taking ---- */

/* A piece of a share, which is copied past the near cache, as another multiprocessor may
   just have written it: false where there is none. */
__device__ inline bool take_piece(const pattern_search &s, pattern_share *share,
                                  uint32_t *piece, uint32_t **copied)
{
    uint32_t at = NO_PLACE, k = 0;
    while (s.lane == 0) {
        uint32_t first = look_at(s.queue.first);
        if (first >= shares_end(s) || !look_at(&s.queue.share[first].ready))
            break;
        __threadfence();
        k = atomicAdd(&s.queue.share[first].taken, 1u);
        if (k < look_at(&s.queue.share[first].pieces)) {
            at = first;
            break;
        }
        atomicCAS(s.queue.first, first, first + 1);
    }
    at = __shfl_sync(WHOLE_WARP, at, 0);
    *piece = __shfl_sync(WHOLE_WARP, k, 0);
    if (at == NO_PLACE)
        return false;
    *copied = &s.queue.share[at].copied;
    const uint32_t *from = (const uint32_t *) (s.queue.share + at);
    for (uint32_t w = 0; w < sizeof *share / 4; w++)
        ((uint32_t *) share)[w] = __ldcg(from + w);
    return true;
}

/* Makes a node that was lent the only one, with open items from `from` up to `until` left
   to be looked at; `copied` counts those who have it. */
__device__ inline void take_node(const pattern_search &s, const uint32_t *lent,
                                 uint32_t from, uint32_t until, uint32_t *copied)
{
    pattern_node node;
    for (uint32_t w = 0; w < sizeof node / 4; w++)
        ((uint32_t *) &node)[w] = __ldcg(lent + w);
    const lent_node where(node);
    uint32_t open = node.open.n * (node.words + 1);
    uint32_t barred = node.barred.n * (node.words + 1);
    room_top top = {0, 0};
    uint32_t at = s.reserve(&top, sizeof node / 4);
    node.open.at = s.reserve(&top, open);
    node.barred.at = s.reserve(&top, barred);
    if (at == NO_PLACE || node.open.at == NO_PLACE || node.barred.at == NO_PLACE) {
        __syncwarp();
        if (s.lane == 0)
            atomicAdd(copied, 1u);
        return;
    }
    take_words(s, s.my->path, lent + where.path, node.size);
    take_words(s, s.words_at(node.open.at), lent + where.open, open);
    take_words(s, s.words_at(node.barred.at), lent + where.barred, barred);
    __threadfence();
    __syncwarp();
    if (s.lane == 0) {
        atomicAdd(copied, 1u);
        node.before = node.stream = NO_PLACE;
        node.next = from;
        node.until = until;
        node.alive = 0;
        node.mark = {0, 0};
        *(pattern_node *) s.words_at(at) = node;
        s.my->deepest = at;
        s.my->top = top;
    }
    __syncwarp();
}

/* ---- tasks ---- */

__device__ inline const uint32_t *root_list(const pattern_search &s)
{
    return s.batch.list + (size_t) s.my->root * s.job.places;
}

/* Sets out on children of a root: its set begins the path. */
__device__ inline void begin_root(const pattern_search &s, uint32_t r, uint32_t next,
                                  uint32_t end, uint32_t root_at, uint32_t stream)
{
    pattern_warp *my = s.my;
    const pattern_root root = s.batch.root[r];
    if (s.lane == 0) {
        my->root = r;
        my->next = next;
        my->end = end;
        my->root_at = root_at;
        my->stream = stream;
        my->segment = NO_PLACE;
        my->deepest = NO_PLACE;
        my->top = {0, 0};
        my->busy = 1;
    }
    __syncwarp();
    const uint32_t *full = root_list(s) + s.job.places - 1;  /* backwards */
    for (uint32_t k = s.lane; k <= root.full; k += WARP)
        my->path[k] = k == 0 ? s.batch.first + r : full[-(int64_t) (k - 1)];
    __syncwarp();
}

/* Takes the next task that is not empty, a root's child; false when there are no more.
   Roots with most windows come first. The root's own set is kept by the part that has the
   first child after it, or else by the last one. */
__device__ inline bool take_task(const pattern_search &s)
{
    const pattern_batch &batch = s.batch;
    for (;;) {
        unsigned long long t = *(const volatile unsigned long long *) s.queue.next;
        if (s.lane == 0 && t < tasks_of(batch))
            t = atomicAdd(s.queue.next, 1ull);
        t = __shfl_sync(WHOLE_WARP, t, 0);
        if (t >= tasks_of(batch))
            return false;
        uint32_t part = (uint32_t) (t % batch.parts);
        uint32_t r = batch.roots - 1 - (uint32_t) (t / batch.parts);
        const pattern_root &root = batch.root[r];
        bool there = root.state != ROOT_NONE &&
                     (part == 0 || part < root.listed);
        /* Another warp may be giving the root up: all lanes must hear the same. */
        if (!there || __any_sync(WHOLE_WARP, root.failed))
            continue;
        uint32_t own = root.before, end = part < root.listed ? part + 1 : part;
        bool mine = own == part || (own == root.listed && end == root.listed);
        begin_root(s, r, part, end, mine && !root.hidden ? own : NO_PLACE,
                   r * batch.parts + part);
        return true;
    }
}

/* The task is done. */
__device__ inline void end_task(const pattern_search &s)
{
    s.close_segment();
    if (s.lane == 0) {
        s.my->busy = 0;
        __threadfence();
        atomicSub(s.queue.active, 1u);
    }
    __syncwarp();
}

/* One step of a task among the children of its root; after the last the task ends. */
__device__ inline void step_root(const pattern_search &s)
{
    pattern_warp *my = s.my;
    uint32_t next = my->next;
    const pattern_root &of = s.batch.root[my->root];
    uint32_t root = s.batch.first + my->root, begin = s.job.first[root];
    pattern_set set = {1 + of.full, of.units, of.last, s.job.first[root + 1] - begin};
    bool own = my->root_at == next;
    __syncwarp();
    if (own) {
        if (s.lane == 0)
            my->root_at = NO_PLACE;
        s.keep(set);
        return;
    }
    if (next >= my->end) {
        end_task(s);
        return;
    }
    if (s.lane == 0)
        my->next = next + 1;
    __syncwarp();
    root_child c = {};
    c.place = root_list(s)[next];
    c.rank = s.job.rank[c.place];
    c.lag = lag_of(s.job, c.place, c.rank);
    c.bin = s.job.bin + begin;
    c.row = s.batch.row + (size_t) (begin - s.job.first[s.batch.first]) * s.job.row_words;
    c.windows = s.batch.count[(size_t) my->root * s.job.places + c.place];
    meet_child(s, set, c);
}

/* Takes a piece of what others have given away. */
__device__ inline bool take_share(const pattern_search &s)
{
    pattern_share share;
    uint32_t piece, *copied;
    if (!take_piece(s, &share, &piece, &copied))
        return false;
    uint32_t from = share.from + piece * share.step, until = from + share.step;
    until = until < share.until ? until : share.until;
    begin_root(s, share.root, 0, 0, NO_PLACE, share.stream + piece);
    take_node(s, lent_by(s, share.giver), from, until, copied);
    return true;
}

/* Takes whatever there is to do, or waits a little; `more` is false when there will be
   nothing more. */
__device__ inline void take_work(const pattern_search &s, bool *more)
{
    if (take_task(s) || take_share(s)) {
        if (s.lane == 0)
            atomicAdd(s.queue.active, 1u);
        __syncwarp();
        return;
    }
    /* Who ends too early leaves nothing undone: the last one to have a task goes on until
       there is no more to take. */
    bool end = look_at(s.queue.active) == 0;
    __threadfence();
    end = end && look_at(s.queue.first) >= shares_end(s);
    end = end || look_at(s.batch.used + USED_OVERFLOW);
    *more = !__any_sync(WHOLE_WARP, end);
    __nanosleep(2000);
}

/* Ends the task where its root was given up, or all there is room for was found. */
__device__ inline bool give_up(const pattern_search &s)
{
    bool lost = s.batch.root[s.my->root].failed || look_at(s.batch.used + USED_OVERFLOW);
    if (!__any_sync(WHOLE_WARP, lost))
        return false;
    end_task(s);
    return true;
}

__global__ void __launch_bounds__(TREE_WARPS *WARP, PATTERN_BLOCKS)
    search_patterns(SYN_GPU_JOB pattern_job job, SYN_GPU_JOB pattern_batch batch,
                    SYN_GPU_JOB pattern_queue queue)
{
    extern __shared__ uint64_t pattern_shared[];
    const long long begun = clock64();
    pattern_search s(job, batch, queue, pattern_shared);
    const pattern_warp *my = s.my;
    bool more = true;
    for (uint32_t steps = 1; more; steps++) {
        bool busy = my->busy, deeper = my->deepest != NO_PLACE;
        __syncwarp();
        if (!busy)
            take_work(s, &more);
        else if (deeper)
            step_masks(s);
        else
            step_root(s);
        if (steps % 4 == 0 && more) {
            busy = my->busy;
            __syncwarp();
            if (busy && !give_up(s) && others_wait(s))
                give_some(s);
            if (s.is_late(begun))
                break;
        }
    }
    if (s.lane == 0 && more)
        atomicAdd(batch.used + USED_BUSY, 1u);
    s.leave();
}

}  // namespace gpu
