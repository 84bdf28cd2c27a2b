/* Reads the rows and series that R passes for empirical dynamic modelling. */
#ifndef SYN_GLUE_EDM_H
#define SYN_GLUE_EDM_H

#include "core/edm/model/series.h"
#include "core/edm/neighbours/neighbours.h"
#include "glue/glue.h"
#include "gpu/base/devices.h"

/* `rows`: whole numbers from 1 to `all`, increasing; an error of R otherwise. In memory
   of R_alloc(). */
syn_rows glue_rows_of(SEXP rows, uint32_t all);

/* A double matrix of `least` steps at least x series; R's error otherwise. */
syn_series glue_series(SEXP x, uint32_t least, const char *what);

/* NA where R is to see that there is nothing: NaN would be a number gone wrong. */
void glue_nan_to_na(double *value, size_t n);

/* The points of an R matrix [rows, coordinates], or of delay vectors (see edm.c), whose
   coordinates are not made yet. */
syn_points glue_points(SEXP points);

/* Points in a measure of their own, which last as long as the call: see
   syn_measure_points(). */
syn_points glue_measured(glue_owner *own, syn_points points);

/* Measured points as a call needs them: a GPU makes their coordinates itself. */
syn_points glue_points_for(glue_owner *own, syn_points points, const syn_gpu_call *gpu);

/* Room for a column of `n` numbers after the other, outside of R's heap, as long as the
   call lasts. */
double *glue_columns(glue_owner *own, size_t n, size_t columns);

/* Points whose coordinates are made, which last as long as the call. */
syn_points glue_located(glue_owner *own, syn_points points);

#endif
