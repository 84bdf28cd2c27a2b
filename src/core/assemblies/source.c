/* Makes the peaks of the recording and of surrogates. */
#include "core/assemblies/source.h"

#include <string.h>

#include "core/assemblies/scan.h"

static void set_clumps(const syn_lagged *p, uint32_t a, uint32_t b, syn_scan *scan)
{
    for (uint32_t r = 0; r < p->ladder.rungs; r++)
        scan->clumps[r] = p->clumps[(size_t)r * p->units + a] *
                          p->clumps[(size_t)r * p->units + b];
}

static syn_status recording(void *context, syn_peaks *out, const syn_watch *watch)
{
    const syn_pair_source *s = context;
    const syn_lagged *p = s->pairs;
    syn_status status = syn_peaks_make(out, p->units, p->budget);
    syn_scan scan = {.ladder = &p->ladder, .common = p->common, .spread = p->spread,
                     .least = s->least};
    syn_peak *peak = syn_budget_alloc(p->budget, p->ladder.first[p->ladder.rungs],
                                      sizeof *peak);
    if (!peak)
        status = syn_budget_refusal(p->budget);
    for (uint32_t b = 1; status == SYN_OK && b < p->units; b++) {
        status = syn_poll(watch, "units", b, p->units);
        for (uint32_t a = 0; status == SYN_OK && a < b; a++) {
            set_clumps(p, a, b, &scan);
            size_t n = syn_scan_peaks(&scan, syn_lagged_sums(p, a, b), peak);
            status = syn_peaks_add(out, syn_pair_number(a, b), peak, n);
        }
    }
    syn_budget_free(p->budget, peak);
    return status;
}

/* Adds the pairs of spikes of one segment. */
static void count(const syn_pair_source *s, uint64_t surrogate, uint32_t a, uint32_t b,
                  uint32_t k, int32_t *histogram)
{
    const syn_binned *x = s->binned;
    uint32_t n = x->n[k], margin = s->pairs->ladder.margin;
    const uint32_t *at_a = x->first + (size_t)a * x->segments + k;
    const uint32_t *at_b = x->first + (size_t)b * x->segments + k;
    uint64_t shift = (uint64_t)syn_binned_shift(s->key, surrogate, b, k, n) + n -
                     syn_binned_shift(s->key, surrogate, a, k, n) + margin;
    for (uint32_t i = at_a[0]; i < at_a[1]; i++)
        for (uint32_t j = at_b[0]; j < at_b[1]; j++)
            for (uint64_t lag = (shift + n + x->bin[j] - x->bin[i]) % n;
                 lag <= 2 * margin; lag += n)
                histogram[lag]++;
}

static syn_status surrogate(const syn_pair_source *s, uint64_t which, syn_peaks *out,
                            const syn_watch *watch)
{
    const syn_lagged *p = s->pairs;
    size_t length = 2 * (size_t)p->ladder.margin + 1;
    syn_status status = syn_peaks_make(out, p->units, p->budget);
    syn_scan scan = {.ladder = &p->ladder, .least = s->least};
    syn_peak *peak = syn_budget_alloc(p->budget, p->ladder.first[p->ladder.rungs],
                                      sizeof *peak);
    int32_t *sum = syn_budget_alloc(p->budget, length, sizeof *sum);
    if (!peak || !sum)
        status = syn_budget_refusal(p->budget);
    for (uint32_t b = 1; status == SYN_OK && b < p->units; b++) {
        status = syn_poll(watch, "units", b, p->units);
        for (uint32_t a = 0; status == SYN_OK && a < b; a++) {
            memset(sum, 0, length * sizeof *sum);
            for (uint32_t k = 0; k < s->binned->segments; k++)
                count(s, which, a, b, k, sum);
            for (size_t i = 1; i < length; i++)
                sum[i] += sum[i - 1];
            set_clumps(p, a, b, &scan);
            size_t n = syn_scan_peaks(&scan, sum + p->ladder.margin, peak);
            status = syn_peaks_add(out, syn_pair_number(a, b), peak, n);
        }
    }
    syn_budget_free(p->budget, peak);
    syn_budget_free(p->budget, sum);
    return status;
}

static syn_status surrogates(void *context, uint64_t from, uint32_t n, syn_peaks *out,
                             uint32_t *made, const syn_watch *watch)
{
    memset(out, 0, n * sizeof *out);
    for (*made = 0; *made < n; ++*made) {
        syn_status status = surrogate(context, from + *made, out + *made, watch);
        if (status == SYN_OVER_BUDGET && *made > 0) {
            syn_peaks_free(out + *made);
            return SYN_OK;
        }
        if (status != SYN_OK)
            return status;
    }
    return SYN_OK;
}

syn_peak_source syn_pair_source_functions(syn_pair_source *self)
{
    return (syn_peak_source){.self = self, .recording = recording,
                             .surrogates = surrogates};
}
