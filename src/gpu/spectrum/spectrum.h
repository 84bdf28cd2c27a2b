/* The maxima of surrogates on GPUs: what core/patterns/spectrum/spectrum.h makes. */
#ifndef SYN_GPU_SPECTRUM_SPECTRUM_H
#define SYN_GPU_SPECTRUM_SPECTRUM_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/patterns/spectrum/spectrum.h"
#include "gpu/base/devices.h"

/* What it took. */
typedef struct syn_gpu_spectrum_report {
    double seconds;
    double making;       /* batches of surrogates, until they are binned, and */
    double searching;    /* going through them; of the device that took longest */
    uint32_t left;       /* surrogates left to the caller */
} syn_gpu_spectrum_report;

/* syn_spectrum_make() on devices[n_devices], numbers from 0; `only` of the options, their
   threads and memory mean nothing. A surrogate whose search took more room than a device
   has for it is left to the caller: left[k], of options->n, is 1 and its row empty; else
   left[k] is 0. The caller frees `out`, also after an error. SYN_NO_DEVICE when there is
   no such device or it failed, SYN_NO_MEMORY when the host or a device has none left,
   SYN_TOO_LARGE beyond a limit. `reason`, SYN_GPU_TEXT bytes, then holds one plain
   clause; it is empty after SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_spectrum(const syn_spectrum_options *options, const int *devices,
                            int n_devices, const syn_watch *watch, syn_spectrum *out,
                            uint8_t *left, syn_gpu_spectrum_report *report, char *reason);

#ifdef __cplusplus
}
#endif

#endif
