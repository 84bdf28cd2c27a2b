/* The occurrence strategy's host: groups of candidates whose lists fit in memory, all
   candidates of a group one event further per step. */
#include "gpu/published/occurrence.cuh"

#include "core/base/radix.h"
#include "gpu/base/device.cuh"
#include "gpu/episodes/results.cuh"
#include "gpu/published/occurrence_compaction.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <vector>

namespace gpu {
namespace {

constexpr unsigned THREADS = 256;
constexpr size_t FIRST_ROOM = (size_t) 1 << 16;  /* entries of a list, to begin with */
constexpr size_t USUAL_ROOM = (size_t) 1 << 24;  /* fills any device, and is kept */
constexpr size_t MOST_ROOM = (size_t) 1 << 30;   /* what CUB and thread numbers allow */
constexpr size_t MOST_CANDIDATES = (size_t) 1 << 26;  /* of a group, a warp each */
constexpr uint32_t WIDTH = 8;  /* places of a thread in a sparse array, to begin with */
constexpr size_t MOST_PLACES = INT32_MAX - 1;  /* what can be summed */

unsigned blocks_of(size_t threads)
{
    return (unsigned) std::max<size_t>((threads + THREADS - 1) / THREADS, 1);
}

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

struct stopped {};

class occurrences final : public strategy {
    const strategy_events events_;
    const int compaction_;
    const bool dedup_;
    const uint32_t shift_;
    size_t room_ = 0, most_room_ = 0;  /* entries of a list: now, and ever */

    array<int64_t> row_tick_;
    array<uint32_t> row_start_;
    array<unsigned long long> key_[2];
    array<uint32_t> other_[2];
    int now_ = 0;     /* which of the two lists is read */
    uint32_t n_ = 0;  /* its length */
    array<uint32_t> offset_;  /* in the list to be written, of what each thread found */
    array<uint32_t> place_;   /* the sparse array, or where what a thread found begins */
    size_t width_ = WIDTH;    /* places of a thread in the sparse array */
    array<unsigned long long> first_;
    array<step_result> result_;
    array<uint8_t> scratch_;
    pinned<step_result> seen_{1};

    cudaStream_t stream_ = nullptr;   /* those of the batch being counted */
    const uint32_t *stop_ = nullptr;

    bool keeps_order() const;
    size_t entry_bytes() const;
    size_t places() const { return std::min(room_ * WIDTH, MOST_PLACES); }
    row_view rows() const { return {row_tick_.get(), row_start_.get()}; }
    partial_list list(int which) const
    {
        return {key_[which].get(), other_[which].get()};
    }
    void prepare();
    void allocate();
    void make_room(size_t room);
    bool goes_back(const strategy_batch &batch) const;
    const uint32_t *begun_with(const strategy_batch &batch) const;
    std::vector<unsigned long long> measure(const strategy_batch &batch);
    template <typename Counts> void scan(Counts count, size_t n);
    step_result look();
    size_t extend_by_counters(const step_job &job);
    size_t extend_by_sparse_scan(const step_job &job);
    size_t extend_by_counting(const step_job &job);
    size_t extend_in_order(const step_job &job);
    size_t extend(const step_job &job);
    size_t lengthen(const strategy_batch &batch, size_t begin, size_t candidates);
    void sort(size_t candidates);
    template <typename Keys, typename Starts> void keep_latest(Keys keys, Starts starts);
    void thin(bool back);
    size_t count_group(const strategy_batch &batch, size_t begin, size_t end, size_t n);
    void count_groups(const strategy_batch &batch,
                      const std::vector<unsigned long long> &offset);
public:
    occurrences(const strategy_events &events, int compaction, bool dedup)
        : events_(events), compaction_(compaction), dedup_(dedup),
          shift_((uint32_t) syn_radix_bits(events.n))
    {
    }
    void count(const strategy_batch &batch, cudaStream_t stream) override;
};

/* What threads find goes to the next list in the order of the threads. */
bool occurrences::keeps_order() const
{
    return compaction_ != SYN_GPU_ONE_COUNTER && compaction_ != SYN_GPU_BLOCK_COUNTERS;
}

/* Device memory for each entry that a list has room for, a byte of it for CUB. */
size_t occurrences::entry_bytes() const
{
    size_t lists = 2 * (sizeof(unsigned long long) + sizeof(uint32_t)) + 1;
    switch (compaction_) {
    case SYN_GPU_IN_ORDER: return lists + 2 * sizeof(uint32_t);
    case SYN_GPU_SPARSE_SCAN: return lists + 2 * WIDTH * sizeof(uint32_t);
    case SYN_GPU_COUNT_SCAN_WRITE: return lists + sizeof(uint32_t);
    default: return lists;
    }
}

/* Done at the first count: only then is everything on the device for certain. */
void occurrences::prepare()
{
    size_t own = events_.n * (sizeof(int64_t) + sizeof(uint32_t));
    size_t half = gpu::free_memory() / 2;
    half = half > own ? half - own : 0;
    most_room_ = std::max<size_t>(std::min(half / entry_bytes(), MOST_ROOM), 1);
    row_tick_.ensure(events_.n);
    row_start_.ensure(events_.n);
    order_rows<<<blocks_of(events_.n), THREADS, 0, stream_>>>(events_, rows());
    check(cudaGetLastError());
    result_.ensure(1);
    check(cudaMemsetAsync(result_.get(), 0, sizeof(step_result), stream_));
}

void occurrences::allocate()
{
    for (int i = 0; i < 2; i++) {
        key_[i].ensure(room_);
        other_[i].ensure(room_);
    }
    if (!keeps_order())
        return;
    bool sparse = compaction_ == SYN_GPU_SPARSE_SCAN;
    offset_.ensure((sparse ? places() : room_) + 1);
    if (sparse)
        place_.ensure(places() + 1);
    else if (compaction_ == SYN_GPU_IN_ORDER)
        place_.ensure(room_);
}

/* Makes the lists larger; what they held is lost. Other programs may have taken the
   memory that was free: then half of it is tried, and so on. */
void occurrences::make_room(size_t room)
{
    room_ = std::min(room, most_room_);
    for (;; room_ = most_room_ = room_ / 2) {
        try {
            return allocate();
        } catch (const failure &why) {
            if (why.error != cudaErrorMemoryAllocation || room_ < FIRST_ROOM)
                throw;
        }
    }
}

/* Whether occurrences are tracked back from their last events, so that they come in the
   order of their ends. With `dedup` they do so from their first events, too. */
bool occurrences::goes_back(const strategy_batch &batch) const
{
    return compaction_ == SYN_GPU_IN_ORDER && !dedup_ && batch.size > 1;
}

const uint32_t *occurrences::begun_with(const strategy_batch &batch) const
{
    return batch.unit + (goes_back(batch) ? (size_t) (batch.size - 1) * batch.n : 0);
}

/* Where each candidate's part of the first list would begin if all were in one list. */
std::vector<unsigned long long> occurrences::measure(const strategy_batch &batch)
{
    size_t n = (size_t) batch.n + 1, bytes = 0;
    first_.ensure(n);
    unsigned long long *first = first_.get();
    measure_begun<<<blocks_of(n), THREADS, 0, stream_>>>(events_.first, begun_with(batch),
                                                         batch.n, first);
    check(cudaGetLastError());
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, first, first, (int) n, stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceScan::ExclusiveSum(scratch_.get(), bytes, first, first, (int) n,
                                        stream_));
    std::vector<unsigned long long> offset(n);
    check(cudaMemcpyAsync(offset.data(), first, n * sizeof offset[0],
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    return offset;
}

/* offset_[i] = the sum of the counts before i; the last one, of n + 1, is all that was
   found. */
template <typename Counts>
void occurrences::scan(Counts count, size_t n)
{
    uint32_t *offset = offset_.get(), zero = 0;
    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveScan(nullptr, bytes, count, offset, capped_sum(),
                                         zero, (int) n + 1, stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceScan::ExclusiveScan(scratch_.get(), bytes, count, offset,
                                         capped_sum(), zero, (int) n + 1, stream_));
    check(cudaMemcpyAsync(&result_.get()->scanned, offset + n, sizeof *offset,
                          cudaMemcpyDeviceToDevice, stream_));
}

/* Waits for what the step has found. */
step_result occurrences::look()
{
    check(cudaMemcpyAsync(&result_.get()->stop, stop_, sizeof *stop_, cudaMemcpyDefault,
                          stream_));
    check(cudaMemcpyAsync(seen_.get(), result_.get(), sizeof(step_result),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    if (seen_.get()->stop)
        throw stopped{};
    return *seen_.get();
}

size_t occurrences::extend_by_counters(const step_job &job)
{
    unsigned long long *reserved = &result_.get()->reserved;
    check(cudaMemsetAsync(reserved, 0, sizeof *reserved, stream_));
    auto kernel = compaction_ == SYN_GPU_ONE_COUNTER ? extend_by_counter
                                                     : extend_by_blocks;
    kernel<<<blocks_of(n_), THREADS, 0, stream_>>>(job, list(1 - now_), room_, reserved);
    check(cudaGetLastError());
    return look().reserved;
}

/* Starts again with more places for each thread when one has found more than it has
   places for. */
size_t occurrences::extend_by_sparse_scan(const step_job &job)
{
    size_t widest = places() / n_;
    uint32_t *most = &result_.get()->most;
    step_result seen = {};
    for (size_t width = std::min(widest, width_); width <= widest; width = seen.most) {
        size_t filled = n_ * width;
        width_ = std::max(width_, width);
        check(cudaMemsetAsync(most, 0, sizeof *most, stream_));
        extend_sparse<<<blocks_of((size_t) n_ + 1), THREADS, 0, stream_>>>(
            job, (uint32_t) width, place_.get(), most);
        check(cudaGetLastError());
        scan(thrust::make_transform_iterator(place_.get(), is_filled()), filled);
        seen = look();
        if (seen.scanned > room_)
            return seen.scanned;
        if (seen.most <= width) {
            pack_sparse<<<blocks_of(filled), THREADS, 0, stream_>>>(
                job, (uint32_t) width, offset_.get(), place_.get(), list(1 - now_));
            check(cudaGetLastError());
            return seen.scanned;
        }
    }
    return room_ + 1;  /* not all of it, but more than fits */
}

size_t occurrences::extend_by_counting(const step_job &job)
{
    unsigned blocks = blocks_of((size_t) n_ + 1);
    count_longer<<<blocks, THREADS, 0, stream_>>>(job, offset_.get());
    check(cudaGetLastError());
    scan(offset_.get(), n_);
    size_t found = look().scanned;
    if (found > room_)
        return found;
    search_and_write<<<blocks, THREADS, 0, stream_>>>(job, offset_.get(),
                                                      list(1 - now_));
    check(cudaGetLastError());
    return found;
}

size_t occurrences::extend_in_order(const step_job &job)
{
    unsigned blocks = blocks_of((size_t) n_ + 1);
    find_longer<<<blocks, THREADS, 0, stream_>>>(job, offset_.get(), place_.get());
    check(cudaGetLastError());
    scan(offset_.get(), n_);
    size_t found = look().scanned;
    if (found > room_)
        return found;
    write_found<<<blocks, THREADS, 0, stream_>>>(job, offset_.get(), place_.get(),
                                                 list(1 - now_));
    check(cudaGetLastError());
    return found;
}

/* Lengthens all partial occurrences of a list by one event, and writes them to the other
   list unless they are more than room_. Returns how many there are. */
size_t occurrences::extend(const step_job &job)
{
    switch (compaction_) {
    case SYN_GPU_IN_ORDER: return extend_in_order(job);
    case SYN_GPU_SPARSE_SCAN: return extend_by_sparse_scan(job);
    case SYN_GPU_COUNT_SCAN_WRITE: return extend_by_counting(job);
    default: return extend_by_counters(job);
    }
}

/* All steps, for candidates whose first list is made. Returns 0, or the length of the
   first list that does not fit. With `dedup` every step needs its list in order. */
size_t occurrences::lengthen(const strategy_batch &batch, size_t begin, size_t candidates)
{
    bool back = goes_back(batch);
    for (size_t step = 1; step < batch.size && n_ > 0; step++) {
        size_t unit = back ? batch.size - 1 - step : step;
        size_t interval = back ? unit : step - 1;
        step_job job = {events_.first, events_.bounds, rows(), list(now_), n_, shift_,
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
void occurrences::sort(size_t candidates)
{
    cub::DoubleBuffer<unsigned long long> keys(key_[now_].get(), key_[1 - now_].get());
    cub::DoubleBuffer<uint32_t> starts(other_[now_].get(), other_[1 - now_].get());
    int bits = (int) shift_ + syn_radix_bits(candidates);
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, starts, (int) n_, 0, bits,
                                          stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceRadixSort::SortPairs(scratch_.get(), bytes, keys, starts, (int) n_,
                                          0, bits, stream_));
    if (keys.selector == 1)
        now_ = 1 - now_;
}

template <typename Keys, typename Starts>
void occurrences::keep_latest(Keys keys, Starts starts)
{
    partial_list to = list(1 - now_);
    uint32_t *kept = &result_.get()->scanned;
    size_t bytes = 0;
    check(cub::DeviceReduce::ReduceByKey(nullptr, bytes, keys, to.key, starts, to.other,
                                         kept, later(), (int) n_, stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceReduce::ReduceByKey(scratch_.get(), bytes, keys, to.key, starts,
                                         to.other, kept, later(), (int) n_, stream_));
    n_ = look().scanned;
    now_ = 1 - now_;
}

/* Of those in an ordered list that have the same end, only the one with the latest start
   can be the first to be taken. One warp goes through them all: better few than many. */
void occurrences::thin(bool back)
{
    partial_list from = list(now_);
    if (back) {
        thrust::counting_iterator<uint32_t> all(0);
        keep_latest(thrust::make_transform_iterator(all, key_by_end{from, shift_}),
                    thrust::make_transform_iterator(
                        all, start_of{from, row_start_.get(), shift_}));
    } else {
        keep_latest(from.key, from.other);
    }
}

/* Counts the candidates begin .. end - 1, with n partial occurrences to begin with.
   Returns 0, or the length of the first list that does not fit. */
size_t occurrences::count_group(const strategy_batch &batch, size_t begin, size_t end,
                                size_t n)
{
    if (n > room_)
        return n;
    size_t candidates = end - begin;
    bool back = goes_back(batch);
    n_ = (uint32_t) n;
    begin_lists<<<(unsigned) candidates, THREADS, 0, stream_>>>(
        events_.first, begun_with(batch) + begin, rows(), first_.get() + begin, shift_,
        back, list(now_));
    check(cudaGetLastError());
    size_t needed = lengthen(batch, begin, candidates);
    if (needed > 0)
        return needed;
    if (!dedup_ && n_ > 0) {
        if (!back && batch.size > 1)
            sort(candidates);
        thin(back);
    }
    take_job job = {events_.by_unit, list(now_), n_, shift_, (uint32_t) candidates,
                    batch.count + begin, batch.stop};
    take_disjoint<<<blocks_of(candidates * WARP), THREADS, 0, stream_>>>(job);
    check(cudaGetLastError());
    return 0;
}

/* Groups that do not fit get more room up to what is usual, and are halved then; they
   grow again slowly. More than usual is for single candidates. */
void occurrences::count_groups(const strategy_batch &batch,
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

void occurrences::count(const strategy_batch &batch, cudaStream_t stream)
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

}  // namespace

std::unique_ptr<strategy> make_occurrence(const strategy_events &events,
                                          const strategy_host &host, int compaction,
                                          bool dedup)
{
    (void) host;
    return std::unique_ptr<strategy>(new occurrences(events, compaction, dedup));
}

}  // namespace gpu
