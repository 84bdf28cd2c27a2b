/* Points on a device: sent there, or made there of the series whose delay vectors they
   are, which are as many times fewer numbers as there are lags. */
#pragma once

#include "core/edm/model/points.h"
#include "gpu/base/device.cuh"
#include "gpu/base/warp.cuh"

namespace gpu {

struct delay_job {
    uint32_t rows, series, lags;
    const double *value;      /* [series][rows] */
    const double *lag;        /* [lags] whole numbers */
    const int *first, *last;  /* [rows] of the stretch of each row, from 1 */
    double *coordinate;       /* [series][lags][rows] */
};

/* A thread a row. */
static __global__ void make_delay_vectors(SYN_GPU_JOB delay_job job)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.rows)
        return;
    int64_t from = job.first[i] - 1, to = job.last[i];
    for (uint32_t c = blockIdx.y; c < job.series * job.lags; c += gridDim.y) {
        int64_t at = (int64_t) i + (int64_t) job.lag[c % job.lags];
        const double *value = job.value + (size_t) (c / job.lags) * job.rows;
        job.coordinate[(size_t) c * job.rows + i] =
            at >= from && at < to ? value[at] : NAN;
    }
}

/* The memory of points on a device. */
class points_room : no_copies {
    array<double> coordinate_, value_, lag_;
    array<int> first_, last_;
public:
    /* [dims][rows]; the host's values are read before this ends, or when `stream` gets
       there. */
    const double *place(const syn_points &points, cudaStream_t stream)
    {
        size_t rows = points.rows, n = rows * points.dims;
        if (points.coordinate)
            return coordinate_.upload(points.coordinate, n, stream);
        const syn_delays &d = *points.delays;
        value_.ensure(rows * d.series);
        for (uint32_t s = 0; s < d.series; s++)
            send(value_.get() + s * rows, d.value[s], rows, stream);
        delay_job job = {d.rows, d.series, d.lags, value_.get(),
                         lag_.upload(d.lag, d.lags, stream),
                         first_.upload(d.first, rows, stream),
                         last_.upload(d.last, rows, stream), coordinate_.ensure(n)};
        launch(make_delay_vectors,
               dim3(blocks_for(rows, 128), most_of_grid(points.dims)), 128, 0, stream,
               job);
        return coordinate_.get();
    }
};

}  // namespace gpu
