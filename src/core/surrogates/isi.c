/* Makes the tables of joint-ISI and ISI dithering. For each unit the pairs of successive
   intervals are counted in a histogram, which is smoothed by a Gaussian along rows and
   columns and made cumulative along the diagonals, on each of which the sum of both
   intervals is the same. */
#include "core/surrogates/isi.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"

enum { LANES = 8 };  /* rows or columns smoothed side by side */

/* ---- memory ---- */

static int is_product(const syn_surrogate_options *o)
{
    return o->method == SYN_SURROGATE_ISI_DITHER;
}

static size_t joint_cells(const syn_surrogate_options *o)
{
    return is_product(o) ? 0 : (size_t)o->isi_bins * o->isi_bins;
}

uint32_t syn_isi_table_length(uint32_t bins)
{
    return bins * (bins + 1) / 2;
}

double syn_isi_maker_bytes(const syn_surrogate_options *o)
{
    return ((double)joint_cells(o) + (3 * LANES + 2.0) * o->isi_bins + 3) *
           sizeof(double);
}

syn_status syn_isi_maker_make(syn_isi_maker *out, const syn_trains *trains,
                              const syn_surrogate_options *options, syn_budget *budget)
{
    size_t bins = options->isi_bins;
    *out = (syn_isi_maker){.trains = trains, .options = options};
    SYN_TAKE(budget, out->joint, joint_cells(options) + 1);
    SYN_TAKE(budget, out->alone, bins + 1);
    SYN_TAKE(budget, out->line, 3 * bins * LANES);
    SYN_TAKE(budget, out->weight, bins + 1);
    return SYN_OK;
}

/* ---- counting ---- */

/* The bin of the interval that ends with spike e, or `bins` where there is none. */
static uint32_t interval_bin(const syn_trains *t, const syn_surrogate_options *o,
                             uint32_t e)
{
    if (t->trial[e] != t->trial[e - 1])
        return o->isi_bins;
    int64_t bin = (t->tick[e] - t->tick[e - 1]) / o->isi_bin;
    return bin < (int64_t)o->isi_bins ? (uint32_t)bin : o->isi_bins;
}

static void count_pairs(syn_isi_maker *m)
{
    const syn_trains *t = m->trains;
    uint32_t bins = m->options->isi_bins, before = bins;
    memset(m->joint, 0, joint_cells(m->options) * sizeof *m->joint);
    for (uint32_t e = t->first[m->unit] + 1; e < t->first[m->unit + 1]; e++) {
        uint32_t now = interval_bin(t, m->options, e);
        if (before < bins && now < bins)
            m->joint[(size_t)before * bins + now] += 1;
        before = now;
    }
}

/* ---- smoothing ---- */

/* The weights for `n` values, which are mirrored at both ends again and again: with all
   their images they come back after 2 n, so a Gaussian that reaches further than the
   values is folded. It is cut at four standard deviations. */
static void fill_weights(syn_isi_maker *m, uint32_t n)
{
    double sigma = m->options->sigma;
    int64_t radius = (int64_t)(4 * sigma + 0.5), values = n;
    m->radius = (uint32_t)(radius < values ? radius : values);
    memset(m->weight, 0, (m->radius + 1) * sizeof *m->weight);
    for (int64_t x = 0; x <= radius; x++) {
        int64_t at = x % (2 * values);
        m->weight[at <= values ? at : 2 * values - at] +=
            x == 0 ? 1 : exp(-0.5 * (double)x * (double)x / (sigma * sigma));
    }
    if (radius < values)
        return;
    /* Going left and going right both lead to the middle, and both to the far end. */
    m->weight[0] = 2 * m->weight[0] - 1;
    /* Value n to the left is value n to the right: the sum below has it twice. */
}

/* Copies `lanes` lanes of `n` values to `line`, with as many images on both sides as the
   Gaussian reaches; returns whether any value is not zero. */
static int fill_line(const syn_isi_maker *m, const double *in, uint32_t n, size_t step,
                     size_t lane, uint32_t lanes)
{
    uint32_t reach = m->radius;
    double *middle = m->line + (size_t)reach * LANES, any = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < LANES; l++) {
            double value = l < lanes ? in[i * step + l * lane] : 0;
            middle[(size_t)i * LANES + l] = value;
            any += value;
        }
    size_t row = LANES * sizeof *m->line;
    for (uint32_t i = 0; i < reach; i++) {
        memcpy(middle - (size_t)(i + 1) * LANES, middle + (size_t)i * LANES, row);
        memcpy(middle + (size_t)(n + i) * LANES, middle + (size_t)(n - 1 - i) * LANES,
               row);
    }
    return any > 0;
}

/* Smooths `lanes` lanes of `n` values `step` apart, in place; lanes are `lane` apart. The
   last of the values that are wanted is before `end`. */
static void smooth(const syn_isi_maker *m, double *values, uint32_t n, uint32_t end,
                   size_t step, size_t lane, uint32_t lanes)
{
    if (!fill_line(m, values, n, step, lane, lanes))
        return;
    for (uint32_t i = 0; i < end; i++) {
        const double *at = m->line + (size_t)(m->radius + i) * LANES;
        double sum[LANES];
        for (int l = 0; l < LANES; l++)
            sum[l] = m->weight[0] * at[l];
        for (uint32_t x = 1; x <= m->radius; x++) {
            const double *left = at - (size_t)x * LANES, *right = at + (size_t)x * LANES;
            double weight = m->weight[x];
            for (int l = 0; l < LANES; l++)
                sum[l] += weight * (left[l] + right[l]);
        }
        for (uint32_t l = 0; l < lanes; l++)
            values[i * step + l * lane] = sum[l];
    }
}

/* The next lanes of the pairs from bin `from` on: a Gaussian in two dimensions is one in
   rows and then one in columns. Of columns only what lies in a sum below `bins` is asked
   for later. */
static void smooth_pairs(syn_isi_maker *m)
{
    uint32_t bins = m->options->isi_bins, n = bins - m->from;
    int in_rows = m->smoothed < n;
    uint32_t at = in_rows ? m->smoothed : m->smoothed - n;
    uint32_t lanes = n - at < LANES ? n - at : LANES;
    double *corner = m->joint + (size_t)m->from * bins + m->from;
    if (in_rows) {
        smooth(m, corner + (size_t)at * bins, n, n, 1, bins, lanes);
    } else {
        uint32_t column = m->from + at, end = bins - column;
        if (end > m->from)
            smooth(m, corner + at, n, end - m->from, bins, 1, lanes);
    }
    m->smoothed += lanes;
}

/* ---- tables ---- */

static double weight_of(const syn_isi_maker *m, uint32_t first, uint32_t second)
{
    return is_product(m->options)
               ? m->alone[first] * m->alone[second]
               : m->joint[(size_t)first * m->options->isi_bins + second];
}

void syn_isi_begin(syn_isi_maker *m, uint32_t unit, int64_t refractory)
{
    uint32_t bins = m->options->isi_bins;
    int64_t from = refractory / m->options->isi_bin;
    m->unit = unit;
    m->from = from < (int64_t)bins ? (uint32_t)from : bins;
    m->smoothed = 0;
    if (m->from == bins)
        return;
    fill_weights(m, bins - m->from);
    if (is_product(m->options)) {
        const syn_trains *t = m->trains;
        memset(m->alone, 0, m->options->isi_bins * sizeof *m->alone);
        for (uint32_t e = t->first[m->unit] + 1; e < t->first[m->unit + 1]; e++) {
            uint32_t bin = interval_bin(t, m->options, e);
            if (bin < m->options->isi_bins)
                m->alone[bin] += 1;
        }
        smooth(m, m->alone + m->from, bins - m->from, bins - m->from, 1, 0, 1);
    } else {
        count_pairs(m);
    }
}

syn_status syn_isi_go_on(syn_isi_maker *m, double deadline, uint32_t *table)
{
    uint32_t n = m->options->isi_bins - m->from;
    while (m->smoothed < 2 * n && !is_product(m->options)) {
        smooth_pairs(m);
        if (syn_seconds() > deadline)
            return SYN_UNFINISHED;
    }
    if (n > 0) {
        /* Cumulative weights of each sum, scaled so that they use a word. */
        for (uint32_t sum = 0; sum < m->options->isi_bins; table += ++sum) {
            double all = 0, so_far = 0;
            for (uint32_t a = 0; a <= sum; a++)
                all += weight_of(m, a, sum - a);
            double scale = all > 0 ? 2147483648.0 / all : 0;
            for (uint32_t a = 0; a <= sum; a++) {
                so_far += weight_of(m, a, sum - a);
                table[a] = (uint32_t)(so_far * scale);
            }
        }
    }
    return SYN_OK;
}
