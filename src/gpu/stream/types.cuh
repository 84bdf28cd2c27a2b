/* What a device holds of a stream's window (core/episodes/stream.h says how it is used).

   Events are numbered as on the host. Event e has place e & mask in the arrays of the
   ring: which events it follows within each interval, and its row of the table of next
   occurrences. Lists of ends are rings too, each in a block that holds a power of two of
   them; their places count on for ever. */
#ifndef SYN_GPU_STREAM_TYPES_CUH
#define SYN_GPU_STREAM_TYPES_CUH

#include "gpu/base/warp.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace gpu {
namespace live {

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

/* The ends of an episode: head <= place < tail before an update, front <= place < tail
   after it, and those from `fresh` on came with it (of single units alone). */
struct end_list {
    end *ends;
    uint32_t mask;
    uint32_t head, front, fresh, tail;
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

}  // namespace live
}  // namespace gpu

#endif
