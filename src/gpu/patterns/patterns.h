/* The patterns of a recording on GPUs: what core/patterns/mine.h finds. */
#ifndef SYN_GPU_PATTERNS_PATTERNS_H
#define SYN_GPU_PATTERNS_PATTERNS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/patterns/engine.h"
#include "gpu/base/devices.h"

/* Devices that mine together, and what it took. */
typedef struct syn_gpu_patterns {
    const int *devices;         /* [n_devices] numbers from 0 */
    int n_devices;
    double preparing;           /* seconds: roots, their children and rows, */
    double searching;           /* the search, */
    double fetching;            /* and what was found, put in order and copied; of the
                                   device that took longest */
    uint32_t left;              /* roots left to the caller */
    uint32_t again;             /* batches that found more than there was room for, and
                                   were searched again, in two or more parts */
    char reason[SYN_GPU_TEXT];  /* one plain clause after an error, else empty */
} syn_gpu_patterns;

/* Mines the shares of whole roots, as a syn_pattern_device does; `self` is a
   syn_gpu_patterns. Each device holds no more than the limit of the search's budget.
   A root whose search takes more room than a device has is left: its parts are not done.
   SYN_NO_DEVICE when there is no such device or it failed, SYN_NO_MEMORY when the host or
   a device has none left, SYN_OVER_BUDGET, SYN_TOO_LARGE beyond a limit. */
syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search);

#ifdef __cplusplus
}
#endif

#endif
