/* Three units whose pairs all have an excess, at lags that agree. */
#ifndef SYN_ASSEMBLIES_TRIANGLES_H
#define SYN_ASSEMBLIES_TRIANGLES_H

#include <stdint.h>

#include "core/assemblies/pairs.h"

/* A triangle has this z at least; also taken for the z of none. */
#define SYN_TRIANGLE_LEAST 4.33

/* Units b and c fire `lag_b` and `lag_c` bins after a. */
typedef struct syn_triangle {
    uint32_t a, b, c;
    uint32_t rung;
    int32_t lag_b, lag_c;
    float z;      /* of the three pairs together, each cut; 0 for none */
    float whole;  /* the same, not cut */
} syn_triangle;

/* The best triangle with each pair a, b on each rung, at
   best[(rung * units + a) * units + b]; the lags from a are those where the pairs have
   their largest excess. `peak` is from syn_lagged_best(). */
syn_status syn_triangles_best(const syn_lagged *pairs, const syn_lagged_peak *peak,
                              syn_triangle *best, const syn_watch *watch);

#endif
