/* The door of neighbours and simplex projection: prediction rows, or views, dealt out to
   devices in batches. */
extern "C" {
#include "gpu/edm/simplex/simplex.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/edm/neighbours/neighbours.cuh"
#include "gpu/edm/delays.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace gpu {

/* Predictions from neighbours, as core/edm/simplex/simplex.c makes them: in one state
   space or several, of one target or several. */
struct project_job {
    placed_neighbours near;   /* [spaces][n], k places each */
    uint32_t spaces, n, k, targets;
    const uint32_t *place = nullptr;    /* [n] where predictions go; NULL: to their own
                                           numbers */
    const uint32_t *library = nullptr;  /* [spaces] library rows, too few below `least` */
    uint32_t least = 0;
    double *variance = nullptr;         /* as `prediction`; may be NULL */
    double *prediction = nullptr;       /* [spaces][targets][n] */
    const double *target = nullptr;     /* [targets][rows] */
    uint32_t rows = 0;
    double closest = 0;                 /* syn_points: least */
};

__device__ inline double weight_of(double distance, double nearest, double closest)
{
    return exp(-distance / (nearest > closest ? nearest : closest));
}

/* A thread a prediction row, state space and target. */
static __global__ void project_rows(SYN_GPU_JOB project_job job)
{
    const double none = __longlong_as_double(0x7ff8000000000000ll);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= job.n)
        return;
    for (uint32_t at = blockIdx.y; at < job.spaces * job.targets; at += gridDim.y) {
        uint32_t space = at / job.targets;
        size_t from = (size_t) space * job.n + i, to = (size_t) at * job.n + i;
        const double *value = job.target + (size_t) (at % job.targets) * job.rows;
        const double *distance = job.near.distance + from * job.k;
        const uint32_t *row = job.near.row + from * job.k;
        uint32_t found = job.near.found[from];
        if (job.place)
            to = job.place[i];
        if (job.library && job.library[space] < job.least)
            found = 0;
        double sum = 0, weights = 0, off = 0;
        for (uint32_t j = 0; j < found; j++) {
            double w = weight_of(distance[j], distance[0], job.closest);
            sum = __dadd_rn(sum, __dmul_rn(w, value[row[j]]));
            weights = __dadd_rn(weights, w);
        }
        double mean = found > 0 ? sum / weights : none;
        job.prediction[to] = mean;
        if (!job.variance)
            continue;
        for (uint32_t j = 0; j < found; j++) {
            double w = weight_of(distance[j], distance[0], job.closest);
            double by = value[row[j]] - mean;
            off = __dadd_rn(off, __dmul_rn(__dmul_rn(w, by), by));
        }
        job.variance[to] = found > 0 ? off / weights : none;
    }
}

/* How many rows of a library have all coordinates of each view: a block a view. */
static __global__ void count_complete(placed_points points, placed_rows library,
                                      const uint32_t *column, uint32_t dims,
                                      uint32_t views, uint32_t *out)
{
    __shared__ uint32_t n;
    for (uint32_t view = blockIdx.x; view < views; view += gridDim.x) {
        __syncthreads();
        if (threadIdx.x == 0)
            n = 0;
        __syncthreads();
        uint32_t mine = 0;
        for (uint32_t i = threadIdx.x; i < library.n; i += blockDim.x) {
            bool all = true;
            for (uint32_t d = 0; d < dims; d++) {
                size_t at = (size_t) column[(size_t) view * dims + d] * points.rows;
                all = all && isfinite(points.coordinate[at + library.row[i]]);
            }
            mine += all;
        }
        atomicAdd(&n, mine);
        __syncthreads();
        if (threadIdx.x == 0)
            out[view] = n;
    }
}

}  // namespace gpu

namespace {

using gpu::array;
using gpu::check;

/* A device's part in a call: the user's data, and neighbours and predictions of a
   batch. */
struct worker {
    gpu::stream stream;
    gpu::points_room room_of_points;
    array<double> target, distance, of, variance;
    array<uint32_t> library_row, prediction_row, found, row;
    array<gpu::near_place> lists;
    gpu::placed_points points;
    gpu::placed_rows library, prediction;
    double closest;

    /* `value` are all values of the targets, `n` of them. */
    worker(const syn_points &p, const syn_rows &l, const syn_rows &predicted,
           const double *value, size_t n)
        : points{p.rows, p.dims, room_of_points.place(p, stream)},
          library{l.n, library_row.upload(l.row, l.n, stream)},
          prediction{predicted.n,
                     prediction_row.upload(predicted.row, predicted.n, stream)},
          closest(p.least)
    {
        if (n > 0)
            target.upload(value, n, stream);
    }

    gpu::placed_rows rows_from(uint32_t from, uint32_t n) const
    {
        return {n, prediction.row + from};
    }

    gpu::placed_neighbours room(size_t rows, size_t k)
    {
        return {found.ensure(rows), row.ensure(rows * k), distance.ensure(rows * k)};
    }

    /* Fills in what is the same in all projections of a call, and does one. */
    void project(gpu::project_job job)
    {
        size_t parts = (size_t) job.spaces * job.targets;
        job.target = target.get();
        job.rows = points.rows;
        job.closest = closest;
        job.prediction = of.ensure(parts * job.n);
        gpu::launch(gpu::project_rows,
                    dim3(gpu::blocks_for(job.n, 128), gpu::most_of_grid(parts)), 128, 0,
                    stream, job);
    }

    /* Parts of rows of length n: [parts][width] to [parts][n]. */
    void download_parts(double *to, size_t n, const array<double> &from, size_t width,
                        size_t parts)
    {
        check(cudaMemcpy2DAsync(to, n * sizeof(double), from.get(),
                                width * sizeof(double), width * sizeof(double), parts,
                                cudaMemcpyDeviceToHost, stream));
    }
};

/* Gives work(crew) to each device until all `total` parts are done. */
template <class F>
syn_status share(syn_gpu_call *call, uint32_t total, const char *stage, F work)
{
    return gpu::status_with(call, [&] { gpu::share_out(*call, total, stage, work); });
}

/* Rows at a time of a search in many spaces at once, so that neighbours take little
   memory and the user does not wait long. */
uint32_t spaces_batch(double bytes, double pairs)
{
    double rows = std::min(0.05 * 2e12 / pairs, 0.1 * gpu::free_memory() / bytes);
    return (uint32_t) std::max(1.0, std::min(rows, 65536.0));
}

}  // namespace

syn_status syn_gpu_find_neighbours(const syn_points *points, const syn_rows *library,
                                   const syn_rows *prediction,
                                   const syn_neighbour_options *options,
                                   syn_gpu_call *call, syn_neighbours *out)
{
    size_t k = options->k, entries = prediction->n * k;
    std::memset(out, 0, sizeof *out);
    out->n = prediction->n;
    out->k = options->k;
    out->found = (uint32_t *) std::malloc((out->n + (size_t) 1) * sizeof *out->found);
    out->row = (uint32_t *) std::malloc((entries + 1) * sizeof *out->row);
    out->distance = (double *) std::malloc((entries + 1) * sizeof *out->distance);
    if (!out->found || !out->row || !out->distance) {
        std::snprintf(call->reason, SYN_GPU_TEXT, "the host has no memory left");
        return SYN_NO_MEMORY;
    }
    return share(call, out->n, "neighbours", [&](gpu::crew &crew, int) {
        worker w(*points, *library, *prediction, nullptr, 0);
        gpu::neighbour_search search(w.points, w.library, w.stream);
        uint32_t from, n;
        while ((n = crew.take(search.batch(options->k), &from))) {
            gpu::placed_neighbours to = w.room(n, k);
            search.find(w.rows_from(from, n), options->k, options->exclusion, to);
            gpu::download(out->found + from, to.found, n, w.stream);
            gpu::download(out->row + from * k, to.row, n * k, w.stream);
            gpu::download(out->distance + from * k, to.distance, n * k, w.stream);
            check(cudaStreamSynchronize(w.stream));
        }
    });
}

syn_status syn_gpu_simplex(const syn_points *points, const syn_rows *library,
                           const syn_rows *predicted,
                           const syn_neighbour_options *options,
                           const syn_targets *targets, syn_gpu_call *call,
                           double *prediction, double *variance)
{
    return share(call, predicted->n, "neighbours", [&](gpu::crew &crew, int) {
        worker w(*points, *library, *predicted, targets->value,
                 (size_t) targets->n * points->rows);
        gpu::neighbour_search search(w.points, w.library, w.stream);
        uint32_t from, n, k = std::max(1u, std::min(options->k, library->n));
        while ((n = crew.take(search.batch(k), &from))) {
            gpu::placed_neighbours to = w.room(n, k);
            search.find(w.rows_from(from, n), k, options->exclusion, to);
            gpu::project_job job = {to, 1, n, k, targets->n};
            job.variance = w.variance.ensure((size_t) n * targets->n);
            w.project(job);
            w.download_parts(prediction + from, predicted->n, w.of, n, targets->n);
            w.download_parts(variance + from, predicted->n, w.variance, n, targets->n);
            check(cudaStreamSynchronize(w.stream));
        }
    });
}

/* ---- all numbers of dimensions ---- */

namespace {

struct sweep_request {
    const syn_points *points;
    const syn_reach *library, *predicted;
    const syn_sweep_options *options;
    const double *target;
    double *prediction;
    uint32_t E_max, all;
    uint32_t blocks;  /* of prediction rows, if each E is searched by itself */
};

/* The rows that reach E, and their numbers. */
void rows_within(const syn_reach &rows, uint32_t from, uint32_t to, uint32_t E,
                 std::vector<uint32_t> *row, std::vector<uint32_t> *number)
{
    row->clear();
    number->clear();
    for (uint32_t i = from; i < to; i++) {
        if (rows.steps[i] < E)
            continue;
        row->push_back(rows.rows.row[i]);
        number->push_back(i - from);
    }
}

/* All E side by side: of small libraries in a search of all rows, of large ones, with a
   coordinate for each E, in one that is made for them. */
void sweep_together(const sweep_request &r, bool small, gpu::crew &crew)
{
    worker w(*r.points, r.library->rows, r.predicted->rows, r.target, r.points->rows);
    array<uint32_t> library_reach, prediction_reach;
    library_reach.upload(r.library->steps, w.library.n, w.stream);
    prediction_reach.upload(r.predicted->steps, r.all, w.stream);
    uint32_t k = r.E_max + 1, from, n;
    std::unique_ptr<gpu::sweep_search> search;
    if (!small)
        search.reset(new gpu::sweep_search(w.points, {w.library, library_reach.get()},
                                           w.stream));
    double pairs = 0.5 * (w.library.n + 32.0) * (r.E_max + 1.0) * r.points->dims;
    uint32_t most = small ? spaces_batch((12.0 * k + 12) * r.E_max, pairs)
                          : search->batch();
    /* A few rows that are left over would take nearly as long as many. */
    uint32_t batch = gpu::blocks_for(r.all, gpu::blocks_for(r.all, most));
    while ((n = crew.take(batch, &from))) {
        gpu::placed_neighbours to = w.room((size_t) n * r.E_max, k);
        gpu::placed_rows rows = w.rows_from(from, n);
        const uint32_t *reach = prediction_reach.get() + from;
        gpu::spaces in = {r.E_max, nullptr, r.options->step, r.options->step,
                          library_reach.get(), reach, 2, 1};
        if (small)
            search_all({w.points, w.library, rows, in, nullptr, nullptr,
                        r.options->exclusion, k, to, n}, &w.lists, w.stream);
        else
            search->find({rows, reach}, r.options->exclusion, to);
        w.project({to, r.E_max, n, k, 1});
        w.download_parts(r.prediction + from, r.all, w.of, n, r.E_max);
        check(cudaStreamSynchronize(w.stream));
    }
}

/* What is left: a search for each E, in its own coordinates and with the rows that reach
   so far. */
void sweep_one_by_one(const sweep_request &r, gpu::crew &crew)
{
    worker w(*r.points, r.library->rows, r.predicted->rows, r.target, r.points->rows);
    array<uint32_t> library, predicted, number;
    std::vector<uint32_t> row, at;
    std::unique_ptr<gpu::neighbour_search> search;
    uint32_t item, E = 0, width = (r.all + r.blocks - 1) / r.blocks;
    while (crew.take(1, &item)) {
        if (item / r.blocks + 1 != E) {
            E = item / r.blocks + 1;
            rows_within(*r.library, 0, r.library->rows.n, E, &row, &at);
            search.reset();
            gpu::placed_rows rows = {(uint32_t) row.size(),
                                     library.upload(row, w.stream)};
            check(cudaStreamSynchronize(w.stream));
            gpu::placed_points points = w.points;
            points.dims = E * r.options->step;
            search.reset(new gpu::neighbour_search(points, rows, w.stream));
        }
        uint32_t from = std::min(r.all, item % r.blocks * width);
        uint32_t to = std::min(r.all, from + width);
        rows_within(*r.predicted, from, to, E, &row, &at);
        uint32_t n = (uint32_t) row.size();
        gpu::placed_neighbours found = w.room(n, E + 1);
        search->find({n, predicted.upload(row, w.stream)}, E + 1, r.options->exclusion,
                     found);
        gpu::fill(w.of.ensure(width), 0xff, width, w.stream);
        w.project({found, 1, n, E + 1, 1, number.upload(at, w.stream)});
        gpu::download(r.prediction + (size_t) (E - 1) * r.all + from, w.of.get(),
                      to - from, w.stream);
        check(cudaStreamSynchronize(w.stream));
    }
}

}  // namespace

syn_status syn_gpu_simplex_sweep(const syn_points *points, const syn_reach *library,
                                 const syn_reach *predicted,
                                 const syn_sweep_options *options, const double *target,
                                 syn_gpu_call *call, double *prediction)
{
    uint32_t E_max = points->dims / options->step, all = predicted->rows.n;
    bool small = !gpu::neighbour_search::filters(library->rows.n, E_max + 1);
    bool large = options->step == 1;
    for (int i = 0; i < call->n; i++)
        large = large && gpu::sweep_search::fits(library->rows.n, E_max,
                                                 call->devices[i]);
    double seconds = (double) library->rows.n * all * (points->dims + 2) / 1e13;
    uint32_t blocks = (uint32_t) std::min(std::ceil(seconds / 0.05), (double) all);
    sweep_request r = {points, library, predicted, options, target, prediction, E_max,
                       all, std::max(1u, blocks)};
    bool together = small || large;
    return share(call, together ? all : E_max * r.blocks, "rows",
                 [&](gpu::crew &crew, int) {
        together ? sweep_together(r, small, crew) : sweep_one_by_one(r, crew);
    });
}

/* ---- views ---- */

syn_status syn_gpu_simplex_views(const syn_points *points, const syn_rows *library,
                                 const syn_rows *predicted, const syn_views *views,
                                 const syn_neighbour_options *options,
                                 const double *target, syn_gpu_call *call,
                                 double *prediction)
{
    uint32_t all = predicted->n, k = std::max(1u, std::min(options->k, library->n));
    return share(call, views->n, "views", [&](gpu::crew &crew, int) {
        worker w(*points, *library, *predicted, target, points->rows);
        array<uint32_t> column, complete;
        double pairs = (double) all * (library->n + 32.0) * views->dims;
        uint32_t batch = spaces_batch((12.0 * k + 12) * all, pairs), from, n;
        while ((n = crew.take(batch, &from))) {
            column.upload(views->column + (size_t) from * views->dims,
                          (size_t) n * views->dims, w.stream);
            gpu::launch(gpu::count_complete, gpu::most_of_grid(n), 128, 0, w.stream,
                        w.points, w.library, column.get(), views->dims, n,
                        complete.ensure(n));
            gpu::placed_neighbours to = w.room((size_t) n * all, k);
            gpu::spaces in = {n, column.get(), views->dims, 0, nullptr, nullptr, k, 0};
            search_all({w.points, w.library, w.prediction, in, nullptr, nullptr,
                        options->exclusion, k, to, all}, &w.lists, w.stream);
            w.project({to, n, all, k, 1, nullptr, complete.get(), options->k});
            gpu::download(prediction + (size_t) from * all, w.of.get(), (size_t) n * all,
                          w.stream);
            check(cudaStreamSynchronize(w.stream));
        }
    });
}
