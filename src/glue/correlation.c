/* Pairs of units: lag histograms, and spikes that have one of another unit nearby. */
#include "glue/glue.h"

#include "core/correlation/lags.h"
#include "core/correlation/tiling.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"
#include "gpu/correlation/lags.h"

typedef struct work {
    syn_budget budget;
    syn_recording recording;
} work;

static void release(void *held)
{
    syn_recording_free(&((work *)held)->recording);
}

/* Memory of a recording, an event: see core/spikes/recording.h. */
enum { READ_BYTES = 12, MADE_BYTES = 28 };

/* The recording and an integer vector of `length`, counted as held; R's NULL and a status
   where that is not to be had. */
static SEXP begin(work *w, SEXP trains, int64_t reach, double length, int arranged,
                  int threads, const syn_watch *watch, syn_status *status, double *needed)
{
    double events = (double)Rf_xlength(VECTOR_ELT(trains, 0));
    double bytes = events * (arranged ? MADE_BYTES : READ_BYTES);
    syn_spikes spikes;
    *needed = bytes + length * sizeof(int);
    *status = SYN_OVER_BUDGET;
    if (*needed > (double)w->budget.limit || length > (double)R_XLEN_T_MAX ||
        !syn_budget_take(&w->budget, (size_t)*needed))
        return R_NilValue;
    *status = glue_spikes(&spikes, trains, 1, watch);
    if (*status == SYN_OK)
        *status = (arranged ? syn_recording_make : syn_recording_read)(
            &w->recording, &spikes, 0, reach, threads, watch);
    return *status == SYN_OK ? Rf_allocVector(INTSXP, (R_xlen_t)length) : R_NilValue;
}

static SEXP finish(const work *w, SEXP out, syn_status status, double needed)
{
    if (status == SYN_OK)
        return out;
    double limit = status == SYN_TOO_LARGE ? INT32_MAX : (double)w->budget.limit;
    double least = status == SYN_TOO_LARGE ? NA_REAL : needed;
    return glue_status(status, least, limit);
}

/* Counts [lag, reference, target] as one vector. `trains` as glue_spikes() takes them;
   `options`: bin (ticks), lags, gpus, threads, max_memory. */
SEXP r_lag_histograms(glue_owner *own, SEXP trains, SEXP options)
{
    syn_lag_options o = {.bin = glue_option_int(options, "bin", 1, SYN_LAG_MOST_BIN),
                         .lags = (uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
                         .threads = glue_option_threads(options)};
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    double units = glue_units(trains), needed;
    syn_status status;
    const syn_watch *watch = gpu.watch = glue_watch(own, "Counting lags");
    double length = units * units * (2.0 * o.lags + 1);
    SEXP out = PROTECT(begin(w, trains, syn_lag_reach(&o), length, 0, o.threads, watch,
                             &status, &needed));
    SYN_NEXT(status, gpu.n == 0
                         ? syn_lag_histograms(&w->recording, &o, INTEGER(out), &w->budget,
                                              watch)
                         : syn_gpu_lag_histograms(&w->recording, &o, w->budget.limit,
                                                  &gpu, INTEGER(out)));
    UNPROTECT(1);
    if (gpu.n > 0 && status != SYN_OK && status != SYN_TOO_LARGE)
        return glue_status_within(status, (double)w->budget.limit, gpu.reason);
    return finish(w, out, status, needed);
}

/* Counts [of, near] as one vector: spikes of the first unit with one of the second at
   most `reach` ticks away. `options`: reach, threads, max_memory. */
SEXP r_tiling_near(glue_owner *own, SEXP trains, SEXP options)
{
    int64_t reach = glue_option_int(options, "reach", 0, (int64_t)1 << 53);
    int threads = glue_option_threads(options);
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    double units = glue_units(trains), needed;
    syn_status status;
    const syn_watch *watch = glue_watch(own, "Comparing spike trains");
    SEXP out =
        PROTECT(begin(w, trains, reach, units * units, 1, threads, watch, &status,
                      &needed));
    SYN_NEXT(status, syn_tiling_near(&w->recording, reach, threads, INTEGER(out),
                                     &w->budget, watch));
    UNPROTECT(1);
    return finish(w, out, status, needed);
}
