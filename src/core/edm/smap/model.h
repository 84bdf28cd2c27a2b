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
    char *exact;       /* room of the exact way */
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

#define SYN_SMAP_MOST_CONDITION 1e16   /* of equations that have one solution */
#define SYN_SMAP_MOST_HAT_ERROR 1e-8   /* of what any targets make of a model */

enum { SYN_SMAP_LANES = 8 };  /* predictions at a time */

/* The equations of up to SYN_SMAP_LANES predictions. */
typedef struct syn_smap_equations {
    uint32_t unknowns, rows;
    const double *sum;     /* [rows], `stride` apart: over the library of squared weights
                              times products of any two of 1, coordinates and, for
                              `solve`, target, each less its `centre`, in the order of
                              fit.h */
    size_t stride;
    const double *centre;  /* [unknowns + 1], 0 the first */
    double ridge;
    double *room;          /* of syn_smap_lanes_room() */
} syn_smap_equations;

/* The doubles that one call takes. */
size_t syn_smap_lanes_room(uint32_t unknowns);

/* How predictions are made whatever the targets are: each is the sum over the library of
   squared weight times (1, coordinates) . `value` times target, and the coefficient of
   the first coordinate is that with `slope`. */
typedef struct syn_smap_hat {
    const double *const *from;  /* [rows] of [unknowns - 1] the point of the prediction,
                                   less the centre of coordinates */
    double size;                /* of the first coordinate */
    double *value, *slope;      /* [rows][unknowns] what is found */
} syn_smap_hat;

/* Coordinates u = `inverse` (1, coordinates less their centre), in which the equations of
   a prediction are nearly those of the identity. */
typedef struct syn_smap_turned {
    double *inverse;       /* [unknowns][unknowns], 0 above the diagonal */
    double *scale;         /* [unknowns] of the terms of the equations, */
    double norm;           /* and the sum of squares of the inverse triangle of these */
    double *gram;          /* [unknowns][unknowns], the lower half: the sums over the
                              library of squared weight times u u' */
} syn_smap_turned;

/* Compiled once for each kind of processor. `solve` and `hat` return a bit for each
   prediction that has all results now. */
typedef struct syn_smap_lanes {
    /* Finds the coefficients of least squares, `fit`, and, unless `singular` is NULL, the
       singular values (not sorted) of the weighted rows and those of the ridge, both
       [rows][unknowns]; not where rounding may have changed the model by more than 1e-9
       of it, or where it may not be the only one. */
    uint32_t (*solve)(const syn_smap_equations *equations, double *fit, double *singular);

    /* Finds `value` and `slope`; not where rounding may change a prediction, or the
       coefficient times `size`, by more than 1e-8 of the targets' size, or where the
       model may not be the only one. */
    uint32_t (*hat)(const syn_smap_equations *equations, const syn_smap_hat *hat);

    /* Fills all of `to` but `gram`, from the equations of one prediction that `hat` did
       not solve. Returns 0 where turning would not make them good enough either. */
    int (*turn)(const syn_smap_equations *equations, syn_smap_turned *to);
} syn_smap_lanes;

SYN_KIND_TABLES(syn_smap_lanes, syn_smap_lanes);

/* Does what `hat` does for a single prediction, from turned coordinates, whose `gram` it
   changes: sums of squares of u lose half as many digits. */
int syn_smap_refine(const syn_smap_equations *equations, const syn_smap_turned *turned,
                    const syn_smap_hat *hat);

#endif
