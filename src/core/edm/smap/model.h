/* The model of one prediction. */
#ifndef SYN_EDM_SMAP_MODEL_H
#define SYN_EDM_SMAP_MODEL_H

#include "core/edm/smap/fit.h"

/* A worker's share of the memory. */
typedef struct syn_smap_bench {
    double *from;      /* [dims] the point of the prediction */
    double *distance;  /* [stride] */
    double *listed;    /* [dims + 2][stride] for lists of neighbours */
    double *fit;       /* [dims + 1] coefficients */
    double *singular;  /* [dims + 1] */
    syn_smap_space space;
    void *exact;       /* for syn_smap_exact() */
} syn_smap_bench;

/* The shortest least squares model of the neighbours, weighted as `reduce` of
   syn_smap_kind says: `fit` and `singular`, not sorted, of the bench. */
void syn_smap_fit(const syn_smap_kind *kind, const syn_smap_near *near, double rate,
                  double ridge, syn_smap_bench *bench);

/* The singular values, not sorted, of `n` rows of n numbers, each with `more` behind them
   that are carried along. Makes the rows orthogonal. */
void syn_smap_singular(double *triangle, uint32_t n, uint32_t more, double *singular);

/* Up to which singular values count as 0. */
double syn_smap_cutoff(const double *singular, uint32_t n, uint32_t neighbours);

#endif
