/* Keeps the best of several correlations of each pair of series, in matrices of doubles
   with NaN, or R's NA, where there is no correlation. Nothing is allocated. */
#ifndef SYN_CAUSAL_BEST_H
#define SYN_CAUSAL_BEST_H

#include "core/causal/map.h"

/* Correlations rho[n][targets] of libraries and targets, NaN where there is none. */
typedef struct syn_map_found {
    const float *rho;
    size_t n;
    uint32_t targets;
} syn_map_found;

/* Puts what is found at `Tp` where it is higher than what is there, and Tp into `lag`,
   which may be NULL. With `first` nothing is there yet. */
void syn_map_best(const syn_map_found *found, double Tp, int first,
                  const syn_map_columns *best, const syn_map_columns *lag);

/* Puts best - found, of small libraries, into `convergence` where the best is that of
   `Tp`; without `lag`, wherever there is one. */
void syn_map_convergence(const syn_map_found *small, double Tp,
                         const syn_map_columns *best, const syn_map_columns *lag,
                         const syn_map_columns *convergence);

/* Counts the surrogates of each target that are predicted at least as well as it: those
   of surrogate[n][m * k], column after column, the m targets of a surrogate next to each
   other. With `first` counts begin with 0. */
void syn_map_count(const double *surrogate, size_t n, uint32_t m, size_t k, int first,
                   const syn_map_columns *rho, const syn_map_columns *count);

#endif
