/* The published strategies of counting episodes on GPUs, as a counter for the level-wise
   search (core/episodes/mine.h). */
#ifndef SYN_GPU_PUBLISHED_STRATEGIES_H
#define SYN_GPU_PUBLISHED_STRATEGIES_H

#include "core/episodes/mine.h"
#include "gpu/base/devices.h"

/* Which published strategy counts, and how. */
typedef enum syn_gpu_strategy {
    SYN_GPU_PTPE,       /* a thread per episode */
    SYN_GPU_MTPE,       /* threads for segments of the recording, put together exactly */
    SYN_GPU_HYBRID,     /* MTPE for few episodes, PTPE for many */
    SYN_GPU_TWO_PASS,   /* an upper bound first, hybrid for what it leaves */
    SYN_GPU_OCCURRENCE  /* a thread per occurrence */
} syn_gpu_strategy;

/* How partial occurrences get from one step to the next. The first two are ours. */
typedef enum syn_gpu_compaction {
    SYN_GPU_COUNT_ONCE,       /* a search that is remembered, then a prefix sum */
    SYN_GPU_ONE_COUNTER,      /* every thread adds to one counter; sorted at the end */
    SYN_GPU_ATOMIC_COMPACT,   /* threads add to their block's, blocks to one; sorted */
    SYN_GPU_CUDPP_COMPACT,    /* a prefix sum over a sparse array */
    SYN_GPU_COUNT_SCAN_WRITE  /* a search to count, a prefix sum, a search to write */
} syn_gpu_compaction;

typedef struct syn_gpu_strategy_options {
    syn_gpu_strategy strategy;
    uint32_t min_count;         /* what the two passes rule candidates out by */
    double a, b;                /* hybrid: MTPE below (a / size + b) full devices */
    uint32_t segments;          /* of MTPE, or 0 to fill the device */
    int published;              /* also try the paper's merge of MTPE */
    syn_gpu_compaction compaction;  /* of the last strategy */
    int dedup;                  /* of the last strategy: one occurrence an end */
} syn_gpu_strategy_options;

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
