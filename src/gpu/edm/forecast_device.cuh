/* Conditional forecasts on one device: batches of tasks, two of them under way. */
#ifndef SYN_GPU_EDM_FORECAST_DEVICE_CUH
#define SYN_GPU_EDM_FORECAST_DEVICE_CUH

#include "gpu/base/crew.cuh"
#include "gpu/base/slots.cuh"
#include "gpu/edm/forecast_compare.cuh"
#include "gpu/edm/forecast_plan.cuh"
#include "gpu/edm/forecast_prepare.cuh"
#include "gpu/edm/forecast_solve.cuh"
#include "gpu/edm/pairs_memory.cuh"

#include <memory>

namespace gpu {

constexpr int FORECAST_SLOTS = 2;  /* batches under way */

struct forecast_slot {
    stream work;
    pairs_memory pairs;
    array<double> centre, error, fall, out;
    std::unique_ptr<pinned<double>> results;
    size_t first = 0;
    uint32_t n = 0, most = 0;  /* tasks; and candidates of each */
};

/* A call's data on a device. */
struct forecast_data {
    array<double> series;
    array<forecast_task> tasks;
    array<syn_lagged> coordinate, candidate;
    array<uint32_t> lags;
    array<unsigned char> known;
};

class forecast_worker {
    rows_shape shape_;
    const std::vector<forecast_task> &tasks_;
    forecast_data data_;
    forecast_job job_ = {};
    double most_ = 0;     /* bytes of a batch */
    size_t shared_;
    forecast_batch left_ = {};  /* of the batch in hand */
    forecast_slot slot_[FORECAST_SLOTS];

public:
    forecast_worker(const rows_shape &shape, const syn_series &series,
                    const syn_forecast_jobs &jobs,
                    const std::vector<forecast_task> &tasks, int device)
        : shape_(shape), tasks_(tasks), shared_((size_t) shared_limit(device))
    {
        upload(series, jobs);
        put_rows(shape, &job_.pairs);
        job_.pairs.ridge = SYN_FORECAST_RIDGE;
        most_ = 0.8 * (double) free_memory() / FORECAST_SLOTS;
    }

    /* Works through batches until there are none. finish(task, results, most) gets what
       each task has in forecast_job::out. */
    template <class FINISH>
    void run(const std::vector<forecast_batch> &batches, crew &work, FINISH finish)
    {
        auto next = [&](size_t *first) { return take(batches, work, first); };
        keep_busy(slot_, next, [&](forecast_slot *s) { start(s); },
                  [&](forecast_slot *s) { collect(s, finish); });
    }

private:
    void upload(const syn_series &series, const syn_forecast_jobs &jobs)
    {
        cudaStream_t stream = slot_[0].work;
        std::vector<uint32_t> lags(shape_.padded + 1);
        for (uint32_t rows = 0; rows <= shape_.padded; rows++)
            lags[rows] = syn_forecast_lags(rows);
        std::vector<unsigned char> known(shape_.padded, 1);
        data_.series.upload(series.value, (size_t) series.n * series.steps, stream);
        data_.tasks.upload(tasks_.data(), tasks_.size(), stream);
        data_.coordinate.upload(jobs.coordinate, jobs.coordinate_start[jobs.n], stream);
        data_.candidate.upload(jobs.candidate, jobs.candidate_start[jobs.n], stream);
        data_.lags.upload(lags.data(), lags.size(), stream);
        data_.known.upload(known.data(), known.size(), stream);
        check(cudaStreamSynchronize(stream));
        job_.series = data_.series.get();
        job_.coordinate = data_.coordinate.get();
        job_.candidate = data_.candidate.get();
        job_.lags = data_.lags.get();
        job_.pairs.known = data_.known.get();
    }

    /* Bytes that a task takes. */
    double bytes_of_task() const
    {
        double rows = job_.pairs.padded;
        return bytes_of_pairs(job_.pairs, rows) + 8.0 * rows * job_.most;
    }

    /* Decides which kernels take the tasks of a batch. */
    void shape_job(const forecast_batch &batch)
    {
        uint32_t d = batch.coordinates;
        choose_products(d, columns_of(d, batch.most), shared_, &job_.pairs);
        job_.most = batch.most;
        job_.least = syn_forecast_least(d);
    }

    /* How many tasks come next: a batch, or as much of it as memory is left for. The job
       is shaped for them. */
    uint32_t take(const std::vector<forecast_batch> &batches, crew &work, size_t *first)
    {
        if (left_.n == 0) {
            uint32_t at, n = (uint32_t) batches.size();
            if (work.take(1, n, 1, &at) == 0)
                return 0;
            left_ = batches[at];
        }
        if (work.stop)
            return 0;
        shape_job(left_);
        double fit = most_ / bytes_of_task();
        uint32_t n = (uint32_t) std::min<double>(left_.n, std::max(1.0, fit));
        *first = left_.first;
        left_.first += n;
        left_.n -= n;
        return n;
    }

    /* The job of a slot, with memory for it. */
    forecast_job place(forecast_slot *s) const
    {
        forecast_job job = job_;
        pairs_job &pairs = job.pairs;
        size_t n = s->n, padded = pairs.padded;
        s->most = job.most;
        pairs.libraries = s->n;
        s->pairs.place(&pairs, padded);
        job.task = data_.tasks.get() + s->first;
        job.centre = put(s->centre, n * FORECAST_CENTRES);
        job.error = put(s->error, n * padded);
        job.fall = put(s->fall, n * padded * job.most);
        job.out = put(s->out, n * out_size(*s));
        return job;
    }

    static size_t out_size(const forecast_slot &s)
    {
        return FORECAST_NUMBERS + 2 * (size_t) s.most;
    }

    void solve(const forecast_job &job, cudaStream_t stream) const
    {
        with_quads(job.pairs.E + 2, [&](auto quads) {
            constexpr int Q = decltype(quads)::value;
            dim3 grid(blocks_for(job.pairs.rows, forecast_tile(Q)),
                      job.pairs.libraries);
            solve_forecasts<Q><<<grid, FORECAST_SOLVE, 0, stream>>>(job);
        });
        check(cudaGetLastError());
    }

    void start(forecast_slot *s) const
    {
        forecast_job job = place(s);
        const pairs_job &pairs = job.pairs;
        cudaStream_t stream = s->work;
        uint32_t n = s->n;
        find_forecast_rows<<<n, PREPARE, 0, stream>>>(job);
        dim3 slices(pairs.padded / FORECAST_LAY, n,
                    1 + (job.most + FORECAST_SLICE - 1) / FORECAST_SLICE);
        lay_out_forecasts<<<slices, FORECAST_LAY, 0, stream>>>(job);
        check(cudaGetLastError());
        launch_survey(pairs, stream);
        launch_products(pairs, stream);
        solve(job, stream);
        dim3 grid(blocks_for(job.most, WARP), n);
        compare_forecasts<<<grid, FORECAST_COMPARE, 0, stream>>>(job);
        check(cudaGetLastError());
        size_t room = n * out_size(*s);
        s->results.reset(new pinned<double>(room));
        check(cudaMemcpyAsync(s->results->get(), job.out, room * sizeof(double),
                              cudaMemcpyDeviceToHost, stream));
    }

    template <class FINISH> void collect(forecast_slot *s, FINISH finish)
    {
        check(cudaStreamSynchronize(s->work));
        size_t size = out_size(*s);
        for (uint32_t i = 0; i < s->n; i++)
            finish(tasks_[s->first + i], s->results->get() + i * size, s->most);
    }
};

}  // namespace gpu

#endif
