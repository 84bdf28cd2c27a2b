/* Conditional forecasts from normal equations, those without a candidate and with each
   of them. */
#ifndef SYN_GPU_EDM_FORECAST_SOLVE_CUH
#define SYN_GPU_EDM_FORECAST_SOLVE_CUH

#include "gpu/edm/forecast_types.cuh"

namespace gpu {

enum { FORECAST_SOLVE = 128 };  /* threads of a block that solves */

inline constexpr int forecast_unknowns(int quads)
{
    return quads < 8 ? 4 * quads - 1 : SYN_FORECAST_MOST + 1;
}

/* Rows of such a block: as many as its 48 KB of shared memory hold. */
inline constexpr int forecast_tile(int quads)
{
    return quads <= 4 ? 32 : 15;
}

/* The models of a block's rows without a candidate: the Cholesky triangle of the normal
   equations, with the inverse of its diagonal, and what it turns the right side and the
   regressors of the row into. Numbers of all rows are side by side. */
template <int QUADS> struct forecast_models {
    enum {
        MOST = forecast_unknowns(QUADS),
        ROWS = forecast_tile(QUADS),
        PITCH = ROWS % 2 ? ROWS : ROWS + 1  /* so that lanes write to different banks */
    };
    double lower[MOST * (MOST + 1) / 2 * PITCH];
    double right[MOST * PITCH], own[MOST * PITCH], hold[PITCH], error[PITCH];
};

/* The place of a row of the kernels. */
struct forecast_row {
    uint32_t row;
    size_t at;    /* in arrays of [libraries][padded], without gaps; */
    size_t sums;  /* and where the sums of the row are */
    bool is;      /* whether it counts */
};

__device__ inline forecast_row find_forecast(const pairs_job &job, uint32_t row)
{
    size_t at = (size_t) blockIdx.y * job.padded;
    if (row >= job.rows)
        return {row, 0, 0, false};
    const uint32_t *before = job.before + at + blockIdx.y;
    return {row, at + before[row], (at + row) * product_columns(job),
            before[row + 1] > before[row]};
}

/* The sums of the equations, from device memory. */
template <int QUADS>
__device__ inline void fetch_models(const pairs_job &job, uint32_t n, uint32_t first,
                                    forecast_models<QUADS> &to)
{
    constexpr uint32_t rows = forecast_models<QUADS>::ROWS;
    constexpr uint32_t pitch = forecast_models<QUADS>::PITCH;
    uint32_t columns = base_columns(n), triangle = columns - n;
    for (uint32_t i = threadIdx.x; i < rows * columns; i += FORECAST_SOLVE) {
        uint32_t r = i / columns, column = i % columns;
        forecast_row row = find_forecast(job, first + r);
        if (!row.is)
            continue;
        double value = job.sums[row.sums + column];
        if (column < triangle)
            to.lower[column * pitch + r] = value;
        else
            to.right[(column - triangle) * pitch + r] = value;
        if (column == 0)
            to.hold[r] = job.ridge * value;
    }
}

/* A thread for each row: its triangle in the place of the sums, and the error. */
template <int QUADS>
__device__ inline void solve_model(const forecast_values &values, const forecast_row &row,
                                   uint32_t r, forecast_models<QUADS> &model)
{
    constexpr uint32_t pitch = forecast_models<QUADS>::PITCH;
    const pairs_job &pairs = values.job.pairs;
    const uint32_t n = values.task.coordinates + 1;
    double error = values.target(row.row);
    auto lower = [&](uint32_t i, uint32_t j) -> double & {
        return model.lower[triangle_place(i, j) * pitch + r];
    };
    for (uint32_t i = 0; i < n; i++) {
        double right = model.right[i * pitch + r], own = values.regressor(i, row.row);
        for (uint32_t j = 0; j <= i; j++) {
            double rest = lower(i, j) + (i == j && i > 0 ? model.hold[r] : 0);
            for (uint32_t k = 0; k < j; k++)
                rest = fma(-lower(i, k), lower(j, k), rest);
            lower(i, j) = i == j ? 1 / sqrt(rest) : rest * lower(j, j);
        }
        for (uint32_t k = 0; k < i; k++) {
            right = fma(-lower(i, k), model.right[k * pitch + r], right);
            own = fma(-lower(i, k), model.own[k * pitch + r], own);
        }
        right *= lower(i, i);
        own *= lower(i, i);
        model.right[i * pitch + r] = right;
        model.own[i * pitch + r] = own;
        error = fma(-right, own, error);
    }
    bool made = pairs.state[(size_t) blockIdx.y * pairs.padded + row.row] == PAIR_MADE;
    model.error[r] = made ? error : NAN;
    values.job.error[row.at] = model.error[r];
}

/* By how much the squared error falls when a candidate and its square are two more
   regressors: the model's triangle takes two more rows. `sum` is the candidate's first
   column, and the next ones are `m` apart. */
template <int QUADS>
__device__ inline double forecast_fall(const forecast_models<QUADS> &model, uint32_t n,
                                       uint32_t r, double x, const double *sum,
                                       uint32_t m)
{
    constexpr int most = forecast_models<QUADS>::MOST;
    constexpr uint32_t pitch = forecast_models<QUADS>::PITCH;
    const double *two = sum + (size_t) n * m, *rest = two + (size_t) n * m;
    double a[most], b[most], hold = model.hold[r];
    double aa = two[0] + hold, ab = rest[0], bb = rest[m] + hold;
    double ay = rest[2 * (size_t) m], by = rest[3 * (size_t) m];
    double own_a = x, own_b = x * x;
#pragma unroll
    for (int i = 0; i < most; i++) {
        if (i >= n)
            break;
        a[i] = sum[(size_t) i * m];
        b[i] = two[(size_t) i * m];
#pragma unroll
        for (int k = 0; k < i; k++) {
            double lower = model.lower[triangle_place(i, k) * pitch + r];
            a[i] = fma(-lower, a[k], a[i]);
            b[i] = fma(-lower, b[k], b[i]);
        }
        double diagonal = model.lower[triangle_place(i, i) * pitch + r];
        double right = model.right[i * pitch + r], own = model.own[i * pitch + r];
        a[i] *= diagonal;
        b[i] *= diagonal;
        aa = fma(-a[i], a[i], aa);
        ab = fma(-a[i], b[i], ab);
        bb = fma(-b[i], b[i], bb);
        ay = fma(-a[i], right, ay);
        by = fma(-b[i], right, by);
        own_a = fma(-a[i], own, own_a);
        own_b = fma(-b[i], own, own_b);
    }
    double share = ab / aa;
    double of_b = (by - share * ay) / (bb - share * ab);
    double of_a = (ay - ab * of_b) / aa, moved = of_a * own_a + of_b * own_b;
    return moved * (2 * model.error[r] - moved);
}

/* Grid: rows, tasks. */
template <int QUADS>
__global__ void __launch_bounds__(FORECAST_SOLVE)
solve_forecasts(SYN_GPU_JOB forecast_job job)
{
    __shared__ forecast_models<QUADS> model;
    constexpr uint32_t rows = forecast_models<QUADS>::ROWS;
    const pairs_job &pairs = job.pairs;
    forecast_values values(job, blockIdx.y);
    uint32_t first = blockIdx.x * rows, m = values.task.candidates;
    uint32_t n = values.task.coordinates + 1;
    fetch_models(pairs, n, first, model);
    __syncthreads();
    if (threadIdx.x < rows) {
        forecast_row row = find_forecast(pairs, first + threadIdx.x);
        if (row.is)
            solve_model(values, row, threadIdx.x, model);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < rows * m; i += FORECAST_SOLVE) {
        uint32_t r = i / m, c = i % m;
        forecast_row row = find_forecast(pairs, first + r);
        if (!row.is)
            continue;
        const double *sum = pairs.sums + row.sums + base_columns(n) + c;
        job.fall[row.at * job.most + c] =
            forecast_fall(model, n, r, values.candidate(c, row.row), sum, m);
    }
}

}  // namespace gpu

#endif
