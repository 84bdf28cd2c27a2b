/* Frequent serial episodes on a GPU: the window engine, level by level on the device. */
#ifndef SYN_GPU_EPISODES_MINE_H
#define SYN_GPU_EPISODES_MINE_H

#include "core/episodes/mine.h"
#include "gpu/base/devices.h"

enum {
    SYN_GPU_UNITS = 65000   /* most frequent units a recording may have */
};

typedef struct syn_gpu_mining {
    double seconds;  /* from the recording being on the devices to the episodes being in
                        host memory */
    double seconds_by_size[SYN_GPU_SIZES + 1];  /* from a level to the next; the last
                                                   element also has what comes after it;
                                                   of several devices, the second what
                                                   each prepares by itself */
    uint64_t candidates[SYN_GPU_MOST];          /* counted by each device */
    int parted;  /* whether lists that did not fit were made part by part */
} syn_gpu_mining;

/* Mines `recording` on the devices of `call` together: the same table, to the last digit,
   as syn_mine_episodes(). Contexts are made at the first call
   in a process. A device may be named twice, which only costs time. The caller frees
   `out` with syn_episodes_free(), also after an error.

   What syn_recording_arrange() adds to a recording is not looked at: devices find it
   themselves.

   options->engine, options->threads and options->distinct_units are not looked at;
   options->max_memory limits what
   each device holds and the episodes in host memory together: where the table of next
   occurrences does not fit there is none, and lists of ends that do not fit are made part
   by part when they are needed. out->peak_memory is that of the first device.

   SYN_OVER_BUDGET: not even two lists fit, or the episodes do not. SYN_TOO_LARGE: more
   than SYN_GPU_UNITS frequent units or SYN_GPU_MOST devices, or a level of 2^31 parents
   times intervals. */
SYN_GPU_MAKER(syn_gpu_mine_episodes,
              (memset(out, 0, sizeof *out), memset(report, 0, sizeof *report)),
              const syn_recording *recording, const syn_mine_options *options,
              syn_gpu_call *call, syn_episodes *out, syn_gpu_mining *report)

#endif
