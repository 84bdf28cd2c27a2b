/* The kernels that give distances and normal equations: of pairwise S-maps, and of
   conditional forecasts. */
#include "gpu/edm/pairs/products.cuh"

namespace gpu {

/* ---- distances ---- */

/* Mean and least distances of each prediction of pairwise S-maps, from which weights
   follow. */

/* A mean distance of at most this is taken as 0: all distances are 0 there, and what the
   mean holds comes from the smallest numbers that the square root gives. */
constexpr double LEAST_MEAN = 1e-100;
constexpr double LEAST_SLOPE = 1e-140;  /* so that points out of sight have no weight */

/* What a lane learns of the distances of its two predictions. Of the least only the first
   bits count: it keeps weights within the range of a double. */
struct survey_sums {
    double total[2];
    int least[2];
};

/* 16 points; `part` and `away` are theirs: see survey_distances(). */
template <bool NEAR, int QUADS>
__device__ inline void survey_points(const pair_rows<QUADS> &rows, const double *z,
                                     const double *part, const int *away,
                                     uint32_t exclusion, uint32_t point, uint32_t row,
                                     survey_sums *sums)
{
    pair_elements square;
    multiply_features(rows.distance, z, square);
    SYN_UNROLL(i, 4)
        SYN_UNROLL(half, 2) {
            uint32_t at = pair_point(i), own = row + 8 * half;
            uint32_t apart = point + at > own ? point + at - own : own - (point + at);
            double distance = quick_root(square[half][i]), count = part[at];
            int high = max(__double2hiint(distance), away[at]);
            if (NEAR && apart <= exclusion) {
                count = 0;
                high = INT32_MAX;
            }
            sums->total[half] = fma(distance, count, sums->total[half]);
            sums->least[half] = min(sums->least[half], high);
        }
}

__device__ inline void put_survey(const pairs_job &job, uint32_t which, uint32_t row,
                                  double total, int least)
{
    size_t at = (size_t) which * job.padded + row;
    const uint32_t *before = job.before + (size_t) which * (job.padded + 1);
    uint64_t end = (uint64_t) row + job.exclusion + 1;
    uint32_t to = (uint32_t) (end < job.padded ? end : job.padded);
    uint32_t from = row > job.exclusion ? row - job.exclusion : 0;
    double n = before[job.padded] - (before[to] - before[from]);
    double mean = n > 0 ? total / n : 0;
    const pair_library &library = job.library[which];
    pair_fall fall = {0, fmax(mean > LEAST_MEAN ? library.fall / mean : 0, LEAST_SLOPE)};
    bool there = job.part[at] > 0 && library.differ;
    bool any = least < INT32_MAX;
    fall.offset = any ? fall.slope * __hiloint2double(least, 0) : 0;
    job.falls[at] = fall;
    job.state[at] = there && any ? PAIR_MADE : PAIR_NONE;
}

/* The doubles of what a block holds of a library at a time: features, whether there is a
   point, and the largest number where it has no weight. */
inline __host__ __device__ uint32_t survey_stage(uint32_t quads)
{
    return 4 * quads * PAIR_PITCH + PAIR_POINTS + PAIR_POINTS / 2;
}

template <int QUADS>
__device__ inline void fetch_survey(const pairs_job &job, uint32_t which, uint32_t from,
                                    double *to)
{
    size_t at = (size_t) which * job.padded;
    fetch_features<QUADS>(job, job.feature + 4 * QUADS * at, job.square + at, from, to);
    double *part = to + 4 * QUADS * PAIR_PITCH;
    int *away = (int *) (part + PAIR_POINTS);
    for (uint32_t i = threadIdx.x; i < PAIR_POINTS; i += PAIR_THREADS) {
        double is = job.part[at + from + i];
        part[i] = is;
        away[i] = is > 0 && job.known[from + i] ? 0 : INT32_MAX;
    }
    __pipeline_commit();
}

/* A warp for 16 predictions. Grid: tiles, libraries. */
template <int QUADS>
__global__ void __launch_bounds__(PAIR_THREADS)
survey_distances(SYN_GPU_JOB pairs_job job)
{
    extern __shared__ double shared[];
    uint32_t which = blockIdx.y, lane = threadIdx.x % WARP;
    uint32_t first = blockIdx.x * PAIR_TILE + threadIdx.x / WARP * PAIR_ROWS;
    uint32_t row = first + lane / 4;
    pair_rows<QUADS> rows;
    size_t at = (size_t) which * job.padded;
    rows.load(job, job.feature + 4 * QUADS * at, job.square + at, row);
    survey_sums sums = {{0, 0}, {INT32_MAX, INT32_MAX}};
    fetch_survey<QUADS>(job, which, 0, shared);
    uint32_t end = padded_points(job);
    for (uint32_t from = 0, turn = 0; from < end; from += PAIR_POINTS, turn ^= 1) {
        double *stage = shared + turn * survey_stage(QUADS);
        __pipeline_wait_prior(0);
        __syncthreads();
        if (from + PAIR_POINTS < end)
            fetch_survey<QUADS>(job, which, from + PAIR_POINTS,
                                shared + (turn ^ 1) * survey_stage(QUADS));
        const double *part = stage + 4 * QUADS * PAIR_PITCH;
        const int *away = (const int *) (part + PAIR_POINTS);
        bool near = any_near(job, from, PAIR_POINTS, first);
        for (uint32_t i = 0; i < PAIR_POINTS; i += 16)
            if (near)
                survey_points<true>(rows, stage + i, part + i, away + i, job.exclusion,
                                    from + i, row, &sums);
            else
                survey_points<false>(rows, stage + i, part + i, away + i, job.exclusion,
                                     from + i, row, &sums);
    }
    for (int half = 0; half < 2; half++) {
        for (int o = 1; o < 4; o *= 2) {
            sums.total[half] += __shfl_xor_sync(WHOLE_WARP, sums.total[half], o);
            int other = __shfl_xor_sync(WHOLE_WARP, sums.least[half], o);
            sums.least[half] = min(sums.least[half], other);
        }
        if (lane % 4 == 0)
            put_survey(job, which, row + 8 * half, sums.total[half], sums.least[half]);
    }
}

/* ---- launches ---- */

/* The kernels that give distances and normal equations: of pairwise S-maps, and of
   conditional forecasts. */

double seconds_of_pair(double tiles, double groups, uint32_t quads)
{
    return (2 * PAIR_COLUMNS * tiles + groups * (60 + 24.0 * quads)) / 4e13;
}

void cut_columns(uint32_t columns, uint32_t features, size_t shared, uint32_t *tiles,
                 uint32_t *groups)
{
    uint32_t all = (columns + PAIR_COLUMNS - 1) / PAIR_COLUMNS;
    with_quads(features, [&](auto quads) {
        double least = 0;
        for (uint32_t one : {3, 6, most_tiles(quads)}) {
            uint32_t n = (all + one - 1) / one;
            double seconds = seconds_of_pair((double) n * one, n, quads);
            if (one > 3 && (multiply_shared(quads, one) > shared || seconds >= least))
                continue;
            least = seconds;
            *tiles = one;
            *groups = n;
        }
    });
}

void choose_products(uint32_t E, uint32_t columns, size_t shared, pairs_job *job)
{
    job->E = E;
    with_quads(E + 2, [&](auto n) { job->quads = n; });
    cut_columns(columns, E + 2, shared, &job->product_tiles, &job->product_groups);
}

void launch_survey(const pairs_job &job, cudaStream_t stream)
{
    with_quads(job.E + 2, [&](auto quads) {
        launch_pairs(survey_distances<quads>, job, dim3(job.all_tiles, job.libraries),
                     2 * survey_stage(quads) * sizeof(double), stream);
    });
}

void launch_products(const pairs_job &job, cudaStream_t stream)
{
    with_shape(job.E, job.product_tiles, [&](auto quads, auto tiles) {
        launch_pairs(sum_products<quads, tiles>, job,
                     dim3(job.tiles, job.product_groups, job.libraries),
                     multiply_shared(quads, tiles), stream);
    });
}

}  // namespace gpu
