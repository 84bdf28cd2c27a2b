/* The order of rows that are equally near, on a device: core/base/rank.h is compiled for
   the device as well as for the host. */
#ifndef SYN_GPU_BASE_RANK_CUH
#define SYN_GPU_BASE_RANK_CUH

#ifndef SYN_EVERYWHERE
#define SYN_EVERYWHERE static __host__ __device__ inline
#endif

#include "core/base/rank.h"

#endif
