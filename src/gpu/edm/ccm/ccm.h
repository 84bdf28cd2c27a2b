/* Cross mapping on GPUs: core/edm/ccm/ccm.h with the same libraries and neighbours. */
#ifndef SYN_GPU_EDM_CCM_H
#define SYN_GPU_EDM_CCM_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/edm/ccm/ccm.h"
#include "gpu/base/devices.h"

/* syn_ccm_views() on devices[n_devices], numbers from 0. All views share one search for
   neighbours. Rows are dealt out to the devices in parts; their sums are added up in the
   order of the rows, so the number of devices changes nothing. Returns SYN_NO_DEVICE when
   there is no such device or it failed, SYN_NO_MEMORY when the host or a device has none
   left. `reason`, SYN_GPU_TEXT bytes, then holds one plain clause; it is empty after
   SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_ccm(const syn_points *points, const syn_ccm_view *view,
                       uint32_t views, const syn_rows *prediction, uint32_t targets,
                       const syn_ccm_options *options, const int *devices, int n_devices,
                       const syn_watch *watch, syn_ccm_skill *out, char *reason);

#ifdef __cplusplus
}
#endif

#endif
