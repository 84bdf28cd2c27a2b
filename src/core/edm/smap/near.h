/* The neighbours of one prediction. */
#ifndef SYN_EDM_SMAP_NEAR_H
#define SYN_EDM_SMAP_NEAR_H

#include <stddef.h>
#include <stdint.h>

enum { SYN_SMAP_PARTS = 3, SYN_SMAP_PADDING = 8, SYN_SMAP_SIDE = 4 };

/* `n` made a multiple of `to`. */
static inline size_t syn_smap_padded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* What one prediction is made from: points side by side, those of the neighbours and, in
   between, others. Neighbours are points begin[i] .. end[i] - 1 of each part, some of
   which may be empty. Arrays are readable to `stride`, which is at least SYN_SMAP_PADDING
   above the number of points. */
typedef struct syn_smap_near {
    uint32_t dims;
    size_t stride;
    const double *coordinate;  /* [dims][stride] */
    const double *target;      /* [stride] 0 where it is missing */
    const double *known;       /* [stride] 1, or 0 where the target is missing; NULL where
                                  none is */
    double *distance;          /* [stride] to the point of the prediction */
    uint32_t begin[SYN_SMAP_PARTS], end[SYN_SMAP_PARTS];
    uint32_t n;                /* neighbours whose target is known */
    double mean;               /* distance of all neighbours, */
    double least;              /* and the least one of those whose target is known */
} syn_smap_near;

#endif
