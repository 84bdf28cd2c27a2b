/* What the kernels of pairwise S-maps work on: one batch of libraries on a device, and
   targets whose values are missing at the same steps. */
#ifndef SYN_GPU_EDM_PAIRS_TYPES_CUH
#define SYN_GPU_EDM_PAIRS_TYPES_CUH

#include "gpu/base/warp.cuh"

#include <cstddef>
#include <cstdint>

namespace gpu {

enum {
    PAIR_WARPS = 8,                     /* of a block that multiplies, */
    PAIR_ROWS = 16,                     /* predictions of each of them, */
    PAIR_TILE = PAIR_WARPS * PAIR_ROWS, /* so a block's; rows are padded to these */
    PAIR_POINTS = 64,                   /* points of a library that a block holds */
    PAIR_COLUMNS = 8,                   /* targets, or products, of a tile */
    PAIR_SUMS = 5                       /* p, p^2, y, y^2, p y over predictions p */
};

/* Added to the squared distances of points that have no weight, which moves them out of
   sight. */
constexpr double PAIR_AWAY = 1e300;

constexpr double TWO_LOG2 = 2.8853900817779268;  /* 2 / log(2) */

/* Of a prediction: there is none; it is made here; it is left to the host. */
enum : unsigned char { PAIR_NONE, PAIR_MADE, PAIR_LEFT };

/* How a library was shifted and scaled, and what was counted in it. */
struct pair_library {
    double centre, scale;   /* values are centre + scale times what kernels see */
    double spread;          /* standard deviation of what they see */
    double fall;            /* 2 theta / log(2) */
    uint32_t rows;          /* points */
    uint32_t differ;        /* whether they are not all the same */
    uint32_t made, left, compared;  /* predictions; those whose target is known */
    uint32_t spare;         /* copies have no holes to leave out */
};

/* The squared weight of a point at distance d is 2 to the power of offset - slope d. */
struct pair_fall {
    double offset, slope;
};

/* Which steps of a series are rows: `rows` of them from `first` on, padded to a multiple
   of PAIR_TILE. */
struct rows_shape {
    uint32_t steps, first, rows, padded, exclusion;
};

inline rows_shape make_rows(uint32_t steps, uint32_t first, uint32_t rows,
                            uint32_t exclusion)
{
    uint32_t padded = (rows + PAIR_TILE - 1) / PAIR_TILE * PAIR_TILE;
    return {steps, first, rows, padded, exclusion};
}

/* Rows are steps `first` and those after it: those that can be libraries and predictions
   by their place in the series. Numbers of rows are padded to a multiple of PAIR_TILE.

   The features of a point are 1, its coordinates, and the square of its length with what
   moves it out of sight; products of these with three vectors of a prediction give
   squared distances and two rows of the hat matrix.

   Panels hold what weights are multiplied with in the order in which the lanes of a warp
   take it: [group][row / 4][tile][lane]. See panel_place(). */
struct pairs_job {
    uint32_t libraries;      /* of the batch */
    uint32_t E, steps, rows, padded, pitch, exclusion, first;
    int32_t tau, Tp;
    double theta, ridge;
    uint32_t begin, tiles;   /* predictions: of so many tiles, from this one on */
    uint32_t all_tiles;
    uint32_t quads;          /* features of a point are four times as many */
    uint32_t product_tiles, product_groups, target_tiles, target_groups;
    const unsigned char *known;  /* [padded] whether targets are */
    const double *raw;       /* [libraries][steps] */
    double *x;               /* [libraries][pitch] shifted and scaled, 0 where missing */
    double *feature;         /* [libraries][4 quads][padded], the last of them 0 */
    double *square;          /* [libraries][padded] the squares of lengths alone */
    double *part;            /* [libraries][padded] 1 for points, else 0 */
    uint32_t *before;        /* [libraries][padded + 1] points among the rows before */
    pair_library *library;   /* [libraries] */
    pair_fall *falls;        /* [libraries][padded] */
    unsigned char *state;    /* [libraries][padded] of predictions */
    double *products;        /* panels of each library */
    double *sums;            /* [libraries][tiles PAIR_TILE][columns of all products] */
    double *hat;             /* [libraries][2][E + 1][tiles PAIR_TILE] */
    double *room;            /* for models of many unknowns */
    const double *targets;   /* panels */
    double *column;          /* [libraries][tiles][padded] */
    double *slopes;          /* [libraries][padded] sums of these over all tiles */
    double *partial;         /* [libraries][all_tiles][PAIR_SUMS][columns of targets] */
};

/* Rows after these are padding: blocks that hold PAIR_POINTS at a time stop here. */
inline __host__ __device__ uint32_t padded_points(const pairs_job &job)
{
    return (job.rows + PAIR_POINTS - 1) / PAIR_POINTS * PAIR_POINTS;
}

inline __host__ __device__ uint32_t product_columns(const pairs_job &job)
{
    return job.product_tiles * job.product_groups * PAIR_COLUMNS;
}

inline __host__ __device__ uint32_t target_columns(const pairs_job &job)
{
    return job.target_tiles * job.target_groups * PAIR_COLUMNS;
}

/* Where coordinate k of a row is in the values of its library. */
__device__ inline int64_t place_of(const pairs_job &job, uint32_t row, uint32_t k)
{
    return (int64_t) job.first + row + (int64_t) job.tau * k;
}

/* Where a row and column of products or targets are in their panels. Of eight rows those
   that are even come first: tensor cores give a lane the results of two rows side by
   side, and take others together. */
__device__ inline size_t panel_place(uint32_t padded, uint32_t tiles, uint32_t row,
                                     uint32_t column)
{
    uint32_t wide = tiles * PAIR_COLUMNS;
    size_t four = (size_t) (column / wide) * (padded / 4) + row / 8 * 2 + row % 2;
    return (four * wide + column % wide) * 4 + row % 8 / 2;
}

/* Where row i and column j of a lower triangle are. */
inline __host__ __device__ uint32_t triangle_place(uint32_t i, uint32_t j)
{
    return i * (i + 1) / 2 + j;
}

}  // namespace gpu

#endif
