/* Models from their normal equations, and the variance of what they predict. */
#pragma once

#include "gpu/edm/smap/points.cuh"

#include <cfloat>

namespace gpu {

/* ---- models ---- */

/* Models from their normal equations, a warp for each. The steps, and the bounds that
   refuse a model which rounding may have spoilt, are those of core/edm/smap_normal.c;
   there, a model is made by one thread. */

constexpr double SMAP_MOST_ERROR = 1e-9;       /* of a model, */
constexpr double SMAP_MOST_CONDITION = 1e16;   /* of equations with one solution */
constexpr double SMAP_LOST_SPREAD = 1e-6;      /* a variance below this part of the mean
                                                  square has lost digits */

enum { SMAP_SWEEPS = 60, SMAP_SOLVERS = 4 };   /* warps of a block */

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

struct smap_equations {
    smap_points points;
    smap_lists lists;
    const smap_left_out *out;
    const smap_distances *distance;
    const double *theta;
    const double *centre;       /* [terms] */
    const double *sum, *spread; /* of smap_product.cuh */
    uint32_t thetas, splits;
    double ridge, missing;
    double *room;               /* for all warps of a launch, or NULL for shared memory */
    smap_results results;
};

/* The memory of a warp. */
struct smap_bench {
    uint32_t n, pitch;    /* unknowns; pitch is odd, so that columns are in many banks */
    double *sum;          /* [products] */
    double *lower;        /* [n][pitch] */
    double *inverse;      /* [n][pitch] */
    double *scale, *along, *model, *fit;  /* [n] */
};

__host__ __device__ inline size_t smap_bench_doubles(const smap_shape &s)
{
    size_t n = s.dims + 1, pitch = n | 1;
    return s.products + 2 * n * pitch + 4 * n;
}

__device__ inline smap_bench smap_take_bench(const smap_shape &s, double *memory)
{
    smap_bench b;
    b.n = s.dims + 1;
    b.pitch = b.n | 1;
    b.sum = memory;
    b.lower = b.sum + s.products;
    b.inverse = b.lower + b.n * b.pitch;
    b.scale = b.inverse + b.n * b.pitch;
    b.along = b.scale + b.n;
    b.model = b.along + b.n;
    b.fit = b.model + b.n;
    return b;
}

/* The sum of products of terms j and k, j <= k. */
__device__ inline double sum_of(const smap_bench &b, uint32_t j, uint32_t k)
{
    return b.sum[j * (b.n + 1) - j * (j + 1) / 2 + k];
}

/* Sums of all splits; adds what the ridge asks for to the squares of slopes. */
__device__ inline void load_sums(const smap_equations &job, const smap_bench &b,
                                 uint32_t theta, uint32_t prediction)
{
    const smap_shape &s = job.points.shape;
    uint32_t lane = threadIdx.x % WARP;
    size_t step = (size_t) job.points.predictions * s.columns;
    const double *from = job.sum + (size_t) theta * job.splits * step +
                         (size_t) prediction * s.columns;
    for (uint32_t c = lane; c < s.products; c += WARP) {
        double sum = 0;
        for (uint32_t split = 0; split < job.splits; split++)
            sum += from[split * step + c];
        b.sum[c] = sum;
    }
    __syncwarp();
    double hold = job.ridge * b.sum[0];
    for (uint32_t j = 1 + lane; j < b.n; j += WARP)
        b.sum[j * (b.n + 1) - j * (j + 1) / 2 + j] += hold;
    __syncwarp();
}

__device__ inline bool scale_terms(const smap_bench &b)
{
    bool fine = true;
    for (uint32_t j = threadIdx.x % WARP; j < b.n; j += WARP) {
        double square = sum_of(b, j, j);
        fine = fine && square > 1e-290 && square < 1e290;
        b.scale[j] = 1 / sqrt(square);
    }
    __syncwarp();
    return __all_sync(WHOLE_WARP, fine);
}

/* The lower triangle, column by column; false where the equations nearly depend on each
   other. */
__device__ inline bool factorise(const smap_bench &b)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t j = 0; j < b.n; j++) {
        const double *other = b.lower + j * b.pitch;
        for (uint32_t i = j + lane; i < b.n; i += WARP) {
            double *row = b.lower + i * b.pitch;
            double rest = sum_of(b, j, i) * b.scale[j] * b.scale[i];
            for (uint32_t k = 0; k < j; k++)
                rest = fma(-row[k], other[k], rest);
            row[j] = rest;
        }
        __syncwarp();
        double pivot = other[j];
        if (!(pivot > DBL_EPSILON / SMAP_MOST_ERROR))
            return false;
        double root = sqrt(pivot), per = 1 / root;
        __syncwarp();
        for (uint32_t i = j + lane; i < b.n; i += WARP)
            b.lower[i * b.pitch + j] = i == j ? root : b.lower[i * b.pitch + j] * per;
        __syncwarp();
    }
    return true;
}

/* The inverse of the triangle, a lane for each column; returns the sum of its squares. */
__device__ inline double invert(const smap_bench &b)
{
    double norm = 0;
    for (uint32_t c = threadIdx.x % WARP; c < b.n; c += WARP)
        for (uint32_t i = 0; i < b.n; i++) {
            const double *row = b.lower + i * b.pitch;
            double rest = i == c ? 1 : 0;
            for (uint32_t k = c; k < i; k++)
                rest = fma(-row[k], b.inverse[k * b.pitch + c], rest);
            double value = i < c ? 0 : rest / row[i];
            b.inverse[i * b.pitch + c] = value;
            norm = fma(value, value, norm);
        }
    __syncwarp();
    return warp_total(norm);
}

/* The scaled model; returns the square of its length. */
__device__ inline double solve(const smap_bench &b)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t i = lane; i < b.n; i += WARP) {
        double along = 0;
        for (uint32_t j = 0; j <= i; j++)
            along += b.inverse[i * b.pitch + j] * (b.scale[j] * sum_of(b, j, b.n));
        b.along[i] = along;
    }
    __syncwarp();
    double square = 0;
    for (uint32_t j = lane; j < b.n; j += WARP) {
        double value = 0;
        for (uint32_t i = j; i < b.n; i++)
            value = fma(b.along[i], b.inverse[i * b.pitch + j], value);
        b.model[j] = value;
        square = fma(value, value, square);
    }
    __syncwarp();
    return warp_total(square);
}

/* Whether the error of the scaled model is small enough. */
__device__ inline bool precise(const smap_bench &b, double norm, double square)
{
    double targets = sum_of(b, b.n, b.n);
    double share = targets > 0 ? sqrt(targets / square) : 0;
    return DBL_EPSILON * b.n * norm * (1 + share) < SMAP_MOST_ERROR;
}

/* Coefficients of coordinates as they are from those of scaled ones less their centre. */
__device__ inline void put_back(const smap_bench &b, const double *centre)
{
    double first = 0;
    for (uint32_t k = 1 + threadIdx.x % WARP; k < b.n; k += WARP) {
        double slope = b.model[k] * b.scale[k];
        b.fit[k] = slope;
        first = fma(-slope, centre[k], first);
    }
    first = warp_total(first);
    if (threadIdx.x % WARP == 0)
        b.fit[0] = centre[b.n] + b.model[0] * b.scale[0] + first;
    __syncwarp();
}

/* The condition of the equations of coordinates as they are, or more. */
__device__ inline double condition_of(const smap_bench &b, const double *centre)
{
    double norm = 0, trace = 0, all = sum_of(b, 0, 0);
    for (uint32_t i = threadIdx.x % WARP; i < b.n; i += WARP) {
        const double *row = b.inverse + i * b.pitch;
        double first = b.scale[0] * row[0];
        for (uint32_t k = 1; k < b.n; k++) {
            double slope = b.scale[k] * row[k];
            first = fma(-centre[k], slope, first);
            norm = fma(slope, slope, norm);
        }
        norm = fma(first, first, norm);
        double c = i > 0 ? centre[i] : 0;
        trace += sum_of(b, i, i) + (i > 0 ? c * (2 * sum_of(b, 0, i) + c * all) : 0);
    }
    return warp_total(norm) * warp_total(trace);
}

/* ---- singular values ---- */

/* The triangle of the weighted rows, with coordinates as they are, in place of the
   inverse. */
__device__ inline void make_triangle(const smap_bench &b, const double *centre)
{
    double first = b.lower[0] / b.scale[0];
    __syncwarp();
    for (uint32_t k = threadIdx.x % WARP; k < b.n; k += WARP)
        for (uint32_t i = 0; i < b.n; i++) {
            double value = k < i ? 0 : b.lower[k * b.pitch + i] / b.scale[k];
            value += i == 0 && k > 0 ? centre[k] * first : 0;
            b.inverse[i * b.pitch + k] = value;
        }
    __syncwarp();
}

/* Rotates two rows until they are orthogonal, by two lanes next to each other; whether
   they were not. Rows without a partner, NULL, stay as they are. */
__device__ inline bool separate(double *a, double *b, uint32_t n)
{
    double aa = 0, bb = 0, ab = 0;
    uint32_t end = a && b ? n : 0;
    for (uint32_t i = threadIdx.x % 2; i < end; i += 2) {
        aa = fma(a[i], a[i], aa);
        bb = fma(b[i], b[i], bb);
        ab = fma(a[i], b[i], ab);
    }
    aa += __shfl_xor_sync(WHOLE_WARP, aa, 1);
    bb += __shfl_xor_sync(WHOLE_WARP, bb, 1);
    ab += __shfl_xor_sync(WHOLE_WARP, ab, 1);
    if (fabs(ab) <= n * DBL_EPSILON * sqrt(aa) * sqrt(bb))
        return false;
    double zeta = (bb - aa) / (2 * ab);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = rsqrt(1 + t * t), s = c * t;
    for (uint32_t i = threadIdx.x % 2; i < end; i += 2) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
    return true;
}

/* Rotates all pairs of rows once, in rounds of pairs that have no row in common. As in a
   tournament, one row (the last, or none where their number is odd) stays in its place
   while the others go around. */
__device__ inline bool sweep_rows(const smap_bench &b)
{
    uint32_t around = b.n % 2 ? b.n : b.n - 1;
    bool turned = false;
    for (uint32_t round = 0; round < around; round++) {
        for (uint32_t first = 0; 2 * first <= around; first += WARP / 2) {
            uint32_t pair = first + threadIdx.x % WARP / 2;
            uint32_t p = (round + pair) % around;
            uint32_t q = pair > 0 ? (round + around - pair) % around : around;
            bool there = 2 * pair <= around && q < b.n;
            turned |= separate(there ? b.inverse + p * b.pitch : nullptr,
                               there ? b.inverse + q * b.pitch : nullptr, b.n);
        }
        __syncwarp();
    }
    return __any_sync(WHOLE_WARP, turned);
}

/* One-sided Jacobi rotations; the singular values go to `along`. */
__device__ inline void find_singular(const smap_bench &b)
{
    for (int sweep = 0; sweep_rows(b) && sweep < SMAP_SWEEPS;)
        sweep++;
    for (uint32_t i = threadIdx.x % WARP; i < b.n; i += WARP) {
        double square = 0;
        for (uint32_t j = 0; j < b.n; j++)
            square = fma(b.inverse[i * b.pitch + j], b.inverse[i * b.pitch + j], square);
        b.along[i] = sqrt(square);
    }
    __syncwarp();
}

/* Puts the singular values in decreasing order. */
__device__ inline void put_singular(const smap_bench &b, double scale, size_t stride,
                                    double *to)
{
    for (uint32_t i = threadIdx.x % WARP; i < b.n; i += WARP) {
        uint32_t before = 0;
        for (uint32_t j = 0; j < b.n; j++)
            before += b.along[j] > b.along[i] || (b.along[j] == b.along[i] && j < i);
        to[before * stride] = scale * b.along[i];
    }
}

/* ---- a prediction ---- */

/* The weighted mean square distance of the neighbours' targets from `value`; `fate` tells
   when there are too few digits left. */
__device__ inline double spread_about(const smap_equations &job, uint32_t theta,
                                      uint32_t prediction, double value,
                                      unsigned char *fate)
{
    uint32_t n = job.points.predictions;
    double sum[3] = {0, 0, 0};
    for (uint32_t split = 0; split < job.splits; split++) {
        size_t place = (size_t) (theta * job.splits + split) * n + prediction;
        for (int j = 0; j < 3; j++)
            sum[j] += job.spread[place * 3 + j];
    }
    double mean = sum[1] / sum[0], square = sum[2] / sum[0], apart = mean - value;
    double variance = fmax(square - mean * mean, 0.0) + apart * apart;
    if (!(variance > SMAP_LOST_SPREAD * square))
        *fate = SMAP_UNSPREAD;
    return variance;
}

__device__ inline bool fit_model(const smap_equations &job, const smap_bench &b)
{
    if (!scale_terms(b) || !factorise(b))
        return false;
    double norm = invert(b), square = solve(b);
    if (!precise(b, norm, square))
        return false;
    put_back(b, job.centre);
    return condition_of(b, job.centre) < SMAP_MOST_CONDITION;
}

__device__ inline unsigned char put_model(const smap_equations &job, const smap_bench &b,
                                          uint32_t theta, uint32_t at)
{
    const smap_points &p = job.points;
    const smap_results &to = job.results;
    uint32_t lane = threadIdx.x % WARP, n = p.predictions;
    const double *from = p.predicted + (size_t) at * p.shape.pitch;
    double value = 0;
    for (uint32_t k = lane; k < p.shape.dims; k += WARP)
        value = fma(b.fit[k + 1], from[k], value);
    /* The point is less its centre, and so is the target here. */
    value = warp_total(value) + b.model[0] * b.scale[0];
    unsigned char fate = SMAP_DONE;
    double variance = spread_about(job, theta, at, value, &fate);
    size_t place = (size_t) theta * n + at;
    if (lane == 0) {
        to.prediction[place] = value + job.centre[p.shape.dims + 1];
        to.variance[place] = variance;
    }
    place = (size_t) theta * b.n * n + at;
    for (uint32_t k = lane; to.coefficient && k < b.n; k += WARP)
        to.coefficient[place + (size_t) k * n] = b.fit[k];
    if (to.singular) {
        make_triangle(b, job.centre);
        find_singular(b);
        /* The largest weight was made 1: singular values are proportional to it. */
        smap_distances d = job.distance[at];
        double scale = exp(-smap_rate(d, job.theta[theta]) * d.least);
        put_singular(b, scale, n, to.singular + place);
    }
    return fate;
}

__device__ inline void put_missing(const smap_equations &job, uint32_t theta, uint32_t at)
{
    const smap_results &to = job.results;
    uint32_t n = job.points.predictions, unknowns = job.points.shape.dims + 1;
    to.prediction[(size_t) theta * n + at] = to.variance[(size_t) theta * n + at] =
        job.missing;
    for (uint32_t k = threadIdx.x % WARP; k < unknowns; k += WARP) {
        size_t place = ((size_t) theta * unknowns + k) * n + at;
        if (to.coefficient)
            to.coefficient[place] = job.missing;
        if (to.singular)
            to.singular[place] = job.missing;
    }
}

/* Warps take one prediction after the other. */
__global__ void smap_solve(SYN_GPU_JOB smap_equations job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    uint32_t warp = threadIdx.x / WARP, worker = blockIdx.x * SMAP_SOLVERS + warp;
    size_t room = smap_bench_doubles(p.shape);
    smap_bench b = smap_take_bench(p.shape, job.room ? job.room + worker * room
                                                     : (double *) memory + warp * room);
    for (size_t i = worker; i < (size_t) job.thetas * p.predictions;
         i += gridDim.x * SMAP_SOLVERS) {
        uint32_t theta = (uint32_t) (i / p.predictions);
        uint32_t at = (uint32_t) (i % p.predictions);
        unsigned char fate = SMAP_REFUSED;
        if (job.out[at].known == 0) {
            put_missing(job, theta, at);
            fate = SMAP_NONE;
        } else {
            load_sums(job, b, theta, at);
            if (fit_model(job, b))
                fate = put_model(job, b, theta, at);
        }
        if (threadIdx.x % WARP == 0)
            job.results.fate[i] = fate;
        __syncwarp();
    }
}

/* ---- variances ---- */

/* The variance of the neighbours' targets where sums of their squares do not tell it:
   from the distances of the targets themselves, in a pass of its own. */

enum { SMAP_SPREAD_THREADS = 128 };

/* Adds a point of the library; `weight` is 0 where its target is missing. */
__device__ inline void add_spread(const smap_points &p, uint32_t point, double weight,
                                  double value, double *above, double *below)
{
    const double *last = p.library + (size_t) p.shape.wide * p.padded + point;
    double w = last[p.padded] * weight, apart = last[0] - value;
    *above = fma(w * apart, apart, *above);
    *below += w;
}

/* A block for each prediction and theta. */
__global__ void smap_spread_again(SYN_GPU_JOB smap_equations job)
{
    __shared__ double room[SMAP_SPREAD_THREADS / WARP];
    const smap_points &p = job.points;
    for (size_t i = blockIdx.x; i < (size_t) job.thetas * p.predictions; i += gridDim.x) {
        if (job.results.fate[i] != SMAP_UNSPREAD)
            continue;
        uint32_t at = (uint32_t) (i % p.predictions);
        const double *from = p.predicted + (size_t) at * p.shape.pitch;
        smap_distances d = job.distance[at];
        double rate = smap_rate(d, job.theta[i / p.predictions]), above = 0, below = 0;
        smap_fall fall = smap_fall_of(rate, d.least);
        double value = job.results.prediction[i] - job.centre[p.shape.dims + 1];
        uint32_t n = job.lists.found ? job.lists.found[at] : p.n;
        for (uint32_t j = threadIdx.x; j < n; j += SMAP_SPREAD_THREADS) {
            size_t entry = (size_t) at * job.lists.k + j;
            uint32_t point = job.lists.found ? job.lists.place[entry] : j;
            double distance = 0;
            if (job.lists.found) {
                distance = job.lists.distance[entry];
            } else {
                for (uint32_t k = 0; k < p.shape.dims; k++) {
                    double apart = p.library[(size_t) k * p.padded + j] - from[k];
                    distance = fma(apart, apart, distance);
                }
                distance = root_of(distance);
            }
            bool near = job.lists.found || smap_is_near(job.out[at], j);
            double weight = near ? smap_weight(distance, fall) : 0;
            add_spread(p, point, weight, value, &above, &below);
        }
        above = block_sum<SMAP_SPREAD_THREADS>(above, room);
        below = block_sum<SMAP_SPREAD_THREADS>(below, room);
        if (threadIdx.x == 0)
            job.results.variance[i] = above / below;
    }
}

}  // namespace gpu
