/* Puts library rows in the order of ties: sorts the places that they have in the shuffle
   of all rows, each together with the number of its row. */
#include "core/edm/ccm/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/rank.h"

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

syn_status syn_ccm_order_make(const syn_rows *library, syn_ccm_order *out)
{
    size_t n = out->n = library->n;
    uint64_t *both = malloc((n + 1) * sizeof *both);
    out->rank = malloc((n + 1) * sizeof *out->rank);
    out->ranked = malloc((n + 1) * sizeof *out->ranked);
    out->shuffled = malloc((n + 1) * sizeof *out->shuffled);
    if (!both || !out->rank || !out->ranked || !out->shuffled) {
        free(both);
        return SYN_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++)
        both[i] = (uint64_t)syn_row_rank(library->row[i]) << 32 | i;
    qsort(both, n, sizeof *both, compare);
    for (uint32_t i = 0; i < n; i++) {
        out->shuffled[i] = (uint32_t)(both[i] >> 32);
        out->ranked[i] = (uint32_t)both[i];
        out->rank[out->ranked[i]] = i;
    }
    free(both);
    return SYN_OK;
}

uint32_t syn_ccm_order_after(const syn_ccm_order *order, uint32_t row)
{
    return syn_first_row_from(order->shuffled, order->n, syn_row_rank(row));
}

void syn_ccm_order_free(syn_ccm_order *order)
{
    free(order->rank);
    free(order->ranked);
    free(order->shuffled);
    memset(order, 0, sizeof *order);
}
