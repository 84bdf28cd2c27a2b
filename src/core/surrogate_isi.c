#include "core/surrogate_isi.h"

#include <math.h>
#include <stdlib.h>

/* What smooths: weight[0] in the middle, to weight[radius] on both sides. */
typedef struct kernel {
    double *weight;
    int64_t radius;
} kernel;

/* A Gaussian is cut at four standard deviations. */
static syn_status kernel_make(kernel *k, double sigma)
{
    k->radius = (int64_t)(4 * sigma + 0.5);
    k->weight = malloc(((size_t)k->radius + 1) * sizeof *k->weight);
    if (!k->weight)
        return SYN_NO_MEMORY;
    k->weight[0] = 1;
    for (int64_t x = 1; x <= k->radius; x++)
        k->weight[x] = exp(-0.5 * (double)x * (double)x / (sigma * sigma));
    return SYN_OK;
}

/* The place of `i` in [0, n) when values are mirrored behind the first and the last. */
static int64_t mirrored(int64_t i, int64_t n)
{
    i %= 2 * n;
    if (i < 0)
        i += 2 * n;
    return i < n ? i : 2 * n - 1 - i;
}

/* out[i] of `n` values `step` apart. */
static void smooth(const kernel *k, const double *in, double *out, int64_t n, size_t step)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = k->weight[0] * in[(size_t)i * step];
        for (int64_t x = 1; x <= k->radius; x++)
            sum += k->weight[x] * (in[(size_t)mirrored(i - x, n) * step] +
                                   in[(size_t)mirrored(i + x, n) * step]);
        out[(size_t)i * step] = sum;
    }
}

/* The bin of the interval that ends with spike e, or `bins` where there is none. */
static uint32_t interval_bin(const syn_trains *t, const syn_surrogate_options *o,
                             uint32_t e)
{
    if (t->trial[e] != t->trial[e - 1])
        return o->isi_bins;
    int64_t bin = (t->tick[e] - t->tick[e - 1]) / o->isi_bin;
    return bin < (int64_t)o->isi_bins ? (uint32_t)bin : o->isi_bins;
}

/* Pairs as they are: joint[first * bins + second]. */
static void count_pairs(const syn_trains *t, const syn_surrogate_options *o,
                        uint32_t unit, double *joint)
{
    uint32_t bins = o->isi_bins, before = bins;
    for (uint32_t e = t->first[unit] + 1; e < t->first[unit + 1]; e++) {
        uint32_t now = interval_bin(t, o, e);
        if (before < bins && now < bins)
            joint[(size_t)before * bins + now] += 1;
        before = now;
    }
}

/* Pairs of intervals that know nothing of each other. */
static void multiply(const double *alone, uint32_t bins, double *joint)
{
    for (uint32_t a = 0; a < bins; a++)
        for (uint32_t b = 0; b < bins; b++)
            joint[(size_t)a * bins + b] = alone[a] * alone[b];
}

/* Cumulative weights of each sum, scaled so that they use a word. */
static void accumulate(const double *joint, uint32_t bins, uint32_t *table)
{
    for (uint32_t sum = 0; sum < bins; table += ++sum) {
        double all = 0, so_far = 0;
        for (uint32_t a = 0; a <= sum; a++)
            all += joint[(size_t)a * bins + (sum - a)];
        double scale = all > 0 ? 2147483648.0 / all : 0;
        for (uint32_t a = 0; a <= sum; a++) {
            so_far += joint[(size_t)a * bins + (sum - a)];
            table[a] = (uint32_t)(so_far * scale);
        }
    }
}

uint32_t syn_isi_table_length(uint32_t bins)
{
    return bins * (bins + 1) / 2;
}

/* Smooths from bin `from` on, where what is mirrored comes from as well. */
static void fill_joint(const syn_trains *t, const syn_surrogate_options *o, uint32_t unit,
                       uint32_t from, const kernel *k, double *joint, double *work)
{
    size_t bins = o->isi_bins, corner = from * bins + from;
    int64_t n = (int64_t)(bins - from);
    count_pairs(t, o, unit, joint);
    for (size_t i = 0; i < bins - from; i++)
        smooth(k, joint + corner + i * bins, work + corner + i * bins, n, 1);
    for (size_t i = 0; i < bins - from; i++)
        smooth(k, work + corner + i, joint + corner + i, n, bins);
}

static void fill_product(const syn_trains *t, const syn_surrogate_options *o,
                         uint32_t unit, uint32_t from, const kernel *k, double *joint,
                         double *work)
{
    double *count = work, *alone = work + o->isi_bins;
    for (uint32_t e = t->first[unit] + 1; e < t->first[unit + 1]; e++) {
        uint32_t bin = interval_bin(t, o, e);
        if (bin < o->isi_bins)
            count[bin] += 1;
    }
    smooth(k, count + from, alone + from, (int64_t)(o->isi_bins - from), 1);
    multiply(alone, o->isi_bins, joint);
}

syn_status syn_isi_table(const syn_trains *trains, const syn_surrogate_options *o,
                         uint32_t unit, int64_t refractory, uint32_t *table)
{
    /* Two bins at least, as the product works with two rows. */
    size_t bins = o->isi_bins, cells = bins * bins + 2 * bins;
    kernel k;
    syn_status status = kernel_make(&k, o->sigma);
    double *joint = calloc(cells, sizeof *joint), *work = calloc(cells, sizeof *work);
    if (!joint || !work)
        status = SYN_NO_MEMORY;
    int64_t from = refractory / o->isi_bin;
    if (status == SYN_OK && from < (int64_t)bins) {
        (o->method == SYN_SURROGATE_ISI_DITHER ? fill_product : fill_joint)(
            trains, o, unit, (uint32_t)from, &k, joint, work);
        accumulate(joint, o->isi_bins, table);
    }
    free(work);
    free(joint);
    free(k.weight);
    return status;
}
