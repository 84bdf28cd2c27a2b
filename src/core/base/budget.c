/* Counts the bytes that all threads of a search hold, against one limit, by atomic
   operations. In front of memory from syn_budget_alloc() are its size, which is
   subtracted when the memory is freed, and its place in a list of all such memory, which
   one thread changes at a time. */
#include "core/base/budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { A_FEW = 16 };  /* things that memory which grows has room for at first */

/* Threads only ever add and subtract, so no order between them is needed. */
#define ORDER __ATOMIC_RELAXED

/* The budget that counts. */
static syn_budget *counting(const syn_budget *budget)
{
    while (budget->within)
        budget = budget->within;
    return (syn_budget *)budget;
}

static void refuse(syn_budget *budget, syn_status why)
{
    budget = counting(budget);
    __atomic_store_n(&budget->refused, (int)why, ORDER);
}

static void note_most(syn_budget *budget, size_t held)
{
    size_t most = __atomic_load_n(&budget->most, ORDER);
    while (held > most &&
           !__atomic_compare_exchange_n(&budget->most, &most, held, 1, ORDER, ORDER))
        ;
}

int syn_budget_take(syn_budget *budget, size_t bytes)
{
    budget = counting(budget);
    size_t held = __atomic_load_n(&budget->held, ORDER);
    do {
        if (held > budget->limit || bytes > budget->limit - held) {
            refuse(budget, SYN_OVER_BUDGET);
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&budget->held, &held, held + bytes, 1, ORDER,
                                          ORDER));
    note_most(budget, held + bytes);
    return 1;
}

void syn_budget_give(syn_budget *budget, size_t bytes)
{
    __atomic_fetch_sub(&counting(budget)->held, bytes, ORDER);
}

size_t syn_budget_left(const syn_budget *budget)
{
    budget = counting(budget);
    size_t held = __atomic_load_n(&budget->held, ORDER);
    return held < budget->limit ? budget->limit - held : 0;
}

syn_status syn_budget_refusal(const syn_budget *budget)
{
    return (syn_status)__atomic_load_n(&counting(budget)->refused, ORDER);
}

typedef struct syn_piece {
    size_t bytes;
    struct syn_piece *after, **before;  /* `before` is the pointer to this one */
} syn_piece;

/* Stands before the memory; as long as keeps that aligned. */
typedef union head {
    syn_piece piece;
    long double widest;
} head;

enum { COUNTED = 16 };  /* bytes of a head that count; its place in the list does not */

static void lock(syn_budget *budget)
{
    while (__atomic_test_and_set(&budget->busy, __ATOMIC_ACQUIRE))
        continue;
}

static void unlock(syn_budget *budget)
{
    __atomic_clear(&budget->busy, __ATOMIC_RELEASE);
}

static void enlist(syn_budget *budget, syn_piece *piece)
{
    lock(budget);
    piece->after = budget->piece;
    piece->before = &budget->piece;
    if (piece->after)
        piece->after->before = &piece->after;
    budget->piece = piece;
    unlock(budget);
}

static void unlist(syn_budget *budget, syn_piece *piece)
{
    lock(budget);
    *piece->before = piece->after;
    if (piece->after)
        piece->after->before = piece->before;
    unlock(budget);
}

/* `memory` with bytes for `n` things, or NULL: then it is as it was. */
static void *resize(syn_budget *budget, void *memory, size_t n, size_t size, int zero)
{
    head *start = memory ? (head *)memory - 1 : NULL;
    size_t before = start ? start->piece.bytes : 0;
    if (size > 0 && n > (SIZE_MAX - sizeof(head)) / size) {
        refuse(budget, SYN_OVER_BUDGET);
        return NULL;
    }
    size_t bytes = n * size + COUNTED, more = bytes > before ? bytes - before : 0;
    if (!syn_budget_take(budget, more))
        return NULL;
    if (start)
        unlist(budget, &start->piece);
    size_t room = n * size + sizeof(head);
    head *moved = zero ? calloc(1, room) : realloc(start, room);
    if (!moved) {
        syn_budget_give(budget, more);
        refuse(budget, SYN_NO_MEMORY);
    }
    start = moved ? moved : start;
    if (!start)
        return NULL;
    start->piece.bytes = before + (moved ? more : 0);
    enlist(budget, &start->piece);
    return moved ? moved + 1 : NULL;
}

void *syn_budget_alloc(syn_budget *budget, size_t n, size_t size)
{
    return resize(budget, NULL, n, size, 0);
}

void *syn_budget_zeros(syn_budget *budget, size_t n, size_t size)
{
    return resize(budget, NULL, n, size, 1);
}

void *syn_budget_renew(syn_budget *budget, void *memory, size_t *room, size_t n,
                       size_t size)
{
    if (memory && n <= *room)
        return memory;
    syn_budget_free(budget, memory);
    memory = syn_budget_alloc(budget, n, size);
    *room = memory ? n : 0;
    return memory;
}

void syn_budget_free(syn_budget *budget, void *memory)
{
    if (!memory)
        return;
    head *start = (head *)memory - 1;
    unlist(budget, &start->piece);
    syn_budget_give(budget, start->piece.bytes);
    free(start);
}

syn_budget syn_budget_part(syn_budget *budget)
{
    return (syn_budget){.limit = budget->limit, .within = budget};
}

void syn_budget_end(syn_budget *budget)
{
    while (budget->piece)
        syn_budget_free(budget, (head *)(void *)budget->piece + 1);
}

void syn_budget_free_all(syn_budget *budget, void *const *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        syn_budget_free(budget, memory[i]);
}

int syn_budget_grow_at(syn_budget *budget, void *at, size_t *room, size_t n, size_t size)
{
    void *memory;
    memcpy(&memory, at, sizeof memory);
    if (memory && n <= *room)
        return 1;
    size_t wanted = n + n / 2 + A_FEW;
    void *grown = resize(budget, memory, wanted, size, 0);
    if (!grown) {
        wanted = n;
        grown = resize(budget, memory, wanted, size, 0);
    }
    if (!grown)
        return 0;
    *room = wanted;
    memcpy(at, &grown, sizeof grown);
    return 1;
}
