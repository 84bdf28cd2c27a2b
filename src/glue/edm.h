/* Reads the rows of the data that R passes for empirical dynamic modelling. */
#ifndef SYN_GLUE_EDM_H
#define SYN_GLUE_EDM_H

#include "core/edm/edm.h"
#include "glue/glue.h"

/* `rows`: whole numbers from 1 to `all`, increasing; an error of R otherwise. In memory
   of R_alloc(). */
syn_rows glue_rows_of(SEXP rows, uint32_t all);

#endif
