/* Surrogates on a device: core/surrogates/unit.h is compiled for the device as well as
   for the host, and a plan of surrogates is copied to the device. */
#pragma once

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "core/surrogates/unit.h"
#include "gpu/base/launch.cuh"

namespace gpu {

/* A plan whose arrays are on the current device, once the stream has come that far; they
   are of the pointers of `to`. */
inline void upload_plan(const syn_surrogate_plan &plan, arrays *own,
                        syn_surrogate_plan *to, cudaStream_t stream)
{
    const syn_trains &t = plan.trains;
    *to = plan;
    own->upload(&to->trains.first, t.first, (size_t) t.units + 1, stream);
    own->upload(&to->trains.tick, t.tick, t.events, stream);
    own->upload(&to->trains.trial, t.trial, t.events, stream);
    own->upload(&to->trains.start, t.start, t.trials, stream);
    own->upload(&to->trains.stop, t.stop, t.trials, stream);
    own->upload(&to->refractory, plan.refractory, t.units, stream);
    own->upload(&to->table, plan.table, (size_t) t.units * plan.table_length, stream);
}

}  // namespace gpu
