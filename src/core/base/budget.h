/* Memory that all threads of a search draw on together: what one leaves another may take,
   so that the budget is the same for any number of threads. */
#ifndef SYN_BASE_BUDGET_H
#define SYN_BASE_BUDGET_H

#include <stddef.h>

#include "core/base/status.h"

/* All zero, except for `limit`, is a budget of which nothing is held. Any thread may take
   and give at any time. While it holds memory it is not copied or moved: the memory
   points to it. */
typedef struct syn_budget {
    size_t limit;  /* most bytes to hold at a time */
    size_t held;   /* bytes held now */
    size_t most;   /* most bytes held at a time so far */
    int refused;   /* a syn_status: why memory was refused last; SYN_OK if it never was */
    struct syn_budget *within;  /* the budget that counts its bytes, or NULL */
    struct syn_piece *piece;    /* the memory that is not yet freed */
    char busy;                  /* whether a thread changes this list */
} syn_budget;

/* A part of a budget: its bytes count there, and syn_budget_end() of the part frees what
   the part gave, and nothing else. The budget must outlive it. */
syn_budget syn_budget_part(syn_budget *budget);

/* Counts `bytes` as held, for memory that the caller gets elsewhere; 0 when that would
   pass the limit, and then nothing is counted. */
int syn_budget_take(syn_budget *budget, size_t bytes);

/* Counts `bytes` as held no longer. */
void syn_budget_give(syn_budget *budget, size_t bytes);

/* How many more bytes may be held. */
size_t syn_budget_left(const syn_budget *budget);

/* Memory for `n` things of `size` bytes, aligned for any scalar type and counted as held;
   NULL when that would pass the limit or malloc fails: syn_budget_refusal() says which.
   syn_budget_zeros() gives bytes that are zero. */
void *syn_budget_alloc(syn_budget *budget, size_t n, size_t size);
void *syn_budget_zeros(syn_budget *budget, size_t n, size_t size);

/* Makes room for `n` things of `size` bytes, and some more to come, in the memory that
   the pointer `at` points to; these functions gave it, or it is NULL, and it has room for
   *room. What it holds stays. When 0 is returned, all is as it was. */
int syn_budget_grow_at(syn_budget *budget, void *at, size_t *room, size_t n, size_t size);

/* Gives `memory` with room for exactly `n` things. What it holds is lost, because the old
   memory is freed first. When that is refused, *room is 0. */
void *syn_budget_renew(syn_budget *budget, void *memory, size_t *room, size_t n,
                       size_t size);

/* Frees what these functions gave; NULL is allowed. */
void syn_budget_free(syn_budget *budget, void *memory);

/* Frees all that these functions gave and that is not yet freed; no other thread may use
   the budget then. */
void syn_budget_end(syn_budget *budget);

/* Frees `n` pieces of memory. */
void syn_budget_free_all(syn_budget *budget, void *const *memory, size_t n);

/* Why memory was refused last: SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_budget_refusal(const syn_budget *budget);

/* ---- the same for pointers to things of any type ----

   Where memory is refused these end the function, which returns why. So they are for
   memory whose owner frees it also after an error. */

/* Memory for `n` things, which the pointer `to` points to from then on. */
#define SYN_TAKE(budget, to, n)                                                          \
    do {                                                                                 \
        if (!((to) = syn_budget_alloc(budget, n, sizeof *(to))))                         \
            return syn_budget_refusal(budget);                                           \
    } while (0)

/* All of them zero. */
#define SYN_TAKE_ZEROS(budget, to, n)                                                    \
    do {                                                                                 \
        if (!((to) = syn_budget_zeros(budget, n, sizeof *(to))))                         \
            return syn_budget_refusal(budget);                                           \
    } while (0)

/* Room for `n` things in all, of which the first `room` may be there; see
   syn_budget_grow_at(). */
#define SYN_GROW(budget, to, room, n)                                                    \
    do {                                                                                 \
        if (!syn_budget_grow_at(budget, &(to), &(room), n, sizeof *(to)))                \
            return syn_budget_refusal(budget);                                           \
    } while (0)

/* The same without what was there; see syn_budget_renew(). */
#define SYN_RENEW(budget, to, room, n)                                                   \
    do {                                                                                 \
        if (!((to) = syn_budget_renew(budget, to, &(room), n, sizeof *(to))))            \
            return syn_budget_refusal(budget);                                           \
    } while (0)

/* Frees what several pointers point to; NULL is allowed. */
#define SYN_GIVE(budget, ...)                                                            \
    syn_budget_free_all(budget, (void *const[]){__VA_ARGS__},                            \
                        sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

#endif
