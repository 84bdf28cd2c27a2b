/* The k nearest of the rows that are offered, in an order with no ties. */
#ifndef SYN_EDM_NEIGHBOURS_NEAREST_H
#define SYN_EDM_NEIGHBOURS_NEAREST_H

#include <stdint.h>

typedef struct syn_near {
    double squared;   /* distance */
    uint32_t rank;    /* how far it comes after the prediction row (core/base/rank.h) */
    uint32_t row;
} syn_near;

/* Keeps up to `room` rows, and drops all but the nearest k whenever that is full. */
typedef struct syn_nearest {
    uint32_t k, n, room;
    syn_near *near;   /* [room] */
    syn_near last;    /* rows after this one are no longer taken */
} syn_nearest;

/* Room that is needed to keep the nearest `k`. */
uint32_t syn_nearest_room(uint32_t k);

void syn_nearest_start(syn_nearest *list, uint32_t k);

/* Drops all but the nearest k, of more than k; the k-th becomes `last`. */
void syn_nearest_cut(syn_nearest *list);

/* Drops all but the nearest k and puts them in order. */
void syn_nearest_finish(syn_nearest *list);

/* Puts n rows in their order. */
void syn_near_sort(syn_near *near, uint32_t n);

static inline int syn_near_before(const syn_near *a, const syn_near *b)
{
    return a->squared != b->squared ? a->squared < b->squared : a->rank < b->rank;
}

static inline void syn_nearest_offer(syn_nearest *list, syn_near near)
{
    if (!syn_near_before(&near, &list->last))
        return;
    list->near[list->n++] = near;
    if (list->n == list->room)
        syn_nearest_cut(list);
}

#endif
