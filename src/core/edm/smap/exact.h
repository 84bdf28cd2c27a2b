/* Least squares of rows whose weights differ by many orders of magnitude. */
#ifndef SYN_EDM_SMAP_EXACT_H
#define SYN_EDM_SMAP_EXACT_H

#include "core/edm/smap/fit.h"

/* The bytes that one call takes, with neighbours among `stride` points. */
size_t syn_smap_exact_room(size_t stride, uint32_t dims);

/* Does what `reduce` of syn_smap_kind does, from `weight`, to the last digits of each row
   however little it weighs: some times more slowly, by Householder reflections with the
   heaviest rows first and columns exchanged (Cox and Higham 1998). The rows of `triangle`
   are in order, but its columns not those of a triangle. */
void syn_smap_exact(const syn_smap_near *near, const double *weight, double ridge,
                    void *room, double *triangle);

/* What each neighbour's target, by its place among the points, adds to the prediction
   from `from` ([dims]), `value`, and to the coefficient of the first coordinate, `slope`,
   of the model above; places of other points are left as they are. `small`: 2 (dims + 1)
   (dims + 2) doubles. */
void syn_smap_exact_hat(const syn_smap_near *near, const double *weight, double ridge,
                        const double *from, void *room, double *small, double *value,
                        double *slope);

#endif
