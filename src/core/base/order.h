/* Order of numbers: how qsort() and bsearch() compare them, and insertion, which is
   faster for a few. */
#ifndef SYN_BASE_ORDER_H
#define SYN_BASE_ORDER_H

#include <stdint.h>

/* uint32_t, smallest first. */
static inline int syn_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* uint64_t, smallest first. */
static inline int syn_by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* double, largest first. */
static inline int syn_by_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Inserts one more into `n` increasing numbers, which have room for it. */
static inline void syn_insert_number(uint32_t *number, uint32_t n, uint32_t more)
{
    for (; n > 0 && number[n - 1] > more; n--)
        number[n] = number[n - 1];
    number[n] = more;
}

#endif
