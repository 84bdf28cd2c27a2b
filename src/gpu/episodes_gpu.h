/* Frequent serial episodes on a GPU: the window engine, level by level on the device. */
#ifndef SYN_EPISODES_GPU_H
#define SYN_EPISODES_GPU_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/episodes.h"

enum { SYN_GPU_UNITS = 255 };  /* most frequent units a recording may have */

/* Mines `recording` on the first of `n_devices` devices (from 0), at least one: the same
   table, to the last digit, as syn_mine_episodes(). The context is made at the first call
   in a process. The caller frees `out` with syn_episodes_free(), also after an error.

   options->engine and options->threads are not looked at; options->max_memory limits the
   episodes in host memory, and what is free on the device the rest. `seconds`, unless
   NULL, gets the time from the recording being on the device to the episodes being in
   host memory. out->peak_memory is that of the device.

   SYN_NO_DEVICE: no such device, or it failed. SYN_NO_MEMORY: the host or the device has
   none left. SYN_TOO_LARGE: more than SYN_GPU_UNITS frequent units, a window of more than
   65,534 events, or a level of 2^31 parents times intervals. `reason`, SYN_GPU_TEXT
   bytes, then holds one plain clause; it is empty after SYN_OK and SYN_INTERRUPTED. */
syn_status syn_gpu_mine_episodes(const syn_recording *recording,
                                 const syn_mine_options *options, const int *devices,
                                 int n_devices, const syn_watch *watch,
                                 syn_episodes *out, double *seconds, char *reason);

#ifdef __cplusplus
}
#endif

#endif
