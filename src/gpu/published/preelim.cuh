/* PreElim, the first of two passes (Algorithm A2 of Cao et al. 2011): an upper bound from
   a machine that keeps one time a position and knows no lower bounds. Comparing also for
   "later than" would make it lose occurrences whose events share a tick with others. */
#ifndef SYN_GPU_PUBLISHED_PREELIM_CUH
#define SYN_GPU_PUBLISHED_PREELIM_CUH

#include "gpu/published/machine.cuh"

namespace gpu {

template <int ROOM> class bounding_machine {
    static constexpr int STEPS = ROOM <= 16 ? ROOM : 1;

    uint32_t unit_[ROOM], interval_[ROOM];
    uint32_t latest_[ROOM];  /* one more than the newest event; 0 for none */
    uint32_t size_;
public:
    __device__ bounding_machine(const strategy_batch &batch, uint32_t i)
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
            if (unit_[k] != unit ||
                latest_[k - 1] <= __ldg(&in.window[(size_t) interval_[k] * in.n + e].x))
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

/* may_be[i]: whether candidate i can reach `min_count`. */
template <int ROOM>
__global__ void bound_counts(machine_input in, strategy_batch batch, uint32_t min_count,
                             uint32_t *may_be)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    bounding_machine<ROOM> m(batch, i);
    uint32_t count = 0;
    for (uint32_t e = 0; e < in.n; e++) {
        count += m.step(in, e, __ldg(&in.unit[e]));
        if (e % STOP_EVERY == STOP_EVERY - 1 && *batch.stop)
            break;
    }
    may_be[i] = count >= min_count;
}

/* Copies the candidates that may be frequent, `kept` of them, candidate i to place[i]. */
__global__ void gather_survivors(strategy_batch batch, const uint32_t *may_be,
                                 const uint32_t *place, uint32_t kept, uint32_t *unit,
                                 uint32_t *interval)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n || !may_be[i])
        return;
    for (uint32_t k = 0; k < batch.size; k++)
        unit[(size_t) k * kept + place[i]] = batch.unit[(size_t) k * batch.n + i];
    for (uint32_t k = 0; k + 1 < batch.size; k++)
        interval[(size_t) k * kept + place[i]] =
            batch.interval[(size_t) k * batch.n + i];
}

/* Brings the survivors' counts back; the others' are 0. */
__global__ void scatter_counts(strategy_batch batch, const uint32_t *may_be,
                               const uint32_t *place, const uint32_t *found)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch.n)
        batch.count[i] = may_be[i] ? found[place[i]] : 0;
}

}  // namespace gpu

#endif
