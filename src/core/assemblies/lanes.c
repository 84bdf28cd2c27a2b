/* Adds lag histograms, looks through them and judges windows with vector registers.
   Compiled once for each kind of processor (see base/kinds.h). */
#include "core/assemblies/lanes.h"

#include "core/assemblies/excess.h"
#include "core/assemblies/peaks.h"
#include "core/base/philox_lanes.h"
#include "core/base/simd.h"

typedef uint8_t lanes_u8 __attribute__((vector_size(SYN_REGISTER)));
typedef uint64_t lanes_u64 __attribute__((vector_size(SYN_REGISTER)));
typedef uint8_t lanes_u8_array __attribute__((vector_size(SYN_REGISTER), aligned(1),
                                              may_alias));
typedef int32_t lanes_i32_array __attribute__((vector_size(SYN_REGISTER), aligned(4),
                                               may_alias));

/* ---- shifts ---- */

static void lanes_draw(uint64_t key, uint64_t from, uint32_t n, uint32_t unit,
                       uint32_t block, uint32_t *word)
{
    const uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (uint32_t i = 0; i < n; i += SYN_PHILOX_LANES) {  /* surrogates side by side */
        uint64_t c[4][SYN_PHILOX_LANES];
        for (uint32_t l = 0; l < SYN_PHILOX_LANES; l++) {
            c[0][l] = block;
            c[1][l] = unit;
            c[2][l] = (uint32_t)(from + i + l);
            c[3][l] = (from + i + l) >> 32;
        }
        syn_philox_lanes(c, halves);
        uint32_t more = n - i < SYN_PHILOX_LANES ? n - i : SYN_PHILOX_LANES;
        for (int w = 0; w < 4; w++)
            for (uint32_t l = 0; l < more; l++)
                word[(size_t)w * n + i + l] = (uint32_t)c[w][l];
    }
}

/* ---- sums ---- */

static uint32_t lanes_fold(const uint8_t *twice, size_t n, uint8_t *cell)
{
    lanes_u8 most = {0};
    size_t t = 0;
    for (; t + SYN_REGISTER <= n; t += SYN_REGISTER) {
        lanes_u8 sum = *(const lanes_u8_array *)(twice + t) +
                       *(const lanes_u8_array *)(twice + n + t);
        *(lanes_u8_array *)(cell + t) = sum;
        lanes_u8 above = (lanes_u8)(sum > most);
        most = (sum & above) | (most & ~above);
    }
    uint32_t largest = 0;
    for (size_t l = 0; l < SYN_REGISTER; l++)
        largest = most[l] > largest ? most[l] : largest;
    for (; t < n; t++) {
        cell[t] = (uint8_t)(twice[t] + twice[n + t]);
        largest = cell[t] > largest ? cell[t] : largest;
    }
    return largest;
}

SYN_INLINE void lanes_add_halves(lanes_u8 counts, uint16_t *even, uint16_t *odd)
{
    syn_u16 both = (syn_u16)counts;
    syn_u16_store(even, syn_u16_load(even) + (both & syn_u16_all(255)));
    syn_u16_store(odd, syn_u16_load(odd) + (both >> 8));
}

static void lanes_add(const uint8_t *const *row, uint32_t rows, size_t length,
                     uint16_t *sum)
{
    enum { AT_ONCE = 4 };
    uint16_t *odd = sum + length / 2;
    for (size_t i = 0; i < length; i += AT_ONCE * SYN_REGISTER) {
        lanes_u8 total[AT_ONCE];
        SYN_UNROLL(4)
        for (int j = 0; j < AT_ONCE; j++)
            total[j] = (lanes_u8){0};
        for (uint32_t r = 0; r < rows; r++) {
            const uint8_t *from = row[r] + i;
            SYN_UNROLL(4)
            for (int j = 0; j < AT_ONCE; j++)
                total[j] += *(const lanes_u8_array *)(from + j * SYN_REGISTER);
        }
        SYN_UNROLL(4)
        for (int j = 0; j < AT_ONCE; j++) {
            size_t at = i / 2 + (size_t)j * SYN_U16_LANES;
            lanes_add_halves(total[j], sum + at, odd + at);
        }
    }
}

/* ---- z ---- */

SYN_INLINE syn_f32 lanes_float(syn_i32 n)
{
    return __builtin_convertvector(n, syn_f32);
}

/* As syn_logarithm(). */
SYN_INLINE syn_f64 lanes_logarithm(syn_f64 x)
{
    const lanes_u64 root = (lanes_u64){0} + 0x3fe6a09e667f3bcdu;
    lanes_u64 bits = (lanes_u64)x;
    syn_i64 power = (syn_i64)(bits - root) >> 52;
    syn_f64 m = (syn_f64)(bits - ((lanes_u64)power << 52));
    syn_f64 s = (m - syn_f64_all(1)) / (m + syn_f64_all(1)), square = s * s;
    syn_f64 sum = syn_f64_all(0);
    SYN_UNROLL(11)
    for (int term = 23; term > 1; term -= 2)
        sum = square * (sum + syn_f64_all(1.0 / term));
    syn_f64 of_m = syn_f64_all(2) * s + syn_f64_all(2) * s * sum;
    /* A small whole number is in the lowest bits of one that is this much larger. */
    const syn_f64 large = syn_f64_all(6755399441055744.0);
    syn_f64 whole = (syn_f64)(power + 0x4338000000000000) - large;
    return whole * syn_f64_all(0.69314718055994530942) + of_m;
}

/* As syn_excess_z() where nothing is common, for an excess above 0. */
SYN_INLINE syn_f64 lanes_z(syn_f64 inside, syn_f64 all, double clumps)
{
    syn_f64 half = syn_f64_all(0.5), zero = syn_f64_all(0);
    syn_f64 beside = all - inside, base = beside / syn_f64_all(SYN_BESIDE);
    base = syn_f64_max(half, base);
    syn_f64 in = inside - half, out = beside + half, n = in + out;
    syn_f64 expected = n * syn_f64_all(1 / (1 + SYN_BESIDE));
    syn_f64 d = in * lanes_logarithm(in / expected) +
                out * lanes_logarithm(out / (n - expected));
    d = syn_f64_where((in > expected) & (d > zero), d);
    syn_f64 inflation = base * syn_f64_all(clumps) / base;
    return syn_f64_sqrt(d + d) / syn_f64_sqrt(inflation);
}

/* ---- windows ---- */

SYN_INLINE syn_i32 lanes_load(const int32_t *from)
{
    return *(const lanes_i32_array *)from;
}

/* Running sums from the lag of the first window on: where windows end, begin, and where
   what is beside them does. */
typedef struct ends {
    const int32_t *low, *high, *before, *after;
    int32_t far;
} ends;

/* Windows that have enough, perhaps, with what decides it. */
typedef struct bars {
    syn_f32 square, first;
    syn_f32 fewest;  /* spikes that a window has, at least, less a half */
} bars;

/* A bit for each window whose z may be large enough.

   Before logarithms: with e expected of n in a window, and u = d / e more than that, the
   deviance is the sum of 2 e ((1 + u) log(1 + u) - u), which is at most d d / e times
   (3 + u) / (3 + 2 u), and of the same for what is missing of the 4 e beside, with
   v = u / 4: at most d d / e times (1 + v / 3 + 2 v v / 3) / 4. Together these factors
   are at most 1.25. As floats are not exact, a little less is enough. */
SYN_INLINE uint32_t lanes_may_pass(syn_f32 in, syn_i32 all, const bars *bar)
{
    const syn_f32 half = syn_f32_all(0.5f), three = syn_f32_all(3);
    syn_f32 e = lanes_float(all) * syn_f32_all(0.2f);
    syn_f32 d = syn_f32_max(in - half - e, syn_f32_all(0)), dd = d * d;
    if (!syn_flag_bits(syn_f32_below(bar->first * e, dd)))
        return 0;
    syn_f32 u = d / syn_f32_max(e, syn_f32_all(0.1f)), t = u * syn_f32_all(1.0f / 12);
    syn_f32 share = (three + u) / (three + u + u) + syn_f32_all(0.25f) +
                    t * (syn_f32_all(0.25f) + t * syn_f32_all(1.5f));
    return syn_flag_bits(syn_f32_below(bar->square * e, dd * share));
}

/* Adds the windows of a register that may pass, of which the first is number `from`, and
   of which every `step`-th is on the grid. */
SYN_INLINE uint32_t lanes_take(const syn_lanes_windows *w, uint32_t n, uint32_t bits,
                               syn_i32 in, syn_i32 all, uint32_t from, uint32_t step)
{
    int32_t own[2][SYN_F32_LANES];
    *(lanes_i32_array *)own[0] = in;
    *(lanes_i32_array *)own[1] = all;
    for (; bits; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), at = from + lane / step;
        if (at >= w->n)
            break;
        w->at[n] = at;
        w->in[n] = own[0][lane];
        w->all[n++] = own[1][lane];
    }
    return n;
}

/* Of windows at all lags side by side, those on a grid of `step`, at most DENSE: cheaper
   than to fetch those on the grid one by one. */
enum { DENSE = 4 };

SYN_INLINE uint32_t lanes_dense(const syn_lanes_windows *w, ends x, uint32_t step,
                                const bars *bar)
{
    const uint32_t grid = step == 1 ? ~0u : step == 2 ? 0x55555555u : 0x11111111u;
    uint32_t n = 0, lags = (w->n - 1) * step + 1;
    for (uint32_t i = 0; i < lags; i += SYN_F32_LANES) {
        syn_i32 in = lanes_load(x.high + i) - lanes_load(x.low + i);
        syn_f32 inside = lanes_float(in);
        if (!(syn_flag_bits(syn_f32_below(bar->fewest, inside)) & grid))
            continue;
        syn_i32 all = in + lanes_load(x.before + i) - lanes_load(x.before + i - x.far) +
                      lanes_load(x.after + i + x.far) - lanes_load(x.after + i);
        uint32_t bits = lanes_may_pass(inside, all, bar) & grid;
        if (bits)
            n = lanes_take(w, n, bits, in, all, i / step, step);
    }
    return n;
}

SYN_INLINE uint32_t lanes_sparse(const syn_lanes_windows *w, ends x, uint32_t step,
                                 const bars *bar)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i += SYN_F32_LANES) {
        int32_t in[SYN_F32_LANES] = {0}, all[SYN_F32_LANES] = {0};
        for (uint32_t l = 0; l < SYN_F32_LANES && i + l < w->n; l++) {
            ptrdiff_t k = (ptrdiff_t)(i + l) * step;
            in[l] = x.high[k] - x.low[k];
            all[l] = in[l] + x.before[k] - x.before[k - x.far] + x.after[k + x.far] -
                     x.after[k];
        }
        uint32_t bits = lanes_may_pass(lanes_float(lanes_load(in)), lanes_load(all), bar);
        if (bits)
            n = lanes_take(w, n, bits, lanes_load(in), lanes_load(all), i, 1);
    }
    return n;
}

/* Keeps windows that have enough, of n. */
static uint32_t lanes_judge(const syn_lanes_windows *w, uint32_t n, double clumps,
                            int32_t least)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i += SYN_F64_LANES) {
        double in[SYN_F64_LANES], all[SYN_F64_LANES], z[SYN_F64_LANES];
        uint32_t more = n - i < SYN_F64_LANES ? n - i : SYN_F64_LANES;
        for (uint32_t l = 0; l < SYN_F64_LANES; l++) {
            in[l] = w->in[i + (l < more ? l : 0)];
            all[l] = w->all[i + (l < more ? l : 0)];
        }
        syn_f64_store(z, lanes_z(syn_f64_load(in), syn_f64_load(all), clumps));
        for (uint32_t l = 0; l < more; l++) {
            w->at[kept] = w->at[i + l];
            w->z[kept] = syn_peak_z(z[l]);
            kept += w->z[kept] >= least && in[l] >= 2;
        }
    }
    return kept;
}

static uint32_t lanes_pick(const syn_lanes_windows *w, const int32_t *sum, int32_t half,
                           int32_t step, double clumps, int32_t fewest, int32_t least)
{
    double low = (least - 1.0) / SYN_PEAK_SCALE;
    bars bar = {.square = syn_f32_all((float)(0.98 * low * low * clumps)),
                .fewest = syn_f32_all((float)fewest - 0.5f)};
    bar.first = bar.square * syn_f32_all(0.8f);
    ends x = {.high = sum - (ptrdiff_t)(w->n / 2) * step + half,
              .far = SYN_LADDER_BESIDE * (2 * half + 1)};
    x.low = x.high - 2 * half - 1;
    x.before = x.low - half - 1;
    x.after = x.high + half + 1;
    uint32_t n = step == 1       ? lanes_dense(w, x, 1, &bar)
                 : step == 2     ? lanes_dense(w, x, 2, &bar)
                 : step == DENSE ? lanes_dense(w, x, DENSE, &bar)
                                 : lanes_sparse(w, x, (uint32_t)step, &bar);
    return lanes_judge(w, n, clumps, least);
}

SYN_KIND_TABLE(syn_lanes, syn_lanes) = {
    .draw = lanes_draw, .fold = lanes_fold, .add = lanes_add, .pick = lanes_pick};
