/* Vectors of R that are a stretch of a longer one, without a copy. */
#ifndef SYN_GLUE_WINDOW_VECTORS_H
#define SYN_GLUE_WINDOW_VECTORS_H

#include "glue/glue.h"

#include <R_ext/Rdynload.h>

/* Call once when the library is loaded. */
void glue_window_vectors_init(DllInfo *dll);

#endif
