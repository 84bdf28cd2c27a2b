/* Peaks of pairs alone, for tests and benchmarks: on processors and on GPUs. */
#include "glue/glue.h"

#include <string.h>

#include "core/assemblies/segments.h"
#include "core/assemblies/source.h"
#include "core/base/parallel.h"
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
    syn_pair_source made_by;
    syn_gpu_peaks *gpu;
    syn_peak_source source;
    syn_peaks *list;        /* [n] of surrogates, or the recording alone */
    uint32_t n;
    double opened, seconds; /* what they took */
    char reason[SYN_GPU_TEXT];
} work;

static void release(void *held)
{
    work *w = held;
    for (uint32_t k = 0; w->list && k < w->n; k++)
        syn_peaks_free(w->list + k);
    syn_budget_free(&w->budget, w->list);
    syn_gpu_peaks_close(w->gpu);
    syn_lagged_free(&w->pairs);
    syn_binned_free(&w->binned);
    syn_segments_free(&w->segments);
}

/* ---- making ---- */

static syn_status prepare(work *w, const syn_spikes *spikes, SEXP options,
                          const syn_watch *watch)
{
    int64_t bin = glue_option_int(options, "bin", 1, 1 << 30);
    int threads = glue_option_threads(options);
    syn_ladder l;
    syn_ladder_make(&l, (uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
                    (uint32_t)glue_option_int(options, "widest", 1, 1 << 24));
    w->made_by = (syn_pair_source){
        .pairs = &w->pairs, .binned = &w->binned, .key = glue_option_key(options),
        .least = (int32_t)glue_option_int(options, "least", 1, SYN_PEAK_MOST)};
    syn_status status = syn_segments_make(
        &w->segments, spikes, glue_option_int(options, "segment", 1, (int64_t)1 << 53),
        syn_lagged_reach(&l, bin), w->made_by.key, threads, &w->budget, watch);
    if (status == SYN_OK)
        status = syn_binned_make(&w->binned, &w->segments.trains, bin, &w->budget);
    if (status == SYN_OK)
        status = syn_lagged_make(&w->pairs, &l, bin, spikes->units, threads, &w->budget);
    if (status != SYN_OK)
        return status;
    syn_segments_recorded(&w->segments);
    return syn_lagged_count(&w->pairs, &w->segments.recording, watch);
}

static syn_status open_source(work *w, SEXP options)
{
    int n = 0;
    const int *gpus = glue_option_gpus(options, &n);
    double begun = syn_seconds();
    w->source = syn_pair_source_functions(&w->made_by);
    if (n == 0)
        return SYN_OK;
    syn_status status = syn_gpu_peaks_open(&w->made_by, &w->segments.recording, gpus, n,
                                           &w->gpu, w->reason);
    if (status == SYN_OK)
        w->source = syn_gpu_peaks_functions(w->gpu);
    w->opened = syn_seconds() - begun;
    return status;
}

/* As many calls as it takes; the last list is that of the recording. */
static syn_status make_lists(work *w, uint64_t from, const syn_watch *watch)
{
    uint32_t n = w->n - 1, made = 0;
    void *self = w->source.self;
    double begun = syn_seconds();
    syn_status status = w->source.recording(self, w->list + n, watch);
    for (uint32_t done = 0; status == SYN_OK && done < n; done += made)
        status = w->source.surrogates(self, from + done, n - done, w->list + done, &made,
                                      watch);
    if (status != SYN_OK && w->gpu)
        strcpy(w->reason, syn_gpu_peaks_reason(w->gpu));
    w->seconds = syn_seconds() - begun;
    return status;
}

static syn_status make(work *w, const syn_spikes *spikes, SEXP options,
                       const syn_watch *watch)
{
    syn_status status = prepare(w, spikes, options, watch);
    if (status == SYN_OK)
        status = open_source(w, options);
    if (status != SYN_OK)
        return status;
    w->n = (uint32_t)glue_option_int(options, "n", 0, 1 << 24) + 1;
    w->list = syn_budget_zeros(&w->budget, w->n, sizeof *w->list);
    if (!w->list)
        return syn_budget_refusal(&w->budget);
    return make_lists(w, (uint64_t)glue_option_int(options, "from", 0, 1 << 24), watch);
}

/* ---- for R ---- */

/* A column for each peak: list, from 1, the last one that of the recording; pair, from 1;
   rung, from 1; lag (bins); z (parts). */
static SEXP table(const work *w)
{
    R_xlen_t n = 0, at = 0;
    size_t pairs = syn_pair_count(w->pairs.units);
    for (uint32_t k = 0; k < w->n; k++)
        n += (R_xlen_t)w->list[k].first[pairs];
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, 5, (int)n));
    int *row = INTEGER(out);
    for (uint32_t k = 0; k < w->n; k++)
        for (size_t p = 0; p < pairs; p++)
            for (size_t i = w->list[k].first[p]; i < w->list[k].first[p + 1]; i++, at++) {
                const syn_peak *peak = w->list[k].peak + i;
                int value[] = {(int)k + 1, (int)p + 1, peak->rung + 1, peak->lag,
                               peak->z};
                memcpy(row + 5 * at, value, sizeof value);
            }
    UNPROTECT(1);
    return out;
}

/* Peaks of surrogates `from` to below `from + n` and of the recording: `peak`, or their
   `number` alone (`table` FALSE), and the `seconds` it took to open a device and to make
   them. `options`: bin, segment (ticks), lags, widest (bins), least (parts of a z), from,
   n, table, key, gpus, threads, max_memory. */
SEXP r_assembly_peaks(glue_owner *own, SEXP trains, SEXP options)
{
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    const syn_watch *watch = glue_watch(own, "Looking at pairs");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    if (status == SYN_OK)
        status = make(w, &spikes, options, watch);
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, (double)w->budget.limit, w->reason);
    const char *fields[] = {"peak", "number", "seconds", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    if (glue_option_flag(options, "table"))
        SET_VECTOR_ELT(out, 0, table(w));
    double number = 0;
    for (uint32_t k = 0; k < w->n; k++)
        number += (double)w->list[k].first[syn_pair_count(w->pairs.units)];
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(number));
    SEXP seconds = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, 2));
    REAL(seconds)[0] = w->opened;
    REAL(seconds)[1] = w->seconds;
    UNPROTECT(1);
    return out;
}
