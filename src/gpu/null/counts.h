/* Counts of episodes in surrogates on GPUs: those of core/episodes/null/counts.h. */
#ifndef SYN_GPU_NULL_COUNTS_H
#define SYN_GPU_NULL_COUNTS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/episodes/null/line.h"
#include "core/episodes/null/counts.h"
#include "gpu/base/devices.h"

/* syn_null_counts() on devices[n_devices], numbers from 0: surrogates are made, sorted
   and counted there, many at a time. options->max_memory limits what a device holds;
   options->threads is not looked at.

   SYN_NO_DEVICE: no such device, or it failed. SYN_NO_MEMORY: the host or a device has
   none left. SYN_OVER_BUDGET: not even one surrogate fits. SYN_TOO_LARGE: more than
   SYN_GPU_MOST devices. `reason`, SYN_GPU_TEXT bytes, then holds one plain clause; it is
   empty after SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_null_counts(const syn_line_layout *layout, const syn_trie *trie,
                               size_t episodes, const syn_null_options *options,
                               const int *devices, int n_devices, const syn_watch *watch,
                               uint32_t *count, char *reason);

#ifdef __cplusplus
}
#endif

#endif
