/* The door of pairwise S-maps. Libraries are dealt out to devices in batches, for one
   group of targets after the other; the few predictions that kernels leave are made on
   the host (core/edm/smap/pairs.h). */
extern "C" {
#include "gpu/edm/pairs/smap_pairs.h"

#include "core/edm/smap/pairs.h"
}
#include "gpu/base/crew.cuh"
#include "gpu/edm/pairs/models.cuh"
#include "gpu/edm/pairs/products.cuh"
#include "gpu/edm/pairs/refine.cuh"

#include <cmath>

namespace gpu {

namespace {

constexpr int PAIR_SLOTS = 2;               /* batches under way */
constexpr double PAIR_SECONDS = 0.03;       /* about, of a batch */
constexpr double PAIR_BYTES = 192 << 20;    /* of a batch, where that is enough */
constexpr size_t SOLVE_BYTES = 64 << 20;    /* for models of many unknowns */
constexpr uint32_t SMALL = 6;               /* unknowns of models that fit registers */
constexpr uint32_t MOST_DIMS = 30;  /* there are kernels for no more coordinates */

/* What all libraries have in common. */
pairs_job job_of(uint32_t steps, const syn_smap_pairs_options &options)
{
    int64_t span = (int64_t) options.tau * ((int64_t) options.E - 1), Tp = options.Tp;
    int64_t from = std::max<int64_t>({0, -span, -Tp});
    int64_t to = (int64_t) steps - std::max<int64_t>({0, span, Tp});
    uint32_t rows = (uint32_t) std::max<int64_t>(0, to - from);
    pairs_job job = make_job(steps, (uint32_t) (rows ? from : 0), rows,
                             options.exclusion);
    job.E = options.E;
    job.pitch = steps + PAIR_TILE;
    job.tau = options.tau;
    job.Tp = options.Tp;
    job.theta = options.theta;
    job.ridge = options.ridge;
    return job;
}

/* Calls body with the number of unknowns as a constant, 0 where it is not small. */
template <class F> void with_unknowns(uint32_t n, F body)
{
    with_number<2, 3, 4, 5, SMALL, 0>(n, body);
}

/* ---- one device ---- */

struct pairs_slot {
    stream work;
    arrays own;  /* of the pointers of the job, and of `out` */
    pairs_job job;
    double *out = nullptr;
    pinned<double> sums_host;
    pinned<pair_library> library_host;
    uint32_t first = 0, n = 0;
};

/* Batches of libraries, two of them under way. */
class pairs_worker {
    pairs_job job_;
    arrays own_;  /* of its pointers */
    uint32_t batch_ = 1, tiles_ = 1;
    size_t shared_;
    pairs_slot slot_[PAIR_SLOTS];

public:
    pairs_worker(const pairs_job &job, int device)
        : job_(job), shared_((size_t) shared_limit(device))
    {
        uint32_t terms = job.E + 1;
        choose_products(job.E, terms * (terms + 1) / 2, shared_, &job_);
    }

    /* Lays out a group of targets, and decides how much is done at a time. `known`: of
       each row. */
    void put_targets(const syn_series &targets, const syn_smap_group &group,
                     const std::vector<unsigned char> &known)
    {
        cudaStream_t stream = slot_[0].work;
        size_t steps = targets.steps, n = group.n;
        cut_columns(group.n, job_.E + 2, shared_, &job_.target_tiles,
                    &job_.target_groups);
        bool whole = group.n == targets.n;
        array<double> raw(n * steps), centre;
        array<uint32_t> place;
        std::vector<uint32_t> at(n);
        for (uint32_t i = 0; i < n; i++)
            at[i] = whole ? group.target[i] : i;
        if (whole)
            raw.upload(targets.value, n * steps, stream);
        for (uint32_t i = 0; i < n && !whole; i++)
            send(raw.get() + i * steps, targets.value + group.target[i] * steps, steps,
                 stream);
        uint32_t columns = target_columns(job_);
        own_.upload(&job_.known, known, stream);
        own_.ensure(&job_.targets, (size_t) columns * job_.padded);
        launch(lay_out_targets, columns, PREPARE, 0, stream, job_, raw.get(),
               place.upload(at, stream), centre.upload(group.centre, n, stream), group.n,
               (double *) job_.targets);
        check(cudaStreamSynchronize(stream));
        choose_batch();
    }

    /* Works through libraries until there are none. finish(library, counts, sums,
       columns, states) gets the results of each. */
    template <class FINISH>
    void run(const syn_series &libraries, crew &work, FINISH finish)
    {
        auto next = [&](uint32_t *first) { return work.take(batch_, first); };
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

    /* Makes the job of a batch, with memory for it. */
    void place(pairs_slot *s) const
    {
        pairs_job &job = s->job = job_;
        size_t n = job.libraries = s->n, rows = (size_t) tiles_ * PAIR_TILE;
        size_t columns = target_columns(job);
        place_pairs(&s->own, &job, rows);
        s->own.ensure(&job.x, n * job.pitch);
        s->own.ensure(&job.hat, n * rows * 2 * (job.E + 1));
        s->own.ensure(&job.column, n * tiles_ * job.padded);
        s->own.ensure(&job.slopes, n * job.padded);
        s->own.ensure(&job.partial, n * job.all_tiles * PAIR_SUMS * columns);
        s->own.ensure(&s->out, n * (PAIR_SUMS + 1) * columns);
    }

    void solve(pairs_slot *s) const
    {
        pairs_job &job = s->job;
        uint32_t n = job.E + 1;
        size_t models = (size_t) job.tiles * PAIR_TILE * job.libraries;
        size_t most = SOLVE_BYTES / sizeof(double) / solve_room(n);
        unsigned blocks = blocks_for(n <= SMALL ? models : std::min(models, most), SOLVE);
        if (n > SMALL)
            s->own.ensure(&job.room, (size_t) blocks * SOLVE * solve_room(n));
        with_unknowns(n, [&](auto known) {
            launch(solve_rows<known>, blocks, SOLVE, 0, s->work, job);
        });
        dim3 grid(job.tiles * PAIR_TILE / REFINE_WARPS, job.libraries);
        size_t shared = REFINE_WARPS * refine_room(n) * sizeof(double);
        with_number<1, 4, 16>((n * (n + 1) / 2 + WARP - 1) / WARP, [&](auto each) {
            allow_shared(refine_rows<each>, shared);
            launch(refine_rows<each>, grid, REFINE_WARPS * WARP, shared, s->work, job);
        });
    }

    /* Predictions of tiles `begin` and those after it. */
    void predict(pairs_slot *s) const
    {
        const pairs_job &job = s->job;
        launch_products(job, s->work);
        solve(s);
        with_shape(job.E, job.target_tiles, [&](auto quads, auto tiles) {
            launch_pairs(sum_predictions<quads, tiles>, job,
                         dim3(job.tiles, job.target_groups, job.libraries),
                         multiply_shared(quads, tiles), s->work);
        });
        launch(add_columns, dim3(blocks_for(job.padded, 256), job.libraries), 256, 0,
               s->work, job);
    }

    void start(pairs_slot *s, const syn_series &libraries, const crew &work)
    {
        place(s);
        pairs_job &job = s->job;
        cudaStream_t stream = s->work;
        uint32_t n = s->n, columns = target_columns(job);
        s->own.upload(&job.raw, libraries.value + (size_t) s->first * job.steps,
                      (size_t) n * job.steps, stream);
        launch(prepare_libraries, n, PREPARE, 0, stream, job);
        launch(make_features, dim3(blocks_for(job.padded, 128), n), 128, 0, stream, job);
        launch_survey(job, stream);
        for (uint32_t begin = 0; begin < job.all_tiles && !work.stop; begin += tiles_) {
            if (begin > 0)
                check(cudaStreamSynchronize(stream));
            job.begin = begin;
            job.tiles = std::min(tiles_, job.all_tiles - begin);
            predict(s);
        }
        launch(add_partial, dim3(blocks_for(PAIR_SUMS * columns, 128), n), 128, 0, stream,
               job, s->out);
        launch(add_slopes, dim3(columns / PAIR_COLUMNS, n), GATHER, 0, stream, job,
               s->out);
        size_t room = (size_t) n * (PAIR_SUMS + 1) * columns;
        download(s->sums_host.ensure(room), s->out, room, stream);
        download(s->library_host.ensure(n), job.library, n, stream);
    }

    template <class FINISH> void collect(pairs_slot *s, FINISH finish)
    {
        check(cudaStreamSynchronize(s->work));
        size_t columns = target_columns(job_), all = (PAIR_SUMS + 1) * columns;
        std::vector<unsigned char> state(job_.padded);
        for (uint32_t i = 0; i < s->n; i++) {
            const pair_library &counts = s->library_host.get()[i];
            double *sum = s->sums_host.get() + i * all;
            for (size_t c = 0; c < columns; c++)
                sum[SYN_SMAP_STRENGTH * columns + c] /= counts.scale;
            if (counts.left > 0)
                check(cudaMemcpy(state.data(),
                                 s->job.state + (size_t) i * job_.padded, job_.padded,
                                 cudaMemcpyDeviceToHost));
            finish(s->first + i, counts, sum, columns, state);
        }
    }
};

static_assert(SYN_SMAP_P == 0 && SYN_SMAP_PP == 1 && SYN_SMAP_Y == 2 &&
              SYN_SMAP_YY == 3 && SYN_SMAP_PY == 4 &&
              (int) SYN_SMAP_STRENGTH == (int) PAIR_SUMS,
              "the kernels add up sums in this order");

/* ---- all devices ---- */

/* A call. */
struct request {
    const syn_series *libraries, *targets;
    const syn_smap_pairs_options *options;
    const syn_gpu_call *call;
    const syn_smap_pairs *out;
    pairs_job job;
};

/* What kernels leave of a library. */
struct left_over {
    uint32_t library, known, made;
    std::vector<uint32_t> step;
    std::vector<double> sum;
};

void predict_group(const request &r, const syn_smap_group &group)
{
    const pairs_job &job = r.job;
    std::vector<unsigned char> known(job.padded, 0);  /* whether targets are, by row */
    const double *y = group.value + (size_t) group.target[0] * job.steps;
    for (uint32_t row = 0; row < job.rows; row++)
        known[row] = !std::isnan(y[(int64_t) job.first + row + job.Tp]);
    std::mutex lock;
    std::vector<left_over> left;
    size_t columns = 0;
    auto finish = [&](uint32_t library, const pair_library &counts, const double *sum,
                      size_t wide, const std::vector<unsigned char> &state) {
        size_t at = (size_t) library * r.targets->n;
        if (counts.left == 0) {
            syn_smap_sums_finish(&group, sum, wide, counts.compared, counts.made,
                                 r.out->rho + at, r.out->strength + at);
            return;
        }
        left_over rest = {library, counts.compared, counts.made, {},
                          std::vector<double>(sum, sum + SYN_SMAP_SUMS * wide)};
        for (uint32_t row = 0; row < job.rows; row++)
            if (state[row] == PAIR_LEFT)
                rest.step.push_back(job.first + row);
        std::lock_guard<std::mutex> hold(lock);
        left.push_back(std::move(rest));
        columns = wide;
    };
    share_out(*r.call, r.libraries->n, "pairs", [&](crew &work, int device) {
        pairs_worker worker(job, device);
        worker.put_targets(*r.targets, group, known);
        worker.run(*r.libraries, work, finish);
    });
    std::vector<syn_smap_rest> rest;
    for (const left_over &one : left)
        rest.push_back({one.library, (uint32_t) one.step.size(), one.step.data(),
                        one.sum.data(), columns, one.known, one.made});
    if (!rest.empty())
        check_host(syn_smap_pairs_rest(r.libraries, r.targets, r.options, &group,
                                       rest.data(), (uint32_t) rest.size(),
                                       r.call->watch, r.out));
}

/* What core gives, and takes back. */
template <class T> struct freed : no_copies {
    T of = {};
    void (*free)(T *);
    explicit freed(void (*with)(T *)) : free(with) {}
    ~freed() { free(&of); }
};

void predict_all(const request &r)
{
    size_t all = (size_t) r.libraries->n * r.targets->n;
    for (size_t i = 0; i < all; i++)
        r.out->rho[i] = r.out->strength[i] = NAN;
    if (r.job.rows < 2 || all == 0)
        return;
    freed<syn_smap_order> order(syn_smap_order_free);
    check_host(syn_smap_order_make(r.targets, &order.of));
    for (uint32_t first = 0; first < r.targets->n;) {
        freed<syn_smap_group> group(syn_smap_group_free);
        check_host(syn_smap_group_make(r.targets, &order.of, first, &group.of));
        predict_group(r, group.of);
        first += group.of.n;
    }
}

}  // namespace

}  // namespace gpu

syn_status syn_gpu_smap_pairs(const syn_series *libraries, const syn_series *targets,
                              const syn_smap_pairs_options *options, syn_gpu_call *call,
                              const syn_smap_pairs *out)
{
    return gpu::status_with(call, [&] {
        if (options->E > gpu::MOST_DIMS)
            gpu::check_host(syn_smap_pairs_make(libraries, targets, options, call->watch,
                                                out));
        else
            gpu::predict_all({libraries, targets, options, call, out,
                              gpu::job_of(libraries->steps, *options)});
    });
}
