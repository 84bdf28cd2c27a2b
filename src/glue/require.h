/* R's side has checked what the user gave; this keeps a mistake there from crashing.
   Each raises R's error, so memory outside R's heap must have an owner. */
#ifndef SYN_GLUE_REQUIRE_H
#define SYN_GLUE_REQUIRE_H

#include "glue/glue.h"

static inline void require(int ok, const char *what)
{
    if (!ok)
        Rf_error("internal error: %s given to C", what);
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
