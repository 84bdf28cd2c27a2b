/* A device's part in a call of S-maps: what it holds, and how predictions go through it
   in parts. */
#ifndef SYN_GPU_EDM_SMAP_DEVICE_CUH
#define SYN_GPU_EDM_SMAP_DEVICE_CUH

#include "core/edm/smap/smap.h"
#include "gpu/base/device.cuh"
#include "gpu/base/outcome.cuh"
#include "gpu/edm/neighbours.cuh"
#include "gpu/edm/smap_gather.cuh"
#include "gpu/edm/smap_lists.cuh"
#include "gpu/edm/smap_product.cuh"
#include "gpu/edm/smap_solve.cuh"
#include "gpu/edm/smap_spread.cuh"
#include "gpu/edm/smap_survey.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace gpu {

constexpr double SMAP_PART_SECONDS = 0.05;  /* about; Ctrl-C waits for those under way */
constexpr size_t SMAP_SUM_BYTES = (size_t) 240 << 20;  /* of a part's sums, at the most */
constexpr int SMAP_SLOTS = 2;               /* parts under way */

/* Blocks of the product by how many products there are. The last is for devices with
   little shared memory. */
using smap_block_16 = smap_block<8, 1, 1, 2, 32, 2>;
using smap_block_32 = smap_block<8, 1, 1, 4, 32, 2>;
using smap_block_64 = smap_block<4, 2, 2, 4, 32, 1>;
using smap_block_128 = smap_block<2, 4, 4, 4, 32, 1>;
using smap_block_256 = smap_block<1, 8, 4, 4, 32, 1>;
using smap_block_small = smap_block<1, 2, 1, 4, 16, 1>;

using smap_survey_large = smap_survey_block<4, 4>;
using smap_survey_small = smap_survey_block<2, 2>;

/* Calls body with a value of the block's type. */
template <class F> void with_smap_block(const smap_shape &shape, size_t limit, F body)
{
    auto fits = [&](auto block) {
        return smap_product_shared<decltype(block)>(shape) <= limit;
    };
    uint32_t n = shape.columns;
    if (n <= 16 && fits(smap_block_16()))
        body(smap_block_16());
    else if (n <= 32 && fits(smap_block_32()))
        body(smap_block_32());
    else if (n <= 64 && fits(smap_block_64()))
        body(smap_block_64());
    else if (n <= 128 && fits(smap_block_128()))
        body(smap_block_128());
    else if (fits(smap_block_256()))
        body(smap_block_256());
    else
        body(smap_block_small());
}

template <class F> void with_survey_block(const smap_shape &shape, size_t limit, F body)
{
    if (smap_survey_shared<smap_survey_large>(shape) <= limit)
        body(smap_survey_large());
    else
        body(smap_survey_small());
}

/* What a device can do. */
struct smap_machine {
    int processors = 0;
    size_t shared = 0;   /* bytes that a block can have */
    double rate = 0;     /* sums of products of doubles in a second, about */

    explicit smap_machine(int device)
    {
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                                     device));
        shared = (size_t) shared_limit(device);
        const double hertz = 1.5e9;  /* about: the driver takes milliseconds to tell */
        rate = hertz * processors * 128 / double_ratio(device);
    }
};

/* Into how many parts to split the library, so that a grid of `blocks` for each part
   keeps `places` busy: each has `tiles` to go through in all, and takes as long as some
   of them to begin and to end. */
inline uint32_t smap_splits(double blocks, double places, uint32_t tiles, uint32_t most)
{
    uint32_t best = 1;
    double least = 1e300;
    most = std::min(most, std::max(1u, tiles / 4));
    for (uint32_t splits = 1; splits <= most; splits++) {
        double turns = std::ceil(blocks * splits / places);
        double time = turns * ((double) tiles / splits + 4) + 0.5 * splits;
        if (time < 0.99 * least) {
            least = time;
            best = splits;
        }
    }
    return best;
}

/* The call, as all devices share it. */
struct smap_call {
    const syn_points *points;
    const syn_rows *library, *prediction;
    const double *target;
    const syn_smap_options *options;
    const syn_smap_result *out;
    unsigned char *fate;           /* [thetas][predictions] */
    std::vector<uint32_t> known;   /* see smap_survey; empty where all are */
    bool listed;                   /* whether neighbours are not all of the library */
};

/* A part of the predictions under way. */
struct smap_slot {
    stream work;
    array<uint32_t> rows;
    array<double> predicted, sum, spread, number, room;
    array<smap_left_out> out;
    array<smap_found> found;
    array<smap_distances> distance;
    array<unsigned char> fate;
    std::unique_ptr<neighbour_search> search;  /* of lists, which are these: */
    array<uint32_t> near_found, near_row;
    array<double> near_distance;
    std::unique_ptr<pinned<double>> numbers;
    std::unique_ptr<pinned<unsigned char>> fates;
    uint32_t first = 0, n = 0;
};

class smap_device {
    const smap_call &call_;
    smap_machine machine_;
    smap_shape shape_;
    uint32_t thetas_, unknowns_, local_;
    stream stream_;
    array<double> coordinate_, space_, target_, theta_, centre_, placed_;
    array<uint32_t> library_, known_;
    array<ushort2> factor_;
    uint32_t part_ = 0, padded_ = 0;
    smap_data data_ = {};

    /* Numbers of a prediction that go to the host. */
    size_t numbers() const
    {
        return (size_t) thetas_ * (2 + (size_t) local_ * unknowns_);
    }

    void place_library()
    {
        const syn_points &p = *call_.points;
        uint32_t n = call_.library->n;
        coordinate_.upload(p.coordinate, (size_t) p.dims * p.rows, stream_);
        if (call_.listed && call_.options->space)
            space_.upload(call_.options->space, (size_t) p.dims * p.rows, stream_);
        target_.upload(call_.target, p.rows, stream_);
        theta_.upload(call_.options->theta, thetas_, stream_);
        library_.upload(call_.library->row, n, stream_);
        if (!call_.known.empty())
            known_.upload(call_.known.data(), call_.known.size(), stream_);
        data_ = {shape_, p.rows, coordinate_.get(), target_.get(), library_.get(), n};
        centre_.ensure(shape_.terms);
        smap_centre<<<shape_.terms, SMAP_CENTRE_THREADS, 0, stream_>>>(data_,
                                                                       centre_.get());
        check(cudaGetLastError());
        padded_ = (n + SMAP_POINTS - 1) / SMAP_POINTS * SMAP_POINTS;
        placed_.ensure((size_t) padded_ * shape_.places);
        smap_gather<<<blocks_for(padded_, 128), 128, 0, stream_>>>(
            data_, centre_.get(), padded_, placed_.get());
        check(cudaGetLastError());
    }

    /* Where the factors of each product stand; those after the last are never read. */
    void place_factors()
    {
        uint32_t most = 0;
        with_smap_block(shape_, machine_.shared, [&](auto block) {
            most = decltype(block)::PRODUCTS;
        });
        std::vector<ushort2> factor;
        for (uint32_t j = 0; j < shape_.terms; j++)
            for (uint32_t k = j; k < shape_.terms; k++)
                factor.push_back({(unsigned short) smap_place(shape_, j),
                                  (unsigned short) smap_place(shape_, k)});
        factor.resize((factor.size() + most - 1) / most * most, factor[0]);
        factor_.upload(factor.data(), factor.size(), stream_);
        check(cudaStreamSynchronize(stream_));  /* the host's copy ends here */
    }

    /* How many predictions make a part: some parts for each device, none of which takes
       long or much memory. */
    void choose_part(uint32_t devices)
    {
        double pair = (double) shape_.columns + 40 + 4 * shape_.dims;
        double each = pair * thetas_ * call_.library->n / machine_.rate;
        double by_time = SMAP_PART_SECONDS / each;
        double have = 0.2 * free_memory() / SMAP_SLOTS;
        double bytes = sizeof(double) * (thetas_ * (shape_.columns + 3.0) + numbers() +
                                         shape_.pitch) + 64;
        if (call_.listed) {
            bytes += 12.0 * call_.options->k;
            by_time = 2048;  /* the search does not look at all pairs */
        }
        double by_memory = std::min(have, (double) SMAP_SUM_BYTES) / bytes;
        double share = call_.prediction->n / (6.0 * devices) + 1;
        double part = std::min({by_time, by_memory, std::max(share, 2048.0)});
        part_ = (uint32_t) std::max(part, 1.0);
        part_ = (part_ + 63) / 64 * 64;
    }

    smap_points points_of(const smap_slot &s) const
    {
        return {shape_, call_.library->n, s.n, padded_, placed_.get(), s.predicted.get()};
    }

    void survey(smap_slot *s)
    {
        smap_survey job = {};
        job.points = points_of(*s);
        job.library = library_.get();
        job.prediction = s->rows.get();
        job.known = call_.known.empty() ? nullptr : known_.get();
        job.k = call_.options->k;
        job.exclusion = call_.options->exclusion;
        s->out.ensure(s->n);
        s->distance.ensure(s->n);
        job.out = s->out.get();
        job.distance = s->distance.get();
        with_survey_block(shape_, machine_.shared, [&](auto block) {
            using B = decltype(block);
            size_t shared = smap_survey_shared<B>(shape_);
            int each = blocks_at_once(smap_look<B>, B::THREADS, shared);
            uint32_t blocks = blocks_for(s->n, B::PREDICTIONS);
            job.splits = smap_splits(blocks, (double) each * machine_.processors,
                                     blocks_for(call_.library->n, B::POINTS), 64);
            s->found.ensure((size_t) job.splits * s->n);
            job.found = s->found.get();
            dim3 grid(blocks, job.splits);
            smap_look<B><<<grid, B::THREADS, shared, s->work>>>(job);
        });
        smap_conclude<<<blocks_for(s->n, 128), 128, 0, s->work>>>(job);
        check(cudaGetLastError());
    }

    /* Returns how many splits have sums. */
    uint32_t multiply(smap_slot *s)
    {
        smap_product job = {};
        job.points = points_of(*s);
        job.out = s->out.get();
        job.distance = s->distance.get();
        job.theta = theta_.get();
        job.factor = factor_.get();
        with_smap_block(shape_, machine_.shared, [&](auto block) {
            using B = decltype(block);
            size_t shared = smap_product_shared<B>(shape_);
            int each = blocks_at_once(smap_multiply<B>, B::THREADS, shared);
            uint32_t chunks = blocks_for(shape_.columns, B::PRODUCTS);
            uint32_t blocks = blocks_for(s->n, B::PREDICTIONS);
            size_t bytes = (size_t) thetas_ * s->n * shape_.columns * sizeof(double);
            size_t most = std::max<size_t>(SMAP_SUM_BYTES / bytes, 1);
            job.splits = smap_splits((double) blocks * chunks * thetas_,
                                     (double) each * machine_.processors,
                                     blocks_for(call_.library->n, B::POINTS),
                                     (uint32_t) std::min<size_t>(most, 64));
            s->sum.ensure(bytes / sizeof(double) * job.splits);
            s->spread.ensure((size_t) thetas_ * job.splits * s->n * 3);
            job.sum = s->sum.get();
            job.spread = s->spread.get();
            dim3 grid(blocks, chunks * job.splits, thetas_);
            smap_multiply<B><<<grid, B::THREADS, shared, s->work>>>(job);
        });
        check(cudaGetLastError());
        return job.splits;
    }

    smap_lists lists_of(const smap_slot &s) const
    {
        if (!call_.listed)
            return {nullptr, nullptr, nullptr, 0};
        return {s.near_found.get(), s.near_row.get(), s.near_distance.get(),
                call_.options->k};
    }

    /* Finds neighbours, and does with lists what survey() and multiply() do without. */
    uint32_t add_listed(smap_slot *s)
    {
        uint32_t k = call_.options->k;
        const double *space = call_.options->space ? space_.get() : coordinate_.get();
        placed_points points = {call_.points->rows, shape_.dims, space};
        placed_rows library = {call_.library->n, library_.get()};
        if (!s->search)
            s->search.reset(new neighbour_search(points, library, s->work));
        s->near_found.ensure(s->n);
        s->near_row.ensure((size_t) s->n * k);
        s->near_distance.ensure((size_t) s->n * k);
        s->search->find({s->n, s->rows.get()}, k, call_.options->exclusion,
                        {s->near_found.get(), s->near_row.get(), s->near_distance.get()});
        s->out.ensure(s->n);
        s->distance.ensure(s->n);
        s->sum.ensure((size_t) thetas_ * s->n * shape_.columns);
        s->spread.ensure((size_t) thetas_ * s->n * 3);
        smap_listing job = {points_of(*s), lists_of(*s), library_.get(),
                            s->near_row.get(), theta_.get(), factor_.get(), s->out.get(),
                            s->distance.get(), s->sum.get(), s->spread.get()};
        smap_look_up<<<blocks_for((size_t) s->n * WARP, 128), 128, 0, s->work>>>(job);
        dim3 grid(most_of_grid(s->n), thetas_);
        size_t shared = smap_list_shared(shape_);
        allow_shared(smap_add_listed, shared);
        smap_add_listed<<<grid, SMAP_LIST_THREADS, shared, s->work>>>(job);
        check(cudaGetLastError());
        return 1;
    }

    void solve(smap_slot *s, uint32_t splits)
    {
        smap_equations job = {};
        size_t models = (size_t) thetas_ * s->n, each = models * unknowns_;
        s->number.ensure(numbers() * s->n);
        s->fate.ensure(models);
        job.points = points_of(*s);
        job.lists = lists_of(*s);
        job.out = s->out.get();
        job.distance = s->distance.get();
        job.theta = theta_.get();
        job.centre = centre_.get();
        job.sum = s->sum.get();
        job.spread = s->spread.get();
        job.thetas = thetas_;
        job.splits = splits;
        job.ridge = call_.options->ridge;
        job.missing = call_.options->missing;
        double *number = s->number.get();
        /* Nothing is written for those models that are left to the host. */
        check(cudaMemsetAsync(number, 0, numbers() * s->n * sizeof *number, s->work));
        job.results = {number, number + models,
                       call_.out->coefficient ? number + 2 * models : nullptr,
                       call_.out->singular
                           ? number + 2 * models + (call_.out->coefficient ? each : 0)
                           : nullptr,
                       s->fate.get()};
        size_t doubles = smap_bench_doubles(shape_);
        size_t shared = doubles * SMAP_SOLVERS * sizeof(double);
        bool fits = shared <= machine_.shared;
        int at_once = blocks_at_once(smap_solve, SMAP_SOLVERS * WARP, fits ? shared : 0);
        unsigned blocks = std::min(blocks_for(models, SMAP_SOLVERS),
                                   (unsigned) (at_once * machine_.processors));
        if (!fits) {
            s->room.ensure((size_t) blocks * SMAP_SOLVERS * doubles);
            job.room = s->room.get();
        }
        smap_solve<<<blocks, SMAP_SOLVERS * WARP, fits ? shared : 0, s->work>>>(job);
        smap_spread_again<<<most_of_grid(models), SMAP_SPREAD_THREADS, 0, s->work>>>(job);
        check(cudaGetLastError());
    }

public:
    smap_device(const smap_call &call, int device, uint32_t devices)
        : call_(call), machine_(device), shape_(smap_shape_of(call.points->dims)),
          thetas_(call.options->thetas), unknowns_(call.points->dims + 1),
          local_((call.out->coefficient != nullptr) + (call.out->singular != nullptr))
    {
        place_library();
        place_factors();
        choose_part(devices);
    }

    uint32_t part() const { return part_; }

    void start(smap_slot *s)
    {
        s->rows.upload(call_.prediction->row + s->first, s->n, s->work);
        s->predicted.ensure((size_t) s->n * shape_.pitch);
        smap_gather_predicted<<<blocks_for(s->n, 128), 128, 0, s->work>>>(
            data_, centre_.get(), s->rows.get(), s->n, s->predicted.get());
        check(cudaGetLastError());
        if (!call_.listed)
            survey(s);
        solve(s, call_.listed ? add_listed(s) : multiply(s));
        size_t bytes = numbers() * s->n * sizeof(double);
        if (!s->numbers)
            s->numbers.reset(new pinned<double>(numbers() * part_));
        if (!s->fates)
            s->fates.reset(new pinned<unsigned char>((size_t) thetas_ * part_));
        check(cudaMemcpyAsync(s->numbers->get(), s->number.get(), bytes,
                              cudaMemcpyDeviceToHost, s->work));
        check(cudaMemcpyAsync(s->fates->get(), s->fate.get(), (size_t) thetas_ * s->n,
                              cudaMemcpyDeviceToHost, s->work));
    }

    /* Waits for a part, and puts its results where the caller wants them. */
    void collect(smap_slot *s)
    {
        check(cudaStreamSynchronize(s->work));
        const double *from = s->numbers->get();
        size_t all = call_.prediction->n;
        auto put = [&](double *to, size_t rows) {
            for (size_t i = 0; to && i < rows; i++, from += s->n)
                std::memcpy(to + i * all + s->first, from, s->n * sizeof *to);
        };
        put(call_.out->prediction, thetas_);
        put(call_.out->variance, thetas_);
        put(call_.out->coefficient, (size_t) thetas_ * unknowns_);
        put(call_.out->singular, (size_t) thetas_ * unknowns_);
        for (size_t i = 0; i < thetas_; i++)
            std::memcpy(call_.fate + i * all + s->first, s->fates->get() + i * s->n,
                        s->n);
    }
};

}  // namespace gpu

#endif
