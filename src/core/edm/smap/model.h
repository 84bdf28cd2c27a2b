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
    void *exact;       /* room of the exact way */
} syn_smap_bench;

/* The shortest least squares model of the neighbours, weighted as `reduce` of
   syn_smap_kind says: `fit` and `singular`, not sorted, of the bench. */
void syn_smap_fit(const syn_smap_kind *kind, const syn_smap_near *near, double rate,
                  double ridge, syn_smap_bench *bench);

/* The singular values, not sorted, of `n` rows of n numbers, each with `more` behind them
   that are carried along. Makes the rows orthogonal. */
void syn_smap_singular(double *triangle, uint32_t n, uint32_t more, double *singular);

/* The bytes that the exact way takes, with neighbours among `stride` points. */
size_t syn_smap_exact_room(size_t stride, uint32_t dims);

/* What each neighbour's target, by its place among the points, adds to the prediction
   from `from` ([dims]), `value`, and to the coefficient of the first coordinate, `slope`,
   of the model that the exact way gives; places of other points are left as they are.
   `small`: 2 (dims + 1) (dims + 2) doubles. */
void syn_smap_exact_hat(const syn_smap_near *near, const double *weight, double ridge,
                        const double *from, void *room, double *small, double *value,
                        double *slope);

#endif
