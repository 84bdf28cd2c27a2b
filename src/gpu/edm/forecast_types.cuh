/* What the kernels of conditional forecasts work on: a batch of tasks on a device, which
   have the same number of coordinates. A task is a library of gpu/edm/pairs_types.cuh,
   whose kernels make its weights and sums. */
#ifndef SYN_GPU_EDM_FORECAST_TYPES_CUH
#define SYN_GPU_EDM_FORECAST_TYPES_CUH

extern "C" {
#include "core/edm/forecast/forecast.h"
}
#include "gpu/edm/pairs_types.cuh"

#include <cfloat>

namespace gpu {

/* A job, or some of its candidates. */
struct forecast_task {
    double theta;
    size_t job;
    size_t coordinate, candidate;  /* where the lists of the job begin */
    uint32_t effect, coordinates;
    uint32_t all;                  /* candidates of the job; rows have all of them */
    uint32_t begin, candidates;    /* those of this task are so many from `begin` on */
};

enum { FORECAST_CENTRES = SYN_FORECAST_MOST + 1 };         /* of coordinates and target */
enum { FORECAST_ROWS, FORECAST_ERROR, FORECAST_NUMBERS };  /* of a task, in `out` */

/* Row `pairs.first` + r of the series is row r of the kernels. Those that count are a
   task's points; `error` and `fall` are in their order, without gaps. */
struct forecast_job {
    pairs_job pairs;
    const forecast_task *task;     /* [libraries] */
    const double *series;          /* [series][steps] */
    const syn_lagged *coordinate, *candidate;
    const uint32_t *lags;          /* [padded + 1] that count where there are such rows */
    uint32_t least;                /* rows without which there are no results */
    double *centre;                /* [libraries][FORECAST_CENTRES] */
    uint32_t most;                 /* candidates of a task */
    double *error;                 /* [libraries][padded] without a candidate */
    double *fall;                  /* [libraries][padded][most] of the squared error */
    double *out;                   /* [libraries][FORECAST_NUMBERS + 2 most]: gain, t */
};

/* Columns of the products: those of 1 and the coordinates with one another, as a lower
   triangle; with the target; and for each candidate x those with x and x^2, x^3, x^4,
   and x and x^2 times the target. The first of all candidates are side by side. */
inline __host__ __device__ uint32_t base_columns(uint32_t unknowns)
{
    return unknowns * (unknowns + 1) / 2 + unknowns;
}

inline __host__ __device__ uint32_t candidate_columns(uint32_t unknowns)
{
    return 2 * unknowns + 4;
}

/* The values of a task. Coordinates and target are less their centre, so that those that
   are constant are 0; candidates are as they are. */
struct forecast_values {
    const forecast_job &job;
    const forecast_task &task;
    const double *centre;

    __device__ forecast_values(const forecast_job &of, uint32_t which)
        : job(of), task(of.task[which]), centre(of.centre + which * FORECAST_CENTRES)
    {
    }

    __device__ double at(syn_lagged which, uint32_t row) const
    {
        return job.series[(size_t) which.series * job.pairs.steps + job.pairs.first +
                          row - which.lag];
    }

    /* Coordinate k, or after the last of them the target. */
    __device__ double raw(uint32_t k, uint32_t row) const
    {
        return k < task.coordinates
                   ? at(job.coordinate[task.coordinate + k], row)
                   : job.series[(size_t) task.effect * job.pairs.steps +
                                job.pairs.first + row + 1];
    }

    __device__ double target(uint32_t row) const
    {
        return raw(task.coordinates, row) - centre[task.coordinates];
    }

    /* 1, and the coordinates after it. */
    __device__ double regressor(uint32_t k, uint32_t row) const
    {
        return k == 0 ? 1 : raw(k - 1, row) - centre[k - 1];
    }

    __device__ double candidate(uint32_t i, uint32_t row) const
    {
        return at(job.candidate[task.candidate + task.begin + i], row);
    }
};

}  // namespace gpu

#endif
