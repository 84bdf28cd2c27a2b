/* What a device holds of a stream's window (core/episodes/stream.h says how it is used).

   Events are numbered as on the host. Event e has place e & mask in the arrays of the
   ring: which events it follows within each interval, and its row of the table of next
   occurrences. Lists of ends are rings too, each in a block that holds a power of two of
   them; their places count on for ever. */
#pragma once

#include "gpu/base/warp.cuh"

namespace gpu::live {

/* The events since <= e < until are those that an event follows within an interval. */
struct followed {
    uint32_t since, until;
};

struct ring_view {
    uint32_t mask, units, intervals;
    followed *follows;  /* [intervals][mask + 1] */
    uint16_t *next;     /* [mask + 1][intervals][units] how far the first event of a unit
                           is that follows within the interval; 0 for none */
};

/* An end of an episode, and the first event on the tick of the latest start that leads
   to it. */
struct end {
    uint32_t event, start;
};

/* Ends of an episode, by their places: head <= place < tail before an update, front <=
   place < tail after it, and those from `fresh` on came with it (of single units
   alone). */
struct end_span {
    uint32_t head, front, fresh, tail;
};

struct end_list : end_span {
    end *ends;
    uint32_t mask;
    uint32_t spare;

    __device__ end &at(uint32_t place) const { return ends[place & mask]; }
};

/* An episode that is kept and has candidates. List u is that of unit u alone, and list
   units + id that of the longer episode `id`. */
struct kept_view {
    uint32_t size, interval;
    uint32_t list, parent, suffix, unit;  /* lists; the last one is its last unit's */
    uint32_t n, counted;                  /* candidates; those before `counted` are */
    uint32_t *count, *free;               /* [n] as in the core */
    const uint32_t *slot;                 /* [n] interval * units + unit */
};

/* A count that the host may want. */
struct found {
    uint32_t id, place, count;
};

/* Counts below `least` are of no use to the host. With `all` it wants all others, else
   those that changed. */
struct report_view {
    uint32_t least, all;
    uint32_t *n;   /* how many were written */
    found *to;     /* of the host */
    uint32_t room;
};

struct window_view {
    ring_view ring;
    uint32_t open;  /* the first event that events to come may follow */
    end_list *list;
    const kept_view *kept;
    report_view report;
};

/* ---- events that come ---- */

/* An event that came. */
struct came {
    uint32_t unit, start, place;  /* place: in the list of its unit */
};

/* The events that it is the first of its unit to follow are those from `fresh` on. */
struct came_span {
    followed reach;
    uint32_t fresh;
};

struct append_job {
    ring_view ring;
    end_list *list;
    uint32_t since, n;         /* the first event, and how many */
    const came *event;         /* [n] of the host */
    const came_span *span;     /* [intervals][n] */
    const end_span *unit;      /* [units] */
};

/* A warp takes an event or a unit. Rows of new events are emptied: what occurs in their
   windows is written by fill_rows(). */
__global__ void append_events(SYN_GPU_JOB append_job job)
{
    const uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * blockDim.x / WARP;
    const ring_view &ring = job.ring;
    const uint32_t stride = ring.intervals * ring.units;
    uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (uint32_t i = first; i < job.n; i += warps) {
        uint32_t event = job.since + i, at = event & ring.mask;
        uint32_t *row = (uint32_t *) (ring.next + (size_t) at * stride);
        for (uint32_t w = lane; w < stride / 2; w += WARP)
            row[w] = 0;
        for (uint32_t k = lane; k < ring.intervals; k += WARP)
            ring.follows[(size_t) k * (ring.mask + 1) + at] =
                job.span[(size_t) k * job.n + i].reach;
        if (lane == 0) {
            came own = job.event[i];
            job.list[own.unit].at(own.place) = {event, own.start};
        }
    }
    for (uint32_t u = first * WARP + lane; u < ring.units; u += warps * WARP)
        (end_span &) job.list[u] = job.unit[u];
}

/* A warp takes a new event and an interval: it is what occurs first in the windows of the
   events that it follows and no earlier event of its unit does. */
__global__ void fill_rows(SYN_GPU_JOB append_job job)
{
    const uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * blockDim.x / WARP;
    const ring_view &ring = job.ring;
    const uint32_t stride = ring.intervals * ring.units;
    uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (uint32_t i = first; i < job.n * ring.intervals; i += warps) {
        came_span own = job.span[i];
        uint32_t k = i / job.n, event = job.since + i % job.n;
        uint32_t column = k * ring.units + job.event[i % job.n].unit;
        for (uint32_t e = own.fresh + lane; e < own.reach.until; e += WARP)
            ring.next[(size_t) (e & ring.mask) * stride + column] =
                (uint16_t) (event - e);
    }
}

/* ---- tables that change when the host keeps other episodes ---- */

/* `width` candidates of each of `n` episodes move from place `from` to place `to`. */
struct candidate_move {
    uint32_t from, to, width, first, n;
};

struct moves_job {
    const kept_view *kept;
    const candidate_move *move;  /* [n] one after the other */
    uint32_t n;
    const uint32_t *id;          /* those of a move from its `first` on */
};

/* By one block. An episode takes part in a move once; moves never overlap themselves. */
__global__ void move_candidates_of(SYN_GPU_JOB moves_job job)
{
    for (uint32_t m = 0; m < job.n; m++) {
        const candidate_move what = job.move[m];
        for (uint32_t i = threadIdx.x; i < what.n && what.from != what.to;
             i += blockDim.x) {
            const kept_view &k = job.kept[job.id[what.first + i]];
            for (uint32_t w = 0; w < what.width; w++) {
                k.count[what.to + w] = k.count[what.from + w];
                k.free[what.to + w] = k.free[what.from + w];
            }
        }
        __syncthreads();
    }
}

/* Words that go from one place to another. */
struct words_copy {
    uint32_t *to;
    const uint32_t *from;
    uint32_t n;
};

enum { WORDS_AT_ONCE = 8 };  /* of a lane: words of the host come from afar */

/* A warp takes a copy; none writes what another one reads. */
__global__ void copy_all(const words_copy *copies, uint32_t n)
{
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= n)
        return;
    const words_copy own = copies[i];
    for (uint32_t w = threadIdx.x % WARP; w < own.n; w += WORDS_AT_ONCE * WARP) {
        uint32_t word[WORDS_AT_ONCE];
        SYN_UNROLL(a, WORDS_AT_ONCE)
            word[a] = w + a * WARP < own.n ? own.from[w + a * WARP] : 0;
        SYN_UNROLL(a, WORDS_AT_ONCE)
            if (w + a * WARP < own.n)
                own.to[w + a * WARP] = word[a];
    }
}

/* A list that moves to a larger block. */
struct list_move {
    uint32_t list, mask;
    end *ends;
};

__global__ void grow_lists(end_list *list, const list_move *moves)
{
    const list_move what = moves[blockIdx.x];
    end_list *own = &list[what.list];
    for (uint32_t i = own->head + threadIdx.x; i < own->tail; i += blockDim.x)
        what.ends[i & what.mask] = own->at(i);
    __syncthreads();
    if (threadIdx.x == 0) {
        own->ends = what.ends;
        own->mask = what.mask;
    }
}

struct ring_move {
    ring_view from, to;
    uint32_t begin, end;  /* events */
};

/* Moves the ring to a larger one, a warp an event. */
__global__ void grow_ring(SYN_GPU_JOB ring_move job)
{
    const uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * blockDim.x / WARP;
    const uint32_t stride = job.from.intervals * job.from.units;
    uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (uint32_t e = job.begin + first; e < job.end; e += warps) {
        size_t old = e & job.from.mask, now = e & job.to.mask;
        const uint32_t *from = (const uint32_t *) (job.from.next + old * stride);
        uint32_t *to = (uint32_t *) (job.to.next + now * stride);
        for (uint32_t w = lane; w < stride / 2; w += WARP)
            to[w] = from[w];
        for (uint32_t k = lane; k < job.from.intervals; k += WARP)
            job.to.follows[k * ((size_t) job.to.mask + 1) + now] =
                job.from.follows[k * ((size_t) job.from.mask + 1) + old];
    }
}

struct renumber_job {
    window_view window;
    uint32_t begin, end, by;  /* events, by their old numbers */
    const uint32_t *id;       /* [kept] episodes with candidates */
    uint32_t kept;
};

__device__ inline uint32_t lower(uint32_t event, uint32_t by)
{
    return event > by ? event - by : 0;
}

/* A block takes the list of a unit, an episode with its list, or some events. */
__global__ void renumber_all(SYN_GPU_JOB renumber_job job)
{
    const ring_view &ring = job.window.ring;
    end_list *list = nullptr;
    if (blockIdx.x < ring.units) {
        list = &job.window.list[blockIdx.x];
    } else if (blockIdx.x - ring.units < job.kept) {
        const kept_view &k = job.window.kept[job.id[blockIdx.x - ring.units]];
        list = k.size > 1 ? &job.window.list[k.list] : nullptr;
        for (uint32_t i = threadIdx.x; i < k.n; i += blockDim.x)
            k.free[i] = lower(k.free[i], job.by);
    } else {
        uint32_t some = blockIdx.x - ring.units - job.kept;
        uint32_t e = job.begin + some * blockDim.x + threadIdx.x;
        for (uint32_t k = 0; e < job.end && k < ring.intervals; k++) {
            followed *own = &ring.follows[k * ((size_t) ring.mask + 1) + (e & ring.mask)];
            *own = {lower(own->since, job.by), lower(own->until, job.by)};
        }
    }
    for (uint32_t i = list ? list->front : 0; list && i + threadIdx.x < list->tail;
         i += blockDim.x) {
        end *own = &list->at(i + threadIdx.x);
        *own = {own->event - job.by, own->start - job.by};
    }
}

}  // namespace gpu::live
