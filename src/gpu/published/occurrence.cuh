/* The occurrence strategy (Feng et al., "Temporal Data Mining for Neuroscience", 2011): a
   thread per partial occurrence, which it lengthens by one event. */
#ifndef SYN_GPU_PUBLISHED_OCCURRENCE_CUH
#define SYN_GPU_PUBLISHED_OCCURRENCE_CUH

#include <memory>

#include "gpu/published/strategies.h"
#include "gpu/published/strategy.cuh"

namespace gpu {

/* `compaction` is a syn_gpu_compaction. With `dedup`, of the partial occurrences of a
   candidate that end at one event only the one with the latest start is kept, which is
   enough for the count; without, all are, as published. Takes at most half of the memory
   that is free on the device. count() refuses with SYN_TOO_LARGE (SYN_NO_MEMORY with
   `dedup`) when a lone candidate's partial occurrences do not fit in that. `events` and
   what `host` points to must outlive the strategy. */
std::unique_ptr<strategy> make_occurrence(const strategy_events &events,
                                          const strategy_host &host, int compaction,
                                          bool dedup);

}  // namespace gpu

#endif
