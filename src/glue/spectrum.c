/* Pattern spectra: finds the maxima of surrogates on the CPU or on GPUs, and returns
   them as arrays. */
#include "glue/glue.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/patterns/spectrum/spectrum.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/patterns.h"
#include "glue/require.h"
#include "glue/surrogates.h"
#include "glue/watch.h"
#include "gpu/spectrum/spectrum.h"

typedef struct work {
    syn_budget budget;          /* of all the others */
    syn_trains trains;
    syn_surrogate_plan plan;
    syn_spectrum spectrum, rest;
    uint8_t *left;              /* [n] surrogates that GPUs left to the CPU */
    syn_gpu_spectrum_report gpu;
    char reason[SYN_GPU_TEXT];
} work;

static void release(void *held)
{
    work *w = held;
    syn_spectrum_free(&w->rest);
    syn_spectrum_free(&w->spectrum);
    syn_surrogate_plan_free(&w->plan);
    syn_trains_free(&w->trains);
}

/* On GPUs, and on the CPU what they leave. */
static syn_status make_on_gpus(work *w, syn_spectrum_options options, const int *gpu,
                               int gpus, const syn_watch *watch)
{
    syn_status status = syn_gpu_spectrum(&options, gpu, gpus, watch, &w->spectrum,
                                         w->left, &w->gpu, w->reason);
    if (status != SYN_OK || w->gpu.left == 0)
        return status;
    options.only = w->left;
    status = syn_spectrum_make(&options, watch, &w->rest);
    if (status == SYN_OK) {
        /* Takes over the rows of the surrogates that were left. */
        for (uint32_t k = 0; k < w->spectrum.n; k++)
            if (w->left[k]) {
                w->spectrum.row[k] = w->rest.row[k];
                w->rest.row[k].most = NULL;
            }
        w->spectrum.visited += w->rest.visited;
        w->spectrum.peak_memory += w->rest.peak_memory;
    }
    return status;
}

/* Bytes of an array for R, and of the copy of it that R works with. */
static double maxima_bytes(const syn_spectrum *s)
{
    return 2.0 * s->n * syn_spectrum_sizes(s) * s->durations * sizeof(int);
}

/* An integer array of surrogates, sizes and, unless there is but one, durations. */
static SEXP maxima_array(const syn_spectrum *s, int by_duration)
{
    R_xlen_t n = (R_xlen_t)s->n, sizes = (R_xlen_t)syn_spectrum_sizes(s);
    R_xlen_t durations = (R_xlen_t)s->durations;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n * sizes * durations));
    SEXP dim = PROTECT(Rf_allocVector(INTSXP, by_duration ? 3 : 2));
    int *to = INTEGER(out);
    memset(to, 0, sizeof *to * (size_t)(n * sizes * durations));
    for (R_xlen_t k = 0; k < n; k++) {
        const syn_spectrum_row *row = s->row + k;
        for (R_xlen_t d = 0; d < durations; d++)
            for (R_xlen_t z = 0; z < (R_xlen_t)row->sizes; z++)
                to[(d * sizes + z) * n + k] = (int)row->most[d * row->sizes + z];
    }
    INTEGER(dim)[0] = (int)n;
    INTEGER(dim)[1] = (int)sizes;
    if (by_duration)
        INTEGER(dim)[2] = (int)durations;
    Rf_setAttrib(out, R_DimSymbol, dim);
    UNPROTECT(2);
    return out;
}

static SEXP answer(const work *w, int by_duration, double elapsed)
{
    const char *fields[] = {"maxima", "report", ""};
    const char *reported[] = {"elapsed", "visited", "peak_memory", "left", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, maxima_array(&w->spectrum, by_duration));
    SEXP report = SET_VECTOR_ELT(out, 1, Rf_mkNamed(VECSXP, reported));
    SET_VECTOR_ELT(report, 0, Rf_ScalarReal(elapsed));
    SET_VECTOR_ELT(report, 1, Rf_ScalarReal(w->spectrum.visited));
    SET_VECTOR_ELT(report, 2, Rf_ScalarReal((double)w->spectrum.peak_memory));
    SET_VECTOR_ELT(report, 3, Rf_ScalarReal(w->gpu.left));
    UNPROTECT(1);
    return out;
}

/* The maxima of surrogates number `first` to first + n - 1 in bins of `bin` ticks: a list
   of `maxima`, an array of n x sizes from min_spikes on x durations from 0 where these
   are counted separately, and `report`. `options`: bin, by_duration, first, n and
   gpus. */
SEXP r_spectrum(glue_owner *own, SEXP trains, SEXP surrogates, SEXP patterns,
                SEXP options)
{
    int gpus;
    syn_surrogate_options made = glue_surrogate_options(surrogates);
    syn_pattern_options o = glue_pattern_options(patterns);
    const int64_t most = (int64_t)1 << 53;
    syn_spectrum_options s = {
        .width = glue_option_int(options, "bin", 1, most), .patterns = &o,
        .by_duration = glue_option_flag(options, "by_duration"),
        .first = (uint64_t)glue_option_int(options, "first", 0, most),
        .n = (uint32_t)glue_option_int(options, "n", 0, INT32_MAX)};
    const int *gpu = glue_option_gpus(options, &gpus);
    work *w = glue_hold(own, sizeof *w, release);
    const syn_watch *watch = glue_watch(own, "Mining surrogates");
    s.plan = &w->plan;
    w->left = glue_hold(own, s.n, NULL);
    w->budget.limit = o.max_memory;
    syn_status status = glue_trains(&w->trains, trains, &made, &w->budget, watch);
    double begun = syn_seconds();
    SYN_NEXT(status, syn_surrogate_plan_make(&w->plan, &w->trains, &made, o.threads,
                                             &w->budget, watch));
    SYN_NEXT(status, gpus == 0 ? syn_spectrum_make(&s, watch, &w->spectrum)
                               : make_on_gpus(w, s, gpu, gpus, watch));
    if (status == SYN_OK &&
        maxima_bytes(&w->spectrum) > (double)syn_budget_left(&w->budget))
        status = SYN_OVER_BUDGET;
    if (status == SYN_OK)
        return answer(w, s.by_duration, syn_seconds() - begun);
    return glue_status_because(
        status, NA_REAL, status == SYN_TOO_LARGE ? INT32_MAX : (double)o.max_memory,
        w->reason);
}
