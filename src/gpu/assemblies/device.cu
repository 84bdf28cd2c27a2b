/* Makes the peaks of surrogates on a device, a batch at a time. */
#include "gpu/assemblies/device.cuh"

#include <cub/device/device_scan.cuh>

#include <cmath>
#include <thread>

namespace gpu {

namespace {

constexpr double FIRST_GUESS = 48;    /* peaks of a pair */
constexpr double MOST_BYTES = 2e9;    /* of a batch: more would be no faster */
constexpr double MOST_OF_BATCH = 2e9; /* items, and peaks, of a batch */
constexpr double CHUNK_SECONDS = 0.08;
constexpr uint32_t LEAST_TASKS = 4 * PEAK_WARPS; /* for the warps of a block */
constexpr uint32_t MOST_BINS = 1u << 30;

uint32_t windows_of(const syn_ladder &l, uint32_t rung)
{
    return 2 * l.reach[rung] + 1;
}

}  // namespace

/* ---- what stays ---- */

/* Sizes, and the memory that blocks work in. */
void peak_device::lay_out()
{
    const syn_lagged *p = source_->pairs;
    job_.ladder = p->ladder;
    job_.least = source_->least;
    job_.units = p->units;
    job_.pairs = (uint32_t) syn_pair_count(p->units);
    job_.ticks = p->bin;
    job_.listed = LEAST_LISTED;
    for (uint32_t r = 0; r < p->ladder.rungs; r++) {
        uint32_t windows = windows_of(p->ladder, r);
        job_.word[r + 1] = job_.word[r] + (windows + WARP - 1) / WARP;
        job_.listed = std::max(job_.listed, windows);
        job_.most += (windows + 1) / 2;  /* of two next to each other one is no peak */
    }
    shared_ = peak_room_bytes(job_);
    if (shared_ > (size_t) shared_limit(number) - 1024)
        throw refusal(SYN_TOO_LARGE, "lags of up to %u bins are more than its "
                      "multiprocessors have memory for", p->ladder.lags);
}

void peak_device::put_spikes()
{
    const syn_lagged *p = source_->pairs;
    const syn_binned *b = source_->binned;
    size_t cells = (size_t) b->units * b->segments;
    for (uint32_t k = 0; k < b->segments; k++)
        if (b->n[k] > MOST_BINS)
            throw refusal(SYN_TOO_LARGE, "a segment of %u bins is more than %u", b->n[k],
                          MOST_BINS);
    n_.upload(b->n, b->segments, stream_);
    first_.upload(b->first, cells + 1, stream_);
    bin_.upload(b->bin, b->first[cells], stream_);
    clumps_.upload(p->clumps, (size_t) p->units * p->ladder.rungs, stream_);
    job_.segments = b->segments;
    job_.parts = std::max(1u, LEAST_TASKS / b->segments);
    job_.n = n_.get();
    job_.first = first_.get();
    job_.bin = bin_.get();
    job_.clumps = clumps_.get();
    held_ = (double) (n_.bytes() + first_.bytes() + bin_.bytes() + clumps_.bytes());
}

peak_device::peak_device(const syn_pair_source *source, int device, double bytes)
    : source_(source), bytes_(bytes), each_(FIRST_GUESS), number(device)
{
    lay_out();
    put_spikes();
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    int blocks = std::max(blocks_at_once(find_peaks<false>, PEAK_THREADS, shared_),
                          blocks_at_once(find_peaks<true>, PEAK_THREADS, shared_));
    size_t all = (size_t) processors * (size_t) blocks;
    scratch_.ensure(all * job_.most);
    used_.ensure(1);
    next_.ensure(1);
    too_large_.ensure(1);
    job_.scratch = scratch_.get();
    job_.used = used_.get();
    job_.next = next_.get();
    job_.too_large = too_large_.get();
    held_ += (double) scratch_.bytes();
    chunk_ = 4.0 * (double) all;
}

/* ---- a batch ---- */

/* Bytes of a surrogate of a batch: its shifts, and its peaks as they are found and in
   order. */
double peak_device::bytes_of_one() const
{
    double shifts = (double) job_.units * job_.segments * sizeof(uint32_t);
    return shifts + job_.pairs * (3.0 * sizeof(uint32_t) + 2 * each_ * sizeof(syn_peak));
}

uint32_t peak_device::batch() const
{
    double one = bytes_of_one(), room = bytes_ - held_;
    if (one > room)
        throw refusal(SYN_OVER_BUDGET, "a surrogate takes %.0f MB", 1e-6 * (one + held_));
    double n = std::min(std::max(MOST_BYTES / one, 1.0), room / one);
    n = std::min(n, MOST_OF_BATCH / (job_.pairs * std::max(each_, 1.0)));
    return (uint32_t) std::max(n, 1.0);
}

void peak_device::make_room(uint32_t n)
{
    size_t items = (size_t) n * job_.pairs;
    double peaks = std::ceil((double) items * each_);
    if (peaks > UINT32_MAX)
        throw refusal(SYN_TOO_LARGE, "a surrogate has more peaks than 2^32");
    at_.ensure(items);
    count_.ensure(items);
    start_.ensure(items);
    peak_.ensure((size_t) peaks);
    ordered_.ensure((size_t) peaks);
    job_.at = at_.get();
    job_.count = count_.get();
    job_.peak = peak_.get();
    job_.room = (uint32_t) peaks;
    check(cudaMemsetAsync(used_.get(), 0, sizeof(unsigned long long), stream_));
    check(cudaMemsetAsync(too_large_.get(), 0, sizeof(int), stream_));
}

/* As many items at a time as take some 80 ms, so that the work ends soon when it is asked
   to. */
template <bool RECORDED>
void peak_device::find(unsigned long long items, const std::atomic<bool> &stop)
{
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, number));
    unsigned blocks = (unsigned) (processors * blocks_at_once(find_peaks<RECORDED>,
                                                              PEAK_THREADS, shared_));
    event done;
    for (unsigned long long from = 0; from < items && !stop;) {
        unsigned long long to = std::min(items, from + (unsigned long long) chunk_);
        double begun = seconds_now();
        check(cudaMemsetAsync(next_.get(), 0, sizeof(unsigned long long), stream_));
        find_peaks<RECORDED><<<blocks, PEAK_THREADS, shared_, stream_>>>(job_, from, to);
        check(cudaGetLastError());
        check(cudaEventRecord(done, stream_));
        cudaError_t state;
        while ((state = cudaEventQuery(done)) == cudaErrorNotReady)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        check(state);
        double grow = CHUNK_SECONDS / std::max(seconds_now() - begun, 1e-6);
        chunk_ = std::max(1.0, chunk_ * std::min(grow, 4.0));
        from = to;
    }
}

/* Whether there was room for all peaks of n surrogates; if not, there will be. */
bool peak_device::fits(uint32_t n)
{
    unsigned long long used = 0;
    int too_large = 0;
    check(cudaMemcpyAsync(&used, used_.get(), sizeof used, cudaMemcpyDeviceToHost,
                          stream_));
    check(cudaMemcpyAsync(&too_large, too_large_.get(), sizeof too_large,
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    if (too_large)
        throw refusal(SYN_TOO_LARGE, "a lag was counted more than 2^31 - 1 times");
    double each = (double) used / ((double) n * job_.pairs);
    found_ = std::max(found_, each);
    if (used <= job_.room)
        return true;
    each_ = 1.1 * each;
    return false;
}

void peak_device::order(unsigned long long items)
{
    size_t bytes = 0;
    for (int round = 0; round < 2; round++) {
        void *memory = round == 0 ? nullptr : scanning_.get();
        check(cub::DeviceScan::ExclusiveSum(memory, bytes, count_.get(), start_.get(),
                                            (int) items, stream_));
        if (round == 0)
            scanning_.ensure(bytes);
    }
    unsigned blocks = std::min(blocks_for(items, PEAK_WARPS), 65535u);
    gather_peaks<<<blocks, PEAK_THREADS, 0, stream_>>>(job_, start_.get(), items,
                                                       ordered_.get());
    check(cudaGetLastError());
}

/* start[0] to start[pairs]: where the peaks of pairs begin in what is on the device. */
void peak_device::fetch_one(const uint32_t *start, syn_peaks *out)
{
    syn_budget *budget = source_->pairs->budget;
    uint32_t pairs = job_.pairs, n = start[pairs] - start[0];
    if (syn_peaks_make(out, job_.units, budget) != SYN_OK)
        throw refusal(syn_budget_refusal(budget), "%s", "");
    out->peak = (syn_peak *) syn_budget_alloc(budget, n, sizeof(syn_peak));
    if (!out->peak)
        throw refusal(syn_budget_refusal(budget), "%s", "");
    out->room = n;
    for (uint32_t p = 0; p <= pairs; p++)
        out->first[p] = start[p] - start[0];
    check(cudaMemcpyAsync(out->peak, ordered_.get() + start[0], n * sizeof(syn_peak),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
}

void peak_device::fetch(uint32_t n, syn_peaks *out, const std::atomic<bool> &stop)
{
    size_t items = (size_t) n * job_.pairs;
    std::vector<uint32_t> start(items + 1);
    unsigned long long used = 0;
    check(cudaMemcpyAsync(start.data(), start_.get(), items * sizeof(uint32_t),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaMemcpyAsync(&used, used_.get(), sizeof used, cudaMemcpyDeviceToHost,
                          stream_));
    check(cudaStreamSynchronize(stream_));
    start[items] = (uint32_t) used;
    for (uint32_t s = 0; s < n && !stop; s++)
        fetch_one(start.data() + (size_t) s * job_.pairs, out + s);
}

/* ---- surrogates ---- */

void peak_device::surrogates(uint64_t from, uint32_t n, syn_peaks *out,
                             const std::atomic<bool> &stop)
{
    for (uint32_t done = 0, now; done < n && !stop; done += now) {
        now = std::min(n - done, batch());
        uint64_t shifts = (uint64_t) now * job_.units * job_.segments;
        make_room(now);
        shift_.ensure(shifts);
        job_.shift = shift_.get();
        unsigned blocks = std::min(blocks_for(shifts, PEAK_THREADS), 65535u);
        draw_shifts<<<blocks, PEAK_THREADS, 0, stream_>>>(
            job_, source_->key, from + done, shifts, shift_.get());
        check(cudaGetLastError());
        unsigned long long items = (unsigned long long) now * job_.pairs;
        find<false>(items, stop);
        if (stop)
            return;
        if (!fits(now)) {
            now = 0;
            continue;
        }
        order(items);
        fetch(now, out + done, stop);
    }
}

/* ---- the recording ---- */

void peak_device::put_recording()
{
    const syn_lagged *p = source_->pairs;
    size_t places = p->ladder.first[p->ladder.rungs];
    train_.upload(p->timed.first, (size_t) p->units + 1, stream_);
    tick_.upload(p->timed.tick, p->timed.first[p->units], stream_);
    job_.train = train_.get();
    job_.tick = tick_.get();
    common_.upload(p->common, places, stream_);
    spread_.upload(p->spread, places, stream_);
    job_.common = common_.get();
    job_.spread = spread_.get();
}

void peak_device::recording(syn_peaks *out, const std::atomic<bool> &stop)
{
    put_recording();
    for (bool again = true; again && !stop;) {
        batch();
        make_room(1);
        find<true>(job_.pairs, stop);
        if (!stop && fits(1)) {
            order(job_.pairs);
            fetch(1, out, stop);
            again = false;
        }
    }
    job_.common = job_.spread = nullptr;
}

}  // namespace gpu
