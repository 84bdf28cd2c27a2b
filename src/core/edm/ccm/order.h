/* The order of ties among the rows of a library, for cross mapping. */
#ifndef SYN_EDM_CCM_ORDER_H
#define SYN_EDM_CCM_ORDER_H

#include "core/edm/model/points.h"

/* Library rows in the fixed shuffle of all rows (core/base/rank.h). */
typedef struct syn_ccm_order {
    uint32_t n;
    uint32_t *rank;      /* [n] the place of each among them, from 0, */
    uint32_t *ranked;    /* [n] which has each place, */
    uint32_t *shuffled;  /* [n] and the places among all rows, sorted */
} syn_ccm_order;

/* Of all library rows. Free with syn_ccm_order_free(), also after an error. */
syn_status syn_ccm_order_make(const syn_rows *library, syn_ccm_order *out);

/* The place of the first of them that comes after `row` of the data, n if none does. */
uint32_t syn_ccm_order_after(const syn_ccm_order *order, uint32_t row);

void syn_ccm_order_free(syn_ccm_order *order);

#endif
