/* The published state machine (Algorithm 1 of Cao et al. 2011), one in each thread: for
   every position of the episode a list of events that wait for the next position's. Two
   repairs make it exact: an occurrence has to start after the tick on which the last one
   counted ended, and an event that ends one serves nothing else.

   Ticks appear as event numbers. Of the events before e, those within an interval are
   numbers first <= p < last, looked up once for each event and interval; a start is after
   an end when its tick's first event is.

   The floor: a thread looks at all N events of the recording, for 8 instructions and 3
   (compare, branch, meet again) for each of the episode's E positions, and pays some 25
   for each event of its own units. Neighbouring candidates share all but their last unit,
   so a warp pays for about one own event per event read: (33 + 3 E) N warp instructions
   for 32 candidates. Sym26 at 150 (262,000 candidates of 4 events on average, N = 49,000)
   is 1.8e10 of them, 20 ms on 132 multiprocessors that issue 4 a cycle at 1.7 GHz. */
#pragma once

extern "C" {
#include "core/episodes/mine.h"
}
#include "core/base/seek.h"
#include "gpu/base/devices.h"
#include "gpu/published/options.h"

#include <cuda_runtime.h>

namespace gpu {

/* ---- what all strategies are given ---- */

struct strategy_events : syn_recording {  /* its arrays are on the device */
    const syn_interval *bounds;   /* [intervals] */
    uint32_t intervals;
};

struct strategy_batch {           /* on the device */
    uint32_t size, n;
    uint32_t all;                 /* candidates in the following arrays */
    const uint32_t *unit;         /* [size][all] */
    const uint32_t *interval;     /* [size - 1][all] */
    uint32_t *count;              /* [all] to be filled */
    const uint32_t *chosen;       /* [n] the numbers of those to be counted, or NULL for
                                     all of them */
    const volatile uint32_t *stop;/* set to 1 by the host: give up soon (checked every few
                                     thousand steps) */

    /* Where candidate i is in the arrays. */
    __device__ uint32_t place(uint32_t i) const { return chosen ? chosen[i] : i; }
};

/* What is counted, and how. */
struct strategy_task {
    const syn_recording *recording;
    const syn_interval *intervals;
    uint32_t n_intervals;
    syn_gpu_strategy_options options;
};

/* What a strategy adds to while it counts a batch. */
struct strategy_notes {
    uint64_t eliminated = 0;  /* candidates ruled out by an upper bound */
    uint64_t unmatched = 0;   /* episodes that the published merge cannot put together */
    uint64_t miscounted = 0;  /* episodes that it puts together to another count */
    double published_seconds = 0;  /* of that merge and its machines */
    uint64_t segmented = 0;   /* candidates counted in segments */
    uint64_t capacity = 0;    /* threads of PTPE that the device runs at a time */
};

/* One way of counting on one device. count() queues its work on `stream` and may wait for
   it; throws gpu::failure / gpu::refusal. */
class strategy {
public:
    strategy_notes notes;

    virtual ~strategy() = default;
    virtual void count(const strategy_batch &batch, cudaStream_t stream) = 0;
};

/* ---- a machine ---- */

constexpr uint32_t EMPTY = 0xffffffffu;    /* no event waits; no unit */
constexpr uint32_t STOP_EVERY = 4096;      /* events between two looks at `stop` */

/* What all threads read. */
struct machine_input : strategy_events {
    const uint2 *window;           /* [intervals][n] first and last */
    uint32_t slots;                /* of a waiting list: a power of two, and no fewer than
                                      a unit has events in the longest interval */
};

/* Where a thread's lists begin, and how far apart their slots lie. */
struct list_place {
    uint32_t *first;
    size_t apart;
};

/* That of this thread's machine number `k` of `machines`: at `waiting`, or in the block's
   own memory where that is null. Taking an event off a list waits for the next one to be
   read. */
__device__ inline list_place place_of(uint32_t *waiting, uint32_t k = 0,
                                      uint32_t machines = 1)
{
    extern __shared__ uint32_t near_lists[];
    if (waiting == nullptr)
        return {near_lists + k * blockDim.x + threadIdx.x, machines * blockDim.x};
    size_t width = (size_t) gridDim.x * blockDim.x, rows = k * gridDim.y + blockIdx.y;
    return {waiting + rows * width + blockIdx.x * blockDim.x + threadIdx.x,
            machines * gridDim.y * width};
}

/* The units of candidate i, and the interval before each; none after its last event. */
template <int ROOM, int STEPS>
__device__ inline void read_candidate(const strategy_batch &batch, uint32_t i,
                                      uint32_t (&unit)[ROOM], uint32_t (&interval)[ROOM])
{
    uint32_t at = batch.place(i);
#pragma unroll (STEPS)
    for (int k = 0; k < ROOM; k++) {
        bool used = k < (int) batch.size;
        unit[k] = used ? batch.unit[(size_t) k * batch.all + at] : EMPTY;
        interval[k] =
            used && k > 0 ? batch.interval[(size_t) (k - 1) * batch.all + at] : 0;
    }
}

/* A machine for episodes of up to ROOM events. Small ones live in registers. */
template <int ROOM> class machine {
    static constexpr bool REGISTERS = ROOM <= 16;
    static constexpr int STEPS = REGISTERS ? ROOM : 1;  /* to unroll */

    uint32_t unit_[ROOM], interval_[ROOM];
    uint32_t front_[ROOM];          /* the oldest that waits, or EMPTY */
    uint32_t head_[ROOM], tail_[ROOM];  /* its place in the list and the place after it */
    uint32_t *waiting_;             /* [size - 1][slots], `apart_` from each other */
    size_t apart_;
    uint32_t size_;
    uint32_t open_;                 /* first event that an occurrence may start at */

    __device__ uint32_t &slot(const machine_input &in, int k, uint32_t place)
    {
        return waiting_[(k * in.slots + (place & (in.slots - 1))) * apart_];
    }

    /* In a full list the oldest is overwritten: it is too old for all that is to come. */
    __device__ void append(const machine_input &in, int k, uint32_t e)
    {
        slot(in, k, tail_[k]++) = e;
        if (front_[k] == EMPTY) {
            front_[k] = e;
        } else if (tail_[k] - head_[k] > in.slots) {
            head_[k]++;
            front_[k] = slot(in, k, head_[k]);
        }
    }

    /* Whether e follows one of those that wait at position k - 1. The oldest left is
       within the upper bound, and has waited longest. */
    __device__ bool follows(const machine_input &in, int k, uint32_t e)
    {
        uint2 window = __ldg(&in.window[(size_t) interval_[k] * in.events + e]);
        while (front_[k - 1] < window.x) {
            head_[k - 1]++;
            front_[k - 1] = head_[k - 1] == tail_[k - 1] ? EMPTY
                                                         : slot(in, k - 1, head_[k - 1]);
        }
        return front_[k - 1] < window.y;
    }
public:
    /* For candidate i. */
    __device__ machine(const strategy_batch &batch, uint32_t i, list_place lists)
        : waiting_(lists.first), apart_(lists.apart), size_(batch.size)
    {
        read_candidate<ROOM, STEPS>(batch, i, unit_, interval_);
        start_over(0);
    }

    /* Nothing waits, and the next occurrence starts at event `open` or later. */
    __device__ void start_over(uint32_t open)
    {
        open_ = open;
#pragma unroll (STEPS)
        for (int k = 0; k < ROOM; k++) {
            front_[k] = EMPTY;
            head_[k] = tail_[k] = 0;
        }
    }

    __device__ uint32_t open() const { return open_; }

    /* Whether event e completes an occurrence; then all it was made of is forgotten. */
    __device__ bool step(const machine_input &in, uint32_t e, uint32_t unit)
    {
        bool complete = false;
#pragma unroll (STEPS)
        for (int k = REGISTERS ? ROOM - 1 : (int) size_ - 1; k > 0; k--) {
            if (unit_[k] != unit || !follows(in, k, e))
                continue;
            if (k + 1 == (int) size_)
                complete = true;
            else
                append(in, k, e);
        }
        if (unit_[0] == unit && __ldg(&in.group[e]) >= open_)
            append(in, 0, e);
        if (complete)
            start_over(e + 1);
        return complete;
    }

    /* Reads on from event `at` up to the next one that completes an occurrence, and gives
       that, or `end`; `at` becomes the next event. */
    __device__ uint32_t next(const machine_input &in, uint32_t &at, uint32_t end)
    {
        while (at < end) {
            uint32_t e = at++;
            if (step(in, e, __ldg(&in.unit[e])))
                return e;
        }
        return end;
    }
};

/* Reads the events begin .. end - 1, and tells `completed` those at which the machine
   completes an occurrence. The threads of a warp read the same event at a time. */
template <class MACHINE, class F>
__device__ void run(MACHINE &m, const machine_input &in, uint32_t begin, uint32_t end,
                    const volatile uint32_t *stop, F completed)
{
    uint32_t next = begin < end ? __ldg(&in.unit[begin]) : EMPTY;
    for (uint32_t e = begin; e < end; e++) {
        uint32_t unit = next;
        next = e + 1 < end ? __ldg(&in.unit[e + 1]) : EMPTY;
        if (m.step(in, e, unit))
            completed(e);
        if (e % STOP_EVERY == STOP_EVERY - 1 && *stop)
            return;
    }
}

/* The first event of those before `end` whose tick is at least `tick`. */
__host__ __device__ inline uint32_t first_from(const int64_t *ticks, uint32_t end,
                                               int64_t tick)
{
    uint32_t begin = 0;
    SYN_SEEK(uint32_t, at, begin, end, ticks[at] < tick);
    return begin;
}

/* Fills the windows: a thread an event, blockIdx.y an interval and perhaps more. */
__global__ void find_machine_windows(strategy_events events, uint2 *window)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= events.events)
        return;
    int64_t tick = events.tick[e];
    for (uint32_t k = blockIdx.y; k < events.intervals; k += gridDim.y) {
        uint32_t last = first_from(events.tick, e, tick - events.bounds[k].low);
        uint32_t first = first_from(events.tick, last, tick - events.bounds[k].high);
        window[(size_t) k * events.events + e] = make_uint2(first, last);
    }
}

/* PTPE, "per-thread per-episode" (Cao et al. 2010): a thread takes an episode and reads
   the whole recording. */

template <class MACHINE>
__device__ inline void count_with(const machine_input &in, const strategy_batch &batch,
                                  uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    MACHINE m(batch, i, place_of(waiting));
    uint32_t count = 0;
    run(m, in, 0, in.events, batch.stop, [&](uint32_t) { count++; });
    batch.count[batch.place(i)] = count;
}

template <int ROOM>
__global__ void count_whole(machine_input in, strategy_batch batch, uint32_t *waiting)
{
    count_with<machine<ROOM>>(in, batch, waiting);
}

/* MTPE, "multiple threads per episode" (Cao et al. 2010): a thread takes an episode and a
   segment of the recording; then the segments are put together.

   The paper starts one machine for each position of the episode before a segment, and
   keeps the one whose first occurrence is the last one of the segment before. Where no
   machine has that occurrence, it has no answer. Here one machine starts early enough to
   have most likely fallen in with the true one, and remembers where it stood when the
   segment began. Only where that is not where the segment before ended, the segment is
   read again, from the true state on, until both machines count the same occurrence: from
   there on they are the same. */

/* A segment holds the occurrences that end at events begin .. end - 1. */
struct segment {
    uint32_t lead;    /* where its machine starts */
    uint32_t reach;   /* first event an occurrence of any episode of this size may use */
    uint32_t begin, end;
    uint32_t beyond;  /* events before this one may end occurrences that start in it */
};

/* [segments][n]: what `open()` was where the segment begins and where it ends. */
struct segment_counts {
    uint32_t *entry, *exit, *count;
};

/* blockIdx.y is the segment. */
template <int ROOM>
__global__ void count_segments(machine_input in, strategy_batch batch,
                               const segment *segments, segment_counts out,
                               uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    machine<ROOM> m(batch, i, place_of(waiting));
    const segment here = segments[blockIdx.y];
    uint32_t count = 0, entry = 0;
    run(m, in, here.lead, here.end, batch.stop, [&](uint32_t e) {
        if (e < here.begin)
            entry = e + 1;
        else
            count++;
    });
    size_t at = (size_t) blockIdx.y * batch.n + i;
    out.entry[at] = entry;
    out.exit[at] = m.open();
    out.count[at] = count;
}

/* Reads a segment once more, from the true state `open` on as well as from the guess it
   was counted from, in turns, until both complete the same occurrence. Corrects `count`
   and gives the true state at the end. */
template <int ROOM>
__device__ uint32_t stitch_segment(const machine_input &in, const segment &here,
                                   uint32_t open, uint32_t guess, uint32_t guessed_exit,
                                   machine<ROOM> &right, machine<ROOM> &wrong,
                                   uint32_t *count)
{
    uint32_t right_at = here.reach, wrong_at = here.reach;
    right.start_over(open);
    wrong.start_over(guess);
    uint32_t a = right.next(in, right_at, here.end);
    uint32_t b = wrong.next(in, wrong_at, here.end);
    while (a != b) {
        if (a < b) {
            (*count)++;
            a = right.next(in, right_at, here.end);
        } else {
            (*count)--;
            b = wrong.next(in, wrong_at, here.end);
        }
    }
    return a < here.end ? guessed_exit : right.open();
}

/* A thread an episode: adds up its segments, and mends those that began elsewhere. States
   from before `reach` are all alike. */
template <int ROOM>
__global__ void stitch_segments(machine_input in, strategy_batch batch,
                                const segment *segments, uint32_t n_segments,
                                segment_counts from, uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    machine<ROOM> right(batch, i, place_of(waiting, 0, 2));
    machine<ROOM> wrong(batch, i, place_of(waiting, 1, 2));
    uint32_t open = from.exit[i], count = from.count[i];
    for (uint32_t r = 1; r < n_segments && !*batch.stop; r++) {
        const segment here = segments[r];
        size_t at = (size_t) r * batch.n + i;
        uint32_t guess = from.entry[at], exit = from.exit[at];
        count += from.count[at];
        if (max(open, here.reach) == max(guess, here.reach))
            open = exit;
        else
            open = stitch_segment(in, here, open, guess, exit, right, wrong, &count);
    }
    batch.count[batch.place(i)] = count;
}

/* ---- the paper's own merge ---- */

/* What each machine of a segment met, [segments][size][n]: the first occurrence that ends
   in its segment and the first after it, as one more than an event, and how many end in
   the segment. The former are 0 when that is so late that nothing they are made of lies
   before the boundary. */
struct published_tuples {
    uint32_t *a, *b, *count;
};

/* Episodes, of those that are merged. */
struct published_notes {
    unsigned long long unmatched;   /* for some segment no machine has a = b */
    unsigned long long miscounted;  /* all have one, and the sum is not the count */
};

/* Events that end occurrences which may begin before event `begin`. */
__device__ inline uint32_t crossing_end(const strategy_events &events, uint32_t begin,
                                        int64_t span)
{
    return begin < events.events
               ? first_from(events.tick, events.events, events.tick[begin] + span)
               : events.events;
}

/* blockIdx.y is the segment and the machine: machine k starts as far before its segment
   as the first k intervals reach, at most k times the longest. The first segment has one
   machine only. An occurrence begins at or after the event where its machine starts, so
   that the threads of a warp may read from the earliest such event on. */
template <int ROOM>
__global__ void run_published(machine_input in, strategy_batch batch,
                              const segment *segments, int64_t longest,
                              published_tuples out, uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s = blockIdx.y / batch.size, k = blockIdx.y % batch.size;
    if (i >= batch.n || (s == 0 && k > 0))
        return;
    machine<ROOM> m(batch, i, place_of(waiting));
    const segment here = segments[s];
    int64_t span = 0, before = 0;
    const uint32_t *interval = batch.interval + batch.place(i);
    for (uint32_t j = 0; j + 1 < batch.size; j++) {
        span += in.bounds[interval[(size_t) j * batch.all]].high;
        before = j + 1 == k ? span : before;
    }
    int64_t boundary = in.tick[here.begin];
    uint32_t first_limit = crossing_end(in, here.begin, span);
    uint32_t second_limit = crossing_end(in, here.end, span);
    uint32_t a = EMPTY, b = EMPTY, count = 0;
    m.start_over(first_from(in.tick, here.begin, boundary - before));
    run(m, in, first_from(in.tick, here.begin, boundary - k * longest), here.beyond,
        batch.stop, [&](uint32_t e) {
            a = e >= here.begin && a == EMPTY ? e : a;
            b = e >= here.end && b == EMPTY ? e : b;
            count += e >= here.begin && e < here.end;
        });
    size_t at = (size_t) blockIdx.y * batch.n + i;
    out.a[at] = a < first_limit ? a + 1 : 0;
    out.b[at] = b < second_limit ? b + 1 : 0;
    out.count[at] = count;
}

/* One level of the published merge, in place: a thread for each machine k of segment s
   and each episode, where s is a multiple of 2 * `apart`. It finds the machine of segment
   s + apart whose a is its b, and goes on as that one does. */
__global__ void concatenate_published(strategy_batch batch, uint32_t apart,
                                      published_tuples of)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s = blockIdx.y / batch.size * 2 * apart, k = blockIdx.y % batch.size;
    if (i >= batch.n || (s == 0 && k > 0))
        return;
    size_t at = ((size_t) s * batch.size + k) * batch.n + i;
    size_t next = (size_t) (s + apart) * batch.size * batch.n + i;
    for (uint32_t l = 0; l < batch.size; l++, next += batch.n) {
        if (of.a[next] == of.b[at]) {
            of.b[at] = of.b[next];
            of.count[at] += of.count[next];
            return;
        }
    }
    of.b[at] = EMPTY;  /* which no a is */
}

/* A thread an episode: whether its segments could be merged, and to batch.count. Machines
   with a = b start anew after the same event, so that it is right wherever they can. */
__global__ void judge_published(strategy_batch batch, published_tuples of,
                                published_notes *notes)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    if (of.b[i] == EMPTY)
        atomicAdd(&notes->unmatched, 1ull);
    else if (of.count[i] != batch.count[batch.place(i)])
        atomicAdd(&notes->miscounted, 1ull);
}

/* PreElim, the first of two passes (Algorithm A2 of Cao et al. 2011): an upper bound from
   a machine that keeps one time a position and knows no lower bounds. Comparing also for
   "later than" would make it lose occurrences whose events share a tick with others. */

template <int ROOM> class bounding_machine {
    static constexpr int STEPS = ROOM <= 16 ? ROOM : 1;

    uint32_t unit_[ROOM], interval_[ROOM];
    uint32_t latest_[ROOM];  /* one more than the newest event; 0 for none */
    uint32_t size_;
public:
    __device__ bounding_machine(const strategy_batch &batch, uint32_t i, list_place)
        : size_(batch.size)
    {
        read_candidate<ROOM, STEPS>(batch, i, unit_, interval_);
        start_over();
    }

    __device__ void start_over()
    {
#pragma unroll (STEPS)
        for (int k = 0; k < ROOM; k++)
            latest_[k] = 0;
    }

    /* Whether event e completes what may be an occurrence. */
    __device__ bool step(const machine_input &in, uint32_t e, uint32_t unit)
    {
        bool complete = false;
#pragma unroll (STEPS)
        for (int k = ROOM - 1; k > 0; k--) {
            const uint2 *window = in.window + (size_t) interval_[k] * in.events;
            if (unit_[k] != unit || latest_[k - 1] <= __ldg(&window[e].x))
                continue;
            latest_[k] = e + 1;
            complete |= k + 1 == (int) size_;
        }
        if (unit_[0] == unit)
            latest_[0] = e + 1;
        if (complete)
            start_over();
        return complete;
    }
};

/* To batch.count, the upper bounds. */
template <int ROOM> __global__ void bound_counts(machine_input in, strategy_batch batch)
{
    count_with<bounding_machine<ROOM>>(in, batch, nullptr);
}

/* Whether candidate i can reach `least`. */
struct may_reach {
    const uint32_t *bound;
    uint32_t least;
    __device__ bool operator()(uint32_t i) const { return bound[i] >= least; }
};

}  // namespace gpu
