/* Library points that are the same, as one each. */
#ifndef SYN_EDM_SMAP_SAME_H
#define SYN_EDM_SMAP_SAME_H

#include "core/edm/smap/call.h"

/* Squared errors of n points that are the same and weigh w add up to those of one point
   that weighs w sqrt(n) and has the mean of their targets, and to something that no model
   changes. So models can be made from points that all differ. */
typedef struct syn_smap_same {
    uint32_t n;          /* points that differ; 0 where so many do that it is no use */
    size_t stride;
    uint32_t *of;        /* [library] which of them each library point is */
    uint32_t *first;     /* [n] a library point */
    double *coordinate;  /* [dims][stride] */
    double *count;       /* [n] library points with a target, */
    double *sum;         /* [n] and the sum of their targets */
} syn_smap_same;

/* Sorts the points of a call's whole library. Free with syn_smap_same_free(), also after
   an error. */
syn_status syn_smap_same_make(const syn_smap_call *s, syn_smap_same *out);

void syn_smap_same_free(syn_smap_same *same);

/* The doubles that syn_smap_same_near() takes. */
size_t syn_smap_same_room(const syn_smap_same *same);

/* The neighbours of a prediction as points that all differ. */
syn_smap_near syn_smap_same_near(const syn_smap_same *same, const syn_smap_call *s,
                                 const syn_smap_near *near, double *room);

#endif
