#include "glue/glue.h"

#include <stdlib.h>

#include "core/patterns_times.h"
#include "glue/raster.h"
#include "glue/watch.h"

/* What one call holds outside R's heap: an external pointer owns it, so that it is freed
   however the call ends. */
typedef struct finding {
    syn_raster raster;
    syn_pattern_windows windows;
} finding;

static void finding_free(SEXP pointer)
{
    finding *f = R_ExternalPtrAddr(pointer);
    if (!f)
        return;
    syn_pattern_windows_free(&f->windows);
    syn_raster_free(&f->raster);
    free(f);
    R_ClearExternalPtr(pointer);
}

/* A protected pointer to an empty `finding`. */
static SEXP finding_new(finding **f)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finding_free, TRUE);
    *f = calloc(1, sizeof **f);
    if (!*f)
        Rf_error("cannot allocate memory");
    R_SetExternalPtrAddr(pointer, *f);
    return pointer;
}

/* The ticks at which windows open, and how many of them are of each pattern. */
static SEXP found_windows(const finding *f, R_xlen_t patterns)
{
    const char *fields[] = {"tick", "count", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)f->windows.n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, patterns));
    for (size_t i = 0; i < f->windows.n; i++)
        REAL(VECTOR_ELT(out, 0))[i] = (double)f->raster.opens[f->windows.bin[i]];
    for (R_xlen_t p = 0; p < patterns; p++)
        INTEGER(VECTOR_ELT(out, 1))[p] = (int)f->windows.count[p];
    UNPROTECT(1);
    return out;
}

/* `events` as glue_raster() takes them. `size`: of each pattern; `unit`, from 0 and -1
   for one that never fires, and `lag`, in bins: of each item. At most `most` windows. */
SEXP r_pattern_windows(SEXP events, SEXP window, SEXP size, SEXP unit, SEXP lag,
                       SEXP most)
{
    finding *f;
    syn_pattern_list list = {.n = (size_t)Rf_xlength(size),
                             .size = (const uint32_t *)INTEGER(size),
                             .unit = (const uint32_t *)INTEGER(unit),
                             .lag = (const uint32_t *)INTEGER(lag)};
    SEXP pointer = finding_new(&f);
    glue_watch w;
    glue_watch_start(&w, "Finding patterns");
    syn_status status = glue_raster(&f->raster, events, (int64_t)Rf_asReal(window));
    if (status == SYN_OK)
        status = syn_find_windows(&f->raster, &list, (size_t)Rf_asReal(most), &w.watch,
                                  &f->windows);
    glue_watch_stop(&w);
    SEXP out = status == SYN_OK ? found_windows(f, Rf_xlength(size))
                                : glue_status(status, NA_REAL, Rf_asReal(most));
    PROTECT(out);
    finding_free(pointer);
    UNPROTECT(2);
    return out;
}
