/* Hands out memory in order from large chunks. New memory comes from the newest chunk.
   What was taken after a mark is given back all at once: the chunks after the mark go to
   a list of spare chunks, which later requests use first. */
#include "core/base/arena.h"

enum { ALIGNMENT = 16, SMALLEST = 1 << 12, SHARE = 1024 };

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Bytes taken from the budget at a time. */
static size_t chunk_size(const syn_arena *arena)
{
    size_t share = arena->budget->limit / SHARE;
    if (share > SYN_ARENA_CHUNK)
        return SYN_ARENA_CHUNK;
    return round_up(share > SMALLEST ? share : SMALLEST);
}

static void push(syn_chunk **list, syn_chunk *chunk)
{
    chunk->before = *list;
    *list = chunk;
}

static syn_chunk *pop(syn_chunk **list)
{
    syn_chunk *chunk = *list;
    *list = chunk->before;
    return chunk;
}

static void free_all(syn_arena *arena, syn_chunk **list)
{
    while (*list)
        syn_budget_free(arena->budget, pop(list));
}

static syn_chunk *new_chunk(syn_arena *arena, size_t size)
{
    size_t bytes = round_up(sizeof(syn_chunk)) + size;
    syn_chunk *chunk = syn_budget_alloc(arena->budget, bytes, 1);
    if (!chunk && arena->spare) {
        free_all(arena, &arena->spare);
        chunk = syn_budget_alloc(arena->budget, bytes, 1);
    }
    if (chunk)
        chunk->size = size;
    else
        arena->refused = syn_budget_refusal(arena->budget);
    return chunk;
}

static syn_chunk *add_chunk(syn_arena *arena, size_t bytes)
{
    size_t usual = chunk_size(arena);
    syn_chunk *chunk = arena->spare && bytes <= usual
                           ? pop(&arena->spare)
                           : new_chunk(arena, bytes > usual ? bytes : usual);
    if (!chunk)
        return NULL;
    chunk->used = 0;
    push(&arena->last, chunk);
    return chunk;
}

void *syn_arena_take(syn_arena *arena, size_t bytes)
{
    syn_chunk *chunk = arena->last;
    bytes = round_up(bytes);
    if (!chunk || chunk->size - chunk->used < bytes)
        chunk = add_chunk(arena, bytes);
    if (!chunk)
        return NULL;
    void *taken = (char *)chunk + round_up(sizeof *chunk) + chunk->used;
    chunk->used += bytes;
    return taken;
}

syn_arena_mark syn_arena_here(const syn_arena *arena)
{
    return (syn_arena_mark){arena->last, arena->last ? arena->last->used : 0};
}

void syn_arena_return(syn_arena *arena, syn_arena_mark mark)
{
    while (arena->last != mark.last) {
        syn_chunk *chunk = pop(&arena->last);
        if (chunk->size == chunk_size(arena))
            push(&arena->spare, chunk);
        else
            syn_budget_free(arena->budget, chunk);
    }
    if (arena->last)
        arena->last->used = mark.used;
}

void syn_arena_clear(syn_arena *arena)
{
    syn_arena_mark empty = {NULL, 0};
    syn_arena_return(arena, empty);
    /* What this arena keeps, others cannot have. */
    if (syn_budget_left(arena->budget) < arena->budget->limit / 2)
        free_all(arena, &arena->spare);
}

void syn_arena_free(syn_arena *arena)
{
    free_all(arena, &arena->last);
    free_all(arena, &arena->spare);
}
