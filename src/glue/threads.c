/* Reports how many threads may run and why, and runs a loop of known length for the
   tests. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200112L
#endif

#include "glue/glue.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/watch.h"

SEXP r_threads_report(void)
{
    syn_thread_report report;
    syn_threads(&report);
    const char *fields[] = {"openmp", "processors",      "affinity",
                            "cgroup", "omp_num_threads", "omp_thread_limit",
                            "forked", "threads",         ""};
    const int value[] = {report.openmp, report.processors,      report.affinity,
                         report.cgroup, report.omp_num_threads, report.omp_thread_limit,
                         report.forked, report.threads};
    SEXP out = PROTECT(Rf_mkNamed(INTSXP, fields));
    memcpy(INTEGER(out), value, sizeof value);
    UNPROTECT(1);
    return out;
}

/* Ends the threads that loops have left: the library is about to be unloaded. */
SEXP r_threads_end(void)
{
    syn_parallel_end();
    return R_NilValue;
}

SEXP r_cgroup_processors(SEXP membership, SEXP mount)
{
    return Rf_ScalarInteger(syn_cgroup_processors(CHAR(STRING_ELT(membership, 0)),
                                                  CHAR(STRING_ELT(mount, 0))));
}

typedef struct probe {
    double seconds;  /* how long an item computes */
    double fail_at;  /* item that fails with `status` */
    syn_status status;
    int *worker;     /* [items] which worker had it, from 1; 0 if none had */
    double *value;   /* [items] random number of the item's own stream */
} probe;

static syn_status probe_item(void *context, size_t item, int worker)
{
    probe *p = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double until = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + p->seconds;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < until);
    syn_random rng;
    syn_random_start(&rng, 1, item);
    p->worker[item] = worker + 1;
    p->value[item] = syn_random_uniform(&rng);
    return (double)item == p->fail_at ? p->status : SYN_OK;
}

/* Spins for `seconds` an item, so that tests can interrupt, time and fork a loop of known
   length. `fail_at` (from 0) ends with `status`, a number; -1 ends with an error of R's
   after the loop, and -2 with one where R has no memory. Holds its results outside R's
   heap like every core module does, so that a leak would show. */
SEXP r_parallel_probe(glue_owner *own, SEXP items, SEXP seconds, SEXP threads,
                      SEXP fail_at, SEXP status)
{
    size_t n = (size_t)Rf_asReal(items);
    const char *fields[] = {"worker", "value", ""};
    int ending = Rf_asInteger(status);
    probe p = {.seconds = Rf_asReal(seconds), .fail_at = Rf_asReal(fail_at),
               .status = ending > 0 ? (syn_status)ending : SYN_OK};
    const syn_watch *watch = glue_watch(own, "Probing");
    p.worker = glue_hold(own, n * sizeof *p.worker, NULL);
    p.value = glue_hold(own, n * sizeof *p.value, NULL);
    syn_status result = syn_parallel_for(n, Rf_asInteger(threads), watch, "spinning",
                                         probe_item, &p);
    if (result != SYN_OK)
        return glue_status(result, 3e9, 1e9);
    require(ending != -1, "end");
    if (ending == -2)
        Rf_allocVector(REALSXP, R_XLEN_T_MAX);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)n));
    if (n > 0) {
        memcpy(INTEGER(VECTOR_ELT(out, 0)), p.worker, n * sizeof *p.worker);
        memcpy(REAL(VECTOR_ELT(out, 1)), p.value, n * sizeof *p.value);
    }
    UNPROTECT(1);
    return out;
}
