/* Events that come: their places in the ring, in the lists of their units and in the
   table of next occurrences. */
#ifndef SYN_GPU_STREAM_EVENTS_CUH
#define SYN_GPU_STREAM_EVENTS_CUH

#include "gpu/stream/types.cuh"

namespace gpu {
namespace live {

/* An event that came. */
struct came {
    uint32_t unit, start, place;  /* place: in the list of its unit */
};

/* The events that it is the first of its unit to follow are those from `fresh` on. */
struct came_span {
    followed reach;
    uint32_t fresh;
};

/* Where the list of a unit begins and ends with an update. */
struct unit_span {
    uint32_t head, front, fresh, tail;
};

struct append_job {
    ring_view ring;
    end_list *list;
    uint32_t since, n;         /* the first event, and how many */
    const came *event;         /* [n] of the host */
    const came_span *span;     /* [intervals][n] */
    const unit_span *unit;     /* [units] */
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
    for (uint32_t u = first * WARP + lane; u < ring.units; u += warps * WARP) {
        unit_span own = job.unit[u];
        end_list *list = &job.list[u];
        list->head = own.head;
        list->front = own.front;
        list->fresh = own.fresh;
        list->tail = own.tail;
    }
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

}  // namespace live
}  // namespace gpu

#endif
