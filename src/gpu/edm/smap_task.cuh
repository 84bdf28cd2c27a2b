/* What the kernels of S-maps share: where the points are, and what is known of the
   neighbours of a prediction. */
#ifndef SYN_GPU_EDM_SMAP_TASK_CUH
#define SYN_GPU_EDM_SMAP_TASK_CUH

#include "gpu/base/warp.cuh"
#include "gpu/edm/weights.cuh"

#include <cstdint>

namespace gpu {

/* How a point stands in memory: its coordinates less their means, zeros up to a multiple
   of four, the target less its mean, whether it is known (1 or 0), and the sum of squares
   of the coordinates. A prediction has this sum right after its coordinates. */
struct smap_shape {
    uint32_t dims;      /* coordinates */
    uint32_t wide;      /* the same, made a multiple of four: the place of the target */
    uint32_t places;    /* wide + 3 */
    uint32_t pitch;     /* doubles from one prediction to the next; the lanes of a warp
                           find them in different banks of shared memory */
    uint32_t terms;     /* dims + 2: 1, the coordinates, the target, in this order */
    uint32_t products;  /* of any two terms, in the order of core/edm/smap_product.h, */
    uint32_t columns;   /* and the same, made a multiple of SMAP_COLUMNS */
};

enum {
    SMAP_COLUMNS = 8,   /* products come in multiples of these, */
    SMAP_POINTS = 64    /* and points of the library of these, zeros after the last */
};

inline smap_shape smap_shape_of(uint32_t dims)
{
    smap_shape s;
    s.dims = dims;
    s.wide = (dims + 3) / 4 * 4;
    s.places = s.wide + 3;
    s.pitch = s.wide % 8 == 0 ? s.wide + 4 : s.wide + 8;
    s.terms = dims + 2;
    s.products = s.terms * (s.terms + 1) / 2;
    s.columns = (s.products + SMAP_COLUMNS - 1) / SMAP_COLUMNS * SMAP_COLUMNS;
    return s;
}

/* Where a term stands in a point. */
__host__ __device__ inline uint32_t smap_place(const smap_shape &s, uint32_t term)
{
    return term == 0 ? s.wide + 1 : term == s.dims + 1 ? s.wide : term - 1;
}

/* The points of a part of the predictions, and all of the library. */
struct smap_points {
    smap_shape shape;
    uint32_t n;               /* of the library */
    uint32_t predictions;     /* of this part */
    uint32_t padded;          /* n, made a multiple of SMAP_POINTS */
    const double *library;    /* [places][padded] */
    const double *predicted;  /* [predictions][pitch] */
};

/* Which of the library are neighbours of a prediction: all but those at `from` to `to` -
   1 and the one at `drop`. */
struct smap_left_out {
    uint32_t from, to;
    uint32_t drop;            /* UINT32_MAX for none */
    uint32_t known;           /* neighbours whose target is known */
};

__device__ inline bool smap_is_near(const smap_left_out &out, uint32_t point)
{
    return point - out.from >= out.to - out.from && point != out.drop;
}

/* Neighbours that are listed: places in the library and distances, in the order of
   core/edm/edm.h. */
struct smap_lists {
    const uint32_t *found;    /* [predictions]; NULL where there are no lists */
    const uint32_t *place;    /* [predictions][k] */
    const double *distance;   /* [predictions][k] */
    uint32_t k;
};

/* Distances of the neighbours of a prediction. */
struct smap_distances {
    double mean;
    double least;             /* of those whose target is known */
};

/* By how much weights fall with distance. Where all distances are 0, all neighbours weigh
   the same. */
__device__ inline double smap_rate(const smap_distances &d, double theta)
{
    return d.mean > 0 ? theta / d.mean : 0;
}

}  // namespace gpu

#endif
