/* The door of conditional forecasts: batches of jobs are dealt out to devices. */
extern "C" {
#include "gpu/edm/forecast/forecast.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/edm/forecast/kernels.cuh"

#include <cmath>

namespace gpu {

namespace {

/* ---- tasks and batches ---- */

constexpr double FORECAST_PANEL = 192 << 20;  /* bytes of the products of a task, about */
constexpr double FORECAST_BYTES = 256 << 20;  /* of a batch, where that is enough */
constexpr double FORECAST_SECONDS = 0.02;     /* about, of a batch on a large device */
constexpr uint32_t FORECAST_MOST = 128;       /* candidates of a task */

pairs_job job_of(uint32_t steps, const syn_forecast_options &options)
{
    uint64_t before = (uint64_t) options.reach + 1;
    uint32_t rows = steps > before ? (uint32_t) (steps - before) : 0;
    pairs_job job = make_job(steps, options.reach, rows, options.exclusion);
    job.ridge = SYN_FORECAST_RIDGE;
    return job;
}

/* Tasks that are done together: they have as many coordinates, and about as many
   candidates. */
struct forecast_batch {
    size_t first;
    uint32_t n, coordinates, most;  /* most: candidates of a task */
};

uint32_t columns_of(uint32_t coordinates, uint32_t candidates)
{
    uint32_t n = coordinates + 1;
    return base_columns(n) + candidate_columns(n) * candidates;
}

/* The tasks of all jobs, those with the most coordinates and candidates first. */
std::vector<forecast_task> list_tasks(const pairs_job &shape,
                                      const syn_forecast_jobs &jobs)
{
    std::vector<forecast_task> out;
    for (size_t i = 0; i < jobs.n; i++) {
        size_t from = jobs.coordinate_start[i], begin = jobs.candidate_start[i];
        uint32_t d = (uint32_t) (jobs.coordinate_start[i + 1] - from);
        uint32_t all = (uint32_t) (jobs.candidate_start[i + 1] - begin);
        double most = FORECAST_PANEL / sizeof(double) / std::max(shape.padded, 1u) /
                      candidate_columns(d + 1);
        most = std::floor(std::min(std::max(most, 1.0), (double) FORECAST_MOST));
        uint32_t parts = std::max(1u, (uint32_t) std::ceil(all / most));
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
double seconds_of(const pairs_job &shape, uint32_t coordinates, uint32_t candidates)
{
    double tiles = columns_of(coordinates, candidates) / (double) PAIR_COLUMNS + 1;
    double pairs = (double) shape.padded * shape.padded;
    return 1e-6 + pairs * seconds_of_pair(tiles, tiles / 9 + 1, (coordinates + 5) / 4);
}

/* Batches of the tasks: of about FORECAST_SECONDS and FORECAST_BYTES, and such that
   every device gets several. Where candidates get fewer, the columns of those that are
   not there are computed for nothing, so that a batch ends where they are an eighth. */
std::vector<forecast_batch> cut_batches(const pairs_job &shape,
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

/* ---- one device ---- */

constexpr int FORECAST_SLOTS = 2;  /* batches under way */

struct forecast_slot {
    stream work;
    arrays own;  /* of the pointers of the job */
    forecast_job job;
    pinned<double> results, kept;
    size_t first = 0;
    uint32_t n = 0;  /* tasks */

    size_t out_size() const { return FORECAST_NUMBERS + 2 * (size_t) job.most; }
};

/* Batches of tasks, two of them under way. */
class forecast_worker {
    const std::vector<forecast_task> &tasks_;
    arrays own_;          /* of the pointers of the job */
    forecast_job job_ = {};
    bool keep_;           /* what forecasts miss */
    double most_;         /* bytes of a batch */
    size_t shared_;
    forecast_batch left_ = {};  /* of the batch in hand */
    forecast_slot slot_[FORECAST_SLOTS];

public:
    forecast_worker(const pairs_job &pairs, const syn_series &series,
                    const syn_forecast_jobs &jobs,
                    const std::vector<forecast_task> &tasks, bool keep, int device)
        : tasks_(tasks), keep_(keep), shared_((size_t) shared_limit(device))
    {
        cudaStream_t stream = slot_[0].work;
        std::vector<uint32_t> lags(pairs.padded + 1);
        for (uint32_t rows = 0; rows <= pairs.padded; rows++)
            lags[rows] = syn_forecast_lags(rows);
        std::vector<unsigned char> known(pairs.padded, 1);
        job_.pairs = pairs;
        own_.upload(&job_.pairs.known, known, stream);
        own_.upload(&job_.series, series.value, (size_t) series.n * series.steps, stream);
        own_.upload(&job_.task, tasks, stream);
        own_.upload(&job_.coordinate, jobs.coordinate, jobs.coordinate_start[jobs.n],
                    stream);
        own_.upload(&job_.candidate, jobs.candidate, jobs.candidate_start[jobs.n],
                    stream);
        own_.upload(&job_.lags, lags, stream);
        check(cudaStreamSynchronize(stream));
        most_ = 0.8 * (double) free_memory() / FORECAST_SLOTS;
    }

    /* Works through batches until there are none. finish(task, results, most, missed)
       gets what each task has in forecast_job::out, and in forecast_job::missed or
       NULL. */
    template <class FINISH>
    void run(const std::vector<forecast_batch> &batches, crew &work, FINISH finish)
    {
        make_room(batches);
        auto next = [&](size_t *first) { return take(batches, work, first); };
        keep_busy(slot_, next, [&](forecast_slot *s) { start(s); },
                  [&](forecast_slot *s) {
            check(cudaStreamSynchronize(s->work));
            size_t steps = job_.pairs.steps;
            for (uint32_t i = 0; i < s->n; i++)
                finish(tasks_[s->first + i], s->results.get() + i * s->out_size(),
                       s->job.most, keep_ ? s->kept.get() + i * steps : nullptr);
        });
    }

private:
    /* Shapes the job for a batch, and says for how many of its tasks memory is left. */
    uint32_t shape_for(const forecast_batch &batch)
    {
        uint32_t d = batch.coordinates;
        choose_products(d, columns_of(d, batch.most), shared_, &job_.pairs);
        job_.most = batch.most;
        job_.least = syn_forecast_least(d);
        double rows = job_.pairs.padded;
        double bytes = bytes_of_pairs(job_.pairs, rows) + 8.0 * rows * (job_.most + 1);
        double fit = std::max(1.0, most_ / bytes);
        return (uint32_t) std::min<double>(batch.n, fit);
    }

    /* Room for the largest of the batches, so that arrays need not grow while others are
       worked on: to free memory waits for all work. */
    void make_room(const std::vector<forecast_batch> &batches)
    {
        size_t libraries = 0, features = 0, columns = 0, falls = 0, numbers = 0;
        for (const forecast_batch &batch : batches) {
            size_t n = shape_for(batch);
            libraries = std::max(libraries, n);
            features = std::max(features, n * 4 * job_.pairs.quads);
            columns = std::max(columns, n * product_columns(job_.pairs));
            falls = std::max(falls, n * job_.most);
            numbers = std::max(numbers, n * (FORECAST_NUMBERS + 2 * job_.most));
        }
        size_t rows = job_.pairs.padded, n = rounded_up(libraries);
        for (size_t i = 0; i < std::min<size_t>(batches.size(), FORECAST_SLOTS); i++) {
            forecast_slot &slot = slot_[i];
            slot.job = job_;
            columns = rounded_up(columns);
            reserve_pairs(&slot.own, &slot.job.pairs, n, rounded_up(features), columns,
                          columns * rows);
            slot.own.ensure(&slot.job.centre, n * FORECAST_CENTRES);
            slot.own.ensure(&slot.job.error, n * rows);
            slot.own.ensure(&slot.job.fall, rounded_up(falls) * rows);
            slot.own.ensure(&slot.job.out, rounded_up(numbers));
            slot.results.ensure(rounded_up(numbers));
            if (keep_) {
                slot.own.ensure(&slot.job.missed, n * job_.pairs.steps);
                slot.kept.ensure(n * job_.pairs.steps);
            }
        }
    }

    /* How many tasks come next: a batch, or as much of it as memory is left for. The job
       is shaped for them. */
    uint32_t take(const std::vector<forecast_batch> &batches, crew &work, size_t *first)
    {
        if (left_.n == 0) {
            uint32_t at;
            if (work.take(1, &at) == 0)
                return 0;
            left_ = batches[at];
        }
        if (work.stop)
            return 0;
        uint32_t n = shape_for(left_);
        *first = left_.first;
        left_.first += n;
        left_.n -= n;
        return n;
    }

    void start(forecast_slot *s) const
    {
        forecast_job &job = s->job = job_;
        pairs_job &pairs = job.pairs;
        cudaStream_t stream = s->work;
        uint32_t n = s->n;
        size_t rows = (size_t) n * pairs.padded, steps = (size_t) n * pairs.steps;
        pairs.libraries = n;
        place_pairs(&s->own, &pairs, pairs.padded);
        job.task += s->first;
        s->own.ensure(&job.centre, (size_t) n * FORECAST_CENTRES);
        s->own.ensure(&job.error, rows);
        s->own.ensure(&job.fall, rows * job.most);
        s->own.ensure(&job.out, n * s->out_size());
        if (keep_) {
            s->own.ensure(&job.missed, steps);
            /* All bits set are a NaN. */
            check(cudaMemsetAsync(job.missed, 0xff, steps * sizeof(double), stream));
        }
        launch(find_forecast_rows, n, PREPARE, 0, stream, job);
        dim3 slices(pairs.padded / FORECAST_LAY, n,
                    1 + (job.most + FORECAST_SLICE - 1) / FORECAST_SLICE);
        launch(lay_out_forecasts, slices, FORECAST_LAY, 0, stream, job);
        launch_survey(pairs, stream);
        launch_products(pairs, stream);
        with_quads(pairs.E + 2, [&](auto quads) {
            launch(solve_forecasts<quads>,
                   dim3(blocks_for(pairs.rows, forecast_tile(quads)), n), FORECAST_SOLVE,
                   0, stream, job);
        });
        launch(compare_forecasts, dim3(blocks_for(job.most, WARP), n), FORECAST_COMPARE,
               0, stream, job);
        size_t numbers = n * s->out_size();
        download(s->results.ensure(numbers), job.out, numbers, stream);
        if (keep_)
            download(s->kept.ensure(steps), job.missed, steps, stream);
    }
};

}  // namespace

}  // namespace gpu

syn_status syn_gpu_forecast(const syn_series *series, const syn_forecast_jobs *jobs,
                            const syn_forecast_options *options, syn_gpu_call *call,
                            const syn_forecasts *out)
{
    return gpu::status_with(call, [&] {
        gpu::pairs_job shape = gpu::job_of(series->steps, *options);
        size_t candidates = jobs->candidate_start[jobs->n], steps = series->steps;
        if (out->missed)
            std::fill(out->missed, out->missed + jobs->n * steps, NAN);
        std::fill(out->rows, out->rows + jobs->n, 0);
        std::fill(out->error, out->error + jobs->n, NAN);
        std::fill(out->gain, out->gain + candidates, NAN);
        std::fill(out->t, out->t + candidates, NAN);
        if (shape.rows == 0 || jobs->n == 0)
            return;
        std::vector<gpu::forecast_task> tasks = gpu::list_tasks(shape, *jobs);
        std::vector<gpu::forecast_batch> batches =
            gpu::cut_batches(shape, tasks, (uint32_t) call->n);
        /* Puts the results of a task in their places. */
        auto finish = [&](const gpu::forecast_task &task, const double *from,
                          uint32_t most, const double *missed) {
            size_t at = task.candidate + task.begin;
            if (task.begin == 0) {
                out->rows[task.job] = (uint32_t) from[gpu::FORECAST_ROWS];
                out->error[task.job] = from[gpu::FORECAST_ERROR];
                if (out->missed && !std::isnan(out->error[task.job]))
                    std::copy(missed, missed + steps, out->missed + task.job * steps);
            }
            const double *gain = from + gpu::FORECAST_NUMBERS, *t = gain + most;
            std::copy(gain, gain + task.candidates, out->gain + at);
            std::copy(t, t + task.candidates, out->t + at);
        };
        gpu::share_out(*call, (uint32_t) batches.size(), "forecasts",
                       [&](gpu::crew &work, int device) {
            gpu::forecast_worker worker(shape, *series, *jobs, tasks,
                                        out->missed != nullptr, device);
            worker.run(batches, work, finish);
        });
    });
}
