/* R's side has checked what the user gave. What it cannot know, such as an object that
   other code changed, is refused here before it can do harm. Each raises R's error, so
   memory outside R's heap must have an owner: see glue/owner.h. */
#ifndef SYN_GLUE_REQUIRE_H
#define SYN_GLUE_REQUIRE_H

#include <stdint.h>
#include <string.h>

#include "glue/glue.h"

/* Raises the error refuse_given() of R: `what` is not what it must be. */
void glue_refuse(const char *what);

/* Raises the error refuse_memory() of R: there are no `bytes` of memory. */
void glue_no_memory(double bytes);

/* Raises the error refuse_option() of R: an option is not what is `needed`. */
void glue_refuse_option(const char *name, SEXP value, const char *needed);

/* R's integers of `n` whole numbers below 2^31. */
static inline SEXP glue_integers(const uint32_t *value, size_t n)
{
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
    if (n > 0)
        memcpy(INTEGER(out), value, n * sizeof *value);
    return out;
}

static inline void require(int ok, const char *what)
{
    if (!ok)
        glue_refuse(what);
}

static inline SEXP numbers(SEXP x, SEXPTYPE type, R_xlen_t least, const char *what)
{
    require((SEXPTYPE)TYPEOF(x) == type && Rf_xlength(x) >= least, what);
    return x;
}

static inline double within(double x, double low, double high, const char *what)
{
    require(x >= low && x <= high, what);
    return x;
}

#endif
