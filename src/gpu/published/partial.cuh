/* The lists of partial occurrences: how they begin, what each grows by, and how they are
   counted. How what is found gets into the next list is below. */
#pragma once

#include "gpu/base/warp.cuh"
#include "gpu/published/machine.cuh"

namespace gpu {

/* Partial occurrences of a group of candidates. The key is candidate << shift | row: the
   candidate counted from the group's first, the row (see syn_recording) of the event that
   was found last. Where tracking goes from an episode's first unit to its last, `other`
   is the start: the first event on the tick of the first event, so that comparing it with
   the number of another's last event compares ticks. Where it goes back from the last
   unit to the first, `other` is the row of the last event. */
struct partial_list {
    unsigned long long *key;
    uint32_t *other;
};

/* The events once more, row by row, where those of a unit lie side by side. */
struct row_view {
    int64_t *tick;
    uint32_t *start;  /* the first event on the row's tick */
};

/* One step: every partial occurrence of `from` is lengthened by one event. */
struct step_job {
    const uint32_t *first;            /* [units + 1] rows of a unit */
    const syn_interval *bounds;       /* [intervals] */
    row_view rows;
    partial_list from;
    uint32_t n, shift;
    const uint32_t *unit, *interval;  /* [candidates] of the group, at this step */
    bool dedup;                       /* `from` is sorted by key, each of them once */
    bool back;                        /* to the unit before, not to the one after */
};

/* What the host reads after a step: how many longer ones it has found, also those there
   was no room for, as the compaction knows it. */
struct step_result {
    unsigned long long reserved;
    uint32_t scanned;
    uint32_t most;  /* that one thread found, where it is more than it has places for */
    uint32_t stop;
};

__global__ void order_rows(strategy_events events, row_view rows)
{
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= events.events)
        return;
    uint32_t event = events.by_unit[row];
    rows.tick[row] = events.tick[event];
    rows.start[row] = events.group[event];
}

/* length[c] = the events of unit[c], where candidate c is begun; 0 for c = n. */
__global__ void measure_begun(const uint32_t *first, const uint32_t *unit, uint32_t n,
                              unsigned long long *length)
{
    uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < n)
        length[c] = first[unit[c] + 1] - first[unit[c]];
    else if (c == n)
        length[c] = 0;
}

/* A block per candidate: each event of the unit that it is begun with begins a partial
   occurrence. `offset` and `unit` are the group's. */
__global__ void begin_lists(const uint32_t *first, const uint32_t *unit, row_view rows,
                            const unsigned long long *offset, uint32_t shift, bool back,
                            partial_list to)
{
    uint32_t begin = first[unit[blockIdx.x]], end = first[unit[blockIdx.x] + 1];
    unsigned long long base = offset[blockIdx.x] - offset[0];
    unsigned long long candidate = (unsigned long long) blockIdx.x << shift;
    for (uint32_t row = begin + threadIdx.x; row < end; row += blockDim.x) {
        to.key[base + row - begin] = candidate | row;
        to.other[base + row - begin] = back ? row : rows.start[row];
    }
}

/* The rows begin .. begin + n - 1 that a partial occurrence is lengthened by. */
struct found_rows {
    unsigned long long candidate;  /* as it stands in a key */
    uint32_t begin, n;
};

/* What partial occurrence i is lengthened by: the events of the next unit that it reaches
   or, going back, those of the unit before that it may follow, whose lags are negative.
   With `dedup`, an event that the candidate's next partial occurrence also reaches is
   left to that one: it starts no earlier, because latest starts never decrease with
   ends. So no event is reached twice, and what is found is sorted again. */
__device__ inline found_rows find_next(const step_job &job, uint32_t i)
{
    unsigned long long key = job.from.key[i], candidate = key >> job.shift;
    unsigned long long base = candidate << job.shift;
    uint32_t unit = job.unit[candidate], last = job.first[unit + 1];
    const syn_interval lag = job.bounds[job.interval[candidate]];
    const int64_t *tick = job.rows.tick, now = tick[key - base];
    int64_t low = job.back ? -lag.high - 1 : lag.low;
    int64_t high = job.back ? -lag.low - 1 : lag.high;
    if (job.dedup && i + 1 < job.n) {
        unsigned long long next = job.from.key[i + 1];
        if (next >> job.shift == candidate)
            high = min(high, tick[next - base] - now + low);
    }
    uint32_t begin = job.first[unit];
    SYN_SEEK(uint32_t, at, begin, last, tick[at] - now <= low);
    uint32_t end = begin;
    SYN_SEEK_NEAR(uint32_t, at, end, last, tick[at] - now <= high);
    return {base, begin, end - begin};
}

struct take_job {
    const uint32_t *by_unit;
    partial_list list;               /* sorted by key; starts */
    uint32_t n, shift, candidates;
    uint32_t *count;                 /* [candidates] */
    const volatile uint32_t *stop;
};

/* A warp per candidate takes, by end, what starts after the last one taken has ended:
   the largest set. The lanes hold neighbours, and go on to the first that is free at
   once. */
__global__ void take_disjoint(SYN_GPU_JOB take_job job)
{
    constexpr uint32_t PATIENCE = 4096 * WARP;  /* occurrences between looks at `stop` */
    uint32_t candidate = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint32_t lane = threadIdx.x % WARP;
    if (candidate >= job.candidates)
        return;
    unsigned long long wanted = (unsigned long long) (candidate + (lane > 0))
                                << job.shift;
    uint32_t bound = 0;
    SYN_SEEK(uint32_t, at, bound, job.n, job.list.key[at] < wanted);
    uint32_t begin = __shfl_sync(WHOLE_WARP, bound, 0),
             end = __shfl_sync(WHOLE_WARP, bound, 1);
    unsigned long long base = (unsigned long long) candidate << job.shift;
    uint32_t free_from = 0, taken = 0;
    for (uint32_t i = begin; i < end; i += WARP) {
        if (i > begin && (i - begin) % PATIENCE == 0 && __any_sync(WHOLE_WARP, *job.stop))
            break;
        bool mine = i + lane < end;
        uint32_t start = mine ? job.list.other[i + lane] : 0;
        uint32_t last = mine ? job.by_unit[job.list.key[i + lane] - base] : 0;
        for (;;) {
            uint32_t free = __ballot_sync(WHOLE_WARP, mine && start >= free_from);
            if (free == 0)
                break;
            free_from = __shfl_sync(WHOLE_WARP, last, __ffs(free) - 1) + 1;
            taken++;
        }
    }
    if (lane == 0)
        job.count[candidate] = taken;
}

/* ---- compaction ---- */

/* How what the threads of a step have found gets into the next list, without gaps. */

/* What partial occurrence i has become, from place `at` on. */
__device__ inline void write_longer(const step_job &job, uint32_t i,
                                    const found_rows &found, partial_list to,
                                    unsigned long long at)
{
    uint32_t other = job.from.other[i];
    for (uint32_t j = 0; j < found.n; j++) {
        to.key[at + j] = found.candidate | (found.begin + j);
        to.other[at + j] = other;
    }
}

/* ---- counters: places are given in the order in which threads ask, which is any ---- */

/* "one-counter": every thread adds to the list's one counter. "atomic-compact"
   (AtomicCompact): threads add to a counter of their block, in shared memory, and the
   block once to the list's. */
template <bool BLOCKS>
__global__ void extend_by_counter(SYN_GPU_JOB step_job job, partial_list to,
                                  unsigned long long room, unsigned long long *length)
{
    __shared__ unsigned long long in_block, base;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    found_rows found = {};
    unsigned long long at = 0;
    if (threadIdx.x == 0)
        in_block = base = 0;
    if (i < job.n)
        found = find_next(job, i);
    if (BLOCKS)
        __syncthreads();
    if (found.n > 0)
        at = atomicAdd(BLOCKS ? &in_block : length, (unsigned long long) found.n);
    if (BLOCKS) {
        __syncthreads();
        if (threadIdx.x == 0 && in_block > 0)
            base = atomicAdd(length, in_block);
        __syncthreads();
        at += base;
    }
    if (found.n > 0 && at + found.n <= room)
        write_longer(job, i, found, to, at);
}

/* ---- "cudpp-compact" (CudppCompact): a prefix sum over an array with gaps ---- */

struct is_filled {
    __host__ __device__ uint32_t operator()(uint32_t place) const
    {
        return place != EMPTY;
    }
};

/* Each thread writes what it finds to its own `width` places, as far as they go. One more
   place, after all others, is empty. */
__global__ void extend_sparse(SYN_GPU_JOB step_job job, uint32_t width, uint32_t *sparse,
                              uint32_t *most)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == job.n)
        sparse[(size_t) i * width] = EMPTY;
    if (i >= job.n)
        return;
    found_rows found = find_next(job, i);
    if (found.n > width)
        atomicMax(most, found.n);
    for (uint32_t j = 0; j < width; j++)
        sparse[(size_t) i * width + j] = j < found.n ? found.begin + j : EMPTY;
}

/* A thread per place: those that are filled are moved together. */
__global__ void pack_sparse(SYN_GPU_JOB step_job job, uint32_t width,
                            const uint32_t *offset, const uint32_t *sparse,
                            partial_list to)
{
    uint32_t place = blockIdx.x * blockDim.x + threadIdx.x, i = place / width;
    if (i >= job.n || sparse[place] == EMPTY)
        return;
    unsigned long long candidate = job.from.key[i] >> job.shift << job.shift;
    to.key[offset[place]] = candidate | sparse[place];
    to.other[offset[place]] = job.from.other[i];
}

/* ---- "count-scan-write" (CountScanWrite): every thread searches twice; "count-once",
   ours: what the one search has found is remembered ---- */

/* How many rows each finds and, in order, where these begin; else `begin` is null. */
__global__ void find_longer(SYN_GPU_JOB step_job job, uint32_t *count, uint32_t *begin)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == job.n)
        count[i] = 0;
    if (i >= job.n)
        return;
    found_rows found = find_next(job, i);
    count[i] = found.n;
    if (begin)
        begin[i] = found.begin;
}

__global__ void write_found(SYN_GPU_JOB step_job job, const uint32_t *offset,
                            const uint32_t *begin, partial_list to)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.n || (begin && offset[i] == offset[i + 1]))
        return;
    found_rows found;
    if (begin) {
        unsigned long long candidate = job.from.key[i] >> job.shift << job.shift;
        found = {candidate, begin[i], offset[i + 1] - offset[i]};
    } else {
        found = find_next(job, i);
    }
    write_longer(job, i, found, to, offset[i]);
}

/* ---- thinning ---- */

/* The key and the start of an occurrence: where it was tracked back, the same as if it
   had been tracked from its first event. `start` is of a row, and NULL where it was not
   tracked back. */
struct key_by_end {
    partial_list list;
    uint32_t shift;
    const uint32_t *start;
    __host__ __device__ unsigned long long operator()(uint32_t i) const
    {
        return start ? (list.key[i] >> shift << shift) | list.other[i] : list.key[i];
    }
};

struct start_of : key_by_end {
    __host__ __device__ uint32_t operator()(uint32_t i) const
    {
        return start ? start[list.key[i] & ((1ull << shift) - 1)] : list.other[i];
    }
};

}  // namespace gpu
