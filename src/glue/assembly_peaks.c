/* Peaks of lag histograms, which the tests of find_assemblies() look at. */
#include "glue/glue.h"

#include <string.h>

#include "core/assemblies/segments.h"
#include "core/assemblies/source.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/spikes.h"
#include "glue/watch.h"
#include "gpu/assemblies/peaks.h"

typedef struct work {
    syn_budget budget;
    syn_segments segments;
    syn_binned binned;
    syn_lagged pairs;
    syn_pair_source source;
    syn_gpu_peaks *gpu;  /* NULL for processors */
    syn_peaks recorded;
    syn_peaks *list;     /* [n] of surrogates */
    uint32_t n;
    char reason[SYN_GPU_TEXT];
} work;

static void release(void *held)
{
    work *w = held;
    syn_peaks_free(&w->recorded);
    for (uint32_t i = 0; w->list && i < w->n; i++)
        syn_peaks_free(w->list + i);
    syn_budget_free(&w->budget, w->list);
    syn_gpu_peaks_close(w->gpu);
    syn_lagged_free(&w->pairs);
    syn_binned_free(&w->binned);
    syn_segments_free(&w->segments);
}

/* Gets ready for both kinds of peaks. */
static syn_status get_ready(work *w, const syn_spikes *spikes, SEXP options,
                            const syn_watch *watch)
{
    syn_ladder l;
    syn_ladder_make(&l, (uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
                    (uint32_t)glue_option_int(options, "widest", 1, 1 << 24));
    int64_t bin = glue_option_int(options, "bin", 1, 1 << 30);
    int64_t segment = glue_option_int(options, "segment", 1, (int64_t)1 << 53);
    int threads = glue_option_threads(options);
    uint64_t key = glue_option_key(options);
    w->source = (syn_pair_source){
        .pairs = &w->pairs, .binned = &w->binned, .key = key,
        .least = (int32_t)glue_option_int(options, "least", 1, SYN_PEAK_MOST),
        .vector_bits = glue_option_vector_bits(options)};
    syn_status status =
        syn_segments_make(&w->segments, spikes, segment, syn_lagged_reach(&l, bin), key,
                          threads, &w->budget, watch);
    SYN_NEXT(status, syn_binned_make(&w->binned, &w->segments.trains, bin, &w->budget));
    SYN_NEXT(status,
             syn_lagged_make(&w->pairs, &l, bin, spikes->units, threads, &w->budget));
    if (status != SYN_OK)
        return status;
    syn_segments_recorded(&w->segments);
    return syn_lagged_count(&w->pairs, &w->segments.recording, spikes, watch);
}

static syn_status open_source(work *w, SEXP options, syn_peak_source *out)
{
    int n = 0;
    const int *gpus = glue_option_gpus(options, &n);
    *out = syn_pair_source_functions(&w->source);
    if (n == 0)
        return SYN_OK;
    SYN_TRY(syn_gpu_peaks_open(&w->source, gpus, n, &w->gpu, w->reason));
    *out = syn_gpu_peaks_functions(w->gpu);
    return SYN_OK;
}

static syn_status find(work *w, syn_peak_source source, uint64_t from,
                       const syn_watch *watch)
{
    syn_status status = source.recording(source.self, &w->recorded, watch);
    if (status != SYN_OK || w->n == 0)
        return status;
    SYN_TAKE_ZEROS(&w->budget, w->list, w->n);
    for (uint32_t i = 0, made; status == SYN_OK && i < w->n; i += made)
        status = source.surrogates(source.self, from + i, w->n - i, w->list + i, &made,
                                   watch);
    return status;
}

/* A matrix with a row for each peak: unit a, unit b (from 1), rung (from 1), lag in bins,
   z in parts of SYN_PEAK_SCALE. */
static SEXP peaks_for_r(const syn_peaks *peaks)
{
    size_t n = peaks->first[syn_pair_count(peaks->units)], i = 0;
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)n, 5));
    int *to = INTEGER(out);
    for (uint32_t b = 1; b < peaks->units; b++)
        for (uint32_t a = 0; a < b; a++)
            for (size_t end = peaks->first[syn_pair_number(a, b) + 1]; i < end; i++) {
                to[i] = (int)a + 1;
                to[n + i] = (int)b + 1;
                to[2 * n + i] = peaks->peak[i].rung + 1;
                to[3 * n + i] = peaks->peak[i].lag;
                to[4 * n + i] = peaks->peak[i].z;
            }
    UNPROTECT(1);
    return out;
}

/* A list of what peaks_for_r() makes: of the recording, then of surrogates `from` to
   `from` + n - 1; and the widths in bins. `options`: bin, segment (ticks), lags, widest
   (bins), least (z in parts of SYN_PEAK_SCALE), from, n, key, gpus, threads,
   max_memory. */
SEXP r_assembly_peaks(glue_owner *own, SEXP trains, SEXP options)
{
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    w->n = (uint32_t)glue_option_int(options, "n", 0, 1 << 24);
    uint64_t from = (uint64_t)glue_option_int(options, "from", 0, (int64_t)1 << 52);
    const syn_watch *watch = glue_watch(own, "Looking at pairs");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    SYN_NEXT(status, get_ready(w, &spikes, options, watch));
    syn_peak_source source;
    SYN_NEXT(status, open_source(w, options, &source));
    SYN_NEXT(status, find(w, source, from, watch));
    if (status != SYN_OK && w->gpu)
        strcpy(w->reason, syn_gpu_peaks_reason(w->gpu));
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, (double)w->budget.limit, w->reason);
    const char *fields[] = {"recording", "surrogates", "width", ""};
    const syn_ladder *l = &w->pairs.ladder;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, peaks_for_r(&w->recorded));
    SEXP lists = SET_VECTOR_ELT(out, 1, Rf_allocVector(VECSXP, (R_xlen_t)w->n));
    for (uint32_t i = 0; i < w->n; i++)
        SET_VECTOR_ELT(lists, (R_xlen_t)i, peaks_for_r(w->list + i));
    int *width = INTEGER(SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, (int)l->rungs)));
    for (uint32_t r = 0; r < l->rungs; r++)
        width[r] = (int)syn_ladder_width(l, r);
    UNPROTECT(1);
    return out;
}
