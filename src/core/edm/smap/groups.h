/* Targets of S-maps, in groups that are known at the same steps. */
#ifndef SYN_EDM_SMAP_GROUPS_H
#define SYN_EDM_SMAP_GROUPS_H

#include "core/edm/smap/pairs.h"

enum { SYN_SMAP_TARGETS = 2048 };  /* most of a group */

/* Targets that are known at the same steps. */
typedef struct syn_smap_group {
    uint32_t n;
    const uint32_t *target;     /* [n] their numbers */
    const double *value;        /* of syn_series: [all targets][steps] */
    double *centre;             /* [n] near their means; a constant itself */
} syn_smap_group;

/* Targets in an order in which those of a group come one after the other. */
typedef struct syn_smap_order {
    uint32_t *target;   /* [targets] their numbers, */
    uint32_t *pattern;  /* [targets] and a number for the steps at which they are known */
} syn_smap_order;

/* Free with syn_smap_order_free(), also after an error. */
syn_status syn_smap_order_make(const syn_series *targets, syn_smap_order *out);

void syn_smap_order_free(syn_smap_order *order);

/* The group from place `first` of the order on, which uses `targets` and `order`. Free
   with syn_smap_group_free(), also after an error. */
syn_status syn_smap_group_make(const syn_series *targets, const syn_smap_order *order,
                               uint32_t first, syn_smap_group *out);

void syn_smap_group_free(syn_smap_group *group);

#endif
