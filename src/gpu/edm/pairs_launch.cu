/* The kernels that give distances and normal equations: of pairwise S-maps, and of
   conditional forecasts. */
#include "gpu/edm/pairs_launch.cuh"

#include "gpu/edm/pairs_survey.cuh"

namespace gpu {

double seconds_of_pair(double tiles, double groups, uint32_t quads)
{
    return (2 * PAIR_COLUMNS * tiles + groups * (60 + 24.0 * quads)) / 4e13;
}

void cut_columns(uint32_t columns, uint32_t features, size_t shared, uint32_t *tiles,
                 uint32_t *groups)
{
    uint32_t all = (columns + PAIR_COLUMNS - 1) / PAIR_COLUMNS;
    with_quads(features, [&](auto quads) {
        constexpr int Q = decltype(quads)::value;
        double least = 0;
        for (uint32_t one : {3, 6, most_tiles(Q)}) {
            uint32_t n = (all + one - 1) / one;
            double seconds = seconds_of_pair((double) n * one, n, Q);
            if (one > 3 && (multiply_shared(Q, one) > shared || seconds >= least))
                continue;
            least = seconds;
            *tiles = one;
            *groups = n;
        }
    });
}

void put_rows(const rows_shape &rows, pairs_job *job)
{
    job->steps = rows.steps;
    job->first = rows.first;
    job->rows = rows.rows;
    job->padded = rows.padded;
    job->exclusion = rows.exclusion;
    job->tiles = job->all_tiles = rows.padded / PAIR_TILE;
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
        constexpr int Q = decltype(quads)::value;
        launch(survey_distances<Q>, job, dim3(job.all_tiles, job.libraries),
               2 * survey_stage(Q) * sizeof(double), stream);
    });
}

void launch_products(const pairs_job &job, cudaStream_t stream)
{
    with_quads(job.E + 2, [&](auto quads) {
        constexpr int Q = decltype(quads)::value;
        with_tiles<Q>(job.product_tiles, [&](auto tiles) {
            constexpr int T = decltype(tiles)::value;
            launch(sum_products<Q, T>, job,
                   dim3(job.tiles, job.product_groups, job.libraries),
                   multiply_shared(Q, T), stream);
        });
    });
}

}  // namespace gpu
