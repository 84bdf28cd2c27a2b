/* The published strategies of counting on a GPU, beside the window engine. */
#ifndef SYN_STRATEGIES_GPU_H
#define SYN_STRATEGIES_GPU_H

/* How the occurrence strategy puts what its threads found into one list. */
enum syn_gpu_compaction {
    SYN_GPU_SCAN,             /* fixed room per thread, prefix sum, then packed */
    SYN_GPU_ATOMIC,           /* each thread reserves room by adding to a counter */
    SYN_GPU_COUNT_SCAN_WRITE  /* counted first, prefix sum, then written in place */
};

#endif
