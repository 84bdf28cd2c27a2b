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

#define SYN_SMAP_MOST_ERROR 1e-9       /* of a model, */
#define SYN_SMAP_MOST_CONDITION 1e16   /* of equations that have one solution, */
#define SYN_SMAP_MOST_FOR_VALUES 1e6   /* and of those whose eigenvalues will do */

/* The equations of one prediction. */
typedef struct syn_smap_equations {
    uint32_t unknowns;
    const double *sum;     /* over the library of squared weights times products of any
                              two of 1, coordinates and, for syn_smap_normal(), target,
                              each less its `centre`, in the order of fit.h */
    const double *centre;  /* [unknowns + 1], 0 the first */
    double ridge;
    double *room;          /* of syn_smap_normal_room() */
} syn_smap_equations;

/* The doubles that one call takes. */
size_t syn_smap_normal_room(uint32_t unknowns);

/* Finds the coefficients of least squares, and, unless `singular` is NULL, the singular
   values (not sorted) of the weighted rows and those of the ridge. Returns 0, and no
   model, where rounding may have changed it by more than 1e-9 of it or where it may not
   be the only one. */
int syn_smap_normal(const syn_smap_equations *equations, double *fit, double *singular);

/* How a prediction is made whatever the targets are: it is the sum over the library of
   squared weight times (1, coordinates) . `value` times target, and the coefficient of
   the first coordinate is that with `slope`. */
typedef struct syn_smap_hat {
    const double *from;      /* [unknowns - 1] the point of the prediction, less the
                                centre of coordinates */
    double size;             /* of the first coordinate */
    double *value, *slope;   /* [unknowns] what is found */
} syn_smap_hat;

/* Returns 0, and neither, where rounding may change a prediction, or the coefficient
   times `size`, by more than 1e-8 of the targets' size, or where the model may not be the
   only one. */
int syn_smap_normal_hat(const syn_smap_equations *equations, const syn_smap_hat *hat);

/* For equations that the above refuses: coordinates u = `inverse` (1, coordinates less
   their centre), in which they are nearly those of the identity. Returns 0 where even
   that cannot be told. `inverse`: [unknowns][unknowns], 0 above the diagonal. */
int syn_smap_normal_turn(const syn_smap_equations *equations, double *inverse);

/* Does what syn_smap_normal_hat() does, right after the above, with the sums over the
   library of squared weight times u u' in the lower half of `gram`
   ([unknowns][unknowns]), which is changed: sums of squares of u lose half as many
   digits. */
int syn_smap_normal_refine(const syn_smap_equations *equations, const double *inverse,
                           double *gram, const syn_smap_hat *hat);

enum { SYN_SMAP_LANES = 8 };  /* predictions at a time */

/* The doubles that one call takes. */
size_t syn_smap_lanes_room(uint32_t unknowns);

/* Compiled once for each kind of processor. */
typedef struct syn_smap_lanes {
    /* What syn_smap_normal() finds for each of `rows` predictions, up to SYN_SMAP_LANES,
       whose `sum`s are `stride` apart: `fit` and, unless NULL, `singular`, both
       [SYN_SMAP_LANES][unknowns]. Returns a bit for each prediction that has both now;
       the others are to be made by syn_smap_normal(), which is slower but also finds
       singular values of equations that nearly depend on each other. */
    uint32_t (*solve)(uint32_t unknowns, const double *sum, size_t stride, uint32_t rows,
                      const double *centre, double ridge, double *room, double *fit,
                      double *singular);
} syn_smap_lanes;

SYN_KIND_TABLES(syn_smap_lanes, syn_smap_lanes);

#endif
