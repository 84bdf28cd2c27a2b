/* Reads the indices that R passes when it takes a subset of a vector of our own class. */
#ifndef SYN_GLUE_INDEX_H
#define SYN_GLUE_INDEX_H

#include "glue/glue.h"

/* Element `i` of a vector of indices, counted from 0, to a vector of `n`; -1 where it
   points nowhere. */
static inline R_xlen_t index_at(SEXP index, R_xlen_t i, R_xlen_t n)
{
    if (TYPEOF(index) == INTSXP) {
        int at = INTEGER_ELT(index, i);
        return at >= 1 && at <= n ? at - 1 : -1;
    }
    double at = REAL_ELT(index, i);
    return at >= 1 && at < (double)n + 1 ? (R_xlen_t)at - 1 : -1;
}

#endif
