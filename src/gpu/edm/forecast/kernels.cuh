/* The kernels of conditional forecasts, beside those that make weights and sums. */
#pragma once

extern "C" {
#include "core/edm/forecast/forecast.h"
}
#include "gpu/edm/pairs/pairs.cuh"

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
    double *missed;                /* NULL, or [libraries][steps] as in syn_forecasts, NaN
                                      at first */
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

/* ---- rows, and what their weights are multiplied with ---- */

enum {
    FORECAST_LAY = 64,    /* rows of a block that lays out products, */
    FORECAST_SLICE = 16   /* and the candidates that it takes */
};

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
    const forecast_task &task = values.task;
    auto complete = [&](uint32_t row) {
        for (uint32_t k = 0; k <= task.coordinates; k++)
            if (isnan(values.raw(k, row)))
                return false;
        for (uint32_t i = 0; i < task.all; i++)
            if (isnan(values.at(job.candidate[task.candidate + i], row)))
                return false;
        return true;
    };
    auto alike = [&](uint32_t row, uint32_t other) {
        for (uint32_t k = 0; k < task.coordinates; k++)
            if (values.raw(k, row) != values.raw(k, other))
                return false;
        return true;
    };
    found_points found = find_points(job.pairs, which, complete, alike);
    find_centres(values, which, found.one);
    if (threadIdx.x == 0) {
        pair_library *library = job.pairs.library + which;
        library->differ = 1;
        library->fall = found.differ ? TWO_LOG2 * task.theta : 0;
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

/* ---- forecasts ---- */

/* Conditional forecasts from normal equations, those without a candidate and with each
   of them. */

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
    if (values.job.missed)
        values.job.missed[(size_t) blockIdx.y * pairs.steps + pairs.first + row.row + 1] =
            model.error[r];
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
    SYN_UNROLL(i, most) {
        if (i >= n)
            break;
        a[i] = sum[(size_t) i * m];
        b[i] = two[(size_t) i * m];
        SYN_UNROLL(k, i) {
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
    return model.error[r] * moved;
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
    uint32_t n = values.task.coordinates + 1, columns = base_columns(n);
    constexpr uint32_t pitch = forecast_models<QUADS>::PITCH;
    uint32_t triangle = columns - n;
    /* The sums of the equations, from device memory. */
    for (uint32_t i = threadIdx.x; i < rows * columns; i += FORECAST_SOLVE) {
        uint32_t r = i / columns, column = i % columns;
        forecast_row row = find_forecast(pairs, first + r);
        if (!row.is)
            continue;
        double value = pairs.sums[row.sums + column];
        if (column < triangle)
            model.lower[column * pitch + r] = value;
        else
            model.right[(column - triangle) * pitch + r] = value;
        if (column == 0)
            model.hold[r] = pairs.ridge * value;
    }
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

/* ---- gains ---- */

/* Gains of conditional forecasts by their candidates, and how sure they are. */

enum { FORECAST_COMPARE = 256, FORECAST_WARPS = FORECAST_COMPARE / WARP };

/* The sum over the warps of each lane's values; `room` is used again after a barrier
   only. */
__device__ inline double over_warps(double value, double (*room)[WARP])
{
    uint32_t lane = threadIdx.x % WARP;
    room[threadIdx.x / WARP][lane] = value;
    __syncthreads();
    double sum = 0;
    for (int warp = 0; warp < FORECAST_WARPS; warp++)
        sum += room[warp][lane];
    __syncthreads();
    return sum;
}

/* A lane's share of the long-run variance of the falls of a candidate, times `rows`:
   squares, and twice the products with those before. */
__device__ inline double long_run(const double *fall, uint32_t pitch, uint32_t rows,
                                  uint32_t lags, double mean)
{
    double sum = 0;
    for (uint32_t i = threadIdx.x / WARP; i < rows; i += FORECAST_WARPS) {
        const double *from = fall + (size_t) i * pitch;
        double own = *from - mean, others = 0;
        for (uint32_t lag = 1; lag <= min(lags, i); lag++) {
            from -= pitch;
            others = fma(1 - lag / (lags + 1.0), *from - mean, others);
        }
        sum = fma(own, own + 2 * others, sum);
    }
    return sum;
}

/* A lane for each candidate, and the rows by turns to the warps. Grid: candidates, at
   least one block; tasks. */
__global__ void __launch_bounds__(FORECAST_COMPARE)
compare_forecasts(SYN_GPU_JOB forecast_job job)
{
    __shared__ double room[FORECAST_WARPS][WARP];
    uint32_t which = blockIdx.y, c = blockIdx.x * WARP + threadIdx.x % WARP;
    const forecast_task &task = job.task[which];
    uint32_t rows = job.pairs.library[which].rows;
    bool any = rows >= job.least, mine = c < task.candidates;
    size_t at = (size_t) which * job.pairs.padded;
    const double *fall = job.fall + at * job.most + c;
    double squares = 0, sum = 0, turns = 0;
    for (uint32_t i = threadIdx.x; i < rows; i += FORECAST_COMPARE)
        squares = fma(job.error[at + i], job.error[at + i], squares);
    squares = block_sum<FORECAST_COMPARE>(squares, room[0]);
    for (uint32_t i = threadIdx.x / WARP; mine && i < rows; i += FORECAST_WARPS)
        sum += fall[(size_t) i * job.most];
    sum = over_warps(sum, room);
    double mean = sum / rows;
    if (mine)
        turns = long_run(fall, job.most, rows, job.lags[rows], mean);
    double variance = over_warps(turns, room) / rows;
    double *out = job.out + (size_t) which * (FORECAST_NUMBERS + 2 * (size_t) job.most);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        out[FORECAST_ROWS] = rows;
        out[FORECAST_ERROR] = any ? squares / rows : NAN;
    }
    if (threadIdx.x >= WARP || !mine)
        return;
    double least = SYN_FORECAST_SPREAD * squares / rows;
    double t = variance <= least * least ? 0 : mean / sqrt(variance / rows);
    out[FORECAST_NUMBERS + c] = any ? sum / squares : NAN;
    out[FORECAST_NUMBERS + job.most + c] = any ? t : NAN;
}

}  // namespace gpu
