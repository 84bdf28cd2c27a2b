/* What the compiled code knows of the machine, as plain lists for R to word. */
#include "glue/glue.h"

#include "core/base/parallel.h"
#include "gpu/base/devices.h"

static SEXP named_list(const char *const *names, int n)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n));
    SEXP labels = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; ++i)
        SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, labels);
    UNPROTECT(2);
    return list;
}

static SEXP threads_list(void)
{
    static const char *const names[] = {
        "openmp", "processors", "affinity", "cgroup", "omp_num_threads",
        "omp_thread_limit", "forked", "threads"
    };
    syn_thread_report report;
    syn_threads(&report);
    const int values[] = {
        report.openmp, report.processors, report.affinity, report.cgroup,
        report.omp_num_threads, report.omp_thread_limit, report.forked, report.threads
    };
    SEXP list = PROTECT(named_list(names, 8));
    for (int i = 0; i < 8; ++i)
        SET_VECTOR_ELT(list, i, Rf_ScalarInteger(values[i]));
    UNPROTECT(1);
    return list;
}

static SEXP survey_list(const syn_gpu_survey *survey)
{
    static const char *const names[] = {
        "built", "runtime", "driver", "architectures", "reason"
    };
    SEXP list = PROTECT(named_list(names, 5));
    SET_VECTOR_ELT(list, 0, Rf_ScalarLogical(survey->built));
    SET_VECTOR_ELT(list, 1, Rf_ScalarInteger(survey->runtime));
    SET_VECTOR_ELT(list, 2, Rf_ScalarInteger(survey->driver));
    SET_VECTOR_ELT(list, 3, Rf_mkString(survey->architectures));
    SET_VECTOR_ELT(list, 4, Rf_mkString(survey->reason));
    UNPROTECT(1);
    return list;
}

static SEXP devices_list(int devices, int test)
{
    static const char *const names[] = {
        "device", "name", "capability_major", "capability_minor", "multiprocessors",
        "memory", "memory_free", "works", "trouble"
    };
    static const SEXPTYPE types[] = {
        INTSXP, STRSXP, INTSXP, INTSXP, INTSXP, REALSXP, REALSXP, LGLSXP, STRSXP
    };
    SEXP list = PROTECT(named_list(names, 9));
    for (int i = 0; i < 9; ++i)
        SET_VECTOR_ELT(list, i, Rf_allocVector(types[i], devices));
    for (int i = 0; i < devices; ++i) {
        syn_gpu_device device;
        syn_gpu_examine(i, test, &device);
        INTEGER(VECTOR_ELT(list, 0))[i] = i;
        SET_STRING_ELT(VECTOR_ELT(list, 1), i, Rf_mkChar(device.name));
        INTEGER(VECTOR_ELT(list, 2))[i] = device.major;
        INTEGER(VECTOR_ELT(list, 3))[i] = device.minor;
        INTEGER(VECTOR_ELT(list, 4))[i] = device.multiprocessors;
        REAL(VECTOR_ELT(list, 5))[i] = (double) device.memory;
        REAL(VECTOR_ELT(list, 6))[i] = device.tested ? (double) device.memory_free
                                                     : NA_REAL;
        LOGICAL(VECTOR_ELT(list, 7))[i] = device.tested ? device.works : NA_LOGICAL;
        SET_STRING_ELT(VECTOR_ELT(list, 8), i, Rf_mkChar(device.trouble));
    }
    UNPROTECT(1);
    return list;
}

/* Bytes that were kept between calls on GPUs, and are not any more. */
SEXP r_release_gpu(void)
{
    return Rf_ScalarReal((double) syn_gpu_release());
}

SEXP r_sitrep(SEXP test)
{
    static const char *const names[] = {"threads", "gpu", "devices"};
    syn_gpu_survey survey;
    syn_gpu_look(&survey);
    SEXP list = PROTECT(named_list(names, 3));
    SET_VECTOR_ELT(list, 0, threads_list());
    SET_VECTOR_ELT(list, 1, survey_list(&survey));
    SET_VECTOR_ELT(list, 2, devices_list(survey.devices, Rf_asLogical(test) == 1));
    UNPROTECT(1);
    return list;
}
