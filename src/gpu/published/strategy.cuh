/* What a published strategy of counting on a GPU is given, and what it has to do. */
#ifndef SYN_GPU_PUBLISHED_STRATEGY_CUH
#define SYN_GPU_PUBLISHED_STRATEGY_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "core/episodes/mine.h"

namespace gpu {

struct strategy_events {          /* on the device, as in syn_recording */
    uint32_t n, units;
    const int64_t *tick;          /* [n] */
    const uint32_t *unit, *group, *by_unit, *row;  /* [n] */
    const uint32_t *first;        /* [units + 1] */
    const int64_t *bounds;        /* [intervals][2] low, high in ticks */
    uint32_t intervals;
};

struct strategy_batch {           /* on the device */
    uint32_t size, n;
    const uint32_t *unit;         /* [size][n] */
    const uint32_t *interval;     /* [size - 1][n] */
    uint32_t *count;              /* [n] to be filled */
    const volatile uint32_t *stop;/* set to 1 by the host: give up soon (checked every few
                                     thousand steps) */
};

struct strategy_host {            /* the same recording on the host, and the device */
    const syn_recording *recording;
    const syn_interval *intervals;
    uint32_t n_intervals;
    uint32_t min_count;
    int device, processors;       /* multiprocessors */
};

/* One way of counting on one device. count() queues its work on `stream` and may wait for
   it; throws gpu::failure / gpu::refusal. */
class strategy {
public:
    virtual ~strategy() = default;
    virtual void count(const strategy_batch &batch, cudaStream_t stream) = 0;
};

}  // namespace gpu

#endif
