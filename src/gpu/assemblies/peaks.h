/* Where peaks come from on GPUs: what core/assemblies/source.h makes on processors. */
#ifndef SYN_GPU_ASSEMBLIES_PEAKS_H
#define SYN_GPU_ASSEMBLIES_PEAKS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/assemblies/peaks.h"
#include "gpu/base/devices.h"

struct syn_pair_source;
typedef struct syn_gpu_peaks syn_gpu_peaks;

/* Opens a source of the same peaks as those of `source` on devices[n_devices], numbers
   from 0, which share surrogates. `source` and all it points to must stay. Each device
   holds no more than the limit of the budget of its pairs. Close with
   syn_gpu_peaks_close().

   SYN_NO_DEVICE: no such device, or it failed. SYN_NO_MEMORY: the host or a device has
   none left. SYN_OVER_BUDGET. SYN_TOO_LARGE: lags or segments beyond what a device
   takes. */
syn_status syn_gpu_peaks_open(const struct syn_pair_source *source,
                              const int *devices, int n_devices, syn_gpu_peaks **out,
                              char *reason);

/* The functions of the source. */
syn_peak_source syn_gpu_peaks_functions(syn_gpu_peaks *peaks);

/* One plain clause after an error of these functions, else empty. */
const char *syn_gpu_peaks_reason(const syn_gpu_peaks *peaks);

/* `peaks` may be NULL. */
void syn_gpu_peaks_close(syn_gpu_peaks *peaks);

#ifdef __cplusplus
}
#endif

#endif
