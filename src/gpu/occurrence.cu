/* The occurrence strategy's host: groups of candidates whose lists fit in memory, all
   candidates of a group one event further per step. */
#include "gpu/occurrence.cuh"

#include "gpu/device.cuh"
#include "gpu/episodes_results.cuh"
#include "gpu/occurrence_lists.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <vector>

namespace gpu {
namespace {

constexpr unsigned THREADS = 256;
constexpr size_t FIRST_ROOM = (size_t) 1 << 16;  /* entries of a list, to begin with */
constexpr size_t USUAL_ROOM = (size_t) 1 << 26;  /* fills any device */
constexpr size_t MOST_ROOM = (size_t) 1 << 30;   /* what CUB and thread numbers allow */
constexpr size_t MOST_CANDIDATES = (size_t) 1 << 26;  /* of a group, a warp each */
constexpr uint32_t STAGED = 4;  /* places of a thread at first, and on average at most */

unsigned blocks_of(size_t threads)
{
    return (unsigned) std::max<size_t>((threads + THREADS - 1) / THREADS, 1);
}

/* Sums of 32-bit numbers may need more bits. */
struct wide_sum {
    __host__ __device__ unsigned long long operator()(unsigned long long a,
                                                      unsigned long long b) const
    {
        return a + b;
    }
};

/* Bits that hold the numbers 0 .. n - 1. */
uint32_t bits_for(size_t n)
{
    uint32_t bits = 0;
    while (bits < 63 && ((size_t) 1 << bits) < n)
        bits++;
    return bits;
}

class occurrences final : public strategy {
    enum outcome { DONE, TOO_MANY, STOPPED };

    const strategy_events events_;
    const int compaction_;
    const bool dedup_;
    const uint32_t shift_;
    size_t room_ = 0, most_room_ = 0;  /* entries of a list: now, and ever */

    array<int64_t> row_tick_;
    array<uint32_t> row_start_;
    array<unsigned long long> key_[2];
    array<uint32_t> start_[2];
    int now_ = 0;     /* which of the two lists is read */
    uint32_t n_ = 0;  /* its length */
    array<uint32_t> count_, staged_;
    array<unsigned long long> offset_, first_;
    array<step_result> result_;
    array<uint8_t> scratch_;
    pinned<step_result> seen_{1};

    cudaStream_t stream_ = nullptr;   /* those of the batch being counted */
    const uint32_t *stop_ = nullptr;

    size_t entry_bytes() const;
    row_view rows() const { return {row_tick_.get(), row_start_.get()}; }
    partial_list list(int which) const
    {
        return {key_[which].get(), start_[which].get()};
    }
    bool sorts(bool last_step) const;
    void prepare();
    void make_room(size_t room);
    std::vector<unsigned long long> measure(const strategy_batch &batch);
    void scan_counts();
    step_result look();
    step_result extend_by_atomics(const step_job &job);
    step_result extend_in_stages(const step_job &job);
    step_result extend_by_counts(const step_job &job);
    step_result extend(const step_job &job);
    void sort(size_t candidates);
    outcome count_group(const strategy_batch &batch, size_t begin, size_t end, size_t n);
public:
    occurrences(const strategy_events &events, int compaction, bool dedup)
        : events_(events), compaction_(compaction), dedup_(dedup),
          shift_(bits_for(events.n))
    {
    }
    void count(const strategy_batch &batch, cudaStream_t stream) override;
};

/* Device memory for each entry that a list has room for. */
size_t occurrences::entry_bytes() const
{
    size_t lists = 2 * (sizeof(unsigned long long) + sizeof(uint32_t));
    size_t scanned = sizeof(uint32_t) + sizeof(unsigned long long);
    switch (compaction_) {
    case SYN_GPU_ATOMIC: return lists + 1;  /* and what sorting needs */
    case SYN_GPU_SCAN: return lists + scanned + STAGED * sizeof(uint32_t) + 1;
    default: return lists + scanned + sizeof(uint32_t) + 1;
    }
}

/* Steps that share events need them in order; counting needs it always. Of what is found
   in order and without repeats the order is kept, unless by atomics. */
bool occurrences::sorts(bool last_step) const
{
    return dedup_ ? compaction_ == SYN_GPU_ATOMIC : last_step;
}

/* Done at the first count: only then is everything on the device for certain. */
void occurrences::prepare()
{
    size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    size_t own = events_.n * (sizeof(int64_t) + sizeof(uint32_t));
    size_t half = free_bytes / 2 > own ? free_bytes / 2 - own : 0;
    most_room_ = std::max<size_t>(std::min(half / entry_bytes(), MOST_ROOM), 1);
    row_tick_.ensure(events_.n);
    row_start_.ensure(events_.n);
    order_rows<<<blocks_of(events_.n), THREADS, 0, stream_>>>(events_, rows());
    check(cudaGetLastError());
    result_.ensure(1);
}

/* What the lists held is lost. */
void occurrences::make_room(size_t room)
{
    room_ = std::min(room, most_room_);
    for (int i = 0; i < 2; i++) {
        key_[i].ensure(room_);
        start_[i].ensure(room_);
    }
    if (compaction_ == SYN_GPU_ATOMIC)
        return;
    count_.ensure(room_ + 1);
    offset_.ensure(room_ + 1);
    staged_.ensure(compaction_ == SYN_GPU_SCAN ? room_ * STAGED : room_);
}

/* Where each candidate's part of the first list begins, were they all in one list. */
std::vector<unsigned long long> occurrences::measure(const strategy_batch &batch)
{
    size_t n = (size_t) batch.n + 1, bytes = 0;
    first_.ensure(n);
    unsigned long long *first = first_.get();
    measure_first<<<blocks_of(n), THREADS, 0, stream_>>>(events_.first, batch.unit,
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

/* offset_[i] = how many the threads before i have found; the last is all of them. */
void occurrences::scan_counts()
{
    const uint32_t *counts = count_.get();
    unsigned long long *to = offset_.get(), zero = 0;
    int n = (int) n_ + 1;
    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveScan(nullptr, bytes, counts, to, wide_sum(), zero, n,
                                         stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceScan::ExclusiveScan(scratch_.get(), bytes, counts, to, wide_sum(),
                                         zero, n, stream_));
    check(cudaMemcpyAsync(&result_.get()->found, to + n_, sizeof to[0],
                          cudaMemcpyDeviceToDevice, stream_));
}

/* Waits for what the step has found, and whether to stop. */
step_result occurrences::look()
{
    check(cudaMemcpyAsync(&result_.get()->stop, stop_, sizeof *stop_, cudaMemcpyDefault,
                          stream_));
    check(cudaMemcpyAsync(seen_.get(), result_.get(), sizeof(step_result),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    return *seen_.get();
}

step_result occurrences::extend_by_atomics(const step_job &job)
{
    check(cudaMemsetAsync(result_.get(), 0, sizeof(step_result), stream_));
    extend_atomic<<<blocks_of(n_), THREADS, 0, stream_>>>(job, list(1 - now_), room_,
                                                          &result_.get()->found);
    check(cudaGetLastError());
    return look();
}

/* Repeated with wider places when a thread has found more than its own hold. */
step_result occurrences::extend_in_stages(const step_job &job)
{
    unsigned blocks = blocks_of((size_t) n_ + 1);
    uint32_t *most = &result_.get()->most;
    step_result seen = {};
    for (uint32_t width = STAGED; n_ <= staged_.room() / width; width = seen.most) {
        check(cudaMemsetAsync(most, 0, sizeof *most, stream_));
        extend_staged<<<blocks, THREADS, 0, stream_>>>(job, width, count_.get(),
                                                       staged_.get(), most);
        check(cudaGetLastError());
        scan_counts();
        seen = look();
        if (seen.stop || seen.found > room_)
            return seen;
        if (seen.most <= width) {
            pack_staged<<<blocks, THREADS, 0, stream_>>>(
                job, width, count_.get(), offset_.get(), staged_.get(), list(1 - now_));
            check(cudaGetLastError());
            return seen;
        }
    }
    seen.found = room_ + 1;
    return seen;
}

step_result occurrences::extend_by_counts(const step_job &job)
{
    unsigned blocks = blocks_of((size_t) n_ + 1);
    count_successors<<<blocks, THREADS, 0, stream_>>>(job, count_.get(), staged_.get());
    check(cudaGetLastError());
    scan_counts();
    const step_result seen = look();
    if (seen.stop || seen.found > room_)
        return seen;
    write_successors<<<blocks, THREADS, 0, stream_>>>(
        job, count_.get(), staged_.get(), offset_.get(), list(1 - now_));
    check(cudaGetLastError());
    return seen;
}

/* Leaves what it found, if there is room, in the list that is not read. */
step_result occurrences::extend(const step_job &job)
{
    switch (compaction_) {
    case SYN_GPU_ATOMIC: return extend_by_atomics(job);
    case SYN_GPU_SCAN: return extend_in_stages(job);
    default: return extend_by_counts(job);
    }
}

/* By candidate, then by end; the list that is not read gives the room. */
void occurrences::sort(size_t candidates)
{
    cub::DoubleBuffer<unsigned long long> keys(key_[now_].get(), key_[1 - now_].get());
    cub::DoubleBuffer<uint32_t> starts(start_[now_].get(), start_[1 - now_].get());
    int bits = (int) (shift_ + bits_for(candidates));
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, starts, (int) n_, 0, bits,
                                          stream_));
    scratch_.ensure(bytes);
    check(cub::DeviceRadixSort::SortPairs(scratch_.get(), bytes, keys, starts, (int) n_,
                                          0, bits, stream_));
    if (keys.selector == 1)
        now_ = 1 - now_;
}

/* The candidates begin .. end - 1, with n partial occurrences to begin with. */
occurrences::outcome occurrences::count_group(const strategy_batch &batch, size_t begin,
                                              size_t end, size_t n)
{
    if (n > room_)
        return TOO_MANY;
    size_t candidates = end - begin;
    n_ = (uint32_t) n;
    begin_lists<<<(unsigned) candidates, THREADS, 0, stream_>>>(
        events_.first, batch.unit + begin, rows(), first_.get() + begin, shift_,
        list(now_));
    check(cudaGetLastError());
    for (size_t step = 1; step < batch.size && n_ > 0; step++) {
        step_job job = {events_.first, events_.bounds, rows(), list(now_), n_, shift_,
                        batch.unit + step * batch.n + begin,
                        batch.interval + (step - 1) * batch.n + begin, dedup_};
        step_result result = extend(job);
        if (result.stop)
            return STOPPED;
        if (result.found > room_)
            return TOO_MANY;
        now_ = 1 - now_;
        n_ = (uint32_t) result.found;
        if (n_ > 1 && sorts(step + 1 == batch.size))
            sort(candidates);
    }
    take_job job = {events_.by_unit, list(now_), n_, shift_, (uint32_t) candidates,
                    batch.count + begin, batch.stop};
    take_disjoint<<<blocks_of(candidates * WARP), THREADS, 0, stream_>>>(job);
    check(cudaGetLastError());
    return DONE;
}

/* Groups that do not fit get more room up to what is usual, and are halved then; they
   grow again slowly. More than usual is for single candidates. */
void occurrences::count(const strategy_batch &batch, cudaStream_t stream)
{
    stream_ = stream;
    stop_ = (const uint32_t *) batch.stop;
    if (most_room_ == 0)
        prepare();
    const std::vector<unsigned long long> offset = measure(batch);
    size_t usual = std::min(most_room_, USUAL_ROOM);
    size_t wanted = std::max<size_t>(offset[batch.n], FIRST_ROOM);
    make_room(std::max(room_, std::min(wanted, usual)));
    size_t most = MOST_CANDIDATES;
    for (size_t begin = 0, end; begin < batch.n;) {
        auto above = std::upper_bound(offset.begin() + begin + 1, offset.end(),
                                      offset[begin] + room_);
        end = (size_t) (above - offset.begin()) - 1;
        end = std::max(std::min(end, begin + most), begin + 1);
        switch (count_group(batch, begin, end, offset[end] - offset[begin])) {
        case DONE:
            begin = end;
            most = std::min(most + most / 8 + 1, MOST_CANDIDATES);
            break;
        case STOPPED:
            return;
        case TOO_MANY:
            if (room_ == most_room_ && end - begin == 1)
                throw refusal(dedup_ ? SYN_NO_MEMORY : SYN_TOO_LARGE,
                              "an episode of %u events has more than %zu partial "
                              "occurrences, all that the device has room for%s",
                              batch.size, room_, dedup_ ? "" : " without `dedup`");
            if (room_ < usual || end - begin == 1)
                make_room(2 * room_);
            else
                most = (end - begin) / 2;
        }
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
