/* What the compiled code knows of GPUs, as plain lists for R to word. */
#include "glue/glue.h"

#include "gpu/base/devices.h"

static SEXP survey_list(const syn_gpu_survey *survey)
{
    const char *names[] = {"built", "runtime", "driver", "architectures", "reason", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
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
    const char *names[] = {"device", "name", "capability_major", "capability_minor",
                           "multiprocessors", "memory", "memory_free", "works",
                           "trouble", ""};
    static const SEXPTYPE types[] = {
        INTSXP, STRSXP, INTSXP, INTSXP, INTSXP, REALSXP, REALSXP, LGLSXP, STRSXP
    };
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
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
    const char *names[] = {"gpu", "devices", ""};
    syn_gpu_survey survey;
    syn_gpu_look(&survey);
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, survey_list(&survey));
    SET_VECTOR_ELT(list, 1, devices_list(survey.devices, Rf_asLogical(test) == 1));
    UNPROTECT(1);
    return list;
}
