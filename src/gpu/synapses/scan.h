/* The scan of many pairs of units on GPUs: that of core/synapses/pairs.h. */
#ifndef SYN_GPU_SYNAPSES_SCAN_H
#define SYN_GPU_SYNAPSES_SCAN_H

#include "core/synapses/pairs.h"
#include "gpu/base/devices.h"

/* syn_scan_pairs() on devices, which share the pairs and hold all counts. z, expected and
   noise agree with those of a processor to 1e-9 of their size or of 1, whichever is more;
   of two windows whose z are as near as that either may be given. SYN_OVER_BUDGET: the
   counts do not fit into a device, or into as many bytes of it as the budget has. */
SYN_GPU_FUNCTION(syn_gpu_scan_pairs, const syn_scan_work *work, syn_gpu_call *call)

#endif
