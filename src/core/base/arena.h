/* Memory handed out in order from large chunks and given back all at once. */
#ifndef SYN_BASE_ARENA_H
#define SYN_BASE_ARENA_H

#include "core/base/budget.h"

enum { SYN_ARENA_CHUNK = 1 << 20 };  /* bytes taken from the budget at a time, at most */

typedef struct syn_chunk {
    struct syn_chunk *before;
    size_t size, used;  /* bytes after this header */
} syn_chunk;

/* All zero, except for `budget`, is an empty arena. */
typedef struct syn_arena {
    syn_chunk *last;
    syn_chunk *spare;    /* chunks given back: fresh memory from the system costs more */
    syn_budget *budget;  /* what the chunks are taken from. The smaller its limit is, the
                            smaller are the chunks, so that many arenas can share it */
    syn_status refused;  /* why memory was refused last */
} syn_arena;

/* A place to come back to. */
typedef struct syn_arena_mark {
    syn_chunk *last;
    size_t used;
} syn_arena_mark;

/* `bytes` bytes aligned for any scalar type; NULL when that would pass the budget, or
   when malloc fails: `refused` says which, SYN_OVER_BUDGET or SYN_NO_MEMORY. */
void *syn_arena_take(syn_arena *arena, size_t bytes);

/* Memory for `n` things, which the pointer `to` points to from then on. Where it is
   refused, this ends the function, which returns why. */
#define SYN_ARENA(arena, to, n)                                                          \
    do {                                                                                 \
        if (!((to) = syn_arena_take(arena, (n) * sizeof *(to))))                         \
            return (arena)->refused;                                                     \
    } while (0)

syn_arena_mark syn_arena_here(const syn_arena *arena);

/* Gives back all that was taken after `mark`. */
void syn_arena_return(syn_arena *arena, syn_arena_mark mark);

/* Gives back everything, and keeps the memory for what comes next unless the budget is
   running short. */
void syn_arena_clear(syn_arena *arena);

void syn_arena_free(syn_arena *arena);

#endif
