/* The patterns of a recording on GPUs: what core/patterns/mine.h finds. */
#ifndef SYN_GPU_PATTERNS_PATTERNS_H
#define SYN_GPU_PATTERNS_PATTERNS_H

#include "core/patterns/engine.h"
#include "gpu/base/devices.h"

/* Devices that mine together, and what it took. */
typedef struct syn_gpu_patterns {
    syn_gpu_call call;          /* its watch is that of the search */
    double preparing;           /* seconds: roots, their children and rows, */
    double searching;           /* the search, */
    double fetching;            /* and what was found, put in order and copied; of the
                                   device that took longest */
    uint32_t left;              /* roots left to the caller */
    uint32_t again;             /* batches that found more than there was room for, and
                                   were searched again, in two or more parts */
} syn_gpu_patterns;

/* Mines the shares of whole roots, as a syn_pattern_device does; `self` is a
   syn_gpu_patterns. Each device holds no more than the limit of the search's budget.
   A root whose search takes more room than a device has is left: its parts are not
   done. */
syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search);

#endif
