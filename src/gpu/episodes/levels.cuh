/* The nodes of a level: what is frequent of the level before it gets numbers, and becomes
   nodes. Also several levels, one after the other, in one launch. */
#pragma once

#include "gpu/episodes/count.cuh"
#include "gpu/episodes/lists.cuh"

namespace gpu {

/* ---- numbers ---- */

/* Numbers what is frequent: the children of all items of a level, in order, get the
   numbers of the nodes of the next. */

enum {
    NUMBER_WARPS = 8,
    NUMBER_EACH = 4,  /* items of a thread */
    NUMBER_TILE = NUMBER_WARPS * WARP * NUMBER_EACH
};

/* How far a tile is: nothing, its own sum, or the sum of all up to it. In one word with
   the sum, and with the run, so that the words of former runs mean nothing. */
enum tile_stage { TILE_BEGUN, TILE_SUMMED, TILE_DONE };

constexpr uint32_t MOST_RUNS = 1u << 30;

__device__ inline unsigned long long tile_word(uint32_t run, tile_stage stage,
                                               uint32_t sum)
{
    return (unsigned long long) run << 34 | (unsigned long long) stage << 32 | sum;
}

/* By one warp: the sum of the tiles before `tile`, 32 of them at a time. */
template <class W>
__device__ inline uint32_t sum_of_tiles_before(const level_job<W> &job, uint32_t tile)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t sum = 0;
    for (uint32_t end = tile; end > 0;) {
        uint32_t before = lane + 1, stage = TILE_DONE, own = 0;
        if (before <= end) {
            unsigned long long word;
            do {
                word = *(volatile unsigned long long *) &job.tiles[end - before];
                stage = word >> 34 == job.run ? word >> 32 & 3 : TILE_BEGUN;
            } while (stage == TILE_BEGUN);
            own = (uint32_t) word;
        }
        /* Up to the last tile that knows the sum of all before it. */
        uint32_t done = __ballot_sync(WHOLE_WARP, stage == TILE_DONE);
        uint32_t last = done ? __ffs(done) - 1 : WARP - 1;
        sum += warp_sum(lane <= last ? own : 0);
        if (done || end <= WARP)
            break;
        end -= WARP;
    }
    return sum;
}

/* By all blocks, of NUMBER_WARPS each. A block waits for tiles that it has had itself, or
   that blocks before it have begun. */
template <class W> __device__ inline void number_items(const level_job<W> &job)
{
    __shared__ uint32_t sums[NUMBER_WARPS], sum_before;
    const uint32_t nodes = *job.here.nodes, items = nodes * job.columns.n;
    const uint32_t tiles = items > 0 ? (items - 1) / NUMBER_TILE + 1 : 1;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t first = tile * NUMBER_TILE + threadIdx.x * NUMBER_EACH, own = 0, total;
        uint32_t n[NUMBER_EACH];
        SYN_UNROLL(i, NUMBER_EACH) {
            n[i] = first + i < items ? job.here.children[first + i] : 0;
            own += n[i];
        }
        uint32_t before = block_sum_below(own, sums, &total);
        if (threadIdx.x < WARP) {
            volatile unsigned long long *mine = &job.tiles[tile];
            if (tile > 0 && threadIdx.x == 0)
                *mine = tile_word(job.run, TILE_SUMMED, total);
            uint32_t sum = sum_of_tiles_before(job, tile);
            if (threadIdx.x == 0) {
                *mine = tile_word(job.run, TILE_DONE, sum + total);
                sum_before = sum;
            }
        }
        __syncthreads();
        before += sum_before;
        SYN_UNROLL(i, NUMBER_EACH) {
            if (first + i < items) {
                job.here.base[first + i] = before;
                if ((first + i) % job.columns.n == 0)
                    job.here.child[(first + i) / job.columns.n] = before;
            }
            before += n[i];
        }
        /* The level cannot be made where something found did not fit: then it has no
           nodes, and what follows does nothing until the host has made room. */
        if (tile == tiles - 1 && threadIdx.x == 0) {
            total += sum_before;
            bool fits = total <= job.next.room && job.head->found <= job.count_room &&
                        job.head->list_ends <= job.end_room &&
                        ends_expected(*job.head, total) <= job.next_room;
            job.here.base[items] = total;
            job.here.child[nodes] = total;
            *job.new_head = {};
            *job.next.nodes = fits ? total : 0;
        }
        __syncthreads();
    }
}

template <class W>
__global__ void __launch_bounds__(NUMBER_WARPS * WARP)
    number_children(SYN_GPU_JOB level_job<W> job)
{
    number_items(job);
}

/* ---- nodes ---- */

/* The next level's nodes: the children that counting kept, in order. */

enum { FILL_WARPS = 8 };  /* of a block */

struct tally_of_candidates {
    unsigned long long all, own;
};

/* Children in order of (parent, column, symbol), as `base` numbers them. A child's
   suffix is the child of its parent's suffix that the same step leads to. */
template <int K, class W>
__device__ void fill_item(const level_job<W> &job, uint32_t item,
                          tally_of_candidates *sum)
{
    const uint32_t lane = threadIdx.x % WARP, n = job.columns.n;
    uint32_t node = item / n, column = item - node * n;
    uint32_t interval = column / job.columns.pages;
    uint32_t page = column % job.columns.pages * job.columns.width;
    uint32_t there = job.here.suffix[node] * n + column;
    const uint32_t *mask = job.here.mask + (size_t) item * K;
    const uint32_t *mirror = job.above.mask + (size_t) there * K;
    uint32_t rank = rank_of_lane<K>(mask);
    uint32_t id = job.here.base[item] + rank, slot = job.here.slot[item];
    const uint32_t *counts = job.all_counts[slot >> SLOT_BITS] + rank;
    uint32_t suffix = job.above.base[there] + rank_of_lane<K>(mirror);
    uint32_t length = job.here.length[node];
    slot &= (1u << SLOT_BITS) - 1;
    for (int j = 0; j < K; j++) {
        if (mask[j] >> lane & 1) {
            job.next.parent[id] = node;
            job.next.suffix[id] = suffix;
            job.next.unit[id] = job.events.unit[page + lane * K + j];
            job.next.interval[id] = interval;
            job.next.step[id] = lane * K + j + column * 256;
            job.next.count[id] = counts[slot++];
            uint32_t candidates = job.here.base[(suffix + 1) * n] -
                                  job.here.base[suffix * n];
            for (uint32_t i = id * n; i < (id + 1) * n;
                 i++) { /* nothing follows it yet */
                job.next.children[i] = 0;
                for (int w = 0; w < K; w++)
                    job.next.mask[(size_t) i * K + w] = 0;
            }
            sum->all += candidates;
            sum->own += job.share.takes(id, length) ? candidates : 0;
            id++;
        }
        suffix += mirror[j] >> lane & 1;
    }
}

/* By all blocks. */
template <int K, class W> __device__ void fill_items(const level_job<W> &job)
{
    __shared__ tally_of_candidates sum;
    const uint32_t lane = threadIdx.x % WARP, columns = job.columns.n;
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint32_t warps = gridDim.x * blockDim.x / WARP;
    uint32_t items = *job.next.nodes > 0 ? *job.here.nodes * columns : 0;
    uint32_t group = min(items / warps + 1, (uint32_t) WARP);  /* seen together */
    if (threadIdx.x == 0)
        sum = {0, 0};
    __syncthreads();
    tally_of_candidates mine = {0, 0};
    for (uint32_t first = warp * group; first < items; first += warps * group) {
        uint32_t item = first + lane;
        bool any = item < items && lane < group && job.here.children[item] > 0;
        for (uint32_t left = __ballot_sync(WHOLE_WARP, any); left; left &= left - 1)
            fill_item<K>(job, first + __ffs(left) - 1, &mine);
    }
    if (mine.all)
        atomicAdd(&sum.all, mine.all);
    if (mine.own)
        atomicAdd(&sum.own, mine.own);
    __syncthreads();
    if (threadIdx.x == 0 && sum.all) {
        atomicAdd(&job.new_head->candidates, sum.all);
        atomicAdd(&job.new_head->own, sum.own);
    }
}

template <int K, class W>
__global__ void __launch_bounds__(FILL_WARPS *WARP)
    fill_level(SYN_GPU_JOB level_job<W> job)
{
    fill_items<K>(job);
}

/* ---- levels in one launch ---- */

/* Levels one after the other in one launch: what the steps of a level are for large
   problems, each a kernel that the host starts, are here turns of blocks that wait for
   each other. Where a level takes about as long as an answer of the host, that is much
   faster. The host follows the levels as they come. */

/* Levels have memory by turns: the one that is made, two below it, and one that waits. */
constexpr size_t LEVELS = 4;

constexpr size_t HEADERS = 128;  /* of levels, by turns */

enum { AHEAD_WARPS = 8 };  /* of a block */

template <class W> struct ahead_job {
    level_job<W> first;       /* of the size `from` */
    uint32_t from, to;        /* sizes of the levels to be made; all are of one launch */
    uint32_t max_size;
    level_view level[LEVELS];
    uint2 *ends[2];           /* lists of levels by turns, and how many ends fit */
    unsigned long long end_room[2];
    uint32_t *counts[2];      /* of what is found, by turns, and how many fit */
    uint32_t count_room[2];
    header *headers;
    uint32_t *meeting;        /* [2] blocks that have come, and twice the meetings there
                                 were: one more than that where the host said stop */
    header *seen;             /* page-locked, as are the next two: copies of `headers` */
    uint32_t *results;        /* the levels, one after the other */
    uint32_t *progress;       /* the last size that is here */
    uint32_t room;            /* words of `results` */
};

/* All blocks come here before one goes on. Returns whether the host wants them to end, of
   which all hear the same. */
__device__ inline bool meet_all_blocks(uint32_t *meeting, const uint32_t *stop)
{
    __shared__ bool stops;
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile uint32_t *passed = meeting + 1;
        uint32_t before = *passed, after;
        __threadfence();
        if (atomicAdd(meeting, 1) == gridDim.x - 1) {
            after = before + 2 + (*(volatile const uint32_t *) stop != 0);
            *(volatile uint32_t *) meeting = 0;
            __threadfence();
            *passed = after;
        } else {
            do
                after = *passed;
            while (after == before);
        }
        __threadfence();
        stops = after % 2;
    }
    __syncthreads();
    return stops;
}

/* What is another from level to level, by the first warp of a block. */
template <class W>
__device__ void set_job(const ahead_job<W> &all, uint32_t size, level_job<W> *job)
{
    const uint32_t now = size % 2, below = now ^ 1;
    copy_words(&job->above, &all.level[(size - 2) % LEVELS]);
    copy_words(&job->here, &all.level[(size - 1) % LEVELS]);
    copy_words(&job->next, &all.level[size % LEVELS]);
    if (threadIdx.x > 0)
        return;
    job->head = all.headers + (size - 1) % HEADERS;
    job->new_head = job->plan.head = all.headers + size % HEADERS;
    job->plan.before = job->head;
    job->end = all.ends[below];
    job->end_room = all.end_room[below];
    job->made = all.ends[now];
    job->next_room = all.end_room[now];
    job->counts = all.counts[now];
    job->all_counts[0] = all.counts[now];
    job->count_room = all.count_room[now];
    job->run = all.first.run + (size - all.from);
}

/* Writes the nodes of a level and the children of the one below to the host's memory. */
template <class W>
__device__ inline void deliver(const level_job<W> &job, uint32_t nodes, uint32_t parents,
                               uint32_t *to)
{
    uint32_t all = 5 * nodes + parents + 1;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < all; i += gridDim.x * blockDim.x) {
        uint32_t array = i / max(nodes, 1u);
        to[i] = i < 5 * nodes
                    ? job.next.parent[(size_t) array * job.next.room + i - array * nodes]
                    : job.here.child[i - 5 * nodes];
    }
}

/* All blocks are there at the same time. Their dynamic shared memory is for the ends that
   they count along, and for the lists that their warps stage. */
template <int K, class T, class W>
__global__ void __launch_bounds__(AHEAD_WARPS * WARP, 2)
    make_levels(SYN_GPU_JOB ahead_job<W> all)
{
    extern __shared__ uint4 shared_room[];
    __shared__ level_job<W> job;
    const uint32_t *stop = all.first.stop;
    end_ring *ring = (end_ring *) shared_room + threadIdx.x / WARP;
    for (uint32_t i = threadIdx.x; i < sizeof job / sizeof(uint32_t); i += blockDim.x)
        ((uint32_t *) &job)[i] = ((const uint32_t *) &all.first)[i];
    uint32_t used = 0;
    for (uint32_t size = all.from;; size++) {
        __syncthreads();
        if (threadIdx.x < WARP)
            set_job(all, size, &job);
        __syncthreads();
        count_tasks<K, T>(job, *ring);
        if (meet_all_blocks(all.meeting, stop))
            return;
        number_items(job);
        if (meet_all_blocks(all.meeting, stop))
            return;
        uint32_t nodes = __ldcg(job.next.nodes), words = 0;
        uint32_t parents = __ldcg(job.here.nodes);
        if (nodes > 0) {
            fill_items<K>(job);
            if (meet_all_blocks(all.meeting, stop))
                return;
            words = 5 * nodes + parents + 1;
            bool fits = all.room - used >= words;
            if (fits)
                deliver(job, nodes, parents, all.results + used);
            if (size < all.max_size)
                make_all_lists<T>(job, (uint2 *) shared_room);
            if (fits)
                __threadfence_system();
            if (meet_all_blocks(all.meeting, stop))
                return;
        }
        if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {  /* tells the host */
            all.seen[(size - 1) % HEADERS] = all.headers[(size - 1) % HEADERS];
            __threadfence_system();
            *(volatile uint32_t *) all.progress = size;
        }
        if (nodes == 0 || size == all.to || all.room - used < words)
            return;
        used += words;
    }
}

}  // namespace gpu
