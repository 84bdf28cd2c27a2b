/* Intervals and episodes as R holds them. */
#ifndef SYN_GLUE_EPISODES_GIVEN_H
#define SYN_GLUE_EPISODES_GIVEN_H

#include "glue/glue.h"

#include "core/episodes/occurrences.h"

/* Bounds in ticks as whole doubles; `interval` has room for Rf_xlength(low). Returns the
   largest upper bound. R's error when they are not 0 <= low < high. */
int64_t glue_intervals(syn_interval *interval, SEXP low, SEXP high);

/* The same of `bounds`, a list of low and high: R_alloc'd, how many in `*n`; `*reach`,
   unless it is NULL, becomes the largest upper bound. */
const syn_interval *glue_bounds(SEXP bounds, uint32_t *n, int64_t *reach);

/* Episodes as lists of unit codes, from 1, and of bounds in ticks, one less than units;
   R_alloc'd. `*reach` is the largest bound of all. R's error when they are not what they
   must be. */
syn_episode *glue_episodes(SEXP units, SEXP low, SEXP high, int64_t *reach);

/* R's error when episodes have units beyond the `units` that there are. */
void glue_check_episodes(const syn_episode *episode, R_xlen_t n, uint32_t units);

#endif
