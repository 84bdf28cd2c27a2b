/* The scan of pairs on a device. A warp takes a pair: its counts go into shared memory,
   and each lane takes windows. What the lanes find is put together after each side, so
   that all of them go on with the same masks.

   Without masks a window is four sums over all lags, 640 multiplications for 80 lags on
   each side; 30 windows and 500,000 pairs make 1e10 of them, some milliseconds. */
#define SYN_EVERYWHERE __host__ __device__ __forceinline__

extern "C" {
#include "gpu/synapses/scan.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"

#include <cmath>

namespace gpu {
namespace {

constexpr uint32_t WARPS = 4;       /* of a block */
constexpr size_t PART = 1 << 12;    /* pairs that are dealt out together */
constexpr uint32_t MOST_PARTS = 64; /* of a batch */

/* ---- one pair ---- */

/* What the lanes of a warp look at. */
struct lanes {
    const syn_scan_tables *tables;
    const double *x[2];
};

__device__ inline syn_scan_best from_lane(const syn_scan_best &best, int other)
{
    return {__shfl_xor_sync(WHOLE_WARP, best.z, other),
            __shfl_xor_sync(WHOLE_WARP, best.count, other),
            __shfl_xor_sync(WHOLE_WARP, best.expected, other),
            __shfl_xor_sync(WHOLE_WARP, best.noise, other),
            __shfl_xor_sync(WHOLE_WARP, best.lo, other)};
}

/* The baselines of a window without masks. */
__device__ inline syn_scan_window read_window(const lanes &here, int side, uint32_t w)
{
    const syn_scan_tables &s = *here.tables;
    const double *own = here.x[side], *other = here.x[1 - side];
    double sum[2] = {0, 0};
    for (uint32_t t = 1; t <= s.lags; t++) {
        uint32_t at = t * s.stride + w;
        for (int kind = 0; kind < 2; kind++)
            sum[kind] += s.own[kind][at] * own[t] + s.other[kind][at] * other[t];
    }
    return syn_scan_read(&s, sum[0], sum[1], w);
}

/* A syn_scan_side of a warp: every lane gets the best windows of all. */
__device__ __forceinline__ void scan_side(const void *context,
                                          const syn_scan_mask *mask, int side,
                                          syn_scan_best best[2])
{
    const lanes &here = *(const lanes *) context;
    const syn_scan_tables &s = *here.tables;
    syn_scan_none(best);
    for (uint32_t w = threadIdx.x % WARP; w < s.windows; w += WARP) {
        syn_scan_window fit = mask ? syn_scan_fit(&s, here.x, mask, side, w)
                                   : read_window(here, side, w);
        syn_scan_judge(&fit, syn_scan_count(&s, here.x[side], w), w, best);
    }
    for (int o = WARP / 2; o > 0; o /= 2)
        for (int sign = 0; sign < 2; sign++) {
            syn_scan_best other = from_lane(best[sign], o);
            syn_scan_keep(best + sign, &other);
        }
}

/* The spread of a pair, in every lane: each looks at windows of long lags. */
__device__ inline double spread_of(const lanes &here)
{
    const syn_scan_tables &s = *here.tables;
    double sum = 0;
    for (uint32_t i = threadIdx.x % WARP; i < 2 * s.rests; i += WARP) {
        uint32_t k = i / 2, side = i % 2;
        const double *own = here.x[side], *other = here.x[1 - side];
        double beside = 0;
        for (uint32_t t = 0; t <= s.lags; t++) {
            size_t at = (size_t) t * s.rest_stride + k;
            beside += s.own_rest[at] * own[t] + s.other_rest[at] * other[t];
        }
        double count = syn_scan_count(&s, own, s.rest - 1 + k * s.width);
        sum += syn_scan_beside(&s, k, count, beside);
    }
    for (int o = WARP / 2; o > 0; o /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, o);
    return s.rests > 0 ? sum / (2.0 * s.rests) : 1;
}

/* ---- many pairs ---- */

struct scan_job {
    syn_scan_tables tables;
    const int32_t *count;     /* [units][units][2 * lags + 1] */
    uint32_t units, lags;     /* of the counts */
    const int32_t *a, *b;     /* [pairs] of the batch */
    uint32_t pairs;
    syn_scan_columns out;     /* of the batch */
};

/* Dynamic shared memory: the counts of the pair of each warp, [WARPS][2][lags + 1]. */
__global__ void __launch_bounds__(WARPS * WARP) scan_pairs(SYN_GPU_JOB scan_job job)
{
    extern __shared__ double room[];
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t p = blockIdx.x * WARPS + warp, each = job.tables.lags + 1;
    if (p >= job.pairs)
        return;
    double *x = room + warp * 2 * each;
    size_t at = (size_t) job.b[p] * job.units + (size_t) job.a[p];
    const int32_t *count = job.count + at * (2 * (size_t) job.lags + 1) + job.lags;
    for (uint32_t t = lane; t < each; t += WARP) {
        x[t] = count[t];
        x[each + t] = count[-(int32_t) t];
    }
    __syncwarp();
    lanes here = {&job.tables, {x, x + each}};
    syn_scan_pair found;
    for (int side = 0; side < 2; side++)
        scan_side(&here, nullptr, side, found.best[side]);
    syn_scan_hide_strong(&job.tables, scan_side, &here, &found);
    found.spread = spread_of(here);
    if (lane < 2)
        syn_scan_store(&found, (int) lane, p, &job.out);
}

/* Counts and tables on a device, and the results of one batch of pairs. */
class pair_scanner {
    const syn_scan_work &asked_;
    stream stream_;
    arrays own_;  /* of the pointers of the job */
    scan_job job_ = {};

    void put_tables()
    {
        const syn_scan_tables &from = asked_.tables;
        syn_scan_tables &to = job_.tables = from;
        size_t size = ((size_t) from.lags + 1) * from.stride;
        for (int kind = 0; kind < 2; kind++) {
            own_.upload(&to.weight[kind], from.weight[kind], from.halves[kind], stream_);
            own_.upload(&to.own[kind], from.own[kind], size, stream_);
            own_.upload(&to.other[kind], from.other[kind], size, stream_);
            own_.upload(&to.noise[kind], from.noise[kind], from.windows, stream_);
        }
        size = ((size_t) from.lags + 1) * from.rest_stride;
        own_.upload(&to.own_rest, from.own_rest, size, stream_);
        own_.upload(&to.other_rest, from.other_rest, size, stream_);
        own_.upload(&to.rest_norm, from.rest_norm, from.rests, stream_);
    }

    template <class T> void collect(T *to, const T *from, size_t first, size_t n)
    {
        if (to)
            download(to + first, from, n, stream_);
    }
public:
    explicit pair_scanner(const syn_scan_work &asked) : asked_(asked)
    {
        const syn_lag_counts &c = asked.counts;
        size_t cells = (size_t) c.units * c.units * (2 * (size_t) c.lags + 1);
        size_t most = std::min(asked.pairs.n, PART * MOST_PARTS);
        double bytes = 4.0 * (double) cells + 160.0 * (double) most + 1e6;
        if (bytes > std::min((double) asked.budget.limit, 0.9 * (double) free_memory()))
            throw refusal(SYN_OVER_BUDGET, "the counts of all pairs take %.0f MB",
                          1e-6 * bytes);
        put_tables();
        own_.upload(&job_.count, c.count, cells, stream_);
        job_.units = c.units;
        job_.lags = c.lags;
        syn_scan_columns &out = job_.out;
        for (int sign = 0; sign < 2; sign++)
            own_.ensure_all(2 * most, &out.z[sign], &out.count[sign], &out.expected[sign],
                            &out.noise[sign], &out.lo[sign]);
        own_.ensure(&out.spread, most);
    }

    void run(size_t first, size_t n)
    {
        own_.upload(&job_.a, asked_.pairs.a + first, n, stream_);
        own_.upload(&job_.b, asked_.pairs.b + first, n, stream_);
        job_.pairs = (uint32_t) n;
        size_t shared = WARPS * 2 * ((size_t) job_.tables.lags + 1) * sizeof(double);
        launch(scan_pairs, {blocks_for(n, WARPS), WARPS * WARP, shared}, stream_, job_);
        const syn_scan_columns &to = asked_.out;
        for (int sign = 0; sign < 2; sign++) {
            collect(to.z[sign], job_.out.z[sign], 2 * first, 2 * n);
            collect(to.count[sign], job_.out.count[sign], 2 * first, 2 * n);
            collect(to.expected[sign], job_.out.expected[sign], 2 * first, 2 * n);
            collect(to.noise[sign], job_.out.noise[sign], 2 * first, 2 * n);
            collect(to.lo[sign], job_.out.lo[sign], 2 * first, 2 * n);
        }
        collect(to.spread, job_.out.spread, first, n);
        wait_for(stream_);
    }
};

}  // namespace
}  // namespace gpu

/* ---- the door ---- */

syn_status syn_gpu_scan_pairs(const syn_scan_work *work, syn_gpu_call *call)
{
    return gpu::status_with(call, [&] {
        gpu::memory_limit limit(work->budget.limit);
        size_t pairs = work->pairs.n;
        uint32_t parts = gpu::blocks_for(pairs, gpu::PART);
        if (pairs == 0)
            return;
        gpu::share_out(*call, parts, "pairs", [&](gpu::crew &crew, int) {
            gpu::pair_scanner scanner(*work);
            uint32_t part = 0, n;
            while ((n = crew.take(gpu::MOST_PARTS, &part)) > 0) {
                size_t first = part * gpu::PART;
                scanner.run(first, std::min(n * gpu::PART, pairs - first));
            }
        });
    });
}
