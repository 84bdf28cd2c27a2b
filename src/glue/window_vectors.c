/* Vectors of R that are a stretch of a longer one, without a copy: the times and units of
   a stream's window stand in buffers to which each update appends. ALTREP classes; what a
   vector holds never changes, as only what no vector reaches is written. */
#include "glue/glue.h"

#include <string.h>

#include <R_ext/Altrep.h>

#include "core/base/seek.h"
#include "glue/require.h"

/* Of a vector: the buffer, NULL once it has a copy of its own, which is made when
   somebody may write to it; and where it begins and its length, or the copy. */
static R_altrep_class_t real_class, integer_class;

static SEXP buffer_of(SEXP x) { return R_altrep_data1(x); }

static int is_stretch(SEXP x) { return buffer_of(x) != R_NilValue; }

static R_xlen_t stretch_begin(SEXP x) { return (R_xlen_t)REAL(R_altrep_data2(x))[0]; }

static R_xlen_t stretch_length(SEXP x)
{
    return is_stretch(x) ? (R_xlen_t)REAL(R_altrep_data2(x))[1]
                         : XLENGTH(R_altrep_data2(x));
}

static size_t width_of(SEXP x)
{
    return TYPEOF(x) == REALSXP ? sizeof(double) : sizeof(int);
}

/* Only read, unless it is a copy. */
static void *data_of(SEXP x)
{
    SEXP from = is_stretch(x) ? buffer_of(x) : R_altrep_data2(x);
    char *data = TYPEOF(x) == REALSXP ? (char *)REAL(from) : (char *)INTEGER(from);
    return data + (is_stretch(x) ? (size_t)stretch_begin(x) * width_of(x) : 0);
}

static void *stretch_data(SEXP x, Rboolean writable)
{
    if (writable && is_stretch(x)) {
        R_xlen_t n = stretch_length(x);
        SEXP copy = PROTECT(Rf_allocVector(TYPEOF(x), n));
        void *to = TYPEOF(x) == REALSXP ? (void *)REAL(copy) : (void *)INTEGER(copy);
        if (n > 0)
            memcpy(to, data_of(x), (size_t)n * width_of(x));
        R_set_altrep_data2(x, copy);
        R_set_altrep_data1(x, R_NilValue);
        UNPROTECT(1);
    }
    return data_of(x);
}

static const void *stretch_data_or_null(SEXP x) { return data_of(x); }

static double real_elt(SEXP x, R_xlen_t i) { return ((const double *)data_of(x))[i]; }

static int integer_elt(SEXP x, R_xlen_t i) { return ((const int *)data_of(x))[i]; }

void glue_window_vectors_init(DllInfo *dll)
{
    real_class = R_make_altreal_class("window_times", "synfire", dll);
    integer_class = R_make_altinteger_class("window_units", "synfire", dll);
    R_altrep_class_t both[] = {real_class, integer_class};
    for (int i = 0; i < 2; i++) {
        R_set_altrep_Length_method(both[i], stretch_length);
        R_set_altvec_Dataptr_method(both[i], stretch_data);
        R_set_altvec_Dataptr_or_null_method(both[i], stretch_data_or_null);
    }
    R_set_altreal_Elt_method(real_class, real_elt);
    R_set_altinteger_Elt_method(integer_class, integer_elt);
}

/* ---- what R calls ---- */

/* The elements from number `begin` (from 0) to before `end` of a buffer, numbers or whole
   numbers; `levels` make a factor of whole numbers. */
SEXP r_window_vector(SEXP buffer, SEXP begin, SEXP end, SEXP levels)
{
    require(TYPEOF(buffer) == REALSXP || TYPEOF(buffer) == INTSXP, "a buffer");
    double to = within(Rf_asReal(end), 0, (double)XLENGTH(buffer), "the end of a window");
    double from = within(Rf_asReal(begin), 0, to, "the beginning of a window");
    SEXP bounds = PROTECT(Rf_allocVector(REALSXP, 2));
    REAL(bounds)[0] = from;
    REAL(bounds)[1] = to - from;
    SEXP out = PROTECT(R_new_altrep(
        TYPEOF(buffer) == REALSXP ? real_class : integer_class, buffer, bounds));
    if (levels != R_NilValue) {
        Rf_setAttrib(out, R_LevelsSymbol, levels);
        Rf_setAttrib(out, R_ClassSymbol, PROTECT(Rf_mkString("factor")));
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return out;
}

/* Writes numbers into a buffer from number `at` (from 0) on, where no window reaches. */
SEXP r_window_write(SEXP buffer, SEXP at, SEXP values)
{
    R_xlen_t n = Rf_xlength(values), room = Rf_xlength(buffer);
    double place = within(Rf_asReal(at), 0, (double)room, "a place in a buffer");
    require(TYPEOF(buffer) == TYPEOF(values) && (double)n <= (double)room - place,
            "room in a buffer");
    R_xlen_t from = (R_xlen_t)place;
    if (TYPEOF(buffer) == REALSXP && n > 0)
        memcpy(REAL(buffer) + from, REAL_RO(values), (size_t)n * sizeof(double));
    else if (n > 0)
        memcpy(INTEGER(numbers(buffer, INTSXP, 0, "a buffer")) + from,
               INTEGER_RO(values), (size_t)n * sizeof(int));
    return R_NilValue;
}

/* How many of the times, which are sorted, are at most `time`. */
SEXP r_window_until(SEXP times, SEXP time)
{
    R_xlen_t low = 0, n = Rf_xlength(numbers(times, REALSXP, 0, "times"));
    const double *value = REAL_RO(times);
    double bound = Rf_asReal(time);
    SYN_SEEK(R_xlen_t, at, low, n, value[at] <= bound);
    return Rf_ScalarReal((double)low);
}
