/* S-maps between all pairs of many series on GPUs: core/edm/smap/pairs.h. */
#ifndef SYN_GPU_EDM_SMAP_PAIRS_H
#define SYN_GPU_EDM_SMAP_PAIRS_H

#include "core/edm/smap/pairs.h"
#include "gpu/base/devices.h"

/* syn_smap_pairs_make() on devices, which share the libraries. Pairs with missing values,
   and predictions whose normal equations are not precise enough, are made on the
   processor by options->threads. Results do not depend on the number of devices. */
SYN_GPU_FUNCTION(syn_gpu_smap_pairs, const syn_series *libraries,
                 const syn_series *targets, const syn_smap_pairs_options *options,
                 syn_gpu_call *call, const syn_smap_pairs *out)

#endif
