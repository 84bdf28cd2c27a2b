/* Targets on a device, and batches of libraries that are mapped to them. */
#pragma once

#include "gpu/causal/arrange.cuh"
#include "gpu/causal/halves.cuh"
#include "gpu/causal/libraries.cuh"
#include "gpu/causal/rows.cuh"

#include <cmath>

namespace gpu {

/* How targets are read: see gpu/causal/lookup.cuh. */
struct lookup_plan {
    entries kind;
    bool staged, half;
    bool products;             /* by tensor cores */
    uint32_t per_row, planes;  /* targets of a row, and rows of a step */
    uint32_t warps;            /* of a block */
};

inline lookup_plan plan_lookup(uint32_t steps, uint32_t top, bool half, bool products,
                               int shared)
{
    lookup_plan plan = {entries::narrow, true, half, false, 0, 1, LOOKUP_WARPS};
    uint32_t size = half ? 2 : 4;
    plan.per_row = ROW_BYTES / size;
    size_t planes = (size_t) shared / ((size_t) steps * VECTOR_BYTES);
    if (half && products && planes >= ROW_BYTES / VECTOR_BYTES) {
        plan.kind = entries::packed;
        plan.products = true;
        plan.warps = product_warps(ROW_BYTES / VECTOR_BYTES);
        return plan;
    }
    if (planes >= ROW_BYTES / VECTOR_BYTES && top <= NARROW_DIMS && steps <= NARROW_STEPS)
        return plan;
    if (planes >= 1 && steps < 65535) {
        plan.kind = entries::packed;
        plan.per_row = VECTOR_BYTES / size;
        /* With one row of a step, products of eight targets cost more than they save. */
        plan.products = half && products && planes > 1;
        plan.planes = std::min<size_t>(planes, half && !plan.products ? 2 : 4);
        plan.warps = plan.products ? product_warps(plan.planes)
                                   : lane_warps(plan.planes);
    } else {
        plan.kind = entries::wide;
        plan.staged = false;
    }
    return plan;
}

/* Whether points may lack neighbours or targets. */
inline bool anything_missing(const syn_map_targets &targets, const syn_map_layout &layout,
                             const syn_map_options &options)
{
    uint64_t around = 2 * (uint64_t) options.exclusion + 2 + SYN_MAP_DIMS;
    uint64_t lag = options.tau < 0 ? -(int64_t) options.tau : options.tau;
    uint64_t ends = (options.E_max - 1) * lag +
                    (options.Tp < 0 ? -(int64_t) options.Tp : options.Tp);
    return targets.missing || options.lib_size > 0 || around + ends > layout.steps;
}

inline std::vector<tile> make_tiles(const syn_map_targets &targets, uint32_t per_tile)
{
    std::vector<tile> tiles;
    for (uint32_t e = SYN_MAP_DIMS; e-- > 0;) {
        uint32_t end = targets.group[e + 1];
        for (uint32_t first = targets.group[e]; first < end; first += per_tile)
            tiles.push_back({e, first, std::min(per_tile, end - first),
                             (uint32_t) tiles.size()});
    }
    return tiles;
}

/* A batch's way through a device. */
struct slot : batch_slot {
    block_work *of = nullptr;  /* the block that the libraries are of */
    array<uint32_t> table, sample;
    array<unsigned char> goes_on;
    array<float> rho;
    array<lookup_item> items;  /* for `dealt` libraries */
    size_t n_items = 0;
    uint32_t dealt = 0;
    event begun{cudaEventDefault}, found{cudaEventDefault}, done{cudaEventBlockingSync};
};

/* Correlations on their way to the caller's memory, through two pieces of page-locked
   memory: one is filled while the other one is emptied. They are small, as page-locked
   memory takes longer to get than to use. */
class way_out {
    enum { PIECE = 1 << 22 };  /* correlations */
    struct piece {
        pinned<float> memory;
        event full{cudaEventDisableTiming | cudaEventBlockingSync};
    };
    piece piece_[2];

public:
    void copy(const float *from, float *to, size_t n, cudaStream_t work)
    {
        size_t most = std::min<size_t>(n, PIECE);
        for (piece &one : piece_)
            one.memory.ensure(most);
        size_t pieces = (n + most - 1) / most;
        auto length = [&](size_t i) { return std::min(most, n - i * most); };
        auto fill = [&](size_t i) {
            download(piece_[i % 2].memory.get(), from + i * most, length(i), work);
            check(cudaEventRecord(piece_[i % 2].full, work));
        };
        fill(0);
        for (size_t i = 0; i < pieces; i++) {
            if (i + 1 < pieces)
                fill(i + 1);
            check(cudaEventSynchronize(piece_[i % 2].full));
            copy_together(to + i * most, piece_[i % 2].memory.get(),
                          length(i) * sizeof(float), copiers);
        }
    }
};

class mapper {
    int device_;
    syn_map_options options_;
    lookup_plan plan_;
    arrays own_;                         /* of the pointers that follow */
    search_job search_ = {};
    lookup_job lookup_ = {};
    double *sample_moments_ = nullptr;
    table_shape sample_;
    std::vector<tile> tile_;
    stream work_;
    slot slot_[BATCHES];
    way_out out_;
    uint32_t batch_ = 0;
    int processors_ = 0;
    bool staged_search_ = true, missing_;
    const table_shape *kept_shape_ = nullptr;
    const kept_tables *kept_ = nullptr;  /* NULL: nothing, or nothing of use */
public:
    mapper(const syn_map_targets &targets, const syn_map_layout &layout,
           const syn_map_options &options, bool half, syn_gpu_tables *tables,
           int device)
        : device_(device), options_(options)
    {
        int shared = shared_limit(device);
        processors_ = processors_of(device);
        missing_ = anything_missing(targets, layout, options);
        uint32_t wanted = 0;
        for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
            wanted |= (targets.group[e + 1] > targets.group[e] ? 1u : 0u) << e;
        plan_ = plan_lookup(targets.steps, top_of(wanted), half, !targets.missing,
                            shared);
        make_search(&search_, &own_, layout, options, wanted, work_);
        staged_search_ = search_shared(search_, true) <= (size_t) shared;
        lookup_.shape = make_shape(layout, wanted, plan_.kind, 1);
        lookup_.every = 1;
        lookup_.reach = std::atanh(std::max(-1.0f, std::min(1.0f, options.screen)));
        sample_ = make_shape(layout, wanted, plan_.kind, options.stride);
        lookup_.steps = targets.steps;
        lookup_.targets = targets.n;
        lookup_.planes = plan_.planes;
        if (tables && tables->kind == plan_.kind) {
            kept_ = tables->on(device);
            kept_shape_ = &tables->shape;
        }
        put_targets(targets);
        choose_batch();
    }

    int device() const { return device_; }

    /* Those of some libraries whose neighbours are kept here, counted from the first. */
    std::vector<range> kept(range of) const
    {
        return kept_ ? kept_->within(of) : std::vector<range>();
    }

    /* Works through what the queue has for this device, number `who`, until that is
       closed. */
    void run(block_queue *queue, size_t who)
    {
        for (uint32_t turn = 0;; turn++) {
            slot *s = &slot_[turn % BATCHES];
            collect(s, queue, who);
            libraries_taken next;
            while (!queue->take(who, batch_, &next)) {
                /* The batch that is under way longest is collected first. */
                uint32_t i = 1;
                while (i < BATCHES && !collect(&slot_[(turn + i) % BATCHES], queue, who))
                    i++;
                if (i == BATCHES && !queue->wait())
                    return;
            }
            s->of = next.of;
            s->first = next.first;
            s->n = next.n;
            start(s, *next.of->libraries);
        }
    }

    /* After an error or an interrupt. */
    void abandon()
    {
        for (slot &s : slot_) {
            cudaStreamSynchronize(s.work);
            s.n = 0;
        }
        cudaGetLastError();
    }

private:
    uint32_t per_tile() const { return plan_.per_row * plan_.planes; }

    void put_targets(const syn_map_targets &targets)
    {
        tile_ = make_tiles(targets, per_tile());
        size_t n = tile_.size(), steps = targets.steps;
        size_t one = plan_.half ? sizeof(__half) : sizeof(float);
        lookup_.tile_bytes = steps * per_tile() * one;
        own_.ensure(&lookup_.values, n * lookup_.tile_bytes);
        own_.upload(&lookup_.tiles, tile_, work_);
        own_.upload(&lookup_.target, targets.target, targets.n, work_);
        own_.ensure(&lookup_.moments, 3 * (size_t) targets.n);
        lookup_.n_tiles = n;
        array<float> plain;
        plain.upload(targets.value, (size_t) targets.n * steps, work_);
        if (plan_.half)
            put_values<__half>(plain.get());
        else
            put_values<float>(plain.get());
        check(cudaStreamSynchronize(work_));
    }

    bool screened() const { return !std::isnan(options_.screen); }

    template <class T> void put_values(const float *plain)
    {
        if (tile_.empty())
            return;
        uint32_t n = tile_.size(), steps = lookup_.steps;
        T *out = (T *) lookup_.values;
        launch(fill_tiles<T>,
               dim3(((uint64_t) steps * plan_.per_row + 255) / 256, most_of_grid(n)), 256,
               0, work_, plain, lookup_.tiles, n, lookup_.target, steps, options_.Tp,
               plan_.per_row, plan_.planes, out);
        auto moments = [&](const table_shape &shape, uint32_t every, double *to) {
            launch(find_moments<T>, n, 256, 0, work_, out, lookup_.tiles, shape, every,
                   steps, plan_.per_row, plan_.planes, to);
        };
        moments(lookup_.shape, 1, lookup_.moments);
        if (!screened())
            return;
        own_.ensure(&sample_moments_, 3 * (size_t) lookup_.targets);
        moments(sample_, options_.stride, sample_moments_);
    }

    /* Libraries of a batch: what fits well in time and memory. */
    void choose_batch()
    {
        double gathers = 0;
        for (const tile &t : tile_)
            gathers += (double) (t.e + 2) * lookup_.steps * per_tile();
        double each = search_seconds(search_) + gathers / 5e12;
        double words = lookup_.shape.size + (screened() ? sample_.size : 0);
        double bytes = 4.0 * words + 4.0 * lookup_.targets + 2.0 * lookup_.n_tiles +
                       13.0 * lookup_.steps + 5.0 * search_.length;
        double room = 0.8 * free_memory() / BATCHES / bytes;
        double fit = std::min(room, BATCH_SECONDS / each);
        batch_ = (uint32_t) std::min(4096.0, std::max(1.0, fit));
        if (batch_ > plan_.warps)
            batch_ = batch_ / plan_.warps * plan_.warps;
        else if (room >= plan_.warps)
            batch_ = plan_.warps;
    }

    /* Tiles times libraries in pieces, large enough to pay for reading a tile. */
    std::vector<lookup_item> deal(uint32_t n) const
    {
        uint32_t group = 4 * plan_.warps;
        while (group > plan_.warps &&
               tile_.size() * ((n + group - 1) / group) < 6 * (size_t) processors_)
            group /= 2;
        std::vector<lookup_item> items;
        for (uint32_t t = 0; t < tile_.size();) {
            uint32_t end = t;
            while (end < tile_.size() && tile_[end].e == tile_[t].e)
                end++;
            for (uint32_t from = 0; from < n; from += group)
                for (uint32_t i = t; i < end; i++)
                    items.push_back({i, from, std::min(n, from + group)});
            t = end;
        }
        return items;
    }

    void start(slot *s, const syn_map_libraries &libraries)
    {
        size_t most = std::max(s->n, std::min(batch_, libraries.n));
        make_table(&s->table, most * lookup_.shape.size, s->work);
        s->rho.ensure(most * lookup_.targets);
        /* All that is copied goes first: a copy from memory that is not page-locked waits
           for the work before it, and so would the host. */
        if (s->dealt != s->n) {
            std::vector<lookup_item> items = deal(s->n);
            s->items.upload(items, s->work);
            s->dealt = s->n;
            s->n_items = items.size();
        }
        check(cudaEventRecord(s->begun, s->work));
        find_neighbours(s, libraries, most);
        check(cudaEventRecord(s->found, s->work));
        lookup_job lookup = lookup_;
        lookup.table = s->table.get();
        lookup.items = s->items.get();
        lookup.rho = s->rho.get();
        bool missing = missing_ || libraries.missing;
        if (screened()) {
            /* Finds out which tiles are worth looking at for each library; the
               correlations of the others are NaN. */
            lookup.goes_on = s->goes_on.ensure(most * lookup.n_tiles);
            fill(lookup.goes_on, 0, s->goes_on.room(), s->work);
            fill(s->rho.get(), 0xff, s->rho.room(), s->work);
            lookup_job first = lookup;
            first.shape = sample_;
            first.table = s->sample.get();
            first.moments = sample_moments_;
            first.every = options_.stride;
            first.sample = true;
            correlate(first, s->n_items, missing, s->work);
        }
        correlate(lookup, s->n_items, missing, s->work);
        check(cudaEventRecord(s->done, s->work));
    }

    /* What is read in advance is empty. */
    void make_table(array<uint32_t> *table, size_t words, cudaStream_t work)
    {
        if (table->room() >= words)
            return;
        table->ensure(words);
        fill(table->get(), 0, table->room(), work);
    }

    /* Puts the packed entries of libraries in the order and form that lookups want. */
    void arrange(uint32_t n, const table_shape &shape, uint32_t *table, cudaStream_t work)
    {
        if (plan_.kind != entries::packed)
            return;
        uint32_t together = WARP * ARRANGE_WARPS;
        dim3 grid(blocks_for(lookup_.steps, together), __builtin_popcount(shape.wanted),
                  n);
        auto kernel = !plan_.products ? arrange_entries<false, true>
                      : plan_.per_row > CHUNK_TARGETS ? arrange_entries<true, false>
                                                      : arrange_entries<true, true>;
        launch(kernel, grid, together, 0, work, shape, table);
    }

    /* Takes neighbours that are kept here, or finds them. */
    void find_neighbours(slot *s, const syn_map_libraries &libraries, size_t most)
    {
        auto copy = [&](const uint32_t *there) {
            copy_tables(there, *kept_shape_, s->table.get(), lookup_.shape, s->n,
                        s->work);
        };
        if (!kept_ || !kept_->with({s->of->first + s->first, s->n}, *kept_shape_, copy)) {
            s->put(search_, libraries, s->first, s->n);
            with_top(top_of(search_.wanted), staged_search_, [&](auto top, auto staged) {
                launch_search(find_tables<top, staged>, s->search, staged, s->n, s->work,
                              lookup_.shape, plan_.kind, s->table.get());
            });
        }
        if (screened()) {
            /* Every so manieth point of the table, before that is put in order. */
            make_table(&s->sample, most * sample_.size, s->work);
            uint32_t words = lookup_.steps * row_words(plan_.kind, SYN_MAP_DIMS + 1);
            dim3 grid(words / options_.stride / 128 + 2,
                      __builtin_popcount(sample_.wanted), s->n);
            launch(sample_table, grid, 128, 0, s->work, lookup_.shape, s->table.get(),
                   sample_, options_.stride, plan_.kind, s->sample.get());
            arrange(s->n, sample_, s->sample.get(), s->work);
        }
        arrange(s->n, lookup_.shape, s->table.get(), s->work);
    }

    template <class KERNEL>
    void look_up(KERNEL kernel, const lookup_job &job, size_t n, cudaStream_t work,
                 uint32_t warps)
    {
        size_t shared = plan_.staged ? job.tile_bytes : 0;
        allow_shared(kernel, shared);
        if (n > 0)
            launch(kernel, (uint32_t) n, warps * WARP, shared, work, job);
    }

    void correlate(const lookup_job &job, size_t n, bool missing, cudaStream_t work)
    {
        auto with = [&](auto lacks) {
            if (plan_.products)
                correlate_products<lacks>(job, n, work);
            else if (plan_.half)
                correlate_of<half_lane, lacks>(job, n, work);
            else
                correlate_of<single_lane, lacks>(job, n, work);
        };
        missing ? with(std::true_type()) : with(std::false_type());
    }

    template <bool MISSING>
    void correlate_products(const lookup_job &job, size_t n, cudaStream_t work)
    {
        if (plan_.per_row > CHUNK_TARGETS)
            return look_up(correlate_halves<8, true, MISSING>, job, n, work, plan_.warps);
        with_number<2, 3, 4>(plan_.planes, [&](auto planes) {
            look_up(correlate_halves<planes, false, MISSING>, job, n, work, plan_.warps);
        });
    }

    template <class LANE, bool MISSING>
    void correlate_of(const lookup_job &job, size_t n, cudaStream_t work)
    {
        if (plan_.kind == entries::narrow)
            look_up(correlate_rows<LANE, MISSING, true>, job, n, work, LOOKUP_WARPS);
        else if (plan_.kind == entries::wide)
            look_up(correlate_rows<LANE, MISSING, false>, job, n, work, LOOKUP_WARPS);
        else if (MISSING)
            look_up(correlate_lanes<LANE, 1, true>, job, n, work, LOOKUP_WARPS);
        else if (plan_.planes == 1)
            look_up(correlate_lanes<LANE, 1, false>, job, n, work, plan_.warps);
        else
            with_number<2, 3, 4>(plan_.planes, [&](auto planes) {
                look_up(correlate_lanes<single_lane, planes, false>, job, n, work,
                        LOOKUP_WARPS);
            });
    }

    /* Waits for a batch, if the slot has one, and gives its correlations to the caller;
       whether it had one. */
    bool collect(slot *s, block_queue *queue, size_t who)
    {
        if (s->n == 0)
            return false;
        check(cudaEventSynchronize(s->done));
        out_.copy(s->rho.get(), s->of->rho + (size_t) s->first * lookup_.targets,
                  (size_t) s->n * lookup_.targets, s->work);
        queue->put(who, {s->of, s->first, s->n},
                   {seconds_from(s->begun, s->found), seconds_from(s->found, s->done)});
        s->n = 0;
        return true;
    }

    static double seconds_from(cudaEvent_t begin, cudaEvent_t end)
    {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end));
        return ms / 1e3;
    }
};

}  // namespace gpu
