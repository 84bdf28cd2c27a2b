/* PTPE, "per-thread per-episode" (Cao et al. 2010): a thread takes an episode and reads
   the whole recording. */
#ifndef SYN_GPU_PUBLISHED_PTPE_CUH
#define SYN_GPU_PUBLISHED_PTPE_CUH

#include "gpu/published/machine.cuh"

namespace gpu {

template <int ROOM>
__global__ void count_whole(machine_input in, strategy_batch batch, uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    machine<ROOM> m(batch, i, place_of(waiting, i, (size_t) gridDim.x * blockDim.x));
    uint32_t count = 0;
    m.run(in, 0, in.n, batch.stop, [&](uint32_t) { count++; });
    batch.count[i] = count;
}

}  // namespace gpu

#endif
