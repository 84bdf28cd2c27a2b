/* Lag histograms of all pairs of units on GPUs: those of core/correlation/lags.h. */
#ifndef SYN_GPU_CORRELATION_LAGS_H
#define SYN_GPU_CORRELATION_LAGS_H

#include "core/correlation/lags.h"
#include "gpu/base/devices.h"

/* syn_lag_histograms() on devices, which share the units that are targets. Each holds at
   most `max_memory` bytes; options->threads is not looked at. SYN_TOO_LARGE also where
   two units have more than 2^32 - 1 pairs of spikes within the lags, and where a device
   has no room for a histogram of so many lags; SYN_OVER_BUDGET. */
SYN_GPU_FUNCTION(syn_gpu_lag_histograms, const syn_recording *recording,
                 const syn_lag_options *o, size_t max_memory, syn_gpu_call *call,
                 int32_t *count)

#endif
