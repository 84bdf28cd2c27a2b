/* Maxima of surrogates on GPUs: the largest numbers of occurrences of patterns of so many
   spikes or more, as core/patterns_maxima.h has them. */
#ifndef SYN_SPECTRUM_GPU_H
#define SYN_SPECTRUM_GPU_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/patterns.h"
#include "core/surrogates.h"
#include "gpu/synfire_gpu.h"

enum { SYN_GPU_SPECTRUM_SIZES = 128 };  /* sizes there is room for, from 0 */

typedef struct syn_gpu_spectrum_options {
    const syn_surrogate_plan *plan;
    int64_t width;                       /* ticks of a bin */
    const syn_pattern_options *patterns; /* engine, shares, threads and memory mean
                                            nothing; the target is closed or closed
                                            within */
    int by_duration;
    uint64_t first;                      /* number of the first surrogate */
    uint32_t n;
    const int *devices;                  /* [n_devices] numbers from 0 */
    int n_devices;
} syn_gpu_spectrum_options;

/* What it took. */
typedef struct syn_gpu_spectrum_report {
    double seconds;
    double sets;         /* looked at */
    uint32_t left;       /* surrogates left to the caller */
} syn_gpu_spectrum_report;

/* Fills maximum[n][durations][SYN_GPU_SPECTRUM_SIZES], where durations is 1 or the bins of
   a window: 0 where there is no pattern, and from min_spikes on alone. A surrogate whose
   search took more room than a device has is left to the caller: left[s] is 1, else 0.
   SYN_NO_DEVICE when there is no such device or it failed, SYN_NO_MEMORY when the host or
   a device has none left, SYN_TOO_LARGE beyond a limit. `reason`, SYN_GPU_TEXT bytes, then
   holds one plain clause; it is empty after SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_spectrum(const syn_gpu_spectrum_options *options,
                            const syn_watch *watch, uint32_t *maximum, uint8_t *left,
                            syn_gpu_spectrum_report *report, char *reason);

#ifdef __cplusplus
}
#endif

#endif
