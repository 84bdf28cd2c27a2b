/* Reads the rows of the data that R passes for empirical dynamic modelling. */
#ifndef SYN_GLUE_EDM_H
#define SYN_GLUE_EDM_H

#include "core/edm/neighbours/neighbours.h"
#include "glue/glue.h"

/* `rows`: whole numbers from 1 to `all`, increasing; an error of R otherwise. In memory
   of R_alloc(). */
syn_rows glue_rows_of(SEXP rows, uint32_t all);

/* The points of an R matrix [rows, coordinates] in a measure of their own, which last as
   long as the call: see syn_measure_points(). */
syn_points glue_measured(glue_owner *own, syn_points points, int threads);

#endif
