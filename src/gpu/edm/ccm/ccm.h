/* Cross mapping on GPUs: core/edm/ccm/ccm.h with the same libraries and neighbours. */
#ifndef SYN_GPU_EDM_CCM_H
#define SYN_GPU_EDM_CCM_H

#include "core/edm/ccm/ccm.h"
#include "gpu/base/devices.h"

/* syn_ccm_views() on devices. All views share one search for neighbours. Rows are dealt
   out to the devices in parts; their sums are added up in the order of the rows, so the
   number of devices changes nothing. */
SYN_GPU_MAKER(syn_gpu_ccm, memset(out, 0, sizeof *out), const syn_points *points,
              const syn_ccm_view *view, uint32_t views, const syn_rows *prediction,
              uint32_t targets, const syn_ccm_options *options, syn_gpu_call *call,
              syn_ccm_skill *out)

#endif
