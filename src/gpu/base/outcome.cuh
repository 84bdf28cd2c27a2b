/* How work on a device ends. Functions throw what goes wrong; outcome_of() catches it and
   makes a status and a reason of it, which C can read. */
#pragma once

#include "core/base/status.h"
#include "gpu/base/device.cuh"
#include "gpu/base/devices.h"

#include <cstdio>
#include <exception>

namespace gpu {

/* Ends the work with a status other than a CUDA error's. */
struct refusal {
    syn_status status;
    char text[SYN_GPU_TEXT];

    refusal(syn_status why, const char *words) : status(why)
    {
        std::snprintf(text, sizeof text, "%s", words);
    }
    template <class... T> refusal(syn_status why, const char *format, T... values)
        : status(why)
    {
        std::snprintf(text, sizeof text, format, values...);
    }
};

/* Ends the work unless a part of it on the host went well. */
inline void check_host(syn_status status)
{
    if (status != SYN_OK)
        throw refusal(status, "%s",
                      status == SYN_NO_MEMORY ? "the host has no memory left" : "");
}

struct outcome {
    syn_status status = SYN_OK;
    char reason[SYN_GPU_TEXT] = "";
};

template <class F> outcome outcome_of(F run)
{
    outcome out;
    try {
        run();
    } catch (const refusal &why) {
        out.status = why.status;
        std::snprintf(out.reason, SYN_GPU_TEXT, "%s", why.text);
    } catch (const failure &why) {
        bool memory = why.error == cudaErrorMemoryAllocation;
        out.status = memory ? SYN_NO_MEMORY : SYN_NO_DEVICE;
        syn_gpu_explain(why.error, out.reason);
    } catch (const std::exception &) {
        out.status = SYN_NO_MEMORY;
        std::snprintf(out.reason, SYN_GPU_TEXT, "the host has no memory or threads left");
    }
    return out;
}

/* The same for a function that C calls: `reason` has SYN_GPU_TEXT bytes. */
template <class F> syn_status status_of(char *reason, F run)
{
    outcome end = outcome_of(run);
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

/* Refuses a process that has no threads and contexts of its own. */
inline void check_not_forked()
{
    if (syn_gpu_forked())
        throw refusal(SYN_NO_DEVICE,
                      "this is a forked process, where CUDA cannot be used");
}

/* Refuses devices that are not there, and a process that cannot use any. */
inline void check_devices(const int *devices, int n)
{
    check_not_forked();
    int there = 0;
    check(cudaGetDeviceCount(&there));
    for (int i = 0; i < n; i++)
        if (devices[i] < 0 || devices[i] >= there)
            throw refusal(SYN_NO_DEVICE, "there is no GPU %d among %d", devices[i] + 1,
                          there);
}

}  // namespace gpu
