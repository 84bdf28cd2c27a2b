/* S-maps between all pairs of many series on GPUs: core/edm/smap/pairs.h. */
#ifndef SYN_GPU_EDM_SMAP_PAIRS_H
#define SYN_GPU_EDM_SMAP_PAIRS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/edm/smap/pairs.h"
#include "gpu/base/devices.h"

/* syn_smap_pairs_make() on devices[n_devices], numbers from 0, which share the libraries.
   Pairs with missing values, and predictions whose normal equations are not precise
   enough, are made on the processor by options->threads. Results do not depend on the
   number of devices. Returns SYN_NO_DEVICE when there is no such device or it failed,
   SYN_NO_MEMORY when the host or a device has none left, SYN_TOO_LARGE beyond a limit.
   `reason`, SYN_GPU_TEXT bytes, then holds one plain clause; it is empty after SYN_OK and
   SYN_INTERRUPTED. */
syn_status syn_gpu_smap_pairs(const syn_series *libraries, const syn_series *targets,
                              const syn_smap_pairs_options *options, const int *devices,
                              int n_devices, const syn_watch *watch,
                              const syn_smap_pairs *out, char *reason);

#ifdef __cplusplus
}
#endif

#endif
