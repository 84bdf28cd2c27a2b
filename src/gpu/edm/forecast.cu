/* The door of conditional forecasts: batches of jobs are dealt out to devices. */
#include "gpu/edm/forecast.h"

#include "gpu/edm/forecast_device.cuh"

#include <cmath>
#include <cstdio>

namespace {

/* A task's results, in their places. */
void put_results(const gpu::forecast_task &task, const double *from, uint32_t most,
                 const syn_forecasts *out)
{
    size_t at = task.candidate + task.begin;
    if (task.begin == 0) {
        out->rows[task.job] = (uint32_t) from[gpu::FORECAST_ROWS];
        out->error[task.job] = from[gpu::FORECAST_ERROR];
    }
    const double *gain = from + gpu::FORECAST_NUMBERS, *t = gain + most;
    std::copy(gain, gain + task.candidates, out->gain + at);
    std::copy(t, t + task.candidates, out->t + at);
}

void put_nothing(const syn_forecast_jobs &jobs, const syn_forecasts *out)
{
    size_t candidates = jobs.candidate_start[jobs.n];
    std::fill(out->rows, out->rows + jobs.n, 0);
    std::fill(out->error, out->error + jobs.n, NAN);
    std::fill(out->gain, out->gain + candidates, NAN);
    std::fill(out->t, out->t + candidates, NAN);
}

}  // namespace

extern "C" syn_status syn_gpu_forecast(const syn_series *series,
                                       const syn_forecast_jobs *jobs,
                                       const syn_forecast_options *options,
                                       const int *devices, int n_devices,
                                       const syn_watch *watch, const syn_forecasts *out,
                                       char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        gpu::rows_shape shape = gpu::shape_of(series->steps, *options);
        put_nothing(*jobs, out);
        if (shape.rows == 0 || jobs->n == 0)
            return;
        std::vector<gpu::forecast_task> tasks = gpu::list_tasks(shape, *jobs);
        std::vector<gpu::forecast_batch> batches =
            gpu::cut_batches(shape, tasks, (uint32_t) n_devices);
        gpu::crew work;
        auto finish = [&](const gpu::forecast_task &task, const double *from,
                          uint32_t most) { put_results(task, from, most, out); };
        work.start(devices, n_devices, [&](int device) {
            gpu::forecast_worker worker(shape, *series, *jobs, tasks, device);
            worker.run(batches, work, finish);
        });
        work.wait((uint32_t) batches.size(), watch, "forecasts");
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
