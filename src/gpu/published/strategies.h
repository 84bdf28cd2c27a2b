/* The published strategies of counting episodes on GPUs, as a counter for the level-wise
   search (core/episodes/mine.h). */
#ifndef SYN_GPU_PUBLISHED_STRATEGIES_H
#define SYN_GPU_PUBLISHED_STRATEGIES_H

#include "core/episodes/mine.h"
#include "gpu/base/devices.h"
#include "gpu/published/options.h"

/* What happened, by size. Times are those of the kernels, from CUDA's events; of several
   devices that count together, the longest. */
typedef struct syn_gpu_strategy_report {
    double seconds[SYN_GPU_SIZES + 1];      /* without those of the published merge */
    double copy_seconds[SYN_GPU_SIZES + 1];       /* candidates in, counts out */
    double published_seconds[SYN_GPU_SIZES + 1];  /* the published merge, its machines */
    uint64_t unmatched[SYN_GPU_SIZES + 1];  /* episodes beyond the published merge */
    uint64_t miscounted[SYN_GPU_SIZES + 1]; /* to which it gives another count */
    uint64_t segmented[SYN_GPU_SIZES + 1];  /* candidates counted by MTPE */
    uint64_t capacity[SYN_GPU_SIZES + 1];   /* threads of PTPE that one device holds */
    uint64_t candidates[SYN_GPU_MOST];      /* counted by each device */
    uint64_t peak_memory;                   /* bytes on all devices that were taken */
} syn_gpu_strategy_report;

/* Opens the devices and copies the recording to each: contexts are made at the first call
   in a process. `recording`, `intervals` and `call`, which also gets the reasons of
   out->count(), must live as long as the counter; `options` need not. `out` counts until
   it is closed. Where memory is short, counting halves its batches first. SYN_TOO_LARGE:
   an episode of more than SYN_GPU_SIZES events, which is what the state machines hold.
   After an error nothing is left open. */
SYN_GPU_MAKER(syn_gpu_counter_open, memset(out, 0, sizeof *out),
              const syn_recording *recording, const syn_interval *intervals,
              uint32_t n_intervals, const syn_gpu_strategy_options *options,
              syn_gpu_call *call, syn_counter *out)

/* What happened since it was opened. */
void syn_gpu_counter_report(const syn_counter *counter, syn_gpu_strategy_report *report);

/* Frees everything on all devices. */
void syn_gpu_counter_close(syn_counter *counter);

#endif
