/* Models from their normal equations, and the variance of what they predict. */
#pragma once

#include "gpu/edm/smap/points.cuh"

#include <cfloat>

namespace gpu {

/* ---- models ---- */

/* Models from their normal equations, a warp for each. The steps, and the bounds that
   refuse a model which rounding may have spoilt, are those of core/edm/smap/model.c;
   there, a model is made by one thread. */

constexpr double SMAP_MOST_ERROR = 1e-9;       /* of a model, */
constexpr double SMAP_MOST_CONDITION = 1e16;   /* of equations with one solution */
constexpr double SMAP_LOST_SPREAD = 1e-6;      /* a variance below this part of the mean
                                                  square has lost digits */

enum { SMAP_SWEEPS = 60, SMAP_SOLVERS = 4, SMAP_SPREAD_THREADS = 128 };

/* The memory of a warp, in which it makes one model after the other. */
struct smap_bench {
    const smap_job &job;
    const double *centre;
    uint32_t lane, n, pitch;  /* unknowns; pitch is odd, so that columns are in many
                                 banks */
    double *sums;             /* [products] */
    double *lower, *inverse;  /* [n][pitch] */
    double *scale, *along, *model, *fit;  /* [n] */

    __host__ __device__ static size_t doubles(const smap_shape &s)
    {
        size_t n = s.dims + 1, pitch = n | 1;
        return s.products + 2 * n * pitch + 4 * n;
    }

    __device__ smap_bench(const smap_job &of, double *memory)
        : job(of), centre(of.centre), lane(threadIdx.x % WARP),
          n(of.points.shape.dims + 1), pitch(n | 1), sums(memory),
          lower(sums + of.points.shape.products), inverse(lower + n * pitch),
          scale(inverse + n * pitch), along(scale + n), model(along + n), fit(model + n)
    {
    }

    /* The sum of products of terms j and k, j <= k. */
    __device__ double &sum(uint32_t j, uint32_t k) const
    {
        return sums[j * (n + 1) - j * (j + 1) / 2 + k];
    }

    /* Sums of all splits; adds what the ridge asks for to the squares of slopes. */
    __device__ void load_sums(uint32_t theta, uint32_t prediction) const
    {
        const smap_shape &s = job.points.shape;
        size_t step = (size_t) job.points.predictions * s.columns;
        const double *from = job.sum + (size_t) theta * job.splits * step +
                             (size_t) prediction * s.columns;
        for (uint32_t c = lane; c < s.products; c += WARP) {
            double all = 0;
            for (uint32_t split = 0; split < job.splits; split++)
                all += from[split * step + c];
            sums[c] = all;
        }
        __syncwarp();
        double hold = job.ridge * sums[0];
        for (uint32_t j = 1 + lane; j < n; j += WARP)
            sum(j, j) += hold;
        __syncwarp();
    }

    /* Scales the terms, and makes the lower triangle, column by column; false where the
       equations nearly depend on each other. */
    __device__ bool factorise() const
    {
        bool fine = true;
        for (uint32_t j = lane; j < n; j += WARP) {
            double square = sum(j, j);
            fine = fine && square > 1e-290 && square < 1e290;
            scale[j] = 1 / sqrt(square);
        }
        __syncwarp();
        if (!__all_sync(WHOLE_WARP, fine))
            return false;
        for (uint32_t j = 0; j < n; j++) {
            const double *other = lower + j * pitch;
            for (uint32_t i = j + lane; i < n; i += WARP) {
                double *row = lower + i * pitch;
                double rest = sum(j, i) * scale[j] * scale[i];
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
            for (uint32_t i = j + lane; i < n; i += WARP)
                lower[i * pitch + j] = i == j ? root : lower[i * pitch + j] * per;
            __syncwarp();
        }
        return true;
    }

    /* The inverse of the triangle, a lane for each column; returns the sum of its
       squares. */
    __device__ double invert() const
    {
        double norm = 0;
        for (uint32_t c = lane; c < n; c += WARP)
            for (uint32_t i = 0; i < n; i++) {
                const double *row = lower + i * pitch;
                double rest = i == c ? 1 : 0;
                for (uint32_t k = c; k < i; k++)
                    rest = fma(-row[k], inverse[k * pitch + c], rest);
                double value = i < c ? 0 : rest / row[i];
                inverse[i * pitch + c] = value;
                norm = fma(value, value, norm);
            }
        __syncwarp();
        return warp_total(norm);
    }

    /* The scaled model; returns the square of its length. */
    __device__ double solve() const
    {
        for (uint32_t i = lane; i < n; i += WARP) {
            double value = 0;
            for (uint32_t j = 0; j <= i; j++)
                value += inverse[i * pitch + j] * (scale[j] * sum(j, n));
            along[i] = value;
        }
        __syncwarp();
        double square = 0;
        for (uint32_t j = lane; j < n; j += WARP) {
            double value = 0;
            for (uint32_t i = j; i < n; i++)
                value = fma(along[i], inverse[i * pitch + j], value);
            model[j] = value;
            square = fma(value, value, square);
        }
        __syncwarp();
        return warp_total(square);
    }

    /* Coefficients of coordinates as they are from those of scaled ones less their
       centre. */
    __device__ void put_back() const
    {
        double first = 0;
        for (uint32_t k = 1 + lane; k < n; k += WARP) {
            double slope = model[k] * scale[k];
            fit[k] = slope;
            first = fma(-slope, centre[k], first);
        }
        first = warp_total(first);
        if (lane == 0)
            fit[0] = centre[n] + model[0] * scale[0] + first;
        __syncwarp();
    }

    /* The condition of the equations of coordinates as they are, or more. */
    __device__ double condition() const
    {
        double norm = 0, trace = 0, all = sum(0, 0);
        for (uint32_t i = lane; i < n; i += WARP) {
            const double *row = inverse + i * pitch;
            double first = scale[0] * row[0];
            for (uint32_t k = 1; k < n; k++) {
                double slope = scale[k] * row[k];
                first = fma(-centre[k], slope, first);
                norm = fma(slope, slope, norm);
            }
            norm = fma(first, first, norm);
            double c = i > 0 ? centre[i] : 0;
            trace += sum(i, i) + (i > 0 ? c * (2 * sum(0, i) + c * all) : 0);
        }
        return warp_total(norm) * warp_total(trace);
    }

    /* Makes the model; whether its error and its condition are small enough. */
    __device__ bool make() const
    {
        if (!factorise())
            return false;
        double norm = invert(), square = solve(), targets = sum(n, n);
        double share = targets > 0 ? sqrt(targets / square) : 0;
        if (!(DBL_EPSILON * n * norm * (1 + share) < SMAP_MOST_ERROR))
            return false;
        put_back();
        return condition() < SMAP_MOST_CONDITION;
    }

    /* ---- singular values ---- */

    /* The squares of the lengths of the rows, from then on in `along`. */
    __device__ void measure_rows() const
    {
        for (uint32_t i = lane; i < n; i += WARP) {
            double square = 0;
            for (uint32_t j = 0; j < n; j++)
                square = fma(inverse[i * pitch + j], inverse[i * pitch + j], square);
            along[i] = square;
        }
        __syncwarp();
    }

    /* Makes the largest number of the rows about 1, so that no product of two squares
       overflows; returns the power of two that makes them as they were. */
    __device__ double bring_near_one() const
    {
        double most = 0;
        for (uint32_t i = lane; i < n * pitch; i += WARP)
            if (i % pitch < n)
                most = fmax(most, fabs(inverse[i]));
        most = over_warp(most, [](double a, double b) { return fmax(a, b); });
        int exponent = most > 0 && most < 1e300 ? ilogb(most) : 0;
        double per = scalbn(1.0, -exponent);
        for (uint32_t i = lane; i < n * pitch; i += WARP)
            if (i % pitch < n)
                inverse[i] *= per;
        __syncwarp();
        return scalbn(1.0, exponent);
    }

    /* Rotates rows p and q until they are orthogonal, by two lanes next to each other;
       whether they were not. Rows without a partner stay as they are. The lengths of rows
       that are rotated are known only about, until they are measured again, and so is the
       angle, which is enough; but a rotation it is to all digits. */
    __device__ bool separate(uint32_t p, uint32_t q, bool there) const
    {
        constexpr uint32_t EACH = 12;  /* of a lane's numbers that stay in registers */
        double *a = inverse + p * pitch, *b = inverse + q * pitch, ab = 0;
        double x[EACH], y[EACH];
        uint32_t end = there ? n : 0, parity = lane % 2;
        SYN_UNROLL(j, EACH) {
            uint32_t i = 2 * j + parity;
            x[j] = i < end ? a[i] : 0;
            y[j] = i < end ? b[i] : 0;
            ab = fma(x[j], y[j], ab);
        }
        for (uint32_t i = 2 * EACH + parity; i < end; i += 2)
            ab = fma(a[i], b[i], ab);
        ab += __shfl_xor_sync(WHOLE_WARP, ab, 1);
        double aa = there ? along[p] : 0, bb = there ? along[q] : 0;
        double least = n * DBL_EPSILON, square = ab * ab;
        __syncwarp();
        if (square <= least * least * (aa * bb))
            return false;
        double apart = bb - aa, root = root_of(fma(apart, apart, 4 * square));
        double t = root > 0 ? 2 * ab / (apart < 0 ? apart - root : apart + root) : 1;
        double c = rsqrt(fma(t, t, 1.0)), s = c * t;
        along[parity ? q : p] = fmax(parity ? fma(t, ab, bb) : fma(-t, ab, aa), 0.0);
        SYN_UNROLL(j, EACH) {
            uint32_t i = 2 * j + parity;
            if (i < end) {
                a[i] = c * x[j] - s * y[j];
                b[i] = s * x[j] + c * y[j];
            }
        }
        for (uint32_t i = 2 * EACH + parity; i < end; i += 2) {
            double u = a[i], v = b[i];
            a[i] = c * u - s * v;
            b[i] = s * u + c * v;
        }
        return true;
    }

    /* Rotates all pairs of rows once, in rounds of pairs that have no row in common. As
       in a tournament, one row (the last, or none where their number is odd) stays in its
       place while the others go around. */
    __device__ bool sweep_rows() const
    {
        uint32_t around = n % 2 ? n : n - 1;
        bool turned = false;
        measure_rows();
        for (uint32_t round = 0; round < around; round++) {
            for (uint32_t first = 0; 2 * first <= around; first += WARP / 2) {
                uint32_t pair = first + lane / 2;
                uint32_t p = (round + pair) % around;
                uint32_t q = pair > 0 ? (round + around - pair) % around : around;
                bool there = 2 * pair <= around && q < n;
                turned |= separate(p, q, there);
            }
            __syncwarp();
        }
        return __any_sync(WHOLE_WARP, turned);
    }

    /* Singular values times `times`, in decreasing order, by one-sided Jacobi rotations
       of the triangle of the weighted rows, with coordinates as they are. */
    __device__ void put_singular(double times, size_t stride, double *to) const
    {
        double first = lower[0] / scale[0];
        __syncwarp();
        for (uint32_t k = lane; k < n; k += WARP)
            for (uint32_t i = 0; i < n; i++) {
                double value = k < i ? 0 : lower[k * pitch + i] / scale[k];
                value += i == 0 && k > 0 ? centre[k] * first : 0;
                inverse[i * pitch + k] = value;
            }
        __syncwarp();
        times *= bring_near_one();
        for (int sweep = 0; sweep_rows() && sweep < SMAP_SWEEPS;)
            sweep++;
        measure_rows();
        for (uint32_t i = lane; i < n; i += WARP)
            along[i] = sqrt(along[i]);
        __syncwarp();
        for (uint32_t i = lane; i < n; i += WARP) {
            uint32_t before = 0;
            for (uint32_t j = 0; j < n; j++)
                before += along[j] > along[i] || (along[j] == along[i] && j < i);
            to[before * stride] = times * along[i];
        }
    }

    /* ---- a prediction ---- */

    /* The weighted mean square distance of the neighbours' targets from `value`; `fate`
       tells when there are too few digits left. */
    __device__ double spread_about(uint32_t theta, uint32_t prediction, double value,
                                   unsigned char *fate) const
    {
        double s[3] = {0, 0, 0};
        for (uint32_t split = 0; split < job.splits; split++) {
            size_t at = (size_t) (theta * job.splits + split), n = job.points.predictions;
            size_t place = at * n + prediction;
            for (int j = 0; j < 3; j++)
                s[j] += job.spread[place * 3 + j];
        }
        double mean = s[1] / s[0], square = s[2] / s[0], apart = mean - value;
        double variance = fmax(square - mean * mean, 0.0) + apart * apart;
        if (!(variance > SMAP_LOST_SPREAD * square))
            *fate = SMAP_UNSPREAD;
        return variance;
    }

    __device__ unsigned char put_model(uint32_t theta, uint32_t at) const
    {
        const smap_points &p = job.points;
        const smap_results &to = job.results;
        const double *from = p.predicted + (size_t) at * p.shape.pitch;
        double value = 0;
        for (uint32_t k = lane; k < p.shape.dims; k += WARP)
            value = fma(fit[k + 1], from[k], value);
        /* The point is less its centre, and so is the target here. */
        value = warp_total(value) + model[0] * scale[0];
        unsigned char fate = SMAP_DONE;
        double variance = spread_about(theta, at, value, &fate);
        size_t place = (size_t) theta * p.predictions + at;
        if (lane == 0) {
            to.prediction[place] = value + centre[p.shape.dims + 1];
            to.variance[place] = variance;
        }
        place = (size_t) theta * n * p.predictions + at;
        for (uint32_t k = lane; to.coefficient && k < n; k += WARP)
            to.coefficient[place + (size_t) k * p.predictions] = fit[k];
        if (to.singular) {
            /* The largest weight was made 1: singular values are proportional to it. */
            smap_distances d = job.distance[at];
            double times = exp(-smap_rate(d, job.theta[theta]) * d.least);
            put_singular(times, p.predictions, to.singular + place);
        }
        return fate;
    }

    __device__ void put_missing(uint32_t theta, uint32_t at) const
    {
        const smap_results &to = job.results;
        size_t all = job.points.predictions, place = theta * all + at;
        to.prediction[place] = to.variance[place] = job.missing;
        for (uint32_t k = lane; k < n; k += WARP) {
            place = ((size_t) theta * n + k) * all + at;
            if (to.coefficient)
                to.coefficient[place] = job.missing;
            if (to.singular)
                to.singular[place] = job.missing;
        }
    }
};

/* Warps take one prediction after the other. */
__global__ void __launch_bounds__(SMAP_SOLVERS *WARP, 4)
    smap_solve(SYN_GPU_JOB smap_job job)
{
    extern __shared__ double2 memory[];
    const smap_points &p = job.points;
    uint32_t warp = threadIdx.x / WARP, worker = blockIdx.x * SMAP_SOLVERS + warp;
    size_t room = smap_bench::doubles(p.shape);
    smap_bench b(job, job.room ? job.room + worker * room
                               : (double *) memory + warp * room);
    for (size_t i = worker; i < (size_t) job.thetas * p.predictions;
         i += gridDim.x * SMAP_SOLVERS) {
        uint32_t theta = (uint32_t) (i / p.predictions);
        uint32_t at = (uint32_t) (i % p.predictions);
        unsigned char fate = SMAP_REFUSED;
        if (job.out[at].known == 0) {
            b.put_missing(theta, at);
            fate = SMAP_NONE;
        } else {
            b.load_sums(theta, at);
            if (b.make())
                fate = b.put_model(theta, at);
        }
        if (threadIdx.x % WARP == 0)
            job.results.fate[i] = fate;
        __syncwarp();
    }
}

/* ---- variances ---- */

/* The variance of the neighbours' targets where sums of their squares do not tell it:
   from the distances of the targets themselves. A block for each prediction and theta. */
__global__ void smap_spread_again(SYN_GPU_JOB smap_job job)
{
    __shared__ double room[SMAP_SPREAD_THREADS / WARP];
    const smap_points &p = job.points;
    const placed_neighbours &lists = job.lists;
    for (size_t i = blockIdx.x; i < (size_t) job.thetas * p.predictions; i += gridDim.x) {
        if (job.results.fate[i] != SMAP_UNSPREAD)
            continue;
        uint32_t at = (uint32_t) (i % p.predictions);
        const double *from = p.predicted + (size_t) at * p.shape.pitch;
        smap_distances d = job.distance[at];
        double rate = smap_rate(d, job.theta[i / p.predictions]), above = 0, below = 0;
        smap_fall fall = smap_fall_of(rate, d.least);
        double value = job.results.prediction[i] - job.centre[p.shape.dims + 1];
        uint32_t n = lists.found ? lists.found[at] : p.n;
        for (uint32_t j = threadIdx.x; j < n; j += SMAP_SPREAD_THREADS) {
            size_t entry = (size_t) at * job.k + j;
            uint32_t point = lists.found ? lists.row[entry] : j;
            double distance = 0;
            if (lists.found) {
                distance = lists.distance[entry];
            } else {
                for (uint32_t k = 0; k < p.shape.dims; k++) {
                    double apart = p.library[(size_t) k * p.padded + j] - from[k];
                    distance = fma(apart, apart, distance);
                }
                distance = root_of(distance);
            }
            bool near = lists.found || smap_is_near(job.out[at], j);
            double weight = near ? smap_weight(distance, fall) : 0;
            /* The weight is 0 where the target is missing. */
            const double *last = p.library + (size_t) p.shape.wide * p.padded + point;
            double w = last[p.padded] * weight, apart = last[0] - value;
            above = fma(w * apart, apart, above);
            below += w;
        }
        above = block_sum<SMAP_SPREAD_THREADS>(above, room);
        below = block_sum<SMAP_SPREAD_THREADS>(below, room);
        if (threadIdx.x == 0)
            job.results.variance[i] = above / below;
    }
}

}  // namespace gpu
