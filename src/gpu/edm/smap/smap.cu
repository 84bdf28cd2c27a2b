/* The door of S-maps: predictions dealt out to devices in parts, and models made again on
   the host where a device's are not precise enough. */
extern "C" {
#include "core/edm/model/embed.h"
#include "gpu/edm/smap/smap.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"
#include "gpu/edm/delays.cuh"
#include "gpu/edm/smap/models.cuh"
#include "gpu/edm/smap/sums.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace gpu {

/* ---- a device's part in a call: predictions go through it in parts ---- */

constexpr double SMAP_PART_SECONDS = 0.05;  /* about; Ctrl-C waits for those under way */
constexpr size_t SMAP_SUM_BYTES = (size_t) 240 << 20;  /* of a part's sums, at the most */
constexpr int SMAP_SLOTS = 2;               /* parts under way */

/* Calls body with a value of the type of the block of the product, by how many products
   there are. The last type is for devices with little shared memory. */
template <class F> void with_smap_block(const smap_shape &shape, size_t limit, F body)
{
    bool found = false;
    auto consider = [&](uint32_t most, auto block) {
        bool fits = smap_product_shared<decltype(block)>(shape) <= limit;
        if (found || shape.columns > most || !fits)
            return;
        body(block);
        found = true;
    };
    consider(16, smap_block<8, 1, 1, 2, 32, 2>());
    consider(32, smap_block<8, 1, 1, 4, 32, 2>());
    consider(64, smap_block<4, 2, 2, 4, 32, 1>());
    consider(128, smap_block<2, 4, 4, 4, 32, 1>());
    consider(UINT32_MAX, smap_block<1, 8, 4, 4, 32, 1>());
    if (!found)
        body(smap_block<1, 2, 1, 4, 16, 1>());
}

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
    std::vector<uint32_t> known;   /* see smap_job; empty where all are */
    bool listed;                   /* whether neighbours are not all of the library */
};

/* Calls each(numbers, rows) for those numbers of a result that are wanted; there are so
   many rows of them for each theta. */
template <class F>
void each_number(const syn_smap_result &out, size_t unknowns, F each)
{
    each(out.prediction, 1);
    each(out.variance, 1);
    if (out.coefficient)
        each(out.coefficient, unknowns);
    if (out.singular)
        each(out.singular, unknowns);
}

/* A part of the predictions under way. */
struct smap_slot {
    stream work;
    arrays own;                     /* of the pointers that follow */
    smap_job job;
    std::unique_ptr<neighbour_search> search;  /* of lists */
    double *number = nullptr;       /* all results but fates */
    pinned<double> numbers;
    pinned<unsigned char> fates;
    uint32_t first = 0, n = 0;
};

class smap_device {
    const smap_call &call_;
    smap_shape shape_;
    uint32_t thetas_, unknowns_, local_;
    int processors_ = 0;
    size_t shared_;      /* bytes that a block can have */
    stream stream_;
    points_room points_, space_points_;
    const double *space_ = nullptr;  /* where neighbours are searched, if listed */
    array<double> centre_, placed_;
    arrays own_;                     /* of the other pointers of the two that follow */
    smap_data data_ = {};
    smap_job job_ = {};
    uint32_t part_ = 0;

    /* Numbers of a prediction that go to the host. */
    size_t numbers() const
    {
        return (size_t) thetas_ * (2 + (size_t) local_ * unknowns_);
    }

    void place_library()
    {
        const syn_points &p = *call_.points;
        const syn_smap_options &o = *call_.options;
        uint32_t n = call_.library->n, padded = blocks_for(n, SMAP_POINTS) * SMAP_POINTS;
        data_ = {shape_, p.rows, points_.place(p, stream_), nullptr, nullptr, n};
        if (call_.listed)
            space_ = o.space ? space_points_.place(*o.space, stream_) : data_.coordinate;
        own_.upload(&data_.target, call_.target, p.rows, stream_);
        own_.upload(&data_.library, call_.library->row, n, stream_);
        job_.points = {shape_, n, 0, padded,
                       placed_.ensure((size_t) padded * shape_.places), nullptr};
        job_.library = data_.library;
        if (!call_.known.empty())
            own_.upload(&job_.known, call_.known, stream_);
        job_.k = o.k;
        job_.exclusion = o.exclusion;
        job_.thetas = thetas_;
        own_.upload(&job_.theta, o.theta, thetas_, stream_);
        job_.centre = centre_.ensure(shape_.terms);
        job_.ridge = o.ridge;
        job_.missing = o.missing;
        launch(smap_centre, shape_.terms, SMAP_CENTRE_THREADS, 0, stream_, data_,
               centre_.get());
        launch(smap_gather, blocks_for(padded, 128), 128, 0, stream_, data_,
               job_.centre, padded, placed_.get());
    }

    /* Where the factors of each product stand; those after the last are never read. */
    void place_factors()
    {
        uint32_t most = 0;
        with_smap_block(shape_, shared_, [&](auto block) {
            most = decltype(block)::PRODUCTS;
        });
        std::vector<ushort2> factor;
        for (uint32_t j = 0; j < shape_.terms; j++)
            for (uint32_t k = j; k < shape_.terms; k++)
                factor.push_back({(unsigned short) smap_place(shape_, j),
                                  (unsigned short) smap_place(shape_, k)});
        factor.resize((factor.size() + most - 1) / most * most, factor[0]);
        own_.upload(&job_.factor, factor, stream_);
        check(cudaStreamSynchronize(stream_));  /* the host's copy ends here */
    }

    /* How many predictions make a part: some parts for each device, none of which takes
       long or much memory. */
    void choose_part(int device, uint32_t devices)
    {
        const double hertz = 1.5e9;  /* about: the driver takes milliseconds to tell */
        double rate = hertz * processors_ * 128 / double_ratio(device);
        double pair = (double) shape_.columns + 40 + 4 * shape_.dims;
        double each = pair * thetas_ * call_.library->n / rate;
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
        part_ = ((uint32_t) std::max(part, 1.0) + 63) / 64 * 64;
    }

    /* Makes the job of a part, and gathers its points. */
    void place(smap_slot *s) const
    {
        smap_job &job = s->job = job_;
        job.points.predictions = s->n;
        s->own.upload(&job.prediction, call_.prediction->row + s->first, s->n, s->work);
        s->own.ensure(&job.points.predicted, (size_t) s->n * shape_.pitch);
        s->own.ensure_all(s->n, &job.out, &job.distance);
        launch(smap_gather_predicted, blocks_for(s->n, 128), 128, 0, s->work, data_,
               job.centre, job.prediction, s->n, job.points.predicted);
    }

    void survey(smap_slot *s) const
    {
        smap_job &job = s->job;
        auto look = [&](auto block) {
            using B = decltype(block);
            size_t shared = smap_survey_shared<B>(shape_);
            int each = blocks_at_once(smap_look<B>, B::THREADS, shared);
            uint32_t blocks = blocks_for(s->n, B::PREDICTIONS);
            job.splits = smap_splits(blocks, (double) each * processors_,
                                     blocks_for(call_.library->n, B::POINTS), 64);
            s->own.ensure(&job.found, (size_t) job.splits * s->n);
            launch(smap_look<B>, dim3(blocks, job.splits), B::THREADS, shared, s->work,
                   job);
        };
        using large = smap_survey_block<4, 4>;
        if (smap_survey_shared<large>(shape_) <= shared_)
            look(large());
        else
            look(smap_survey_block<2, 2>());
        launch(smap_conclude, blocks_for(s->n, 128), 128, 0, s->work, job);
    }

    void multiply(smap_slot *s) const
    {
        smap_job &job = s->job;
        with_smap_block(shape_, shared_, [&](auto block) {
            using B = decltype(block);
            size_t shared = smap_product_shared<B>(shape_);
            int each = blocks_at_once(smap_multiply<B>, B::THREADS, shared);
            uint32_t chunks = blocks_for(shape_.columns, B::PRODUCTS);
            uint32_t blocks = blocks_for(s->n, B::PREDICTIONS);
            size_t sums = (size_t) thetas_ * s->n * shape_.columns;
            size_t most = std::max<size_t>(SMAP_SUM_BYTES / (sums * sizeof(double)), 1);
            job.splits = smap_splits((double) blocks * chunks * thetas_,
                                     (double) each * processors_,
                                     blocks_for(call_.library->n, B::POINTS),
                                     (uint32_t) std::min<size_t>(most, 64));
            s->own.ensure(&job.sum, sums * job.splits);
            s->own.ensure(&job.spread, (size_t) thetas_ * job.splits * s->n * 3);
            launch(smap_multiply<B>, dim3(blocks, chunks * job.splits, thetas_),
                   B::THREADS, shared, s->work, job);
        });
    }

    /* Finds neighbours, and does with lists what survey() and multiply() do without. */
    void add_listed(smap_slot *s) const
    {
        smap_job &job = s->job;
        size_t n = s->n;
        if (!s->search)
            s->search.reset(new neighbour_search({data_.rows, shape_.dims, space_},
                                                 {data_.n, data_.library}, s->work));
        s->own.ensure(&job.lists.found, n);
        s->own.ensure_all(n * job.k, &job.lists.row, &job.lists.distance);
        s->search->find({s->n, job.prediction}, job.k, job.exclusion, job.lists);
        job.splits = 1;
        s->own.ensure(&job.sum, thetas_ * n * shape_.columns);
        s->own.ensure(&job.spread, thetas_ * n * 3);
        launch(smap_look_up, blocks_for(n * WARP, 128), 128, 0, s->work, job);
        size_t shared = smap_list_shared(shape_);
        allow_shared(smap_add_listed, shared);
        launch(smap_add_listed, dim3(most_of_grid(n), thetas_), SMAP_LIST_THREADS, shared,
               s->work, job);
    }

    void solve(smap_slot *s) const
    {
        smap_job &job = s->job;
        smap_results &to = job.results;
        size_t models = (size_t) thetas_ * s->n;
        s->own.ensure(&s->number, numbers() * s->n);
        s->own.ensure(&to.fate, models);
        /* Nothing is written for those models that are left to the host. */
        fill(s->number, 0, numbers() * s->n, s->work);
        to.prediction = s->number;
        to.variance = to.prediction + models;
        to.coefficient = call_.out->coefficient ? to.variance + models : nullptr;
        if (call_.out->singular)
            to.singular = s->number + (numbers() - thetas_ * unknowns_) * s->n;
        size_t doubles = smap_bench::doubles(shape_);
        size_t shared = doubles * SMAP_SOLVERS * sizeof(double);
        bool fits = shared <= shared_;
        shared = fits ? shared : 0;
        int at_once = blocks_at_once(smap_solve, SMAP_SOLVERS * WARP, shared);
        unsigned blocks = std::min(blocks_for(models, SMAP_SOLVERS),
                                   (unsigned) (at_once * processors_));
        if (!fits)
            s->own.ensure(&job.room, (size_t) blocks * SMAP_SOLVERS * doubles);
        launch(smap_solve, blocks, SMAP_SOLVERS * WARP, shared, s->work, job);
        launch(smap_spread_again, most_of_grid(models), SMAP_SPREAD_THREADS, 0, s->work,
               job);
    }

public:
    smap_device(const smap_call &call, int device, uint32_t devices)
        : call_(call), shape_(smap_shape_of(call.points->dims)),
          thetas_(call.options->thetas), unknowns_(call.points->dims + 1),
          local_((call.out->coefficient != nullptr) + (call.out->singular != nullptr)),
          shared_((size_t) shared_limit(device))
    {
        processors_ = processors_of(device);
        place_library();
        place_factors();
        choose_part(device, devices);
    }

    uint32_t part() const { return part_; }

    void start(smap_slot *s)
    {
        place(s);
        if (call_.listed) {
            add_listed(s);
        } else {
            survey(s);
            multiply(s);
        }
        solve(s);
        download(s->numbers.ensure(numbers() * part_), s->number, numbers() * s->n,
                 s->work);
        download(s->fates.ensure((size_t) thetas_ * part_), s->job.results.fate,
                 (size_t) thetas_ * s->n, s->work);
    }

    /* Waits for a part, and puts its results where the caller wants them. */
    void collect(smap_slot *s)
    {
        check(cudaStreamSynchronize(s->work));
        const double *from = s->numbers.get();
        size_t all = call_.prediction->n;
        each_number(*call_.out, unknowns_, [&](double *to, size_t rows) {
            for (size_t i = 0; i < thetas_ * rows; i++, from += s->n)
                std::memcpy(to + i * all + s->first, from, s->n * sizeof *to);
        });
        for (size_t i = 0; i < thetas_; i++)
            std::memcpy(call_.fate + i * all + s->first, s->fates.get() + i * s->n,
                        s->n);
    }
};

}  // namespace gpu

namespace {

enum { MOST_DIMS = 100 };  /* as on the host, which then makes models one at a time */

/* How many targets of the library are known before each; nothing where all are. */
std::vector<uint32_t> count_known(const syn_rows &library, const double *target)
{
    std::vector<uint32_t> before(library.n + 1, 0);
    for (uint32_t i = 0; i < library.n; i++)
        before[i + 1] = before[i] + !std::isnan(target[library.row[i]]);
    return before[library.n] == library.n ? std::vector<uint32_t>() : before;
}

/* Points as the host takes them. */
class host_points : gpu::no_copies {
    syn_points points_;
    double *made_ = nullptr;
public:
    explicit host_points(const syn_points &points) : points_(points)
    {
        gpu::check_host(syn_locate_points(&points_, &made_));
    }
    ~host_points() { std::free(made_); }
    const syn_points *get() const { return &points_; }
};

/* All that a call asks for, on the host. */
syn_status make_on_host(const gpu::smap_call &call, const syn_rows &rows,
                        syn_smap_options options, const syn_watch *watch,
                        const syn_smap_result &result)
{
    host_points points(*call.points), space(options.space ? *options.space
                                                          : *call.points);
    if (options.space)
        options.space = space.get();
    return syn_smap(points.get(), call.library, &rows, call.target, &options, watch,
                    &result);
}

/* Makes on the host those predictions of one theta that were refused. */
syn_status make_again(const gpu::smap_call &call, uint32_t theta, const syn_watch *watch)
{
    size_t n = call.prediction->n, unknowns = (size_t) call.points->dims + 1;
    std::vector<uint32_t> at, row;
    for (uint32_t i = 0; i < n; i++)
        if (call.fate[theta * n + i] == gpu::SMAP_REFUSED) {
            at.push_back(i);
            row.push_back(call.prediction->row[i]);
        }
    if (at.empty())
        return SYN_OK;
    std::vector<double> made(at.size() * (2 + 2 * unknowns));
    double *next = made.data();
    auto take = [&](const double *wanted, size_t rows) -> double * {
        if (!wanted)
            return nullptr;
        next += rows * at.size();
        return next - rows * at.size();
    };
    syn_smap_options options = *call.options;
    options.theta += theta;
    options.thetas = 1;
    options.way = SYN_SMAP_ONE;
    syn_rows rows = {(uint32_t) row.size(), row.data()};
    syn_smap_result result = {take(call.out->prediction, 1), take(call.out->variance, 1),
                              take(call.out->coefficient, unknowns),
                              take(call.out->singular, unknowns)};
    syn_status status = make_on_host(call, rows, options, watch, result);
    const double *from = made.data();
    gpu::each_number(*call.out, unknowns, [&](double *to, size_t wanted) {
        for (size_t j = 0; j < wanted; j++)
            for (uint32_t i : at)
                to[(theta * wanted + j) * n + i] = *from++;
    });
    return status;
}

/* Keeps some parts under way on each device, and makes on the host what these refuse. */
void run(const gpu::smap_call &call, const syn_gpu_call &by)
{
    gpu::share_out(by, call.prediction->n, "predictions",
                   [&](gpu::crew &work, int device) {
        gpu::smap_device mine(call, device, work.devices);
        gpu::smap_slot slot[gpu::SMAP_SLOTS];
        auto next = [&](uint32_t *first) { return work.take(mine.part(), first); };
        gpu::keep_busy(slot, next, [&](gpu::smap_slot *s) { mine.start(s); },
                       [&](gpu::smap_slot *s) { mine.collect(s); });
    });
    for (uint32_t theta = 0; theta < call.options->thetas; theta++)
        gpu::check_host(make_again(call, theta, by.watch));
}

}  // namespace

syn_status syn_gpu_smap(const syn_points *points, const syn_rows *library,
                        const syn_rows *prediction, const double *target,
                        const syn_smap_options *options, syn_gpu_call *by,
                        const syn_smap_result *out)
{
    return gpu::status_with(by, [&] {
        std::vector<unsigned char> fate((size_t) options->thetas * prediction->n,
                                        gpu::SMAP_REFUSED);
        gpu::smap_call call = {points, library, prediction, target, options, out,
                               fate.data(), count_known(*library, target),
                               /* With one less than the library one may be left out. */
                               (uint64_t) options->k + 1 < library->n};
        uint32_t n = std::min(library->n, options->k), dims = points->dims;
        /* Devices make the models where neighbours are enough for normal equations. */
        if (dims <= MOST_DIMS && n >= 2 * (dims + 1) && prediction->n > 0)
            run(call, *by);
        else
            gpu::check_host(make_on_host(call, *prediction, *options, by->watch, *out));
    });
}
