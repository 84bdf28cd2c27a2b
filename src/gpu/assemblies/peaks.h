/* Where peaks come from on GPUs: what core/assemblies/source.h makes on processors. */
#ifndef SYN_GPU_ASSEMBLIES_PEAKS_H
#define SYN_GPU_ASSEMBLIES_PEAKS_H

#include "core/assemblies/peaks.h"
#include "gpu/base/devices.h"

struct syn_pair_source;
typedef struct syn_gpu_peaks syn_gpu_peaks;

/* Opens a source of the same peaks as those of `source` on the devices of `call`, which
   share surrogates: `functions` are its own. `source`, all it points to and `call`, which
   gets the reasons, must stay. Each device holds no more than the limit of the budget of
   its pairs. Close with syn_gpu_peaks_close(). SYN_OVER_BUDGET. SYN_TOO_LARGE: lags or
   segments beyond what a device takes. */
SYN_GPU_MAKER(syn_gpu_peaks_open, *out = NULL, const struct syn_pair_source *source,
              syn_gpu_call *call, syn_gpu_peaks **out, syn_peak_source *functions)

/* `peaks` may be NULL. */
void syn_gpu_peaks_close(syn_gpu_peaks *peaks);

#endif
