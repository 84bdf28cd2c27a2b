/* Puts points as the kernels of S-maps read them: see smap_shape. */
#ifndef SYN_GPU_EDM_SMAP_GATHER_CUH
#define SYN_GPU_EDM_SMAP_GATHER_CUH

#include "gpu/edm/smap_task.cuh"

namespace gpu {

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

#endif
