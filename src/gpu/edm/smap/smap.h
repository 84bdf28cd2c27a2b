/* S-maps on GPUs: core/edm/smap/smap.h. */
#ifndef SYN_GPU_EDM_SMAP_H
#define SYN_GPU_EDM_SMAP_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/edm/smap/smap.h"
#include "gpu/base/devices.h"

/* syn_smap() on devices[n_devices], numbers from 0: the same to 1e-7 and better. Models
   that normal equations do not give precisely enough are made on the host.

   Returns SYN_NO_DEVICE when there is no such device or it failed, SYN_NO_MEMORY when the
   host or a device has none left. `reason`, SYN_GPU_TEXT bytes, then holds one plain
   clause; it is empty otherwise. */
syn_status syn_gpu_smap(const syn_points *points, const syn_rows *library,
                        const syn_rows *prediction, const double *target,
                        const syn_smap_options *options, const int *devices,
                        int n_devices, const syn_watch *watch,
                        const syn_smap_result *out, char *reason);

#ifdef __cplusplus
}
#endif

#endif
