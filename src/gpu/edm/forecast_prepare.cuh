/* The rows of conditional forecasts, and what their weights are multiplied with. */
#ifndef SYN_GPU_EDM_FORECAST_PREPARE_CUH
#define SYN_GPU_EDM_FORECAST_PREPARE_CUH

#include "gpu/edm/forecast_types.cuh"
#include "gpu/edm/pairs_points.cuh"

namespace gpu {

enum {
    FORECAST_LAY = 64,    /* rows of a block that lays out products, */
    FORECAST_SLICE = 16   /* and the candidates that it takes */
};

/* Whether all that a row needs is known. */
__device__ inline bool complete_forecast(const forecast_values &values, uint32_t row)
{
    const forecast_task &task = values.task;
    for (uint32_t k = 0; k <= task.coordinates; k++)
        if (isnan(values.raw(k, row)))
            return false;
    for (uint32_t i = 0; i < task.all; i++)
        if (isnan(values.at(values.job.candidate[task.candidate + i], row)))
            return false;
    return true;
}

__device__ inline bool alike_forecasts(const forecast_values &values, uint32_t row,
                                       uint32_t other)
{
    for (uint32_t k = 0; k < values.task.coordinates; k++)
        if (values.raw(k, row) != values.raw(k, other))
            return false;
    return true;
}

/* Means, exactly for what is constant. `one` is a point. */
__device__ inline void find_centres(const forecast_values &values, uint32_t which,
                                    uint32_t one)
{
    __shared__ double room[PREPARE / WARP];
    const pairs_job &pairs = values.job.pairs;
    const double *part = pairs.part + (size_t) which * pairs.padded;
    uint32_t rows = pairs.library[which].rows;
    for (uint32_t k = 0; k <= values.task.coordinates; k++) {
        double from = rows > 0 ? values.raw(k, one) : 0, sum = 0;
        for (uint32_t row = threadIdx.x; row < pairs.rows; row += PREPARE)
            if (part[row] > 0)
                sum += values.raw(k, row) - from;
        sum = block_sum<PREPARE>(sum, room);
        if (threadIdx.x == 0)
            values.job.centre[which * FORECAST_CENTRES + k] = from + sum / max(rows, 1);
    }
}

/* A block for each task. Where all points are the same, weights are 1. */
__global__ void __launch_bounds__(PREPARE)
find_forecast_rows(SYN_GPU_JOB forecast_job job)
{
    uint32_t which = blockIdx.x;
    forecast_values values(job, which);
    auto complete = [&](uint32_t row) { return complete_forecast(values, row); };
    auto alike = [&](uint32_t row, uint32_t other) {
        return alike_forecasts(values, row, other);
    };
    found_points found = find_points(job.pairs, which, complete, alike);
    find_centres(values, which, found.one);
    if (threadIdx.x == 0) {
        pair_library *library = job.pairs.library + which;
        library->differ = 1;
        library->fall = found.differ ? TWO_LOG2 * values.task.theta : 0;
    }
}

/* Where the columns of a row are. */
struct panel_row {
    double *panel;
    uint32_t padded, tiles, row;
    __device__ void put(uint32_t column, double value) const
    {
        panel[panel_place(padded, tiles, row, column)] = value;
    }
};

/* Features of a row, and its products without candidates. Squared distances of points
   that are the same must not be above 0 by rounding, so the squares of lengths are less
   than they are by as much as that can be. */
__device__ inline void lay_out_base(const forecast_values &values, uint32_t which,
                                    const panel_row &to, bool is)
{
    const pairs_job &pairs = values.job.pairs;
    uint32_t n = values.task.coordinates + 1, row = to.row, column = 0;
    size_t at = (size_t) which * pairs.padded + row;
    size_t features = (size_t) 4 * pairs.quads * pairs.padded;
    double *feature = pairs.feature + which * features + row;
    double square = 0;
    for (uint32_t i = 0; i < n; i++) {
        double value = is || i == 0 ? values.regressor(i, row) : 0;
        feature[(size_t) i * pairs.padded] = value;
        square = i == 0 ? 0 : fma(value, value, square);
        for (uint32_t j = 0; j <= i; j++)
            to.put(column++, is ? value * values.regressor(j, row) : 0);
    }
    square *= 1 - (n + 3) * DBL_EPSILON;
    pairs.square[at] = square;
    for (uint32_t i = n; i < 4 * pairs.quads; i++)
        feature[(size_t) i * pairs.padded] = i > n ? 0 : is ? square : PAIR_AWAY;
    double y = is ? values.target(row) : 0;
    for (uint32_t i = 0; i < n; i++)
        to.put(column++, is ? y * values.regressor(i, row) : 0);
    column += candidate_columns(n) * values.task.candidates;
    for (; column < product_columns(pairs); column++)
        to.put(column, 0);
}

/* Products of candidates `from` to `end` - 1. */
__device__ inline void lay_out_candidates(const forecast_values &values, uint32_t from,
                                          uint32_t end, const panel_row &to, bool is)
{
    uint32_t n = values.task.coordinates + 1, m = values.task.candidates;
    uint32_t base = base_columns(n);
    double y = is ? values.target(to.row) : 0;
    auto value = [&](uint32_t c) {
        return is ? values.candidate(c, to.row) : 0;
    };
    for (uint32_t i = 0; i < n; i++) {
        double f = is ? values.regressor(i, to.row) : 0;
        for (uint32_t c = from; c < end; c++) {
            double x = value(c), product = x * f;
            to.put(base + i * m + c, product);
            to.put(base + (n + i) * m + c, x * product);
        }
    }
    for (uint32_t c = from; c < end; c++) {
        double x = value(c), square = x * x;
        uint32_t column = base + 2 * n * m + c;
        to.put(column, square * x);
        to.put(column + m, square * square);
        to.put(column + 2 * m, x * y);
        to.put(column + 3 * m, square * y);
    }
}

/* A thread for each row. Grid: rows; tasks; the base, and slices of the candidates. */
__global__ void __launch_bounds__(FORECAST_LAY)
lay_out_forecasts(SYN_GPU_JOB forecast_job job)
{
    const pairs_job &pairs = job.pairs;
    uint32_t which = blockIdx.y, row = blockIdx.x * FORECAST_LAY + threadIdx.x;
    forecast_values values(job, which);
    size_t size = (size_t) product_columns(pairs) * pairs.padded;
    panel_row to = {pairs.products + which * size, pairs.padded, pairs.product_tiles,
                    row};
    bool is = pairs.part[(size_t) which * pairs.padded + row] > 0;
    if (blockIdx.z == 0) {
        lay_out_base(values, which, to, is);
        return;
    }
    uint32_t from = (blockIdx.z - 1) * FORECAST_SLICE, m = values.task.candidates;
    if (from < m)
        lay_out_candidates(values, from, min(from + FORECAST_SLICE, m), to, is);
}

}  // namespace gpu

#endif
