/* What the kernels of S-maps share: where the points are, what is known of the neighbours
   of a prediction, and weights. */
#pragma once

#include "gpu/edm/neighbours/neighbours.cuh"

namespace gpu {

/* ---- weights ---- */

/* Weights of S-maps: what the kernels compute for each pair of a prediction and a point
   of the library. In double precision throughout, as a weight that is off by 1e-7 may
   move a model by much more. The functions are inlined operation by operation, without
   the slow paths of the mathematical library. */

/* The square root of a number from 0 to 1e300 (below 2e-300 it is 0), to 1e-12 of it. The
   instruction gives 20 bits of its inverse, which one step doubles. */
__device__ inline double root_of(double square)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(square));
    double root = square * y, rest = fma(-root, 0.5 * y, 0.5);
    root = fma(root, rest, root);
    return __double2hiint(square) > 0x01a00000 ? root : 0;
}

/* 2 to the power of x, for x up to 0, to 1e-12 of it; below -1021, 2^-1021. Comparisons
   look at the upper half of a number, as doubles have fewer units than integers. */
__device__ inline double power_of_2(double x)
{
    constexpr double magic = 6755399441055744.0;
    x = (uint32_t) __double2hiint(x) < 0xc08fe800u ? x : -1021;
    double shifted = x + magic;  /* its last bits are the nearest whole number */
    double r = x - (shifted - magic);
    double sum = 1.3259628985906602e-06;
    sum = fma(sum, r, 1.5310081465713665e-05);
    sum = fma(sum, r, 1.5403433832261726e-04);
    sum = fma(sum, r, 1.3333450558565829e-03);
    sum = fma(sum, r, 9.6181291938020053e-03);
    sum = fma(sum, r, 5.5504109412185088e-02);
    sum = fma(sum, r, 2.4022650695641112e-01);
    sum = fma(sum, r, 6.9314718054592916e-01);
    sum = fma(sum, r, 1.0000000000000133e+00);
    return __hiloint2double(__double2hiint(sum) + __double2loint(shifted) * (1 << 20),
                            __double2loint(sum));
}

/* How weights fall with distance: exp(rate (least - distance)). */
struct smap_fall {
    double rate, start;  /* both by log 2 */
};

__device__ inline smap_fall smap_fall_of(double rate, double least)
{
    constexpr double per_log2 = 1.4426950408889634;
    return {rate * per_log2, rate * per_log2 * least};
}

/* The weight of a point: at most 1, also for one that is no neighbour and nearer than the
   least distance of those. */
__device__ inline double smap_weight(double distance, const smap_fall &fall)
{
    double x = fma(-fall.rate, distance, fall.start);
    return power_of_2(__double2hiint(x) < 0 ? x : 0);
}

/* ---- points and neighbours ---- */

/* What the kernels of S-maps share: where the points are, and what is known of the
   neighbours of a prediction. */

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
    uint32_t products;  /* of any two terms, in the order of core/edm/smap/fit.h, */
    uint32_t columns;   /* and the same, made a multiple of SMAP_COLUMNS */
};

enum {
    SMAP_COLUMNS = 8,   /* products come in multiples of these, */
    SMAP_POINTS = 64    /* and points of the library of these, zeros after the last */
};

inline smap_shape smap_shape_of(uint32_t dims)
{
    uint32_t wide = (dims + 3) / 4 * 4, terms = dims + 2;
    uint32_t products = terms * (terms + 1) / 2;
    return {dims, wide, wide + 3, wide % 8 == 0 ? wide + 4 : wide + 8, terms, products,
            (products + SMAP_COLUMNS - 1) / SMAP_COLUMNS * SMAP_COLUMNS};
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
    double *predicted;        /* [predictions][pitch] */
};

/* Which of the library are neighbours of a prediction: all but those at `from` to `to` -
   1 and the one at `drop`. */
struct smap_left_out {
    uint32_t from, to;
    uint32_t drop;            /* UINT32_MAX for none */
    uint32_t known;           /* neighbours whose target is known */
    uint32_t rank;            /* of the prediction's row (core/base/rank.h) */
};

__device__ inline bool smap_is_near(const smap_left_out &out, uint32_t point)
{
    return point - out.from >= out.to - out.from && point != out.drop;
}

/* Distances of the neighbours of a prediction. */
struct smap_distances {
    double mean;
    double least;             /* of those whose target is known */
};

/* What is found in a part of the library. The farthest neighbour, if it is looked for, is
   not in the sum. */
struct smap_found {
    double sum;     /* of distances */
    double least;   /* squared distance of those whose target is known */
    double far;     /* squared distance of the farthest, below 0 for none, */
    uint32_t at;    /* and its place in the library */
};

/* What becomes of a prediction. */
enum smap_fate : unsigned char {
    SMAP_DONE,
    SMAP_REFUSED,     /* to be made again in a more precise way */
    SMAP_UNSPREAD,    /* done, but its variance has lost digits */
    SMAP_NONE         /* no neighbour has a target */
};

/* Results of a part of the predictions: [thetas][predictions], and of coefficients and
   singular values [thetas][dims + 1][predictions]. */
struct smap_results {
    double *prediction, *variance;
    double *coefficient, *singular;  /* or NULL */
    unsigned char *fate;
};

/* A part of the predictions: what all kernels are given. `splits` parts of the library
   have sums of their own. */
struct smap_job {
    smap_points points;
    const uint32_t *library, *prediction;  /* rows of the data */
    const uint32_t *known;      /* [n + 1] how many targets before are known; NULL: all */
    uint32_t k, exclusion;      /* neighbours, and rows near in time that are none */
    uint32_t thetas;
    const double *theta;        /* [thetas] */
    const double *centre;       /* [terms] */
    const ushort2 *factor;      /* [columns] the places of a product's two terms */
    double ridge, missing;
    placed_neighbours lists;    /* [predictions][k] whose rows become places in the
                                   library; NULL where there are none */
    smap_left_out *out;         /* [predictions] with lists only `known` matters */
    smap_distances *distance;   /* [predictions] */
    uint32_t splits;            /* of this launch; of sums after it */
    smap_found *found;          /* [splits][predictions] */
    double *sum;                /* [thetas][splits][predictions][columns] */
    double *spread;             /* [thetas][splits][predictions][3] sums of weights, of
                                   weights times targets and their squares */
    double *room;               /* of models in the making, or NULL for shared memory */
    smap_results results;
};

/* By how much weights fall with distance. Where all distances are 0, all neighbours weigh
   the same. */
__device__ inline double smap_rate(const smap_distances &d, double theta)
{
    return d.mean > 0 ? theta / d.mean : 0;
}

/* ---- gathering points ---- */

/* Puts points as the kernels of S-maps read them: see smap_shape. */

/* The data as they come from the host. */
struct smap_data {
    smap_shape shape;
    uint32_t rows;             /* of the data */
    const double *coordinate;  /* [dims][rows] */
    const double *target;      /* [rows] NaN where missing */
    const uint32_t *library;   /* [n] rows of the data */
    uint32_t n;
};

enum { SMAP_CENTRE_THREADS = 1024 };

/* The mean of each term over the library: of the target where it is known, and 0 of the
   first term. A block for each. */
__global__ void smap_centre(SYN_GPU_JOB smap_data data, double *centre)
{
    __shared__ double sums[SMAP_CENTRE_THREADS];
    __shared__ uint32_t counts[SMAP_CENTRE_THREADS];
    uint32_t term = blockIdx.x;
    const double *x = term > data.shape.dims
                          ? data.target
                          : data.coordinate + (size_t) (term - 1) * data.rows;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = threadIdx.x; term > 0 && i < data.n; i += SMAP_CENTRE_THREADS) {
        double value = x[data.library[i]];
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    sums[threadIdx.x] = sum;
    counts[threadIdx.x] = count;
    for (uint32_t half = SMAP_CENTRE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            counts[threadIdx.x] += counts[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0)
        centre[term] = counts[0] > 0 ? sums[0] / counts[0] : 0;
}

/* A coordinate of the point at a row of the data. */
__device__ inline double smap_coordinate(const smap_data &data, const double *centre,
                                         uint32_t row, uint32_t k)
{
    return k < data.shape.dims
               ? data.coordinate[(size_t) k * data.rows + row] - centre[k + 1]
               : 0;
}

/* The library, and zeros to `padded`, a thread for each point: see smap_points. */
__global__ void smap_gather(SYN_GPU_JOB smap_data data, const double *centre,
                            uint32_t padded, double *to)
{
    uint32_t point = blockIdx.x * blockDim.x + threadIdx.x, wide = data.shape.wide;
    if (point >= padded)
        return;
    bool there = point < data.n;
    uint32_t row = there ? data.library[point] : 0;
    double squares = 0, target = there ? data.target[row] : NAN;
    for (uint32_t k = 0; k < wide; k++) {
        double x = there ? smap_coordinate(data, centre, row, k) : 0;
        to[(size_t) k * padded + point] = x;
        squares = fma(x, x, squares);
    }
    bool known = !isnan(target);
    to += (size_t) wide * padded + point;
    to[0] = known ? target - centre[data.shape.dims + 1] : 0;
    to[padded] = known;
    to[2 * (size_t) padded] = squares;
}

/* The points of predictions, which are rows[n]. */
__global__ void smap_gather_predicted(SYN_GPU_JOB smap_data data, const double *centre,
                                      const uint32_t *rows, uint32_t n, double *to)
{
    uint32_t point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n)
        return;
    to += (size_t) point * data.shape.pitch;
    double squares = 0;
    for (uint32_t k = 0; k < data.shape.pitch; k++) {
        double x = smap_coordinate(data, centre, rows[point], k);
        to[k] = k == data.shape.wide ? squares : x;
        squares = fma(x, x, squares);
    }
}

}  // namespace gpu
