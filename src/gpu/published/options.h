/* Which published strategy of counting episodes counts, and how. */
#ifndef SYN_GPU_PUBLISHED_OPTIONS_H
#define SYN_GPU_PUBLISHED_OPTIONS_H

#include <stdint.h>

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

#endif
