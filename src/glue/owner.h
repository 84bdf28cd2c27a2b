/* Memory outside R's heap that is freed however a call ends. */
#ifndef SYN_GLUE_OWNER_H
#define SYN_GLUE_OWNER_H

#include <stdlib.h>

#include "glue/glue.h"

/* An external pointer to `bytes` of zeros, which the caller protects. `release`, its
   finalizer, frees them and clears the pointer; the caller may call it before. */
static inline SEXP glue_owner(size_t bytes, R_CFinalizer_t release)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, release, TRUE);
    R_SetExternalPtrAddr(pointer, calloc(1, bytes));
    if (!R_ExternalPtrAddr(pointer))
        Rf_error("cannot allocate memory");
    UNPROTECT(1);
    return pointer;
}

#endif
