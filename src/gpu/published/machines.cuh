/* What the strategies that run state machines share on one device: the windows of the
   recording, memory for the lists, and how kernels are made for the size of episodes. */
#ifndef SYN_GPU_PUBLISHED_MACHINES_CUH
#define SYN_GPU_PUBLISHED_MACHINES_CUH

#include "gpu/base/device.cuh"
#include "gpu/episodes/results.cuh"
#include "gpu/published/preelim.cuh"
#include "gpu/published/ptpe.cuh"
#include "gpu/published/segments.cuh"
#include "gpu/published/strategies.h"

#include <type_traits>

namespace gpu {

/* What a strategy adds to while it counts. */
struct strategy_notes {
    uint64_t eliminated = 0;  /* candidates ruled out by an upper bound */
    uint64_t unmatched = 0;   /* episodes that the published merge cannot put together */
    uint64_t miscounted = 0;  /* episodes that it puts together to another count */
    double published_seconds = 0;  /* of that merge and its machines */
    uint64_t segmented = 0;   /* candidates counted in segments */
    uint64_t capacity = 0;    /* threads of PTPE that the device runs at a time */
};

constexpr unsigned THREADS = 128;  /* of a block, T_B in the paper */
constexpr size_t NEAR = 24576;     /* bytes of lists a block may hold itself: more would
                                      leave room for fewer blocks */

/* Calls `run` with the number of events that machines for episodes of `size` are made
   for. */
template <class F> void with_room(uint32_t size, F run)
{
    switch (size) {
    case 2: run(std::integral_constant<int, 2>()); break;
    case 3: run(std::integral_constant<int, 3>()); break;
    case 4: run(std::integral_constant<int, 4>()); break;
    case 5: run(std::integral_constant<int, 5>()); break;
    case 6: run(std::integral_constant<int, 6>()); break;
    case 7: run(std::integral_constant<int, 7>()); break;
    case 8: run(std::integral_constant<int, 8>()); break;
    default:
        if (size <= 16)
            run(std::integral_constant<int, 16>());
        else
            run(std::integral_constant<int, SYN_GPU_SIZES>());
    }
}

/* The same for kernels that are run little, in fewer versions. */
template <class F> void with_some_room(uint32_t size, F run)
{
    if (size <= 4)
        run(std::integral_constant<int, 4>());
    else if (size <= 8)
        run(std::integral_constant<int, 8>());
    else
        run(std::integral_constant<int, SYN_GPU_SIZES>());
}

/* Few candidates are spread over all multiprocessors in blocks of one warp. */
inline dim3 block_for(size_t threads, int processors)
{
    return dim3(threads < (size_t) processors * 8 * THREADS ? 32 : THREADS);
}

inline dim3 grid_for(uint32_t n, dim3 block, uint32_t parts = 1)
{
    return dim3((n + block.x - 1) / block.x, parts);
}

class machines {
    array<uint2> window_;
    array<uint32_t> waiting_;
    bool filled_ = false;
public:
    const strategy_events events;
    const strategy_host host;
    int64_t longest = 0;  /* upper bound of any interval */
    uint32_t slots = 1;

    machines(const strategy_events &of, const strategy_host &on) : events(of), host(on)
    {
        for (uint32_t k = 0; k < host.n_intervals; k++)
            longest = std::max(longest, host.intervals[k].high);
        slots = slots_of(host.recording, longest);
    }

    machine_input input(cudaStream_t stream)
    {
        if (!filled_) {
            window_.ensure((size_t) events.n * events.intervals);
            dim3 block(THREADS);
            dim3 grid = grid_for(events.n, block, most_of_grid(events.intervals));
            find_machine_windows<<<grid, block, 0, stream>>>(events, window_.get());
            check(cudaGetLastError());
            filled_ = true;
        }
        return {events.n, events.unit, events.group, window_.get(), slots};
    }

    /* Bytes of a block's own memory for its lists; 0 where they are too long for that. */
    size_t near(uint32_t size, dim3 block) const
    {
        size_t bytes = (size_t) block.x * (size - 1) * slots * sizeof(uint32_t);
        return bytes <= NEAR ? bytes : 0;
    }

    /* Room for the lists of so many machines. What was there is lost. */
    uint32_t *waiting(uint32_t size, size_t threads)
    {
        waiting_.ensure(threads * (size - 1) * slots);
        return waiting_.get();
    }

    /* How many machines' lists there is room for, without taking all that is free. */
    size_t room_for(uint32_t size) const
    {
        return (free_memory() / 2 + waiting_.bytes()) /
               ((size_t) (size - 1) * slots * sizeof(uint32_t));
    }

    /* Threads of PTPE that the device runs at a time: MP * B_MP * T_B. */
    size_t capacity(uint32_t size) const
    {
        int blocks = 0;
        with_room(size, [&](auto room) {
            check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, count_whole<decltype(room)::value>, (int) THREADS, 0));
        });
        return (size_t) host.processors * std::max(blocks, 1) * THREADS;
    }
};

}  // namespace gpu

#endif
