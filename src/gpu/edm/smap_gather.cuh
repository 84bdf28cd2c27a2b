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

/* What stands at place k of the point at a row of the data. */
__device__ inline double smap_value(const smap_data &data, const double *centre,
                                    uint32_t row, uint32_t k)
{
    const smap_shape &shape = data.shape;
    if (k < shape.dims)
        return data.coordinate[(size_t) k * data.rows + row] - centre[k + 1];
    double target = data.target[row];
    if (k == shape.wide)
        return isnan(target) ? 0 : target - centre[shape.dims + 1];
    return k == shape.wide + 1 && !isnan(target) ? 1 : 0;
}

/* Points of rows[n], and zeros to `padded`, a thread for each: to[padded][pitch]. */
__global__ void smap_gather(SYN_GPU_JOB smap_data data, const double *centre,
                            const uint32_t *rows, uint32_t n, uint32_t padded, double *to)
{
    uint32_t point = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t k = 0; point < padded && k < data.shape.pitch; k++)
        to[(size_t) point * data.shape.pitch + k] =
            point < n ? smap_value(data, centre, rows[point], k) : 0;
}

/* The library as it is multiplied: see smap_points. */
__global__ void smap_gather_fitted(SYN_GPU_JOB smap_data data, const double *centre,
                                   uint32_t padded, double *to)
{
    uint32_t point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= padded)
        return;
    uint32_t row = point < data.n ? data.library[point] : 0;
    bool known = point < data.n && !isnan(data.target[row]);
    for (uint32_t k = 0; k < data.shape.wide + 2; k++)
        to[(size_t) k * padded + point] = known ? smap_value(data, centre, row, k) : 0;
}

}  // namespace gpu

#endif
