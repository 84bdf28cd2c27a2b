/* The door of neighbours and simplex projection: prediction rows, or views, dealt out to
   devices in batches. */
#include "gpu/edm/simplex.h"

#include "gpu/base/crew.cuh"
#include "gpu/edm/exact.cuh"
#include "gpu/edm/project.cuh"
#include "gpu/edm/sweep.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using gpu::array;
using gpu::check;

namespace {

/* Neighbours of a batch. */
struct near_arrays {
    array<uint32_t> found, row;
    array<double> distance;

    gpu::placed_neighbours room(size_t rows, size_t k)
    {
        found.ensure(rows);
        row.ensure(rows * k);
        distance.ensure(rows * k);
        return {found.get(), row.get(), distance.get()};
    }
};

/* The user's data on a device. */
struct placed_data {
    array<double> coordinate, target;
    array<uint32_t> library, prediction, library_reach, prediction_reach;
    gpu::placed_points points;
    gpu::placed_rows lib, pred;

    void upload(const syn_points &p, const syn_rows &l, const syn_rows &of,
                cudaStream_t stream)
    {
        coordinate.upload(p.coordinate, (size_t) p.rows * p.dims, stream);
        library.upload(l.row, l.n, stream);
        prediction.upload(of.row, of.n, stream);
        points = {p.rows, p.dims, coordinate.get()};
        lib = {l.n, library.get()};
        pred = {of.n, prediction.get()};
    }
};

template <class T>
void download(T *to, const T *from, size_t n, cudaStream_t stream)
{
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
}

/* Parts of rows of length n: [parts][width] to [parts][n]. */
void download_parts(double *to, size_t n, const double *from, size_t width, size_t parts,
                    cudaStream_t stream)
{
    check(cudaMemcpy2DAsync(to, n * sizeof(double), from, width * sizeof(double),
                            width * sizeof(double), parts, cudaMemcpyDeviceToHost,
                            stream));
}

void project(const gpu::project_job &job, cudaStream_t stream)
{
    dim3 grid(gpu::blocks_for(job.n, 128),
              gpu::most_of_grid((size_t) job.spaces * job.targets));
    gpu::project_rows<<<grid, 128, 0, stream>>>(job);
    check(cudaGetLastError());
}

/* Gives work(device) to each device until all `total` parts are done. */
template <class F>
syn_status share_out(uint32_t total, const int *devices, int n_devices,
                     const syn_watch *watch, const char *stage, char *reason, F work)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        gpu::crew crew;
        crew.start(devices, n_devices, [&](int) { work(&crew); });
        crew.wait(total, watch, stage);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}

}  // namespace

/* ---- neighbours ---- */

extern "C" syn_status syn_gpu_find_neighbours(const syn_points *points,
                                              const syn_rows *library,
                                              const syn_rows *prediction,
                                              const syn_neighbour_options *options,
                                              const int *devices, int n_devices,
                                              const syn_watch *watch, syn_neighbours *out,
                                              char *reason)
{
    size_t k = options->k, entries = prediction->n * k;
    std::memset(out, 0, sizeof *out);
    out->n = prediction->n;
    out->k = options->k;
    out->found = (uint32_t *) std::malloc((out->n + (size_t) 1) * sizeof *out->found);
    out->row = (uint32_t *) std::malloc((entries + 1) * sizeof *out->row);
    out->distance = (double *) std::malloc((entries + 1) * sizeof *out->distance);
    if (!out->found || !out->row || !out->distance) {
        std::snprintf(reason, SYN_GPU_TEXT, "the host has no memory left");
        return SYN_NO_MEMORY;
    }
    auto work = [&](gpu::crew *crew) {
        gpu::stream stream;
        placed_data data;
        near_arrays near;
        data.upload(*points, *library, *prediction, stream);
        gpu::neighbour_search search(data.points, data.lib, stream);
        uint32_t from, n;
        while ((n = crew->take(search.batch(options->k), out->n, n_devices, &from))) {
            gpu::placed_neighbours to = near.room(n, k);
            search.find({n, data.pred.row + from}, options->k, options->exclusion, to);
            download(out->found + from, to.found, n, stream);
            download(out->row + from * k, to.row, n * k, stream);
            download(out->distance + from * k, to.distance, n * k, stream);
            check(cudaStreamSynchronize(stream));
        }
    };
    return share_out(out->n, devices, n_devices, watch, "neighbours", reason, work);
}

/* ---- projection ---- */

extern "C" syn_status syn_gpu_simplex(const syn_points *points, const syn_rows *library,
                                      const syn_rows *predicted,
                                      const syn_neighbour_options *options,
                                      const syn_targets *targets, const int *devices,
                                      int n_devices, const syn_watch *watch,
                                      double *prediction, double *variance, char *reason)
{
    auto work = [&](gpu::crew *crew) {
        gpu::stream stream;
        placed_data data;
        near_arrays near;
        array<double> of, variance_of;
        data.upload(*points, *library, *predicted, stream);
        data.target.upload(targets->value, (size_t) targets->n * points->rows, stream);
        gpu::neighbour_search search(data.points, data.lib, stream);
        uint32_t from, n, k = std::max(1u, std::min(options->k, library->n));
        while ((n = crew->take(search.batch(k), predicted->n, n_devices, &from))) {
            gpu::placed_neighbours to = near.room(n, k);
            search.find({n, data.pred.row + from}, k, options->exclusion, to);
            of.ensure((size_t) n * targets->n);
            variance_of.ensure((size_t) n * targets->n);
            project({to, 1, n, k, nullptr, data.target.get(), targets->n, points->rows,
                     nullptr, 0, points->least, of.get(), variance_of.get()}, stream);
            download_parts(prediction + from, predicted->n, of.get(), n, targets->n,
                           stream);
            download_parts(variance + from, predicted->n, variance_of.get(), n,
                           targets->n, stream);
            check(cudaStreamSynchronize(stream));
        }
    };
    return share_out(predicted->n, devices, n_devices, watch, "neighbours", reason, work);
}

/* Rows at a time of a search in many spaces at once, so that neighbours take little
   memory and the user does not wait long. */
static uint32_t spaces_batch(double bytes, double pairs)
{
    double rows = std::min(0.05 * 2e12 / pairs, 0.1 * gpu::free_memory() / bytes);
    return (uint32_t) std::max(1.0, std::min(rows, 65536.0));
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
    int n_devices;
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

/* Small libraries: a search in all spaces side by side. */
void sweep_small(const sweep_request &r, gpu::crew *crew)
{
    gpu::stream stream;
    placed_data data;
    near_arrays near;
    array<double> of;
    array<gpu::near_place> lists;
    uint32_t k = r.E_max + 1;
    data.upload(*r.points, r.library->rows, r.predicted->rows, stream);
    data.target.upload(r.target, r.points->rows, stream);
    data.library_reach.upload(r.library->steps, r.library->rows.n, stream);
    data.prediction_reach.upload(r.predicted->steps, r.all, stream);
    double pairs = 0.5 * (data.lib.n + 32.0) * (r.E_max + 1.0) * r.points->dims;
    uint32_t batch = spaces_batch((12.0 * k + 12) * r.E_max, pairs), from, n;
    while ((n = crew->take(batch, r.all, r.n_devices, &from))) {
        gpu::placed_neighbours to = near.room((size_t) n * r.E_max, k);
        gpu::spaces in = {r.E_max, nullptr, r.options->step, r.options->step,
                          data.library_reach.get(), data.prediction_reach.get() + from,
                          2, 1};
        search_all({data.points, data.lib, {n, data.pred.row + from}, in, nullptr,
                    nullptr, r.options->exclusion, 0, nullptr, k, to, n}, {&lists},
                   stream);
        of.ensure((size_t) n * r.E_max);
        project({to, r.E_max, n, k, nullptr, data.target.get(), 1, r.points->rows,
                 nullptr, 0, r.points->least, of.get(), nullptr}, stream);
        download_parts(r.prediction + from, r.all, of.get(), n, r.E_max, stream);
        check(cudaStreamSynchronize(stream));
    }
}

/* Large libraries, a coordinate for each E. */
void sweep_large(const sweep_request &r, gpu::crew *crew)
{
    gpu::stream stream;
    placed_data data;
    near_arrays near;
    array<double> of;
    uint32_t k = r.E_max + 1, from, n;
    data.upload(*r.points, r.library->rows, r.predicted->rows, stream);
    data.target.upload(r.target, r.points->rows, stream);
    data.library_reach.upload(r.library->steps, r.library->rows.n, stream);
    data.prediction_reach.upload(r.predicted->steps, r.all, stream);
    gpu::sweep_search search(data.points, {data.lib, data.library_reach.get()}, stream);
    while ((n = crew->take(search.batch(), r.all, r.n_devices, &from))) {
        gpu::placed_neighbours to = near.room((size_t) n * r.E_max, k);
        search.find({{n, data.pred.row + from}, data.prediction_reach.get() + from},
                    r.options->exclusion, to);
        of.ensure((size_t) n * r.E_max);
        project({to, r.E_max, n, k, nullptr, data.target.get(), 1, r.points->rows,
                 nullptr, 0, r.points->least, of.get(), nullptr}, stream);
        download_parts(r.prediction + from, r.all, of.get(), n, r.E_max, stream);
        check(cudaStreamSynchronize(stream));
    }
}

/* What is left: a search for each E, in its own coordinates and with the rows that reach
   so far. */
void sweep_one_by_one(const sweep_request &r, gpu::crew *crew)
{
    gpu::stream stream;
    placed_data data;
    near_arrays near;
    array<double> of;
    array<uint32_t> library, predicted, number;
    std::vector<uint32_t> row, at;
    std::unique_ptr<gpu::neighbour_search> search;
    data.upload(*r.points, r.library->rows, r.predicted->rows, stream);
    data.target.upload(r.target, r.points->rows, stream);
    uint32_t item, E = 0, width = (r.all + r.blocks - 1) / r.blocks;
    while (crew->take(1, r.E_max * r.blocks, r.n_devices, &item)) {
        if (item / r.blocks + 1 != E) {
            E = item / r.blocks + 1;
            rows_within(*r.library, 0, r.library->rows.n, E, &row, &at);
            search.reset();
            library.upload(row.data(), row.size(), stream);
            check(cudaStreamSynchronize(stream));
            gpu::placed_points points = {r.points->rows, E * r.options->step,
                                         data.coordinate.get()};
            search.reset(new gpu::neighbour_search(
                points, {(uint32_t) row.size(), library.get()}, stream));
        }
        uint32_t from = std::min(r.all, item % r.blocks * width);
        uint32_t to = std::min(r.all, from + width);
        rows_within(*r.predicted, from, to, E, &row, &at);
        predicted.upload(row.data(), row.size(), stream);
        number.upload(at.data(), at.size(), stream);
        of.ensure(width);
        check(cudaMemsetAsync(of.get(), 0xff, width * sizeof(double), stream));
        uint32_t n = (uint32_t) row.size();
        gpu::placed_neighbours found = near.room(n, E + 1);
        search->find({n, predicted.get()}, E + 1, r.options->exclusion, found);
        project({found, 1, n, E + 1, number.get(), data.target.get(), 1, r.points->rows,
                 nullptr, 0, r.points->least, of.get(), nullptr}, stream);
        download(r.prediction + (size_t) (E - 1) * r.all + from, of.get(), to - from,
                 stream);
        check(cudaStreamSynchronize(stream));
    }
}

}  // namespace

extern "C" syn_status syn_gpu_simplex_sweep(const syn_points *points,
                                            const syn_reach *library,
                                            const syn_reach *predicted,
                                            const syn_sweep_options *options,
                                            const double *target, const int *devices,
                                            int n_devices, const syn_watch *watch,
                                            double *prediction, char *reason)
{
    uint32_t E_max = points->dims / options->step, all = predicted->rows.n;
    bool small = !gpu::neighbour_search::filters(library->rows.n, E_max + 1);
    bool large = options->step == 1;
    for (int i = 0; i < n_devices; i++)
        large = large && gpu::sweep_search::fits(library->rows.n, E_max, devices[i]);
    double seconds = (double) library->rows.n * all * (points->dims + 2) / 1e13;
    uint32_t blocks = (uint32_t) std::min(std::ceil(seconds / 0.05), (double) all);
    sweep_request r = {points, library, predicted, options, target, prediction, E_max,
                       all, std::max(1u, blocks), n_devices};
    auto way = small ? sweep_small : large ? sweep_large : sweep_one_by_one;
    return share_out(small || large ? all : E_max * r.blocks, devices, n_devices, watch,
                     "rows", reason, [&](gpu::crew *crew) { way(r, crew); });
}

/* ---- views ---- */

extern "C" syn_status syn_gpu_simplex_views(const syn_points *points,
                                            const syn_rows *library,
                                            const syn_rows *predicted,
                                            const syn_views *views,
                                            const syn_neighbour_options *options,
                                            const double *target, const int *devices,
                                            int n_devices, const syn_watch *watch,
                                            double *prediction, char *reason)
{
    uint32_t all = predicted->n, k = std::max(1u, std::min(options->k, library->n));
    auto work = [&](gpu::crew *crew) {
        gpu::stream stream;
        placed_data data;
        near_arrays near;
        array<double> of;
        array<uint32_t> column, rows;
        array<gpu::near_place> lists;
        data.upload(*points, *library, *predicted, stream);
        data.target.upload(target, points->rows, stream);
        double pairs = (double) all * (library->n + 32.0) * views->dims;
        uint32_t batch = spaces_batch((12.0 * k + 12) * all, pairs), from, n;
        while ((n = crew->take(batch, views->n, n_devices, &from))) {
            column.upload(views->column + (size_t) from * views->dims,
                          (size_t) n * views->dims, stream);
            rows.ensure(n);
            gpu::count_complete<<<gpu::most_of_grid(n), 128, 0, stream>>>(
                data.points, data.lib, column.get(), views->dims, n, rows.get());
            gpu::placed_neighbours to = near.room((size_t) n * all, k);
            gpu::spaces in = {n, column.get(), views->dims, 0, nullptr, nullptr, k, 0};
            search_all({data.points, data.lib, data.pred, in, nullptr, nullptr,
                        options->exclusion, 0, nullptr, k, to, all}, {&lists}, stream);
            of.ensure((size_t) n * all);
            project({to, n, all, k, nullptr, data.target.get(), 1, points->rows,
                     rows.get(), options->k, points->least, of.get(), nullptr}, stream);
            download(prediction + (size_t) from * all, of.get(), (size_t) n * all,
                     stream);
            check(cudaStreamSynchronize(stream));
        }
    };
    return share_out(views->n, devices, n_devices, watch, "views", reason, work);
}
