/* Pairwise S-maps of which most predictions are made elsewhere, as on a GPU. */
#ifndef SYN_EDM_SMAP_REST_H
#define SYN_EDM_SMAP_REST_H

#include "core/edm/smap/groups.h"

/* Sums over predictions whose target is known, a number for each target. Targets and
   predictions are less the targets' centres. */
typedef enum syn_smap_sum {
    SYN_SMAP_P, SYN_SMAP_PP, SYN_SMAP_Y, SYN_SMAP_YY, SYN_SMAP_PY,
    SYN_SMAP_STRENGTH,          /* the sum of coefficients, over all predictions */
    SYN_SMAP_SUMS
} syn_smap_sum;

/* Skill and strength of all targets of the group, at the places of their numbers, from
   sums [SYN_SMAP_SUMS][columns] over all predictions, `made`, and those whose target is
   known. */
void syn_smap_sums_finish(const syn_smap_group *group, const double *sum, size_t columns,
                          double known, double made, double *rho, double *strength);

/* What is left of a library, where all other predictions were made elsewhere. */
typedef struct syn_smap_rest {
    uint32_t library, n;
    const uint32_t *step;       /* [n] rows that are left, increasing */
    const double *sum;          /* [SYN_SMAP_SUMS][columns] of all others, */
    size_t columns;
    uint32_t known, made;       /* and how many these are */
} syn_smap_rest;

/* Makes the predictions that are left of some libraries, and with them their results for
   a group of targets, as syn_smap_pairs_make() does. */
syn_status syn_smap_pairs_rest(const syn_series *libraries, const syn_series *targets,
                               const syn_smap_pairs_options *options,
                               const syn_smap_group *group, const syn_smap_rest *rest,
                               uint32_t n, const syn_watch *watch,
                               const syn_smap_pairs *out);

#endif
