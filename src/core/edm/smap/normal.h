/* The model of one prediction from its normal equations. */
#ifndef SYN_EDM_SMAP_NORMAL_H
#define SYN_EDM_SMAP_NORMAL_H

#include <stddef.h>
#include <stdint.h>

#define SYN_SMAP_MOST_ERROR 1e-9       /* of a model, */
#define SYN_SMAP_MOST_CONDITION 1e16   /* of equations that have one solution, */
#define SYN_SMAP_MOST_FOR_VALUES 1e6   /* and of those whose eigenvalues will do */

/* The equations of one prediction. */
typedef struct syn_smap_equations {
    uint32_t unknowns;
    const double *sum;     /* over the library of squared weights times products of any
                              two of 1, coordinates and, for syn_smap_normal(), target,
                              each less its `centre`, in the order of product.h */
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

#endif
