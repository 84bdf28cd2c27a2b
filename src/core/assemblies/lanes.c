/* Adds, looks through and judges lag histograms with vector registers. Compiled once for
   each kind of processor (see base/kinds.h). */
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

/* ---- windows ---- */

SYN_INLINE syn_i32 lanes_load(const int32_t *from)
{
    return *(const lanes_i32_array *)from;
}

/* Side by side where lags are a bin apart. */
static void lanes_fill(const syn_lanes_windows *w, const int32_t *sum, int32_t half,
                         int32_t step)
{
    int32_t reach = ((int32_t)w->n - 1) / 2, far = SYN_LADDER_BESIDE * (2 * half + 1);
    const int32_t *high = sum - (ptrdiff_t)reach * step + half;
    const int32_t *low = high - 2 * half - 1;
    const int32_t *before = low - half - 1, *after = high + half + 1;
    uint32_t i = 0;
    if (step == 1)
        for (; i + SYN_F32_LANES <= w->n; i += SYN_F32_LANES) {
            syn_i32 in = lanes_load(high + i) - lanes_load(low + i);
            *(lanes_i32_array *)(w->in + i) = in;
            *(lanes_i32_array *)(w->all + i) =
                in + lanes_load(before + i) - lanes_load(before + i - far) +
                lanes_load(after + i + far) - lanes_load(after + i);
        }
    for (; i < w->n; i++) {
        ptrdiff_t k = (ptrdiff_t)i * step;
        w->in[i] = high[k] - low[k];
        w->all[i] = w->in[i] + before[k] - before[k - far] + after[k + far] - after[k];
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

/* Of windows `at`, keeps those with enough. */
static uint32_t lanes_judge(const syn_lanes_windows *w, uint32_t n, double clumps,
                      int32_t least)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i += SYN_F64_LANES) {
        double in[SYN_F64_LANES], all[SYN_F64_LANES], z[SYN_F64_LANES];
        uint32_t at[SYN_F64_LANES], more = n - i;
        more = more < SYN_F64_LANES ? more : SYN_F64_LANES;
        for (uint32_t l = 0; l < SYN_F64_LANES; l++) {
            at[l] = w->at[i + (l < more ? l : 0)];
            in[l] = w->in[at[l]];
            all[l] = w->all[at[l]];
        }
        syn_f64_store(z, lanes_z(syn_f64_load(in), syn_f64_load(all), clumps));
        for (uint32_t l = 0; l < more; l++) {
            w->at[kept] = at[l];
            w->z[kept] = syn_peak_z(z[l]);
            kept += w->z[kept] >= least && in[l] >= 2;
        }
    }
    return kept;
}

/* Before logarithms: with e expected of n in a window, and u = d / e more than that, the
   deviance is the sum of 2 e ((1 + u) log(1 + u) - u), which is at most d d / e times
   (3 + u) / (3 + 2 u), and of the same for what is missing of the 4 e beside, with
   v = u / 4: at most d d / e times (1 + v / 3 + 2 v v / 3) / 4. Together these factors
   are at most 1.25. As floats are not exact, a little less is enough. */
static uint32_t lanes_pick(const syn_lanes_windows *w, double clumps, int32_t least)
{
    double low = (least - 1.0) / SYN_PEAK_SCALE;
    const syn_f32 square = syn_f32_all((float)(0.98 * low * low * clumps));
    const syn_f32 first = square * syn_f32_all(0.8f), half = syn_f32_all(0.5f);
    const syn_f32 three = syn_f32_all(3), third = syn_f32_all(1.0f / 12);
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i += SYN_F32_LANES) {
        syn_f32 in = lanes_float(lanes_load(w->in + i));
        syn_f32 e = lanes_float(lanes_load(w->all + i)) * syn_f32_all(0.2f);
        syn_f32 d = syn_f32_max(in - half - e, syn_f32_all(0)), dd = d * d;
        if (!syn_flag_bits(syn_f32_below(first * e, dd)))
            continue;
        syn_f32 u = d / syn_f32_max(e, syn_f32_all(0.1f)), t = u * third;
        syn_f32 share = (three + u) / (three + u + u) + syn_f32_all(0.25f) +
                        t * (syn_f32_all(0.25f) + t * syn_f32_all(1.5f));
        uint32_t bits = syn_flag_bits(syn_f32_below(square * e, dd * share));
        for (; bits; bits &= bits - 1) {
            uint32_t k = i + (uint32_t)__builtin_ctz(bits);
            w->at[n] = k;
            n += k < w->n;
        }
    }
    return lanes_judge(w, n, clumps, least);
}

const syn_lanes SYN_KIND_NAME(syn_lanes) = {
    .draw = lanes_draw, .fold = lanes_fold, .add = lanes_add, .fill = lanes_fill,
    .pick = lanes_pick};

#if SYN_WIDTH == 0
SYN_FASTEST(const syn_lanes, syn_lanes)
#endif
