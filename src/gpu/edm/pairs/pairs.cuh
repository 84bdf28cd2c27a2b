/* What the kernels of pairwise S-maps work on, which those of conditional forecasts
   share: one batch of libraries on a device, and targets whose values are missing at
   the same steps; its memory, and which kernels take it. */
#pragma once

#include "gpu/base/launch.cuh"

namespace gpu {

enum {
    PAIR_WARPS = 8,                     /* of a block that multiplies, */
    PAIR_ROWS = 16,                     /* predictions of each of them, */
    PAIR_THREADS = PAIR_WARPS * WARP,   /* in all; */
    PAIR_TILE = PAIR_WARPS * PAIR_ROWS, /* a block's; rows are padded to these */
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

/* Rows are `rows` steps from `first` on: those that can be libraries and predictions by
   their place in the series. Numbers of rows are padded to a multiple of PAIR_TILE.

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

/* What a job has from its rows. */
inline pairs_job make_job(uint32_t steps, uint32_t first, uint32_t rows,
                          uint32_t exclusion)
{
    pairs_job job = {};
    job.steps = steps;
    job.first = first;
    job.rows = rows;
    job.exclusion = exclusion;
    job.tiles = job.all_tiles = (rows + PAIR_TILE - 1) / PAIR_TILE;
    job.padded = job.tiles * PAIR_TILE;
    return job;
}

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

/* ---- memory ---- */

/* Room for so many libraries in the arrays that the kernels of gpu/edm/pairs/launch.cu
   use: together the libraries have so many features and columns of products for each row,
   and so many sums. */
inline void reserve_pairs(arrays *own, pairs_job *job, size_t libraries, size_t features,
                          size_t columns, size_t all_sums)
{
    size_t padded = job->padded;
    own->ensure(&job->feature, features * padded);
    own->ensure_all(libraries * padded, &job->square, &job->part, &job->falls,
                    &job->state);
    own->ensure(&job->before, libraries * (padded + 1));
    own->ensure(&job->library, libraries);
    own->ensure(&job->products, columns * padded);
    own->ensure(&job->sums, all_sums);
}

/* The same for the libraries of a job, with the sums of so many rows of each. */
inline void place_pairs(arrays *own, pairs_job *job, size_t rows)
{
    size_t n = job->libraries, columns = n * product_columns(*job);
    reserve_pairs(own, job, n, n * 4 * job->quads, columns, columns * rows);
}

/* Bytes that all this takes for one library, about. */
inline double bytes_of_pairs(const pairs_job &job, double rows)
{
    double columns = product_columns(job);
    return 8.0 * (job.padded * (columns + 4 * job.quads + 6) + rows * columns);
}

/* ---- which kernels ---- */

/* Calls body with a constant: for how many features there are kernels, from `features`
   on, in fours. */
template <class F> void with_quads(uint32_t features, F body)
{
    with_number<2, 4, 6, 8>((features + 3) / 4, body);
}

/* The most tiles whose sums fit registers beside the features of predictions. */
inline constexpr int most_tiles(int quads)
{
    return quads <= 2 ? 13 : quads <= 6 ? 9 : 6;
}

/* Calls body with two constants: that of with_quads() for E coordinates, and for how many
   tiles there are kernels, from `tiles` on. These are few, as compilers take long. */
template <class F> void with_shape(uint32_t E, uint32_t tiles, F body)
{
    with_quads(E + 2, [&](auto quads) {
        with_number<3, 6, most_tiles(quads)>(tiles, [&](auto n) { body(quads, n); });
    });
}

template <class KERNEL>
void launch_pairs(KERNEL kernel, const pairs_job &job, dim3 grid, size_t shared,
                  cudaStream_t stream)
{
    allow_shared(kernel, shared);
    launch(kernel, grid, PAIR_THREADS, shared, stream, job);
}

/* Seconds for a pair of a prediction and a point, roughly, on a large device: of so many
   tiles of columns in so many groups. */
double seconds_of_pair(double tiles, double groups, uint32_t quads);

/* How columns are cut into groups of tiles, so that a block can hold them and the product
   takes the least time. */
void cut_columns(uint32_t columns, uint32_t features, size_t shared, uint32_t *tiles,
                 uint32_t *groups);

/* Decides which kernels make the normal equations of a job: of E coordinates, with so
   many columns of products. */
void choose_products(uint32_t E, uint32_t columns, size_t shared, pairs_job *job);

void launch_survey(const pairs_job &job, cudaStream_t stream);
void launch_products(const pairs_job &job, cudaStream_t stream);

/* ---- points ---- */

/* Which rows of a library are points. */

enum { PREPARE = 256 };

struct found_points {
    uint32_t one;  /* a row that is a point, if any is */
    bool differ;   /* whether they are not all the same */
};

/* Finds those rows for which complete(row) is true, and how many of them come before
   each. Points are the same where alike(row, other) says so. A block for each library,
   with the same result in all threads. */
template <class COMPLETE, class ALIKE>
__device__ found_points find_points(const pairs_job &job, uint32_t which,
                                    COMPLETE complete, ALIKE alike)
{
    __shared__ uint32_t room[PREPARE / WARP], one;
    size_t at = (size_t) which * job.padded;
    uint32_t share = (job.padded + PREPARE - 1) / PREPARE;
    uint32_t from = min(threadIdx.x * share, job.padded);
    uint32_t to = min(from + share, job.padded), n = 0, all;
    if (threadIdx.x == 0)
        one = 0;
    __syncthreads();
    for (uint32_t row = from; row < to; row++) {
        bool is = row < job.rows && complete(row);
        job.part[at + row] = is;
        n += is;
        if (is)
            atomicMax(&one, row);  /* any would do */
    }
    uint32_t sum = block_sum_below(n, room, &all);
    uint32_t *before = job.before + (size_t) which * (job.padded + 1);
    bool differs = false;
    for (uint32_t row = from; row < to; row++) {
        before[row] = sum;
        if (job.part[at + row] == 0)
            continue;
        sum++;
        differs = differs || !alike(row, one);
    }
    if (threadIdx.x == 0)
        before[job.padded] = job.library[which].rows = all;
    return {one, __syncthreads_or(differs) != 0};
}

}  // namespace gpu
