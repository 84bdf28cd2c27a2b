/* Pairwise S-maps on one device: batches of libraries, two of them under way. */
#ifndef SYN_GPU_EDM_PAIRS_DEVICE_CUH
#define SYN_GPU_EDM_PAIRS_DEVICE_CUH

extern "C" {
#include "core/edm/smap/rest.h"
}
#include "gpu/base/crew.cuh"
#include "gpu/base/slots.cuh"
#include "gpu/edm/pairs_launch.cuh"
#include "gpu/edm/pairs_memory.cuh"
#include "gpu/edm/pairs_prepare.cuh"
#include "gpu/edm/pairs_solve.cuh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace gpu {

constexpr int PAIR_SLOTS = 2;               /* batches under way */
constexpr double PAIR_SECONDS = 0.03;       /* about, of a batch */
constexpr double PAIR_BYTES = 192 << 20;    /* of a batch, where that is enough */
constexpr size_t SOLVE_BYTES = 64 << 20;    /* for models of many unknowns */

/* What all libraries have in common. */
struct pairs_shape : rows_shape {
    uint32_t E;
    int32_t tau, Tp;
    double theta, ridge;
};

inline pairs_shape shape_of(uint32_t steps, const syn_smap_pairs_options &options)
{
    int64_t span = (int64_t) options.tau * ((int64_t) options.E - 1), Tp = options.Tp;
    int64_t from = std::max<int64_t>({0, -span, -Tp});
    int64_t to = (int64_t) steps - std::max<int64_t>({0, span, Tp});
    uint32_t rows = (uint32_t) std::max<int64_t>(0, to - from);
    return {make_rows(steps, (uint32_t) (rows ? from : 0), rows, options.exclusion),
            options.E, options.tau, options.Tp, options.theta, options.ridge};
}

/* ---- which kernels ---- */

constexpr uint32_t SMALL = 6;  /* unknowns of models that fit registers */

/* Calls body with the number of unknowns as a constant, 0 where it is not small. */
template <class F> void with_unknowns(uint32_t n, F body)
{
    switch (n <= SMALL ? n : 0) {
    case 2: body(constant<2>()); break;
    case 3: body(constant<3>()); break;
    case 4: body(constant<4>()); break;
    case 5: body(constant<5>()); break;
    case 6: body(constant<6>()); break;
    default: body(constant<0>());
    }
}

inline void launch_predictions(const pairs_job &job, cudaStream_t stream)
{
    with_quads(job.E + 2, [&](auto quads) {
        constexpr int Q = decltype(quads)::value;
        with_tiles<Q>(job.target_tiles, [&](auto tiles) {
            constexpr int T = decltype(tiles)::value;
            launch(sum_predictions<Q, T>, job,
                   dim3(job.tiles, job.target_groups, job.libraries),
                   multiply_shared(Q, T), stream);
        });
    });
}

/* ---- a batch ---- */

struct pairs_slot {
    stream work;
    pairs_memory pairs;
    array<double> raw, x, hat, room, column, slopes, partial, out;
    std::unique_ptr<pinned<double>> sums_host;
    std::unique_ptr<pinned<pair_library>> library_host;
    uint32_t first = 0, n = 0;
};

class pairs_worker {
    pairs_shape shape_;
    pairs_job job_ = {};
    array<double> targets_;
    array<unsigned char> known_;
    uint32_t batch_ = 1, tiles_ = 1;
    size_t shared_;
    pairs_slot slot_[PAIR_SLOTS];

public:
    pairs_worker(const pairs_shape &shape, int device)
        : shape_(shape), shared_((size_t) shared_limit(device))
    {
        put_rows(shape, &job_);
        job_.pitch = shape.steps + PAIR_TILE;
        job_.tau = shape.tau;
        job_.Tp = shape.Tp;
        job_.theta = shape.theta;
        job_.ridge = shape.ridge;
        uint32_t terms = shape.E + 1;
        choose_products(shape.E, terms * (terms + 1) / 2, shared_, &job_);
    }

    /* Lays out a group of targets, and decides how much is done at a time. `known`: of
       each row. */
    void put_targets(const syn_series &targets, const syn_smap_group &group,
                     const std::vector<unsigned char> &known)
    {
        cudaStream_t stream = slot_[0].work;
        size_t steps = targets.steps, n = group.n;
        cut_columns(group.n, shape_.E + 2, shared_, &job_.target_tiles,
                    &job_.target_groups);
        bool whole = group.n == targets.n;
        array<double> raw, centre;
        array<uint32_t> place;
        std::vector<uint32_t> at(n);
        raw.ensure(n * steps);
        for (uint32_t i = 0; i < n; i++)
            at[i] = whole ? group.target[i] : i;
        if (whole)
            raw.upload(targets.value, n * steps, stream);
        for (uint32_t i = 0; i < n && !whole; i++)
            check(cudaMemcpyAsync(raw.get() + i * steps,
                                  targets.value + group.target[i] * steps,
                                  steps * sizeof(double), cudaMemcpyHostToDevice,
                                  stream));
        place.upload(at.data(), n, stream);
        centre.upload(group.centre, n, stream);
        known_.upload(known.data(), known.size(), stream);
        targets_.ensure((size_t) target_columns(job_) * job_.padded);
        job_.known = known_.get();
        job_.targets = targets_.get();
        lay_out_targets<<<target_columns(job_), PREPARE, 0, stream>>>(
            job_, raw.get(), place.get(), centre.get(), group.n, targets_.get());
        check(cudaGetLastError());
        check(cudaStreamSynchronize(stream));
        choose_batch();
    }

    /* Works through libraries until there are none. finish(library, counts, sums,
       columns, states) gets the results of each. */
    template <class FINISH>
    void run(const syn_series &libraries, crew &work, uint32_t devices, FINISH finish)
    {
        auto next = [&](uint32_t *first) {
            return work.take(batch_, libraries.n, devices, first);
        };
        keep_busy(slot_, next, [&](pairs_slot *s) { start(s, libraries, work); },
                  [&](pairs_slot *s) { collect(s, finish); });
    }

private:
    /* Bytes that a library takes. */
    double bytes_of(uint32_t tiles) const
    {
        double rows = tiles * PAIR_TILE, padded = job_.padded, n = job_.E + 1;
        return bytes_of_pairs(job_, rows) +
               8.0 * (job_.steps + job_.pitch + rows * 2 * n + tiles * padded +
                      job_.all_tiles * PAIR_SUMS * (double) target_columns(job_));
    }

    /* Seconds for a library's predictions, roughly, on a large device. */
    double seconds_of(uint32_t tiles) const
    {
        double groups = job_.product_groups + job_.target_groups;
        double columns = product_columns(job_) + target_columns(job_);
        double pairs = (double) tiles * PAIR_TILE * job_.padded;
        return pairs * seconds_of_pair(columns / PAIR_COLUMNS, groups, job_.quads);
    }

    void choose_batch()
    {
        double most = 0.8 * free_memory() / PAIR_SLOTS;
        tiles_ = job_.all_tiles;
        while (tiles_ > 1 && (seconds_of(tiles_) > 2 * PAIR_SECONDS ||
                              bytes_of(tiles_) > most))
            tiles_ = (tiles_ + 1) / 2;
        most = std::min(most, std::max(PAIR_BYTES, bytes_of(tiles_)));
        double fit = std::min(most / bytes_of(tiles_),
                              PAIR_SECONDS / seconds_of(job_.all_tiles));
        batch_ = (uint32_t) std::min(32768.0, std::max(1.0, fit));
    }

    /* The job of a batch, with memory for it. */
    pairs_job place(pairs_slot *s) const
    {
        pairs_job job = job_;
        size_t n = s->n, padded = job.padded, rows = (size_t) tiles_ * PAIR_TILE;
        size_t columns = target_columns(job);
        job.libraries = s->n;
        s->pairs.place(&job, rows);
        job.x = put(s->x, n * job.pitch);
        job.hat = put(s->hat, n * rows * 2 * (job.E + 1));
        job.column = put(s->column, n * tiles_ * padded);
        job.slopes = put(s->slopes, n * padded);
        job.partial = put(s->partial, n * job.all_tiles * PAIR_SUMS * columns);
        s->out.ensure(n * (PAIR_SUMS + 1) * columns);
        return job;
    }

    void solve(pairs_slot *s, pairs_job job) const
    {
        uint32_t n = job.E + 1;
        size_t models = (size_t) job.tiles * PAIR_TILE * job.libraries;
        size_t most = SOLVE_BYTES / sizeof(double) / solve_room(n);
        unsigned blocks = blocks_for(n <= SMALL ? models : std::min(models, most), SOLVE);
        if (n > SMALL)
            s->room.ensure((size_t) blocks * SOLVE * solve_room(n));
        job.room = s->room.get();
        with_unknowns(n, [&](auto known) {
            solve_rows<decltype(known)::value><<<blocks, SOLVE, 0, s->work>>>(job);
        });
        check(cudaGetLastError());
    }

    /* Predictions of tiles `begin` and those after it. */
    void predict(pairs_slot *s, pairs_job job) const
    {
        launch_products(job, s->work);
        solve(s, job);
        launch_predictions(job, s->work);
        dim3 grid(blocks_for(job.padded, 256), job.libraries);
        add_columns<<<grid, 256, 0, s->work>>>(job);
        check(cudaGetLastError());
    }

    void start(pairs_slot *s, const syn_series &libraries, const crew &work)
    {
        pairs_job job = place(s);
        cudaStream_t stream = s->work;
        uint32_t n = s->n, columns = target_columns(job);
        s->raw.upload(libraries.value + (size_t) s->first * job.steps,
                      (size_t) n * job.steps, stream);
        job.raw = s->raw.get();
        prepare_libraries<<<n, PREPARE, 0, stream>>>(job);
        make_features<<<dim3(blocks_for(job.padded, 128), n), 128, 0, stream>>>(job);
        check(cudaGetLastError());
        launch_survey(job, stream);
        for (uint32_t begin = 0; begin < job.all_tiles && !work.stop; begin += tiles_) {
            if (begin > 0)
                check(cudaStreamSynchronize(stream));
            job.begin = begin;
            job.tiles = std::min(tiles_, job.all_tiles - begin);
            predict(s, job);
        }
        dim3 grid(blocks_for(PAIR_SUMS * columns, 128), n);
        add_partial<<<grid, 128, 0, stream>>>(job, s->out.get());
        add_slopes<<<dim3(columns / PAIR_COLUMNS, n), GATHER, 0, stream>>>(job,
                                                                           s->out.get());
        check(cudaGetLastError());
        size_t room = (size_t) n * (PAIR_SUMS + 1) * columns;
        s->sums_host.reset(new pinned<double>(room));
        s->library_host.reset(new pinned<pair_library>(n));
        check(cudaMemcpyAsync(s->sums_host->get(), s->out.get(), room * sizeof(double),
                              cudaMemcpyDeviceToHost, stream));
        check(cudaMemcpyAsync(s->library_host->get(), job.library,
                              n * sizeof(pair_library), cudaMemcpyDeviceToHost, stream));
    }

    template <class FINISH> void collect(pairs_slot *s, FINISH finish)
    {
        check(cudaStreamSynchronize(s->work));
        size_t columns = target_columns(job_), all = (PAIR_SUMS + 1) * columns;
        std::vector<unsigned char> state(job_.padded);
        for (uint32_t i = 0; i < s->n; i++) {
            const pair_library &counts = s->library_host->get()[i];
            double *sum = s->sums_host->get() + i * all;
            for (size_t c = 0; c < columns; c++)
                sum[SYN_SMAP_STRENGTH * columns + c] /= counts.scale;
            if (counts.left > 0)
                check(cudaMemcpy(state.data(),
                                 s->pairs.state.get() + (size_t) i * job_.padded,
                                 job_.padded, cudaMemcpyDeviceToHost));
            finish(s->first + i, counts, sum, columns, state);
        }
    }
};

static_assert(SYN_SMAP_P == 0 && SYN_SMAP_PP == 1 && SYN_SMAP_Y == 2 &&
              SYN_SMAP_YY == 3 && SYN_SMAP_PY == 4 &&
              (int) SYN_SMAP_STRENGTH == (int) PAIR_SUMS,
              "the kernels add up sums in this order");

}  // namespace gpu

#endif
