/* The published strategies that run state machines, for one device. */
#ifndef SYN_GPU_PUBLISHED_PUBLISHED_CUH
#define SYN_GPU_PUBLISHED_PUBLISHED_CUH

#include "gpu/published/machines.cuh"

#include <cub/device/device_scan.cuh>

namespace gpu {

/* Machines keep what they know in registers up to this many events an episode, and can
   count no longer ones. */
inline void check_size(uint32_t size)
{
    if (size > SYN_GPU_SIZES)
        throw refusal(SYN_TOO_LARGE,
                      "this engine counts episodes of up to %d units, not of %u",
                      (int) SYN_GPU_SIZES, size);
}

class ptpe final : public strategy {
    machines &machines_;
    strategy_notes *notes_;
public:
    ptpe(machines &shared, strategy_notes *notes)
        : machines_(shared), notes_(notes) {}

    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        check_size(batch.size);
        machine_input in = machines_.input(stream);
        dim3 block = block_for(batch.n, machines_.host.processors);
        dim3 grid = grid_for(batch.n, block);
        size_t near = machines_.near(batch.size, block), threads = grid.x * block.x;
        uint32_t *waiting = near ? nullptr : machines_.waiting(batch.size, threads);
        with_room(batch.size, [&](auto room) {
            count_whole<decltype(room)::value><<<grid, block, near, stream>>>(in, batch,
                                                                              waiting);
        });
        check(cudaGetLastError());
        notes_->capacity = machines_.capacity(batch.size);
    }
};

class mtpe final : public strategy {
    enum { MOST = 1000, FEWEST_EVENTS = 64 };  /* segments; events of one */

    machines &machines_;
    uint32_t forced_;  /* segments, 0 for as many as fill the device */
    bool published_;
    strategy_notes *notes_;
    array<segment> segments_;
    array<uint32_t> entry_, exit_, count_, a_, b_, tuple_count_;
    array<published_notes> found_;
    stopwatch time_;

    int64_t span(uint32_t size) const { return machines_.longest * (size - 1); }

    /* As many as fill the device and fit in its memory, where each has so many machines,
       which start so many spans before it. Leads are read twice, so that segments should
       be a good deal longer. */
    uint32_t wanted(const strategy_batch &batch, uint32_t machines_each,
                    int64_t lead_spans) const
    {
        const syn_recording *r = machines_.host.recording;
        if (forced_)
            return std::min<uint32_t>(forced_, MOST);
        double ticks = (double) (r->tick[r->events - 1] - r->tick[0]) + 1;
        double lead = lead_spans * (double) span(batch.size) * r->events / ticks;
        double most = (double) r->events / std::max<double>(2 * lead, FEWEST_EVENTS);
        double threads = (double) ((batch.n + 31) / 32 * 32) * machines_each;
        double fill = (double) machines_.capacity(batch.size) / threads;
        double room = (double) machines_.room_for(batch.size) / threads;
        return (uint32_t) std::max(std::min({most, fill, room, (double) MOST}), 1.0);
    }

    /* Counts once more as published: as many machines for a segment as an episode has
       units, and segments for as many machines as fill the device. */
    void merge_as_published(const machine_input &in, const strategy_batch &batch,
                            cudaStream_t stream)
    {
        time_.start(stream);
        std::vector<segment> cuts = cut_segments(machines_.host.recording,
                                                 span(batch.size),
                                                 wanted(batch, batch.size, 1));
        uint32_t n_segments = (uint32_t) cuts.size();
        segments_.upload(cuts.data(), cuts.size(), stream);
        size_t tuples = (size_t) n_segments * batch.size * batch.n;
        a_.ensure(tuples);
        b_.ensure(tuples);
        tuple_count_.ensure(tuples);
        found_.ensure(1);
        check(cudaMemsetAsync(found_.get(), 0, sizeof(published_notes), stream));
        published_tuples out = {a_.get(), b_.get(), tuple_count_.get()};
        dim3 block = block_for(tuples, machines_.host.processors);
        dim3 grid = grid_for(batch.n, block, n_segments * batch.size);
        size_t near = machines_.near(batch.size, block);
        uint32_t *waiting = near ? nullptr
                                 : machines_.waiting(batch.size, (size_t) grid.x *
                                                                     block.x * grid.y);
        with_room(batch.size, [&](auto room) {
            run_published<decltype(room)::value><<<grid, block, near, stream>>>(
                in, machines_.events, batch, segments_.get(), machines_.longest, out,
                waiting);
        });
        check(cudaGetLastError());
        merge_published<<<dim3(grid.x), block, 0, stream>>>(batch, n_segments, out,
                                                            found_.get());
        check(cudaGetLastError());
        time_.stop(stream);
        published_notes found = {};
        check(cudaMemcpyAsync(&found, found_.get(), sizeof found, cudaMemcpyDeviceToHost,
                              stream));
        check(cudaStreamSynchronize(stream));
        notes_->unmatched += found.unmatched;
        notes_->miscounted += found.miscounted;
        notes_->published_seconds += time_.seconds();
    }
public:
    mtpe(machines &shared, uint32_t forced, bool published,
         strategy_notes *notes)
        : machines_(shared), forced_(forced), published_(published), notes_(notes) {}

    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        check_size(batch.size);
        machine_input in = machines_.input(stream);
        std::vector<segment> cuts = cut_segments(machines_.host.recording,
                                                 span(batch.size),
                                                 wanted(batch, 1, LEAD_SPANS));
        uint32_t n_segments = (uint32_t) cuts.size();
        segments_.upload(cuts.data(), cuts.size(), stream);
        size_t cells = (size_t) n_segments * batch.n;
        entry_.ensure(cells);
        exit_.ensure(cells);
        count_.ensure(cells);
        segment_counts counts = {entry_.get(), exit_.get(), count_.get()};
        dim3 block = block_for(cells, machines_.host.processors);
        dim3 grid = grid_for(batch.n, block, n_segments);
        size_t near = machines_.near(batch.size, block);
        size_t threads = (size_t) grid.x * block.x;
        uint32_t *waiting = machines_.waiting(
            batch.size, threads * (near ? 2 : std::max(n_segments, 2u)));
        with_room(batch.size, [&](auto room) {
            count_segments<decltype(room)::value><<<grid, block, near, stream>>>(
                in, batch, segments_.get(), counts, near ? nullptr : waiting);
        });
        check(cudaGetLastError());
        with_some_room(batch.size, [&](auto room) {
            stitch_segments<decltype(room)::value><<<dim3(grid.x), block, 0, stream>>>(
                in, batch, segments_.get(), n_segments, counts, waiting);
        });
        check(cudaGetLastError());
        notes_->segmented += batch.n;
        notes_->capacity = machines_.capacity(batch.size);
        if (published_)
            merge_as_published(in, batch, stream);
    }
};

/* MTPE while the episodes are too few to fill the device, S < MP * B_MP * T_B * f(N) with
   f(N) = a / N + b, then PTPE. */
class hybrid final : public strategy {
    machines &machines_;
    ptpe many_;
    mtpe few_;
    double a_, b_;
public:
    hybrid(machines &shared, double a, double b, uint32_t forced,
           bool published, strategy_notes *notes)
        : machines_(shared), many_(shared, notes),
          few_(shared, forced, published, notes), a_(a), b_(b) {}

    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        check_size(batch.size);
        double share = a_ / batch.size + b_;
        if (batch.n < share * (double) machines_.capacity(batch.size))
            few_.count(batch, stream);
        else
            many_.count(batch, stream);
    }
};

/* PreElim, then hybrid for those that may be frequent. */
class two_pass final : public strategy {
    machines &machines_;
    hybrid second_;
    strategy_notes *notes_;
    array<uint32_t> may_be_, place_, unit_, interval_, found_;
    array<uint8_t> scratch_;

    /* How many may be frequent, and the place of each among them. */
    uint32_t number_survivors(uint32_t n, cudaStream_t stream)
    {
        size_t bytes = 0;
        check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, may_be_.get(), place_.get(),
                                            (int) n + 1, stream));
        scratch_.ensure(bytes);
        check(cub::DeviceScan::ExclusiveSum(scratch_.get(), bytes, may_be_.get(),
                                            place_.get(), (int) n + 1, stream));
        uint32_t kept = 0;
        check(cudaMemcpyAsync(&kept, place_.get() + n, sizeof kept,
                              cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        return kept;
    }
public:
    two_pass(machines &shared, double a, double b, uint32_t forced,
             bool published, strategy_notes *notes)
        : machines_(shared), second_(shared, a, b, forced, published, notes),
          notes_(notes) {}

    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        check_size(batch.size);
        machine_input in = machines_.input(stream);
        dim3 block = block_for(batch.n, machines_.host.processors);
        dim3 grid = grid_for(batch.n, block);
        may_be_.ensure((size_t) batch.n + 1);
        place_.ensure((size_t) batch.n + 1);
        check(cudaMemsetAsync(may_be_.get() + batch.n, 0, sizeof(uint32_t), stream));
        with_room(batch.size, [&](auto room) {
            bound_counts<decltype(room)::value><<<grid, block, 0, stream>>>(
                in, batch, machines_.host.min_count, may_be_.get());
        });
        check(cudaGetLastError());
        uint32_t kept = number_survivors(batch.n, stream);
        found_.ensure(kept);
        if (kept > 0) {
            unit_.ensure((size_t) batch.size * kept);
            interval_.ensure((size_t) (batch.size - 1) * kept);
            gather_survivors<<<grid, block, 0, stream>>>(batch, may_be_.get(),
                                                         place_.get(), kept, unit_.get(),
                                                         interval_.get());
            check(cudaGetLastError());
            second_.count({batch.size, kept, unit_.get(), interval_.get(), found_.get(),
                           batch.stop}, stream);
        }
        scatter_counts<<<grid, block, 0, stream>>>(batch, may_be_.get(), place_.get(),
                                                   found_.get());
        check(cudaGetLastError());
        notes_->eliminated += batch.n - kept;
    }
};

}  // namespace gpu

#endif
