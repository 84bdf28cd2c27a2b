/* Predictions whose normal equations lose too many digits, such as those of spike counts,
   whose weights differ by many orders of magnitude. Their coordinates are turned by the
   inverse of the equations' triangle, so that the equations of turned ones are nearly
   those of the identity (syn_smap_refine() in core/edm/smap/model.c). */
#pragma once

#include "gpu/edm/pairs/models.cuh"
#include "gpu/edm/pairs/products.cuh"

namespace gpu {

enum {
    REFINE_WARPS = 4,         /* of a block, a prediction each */
    REFINE_PITCH = WARP + 1   /* of points, so that lanes read from different banks */
};

constexpr double LEAST_TURNED = 1e-14;  /* pivot that turned equations make good */

/* The doubles of a warp: two squares, a scale, a right side and turned points. */
inline __host__ __device__ uint32_t refine_room(uint32_t unknowns)
{
    return unknowns * (2 * unknowns + 2 + REFINE_PITCH);
}

/* One prediction, of a warp: lane i has row i of a matrix, or point i of the next 32. */
struct row_refiner : row_equations {
    const pairs_job &job;
    const pair_library &library;
    const double *feature;
    uint32_t row, lane;
    double square;            /* of the prediction's length */
    pair_fall fall;
    double *inverse, *gram;   /* [n][n] */
    double *scale, *right;    /* [n] */
    double *point;            /* [n][REFINE_PITCH] */

    __device__ row_refiner(const pairs_job &j, uint32_t which, uint32_t r,
                           const double *equations, double *room)
        : row_equations{equations, j.E + 1, hold_of(j, j.library[which], equations)},
          job(j), library(j.library[which]),
          feature(j.feature + (size_t) which * 4 * j.quads * j.padded), row(r),
          lane(threadIdx.x % WARP), inverse(room), gram(room + n * n),
          scale(gram + n * n), right(scale + n), point(right + n)
    {
        size_t at = (size_t) which * job.padded + row;
        square = job.square[at];
        fall = job.falls[at];
    }

    /* The Cholesky triangle of `gram` in its place, unless a pivot is not between
       these. */
    __device__ bool triangle(double least, double most)
    {
        for (uint32_t j = 0; j < n; j++) {
            bool below = lane >= j && lane < n;
            double rest = below ? gram[lane * n + j] : 0;
            for (uint32_t k = 0; below && k < j; k++)
                rest -= gram[lane * n + k] * gram[j * n + k];
            double pivot = __shfl_sync(WHOLE_WARP, rest, j);
            if (!(pivot > least && pivot < most))
                return false;
            if (below)
                gram[lane * n + j] = lane == j ? sqrt(pivot) : rest / sqrt(pivot);
            __syncwarp();
        }
        return true;
    }

    /* The inverse of the triangle of scaled equations. */
    __device__ bool invert()
    {
        double own = lane < n ? sums(lane, lane) : 1;
        if (__any_sync(WHOLE_WARP, !(own > 1e-290 && own < 1e290)))
            return false;
        if (lane < n)
            scale[lane] = 1 / sqrt(own);
        __syncwarp();
        for (uint32_t j = 0; lane < n && j <= lane; j++)
            gram[lane * n + j] = sums(j, lane) * scale[j] * scale[lane];
        __syncwarp();
        if (!triangle(LEAST_TURNED, INFINITY))
            return false;
        for (uint32_t i = 0; lane < n && i < n; i++) {  /* column `lane` */
            double rest = i == lane;
            for (uint32_t k = lane; k < i; k++)
                rest -= gram[i * n + k] * inverse[k * n + lane];
            inverse[i * n + lane] = i < lane ? 0 : rest / gram[i * n + i];
        }
        __syncwarp();
        return true;
    }

    /* As in row_solver: the condition of the equations, and the square of the length of
       the inverse. */
    __device__ double condition(double *length) const
    {
        double c = library.centre, s = library.scale;
        double norm = 0, trace = 0, squares = 0;
        if (lane < n) {
            double first = scale[0] * inverse[lane * n];
            for (uint32_t k = 0; k <= lane; k++) {
                double element = inverse[lane * n + k], slope = scale[k] * element / s;
                squares += element * element;
                first -= k > 0 ? c * slope : 0;
                norm += k > 0 ? slope * slope : 0;
            }
            norm += first * first;
            trace = lane == 0 ? sums(0, 0)
                              : s * s * sums(lane, lane) + 2 * c * s * sums(0, lane) +
                                    c * c * sums(0, 0);
        }
        *length = warp_total(squares);
        return warp_total(norm) * warp_total(trace);
    }

    /* The squared weight of a point: see make_weights(). */
    __device__ double weight_of(uint32_t at) const
    {
        uint32_t apart = at > row ? at - row : row - at;
        double distance = square + feature[(size_t) (job.E + 1) * job.padded + at];
        for (uint32_t k = 1; k < n; k++) {
            const double *x = feature + (size_t) k * job.padded;
            distance = fma(-2 * x[row], x[at], distance);
        }
        double exponent = fma(-fall.slope, quick_root(distance), fall.offset);
        return apart <= job.exclusion ? 0 : power_of_two(exponent);
    }

    /* Turned coordinates of the next point of each lane, times the root of its weight;
       whether any has weight. */
    __device__ bool turn_points(uint32_t from)
    {
        double weight = weight_of(from + lane), root = sqrt(weight);
        if (!__any_sync(WHOLE_WARP, weight > 0))
            return false;
        __syncwarp();
        for (uint32_t k = 0; k < n; k++)
            point[k * REFINE_PITCH + lane] =
                root * feature[(size_t) k * job.padded + from + lane];
        /* From the last one on, as each needs those before it. */
        for (uint32_t i = n; i-- > 0;) {
            double turned = 0;
            for (uint32_t k = 0; k <= i; k++)
                turned = fma(inverse[i * n + k], point[k * REFINE_PITCH + lane], turned);
            point[i * REFINE_PITCH + lane] = turned;
        }
        __syncwarp();
        return true;
    }

    /* The equations of turned coordinates. Each lane adds up some elements, EACH at
       most. */
    template <int EACH> __device__ void add_turned()
    {
        uint32_t i[EACH], j[EACH], elements = n * (n + 1) / 2;
        double total[EACH];
        SYN_UNROLL(e, EACH) {
            uint32_t place = min(lane + e * WARP, elements - 1);
            total[e] = 0;
            i[e] = 0;
            while (triangle_place(i[e] + 1, 0) <= place)
                i[e]++;
            j[e] = place - triangle_place(i[e], 0);
        }
        for (uint32_t from = 0; from < job.padded; from += WARP)
            if (turn_points(from))
                for (uint32_t at = 0; at < WARP; at++)
                    SYN_UNROLL(e, EACH)
                        total[e] = fma(point[i[e] * REFINE_PITCH + at],
                                       point[j[e] * REFINE_PITCH + at], total[e]);
        SYN_UNROLL(e, EACH)
            if (lane + e * WARP < elements) {
                for (uint32_t k = 1; k <= j[e]; k++)
                    total[e] += hold * inverse[i[e] * n + k] * inverse[j[e] * n + k];
                gram[i[e] * n + j[e]] = total[e];
            }
        __syncwarp();
    }

    /* Element `lane` of the solution for `right`, through turned coordinates; `*length`
       is that of the scaled one. */
    __device__ double solve(double *length) const
    {
        double turned = 0, to = 0;
        for (uint32_t k = 0; lane < n && k <= lane; k++)
            turned += inverse[lane * n + k] * right[k];
        for (uint32_t i = 0; i < n; i++) {
            double known = __shfl_sync(WHOLE_WARP, turned, i) / gram[i * n + i];
            turned = lane == i ? known : turned;
            turned -= lane > i && lane < n ? gram[lane * n + i] * known : 0;
        }
        for (uint32_t i = n; i-- > 0;) {
            double known = __shfl_sync(WHOLE_WARP, turned, i) / gram[i * n + i];
            turned = lane == i ? known : turned;
            turned -= lane < i ? gram[i * n + lane] * known : 0;
        }
        for (uint32_t i = 0; i < n; i++) {
            double known = __shfl_sync(WHOLE_WARP, turned, i);
            to += i >= lane ? inverse[i * n + lane] * known : 0;
        }
        double scaled = lane < n ? to / scale[lane] : 0;
        *length = sqrt(warp_total(scaled * scaled));
        return to;
    }

    /* The two rows of a prediction, as row_solver gives them. */
    template <int EACH> __device__ bool refine(double *hat, uint32_t pitch)
    {
        double squares, value[2], length[2];
        if (!invert() || !(condition(&squares) < MOST_CONDITION))
            return false;
        for (uint32_t k = 0; lane < n && k <= lane; k++)
            inverse[lane * n + k] *= scale[k];
        __syncwarp();
        add_turned<EACH>();
        if (!triangle(0.5, 2))
            return false;
        SYN_UNROLL(which, 2) {
            if (lane < n)
                right[lane] = which == 0 ? feature[(size_t) lane * job.padded + row]
                                         : lane == 1;
            __syncwarp();
            value[which] = solve(length + which);
            __syncwarp();
        }
        double longest = fmax(length[0], library.spread * length[1]);
        if (!(DBL_EPSILON * n * sqrt(squares * sums(0, 0)) * longest < MOST_ERROR))
            return false;
        SYN_UNROLL(which, 2)
            if (lane < n)
                hat[(size_t) (which * n + lane) * pitch] = value[which];
        return true;
    }
};

/* Grid: predictions of this part, REFINE_WARPS at a time; libraries. */
template <int EACH>
__global__ void __launch_bounds__(REFINE_WARPS * WARP)
refine_rows(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    uint32_t part = job.tiles * PAIR_TILE, warp = threadIdx.x / WARP;
    uint32_t which = blockIdx.y, own = blockIdx.x * REFINE_WARPS + warp;
    uint32_t row = job.begin * PAIR_TILE + own, n = job.E + 1;
    unsigned char *state = job.state + (size_t) which * job.padded + row;
    if (*state != PAIR_LEFT)
        return;
    const double *sum = job.sums + ((size_t) which * part + own) * product_columns(job);
    row_refiner refiner(job, which, row, sum, shared + warp * refine_room(n));
    double *hat = job.hat + (size_t) which * 2 * n * part + own;
    if (!refiner.refine<EACH>(hat, part) || threadIdx.x % WARP > 0)
        return;
    pair_library *library = job.library + which;
    *state = PAIR_MADE;
    atomicAdd(&library->made, 1u);
    atomicSub(&library->left, 1u);
    if (job.known[row])
        atomicAdd(&library->compared, 1u);
}

}  // namespace gpu
