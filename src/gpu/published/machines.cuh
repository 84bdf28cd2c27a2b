/* The published strategies that run state machines, for one device. */
#pragma once

#include "gpu/base/launch.cuh"
#include "gpu/published/machine.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace gpu {

constexpr unsigned THREADS = 128;  /* of a block, T_B in the paper */
constexpr size_t NEAR = 24576;     /* bytes of lists a block may hold itself: more would
                                      leave room for fewer blocks */

/* ---- how long lists have to be, and where to cut a recording ---- */

/* Spans of a segment's lead: most machines have fallen in with the true one by then. */
constexpr int64_t LEAD_SPANS = 4;

/* Slots of a waiting list: a power of two, and no fewer than any unit has events within
   an interval that is `longest` at most, both ends included. */
inline uint32_t slots_of(const syn_recording *r, int64_t longest)
{
    uint32_t most = 1, slots = 1;
    for (uint32_t u = 0; u < r->units; u++) {
        const uint32_t *event = r->by_unit;
        for (uint32_t i = r->first[u], oldest = i; i < r->first[u + 1]; i++) {
            while (r->tick[event[i]] - r->tick[event[oldest]] > longest)
                oldest++;
            most = std::max(most, i - oldest + 1);
        }
    }
    while (slots < most)
        slots *= 2;
    return slots;
}

/* At most `wanted` segments of about the same number of events, cut between ticks, for
   episodes that span at most `span` ticks. There is at least one event. */
inline std::vector<segment> cut_segments(const syn_recording *r, int64_t span,
                                         uint32_t wanted)
{
    std::vector<segment> out;
    auto event_from = [r](int64_t tick) { return first_from(r->tick, r->events, tick); };
    for (uint32_t s = 0; s < wanted; s++) {
        uint32_t begin = r->group[(uint64_t) s * r->events / wanted];
        if (!out.empty() && begin == out.back().begin)
            continue;
        int64_t tick = r->tick[begin];
        out.push_back({event_from(tick - LEAD_SPANS * span), event_from(tick - span),
                       begin, r->events, r->events});
    }
    out[0].lead = out[0].reach = 0;
    for (size_t s = 1; s < out.size(); s++) {
        out[s - 1].end = out[s].begin;
        out[s - 1].beyond = event_from(r->tick[out[s].begin] + span);
    }
    return out;
}

/* Calls `run` with the number of events that machines for episodes of `size` are made
   for. */
template <class F> void with_room(uint32_t size, F run)
{
    with_number<2, 3, 4, 5, 6, 7, 8, 16, SYN_GPU_SIZES>(size, run);
}

/* ---- counting ---- */

class machine_counter final : public strategy {
    enum { MOST = 1000, FEWEST_EVENTS = 64 };  /* segments; events of one */

    const strategy_task &task_;
    const size_t processors_;
    cudaStream_t stream_ = nullptr;  /* that of the batch being counted */
    machine_input in_;
    int64_t longest_ = 0;  /* upper bound of any interval */
    array<uint32_t> waiting_;
    array<unsigned char> scratch_;
    stopwatch time_;
    arrays own_;  /* of the pointers that follow */
    uint2 *window_ = nullptr;
    const segment *segments_ = nullptr;
    segment_counts counts_ = {};
    published_tuples tuples_ = {};
    published_notes *found_ = nullptr;
    uint32_t *chosen_ = nullptr, *n_chosen_ = nullptr;

    /* Done at the first count. */
    void find_windows()
    {
        if (in_.window)
            return;
        own_.ensure(&window_, (size_t) in_.events * in_.intervals);
        dim3 blocks(blocks_for(in_.events, THREADS), most_of_grid(in_.intervals));
        launch(find_machine_windows, {blocks, THREADS}, stream_, in_, window_);
        in_.window = window_;
    }

    /* A thread a candidate, in each of some parts. Few are spread over all
       multiprocessors in blocks of one warp. */
    grid grid_of(uint32_t n, uint32_t parts = 1) const
    {
        bool few = (size_t) n * parts < processors_ * 8 * THREADS;
        unsigned threads = few ? 32 : THREADS;
        return {dim3(blocks_for(n, threads), parts), threads};
    }

    size_t slots(uint32_t size) const { return (size_t) (size - 1) * in_.slots; }

    /* The lists of all threads of a launch, of so many machines each; or null, where
       these are so short that blocks get memory of their own for them. */
    uint32_t *lists(uint32_t size, grid *g, size_t machines = 1)
    {
        size_t of_thread = machines * slots(size);
        g->shared = g->threads.x * of_thread * sizeof(uint32_t);
        if (g->shared <= NEAR)
            return nullptr;
        g->shared = 0;
        waiting_.ensure((size_t) g->blocks.x * g->blocks.y * g->threads.x * of_thread);
        return waiting_.get();
    }

    /* Threads of PTPE that the device runs at a time: MP * B_MP * T_B. */
    size_t capacity(uint32_t size) const
    {
        int blocks = 0;
        with_room(size, [&](auto room) {
            check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, count_whole<decltype(room)::value>, (int) THREADS, 0));
        });
        return processors_ * std::max(blocks, 1) * THREADS;
    }

    /* PTPE. */
    void count_by_threads(const strategy_batch &batch)
    {
        grid g = grid_of(batch.n);
        uint32_t *waiting = lists(batch.size, &g);
        with_room(batch.size, [&](auto room) {
            launch(count_whole<decltype(room)::value>, g, stream_, in_, batch, waiting);
        });
    }

    /* Cuts the recording into as many segments as fill the device and fit in its memory,
       where each has so many machines, which start so many spans before it. Leads are
       read twice, so that segments should be a good deal longer. Returns how many. */
    uint32_t cut(const strategy_batch &batch, uint32_t machines_each, int64_t lead_spans)
    {
        const syn_recording *r = task_.recording;
        int64_t span = longest_ * (batch.size - 1);
        double ticks = (double) (r->tick[r->events - 1] - r->tick[0]) + 1;
        double lead = lead_spans * (double) span * r->events / ticks;
        double most = (double) r->events / std::max<double>(2 * lead, FEWEST_EVENTS);
        double threads = (double) ((batch.n + 31) / 32 * 32) * machines_each;
        size_t of_lists = (free_memory() / 2 + waiting_.bytes()) /
                          (slots(batch.size) * sizeof(uint32_t));
        double fill = (double) notes.capacity / threads;
        double room = (double) of_lists / threads;
        double wanted = std::max(std::min({most, fill, room, (double) MOST}), 1.0);
        if (task_.options.segments)
            wanted = std::min<uint32_t>(task_.options.segments, MOST);
        std::vector<segment> cuts = cut_segments(r, span, (uint32_t) wanted);
        own_.upload(&segments_, cuts, stream_);
        return (uint32_t) cuts.size();
    }

    /* MTPE. */
    void count_by_segments(const strategy_batch &batch)
    {
        uint32_t n = cut(batch, 1, LEAD_SPANS);
        own_.ensure_all((size_t) n * batch.n, &counts_.entry, &counts_.exit,
                        &counts_.count);
        grid g = grid_of(batch.n, n), one = {dim3(g.blocks.x), g.threads};
        uint32_t *waiting = lists(batch.size, &g);
        with_room(batch.size, [&](auto room) {
            launch(count_segments<decltype(room)::value>, g, stream_, in_, batch,
                   segments_, counts_, waiting);
        });
        waiting = lists(batch.size, &one, 2);
        /* This is run little, and so made in fewer versions. */
        with_number<4, 8, SYN_GPU_SIZES>(batch.size, [&](auto room) {
            launch(stitch_segments<decltype(room)::value>, one, stream_, in_, batch,
                   segments_, n, counts_, waiting);
        });
        notes.segmented += batch.n;
        if (task_.options.published)
            merge_as_published(batch);
    }

    /* Counts once more as published: as many machines for a segment as an episode has
       units, and segments for as many machines as fill the device. */
    void merge_as_published(const strategy_batch &batch)
    {
        time_.start(stream_);
        uint32_t n = cut(batch, batch.size, 1);
        own_.ensure_all((size_t) n * batch.size * batch.n, &tuples_.a, &tuples_.b,
                        &tuples_.count);
        own_.ensure_clear(&found_, 1, stream_);
        grid g = grid_of(batch.n, n * batch.size), one = {dim3(g.blocks.x), g.threads};
        uint32_t *waiting = lists(batch.size, &g);
        with_room(batch.size, [&](auto room) {
            launch(run_published<decltype(room)::value>, g, stream_, in_, batch,
                   segments_, longest_, tuples_, waiting);
        });
        for (uint32_t apart = 1; apart < n; apart *= 2) {
            uint32_t pairs = (n - apart + 2 * apart - 1) / (2 * apart);
            grid all = {dim3(g.blocks.x, pairs * batch.size), g.threads};
            launch(concatenate_published, all, stream_, batch, apart, tuples_);
        }
        launch(judge_published, one, stream_, batch, tuples_, found_);
        time_.stop(stream_);
        published_notes found = {};
        download(&found, found_, 1, stream_);
        wait_for(stream_);
        notes.unmatched += found.unmatched;
        notes.miscounted += found.miscounted;
        notes.published_seconds += time_.seconds();
    }

    /* Hybrid: MTPE while the episodes are too few to fill the device, S < MP * B_MP * T_B
       * f(N) with f(N) = a / N + b, then PTPE. */
    void count_by_number(const strategy_batch &batch)
    {
        double share = task_.options.a / batch.size + task_.options.b;
        if (batch.n < share * (double) notes.capacity)
            count_by_segments(batch);
        else
            count_by_threads(batch);
    }

    /* PreElim, then hybrid for those that may be frequent; the others count as 0. */
    void count_in_two_passes(const strategy_batch &batch)
    {
        strategy_batch left = batch;
        own_.ensure(&chosen_, batch.n);
        own_.ensure(&n_chosen_, 1);
        with_room(batch.size, [&](auto room) {
            launch(bound_counts<decltype(room)::value>, grid_of(batch.n), stream_, in_,
                   batch);
        });
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            thrust::counting_iterator<uint32_t> all(0);
            may_reach enough = {batch.count, task_.options.min_count};
            return cub::DeviceSelect::If(memory, bytes, all, chosen_, n_chosen_,
                                         (int) batch.n, enough, stream_);
        });
        download(&left.n, n_chosen_, 1, stream_);
        fill(batch.count, 0, batch.n, stream_);
        wait_for(stream_);
        left.chosen = chosen_;
        if (left.n > 0)
            count_by_number(left);
        notes.eliminated += batch.n - left.n;
    }
public:
    machine_counter(const strategy_task &task, const strategy_events &events,
                    int processors)
        : task_(task), processors_((size_t) processors), in_{events, nullptr, 0}
    {
        for (uint32_t k = 0; k < task.n_intervals; k++)
            longest_ = std::max(longest_, task.intervals[k].high);
        in_.slots = slots_of(task.recording, longest_);
    }

    /* Machines keep what they know in registers up to this many events an episode, and
       can count no longer ones. */
    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        if (batch.size > SYN_GPU_SIZES)
            throw refusal(SYN_TOO_LARGE,
                          "this engine counts episodes of up to %d units, not of %u",
                          (int) SYN_GPU_SIZES, batch.size);
        stream_ = stream;
        find_windows();
        notes.capacity = capacity(batch.size);
        switch (task_.options.strategy) {
        case SYN_GPU_PTPE: return count_by_threads(batch);
        case SYN_GPU_MTPE: return count_by_segments(batch);
        case SYN_GPU_HYBRID: return count_by_number(batch);
        default: count_in_two_passes(batch);
        }
    }
};

}  // namespace gpu
