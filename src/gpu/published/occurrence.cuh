/* The occurrence strategy (Feng et al., "Temporal Data Mining for Neuroscience", 2011):
   a thread per partial occurrence, which it lengthens by one event. Here is its host:
   groups of candidates whose lists fit in memory, all candidates of a group one event
   further per step.

   With `dedup`, of the partial occurrences of a candidate that end at one event only
   the one with the latest start is kept, which is enough for the count; without, all
   are, as published. The lists take at most half of the memory that is free on the
   device. */
#pragma once

#include "core/base/radix.h"
#include "gpu/base/launch.cuh"
#include "gpu/published/partial.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace gpu {

constexpr size_t FIRST_ROOM = (size_t) 1 << 16;  /* entries of a list, to begin with */
constexpr size_t USUAL_ROOM = (size_t) 1 << 24;  /* fills any device, and is kept */
constexpr size_t MOST_ROOM = (size_t) 1 << 30;   /* what CUB and thread numbers allow */
constexpr size_t MOST_CANDIDATES = (size_t) 1 << 26;  /* of a group, a warp each */
constexpr uint32_t WIDTH = 8;  /* places of a thread in a sparse array, to begin with */
constexpr size_t MOST_PLACES = INT32_MAX - 1;  /* what can be summed */

/* A sum that stays at the largest number once it gets there: more than that is too many
   anyway. */
struct capped_sum {
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const
    {
        uint32_t sum = a + b;
        return sum < a ? UINT32_MAX : sum;
    }
};

struct later {
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const
    {
        return a > b ? a : b;
    }
};

/* Thrown where the host wants the counting to end. */
struct stopped {};

class occurrences final : public strategy {
    enum { EACH = 256 };  /* threads of a block */

    const strategy_events events_;
    const int compaction_;
    const bool dedup_;
    const uint32_t shift_;
    size_t room_ = 0, most_room_ = 0;  /* entries of a list: now, and ever */

    arrays own_;  /* of the pointers that follow */
    row_view rows_ = {};
    partial_list list_[2] = {};
    int now_ = 0;     /* which of the two lists is read */
    uint32_t n_ = 0;  /* its length */
    uint32_t *offset_ = nullptr;  /* in the list to be written, of each thread's finds */
    uint32_t *place_ = nullptr;   /* the sparse array, or where a thread's finds begin */
    size_t width_ = WIDTH;    /* places of a thread in the sparse array */
    unsigned long long *first_ = nullptr;
    step_result *result_ = nullptr;
    array<unsigned char> scratch_;
    pinned<step_result> seen_{1};

    cudaStream_t stream_ = nullptr;   /* those of the batch being counted */
    const uint32_t *stop_ = nullptr;

    /* A thread for each of n things. */
    template <class KERNEL, class... ARGUMENTS>
    void start(KERNEL kernel, size_t n, const ARGUMENTS &...with)
    {
        launch(kernel, over(n, EACH), stream_, with...);
    }

    /* What threads find goes to the next list in the order of the threads. */
    bool keeps_order() const
    {
        return compaction_ != SYN_GPU_ONE_COUNTER &&
               compaction_ != SYN_GPU_ATOMIC_COMPACT;
    }

    /* Words of `offset_` for each entry that a list has room for. `place_` has as many,
       unless every thread searches twice. */
    size_t offsets_each() const
    {
        return !keeps_order() ? 0 : compaction_ == SYN_GPU_CUDPP_COMPACT ? WIDTH : 1;
    }

    size_t places() const { return std::min(room_ * offsets_each(), MOST_PLACES); }

    bool searches_once() const { return compaction_ != SYN_GPU_COUNT_SCAN_WRITE; }

    /* Device memory for each entry that a list has room for, a byte of it for CUB. */
    size_t entry_bytes() const
    {
        return 2 * (sizeof(unsigned long long) + sizeof(uint32_t)) + 1 +
               offsets_each() * (1 + searches_once()) * sizeof(uint32_t);
    }

    /* Done at the first count: only then is everything on the device for certain. */
    void prepare()
    {
        size_t own = events_.events * (sizeof(int64_t) + sizeof(uint32_t));
        size_t half = free_memory() / 2;
        half = half > own ? half - own : 0;
        most_room_ = std::max<size_t>(std::min(half / entry_bytes(), MOST_ROOM), 1);
        own_.ensure_all(events_.events, &rows_.tick, &rows_.start);
        start(order_rows, events_.events, events_, rows_);
        own_.ensure_clear(&result_, 1, stream_);
    }

    /* Makes the lists larger; what they held is lost. Other programs may have taken the
       memory that was free: then half of it is tried, and so on. */
    void make_room(size_t room)
    {
        room_ = std::min(room, most_room_);
        for (;; room_ = most_room_ = room_ / 2) {
            try {
                for (partial_list &one : list_)
                    own_.ensure_all(room_, &one.key, &one.other);
                own_.ensure(&offset_, places() + 1);
                own_.ensure(&place_, searches_once() ? places() + 1 : 1);
                return;
            } catch (const failure &why) {
                if (why.error != cudaErrorMemoryAllocation || room_ < FIRST_ROOM)
                    throw;
            }
        }
    }

    /* Whether occurrences are tracked back from their last events, as the published ways
       do that keep the order of the threads, so that they come in the order of their ends
       and are never sorted. With `dedup` they do so from their first events, too. */
    bool goes_back(const strategy_batch &batch) const
    {
        return keeps_order() && !dedup_ && batch.size > 1;
    }

    const uint32_t *begun_with(const strategy_batch &batch) const
    {
        return batch.unit + (goes_back(batch) ? (size_t) (batch.size - 1) * batch.n : 0);
    }

    /* Where each candidate's part of the first list would begin if all were in one
       list. */
    std::vector<unsigned long long> measure(const strategy_batch &batch)
    {
        size_t n = (size_t) batch.n + 1;
        own_.ensure(&first_, n);
        start(measure_begun, n, events_.first, begun_with(batch), batch.n, first_);
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(memory, bytes, first_, first_, (int) n,
                                                 stream_);
        });
        std::vector<unsigned long long> offset(n);
        download(offset.data(), first_, n, stream_);
        wait_for(stream_);
        return offset;
    }

    /* offset_[i] = the sum of the counts before i; the last one, of n + 1, is all that
       was found. */
    template <typename Counts>
    void scan(Counts count, size_t n)
    {
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceScan::ExclusiveScan(memory, bytes, count, offset_,
                                                  capped_sum(), 0u, (int) n + 1, stream_);
        });
        check(cudaMemcpyAsync(&result_->scanned, offset_ + n, sizeof *offset_,
                              cudaMemcpyDeviceToDevice, stream_));
    }

    /* Waits for what the step has found. */
    step_result look()
    {
        check(cudaMemcpyAsync(&result_->stop, stop_, sizeof *stop_,
                              cudaMemcpyDeviceToDevice, stream_));
        download(seen_.get(), result_, 1, stream_);
        wait_for(stream_);
        if (seen_.get()->stop)
            throw stopped{};
        return *seen_.get();
    }

    size_t extend_by_counters(const step_job &job)
    {
        fill(&result_->reserved, 0, 1, stream_);
        start(compaction_ == SYN_GPU_ONE_COUNTER ? extend_by_counter<false>
                                                 : extend_by_counter<true>,
              n_, job, list_[1 - now_], room_, &result_->reserved);
        return look().reserved;
    }

    /* Starts again with more places for each thread when one has found more than it has
       places for. */
    size_t extend_by_cudpp_compact(const step_job &job)
    {
        size_t widest = places() / n_;
        step_result seen = {};
        for (size_t width = std::min(widest, width_); width <= widest;
             width = seen.most) {
            size_t filled = n_ * width;
            width_ = std::max(width_, width);
            fill(&result_->most, 0, 1, stream_);
            start(extend_sparse, (size_t) n_ + 1, job, (uint32_t) width, place_,
                  &result_->most);
            scan(thrust::make_transform_iterator(place_, is_filled()), filled);
            seen = look();
            if (seen.scanned > room_)
                return seen.scanned;
            if (seen.most <= width) {
                start(pack_sparse, filled, job, (uint32_t) width, offset_, place_,
                      list_[1 - now_]);
                return seen.scanned;
            }
        }
        return room_ + 1;  /* not all of it, but more than fits */
    }

    /* Searches, and then writes what was found, or what a second search finds. */
    size_t extend_by_counts(const step_job &job)
    {
        uint32_t *begin = searches_once() ? place_ : nullptr;
        start(find_longer, (size_t) n_ + 1, job, offset_, begin);
        scan(offset_, n_);
        size_t found = look().scanned;
        if (found <= room_)
            start(write_found, n_, job, offset_, begin, list_[1 - now_]);
        return found;
    }

    /* Lengthens all partial occurrences of a list by one event, and writes them to the
       other list unless they are more than room_. Returns how many there are. */
    size_t extend(const step_job &job)
    {
        switch (compaction_) {
        case SYN_GPU_COUNT_ONCE:
        case SYN_GPU_COUNT_SCAN_WRITE: return extend_by_counts(job);
        case SYN_GPU_CUDPP_COMPACT: return extend_by_cudpp_compact(job);
        default: return extend_by_counters(job);
        }
    }

    /* All steps, for candidates whose first list is made. Returns 0, or the length of the
       first list that does not fit. With `dedup` every step needs its list in order. */
    size_t lengthen(const strategy_batch &batch, size_t begin, size_t candidates)
    {
        bool back = goes_back(batch);
        for (size_t step = 1; step < batch.size && n_ > 0; step++) {
            size_t unit = back ? batch.size - 1 - step : step;
            size_t interval = back ? unit : step - 1;
            step_job job = {events_.first, events_.bounds, rows_, list_[now_], n_, shift_,
                            batch.unit + unit * batch.n + begin,
                            batch.interval + interval * batch.n + begin, dedup_, back};
            size_t found = extend(job);
            if (found > room_)
                return found;
            now_ = 1 - now_;
            n_ = (uint32_t) found;
            if (dedup_ && !keeps_order() && n_ > 0)
                sort(candidates);
        }
        return 0;
    }

    /* By candidate, then by end; the list that is not read gives the room. */
    void sort(size_t candidates)
    {
        partial_list &here = list_[now_], &there = list_[1 - now_];
        cub::DoubleBuffer<unsigned long long> keys(here.key, there.key);
        cub::DoubleBuffer<uint32_t> starts(here.other, there.other);
        int bits = (int) shift_ + syn_radix_bits(candidates);
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, starts, (int) n_,
                                                   0, bits, stream_);
        });
        if (keys.selector == 1)
            now_ = 1 - now_;
    }

    /* Of those in an ordered list that have the same end, only the one with the latest
       start can be the first to be taken. One warp goes through them all: better few
       than many. */
    void thin(bool back)
    {
        partial_list to = list_[1 - now_];
        key_by_end by_end = {list_[now_], shift_, back ? rows_.start : nullptr};
        thrust::counting_iterator<uint32_t> all(0);
        auto keys = thrust::make_transform_iterator(all, by_end);
        auto starts = thrust::make_transform_iterator(all, start_of{by_end});
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceReduce::ReduceByKey(memory, bytes, keys, to.key, starts,
                                                  to.other, &result_->scanned, later(),
                                                  (int) n_, stream_);
        });
        n_ = look().scanned;
        now_ = 1 - now_;
    }

    /* Counts the candidates begin .. end - 1, with n partial occurrences to begin with.
       Returns 0, or the length of the first list that does not fit. */
    size_t count_group(const strategy_batch &batch, size_t begin, size_t end,
                                    size_t n)
    {
        if (n > room_)
            return n;
        size_t candidates = end - begin;
        bool back = goes_back(batch);
        n_ = (uint32_t) n;
        launch(begin_lists, {(unsigned) candidates, EACH}, stream_, events_.first,
               begun_with(batch) + begin, rows_, first_ + begin, shift_, back,
               list_[now_]);
        size_t needed = lengthen(batch, begin, candidates);
        if (needed > 0)
            return needed;
        if (!dedup_ && n_ > 0) {
            if (!back && batch.size > 1)
                sort(candidates);
            thin(back);
        }
        take_job job = {events_.by_unit, list_[now_], n_, shift_, (uint32_t) candidates,
                        batch.count + begin, batch.stop};
        start(take_disjoint, candidates * WARP, job);
        return 0;
    }

    /* Groups that do not fit get more room up to what is usual, and are halved then; they
       grow again slowly. More than usual is for single candidates. */
    void count_groups(const strategy_batch &batch,
                                   const std::vector<unsigned long long> &offset)
    {
        size_t wanted = std::max<size_t>(offset[batch.n], FIRST_ROOM);
        make_room(std::max(room_, std::min(wanted, USUAL_ROOM)));
        size_t most = MOST_CANDIDATES;
        for (size_t begin = 0, end; begin < batch.n;) {
            auto above = std::upper_bound(offset.begin() + begin + 1, offset.end(),
                                          offset[begin] + room_);
            end = (size_t) (above - offset.begin()) - 1;
            end = std::max(std::min(end, begin + most), begin + 1);
            bool alone = end - begin == 1;
            size_t limit = alone ? most_room_ : std::min(most_room_, USUAL_ROOM);
            size_t needed = count_group(batch, begin, end, offset[end] - offset[begin]);
            if (needed == 0) {
                begin = end;
                most = std::min(most + most / 8 + 1, MOST_CANDIDATES);
            } else if (!alone && room_ >= limit) {
                most = (end - begin) / 2;
            } else if (needed > limit && alone) {
                throw refusal(dedup_ ? SYN_NO_MEMORY : SYN_TOO_LARGE,
                              "an episode of %u events has more than the %zu partial "
                              "occurrences that the device has room for%s",
                              batch.size, limit,
                              dedup_ ? "" : "; `dedup = TRUE` keeps fewer");
            } else {
                make_room(std::min(std::max(needed, 2 * room_), limit));
            }
        }
    }
public:
    occurrences(const strategy_task &task, const strategy_events &events)
        : events_(events), compaction_(task.options.compaction),
          dedup_(task.options.dedup != 0),
          shift_((uint32_t) syn_radix_bits(events.events))
    {
    }

    void count(const strategy_batch &batch, cudaStream_t stream) override
    {
        stream_ = stream;
        stop_ = (const uint32_t *) batch.stop;
        if (most_room_ == 0)
            prepare();
        try {
            count_groups(batch, measure(batch));
        } catch (const stopped &) {
            /* whoever set `stop` knows that the counts are not filled */
        }
    }
};

}  // namespace gpu
