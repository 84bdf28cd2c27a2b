/* Arrays that are taken one by one, and given back together. */
#ifndef SYN_BASE_ARRAYS_H
#define SYN_BASE_ARRAYS_H

#include <stddef.h>

#include "core/base/status.h"

enum { SYN_LINE = 64 };  /* bytes of a line of the cache */

/* All zero is an empty set of arrays. */
typedef struct syn_arrays {
    struct syn_array *last;
    int refused;  /* whether there was no memory for one of them */
} syn_arrays;

/* An array of `n` elements of `size` bytes, all 0, that begins at a line of the cache;
   NULL without memory. There is an array even where n is 0. */
void *syn_take(syn_arrays *arrays, size_t n, size_t size);

/* SYN_NO_MEMORY where any array was refused. */
static inline syn_status syn_taken(const syn_arrays *arrays)
{
    return arrays->refused ? SYN_NO_MEMORY : SYN_OK;
}

/* An array of `n` things, all 0, which the pointer `to` points to from then on. Where
   there is no memory, this ends the function, which returns SYN_NO_MEMORY: so the owner
   of `arrays` gives them back also after an error. */
#define SYN_ARRAY(arrays, to, n)                                                         \
    do {                                                                                 \
        if (!((to) = syn_take(arrays, n, sizeof *(to))))                                 \
            return SYN_NO_MEMORY;                                                        \
    } while (0)

void syn_give_back(syn_arrays *arrays);

#endif
