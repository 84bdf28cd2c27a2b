/* Memory of the C library for things of any type. It is counted in no budget, or counted
   there by the caller. Memory of a budget is in budget.h. */
#ifndef SYN_BASE_MEMORY_H
#define SYN_BASE_MEMORY_H

#include <stdlib.h>

#include "core/base/status.h"

/* Memory for `n` things, which the pointer `to` points to from then on. Where there is
   none, this ends the function, which returns SYN_NO_MEMORY: so it is for memory whose
   owner frees it also after an error. */
#define SYN_NEW(to, n)                                                                   \
    do {                                                                                 \
        if (!((to) = malloc((n) * sizeof *(to))))                                        \
            return SYN_NO_MEMORY;                                                        \
    } while (0)

/* All of them zero. */
#define SYN_NEW_ZEROS(to, n)                                                             \
    do {                                                                                 \
        if (!((to) = calloc(n, sizeof *(to))))                                           \
            return SYN_NO_MEMORY;                                                        \
    } while (0)

static inline void syn_free_all(void *const *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(memory[i]);
}

/* Frees what several pointers point to; NULL is allowed. */
#define SYN_FREE(...)                                                                    \
    syn_free_all((void *const[]){__VA_ARGS__},                                           \
                 sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

#endif
