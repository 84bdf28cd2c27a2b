/* The patterns of a recording on GPUs: what core/patterns/mine.h finds. */
#ifndef SYN_GPU_PATTERNS_PATTERNS_H
#define SYN_GPU_PATTERNS_PATTERNS_H

#include "core/patterns/engine.h"
#include "gpu/base/devices.h"

/* Mines the shares of whole roots, as a syn_pattern_device does; `self` is a
   syn_gpu_call whose watch is that of the search. Each device holds no more than the
   limit of the search's budget. A root whose search takes more room than a device has is
   left: its parts are not done. */
syn_status syn_gpu_mine_patterns(void *self, struct syn_pattern_search *search);

#endif
