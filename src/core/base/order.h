/* How qsort() and bsearch() compare numbers. */
#ifndef SYN_BASE_ORDER_H
#define SYN_BASE_ORDER_H

#include <stdint.h>

/* uint32_t, smallest first. */
static inline int syn_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#endif
