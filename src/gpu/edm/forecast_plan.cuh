/* How conditional forecasts are cut into tasks and batches. */
#ifndef SYN_GPU_EDM_FORECAST_PLAN_CUH
#define SYN_GPU_EDM_FORECAST_PLAN_CUH

#include "gpu/edm/forecast_types.cuh"
#include "gpu/edm/pairs_launch.cuh"

#include <algorithm>
#include <vector>

namespace gpu {

constexpr double FORECAST_PANEL = 192 << 20;  /* bytes of the products of a task, about */
constexpr double FORECAST_BYTES = 256 << 20;  /* of a batch, where that is enough */
constexpr double FORECAST_SECONDS = 0.02;     /* about, of a batch on a large device */
constexpr uint32_t FORECAST_MOST = 128;       /* candidates of a task */

inline rows_shape shape_of(uint32_t steps, const syn_forecast_options &options)
{
    uint64_t before = (uint64_t) options.reach + 1;
    uint32_t rows = steps > before ? (uint32_t) (steps - before) : 0;
    return make_rows(steps, options.reach, rows, options.exclusion);
}

/* Tasks that are done together: they have as many coordinates, and about as many
   candidates. */
struct forecast_batch {
    size_t first;
    uint32_t n, coordinates, most;  /* most: candidates of a task */
};

inline uint32_t columns_of(uint32_t coordinates, uint32_t candidates)
{
    uint32_t n = coordinates + 1;
    return base_columns(n) + candidate_columns(n) * candidates;
}

/* The candidates of a job are shared out to so many tasks. */
inline uint32_t tasks_of(const rows_shape &shape, uint32_t coordinates,
                         uint32_t candidates)
{
    double most = FORECAST_PANEL / sizeof(double) / std::max(shape.padded, 1u) /
                  candidate_columns(coordinates + 1);
    most = std::min(std::max(most, 1.0), (double) FORECAST_MOST);
    return std::max(1u, (uint32_t) std::ceil(candidates / std::floor(most)));
}

/* The tasks of all jobs, those with the most coordinates and candidates first. */
inline std::vector<forecast_task> list_tasks(const rows_shape &shape,
                                             const syn_forecast_jobs &jobs)
{
    std::vector<forecast_task> out;
    for (size_t i = 0; i < jobs.n; i++) {
        size_t from = jobs.coordinate_start[i], begin = jobs.candidate_start[i];
        uint32_t d = (uint32_t) (jobs.coordinate_start[i + 1] - from);
        uint32_t all = (uint32_t) (jobs.candidate_start[i + 1] - begin);
        uint32_t parts = tasks_of(shape, d, all);
        for (uint32_t part = 0; part < parts; part++) {
            uint32_t first = (uint32_t) ((uint64_t) all * part / parts);
            uint32_t end = (uint32_t) ((uint64_t) all * (part + 1) / parts);
            out.push_back({jobs.theta[i], i, from, begin, jobs.effect[i], d, all, first,
                           end - first});
        }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const forecast_task &a, const forecast_task &b) {
                         return a.coordinates != b.coordinates
                                    ? a.coordinates > b.coordinates
                                    : a.candidates > b.candidates;
                     });
    return out;
}

/* Seconds for one task of a batch, roughly. */
inline double seconds_of(const rows_shape &shape, uint32_t coordinates,
                         uint32_t candidates)
{
    double tiles = columns_of(coordinates, candidates) / (double) PAIR_COLUMNS + 1;
    double pairs = (double) shape.padded * shape.padded;
    return 1e-6 + pairs * seconds_of_pair(tiles, tiles / 9 + 1, (coordinates + 5) / 4);
}

/* Batches of the tasks: of about FORECAST_SECONDS and FORECAST_BYTES, and such that
   every device gets several. Where candidates get fewer, the columns of those that are
   not there are computed for nothing, so that a batch ends where they are an eighth. */
inline std::vector<forecast_batch> cut_batches(const rows_shape &shape,
                                               const std::vector<forecast_task> &tasks,
                                               uint32_t devices)
{
    std::vector<forecast_batch> out;
    double all = 0, seconds = 0, bytes = 0;
    for (const forecast_task &task : tasks)
        all += seconds_of(shape, task.coordinates, task.candidates);
    double most = devices > 1 ? std::min(FORECAST_SECONDS, all / devices / 8)
                              : FORECAST_SECONDS;
    for (size_t i = 0; i < tasks.size(); i++) {
        const forecast_task &task = tasks[i];
        uint32_t d = task.coordinates, columns = columns_of(d, task.candidates);
        forecast_batch *last = out.empty() ? nullptr : &out.back();
        if (!last || last->coordinates != d || seconds > most || bytes > FORECAST_BYTES ||
            last->n >= 32768 || 8 * columns < 7 * columns_of(d, last->most)) {
            out.push_back({i, 0, d, task.candidates});
            last = &out.back();
            seconds = bytes = 0;
        }
        last->n++;
        seconds += seconds_of(shape, d, last->most);
        bytes += 16.0 * shape.padded * columns_of(d, last->most);
    }
    return out;
}

}  // namespace gpu

#endif
