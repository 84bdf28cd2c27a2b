/* The model of one prediction from its normal equations. */
#ifndef SYN_EDM_SMAP_NORMAL_H
#define SYN_EDM_SMAP_NORMAL_H

#include <stddef.h>
#include <stdint.h>

#define SYN_SMAP_MOST_ERROR 1e-9       /* of a model, */
#define SYN_SMAP_MOST_CONDITION 1e16   /* of equations that have one solution, */
#define SYN_SMAP_MOST_FOR_VALUES 1e6   /* and of those whose eigenvalues will do */

/* The doubles that one call takes. */
size_t syn_smap_normal_room(uint32_t unknowns);

/* Finds the coefficients of least squares, and, unless `singular` is NULL, the singular
   values (not sorted) of the weighted rows and those of the ridge. `sum`: sums over the
   library of squared weights times products of any two of 1, coordinates and target, each
   less its `centre` ([unknowns + 1], 0 the first), in the order of product.h.
   Returns 0, and no model, where rounding may have changed it by more than 1e-9 of it or
   where it may not be the only one. */
int syn_smap_normal(uint32_t unknowns, const double *sum, const double *centre,
                    double ridge, double *room, double *fit, double *singular);

/* How a prediction is made whatever the targets are: it is the sum over the library of
   squared weight times (1, coordinates) . `value` times target, and the coefficient of
   the first coordinate is that with `slope`. Both are [unknowns], of coordinates less
   their centre, as `from` is, the point of the prediction. `sum`: as above, but without a
   target. `size`: of the first coordinate. Returns 0, and neither, where rounding may
   change a prediction, or the coefficient times `size`, by more than 1e-8 of the targets'
   size, or where the model may not be the only one. */
int syn_smap_normal_hat(uint32_t unknowns, const double *sum, const double *centre,
                        double ridge, const double *from, double size, double *room,
                        double *value, double *slope);

/* For equations that the above refuses: coordinates u = `inverse` (1, coordinates less
   their centre), in which they are nearly those of the identity. Returns 0 where even
   that cannot be told. `inverse`: [unknowns][unknowns], 0 above the diagonal. */
int syn_smap_normal_turn(uint32_t unknowns, const double *sum, const double *centre,
                         double ridge, double *room, double *inverse);

/* Does what syn_smap_normal_hat() does, right after the above, with the sums over the
   library of squared weight times u u' in the lower half of `gram`
   ([unknowns][unknowns]), which is changed: sums of squares of u lose half as many
   digits. */
int syn_smap_normal_refine(uint32_t unknowns, const double *sum, const double *centre,
                           double ridge, const double *inverse, double *gram,
                           const double *from, double size, double *room, double *value,
                           double *slope);

#endif
