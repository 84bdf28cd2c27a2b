/* Surrogates on a device: core/surrogates/unit.h is compiled for the device as well as
   for the host, and a plan of surrogates is copied to the device. */
#pragma once

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "core/surrogates/unit.h"
#include "gpu/base/device.cuh"

#include <cstddef>
#include <cstdint>

namespace gpu {

/* The arrays of a plan on the device that is current. */
class surrogate_arrays {
    array<uint32_t> first_, trial_, table_;
    array<int64_t> tick_, start_, stop_, refractory_;

    template <class T>
    static T *copied(array<T> *to, const T *from, size_t n, cudaStream_t stream)
    {
        to->upload(from, n, stream);
        return to->get();
    }

public:
    /* The plan with these arrays, once the stream has come that far. */
    syn_surrogate_plan upload(const syn_surrogate_plan &plan, cudaStream_t stream)
    {
        const syn_trains &t = plan.trains;
        size_t units = t.units;
        syn_surrogate_plan out = plan;
        out.trains.first = copied(&first_, t.first, units + 1, stream);
        out.trains.tick = copied(&tick_, t.tick, t.events, stream);
        out.trains.trial = copied(&trial_, t.trial, t.events, stream);
        out.trains.start = copied(&start_, t.start, t.trials, stream);
        out.trains.stop = copied(&stop_, t.stop, t.trials, stream);
        out.refractory = copied(&refractory_, plan.refractory, units, stream);
        out.table = copied(&table_, plan.table, units * plan.table_length, stream);
        return out;
    }
};

}  // namespace gpu
