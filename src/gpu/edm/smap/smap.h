/* S-maps on GPUs: core/edm/smap/smap.h. */
#ifndef SYN_GPU_EDM_SMAP_H
#define SYN_GPU_EDM_SMAP_H

#include "core/edm/smap/smap.h"
#include "gpu/base/devices.h"

/* syn_smap() on devices: the same to 1e-7 and better. Models that normal equations do not
   give precisely enough are made on the host. */
SYN_GPU_FUNCTION(syn_gpu_smap, const syn_points *points, const syn_rows *library,
                 const syn_rows *prediction, const double *target,
                 const syn_smap_options *options, syn_gpu_call *call,
                 const syn_smap_result *out)

#endif
