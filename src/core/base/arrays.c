/* Each array is a block of its own, and the blocks are a list. A block begins with the
   one before it; the array begins at the next line of the cache. */
#include "core/base/arrays.h"

#include <stdint.h>
#include <stdlib.h>

struct syn_array {
    struct syn_array *before;
};

void *syn_take(syn_arrays *arrays, size_t n, size_t size)
{
    struct syn_array *array = NULL;
    if (n <= (SIZE_MAX - 2 * SYN_LINE) / size)
        array = calloc(n * size + 2 * SYN_LINE, 1);
    if (!array) {
        arrays->refused = 1;
        return NULL;
    }
    array->before = arrays->last;
    arrays->last = array;
    return (void *)(((uintptr_t)array / SYN_LINE + 1) * SYN_LINE);
}

void syn_give_back(syn_arrays *arrays)
{
    while (arrays->last) {
        struct syn_array *array = arrays->last;
        arrays->last = array->before;
        free(array);
    }
    arrays->refused = 0;
}
