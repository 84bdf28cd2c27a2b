/* The search of every library row, in one or many state spaces: for small libraries, for
   k too large for the filter, and for the few rows whose lists of candidates overflow
   there. */
#ifndef SYN_GPU_EDM_EXACT_CUH
#define SYN_GPU_EDM_EXACT_CUH

#include "gpu/edm/near.cuh"
#include "gpu/edm/neighbours.cuh"

namespace gpu {

enum {
    EXACT_WARPS = 4,    /* of a block */
    EXACT_SHARED = 512  /* most places of a list in shared memory */
};

/* State spaces, searched side by side. */
struct spaces {
    uint32_t n;
    const uint32_t *column;  /* [n][dims] which coordinates; NULL: the first of them */
    uint32_t dims;           /* coordinates of a space, */
    uint32_t more;           /* and of each next one so many more */
    const uint32_t *reach;   /* [library] rows are only in the first so many; or NULL */
    const uint32_t *reach_of;/* [prediction] likewise */
    uint32_t k, more_k;      /* neighbours, likewise */
};

struct exact_job {
    placed_points points;
    placed_rows library, prediction;
    spaces in;
    const uint32_t *which;  /* [prediction.n] which rows; NULL: all of them */
    const uint32_t *number; /* of prediction rows: their places in `out`; may be NULL */
    uint32_t exclusion;
    uint32_t room;          /* of a list: a power of two, at least k + 2 * WARP */
    near_place *lists;      /* [warps of the grid][room]; NULL: in shared memory */
    uint32_t k;             /* places of a row in `out` */
    placed_neighbours out;  /* [spaces][stride] */
    uint32_t stride;        /* at least the prediction rows */
};

/* What a search of all distances may need beside its job. */
struct exact_memory {
    array<near_place> *lists;
};

/* Fills in `room` and `lists`, and searches. In neighbours.cu. */
void search_all(exact_job job, const exact_memory &memory, cudaStream_t stream);

}  // namespace gpu

#endif
