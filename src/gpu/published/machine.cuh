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
#ifndef SYN_GPU_PUBLISHED_MACHINE_CUH
#define SYN_GPU_PUBLISHED_MACHINE_CUH

#include "core/base/seek.h"
#include "gpu/published/strategy.cuh"

namespace gpu {

constexpr uint32_t EMPTY = 0xffffffffu;    /* no event waits; no unit */
constexpr uint32_t STOP_EVERY = 4096;      /* events between two looks at `stop` */

/* What all threads read. */
struct machine_input {
    uint32_t n;
    const uint32_t *unit, *group;  /* [n] as in syn_recording */
    const uint2 *window;           /* [intervals][n] first and last */
    uint32_t slots;                /* of a waiting list: a power of two, and no fewer than
                                      a unit has events in the longest interval */
};

/* Where a thread's lists begin, and how far apart their slots lie. */
struct list_place {
    uint32_t *first;
    size_t apart;
};

/* That of one of `threads` threads: at `waiting`, or in the block's own memory where that
   is null. Taking an event off a list waits for the next one to be read. */
__device__ inline list_place place_of(uint32_t *waiting, size_t thread, size_t threads)
{
    extern __shared__ uint32_t near_lists[];
    if (waiting == nullptr)
        return {near_lists + threadIdx.x, blockDim.x};
    return {waiting + thread, threads};
}

/* The units of candidate i, and the interval before each; none after its last event. */
template <int ROOM, int STEPS>
__device__ inline void read_candidate(const strategy_batch &batch, uint32_t i,
                                      uint32_t (&unit)[ROOM], uint32_t (&interval)[ROOM])
{
#pragma unroll (STEPS)
    for (int k = 0; k < ROOM; k++) {
        bool used = k < (int) batch.size;
        unit[k] = used ? batch.unit[(size_t) k * batch.n + i] : EMPTY;
        interval[k] = used && k > 0 ? batch.interval[(size_t) (k - 1) * batch.n + i] : 0;
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
        uint2 window = __ldg(&in.window[(size_t) interval_[k] * in.n + e]);
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

    /* Reads the events begin .. end - 1, and tells `completed` those that complete an
       occurrence. The threads of a warp read the same event at a time. */
    template <class F>
    __device__ void run(const machine_input &in, uint32_t begin, uint32_t end,
                        const volatile uint32_t *stop, F completed)
    {
        uint32_t next = begin < end ? __ldg(&in.unit[begin]) : EMPTY;
        for (uint32_t e = begin; e < end; e++) {
            uint32_t unit = next;
            next = e + 1 < end ? __ldg(&in.unit[e + 1]) : EMPTY;
            if (step(in, e, unit))
                completed(e);
            if (e % STOP_EVERY == STOP_EVERY - 1 && *stop)
                return;
        }
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

/* The first event of those before `end` whose tick is at least `tick`. */
__device__ inline uint32_t first_from(const int64_t *ticks, uint32_t end, int64_t tick)
{
    uint32_t begin = 0;
    SYN_SEEK(uint32_t, at, begin, end, ticks[at] < tick);
    return begin;
}

/* Fills the windows: a thread an event, blockIdx.y an interval and perhaps more. */
__global__ void find_machine_windows(strategy_events events, uint2 *window)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= events.n)
        return;
    int64_t tick = events.tick[e];
    for (uint32_t k = blockIdx.y; k < events.intervals; k += gridDim.y) {
        uint32_t last = first_from(events.tick, e, tick - events.bounds[2 * k]);
        uint32_t first = first_from(events.tick, last, tick - events.bounds[2 * k + 1]);
        window[(size_t) k * events.n + e] = make_uint2(first, last);
    }
}

}  // namespace gpu

#endif
