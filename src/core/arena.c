#include "core/arena.h"

#include <stdlib.h>

enum { ALIGNMENT = 16, CHUNK = SYN_ARENA_CHUNK };

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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
    while (*list) {
        syn_chunk *chunk = pop(list);
        arena->held -= chunk->size;
        free(chunk);
    }
}

static syn_chunk *add_chunk(syn_arena *arena, size_t bytes)
{
    size_t size = bytes > CHUNK ? bytes : CHUNK;
    if (arena->spare && size == CHUNK) {
        push(&arena->last, pop(&arena->spare));
        arena->last->used = 0;
        return arena->last;
    }
    if (arena->held + size > arena->limit)
        free_all(arena, &arena->spare);
    if (size > arena->limit || arena->held > arena->limit - size)
        return NULL;
    syn_chunk *chunk = malloc(round_up(sizeof *chunk) + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->used = 0;
    arena->held += size;
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
    syn_arena_mark mark = {arena->last, arena->last ? arena->last->used : 0};
    return mark;
}

void syn_arena_return(syn_arena *arena, syn_arena_mark mark)
{
    while (arena->last != mark.last) {
        syn_chunk *chunk = pop(&arena->last);
        push(&arena->spare, chunk);
        if (chunk->size != CHUNK) {
            arena->held -= chunk->size;
            free(pop(&arena->spare));
        }
    }
    if (arena->last)
        arena->last->used = mark.used;
}

void syn_arena_clear(syn_arena *arena)
{
    syn_arena_mark empty = {NULL, 0};
    syn_arena_return(arena, empty);
}

void syn_arena_free(syn_arena *arena)
{
    free_all(arena, &arena->last);
    free_all(arena, &arena->spare);
}
